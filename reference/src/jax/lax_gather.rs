//! `jax.lax.gather`, by the words and the example of its page, and of those of its dimension numbers and modes.

use gather_spec::shape::positions;
use gather_spec::{Call, DimensionRule, Element, GatherError, Refusal, Shape, Tensor};

use super::array::{ARRAY_DTYPES, INDICES_DTYPES, in_bounds, invalid_value};
use crate::checks::{
    are_dims, boolean, element_or_null, ensure, index_dtype, index_of, integers, is_unique, needed, only,
    operands, params_dtype, string_or_null,
};
use crate::output::{finished, output};
use crate::{Implemented, Settings};

/// How dimensions of `operand`, `start_indices` and the output relate. The index vector dimension is always the last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GatherDimensionNumbers {
    /// The dimensions of the output that offset into a slice of `operand`.
    pub offset_dims: Vec<i64>,
    /// The dimensions of `operand` of slice size 1 that the output lacks.
    pub collapsed_slice_dims: Vec<i64>,
    /// For each component of an index vector, the dimension of `operand` that is sliced.
    pub start_index_map: Vec<i64>,
    /// The dimensions of `operand` that are batching dimensions.
    pub operand_batching_dims: Vec<i64>,
    /// The dimensions of `start_indices` that correspond to them, at the same places of this list.
    pub start_indices_batching_dims: Vec<i64>,
}

/// How indices that are out of bounds are handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Clamped, such that the entire slice is in bounds.
    Clip,
    /// If any part of a slice is out of bounds, the entire slice is filled with invalid values.
    FillOrDrop,
    /// Anything: there is none, by the caller's promise. Here it is an error.
    #[default]
    PromiseInBounds,
}

impl Mode {
    /// The mode with this name.
    ///
    /// # Errors
    /// `mode-unknown`.
    pub fn named(name: &str) -> Result<Self, GatherError> {
        match name {
            "clip" => Ok(Self::Clip),
            "fill" | "drop" => Ok(Self::FillOrDrop),
            "promise_in_bounds" => Ok(Self::PromiseInBounds),
            _ => Err(GatherError::ModeUnknown { mode: name.to_owned() }),
        }
    }

    /// The start of a slice along a dimension with this many valid starts; `None` if it is out of bounds.
    fn place(self, index: i128, starts: usize) -> Option<usize> {
        match self {
            // jax.lax.gather.index.in-bounds
            Self::Clip => in_bounds(index.clamp(0, starts as i128 - 1), starts),
            // jax.lax.gather.fill.inexact and its like
            Self::FillOrDrop | Self::PromiseInBounds => in_bounds(index, starts),
        }
    }
}

/// Takes slices of `slice_sizes` from `operand`, at the indices that `start_indices` holds along its last dimension.
///
/// # Errors
/// `indices-rank`, `dimension-numbers`, `slice-size-out-of-range`, `batch-shape-mismatch`, `output-too-large`,
/// `index-out-of-range`, in this order.
pub fn gather(
    operand: &Tensor,
    start_indices: &Tensor,
    dimension_numbers: &GatherDimensionNumbers,
    slice_sizes: &[i64],
    mode: Mode,
    fill_value: Option<Element>,
    settings: Settings,
) -> Result<Tensor, Refusal> {
    // jax.lax.gather.vector.needed
    let Some(index_vector_dim) = start_indices.rank().checked_sub(1) else {
        return Err(GatherError::IndicesRank { rank: 0, least: 1 }.into());
    };
    check(operand, start_indices, dimension_numbers, slice_sizes)
        .map_err(|rule| GatherError::DimensionNumbers { rule })?;
    let rows = &start_indices.shape()[..index_vector_dim];
    let slices = Slices::checked(operand, start_indices, dimension_numbers, slice_sizes, rows.contains(&0))?;
    // jax.lax.gather.shape.formula, jax.lax.gather.output.size-limit
    let shape = slices.output_shape(rows);
    let mut out = output(operand.dtype(), shape.clone(), settings)?;

    // jax.lax.gather.mode.promise-in-bounds
    let checked = if start_indices.shape().contains(&0) { &[0] } else { rows };
    for position in positions(checked) {
        for (component, index) in slices.index_vector(start_indices, &position).into_iter().enumerate() {
            let bound = slices.starts(operand, component);
            if mode == Mode::PromiseInBounds && in_bounds(index, bound).is_none() {
                let component = Some(component);
                let position = position.to_vec();
                return Err(GatherError::IndexOutOfRange { position, component, index, bound }.into());
            }
        }
    }

    // jax.lax.gather.fill-value.sent
    let fill_value = fill_value.unwrap_or_else(|| invalid_value(operand.dtype()));

    // jax.lax.gather.value.slices
    for position in positions(&shape) {
        let row = slices.row(&position);
        match slices.start(operand, &slices.index_vector(start_indices, &row), mode) {
            None => out.push(fill_value.clone()),
            Some(start) => out.push(operand.element(&slices.place(start, &row, &position))),
        }
    }
    finished(out)
}

