//! The documented functions on plain slices, for callers with their own array types: a [`View`] says where in
//! a slice the elements of a tensor lie. Outputs are a new `Vec` or the caller's slice, row-major without
//! gaps, or a [`ViewMut`] that says where in a slice they go. Up to rank 6, nothing is allocated but the
//! output.
//!
//! ```
//! use gather_optimized::Options;
//! use gather_optimized::slices::{View, gather, gather_into};
//!
//! let params = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
//! let matrix = View::new(&params, &[2, 3])?;
//! let columns = View::new(&[2i64, 0], &[2])?;
//! let options = Options::new().axis(1);
//! assert_eq!(gather(&matrix, &columns, &options)?, [3.0, 1.0, 6.0, 4.0]);
//!
//! // The same elements as columns: rows of the transposed matrix.
//! let transposed = View::strided(&params, 0, &[3, 2], &[1, 3])?;
//! let mut output = [0.0; 4];
//! gather_into(&transposed, &columns, &mut output, &Options::new())?;
//! assert_eq!(output, [3.0, 6.0, 1.0, 4.0]);
//! # Ok::<(), gather_spec::Refusal>(())
//! ```

mod view;

use gather_spec::{DimensionNumbers, Refusal};

use crate::arrays::Arrays;
use crate::element::Element;
use crate::forms::{elements, nd, take, window};
use crate::kernels::compiled::Index;
use crate::options::Options;
use crate::plan::Plan;
use crate::policy::Fill;
use view::Target;

pub use view::{Output, View, ViewMut};

impl<A: Element, I: Index> Arrays<'_, A, I> {
    /// Gathers to where an output goes.
    #[inline]
    fn run_into_output<O: Output<A> + ?Sized>(&self, output: &mut O) -> Result<(), Refusal> {
        match output.target()? {
            Target::Flat(slice) => self.run_into_slice(slice),
            Target::Places(places) => self.run_into_places(places),
        }
    }
}

impl<Z> Plan<Z> {
    /// Gathers from slices into a new row-major one.
    ///
    /// # Errors
    /// As [`Plan::run`].
    ///
    /// ```
    /// use gather_optimized::slices::View;
    /// use gather_optimized::{Options, Plan};
    ///
    /// let plan = Plan::gather(&[3], &[2], &Options::new())?;
    /// let output = plan.run_views(&View::new(&[10, 20, 30], &[3])?, &View::new(&[2, 1], &[2])?)?;
    /// assert_eq!(output, [30, 20]);
    /// # Ok::<(), gather_spec::Refusal>(())
    /// ```
    pub fn run_views<A: Element, I: Index>(
        &self,
        params: &View<'_, A>,
        indices: &View<'_, I>,
    ) -> Result<Vec<A>, Refusal>
    where
        Z: Fill<A>,
    {
        self.on(params.operand()?, indices.operand()?)?.run_flat()
    }

    /// Gathers from slices into an [`Output`] of the caller's.
    ///
    /// # Errors
    /// As [`Plan::run`]; `Unsupported` if the output has another length or shape.
    pub fn run_views_into<A: Element, I: Index, O: Output<A> + ?Sized>(
        &self,
        params: &View<'_, A>,
        indices: &View<'_, I>,
        output: &mut O,
    ) -> Result<(), Refusal>
    where
        Z: Fill<A>,
    {
        self.on(params.operand()?, indices.operand()?)?.run_into_output(output)
    }
}

/// [`crate::gather_nd`] on slices, into a new row-major one.
///
/// # Errors
/// As [`crate::gather_nd`].
///
/// ```
/// use gather_optimized::Options;
/// use gather_optimized::slices::{View, gather_nd};
///
/// let params = View::new(&[1, 2, 3, 4], &[2, 2])?;
/// let rows = View::new(&[1, 0, 0, 1], &[2, 2])?;
/// assert_eq!(gather_nd(&params, &rows, &Options::new())?, [3, 2]);
/// # Ok::<(), gather_spec::Refusal>(())
/// ```
pub fn gather_nd<A: Element, I: Index, Z: Fill<A>>(
    params: &View<'_, A>,
    indices: &View<'_, I>,
    options: &Options<Z>,
) -> Result<Vec<A>, Refusal> {
    let shapes = nd::Rules::GATHER_ND.validate(params.shape, indices.shape, &options.choices)?;
    Arrays::new(shapes, params.operand()?, indices.operand()?, options.fill.chosen())?.run_flat()
}

/// [`gather_nd`] into an [`Output`] of the caller's.
///
/// # Errors
/// As [`crate::gather_nd`]; `Unsupported` if the output has another length or shape.
pub fn gather_nd_into<A: Element, I: Index, O: Output<A> + ?Sized, Z: Fill<A>>(
    params: &View<'_, A>,
    indices: &View<'_, I>,
    output: &mut O,
    options: &Options<Z>,
) -> Result<(), Refusal> {
    let shapes = nd::Rules::GATHER_ND.validate(params.shape, indices.shape, &options.choices)?;
    Arrays::new(shapes, params.operand()?, indices.operand()?, options.fill.chosen())?.run_into_output(output)
}

