//! `stablehlo.gather`, after the section of the StableHLO specification: its formulas and its constraints C1 to C23.

use gather_spec::shape::positions;
use gather_spec::{Call, DType, DimensionNumbers, DimensionRule, GatherError, Refusal, Shape, Tensor};

use crate::checks::{
    ALL_BUT_STRINGS, INTEGERS, are_dims, boolean, ensure, index_at, index_dtype, index_of, integer, integers,
    is_refused, is_unique, only, operands, params_dtype, resolve,
};
use crate::output::{finished, output};
use crate::{Implemented, Settings};

/// The dtypes of operand: those of the page's types that gather-spec has.
pub const OPERAND_DTYPES: [DType; 15] = ALL_BUT_STRINGS;

/// The dtypes of `start_indices`: any integer type.
pub const START_INDICES_DTYPES: [DType; 8] = INTEGERS;

/// Gathers slices of sizes `slice_sizes` from `operand`, each from the start in `start_indices`.
///
/// `result[result_index] = operand[full_start_index + full_batching_index + full_offset_index]`.
///
/// # Errors
/// `params-dtype`, `index-dtype`, `dimension-numbers`, `slice-size-out-of-range`, `batch-shape-mismatch`,
/// `output-too-large`, `index-out-of-range`, in this order.
pub fn gather(
    operand: &Tensor,
    start_indices: &Tensor,
    numbers: &DimensionNumbers,
    slice_sizes: &[i64],
    settings: Settings,
) -> Result<Tensor, Refusal> {
    // stablehlo.gather.dtype.operand, stablehlo.gather.dtype.start-indices
    params_dtype(operand, &OPERAND_DTYPES)?;
    index_dtype(start_indices, &START_INDICES_DTYPES)?;
    let dims = GatherDims::checked(operand, start_indices, numbers, slice_sizes)?;

    // stablehlo.gather.constraints.c22, stablehlo.gather.output.size-limit
    let mut result = output(operand.dtype(), dims.shape_of_result(start_indices), settings)?;
    // stablehlo.gather.slice-sizes.zero-left-out
    if dims.reads_nothing() && !dims.shape_of_result(start_indices).contains(&0) {
        let why = "a collapsed or batching dim of slice size 0 leaves a result element nothing to read";
        return Err(Refusal::Unsupported(why.to_owned()));
    }

    // stablehlo.gather.index.clamp, stablehlo.gather.index.first-offender
    let rows = if start_indices.shape().contains(&0) { vec![0] } else { dims.batch_dim_sizes(start_indices) };
    for batch_index in positions(&rows) {
        for (d_start, d_operand) in dims.start_index_map.iter().enumerate() {
            let index = dims.start_index(start_indices, &batch_index, d_start);
            let bound = dims.starts_that_fit(operand, *d_operand);
            if is_refused(index, bound, settings.profile) {
                let (position, component) = (batch_index, Some(d_start));
                let position = position.to_vec();
                return Err(GatherError::IndexOutOfRange { position, component, index, bound }.into());
            }
        }
    }

    // stablehlo.gather.value.formula
    for result_index in positions(&dims.shape_of_result(start_indices)) {
        let batch_index = dims.batch_index(&result_index);
        let operand_index: Option<Vec<usize>> = (0..operand.rank())
            .map(|d_operand| {
                let start =
                    dims.full_start_index(operand, start_indices, &batch_index, d_operand, settings)?;
                let batching = dims.full_batching_index(&batch_index, d_operand);
                Some(start + batching + dims.full_offset_index(&result_index, d_operand))
            })
            .collect();
        match operand_index {
            Some(operand_index) => result.push(operand.element(&operand_index)),
            None => result.push_zero(),
        }
    }
    finished(result)
}

/// The dimension numbers and slice sizes of a call that satisfies C1 to C21.
struct GatherDims {
    offset_dims: Vec<usize>,
    collapsed_slice_dims: Vec<usize>,
    operand_batching_dims: Vec<usize>,
    start_indices_batching_dims: Vec<usize>,
    start_index_map: Vec<usize>,
    index_vector_dim: usize,
    slice_sizes: Vec<usize>,
}

