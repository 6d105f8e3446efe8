//! The documented functions on arrays, in one call each: the arrays' own shapes are validated, and no plan is made.

use gather_spec::{DimensionNumbers, Refusal};
use ndarray::{ArrayD, ArrayRef, Dimension};

use crate::arrays::Arrays;
use crate::element::Element;
use crate::forms::{elements, nd, take, window};
use crate::kernels::compiled::Index;
use crate::kernels::strided::Strided;
use crate::options::Options;
use crate::output::{Pool, Pooled};
use crate::policy::Fill;

/// Gathers slices of params by rows of indices.
///
/// With k = `indices.shape()[-1]` and b = `batch_dims`, the output has the shape
/// `params.shape()[..b] + indices.shape()[b..-1] + params.shape()[b+k..]` and
/// `output[batch, outer, inner] = params[batch, indices[batch, outer, :], inner]`. Each component `c` of an index row
/// must lie in `0..params.shape()[b+c]`, unless the options say otherwise.
///
/// Clauses: `tf.gather_nd.*`, `tf.raw_ops.GatherNd.*`, `paddle.gather_nd.*`.
///
/// # Errors
/// Those of [`crate::Plan::gather_nd`] and [`crate::Plan::run`].
///
/// ```
/// use gather_optimized::{Options, gather_nd};
/// use ndarray::array;
///
/// let params = array![["a0", "b0"], ["a1", "b1"]];
/// let output = gather_nd(&params, &array![[0, 0], [1, 1]], &Options::new())?;
/// assert_eq!(output, array!["a0", "b1"].into_dyn());
/// # Ok::<(), gather_spec::Refusal>(())
/// ```
pub fn gather_nd<A: Element, I: Index, D: Dimension, E: Dimension, Z: Fill<A>>(
    params: &ArrayRef<A, D>,
    indices: &ArrayRef<I, E>,
    options: &Options<Z>,
) -> Result<ArrayD<A>, Refusal> {
    points(params, indices, options)?.run()
}

/// [`gather_nd`] into the caller's array, of any layout.
///
/// # Errors
/// Those of [`crate::Plan::gather_nd`] and [`crate::Plan::run_into`].
///
/// ```
/// use gather_optimized::{Options, gather_nd_into};
/// use ndarray::{Array2, array};
///
/// let mut output = Array2::zeros((1, 2));
/// gather_nd_into(&array![[1, 2], [3, 4]], &array![[1]], &mut output, &Options::new())?;
/// assert_eq!(output, array![[3, 4]]);
/// # Ok::<(), gather_spec::Refusal>(())
/// ```
pub fn gather_nd_into<A: Element, I: Index, D: Dimension, E: Dimension, F: Dimension, Z: Fill<A>>(
    params: &ArrayRef<A, D>,
    indices: &ArrayRef<I, E>,
    output: &mut ArrayRef<A, F>,
    options: &Options<Z>,
) -> Result<(), Refusal> {
    points(params, indices, options)?.run_into(output)
}

/// Gathers slices of params along one axis.
///
/// With b = `batch_dims`, the output has the shape
/// `params.shape()[..axis] + indices.shape()[b..] + params.shape()[axis+1..]` and
/// `output[batch, mid, at, inner] = params[batch, mid, indices[batch, at], inner]`. Each index must lie in
/// `0..params.shape()[axis]`, unless the options say otherwise.
///
/// Clauses: `tf.gather.*`.
///
/// # Errors
/// Those of [`crate::Plan::gather`] and [`crate::Plan::run`].
///
/// ```
/// use gather_optimized::{Options, gather};
/// use ndarray::array;
///
/// let columns = gather(&array![[1, 2, 3], [4, 5, 6]], &array![2, 0], &Options::new().axis(1))?;
/// assert_eq!(columns, array![[3, 1], [6, 4]].into_dyn());
/// # Ok::<(), gather_spec::Refusal>(())
/// ```
pub fn gather<A: Element, I: Index, D: Dimension, E: Dimension, Z: Fill<A>>(
    params: &ArrayRef<A, D>,
    indices: &ArrayRef<I, E>,
    options: &Options<Z>,
) -> Result<ArrayD<A>, Refusal> {
    slices(params, indices, options)?.run()
}