/// [`crate::gather`] on slices, into a new row-major one.
///
/// # Errors
/// As [`crate::gather`].
pub fn gather<A: Element, I: Index, Z: Fill<A>>(
    params: &View<'_, A>,
    indices: &View<'_, I>,
    options: &Options<Z>,
) -> Result<Vec<A>, Refusal> {
    let shapes = take::Rules::GATHER.validate(params.shape, indices.shape, &options.choices)?;
    Arrays::new(shapes, params.operand()?, indices.operand()?, options.fill.chosen())?.run_flat()
}

/// [`gather`] into an [`Output`] of the caller's.
///
/// # Errors
/// As [`crate::gather`]; `Unsupported` if the output has another length or shape.
pub fn gather_into<A: Element, I: Index, O: Output<A> + ?Sized, Z: Fill<A>>(
    params: &View<'_, A>,
    indices: &View<'_, I>,
    output: &mut O,
    options: &Options<Z>,
) -> Result<(), Refusal> {
    let shapes = take::Rules::GATHER.validate(params.shape, indices.shape, &options.choices)?;
    Arrays::new(shapes, params.operand()?, indices.operand()?, options.fill.chosen())?.run_into_output(output)
}

/// [`crate::take_along_axis`] on slices, into a new row-major one.
///
/// # Errors
/// As [`crate::take_along_axis`].
///
/// ```
/// use gather_optimized::Options;
/// use gather_optimized::slices::{View, take_along_axis};
///
/// let params = View::new(&[10, 30, 20, 60, 40, 50], &[2, 3])?;
/// let order = View::new(&[0, 2, 1, 1, 2, 0], &[2, 3])?;
/// let sorted = take_along_axis(&params, &order, &Options::new().axis(1))?;
/// assert_eq!(sorted, [10, 20, 30, 40, 50, 60]);
/// # Ok::<(), gather_spec::Refusal>(())
/// ```
pub fn take_along_axis<A: Element, I: Index, Z: Fill<A>>(
    params: &View<'_, A>,
    indices: &View<'_, I>,
    options: &Options<Z>,
) -> Result<Vec<A>, Refusal> {
    let shapes = elements::Rules::TAKE_ALONG_AXIS.validate(params.shape, indices.shape, &options.choices)?;
    Arrays::new(shapes, params.operand()?, indices.operand()?, options.fill.chosen())?.run_flat()
}

/// [`take_along_axis`] into an [`Output`] of the caller's.
///
/// # Errors
/// As [`crate::take_along_axis`]; `Unsupported` if the output has another length or shape.
pub fn take_along_axis_into<A: Element, I: Index, O: Output<A> + ?Sized, Z: Fill<A>>(
    params: &View<'_, A>,
    indices: &View<'_, I>,
    output: &mut O,
    options: &Options<Z>,
) -> Result<(), Refusal> {
    let shapes = elements::Rules::TAKE_ALONG_AXIS.validate(params.shape, indices.shape, &options.choices)?;
    Arrays::new(shapes, params.operand()?, indices.operand()?, options.fill.chosen())?.run_into_output(output)
}

/// [`crate::gather_windows`] on slices, into a new row-major one.
///
/// # Errors
/// As [`crate::gather_windows`].
pub fn gather_windows<A: Element, I: Index, Z: Fill<A>>(
    params: &View<'_, A>,
    indices: &View<'_, I>,
    numbers: &DimensionNumbers,
    slice_sizes: &[i64],
    options: &Options<Z>,
) -> Result<Vec<A>, Refusal> {
    let operands =
        window::OperandShapes { params: params.shape, indices: indices.shape, numbers, slice_sizes };
    window::Rules::GATHER_WINDOWS.validate(operands, &options.choices, |shapes| {
        Arrays::new(shapes, params.operand()?, indices.operand()?, options.fill.chosen())?.run_flat()
    })?
}

/// [`gather_windows`] into an [`Output`] of the caller's.
///
/// # Errors
/// As [`crate::gather_windows`]; `Unsupported` if the output has another length or shape.
///
/// ```
/// use gather_optimized::Options;
/// use gather_optimized::slices::{View, gather_windows_into};
/// use gather_spec::DimensionNumbers;
///
/// let numbers = DimensionNumbers {
///     offset_dims: vec![1],
///     start_index_map: vec![0],
///     index_vector_dim: 1,
///     ..DimensionNumbers::default()
/// };
/// let (params, starts) = (View::new(&[1, 2, 3, 4, 5], &[5])?, View::new(&[2, 0], &[2])?);
/// let mut output = [0; 6];
/// gather_windows_into(&params, &starts, &numbers, &[3], &mut output, &Options::new())?;
/// assert_eq!(output, [3, 4, 5, 1, 2, 3]);
/// # Ok::<(), gather_spec::Refusal>(())
/// ```
pub fn gather_windows_into<A: Element, I: Index, O: Output<A> + ?Sized, Z: Fill<A>>(
    params: &View<'_, A>,
    indices: &View<'_, I>,
    numbers: &DimensionNumbers,
    slice_sizes: &[i64],
    output: &mut O,
    options: &Options<Z>,
) -> Result<(), Refusal> {
    let operands =
        window::OperandShapes { params: params.shape, indices: indices.shape, numbers, slice_sizes };
    window::Rules::GATHER_WINDOWS.validate(operands, &options.choices, |shapes| {
        Arrays::new(shapes, params.operand()?, indices.operand()?, options.fill.chosen())?
            .run_into_output(output)
    })?
}