/// Dimension numbers and slice sizes that satisfy all rules.
struct Slices {
    offset_dims: Vec<usize>,
    collapsed_slice_dims: Vec<usize>,
    start_index_map: Vec<usize>,
    operand_batching_dims: Vec<usize>,
    start_indices_batching_dims: Vec<usize>,
    slice_sizes: Vec<usize>,
}

impl Slices {
    /// Checks the rules about sizes. The numbers must satisfy all others.
    fn checked(
        operand: &Tensor,
        start_indices: &Tensor,
        numbers: &GatherDimensionNumbers,
        slice_sizes: &[i64],
        no_slice: bool,
    ) -> Result<Self, GatherError> {
        // jax.lax.gather.slice-sizes.in-range, jax.lax.gather.slice-sizes.no-slice
        for (dim, (size, bound)) in slice_sizes.iter().zip(operand.shape().iter()).enumerate() {
            if !usize::try_from(*size).is_ok_and(|size| no_slice || size <= *bound) {
                return Err(GatherError::SliceSizeOutOfRange { dim, size: *size, bound: *bound });
            }
        }
        let all = |dims: &[i64]| dims.iter().map(|dim| usize::try_from(*dim).expect("checked")).collect();
        let slices = Self {
            offset_dims: all(&numbers.offset_dims),
            collapsed_slice_dims: all(&numbers.collapsed_slice_dims),
            start_index_map: all(&numbers.start_index_map),
            operand_batching_dims: all(&numbers.operand_batching_dims),
            start_indices_batching_dims: all(&numbers.start_indices_batching_dims),
            slice_sizes: all(slice_sizes),
        };
        // jax.lax.gather.batching.shapes-equal
        let batch = |tensor: &Tensor, dims: &[usize]| -> Shape {
            let sizes: Vec<usize> = dims.iter().map(|dim| tensor.shape()[*dim]).collect();
            Shape::new(sizes).expect("dims of a tensor")
        };
        let params = batch(operand, &slices.operand_batching_dims);
        let indices = batch(start_indices, &slices.start_indices_batching_dims);
        if params == indices { Ok(slices) } else { Err(GatherError::BatchShapeMismatch { params, indices }) }
    }

    /// Whether the output has no dimension for one of `operand`.
    fn is_left_out(&self, dim: usize) -> bool {
        self.collapsed_slice_dims.contains(&dim) || self.operand_batching_dims.contains(&dim)
    }

    /// The output shape: the sizes of a slice at `offset_dims`, those of the rows at the other dimensions.
    fn output_shape(&self, rows: &[usize]) -> Vec<usize> {
        let sizes = self.slice_sizes.iter().enumerate();
        let mut sizes = sizes.filter(|(dim, _)| !self.is_left_out(*dim)).map(|(_, size)| *size);
        let mut rows = rows.iter().copied();
        let rank = self.offset_dims.len() + rows.len();
        let size = |dim: usize| if self.offset_dims.contains(&dim) { sizes.next() } else { rows.next() };
        (0..rank).filter_map(size).collect()
    }