/// [`gather`] into the caller's array, of any layout.
///
/// # Errors
/// Those of [`crate::Plan::gather`] and [`crate::Plan::run_into`].
///
/// ```
/// use gather_optimized::{Options, gather_into};
/// use ndarray::{Array1, array};
///
/// let mut output = Array1::zeros(2);
/// gather_into(&array![1, 2, 3], &array![2, 2], &mut output, &Options::new())?;
/// assert_eq!(output, array![3, 3]);
/// # Ok::<(), gather_spec::Refusal>(())
/// ```
pub fn gather_into<A: Element, I: Index, D: Dimension, E: Dimension, F: Dimension, Z: Fill<A>>(
    params: &ArrayRef<A, D>,
    indices: &ArrayRef<I, E>,
    output: &mut ArrayRef<A, F>,
    options: &Options<Z>,
) -> Result<(), Refusal> {
    slices(params, indices, options)?.run_into(output)
}

/// Gathers one element of params per index, each from the index's own position but for one axis.
///
/// Params and indices have the same rank. The output has the shape of indices, with each 1 off the axis replaced by the
/// dim of params, and `output[outer, at, inner] = params[outer, indices[outer, at, inner], inner]`, where a dim of 1
/// off the axis stands for every position. Another join is among the [`Options`], which must have an axis. Each index
/// must lie in `0..params.shape()[axis]`, unless the options say otherwise.
///
/// The formula of NumPy's `take_along_axis`, ONNX's GatherElements and `torch.gather`.
///
/// # Errors
/// Those of [`crate::Plan::take_along_axis`] and [`crate::Plan::run`].
///
/// ```
/// use gather_optimized::{Options, take_along_axis};
/// use ndarray::array;
///
/// let order = array![[0, 2, 1], [1, 2, 0]];
/// let sorted = take_along_axis(&array![[10, 30, 20], [60, 40, 50]], &order, &Options::new().axis(1))?;
/// assert_eq!(sorted, array![[10, 20, 30], [40, 50, 60]].into_dyn());
/// # Ok::<(), gather_spec::Refusal>(())
/// ```
pub fn take_along_axis<A: Element, I: Index, D: Dimension, E: Dimension, Z: Fill<A>>(
    params: &ArrayRef<A, D>,
    indices: &ArrayRef<I, E>,
    options: &Options<Z>,
) -> Result<ArrayD<A>, Refusal> {
    elements_along(params, indices, options)?.run()
}

/// [`take_along_axis`] into the caller's array, of any layout.
///
/// # Errors
/// Those of [`crate::Plan::take_along_axis`] and [`crate::Plan::run_into`].
///
/// ```
/// use gather_optimized::{Options, take_along_axis_into};
/// use ndarray::{Array2, array};
///
/// let mut output = Array2::zeros((1, 3));
/// let (params, lowest) = (array![[10, 40, 30], [20, 10, 60]], array![[0, 1, 0]]);
/// take_along_axis_into(&params, &lowest, &mut output, &Options::new().axis(0))?;
/// assert_eq!(output, array![[10, 10, 30]]);
/// # Ok::<(), gather_spec::Refusal>(())
/// ```
pub fn take_along_axis_into<A: Element, I: Index, D: Dimension, E: Dimension, F: Dimension, Z: Fill<A>>(
    params: &ArrayRef<A, D>,
    indices: &ArrayRef<I, E>,
    output: &mut ArrayRef<A, F>,
    options: &Options<Z>,
) -> Result<(), Refusal> {
    elements_along(params, indices, options)?.run_into(output)
}

