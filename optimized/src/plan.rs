//! A plan: the shapes of a call, validated once, to be run often. `forms` validates them, and `arrays` runs the call.

use gather_spec::{DimensionNumbers, Refusal};
use ndarray::{ArrayD, ArrayRef, Dimension};

use crate::arrays::Arrays;
use crate::element::Element;
use crate::forms::{elements, nd, take, window};
use crate::kernels::compiled::Index;
use crate::kernels::strided::Strided;
use crate::levels::Level;
use crate::options::Options;
use crate::output::{Pool, Pooled};
use crate::policy::{Fill, Policies, Zeros};
use crate::shapes::{Dims, Execution, OutputSize, Selection, Shapes};
use crate::windows::Windows;

/// A call that has been validated for shapes, to be run on any number of arrays of these shapes.
///
/// ```
/// use gather_optimized::{Options, Plan};
/// use ndarray::array;
///
/// let plan = Plan::gather_nd(&[2, 2], &[3, 1], &Options::new())?;
/// assert_eq!(plan.output_shape(), [3, 2]);
/// let params = array![[1, 2], [3, 4]];
/// let output = plan.run(&params, &array![[1], [0], [1]])?;
/// assert_eq!(output, array![[3, 4], [1, 2], [3, 4]].into_dyn());
/// # Ok::<(), gather_spec::Refusal>(())
/// ```
///
/// `F` is what the options chose for elements with a bad index: see [`Options::fill`].
#[derive(Clone, Debug)]
pub struct Plan<F = Zeros> {
    params: Dims,
    indices: Dims,
    output: Dims,
    /// Boxed, since most plans have none.
    windows: Option<Box<Windows>>,
    selection: Selection,
    size: OutputSize,
    execution: Execution,
    fill: F,
}

impl<F: Clone> Plan<F> {
    /// A plan for `gather_nd`: with k = `indices[-1]` and b = `batch_dims`, the output's shape is
    /// `params[..b] + indices[b..-1] + params[b+k..]`.
    ///
    /// # Errors
    /// `indices-rank`, `batch-dims-out-of-range`, `batch-shape-mismatch`, `index-depth`,
    /// in this order; `Unsupported` for an axis, a join, or a level that this processor lacks. Whether the output is too large
    /// is found when the plan is run, since it depends on the element type.
    ///
    /// ```
    /// use gather_optimized::{Options, Plan};
    /// let plan = Plan::gather_nd(&[2, 3, 4], &[2, 5, 1], &Options::new().batch_dims(1))?;
    /// assert_eq!(plan.output_shape(), [2, 5, 4]);
    /// # Ok::<(), gather_spec::Refusal>(())
    /// ```
    pub fn gather_nd(params: &[usize], indices: &[usize], options: &Options<F>) -> Result<Self, Refusal> {
        nd::Rules::GATHER_ND
            .validate(params, indices, &options.choices)
            .map(|shapes| Self::of(shapes, options.fill.clone()))
    }

    /// A plan for `gather`: with b = `batch_dims`, the output's shape is
    /// `params[..axis] + indices[b..] + params[axis+1..]`.
    ///
    /// # Errors
    /// `params-rank`, `batch-dims-out-of-range`, `axis-out-of-range`, `axis-before-batch`, `batch-shape-mismatch`,
    /// in this order; `Unsupported` for a join, or a level that this processor lacks. Whether the output is too large is found
    /// when the plan is run, since it depends on the element type.
    ///
    /// ```
    /// use gather_optimized::{Options, Plan};
    /// let plan = Plan::gather(&[2, 3, 4], &[5], &Options::new().axis(1))?;
    /// assert_eq!(plan.output_shape(), [2, 5, 4]);
    /// # Ok::<(), gather_spec::Refusal>(())
    /// ```
    pub fn gather(params: &[usize], indices: &[usize], options: &Options<F>) -> Result<Self, Refusal> {
        take::Rules::GATHER
            .validate(params, indices, &options.choices)
            .map(|shapes| Self::of(shapes, options.fill.clone()))
    }

    /// A plan for `take_along_axis`: the output has the shape of indices, with each 1 off the axis replaced by the dim
    /// of params. `options` must have an axis, and may have a join other than NumPy's, which broadcasts.
    ///
    /// # Errors
    /// `axis-required`, `rank-mismatch`, `axis-out-of-range`, `join-mismatch`, in this order; `Unsupported` for batch
    /// dims, or a level that this processor lacks. Whether the output is too large is found when the plan is run, since
    /// it depends on the element type.
    ///
    /// ```
    /// use gather_optimized::{Options, Plan};
    /// let plan = Plan::take_along_axis(&[2, 3, 4], &[2, 5, 1], &Options::new().axis(1))?;
    /// assert_eq!(plan.output_shape(), [2, 5, 4]);
    /// # Ok::<(), gather_spec::Refusal>(())
    /// ```
    pub fn take_along_axis(
        params: &[usize],
        indices: &[usize],
        options: &Options<F>,
    ) -> Result<Self, Refusal> {
        elements::Rules::TAKE_ALONG_AXIS
            .validate(params, indices, &options.choices)
            .map(|shapes| Self::of(shapes, options.fill.clone()))
    }