    /// The coordinates of an output position that belong to `start_indices`.
    fn row(&self, position: &[usize]) -> Vec<usize> {
        let dims = position.iter().enumerate();
        dims.filter(|(dim, _)| !self.offset_dims.contains(dim)).map(|(_, at)| *at).collect()
    }

    /// The index vector of a row: the elements of `start_indices` along its last dimension.
    fn index_vector(&self, start_indices: &Tensor, row: &[usize]) -> Vec<i128> {
        let components = 0..self.start_index_map.len();
        components.map(|component| index_of(start_indices, &[row, &[component]])).collect()
    }

    /// How many starts of a component are in bounds.
    fn starts(&self, operand: &Tensor, component: usize) -> usize {
        let dim = self.start_index_map[component];
        operand.shape()[dim] - self.slice_sizes[dim] + 1
    }

    /// The start of the slice for an index vector; `None` if the slice is filled.
    fn start(&self, operand: &Tensor, index_vector: &[i128], mode: Mode) -> Option<Vec<usize>> {
        let mut start = vec![0; operand.rank()];
        for (component, index) in index_vector.iter().enumerate() {
            start[self.start_index_map[component]] = mode.place(*index, self.starts(operand, component))?;
        }
        Some(start)
    }

    /// The position in `operand` for a position of the output, given the start of its slice.
    fn place(&self, start: Vec<usize>, row: &[usize], position: &[usize]) -> Vec<usize> {
        let mut place = start;
        // jax.lax.gather.batching.positions
        for (own, other) in self.operand_batching_dims.iter().zip(&self.start_indices_batching_dims) {
            place[*own] = row[*other];
        }
        let offsets =
            (0..self.slice_sizes.len()).filter(|dim| !self.is_left_out(*dim)).zip(&self.offset_dims);
        offsets.for_each(|(dim, of_output)| place[dim] += position[*of_output]);
        place
    }
}

/// The rules for dimension numbers, in the order of the checks.
fn check(
    operand: &Tensor,
    start_indices: &Tensor,
    numbers: &GatherDimensionNumbers,
    slice_sizes: &[i64],
) -> Result<(), DimensionRule> {
    let GatherDimensionNumbers { offset_dims, collapsed_slice_dims, start_index_map, .. } = numbers;
    let GatherDimensionNumbers { operand_batching_dims, start_indices_batching_dims, .. } = numbers;
    let (rank, index_vector_dim) = (operand.rank(), start_indices.rank() - 1);
    let all_1 = |dims: &[i64]| {
        let size = |dim: &i64| slice_sizes.get(usize::try_from(*dim).ok()?);
        dims.iter().filter_map(size).all(|size| *size == 1)
    };

    // jax.lax.gather.slice-sizes.count
    ensure(slice_sizes.len() == rank, DimensionRule::SliceSizesCount)?;
    // jax.lax.gather.operand.dims-count
    let of_operand = offset_dims.len() + collapsed_slice_dims.len() + operand_batching_dims.len();
    ensure(of_operand == rank, DimensionRule::ParamsDimsCount)?;
    // jax.lax.gather.start-index-map.count
    let components = start_indices.shape()[index_vector_dim];
    ensure(start_index_map.len() == components, DimensionRule::StartIndexMapCount)?;
    // jax.lax.gather.offset-dims.ascending
    ensure(offset_dims.is_sorted_by(|dim, next| dim < next), DimensionRule::OffsetDimsNotAscending)?;
    // jax.lax.gather.offset-dims.of-the-output
    let rank_of_output = offset_dims.len() + index_vector_dim;
    ensure(are_dims(offset_dims, rank_of_output), DimensionRule::OffsetDimOutOfRange)?;
    // jax.lax.gather.collapsed.apart
    let left_out = [&**collapsed_slice_dims, operand_batching_dims].concat();
    ensure(is_unique(&left_out), DimensionRule::CollapsedDimsRepeated)?;
    // jax.lax.gather.collapsed.ascending
    ensure(collapsed_slice_dims.is_sorted(), DimensionRule::CollapsedDimsUnsorted)?;
    // jax.lax.gather.collapsed.of-operand
    ensure(are_dims(collapsed_slice_dims, rank), DimensionRule::CollapsedDimOutOfRange)?;
    // jax.lax.gather.collapsed.size-1
    ensure(all_1(collapsed_slice_dims), DimensionRule::CollapsedSliceSize)?;
    // jax.lax.gather.batching.ascending
    ensure(operand_batching_dims.is_sorted(), DimensionRule::ParamsBatchingDimsUnsorted)?;
    // jax.lax.gather.batching.of-operand
    ensure(are_dims(operand_batching_dims, rank), DimensionRule::ParamsBatchingDimOutOfRange)?;
    // jax.lax.gather.batching.size-1
    ensure(all_1(operand_batching_dims), DimensionRule::BatchingSliceSize)?;
    // jax.lax.gather.batching.apart
    ensure(is_unique(start_indices_batching_dims), DimensionRule::IndicesBatchingDimsRepeated)?;
    // jax.lax.gather.batching.of-start-indices
    let of_start_indices = are_dims(start_indices_batching_dims, start_indices.rank());
    ensure(of_start_indices, DimensionRule::IndicesBatchingDimOutOfRange)?;
    // jax.lax.gather.batching.no-vector
    let no_vector = are_dims(start_indices_batching_dims, index_vector_dim);
    ensure(no_vector, DimensionRule::IndexVectorDimIsBatching)?;
    // jax.lax.gather.batching.count
    let counts = (operand_batching_dims.len(), start_indices_batching_dims.len());
    ensure(counts.0 == counts.1, DimensionRule::BatchingDimsCount)?;
    // jax.lax.gather.start-index-map.apart
    let started = [&**start_index_map, operand_batching_dims].concat();
    ensure(is_unique(&started), DimensionRule::StartIndexMapRepeated)?;
    // jax.lax.gather.start-index-map.of-operand
    ensure(are_dims(start_index_map, rank), DimensionRule::StartIndexMapOutOfRange)
}