/// Gathers windows of params, each from the start that an index row says.
///
/// The dims of the output at `offset_dims` are those of the window: the slice sizes of all dims of params but the collapsed and the
/// batching ones. Its other dims are those of indices without `index_vector_dim`. Every coordinate in params is a sum,
///
/// `output[...] = params[full_start + full_batching + full_offset]`, with for each dim `d` of params
/// - `full_start[d]` = the component `c` of the index row if `d` = `start_index_map[c]`, else 0. It must lie in
///   `0..=params.shape()[d] - slice_sizes[d]`, so that the window fits, unless the options say otherwise. The policies treat a
///   window as a whole: [`BadIndex::Clamp`](gather_spec::BadIndex::Clamp), which StableHLO's page asks for, moves the start to the
///   nearest that fits, and `Zero` and [`Options::fill`] spoil all of the window;
/// - `full_batching[d]` = the position in the dim `start_indices_batching_dims[i]` of indices if `d` =
///   `operand_batching_dims[i]`, else 0;
/// - `full_offset[d]` = the position in the window, 0 if `d` is collapsed or batching.
///
/// Where `index_vector_dim` is the rank of indices, each index is a row of one component. A slice size of 0 is legal; of a dim that
/// the output lacks it leaves elements undefined, and the call is `Unsupported` unless there are none.
///
/// The formula of StableHLO's `gather`, with the rules of its page.
///
/// # Errors
/// Those of [`crate::Plan::gather_windows`] and [`crate::Plan::run`]; the `bound` of `index-out-of-range` is the number of starts
/// that fit.
///
/// ```
/// use gather_optimized::{Options, gather_windows};
/// use gather_spec::{BadIndex, DimensionNumbers};
/// use ndarray::array;
///
/// let params = array![[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]];
/// // Of the row that the first component chooses, two elements from the second on.
/// let numbers = DimensionNumbers {
///     offset_dims: vec![1],
///     collapsed_slice_dims: vec![0],
///     start_index_map: vec![0, 1],
///     index_vector_dim: 1,
///     ..DimensionNumbers::default()
/// };
/// let clamp = Options::new().bad_index(BadIndex::Clamp);
/// let output = gather_windows(&params, &array![[1, 0], [2, 9]], &numbers, &[1, 2], &clamp)?;
/// assert_eq!(output, array![[10, 11], [22, 23]].into_dyn());
/// # Ok::<(), gather_spec::Refusal>(())
/// ```
pub fn gather_windows<A: Element, I: Index, D: Dimension, E: Dimension, Z: Fill<A>>(
    params: &ArrayRef<A, D>,
    indices: &ArrayRef<I, E>,
    numbers: &DimensionNumbers,
    slice_sizes: &[i64],
    options: &Options<Z>,
) -> Result<ArrayD<A>, Refusal> {
    windows(params, indices, numbers, slice_sizes, options, |arrays| arrays.run())
}

/// [`gather_windows`] into the caller's array, of any layout.
///
/// # Errors
/// Those of [`crate::Plan::gather_windows`] and [`crate::Plan::run_into`].
///
/// ```
/// use gather_optimized::{Options, gather_windows_into};
/// use gather_spec::DimensionNumbers;
/// use ndarray::{Array2, array};
///
/// let mut output = Array2::zeros((2, 3));
/// let numbers = DimensionNumbers {
///     offset_dims: vec![1],
///     start_index_map: vec![0],
///     index_vector_dim: 1,
///     ..DimensionNumbers::default()
/// };
/// let params = array![1, 2, 3, 4, 5];
/// gather_windows_into(&params, &array![2, 0], &numbers, &[3], &mut output, &Options::new())?;
/// assert_eq!(output, array![[3, 4, 5], [1, 2, 3]]);
/// # Ok::<(), gather_spec::Refusal>(())
/// ```
pub fn gather_windows_into<A: Element, I: Index, D: Dimension, E: Dimension, F: Dimension, Z: Fill<A>>(
    params: &ArrayRef<A, D>,
    indices: &ArrayRef<I, E>,
    numbers: &DimensionNumbers,
    slice_sizes: &[i64],
    output: &mut ArrayRef<A, F>,
    options: &Options<Z>,
) -> Result<(), Refusal> {
    windows(params, indices, numbers, slice_sizes, options, |arrays| arrays.run_into(output))
}