impl GatherDims {
    fn checked(
        operand: &Tensor,
        start_indices: &Tensor,
        numbers: &DimensionNumbers,
        slice_sizes: &[i64],
    ) -> Result<Self, GatherError> {
        dimension_numbers(operand, start_indices, numbers, slice_sizes)
            .map_err(|rule| GatherError::DimensionNumbers { rule })?;
        // stablehlo.gather.constraints.c21
        for (dim, (size, bound)) in slice_sizes.iter().zip(operand.shape().iter()).enumerate() {
            if !usize::try_from(*size).is_ok_and(|size| size <= *bound) {
                return Err(GatherError::SliceSizeOutOfRange { dim, size: *size, bound: *bound });
            }
        }
        let all = |dims: &[i64]| dims.iter().map(|dim| usize::try_from(*dim).expect("checked")).collect();
        let dims = Self {
            offset_dims: all(&numbers.offset_dims),
            collapsed_slice_dims: all(&numbers.collapsed_slice_dims),
            operand_batching_dims: all(&numbers.operand_batching_dims),
            start_indices_batching_dims: all(&numbers.start_indices_batching_dims),
            start_index_map: all(&numbers.start_index_map),
            index_vector_dim: usize::try_from(numbers.index_vector_dim).expect("checked"),
            slice_sizes: all(slice_sizes),
        };
        // stablehlo.gather.constraints.c17
        let sizes = |tensor: &Tensor, dims: &[usize]| -> Vec<usize> {
            dims.iter().map(|dim| tensor.shape()[*dim]).collect()
        };
        let params = sizes(operand, &dims.operand_batching_dims);
        let indices = sizes(start_indices, &dims.start_indices_batching_dims);
        if params != indices {
            let shape = |sizes| Shape::new(sizes).expect("dims of a tensor");
            return Err(GatherError::BatchShapeMismatch { params: shape(params), indices: shape(indices) });
        }
        Ok(dims)
    }

    /// `batch_dim_sizes`: the shape of `start_indices` without `index_vector_dim`.
    fn batch_dim_sizes(&self, start_indices: &Tensor) -> Vec<usize> {
        let sizes = start_indices.shape().iter().enumerate();
        sizes.filter(|(d, _)| *d != self.index_vector_dim).map(|(_, size)| *size).collect()
    }

    /// `offset_dim_sizes`: the slice sizes without those of collapsed and batching dims.
    fn offset_dim_sizes(&self) -> Vec<usize> {
        let sizes = self.slice_sizes.iter().enumerate();
        sizes.filter(|(d, _)| !self.is_left_out(*d)).map(|(_, size)| *size).collect()
    }

    /// Whether the result lacks a dim of operand.
    fn is_left_out(&self, d_operand: usize) -> bool {
        self.collapsed_slice_dims.contains(&d_operand) || self.operand_batching_dims.contains(&d_operand)
    }

    /// Whether the slice has size 0 along a dim that the result lacks.
    fn reads_nothing(&self) -> bool {
        (0..self.slice_sizes.len()).any(|d| self.is_left_out(d) && self.slice_sizes[d] == 0)
    }

    /// `combine(batch_dim_sizes, offset_dim_sizes)`.
    fn shape_of_result(&self, start_indices: &Tensor) -> Vec<usize> {
        let (batch_dim_sizes, offset_dim_sizes) =
            (self.batch_dim_sizes(start_indices), self.offset_dim_sizes());
        let rank = batch_dim_sizes.len() + offset_dim_sizes.len();
        let (mut batch, mut offset) = (batch_dim_sizes.into_iter(), offset_dim_sizes.into_iter());
        let size = |d: usize| if self.offset_dims.contains(&d) { offset.next() } else { batch.next() };
        (0..rank).filter_map(size).collect()
    }

    /// `batch_index = result_index[batch_dims...]` with `batch_dims = [d for d in axes(result) and d not in offset_dims]`.
    fn batch_index(&self, result_index: &[usize]) -> Vec<usize> {
        let axes = result_index.iter().enumerate();
        axes.filter(|(d, _)| !self.offset_dims.contains(d)).map(|(_, at)| *at).collect()
    }