    /// A plan for `gather_windows`, of the shapes that [`gather_windows`](crate::gather_windows) describes.
    ///
    /// # Errors
    /// `dimension-numbers`, `slice-size-out-of-range`, `batch-shape-mismatch`, in this order; `Unsupported` for batch dims, an
    /// axis or a join among the options, or a level that this processor lacks. Whether the output is too large is found
    /// when the plan is run, since it depends on the element type.
    ///
    /// ```
    /// use gather_optimized::{Options, Plan};
    /// use gather_spec::DimensionNumbers;
    ///
    /// // Windows of 8 x 6, one for each of 5 starts.
    /// let numbers = DimensionNumbers {
    ///     offset_dims: vec![1, 2],
    ///     start_index_map: vec![0, 1],
    ///     index_vector_dim: 1,
    ///     ..DimensionNumbers::default()
    /// };
    /// let plan = Plan::gather_windows(&[16, 11], &[5, 2], &numbers, &[8, 6], &Options::new())?;
    /// assert_eq!(plan.output_shape(), [5, 8, 6]);
    /// # Ok::<(), gather_spec::Refusal>(())
    /// ```
    pub fn gather_windows(
        params: &[usize],
        indices: &[usize],
        numbers: &DimensionNumbers,
        slice_sizes: &[i64],
        options: &Options<F>,
    ) -> Result<Self, Refusal> {
        let operands = window::OperandShapes { params, indices, numbers, slice_sizes };
        window::Rules::GATHER_WINDOWS
            .validate(operands, &options.choices, |shapes| Self::of(shapes, options.fill.clone()))
    }
}

impl<F> Plan<F> {
    /// Keeps shapes that fit each other.
    pub(crate) fn of(shapes: Shapes<'_>, fill: F) -> Self {
        let Shapes { params, indices, windows, selection, size, execution } = shapes;
        let windows = windows.cloned().map(Box::new);
        let mut output = Dims::new();
        // Not `collect`, which is called rather than inlined: a twentieth of a tiny call.
        shapes.each_output_dim(|dim| output.push(dim));
        let (params, indices) = (Dims::from_slice(params), Dims::from_slice(indices));
        Self { params, indices, output, windows, selection, size, execution, fill }
    }

    /// The same plan with another choice of what elements with a bad index are.
    pub(crate) fn filled<G>(&self, fill: G) -> Plan<G> {
        Plan {
            params: self.params.clone(),
            indices: self.indices.clone(),
            output: self.output.clone(),
            windows: self.windows.clone(),
            selection: self.selection,
            size: self.size,
            execution: self.execution,
            fill,
        }
    }

    /// The same plan under other policies on indices.
    pub(crate) fn under(&self, policies: Policies) -> Self
    where
        F: Clone,
    {
        let mut plan = self.clone();
        plan.execution.policies = policies;
        plan
    }

    /// The shapes that the plan is for.
    #[inline]
    pub(crate) fn shapes(&self) -> Shapes<'_> {
        let Self { params, indices, windows, selection, size, execution, .. } = self;
        let (windows, selection, size, execution) = (windows.as_deref(), *selection, *size, *execution);
        Shapes { params, indices, windows, selection, size, execution }
    }

    /// What elements with a bad index are.
    pub(crate) const fn fill(&self) -> &F {
        &self.fill
    }

    /// The shape of the output.
    #[must_use]
    pub fn output_shape(&self) -> &[usize] {
        &self.output
    }

    /// The instruction set that this plan uses.
    #[must_use]
    pub const fn level(&self) -> Level {
        self.execution.level.level()
    }
}