/// The documented functions, with outputs in memory that dropped ones gave back.
impl Pool {
    /// [`gather`] into memory of the pool.
    ///
    /// # Errors
    /// As [`gather`].
    pub fn gather<A: Element + 'static, I: Index, D: Dimension, E: Dimension, Z: Fill<A>>(
        &self,
        params: &ArrayRef<A, D>,
        indices: &ArrayRef<I, E>,
        options: &Options<Z>,
    ) -> Result<Pooled<A>, Refusal> {
        slices(params, indices, options)?.run_pooled(self)
    }

    /// [`gather_nd`] into memory of the pool.
    ///
    /// # Errors
    /// As [`gather_nd`].
    pub fn gather_nd<A: Element + 'static, I: Index, D: Dimension, E: Dimension, Z: Fill<A>>(
        &self,
        params: &ArrayRef<A, D>,
        indices: &ArrayRef<I, E>,
        options: &Options<Z>,
    ) -> Result<Pooled<A>, Refusal> {
        points(params, indices, options)?.run_pooled(self)
    }

    /// [`take_along_axis`] into memory of the pool.
    ///
    /// # Errors
    /// As [`take_along_axis`].
    pub fn take_along_axis<A: Element + 'static, I: Index, D: Dimension, E: Dimension, Z: Fill<A>>(
        &self,
        params: &ArrayRef<A, D>,
        indices: &ArrayRef<I, E>,
        options: &Options<Z>,
    ) -> Result<Pooled<A>, Refusal> {
        elements_along(params, indices, options)?.run_pooled(self)
    }

    /// [`gather_windows`] into memory of the pool.
    ///
    /// # Errors
    /// As [`gather_windows`].
    pub fn gather_windows<A: Element + 'static, I: Index, D: Dimension, E: Dimension, Z: Fill<A>>(
        &self,
        params: &ArrayRef<A, D>,
        indices: &ArrayRef<I, E>,
        numbers: &DimensionNumbers,
        slice_sizes: &[i64],
        options: &Options<Z>,
    ) -> Result<Pooled<A>, Refusal> {
        windows(params, indices, numbers, slice_sizes, options, |arrays| arrays.run_pooled(self))
    }
}

/// The arrays of [`gather_nd`].
#[inline(always)] // So that they are made in their place.
fn points<'a, A, I: Index, D: Dimension, E: Dimension, Z: Fill<A>>(
    params: &'a ArrayRef<A, D>,
    indices: &'a ArrayRef<I, E>,
    options: &'a Options<Z>,
) -> Result<Arrays<'a, A, I>, Refusal> {
    let shapes = nd::Rules::GATHER_ND.validate(params.shape(), indices.shape(), &options.choices)?;
    Arrays::new(shapes, Strided::of(params), Strided::of(indices), options.fill.chosen())
}

/// The arrays of [`gather`].
#[inline(always)]
fn slices<'a, A, I: Index, D: Dimension, E: Dimension, Z: Fill<A>>(
    params: &'a ArrayRef<A, D>,
    indices: &'a ArrayRef<I, E>,
    options: &'a Options<Z>,
) -> Result<Arrays<'a, A, I>, Refusal> {
    let shapes = take::Rules::GATHER.validate(params.shape(), indices.shape(), &options.choices)?;
    Arrays::new(shapes, Strided::of(params), Strided::of(indices), options.fill.chosen())
}

/// The arrays of [`take_along_axis`].
#[inline(always)]
fn elements_along<'a, A, I: Index, D: Dimension, E: Dimension, Z: Fill<A>>(
    params: &'a ArrayRef<A, D>,
    indices: &'a ArrayRef<I, E>,
    options: &'a Options<Z>,
) -> Result<Arrays<'a, A, I>, Refusal> {
    let shapes =
        elements::Rules::TAKE_ALONG_AXIS.validate(params.shape(), indices.shape(), &options.choices)?;
    Arrays::new(shapes, Strided::of(params), Strided::of(indices), options.fill.chosen())
}

/// Runs the arrays of [`gather_windows`], whose shapes live no longer than that.
#[inline(always)]
fn windows<A, I: Index, D: Dimension, E: Dimension, Z: Fill<A>, T>(
    params: &ArrayRef<A, D>,
    indices: &ArrayRef<I, E>,
    numbers: &DimensionNumbers,
    slice_sizes: &[i64],
    options: &Options<Z>,
    run: impl FnOnce(Arrays<'_, A, I>) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    let operands =
        window::OperandShapes { params: params.shape(), indices: indices.shape(), numbers, slice_sizes };
    window::Rules::GATHER_WINDOWS.validate(operands, &options.choices, |shapes| {
        run(Arrays::new(shapes, Strided::of(params), Strided::of(indices), options.fill.chosen())?)
    })?
}
