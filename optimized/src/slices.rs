//! The documented functions on plain slices, for whoever has arrays of their own: a [`View`] says where in a slice the
//! elements of a tensor lie. Outputs are row-major without gaps: a new `Vec`, or the caller's slice. Up to rank 6,
//! nothing is allocated but the output.
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

use gather_spec::{DimensionNumbers, Refusal};

use crate::arrays::{Arrays, Element};
use crate::forms::{elements, nd, take, window};
use crate::index::Index;
use crate::kernels::strided::{Strided, Strides, row_major};
use crate::options::Options;
use crate::plan::Plan;
use crate::policy::Fill;

/// A tensor in a slice: where its first element is, its shape, and its strides.
#[derive(Clone, Debug)]
pub struct View<'a, A> {
    elements: &'a [A],
    offset: usize,
    shape: &'a [usize],
    strides: Strides,
}

impl<'a, A> View<'a, A> {
    /// All of a slice, row-major without gaps.
    ///
    /// # Errors
    /// `Unsupported` if the slice has not as many elements as the shape.
    ///
    /// ```
    /// use gather_optimized::slices::View;
    /// assert!(View::new(&[1, 2, 3, 4, 5, 6], &[2, 3]).is_ok());
    /// assert!(View::new(&[1, 2, 3, 4, 5], &[2, 3]).is_err());
    /// ```
    pub fn new(elements: &'a [A], shape: &'a [usize]) -> Result<Self, Refusal> {
        let view = Self { elements, offset: 0, shape, strides: row_major(shape) };
        let fits =
            Strided::within(elements, 0, shape, &view.strides).is_some_and(|all| all.len() == elements.len());
        if fits { Ok(view) } else { Err(other_length(shape, elements.len())) }
    }

    /// The elements that `strides` reach, in elements of the slice from dim to dim, the first of them at `offset`. A stride may be
    /// negative, or 0 to repeat what it steps over.
    ///
    /// # Errors
    /// `Unsupported` if an element lies outside the slice, or there is not one stride for each dim.
    ///
    /// ```
    /// use gather_optimized::slices::View;
    /// // Backwards.
    /// assert!(View::strided(&[1, 2, 3], 2, &[3], &[-1]).is_ok());
    /// assert!(View::strided(&[1, 2, 3], 1, &[3], &[-1]).is_err());
    /// ```
    pub fn strided(
        elements: &'a [A],
        offset: usize,
        shape: &'a [usize],
        strides: &[isize],
    ) -> Result<Self, Refusal> {
        let view = Self { elements, offset, shape, strides: Strides::from_slice(strides) };
        match Strided::within(elements, offset, shape, &view.strides) {
            Some(_) => Ok(view),
            None => Err(outside(&view)),
        }
    }

    /// The shape.
    #[must_use]
    pub const fn shape(&self) -> &'a [usize] {
        self.shape
    }

    #[inline]
    fn operand(&self) -> Result<Strided<'_, A>, Refusal> {
        Strided::within(self.elements, self.offset, self.shape, &self.strides).ok_or_else(|| outside(self))
    }
}

#[cold]
fn other_length(shape: &[usize], len: usize) -> Refusal {
    Refusal::Unsupported(format!("a slice of {len} elements is not all of a tensor of shape {shape:?}"))
}

#[cold]
fn outside<A>(view: &View<'_, A>) -> Refusal {
    let View { elements, offset, shape, strides } = view;
    Refusal::Unsupported(format!(
        "shape {shape:?} with strides {:?} from offset {offset} does not lie within a slice of {} elements",
        strides.as_slice(),
        elements.len()
    ))
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

    /// Gathers from slices into the caller's slice, which has as many elements as the output; after a bad index it holds
    /// unspecified elements.
    ///
    /// # Errors
    /// As [`Plan::run`]; `Unsupported` if the output has another length.
    pub fn run_views_into<A: Element, I: Index>(
        &self,
        params: &View<'_, A>,
        indices: &View<'_, I>,
        output: &mut [A],
    ) -> Result<(), Refusal>
    where
        Z: Fill<A>,
    {
        self.on(params.operand()?, indices.operand()?)?.run_into_slice(output)
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

/// [`gather_nd`] into the caller's slice, which has as many elements as the output.
///
/// # Errors
/// As [`crate::gather_nd`]; `Unsupported` if the slice has another length.
pub fn gather_nd_into<A: Element, I: Index, Z: Fill<A>>(
    params: &View<'_, A>,
    indices: &View<'_, I>,
    output: &mut [A],
    options: &Options<Z>,
) -> Result<(), Refusal> {
    let shapes = nd::Rules::GATHER_ND.validate(params.shape, indices.shape, &options.choices)?;
    Arrays::new(shapes, params.operand()?, indices.operand()?, options.fill.chosen())?.run_into_slice(output)
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

/// [`gather`] into the caller's slice, which has as many elements as the output.
///
/// # Errors
/// As [`crate::gather`]; `Unsupported` if the slice has another length.
pub fn gather_into<A: Element, I: Index, Z: Fill<A>>(
    params: &View<'_, A>,
    indices: &View<'_, I>,
    output: &mut [A],
    options: &Options<Z>,
) -> Result<(), Refusal> {
    let shapes = take::Rules::GATHER.validate(params.shape, indices.shape, &options.choices)?;
    Arrays::new(shapes, params.operand()?, indices.operand()?, options.fill.chosen())?.run_into_slice(output)
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

/// [`take_along_axis`] into the caller's slice, which has as many elements as the output.
///
/// # Errors
/// As [`crate::take_along_axis`]; `Unsupported` if the slice has another length.
pub fn take_along_axis_into<A: Element, I: Index, Z: Fill<A>>(
    params: &View<'_, A>,
    indices: &View<'_, I>,
    output: &mut [A],
    options: &Options<Z>,
) -> Result<(), Refusal> {
    let shapes = elements::Rules::TAKE_ALONG_AXIS.validate(params.shape, indices.shape, &options.choices)?;
    Arrays::new(shapes, params.operand()?, indices.operand()?, options.fill.chosen())?.run_into_slice(output)
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
    let operands = window::Operands { params: params.shape, indices: indices.shape, numbers, slice_sizes };
    window::Rules::GATHER_WINDOWS.validate(operands, &options.choices, |shapes| {
        Arrays::new(shapes, params.operand()?, indices.operand()?, options.fill.chosen())?.run_flat()
    })?
}

/// [`gather_windows`] into the caller's slice, which has as many elements as the output.
///
/// # Errors
/// As [`crate::gather_windows`]; `Unsupported` if the slice has another length.
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
pub fn gather_windows_into<A: Element, I: Index, Z: Fill<A>>(
    params: &View<'_, A>,
    indices: &View<'_, I>,
    numbers: &DimensionNumbers,
    slice_sizes: &[i64],
    output: &mut [A],
    options: &Options<Z>,
) -> Result<(), Refusal> {
    let operands = window::Operands { params: params.shape, indices: indices.shape, numbers, slice_sizes };
    window::Rules::GATHER_WINDOWS.validate(operands, &options.choices, |shapes| {
        Arrays::new(shapes, params.operand()?, indices.operand()?, options.fill.chosen())?
            .run_into_slice(output)
    })?
}
