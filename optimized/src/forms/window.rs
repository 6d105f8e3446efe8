//! The form window: an index row is the start of a window in params, of the size that slice sizes say. The dims of the
//! output are those of indices without their vector and, at `offset_dims`, those of the window.

use gather_spec::signature::{CollapsedSize, SliceBound};
use gather_spec::{DimensionNumbers, DimensionRule, GatherError, Refusal, Signature};
use smallvec::SmallVec;

use super::bounds::{batch_mismatch, signed};
use crate::options::Choices;
use crate::shapes::{Dims, Shapes};
use crate::windows::{Start, WindowAxis, Windows};

/// What operators of this form may differ in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Whether a window has exactly one element of each collapsed or batching dim; else it may have none.
    exactly_one: bool,
    /// Whether slice sizes may exceed their dims where there is no index row.
    any_size_without_rows: bool,
}

/// The operands of a call, as far as shapes are concerned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OperandShapes<'a> {
    pub params: &'a [usize],
    pub indices: &'a [usize],
    pub numbers: &'a DimensionNumbers,
    pub slice_sizes: &'a [i64],
}

impl Rules {
    /// Those of [`crate::Plan::gather_windows`], which are StableHLO's.
    pub(crate) const GATHER_WINDOWS: Self = Self::new(false, false);

    pub(crate) const fn new(exactly_one: bool, any_size_without_rows: bool) -> Self {
        Self { exactly_one, any_size_without_rows }
    }

    /// Those of the operators of a signature.
    pub(crate) fn of(signature: &Signature) -> Self {
        let exactly_one = signature.collapsed_size == Some(CollapsedSize::Exactly1);
        Self::new(exactly_one, signature.slice_bound == SliceBound::WithRows)
    }

    /// What `then` makes of the shapes of operands that fit each other.
    ///
    /// # Errors
    /// Those of [`Rules::windows`]; `Unsupported` for a level that this processor lacks.
    pub(crate) fn validate<T>(
        self,
        operands: OperandShapes<'_>,
        choices: &Choices,
        then: impl FnOnce(Shapes<'_>) -> T,
    ) -> Result<T, Refusal> {
        let windows = self.windows(operands, choices)?;
        Shapes::of_windows(operands.params, operands.indices, &windows, choices).map(then)
    }

    /// How operands that fit each other are read.
    ///
    /// # Errors
    /// `dimension-numbers`, `slice-size-out-of-range`, `batch-shape-mismatch`, in this order; `Unsupported` for batch dims,
    /// an axis, or a join.
    fn windows(self, operands: OperandShapes<'_>, choices: &Choices) -> Result<Windows, Refusal> {
        if let Some(name) = foreign(choices) {
            return Err(Refusal::Unsupported(format!("gather_windows has no attribute `{name}`")));
        }
        if let Some(rule) = DimensionRule::ALL.into_iter().find(|rule| !self.holds(*rule, operands)) {
            return Err(GatherError::DimensionNumbers { rule }.into());
        }
        let sizes = self.sizes(operands)?;
        operands.same_batch()?;
        Ok(operands.read(&sizes))
    }

    /// Whether a rule holds, given that those before it do.
    fn holds(self, rule: DimensionRule, operands: OperandShapes<'_>) -> bool {
        let OperandShapes { params, indices, numbers, slice_sizes } = operands;
        let DimensionNumbers { offset_dims, collapsed_slice_dims: collapsed, .. } = numbers;
        let DimensionNumbers { operand_batching_dims: batching, start_index_map, .. } = numbers;
        let DimensionNumbers { start_indices_batching_dims: shared, index_vector_dim, .. } = numbers;
        let (r, q) = (params.len(), indices.len());
        let size = |dim: &i64| slice_sizes.get(at(*dim)).copied().unwrap_or(0);
        let is_one = |size: i64| size == 1 || size < 1 && !self.exactly_one;
        match rule {
            DimensionRule::SliceSizesCount => slice_sizes.len() == r,
            DimensionRule::ParamsDimsCount => offset_dims.len() + collapsed.len() + batching.len() == r,
            DimensionRule::IndexVectorDimOutOfRange => (0..=signed(q)).contains(index_vector_dim),
            DimensionRule::StartIndexMapCount => start_index_map.len() == operands.depth(),
            DimensionRule::OffsetDimsNotAscending => offset_dims.is_sorted_by(|one, next| one < next),
            DimensionRule::OffsetDimOutOfRange => all_below(offset_dims, operands.output_rank()),
            DimensionRule::CollapsedDimsRepeated => distinct(collapsed, batching),
            DimensionRule::CollapsedDimsUnsorted => collapsed.is_sorted(),
            DimensionRule::CollapsedDimOutOfRange => all_below(collapsed, r),
            DimensionRule::CollapsedSliceSize => collapsed.iter().map(size).all(is_one),
            DimensionRule::ParamsBatchingDimsUnsorted => batching.is_sorted(),
            DimensionRule::ParamsBatchingDimOutOfRange => all_below(batching, r),
            DimensionRule::BatchingSliceSize => batching.iter().map(size).all(is_one),
            DimensionRule::IndicesBatchingDimsRepeated => distinct(shared, &[]),
            DimensionRule::IndicesBatchingDimOutOfRange => all_below(shared, q),
            DimensionRule::IndexVectorDimIsBatching => !shared.contains(index_vector_dim),
            DimensionRule::BatchingDimsCount => batching.len() == shared.len(),
            DimensionRule::StartIndexMapRepeated => distinct(start_index_map, batching),
            DimensionRule::StartIndexMapOutOfRange => all_below(start_index_map, r),
        }
    }

    /// The slice sizes, all from 0 to their dim.
    fn sizes(self, operands: OperandShapes<'_>) -> Result<Dims, GatherError> {
        let any = self.any_size_without_rows && operands.has_no_row();
        let sizes = operands.params.iter().zip(operands.slice_sizes).enumerate();
        let checked = sizes.map(|(dim, (bound, size))| {
            let fits = usize::try_from(*size).ok().filter(|size| any || size <= bound);
            fits.ok_or(GatherError::SliceSizeOutOfRange { dim, size: *size, bound: *bound })
        });
        checked.collect()
    }
}

impl OperandShapes<'_> {
    /// The dim of indices that holds the components of a row; q if there is none.
    fn vector(self) -> usize {
        at(self.numbers.index_vector_dim)
    }

