//! Where in a slice a tensor lies: one that is read, and an output.

use gather_spec::Refusal;

use crate::kernels::places::{NoPlaces, Places};
use crate::kernels::strided::{Strided, Strides, row_major};

/// A tensor in a slice: where its first element is, its shape, and its strides.
#[derive(Clone, Debug)]
pub struct View<'a, A> {
    elements: &'a [A],
    offset: usize,
    pub(super) shape: &'a [usize],
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
    pub(super) fn operand(&self) -> Result<Strided<'_, A>, Refusal> {
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

/// A tensor in a slice that a gather may write: as a [`View`], but no two of its elements may be the same.
///
/// ```
/// use gather_optimized::Options;
/// use gather_optimized::slices::{View, ViewMut, gather_into};
///
/// // A cache of two sequences, each of three rows of two elements: the second row of both is written.
/// let mut cache = [0; 12];
/// let mut rows = ViewMut::strided(&mut cache, 2, &[2, 2], &[6, 1])?;
/// let params = View::new(&[1, 2, 3, 4, 5, 6], &[3, 2])?;
/// gather_into(&params, &View::new(&[2, 0], &[2])?, &mut rows, &Options::new())?;
/// assert_eq!(cache, [0, 0, 5, 6, 0, 0, 0, 0, 1, 2, 0, 0]);
/// # Ok::<(), gather_spec::Refusal>(())
/// ```
#[derive(Debug)]
pub struct ViewMut<'a, A> {
    elements: &'a mut [A],
    offset: usize,
    shape: &'a [usize],
    strides: Strides,
}

impl<'a, A> ViewMut<'a, A> {
    /// The elements that `strides` reach, in elements of the slice from dim to dim, the first of them at `offset`. A stride
    /// may be negative.
    ///
    /// # Errors
    /// `Unsupported` if an element lies outside the slice, there is not one stride for each dim, or a stride does not step
    /// over all that shorter ones reach, so that two elements might be the same.
    ///
    /// ```
    /// use gather_optimized::slices::ViewMut;
    /// assert!(ViewMut::strided(&mut [0; 6], 0, &[2, 2], &[3, 1]).is_ok());
    /// assert!(ViewMut::strided(&mut [0; 6], 0, &[2, 2], &[1, 1]).is_err());
    /// assert!(ViewMut::strided(&mut [0; 6], 0, &[2], &[0]).is_err());
    /// ```
    pub fn strided(
        elements: &'a mut [A],
        offset: usize,
        shape: &'a [usize],
        strides: &[isize],
    ) -> Result<Self, Refusal> {
        let mut view = Self { elements, offset, shape, strides: Strides::from_slice(strides) };
        view.places()?;
        Ok(view)
    }

    /// The shape.
    #[must_use]
    pub const fn shape(&self) -> &'a [usize] {
        self.shape
    }

    fn places(&mut self) -> Result<Places<'_, A>, Refusal> {
        let Self { elements, offset, shape, strides } = self;
        let len = elements.len();
        Places::within(elements, *offset, shape, strides)
            .map_err(|why| no_places(why, len, *offset, shape, strides))
    }
}

#[cold]
fn no_places(why: NoPlaces, len: usize, offset: usize, shape: &[usize], strides: &[isize]) -> Refusal {
    let view = format!("shape {shape:?} with strides {strides:?} from offset {offset}");
    Refusal::Unsupported(match why {
        NoPlaces::Outside => format!("{view} does not lie within a slice of {len} elements"),
        NoPlaces::Overlapping => format!(
            "{view} may be the same element twice: in an output each stride must step over what all shorter ones reach"
        ),
    })
}

/// What the `_into` functions write: a slice, an array or a `Vec` with as many elements as the output, row-major without gaps, or a
/// [`ViewMut`] of the output's shape. After a bad index its elements are unspecified: some were written and some were
/// not. What lies between the elements of a view is never touched. Sealed.
pub trait Output<A>: sealed::Sealed<A> {}

impl<A, O: sealed::Sealed<A> + ?Sized> Output<A> for O {}

pub(super) use sealed::Target;

mod sealed {
    use super::{Places, Refusal, ViewMut};

    /// Where an output goes.
    #[allow(private_interfaces, reason = "no one else can name it")]
    #[derive(Debug)]
    pub enum Target<'a, A> {
        Flat(&'a mut [A]),
        Places(Places<'a, A>),
    }

    pub trait Sealed<A> {
        fn target(&mut self) -> Result<Target<'_, A>, Refusal>;
    }

    impl<A> Sealed<A> for [A] {
        #[inline]
        fn target(&mut self) -> Result<Target<'_, A>, Refusal> {
            Ok(Target::Flat(self))
        }
    }

    impl<A, const N: usize> Sealed<A> for [A; N] {
        #[inline]
        fn target(&mut self) -> Result<Target<'_, A>, Refusal> {
            Ok(Target::Flat(self))
        }
    }

    impl<A> Sealed<A> for Vec<A> {
        #[inline]
        fn target(&mut self) -> Result<Target<'_, A>, Refusal> {
            Ok(Target::Flat(self))
        }
    }

    impl<A> Sealed<A> for ViewMut<'_, A> {
        fn target(&mut self) -> Result<Target<'_, A>, Refusal> {
            self.places().map(Target::Places)
        }
    }
}