impl<Z> Plan<Z> {
    /// The call of this plan on operands.
    ///
    /// # Errors
    /// Those of [`Arrays::new`].
    #[inline(always)] // So that the shapes stay in registers.
    pub(crate) fn on<'a, A, I: Index>(
        &'a self,
        params: Strided<'a, A>,
        indices: Strided<'a, I>,
    ) -> Result<Arrays<'a, A, I>, Refusal>
    where
        Z: Fill<A>,
    {
        Arrays::new(self.shapes(), params, indices, self.fill.chosen())
    }

    /// Gathers into a new array.
    ///
    /// # Errors
    /// `output-too-large` and `index-out-of-range`; `Unsupported` if the arrays are not of the plan's shapes or
    /// memory is short.
    #[inline]
    pub fn run<A: Element, I: Index, D: Dimension, E: Dimension>(
        &self,
        params: &ArrayRef<A, D>,
        indices: &ArrayRef<I, E>,
    ) -> Result<ArrayD<A>, Refusal>
    where
        Z: Fill<A>,
    {
        self.on(Strided::of(params), Strided::of(indices))?.run()
    }

    /// Gathers into memory of a pool.
    ///
    /// # Errors
    /// As [`Plan::run`].
    pub fn run_pooled<A: Element + 'static, I: Index, D: Dimension, E: Dimension>(
        &self,
        params: &ArrayRef<A, D>,
        indices: &ArrayRef<I, E>,
        pool: &Pool,
    ) -> Result<Pooled<A>, Refusal>
    where
        Z: Fill<A>,
    {
        self.on(Strided::of(params), Strided::of(indices))?.run_pooled(pool)
    }

    /// Gathers into the caller's array, of any layout: a slice of a larger array, transposed, backwards. It is fastest where
    /// what one index row selects has no gaps in the output. Nothing is written before the shapes are known to fit. After a
    /// bad index the elements of the array are unspecified: some were written and some were not. What lies between them is
    /// never touched.
    ///
    /// # Errors
    /// As [`Plan::run`]; `Unsupported` if the output has another shape.
    ///
    /// ```
    /// use gather_optimized::{Options, Plan};
    /// use ndarray::{Array1, array};
    ///
    /// let plan = Plan::gather(&[3], &[2], &Options::new())?;
    /// let mut output = Array1::zeros(2);
    /// plan.run_into(&array![10, 20, 30], &array![2, 1], &mut output)?;
    /// assert_eq!(output, array![30, 20]);
    /// # Ok::<(), gather_spec::Refusal>(())
    /// ```
    ///
    /// Into the second column of a matrix:
    ///
    /// ```
    /// # use gather_optimized::{Options, Plan};
    /// # use ndarray::{Array2, array};
    /// # let plan = Plan::gather(&[3], &[2], &Options::new())?;
    /// let mut batch = Array2::zeros((2, 3));
    /// plan.run_into(&array![10, 20, 30], &array![2, 1], &mut batch.column_mut(1))?;
    /// assert_eq!(batch, array![[0, 30, 0], [0, 20, 0]]);
    /// # Ok::<(), gather_spec::Refusal>(())
    /// ```
    #[inline]
    pub fn run_into<A: Element, I: Index, D: Dimension, E: Dimension, F: Dimension>(
        &self,
        params: &ArrayRef<A, D>,
        indices: &ArrayRef<I, E>,
        output: &mut ArrayRef<A, F>,
    ) -> Result<(), Refusal>
    where
        Z: Fill<A>,
    {
        self.on(Strided::of(params), Strided::of(indices))?.run_into(output)
    }

    /// Clones elements, such as strings, into a new array; a large call on all threads. See also [`strings`](crate::strings).
    ///
    /// # Errors
    /// As [`Plan::run`].
    ///
    /// # Panics
    /// If a clone does; what was cloned before is dropped.
    ///
    /// ```
    /// use gather_optimized::{Options, Plan};
    /// use ndarray::array;
    ///
    /// let plan = Plan::gather(&[2], &[3], &Options::new())?;
    /// let names = array!["north".to_owned(), "south".to_owned()];
    /// let output = plan.run_cloned(&names, &array![1, 1, 0])?;
    /// assert_eq!(output[[2]], "north");
    /// # Ok::<(), gather_spec::Refusal>(())
    /// ```
    pub fn run_cloned<A: Clone + Default + Send + Sync, I: Index, D: Dimension, E: Dimension>(
        &self,
        params: &ArrayRef<A, D>,
        indices: &ArrayRef<I, E>,
    ) -> Result<ArrayD<A>, Refusal>
    where
        Z: Fill<A>,
    {
        self.on(Strided::of(params), Strided::of(indices))?.run_cloned()
    }

    /// The same into the caller's array, by `clone_from`: the elements there may lend their memory.
    ///
    /// # Errors
    /// As [`Plan::run_into`].
    ///
    /// # Panics
    /// If a clone does; elements may have been overwritten before.
    pub fn run_cloned_into<
        A: Clone + Default + Send + Sync,
        I: Index,
        D: Dimension,
        E: Dimension,
        F: Dimension,
    >(
        &self,
        params: &ArrayRef<A, D>,
        indices: &ArrayRef<I, E>,
        output: &mut ArrayRef<A, F>,
    ) -> Result<(), Refusal>
    where
        Z: Fill<A>,
    {
        self.on(Strided::of(params), Strided::of(indices))?.run_cloned_into(output)
    }
}