    /// The number of components of an index row.
    fn depth(self) -> usize {
        self.indices.get(self.vector()).copied().unwrap_or(1)
    }

    fn output_rank(self) -> usize {
        let vectors = usize::from(self.vector() < self.indices.len());
        self.numbers.offset_dims.len() + self.indices.len() - vectors
    }

    /// The dims of indices that number its rows.
    fn row_dims(&self) -> impl Iterator<Item = usize> {
        let vector = self.vector();
        (0..self.indices.len()).filter(move |dim| *dim != vector)
    }

    fn has_no_row(&self) -> bool {
        self.row_dims().any(|dim| self.indices[dim] == 0)
    }

    /// Compares the batching dims. Params and indices have equally many.
    fn same_batch(self) -> Result<(), GatherError> {
        let dims = |dims: &[i64], shape: &[usize]| dims.iter().map(|dim| shape[at(*dim)]).collect::<Dims>();
        let params = dims(&self.numbers.operand_batching_dims, self.params);
        let indices = dims(&self.numbers.start_indices_batching_dims, self.indices);
        if params == indices { Ok(()) } else { Err(batch_mismatch(&params, &indices)) }
    }

    /// How operands whose dimension numbers are right and whose slices have these sizes are read.
    fn read(self, sizes: &[usize]) -> Windows {
        let DimensionNumbers { offset_dims, collapsed_slice_dims, operand_batching_dims, .. } = self.numbers;
        let lacks = |dim: usize| {
            let dim = signed(dim);
            [collapsed_slice_dims, operand_batching_dims].iter().any(|dims| dims.binary_search(&dim).is_ok())
        };
        let mut batching: SmallVec<[Option<usize>; 6]> = SmallVec::from_elem(None, self.indices.len());
        for (own, other) in self.numbers.start_indices_batching_dims.iter().zip(operand_batching_dims) {
            batching[at(*own)] = Some(at(*other));
        }
        let mut rows = self.row_dims().map(|dim| {
            let len = self.indices[dim];
            WindowAxis { len, params: batching[dim], indices: Some(dim) }
        });
        let mut window = (0..sizes.len()).filter(|dim| !lacks(*dim)).map(|dim| {
            let len = sizes[dim];
            WindowAxis { len, params: Some(dim), indices: None }
        });
        let axis = |dim: usize| {
            let is_offset = offset_dims.binary_search(&signed(dim)).is_ok();
            if is_offset { window.next() } else { rows.next() }
        };
        let axes = (0..self.output_rank()).filter_map(axis).collect();
        let start = |dim: usize| {
            let bound = self.params[dim].saturating_sub(sizes[dim]).saturating_add(1);
            Start { dim, bound }
        };
        let starts = self.numbers.start_index_map.iter().map(|dim| start(at(*dim))).collect();
        let sliced_away = (0..sizes.len()).find(|dim| sizes[*dim] == 0 && lacks(*dim));
        Windows { axes, starts, vector: self.vector(), sliced_away }
    }
}