    /// `start_index[d_start]` of `start_indices[bi0, ..., :, ..., biN]` with `:` at `index_vector_dim`, or of
    /// `[start_indices[batch_index]]`.
    fn start_index(&self, start_indices: &Tensor, batch_index: &[usize], d_start: usize) -> i128 {
        if self.index_vector_dim == start_indices.rank() {
            return index_at(start_indices, batch_index);
        }
        let (before, after) = batch_index.split_at(self.index_vector_dim);
        index_of(start_indices, &[before, &[d_start], after])
    }

    /// How many starts along a dim leave the slice inside: those from 0 to `dim(operand, d_operand) - slice_sizes[d_operand]`.
    fn starts_that_fit(&self, operand: &Tensor, d_operand: usize) -> usize {
        operand.shape()[d_operand] - self.slice_sizes[d_operand] + 1
    }

    /// `full_start_index[d_operand] = clamp(start_index[d_start], 0, dim(operand, d_operand) - slice_sizes[d_operand])` if
    /// `d_operand = start_index_map[d_start]`, else 0; `None` where a policy other than clamp makes the slice zero.
    fn full_start_index(
        &self,
        operand: &Tensor,
        start_indices: &Tensor,
        batch_index: &[usize],
        d_operand: usize,
        settings: Settings,
    ) -> Option<usize> {
        let Some(d_start) = place_of(d_operand, &self.start_index_map) else { return Some(0) };
        let index = self.start_index(start_indices, batch_index, d_start);
        resolve(index, self.starts_that_fit(operand, d_operand), settings.profile)
    }

    /// `full_batching_index[d_operand] = batch_index[d_start - (d_start < index_vector_dim ? 0 : 1)]` if `d_operand =
    /// operand_batching_dims[i_batching]` and `d_start = start_indices_batching_dims[i_batching]`, else 0.
    fn full_batching_index(&self, batch_index: &[usize], d_operand: usize) -> usize {
        let Some(i_batching) = place_of(d_operand, &self.operand_batching_dims) else { return 0 };
        let d_start = self.start_indices_batching_dims[i_batching];
        batch_index[d_start - if d_start < self.index_vector_dim { 0 } else { 1 }]
    }

    /// `[oi0, ..., 0, ..., oiN][d_operand]` with the elements of `offset_index = result_index[offset_dims...]`, and 0 at
    /// `collapsed_slice_dims` and `operand_batching_dims`.
    fn full_offset_index(&self, result_index: &[usize], d_operand: usize) -> usize {
        if self.is_left_out(d_operand) {
            return 0;
        }
        let i_offset = (0..d_operand).filter(|d| !self.is_left_out(*d)).count();
        result_index[self.offset_dims[i_offset]]
    }
}

/// The position of a dim in a list of dims.
fn place_of(dim: usize, dims: &[usize]) -> Option<usize> {
    dims.iter().position(|one| *one == dim)
}