#[cfg(test)]
mod tests {
    use gather_spec::{ErrorCode, GatherError};

    use super::*;

    fn code(plan: Result<Plan, Refusal>) -> ErrorCode {
        match plan {
            Err(Refusal::Error(error)) => error.code(),
            other => panic!("an error is expected, not {other:?}"),
        }
    }

    #[test]
    fn the_first_reason_is_the_answer() {
        let nd = |p: &[usize], i: &[usize], b| code(Plan::gather_nd(p, i, &Options::new().batch_dims(b)));
        assert_eq!(nd(&[], &[], 9), ErrorCode::IndicesRank);
        assert_eq!(nd(&[2], &[3, 9], 2), ErrorCode::BatchDimsOutOfRange);
        assert_eq!(nd(&[3, 1], &[3, 1], 2), ErrorCode::BatchDimsOutOfRange, "the last axis of indices");
        assert_eq!(nd(&[3], &[3, 3, 0], 2), ErrorCode::BatchDimsOutOfRange, "beyond params");
        assert_eq!(nd(&[2], &[3, 9], -1), ErrorCode::BatchDimsOutOfRange);
        assert_eq!(nd(&[2], &[3, 9], 1), ErrorCode::BatchShapeMismatch);
        assert_eq!(nd(&[2], &[2, 9], 1), ErrorCode::IndexDepth);
        assert_eq!(nd(&[2, 5], &[2, 2], 1), ErrorCode::IndexDepth, "below the batch");
    }

    #[test]
    fn the_range_of_batch_dims_is_told_from_end_to_end() {
        let range =
            |low, high, batch_dims| Refusal::from(GatherError::BatchDimsOutOfRange { batch_dims, low, high });
        let three = Options::new().batch_dims(3);
        let nd = |params: &[usize]| Plan::gather_nd(params, &[2, 2], &three).unwrap_err();
        assert_eq!(nd(&[2, 2, 2]), range(0, 1, 3), "all dims of indices but the last");
        assert_eq!(nd(&[]), range(0, 0, 3), "the dims of params");
        assert_eq!(Plan::gather(&[2], &[2, 2], &three).unwrap_err(), range(-2, 2, 3));
    }

    #[test]
    fn an_axis_counts_from_params_and_a_batch_from_indices() {
        let plan = Plan::gather(&[2, 3, 4], &[2, 5], &Options::new().batch_dims(-1).axis(-1)).unwrap();
        assert_eq!((plan.selection.batch_dims, plan.selection.axis), (1, 2));
        assert_eq!(plan.output_shape(), [2, 3, 5]);
        let one = |axis, b| code(Plan::gather(&[2, 2], &[2, 2], &Options::new().batch_dims(b).axis(axis)));
        assert_eq!(one(i64::MIN, 0), ErrorCode::AxisOutOfRange);
        assert_eq!(one(0, 1), ErrorCode::AxisBeforeBatch);
        assert_eq!(one(0, i64::MIN), ErrorCode::BatchDimsOutOfRange);
        assert_eq!(code(Plan::gather(&[2], &[2], &Options::new().batch_dims(1))), ErrorCode::AxisOutOfRange);
    }

    #[test]
    fn an_output_of_2_to_the_63_bytes_is_one_too_large() {
        let most = usize::MAX >> 1;
        let plan = |len: usize| Plan::gather(&[1, len], &[1], &Options::new()).unwrap();
        assert_eq!(plan(most).shapes().output_len(1), Ok(most));
        let bytes = most as u128 + 1;
        assert_eq!(plan(most + 1).shapes().output_len(1), Err(GatherError::OutputTooLarge { bytes }.into()));
    }

    #[test]
    fn a_zero_dim_does_not_hide_dims_that_are_too_large() {
        let half = usize::MAX >> 2;
        let plan = Plan::gather(&[half, 0, 4], &[1], &Options::new().axis(1)).unwrap();
        let bytes = half as u128 * 4 * 8;
        assert_eq!(plan.shapes().output_len(8), Err(GatherError::OutputTooLarge { bytes }.into()));
        let plan = Plan::gather(&[half, 0], &[0], &Options::new().axis(1)).unwrap();
        assert_eq!(plan.shapes().output_len(1), Ok(0));
    }
}