/// The name of an attribute that was chosen although this form has none of it.
fn foreign(choices: &Choices) -> Option<&'static str> {
    match choices {
        Choices { axis: Some(_), .. } => Some("axis"),
        Choices { join: Some(_), .. } => Some("join"),
        Choices { batch_dims: 0, .. } => None,
        Choices { .. } => Some("batch_dims"),
    }
}

/// A dim as a position in a list. A negative one becomes a position beyond every list.
fn at(dim: i64) -> usize {
    usize::try_from(dim).unwrap_or(usize::MAX)
}

fn all_below(dims: &[i64], rank: usize) -> bool {
    dims.iter().all(|dim| (0..signed(rank)).contains(dim))
}

/// Whether no dim is given twice in both lists together.
fn distinct(one: &[i64], other: &[i64]) -> bool {
    let mut dims: SmallVec<[i64; 12]> = one.iter().chain(other).copied().collect();
    dims.sort_unstable();
    dims.is_sorted_by(|dim, next| dim < next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;

    /// A window along the only dim of params that the output keeps, each index a start on the dim that it collapses.
    fn output(rules: Rules, indices: &[usize], slice_sizes: [i64; 2]) -> Result<Dims, Refusal> {
        let vector = signed(indices.len());
        let numbers = DimensionNumbers {
            offset_dims: vec![vector],
            collapsed_slice_dims: vec![0],
            start_index_map: vec![0],
            index_vector_dim: vector,
            ..DimensionNumbers::default()
        };
        let operands =
            OperandShapes { params: &[4, 3], indices, numbers: &numbers, slice_sizes: &slice_sizes };
        rules.validate(operands, &Options::new().choices, |shapes| {
            let mut output = Dims::new();
            shapes.each_output_dim(|dim| output.push(dim));
            output
        })
    }

    fn shape<const N: usize>(dims: [usize; N]) -> Result<Dims, Refusal> {
        Ok(Dims::from_slice(&dims))
    }

    #[test]
    fn an_operator_may_ask_for_exactly_one_element_of_a_collapsed_dim() {
        let at_most = |size| output(Rules::GATHER_WINDOWS, &[5], [size, 3]);
        let exactly = |size| output(Rules::new(true, false), &[5], [size, 3]);
        let rule = DimensionRule::CollapsedSliceSize;
        let broken = || Err(GatherError::DimensionNumbers { rule }.into());
        assert_eq!([0, 1, 2].map(at_most), [shape([5, 3]), shape([5, 3]), broken()]);
        assert_eq!([0, 1, 2].map(exactly), [broken(), shape([5, 3]), broken()]);
    }

    #[test]
    fn without_a_row_an_operator_may_take_sizes_beyond_the_dims() {
        let sized = |rules: Rules, indices: &[usize], size| output(rules, indices, [1, size]);
        let wrong = |size| Err(GatherError::SliceSizeOutOfRange { dim: 1, size, bound: 3 }.into());
        let any = Rules::new(false, true);
        assert_eq!(sized(any, &[2, 0], 4), shape([2, 0, 4]));
        assert_eq!(sized(any, &[2, 0], 1 << 30), shape([2, 0, 1 << 30]));
        assert_eq!(sized(any, &[2, 0], -1), wrong(-1));
        assert_eq!(sized(any, &[2, 1], 4), wrong(4));
        assert_eq!(sized(Rules::GATHER_WINDOWS, &[2, 0], 4), wrong(4));
    }

    /// A row without components is a row: its windows would leave params.
    #[test]
    fn rows_without_components_are_rows() {
        let numbers = DimensionNumbers { offset_dims: vec![1], ..DimensionNumbers::default() };
        let numbers = DimensionNumbers { index_vector_dim: 1, ..numbers };
        let operands = OperandShapes { params: &[3], indices: &[2, 0], numbers: &numbers, slice_sizes: &[4] };
        let refused = Rules::new(false, true).windows(operands, &Options::new().choices);
        assert_eq!(refused, Err(GatherError::SliceSizeOutOfRange { dim: 0, size: 4, bound: 3 }.into()));
    }
}