/// The constraints on dimension numbers, in the order of the checks.
fn dimension_numbers(
    operand: &Tensor,
    start_indices: &Tensor,
    numbers: &DimensionNumbers,
    slice_sizes: &[i64],
) -> Result<(), DimensionRule> {
    let DimensionNumbers { offset_dims, collapsed_slice_dims, operand_batching_dims, .. } = numbers;
    let DimensionNumbers { start_indices_batching_dims, start_index_map, index_vector_dim, .. } = numbers;
    let (rank, q) = (operand.rank(), start_indices.rank());
    let sizes_of = |dims: &[i64]| -> Vec<i64> {
        dims.iter().filter_map(|d| slice_sizes.get(usize::try_from(*d).ok()?).copied()).collect()
    };

    // stablehlo.gather.constraints.c20
    ensure(slice_sizes.len() == rank, DimensionRule::SliceSizesCount)?;
    // stablehlo.gather.constraints.c1
    let of_operand = offset_dims.len() + collapsed_slice_dims.len() + operand_batching_dims.len();
    ensure(of_operand == rank, DimensionRule::ParamsDimsCount)?;
    // stablehlo.gather.constraints.c2
    let index_vector_dim = usize::try_from(*index_vector_dim).ok().filter(|d| *d <= q);
    let index_vector_dim = index_vector_dim.ok_or(DimensionRule::IndexVectorDimOutOfRange)?;
    // stablehlo.gather.constraints.c3
    let components = start_indices.shape().get(index_vector_dim).copied().unwrap_or(1);
    ensure(start_index_map.len() == components, DimensionRule::StartIndexMapCount)?;
    // stablehlo.gather.constraints.c4
    ensure(is_unique(offset_dims) && offset_dims.is_sorted(), DimensionRule::OffsetDimsNotAscending)?;
    // stablehlo.gather.constraints.c5
    let rank_of_result = offset_dims.len() + if index_vector_dim < q { q - 1 } else { q };
    ensure(are_dims(offset_dims, rank_of_result), DimensionRule::OffsetDimOutOfRange)?;
    // stablehlo.gather.constraints.c6
    let left_out = [&**collapsed_slice_dims, operand_batching_dims].concat();
    ensure(is_unique(&left_out), DimensionRule::CollapsedDimsRepeated)?;
    // stablehlo.gather.constraints.c7
    ensure(collapsed_slice_dims.is_sorted(), DimensionRule::CollapsedDimsUnsorted)?;
    // stablehlo.gather.constraints.c8
    ensure(are_dims(collapsed_slice_dims, rank), DimensionRule::CollapsedDimOutOfRange)?;
    // stablehlo.gather.constraints.c9
    let at_most_1 = |dims: &[i64]| sizes_of(dims).iter().all(|size| *size <= 1);
    ensure(at_most_1(collapsed_slice_dims), DimensionRule::CollapsedSliceSize)?;
    // stablehlo.gather.constraints.c10
    ensure(operand_batching_dims.is_sorted(), DimensionRule::ParamsBatchingDimsUnsorted)?;
    // stablehlo.gather.constraints.c11
    ensure(are_dims(operand_batching_dims, rank), DimensionRule::ParamsBatchingDimOutOfRange)?;
    // stablehlo.gather.constraints.c12
    ensure(at_most_1(operand_batching_dims), DimensionRule::BatchingSliceSize)?;
    // stablehlo.gather.constraints.c13
    ensure(is_unique(start_indices_batching_dims), DimensionRule::IndicesBatchingDimsRepeated)?;
    // stablehlo.gather.constraints.c14
    ensure(are_dims(start_indices_batching_dims, q), DimensionRule::IndicesBatchingDimOutOfRange)?;
    // stablehlo.gather.constraints.c15
    let has_vector = start_indices_batching_dims.contains(&numbers.index_vector_dim);
    ensure(!has_vector, DimensionRule::IndexVectorDimIsBatching)?;
    // stablehlo.gather.constraints.c16
    let counts = (operand_batching_dims.len(), start_indices_batching_dims.len());
    ensure(counts.0 == counts.1, DimensionRule::BatchingDimsCount)?;
    // stablehlo.gather.constraints.c18
    let located = [&**start_index_map, operand_batching_dims].concat();
    ensure(is_unique(&located), DimensionRule::StartIndexMapRepeated)?;
    // stablehlo.gather.constraints.c19
    ensure(are_dims(start_index_map, rank), DimensionRule::StartIndexMapOutOfRange)
}

/// The entry of this operator in the list of its ecosystem.
pub(crate) const OPERATOR: Implemented = Implemented {
    name: "stablehlo.gather",
    params_dtypes: &OPERAND_DTYPES,
    index_dtypes: &START_INDICES_DTYPES,
    answer,
};

/// Answers a call of this operator.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [operand, start_indices] = operands(call, ["operand", "start_indices"])?;
    only(
        call,
        &[
            "offset_dims",
            "collapsed_slice_dims",
            "operand_batching_dims",
            "start_indices_batching_dims",
            "start_index_map",
            "index_vector_dim",
            "slice_sizes",
            "indices_are_sorted",
        ],
    )?;
    // stablehlo.gather.indices-are-sorted.promise
    boolean(call, "indices_are_sorted")?;
    // stablehlo.gather.attributes.absent
    let list = |name| Ok::<_, Refusal>(integers(call, name)?.unwrap_or_default());
    let numbers = DimensionNumbers {
        offset_dims: list("offset_dims")?,
        collapsed_slice_dims: list("collapsed_slice_dims")?,
        operand_batching_dims: list("operand_batching_dims")?,
        start_indices_batching_dims: list("start_indices_batching_dims")?,
        start_index_map: list("start_index_map")?,
        index_vector_dim: integer(call, "index_vector_dim")?.unwrap_or(0),
    };
    gather(operand, start_indices, &numbers, &list("slice_sizes")?, settings)
}