/// The entry of this operator in the list of its ecosystem.
pub(crate) const OPERATOR: Implemented = Implemented {
    name: "jax.lax.gather",
    params_dtypes: &ARRAY_DTYPES,
    index_dtypes: &INDICES_DTYPES,
    answer,
};

/// Answers a call of this operator. The call has the mode, so the profile in the settings is ignored.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [operand, start_indices] = operands(call, ["operand", "start_indices"])?;
    only(
        call,
        &[
            "offset_dims",
            "collapsed_slice_dims",
            "start_index_map",
            "operand_batching_dims",
            "start_indices_batching_dims",
            "slice_sizes",
            "unique_indices",
            "indices_are_sorted",
            "mode",
            "fill_value",
        ],
    )?;
    // jax.lax.gather.unique-indices.promise, jax.lax.gather.indices-are-sorted.promise
    boolean(call, "unique_indices")?;
    boolean(call, "indices_are_sorted")?;
    // jax.lax.gather.batching.default
    let batching = |name| Ok::<_, Refusal>(integers(call, name)?.unwrap_or_default());
    let dimension_numbers = GatherDimensionNumbers {
        offset_dims: needed(call, "offset_dims")?,
        collapsed_slice_dims: needed(call, "collapsed_slice_dims")?,
        start_index_map: needed(call, "start_index_map")?,
        operand_batching_dims: batching("operand_batching_dims")?,
        start_indices_batching_dims: batching("start_indices_batching_dims")?,
    };
    let slice_sizes = needed(call, "slice_sizes")?;
    let mode = string_or_null(call, "mode")?;
    let fill_value = element_or_null(call, "fill_value", operand.dtype())?;
    // jax.lax.gather.dtype.operand, jax.lax.gather.dtype.start-indices
    params_dtype(operand, &ARRAY_DTYPES)?;
    index_dtype(start_indices, &INDICES_DTYPES)?;
    // jax.lax.gather.mode.default, jax.lax.gather.mode.listed
    let mode = mode.map_or(Ok(Mode::default()), Mode::named)?;
    gather(operand, start_indices, &dimension_numbers, &slice_sizes, mode, fill_value, settings)
}
