//! An operand as the kernels see it: where its first element is, its shape and its strides.

use std::marker::PhantomData;

use ndarray::{ArrayRef, Dimension};
use smallvec::SmallVec;

/// The strides of one tensor, in elements; no allocation up to rank 6.
pub(crate) type Strides = SmallVec<[isize; 6]>;

/// An operand in memory that others own. Every multi-index within the shape is an element that is initialised and may be
/// read during `'a`, which is why only an array, or a slice that reaches far enough, becomes one.
#[derive(Debug)]
pub(crate) struct Strided<'a, A> {
    /// The element at the multi-index of zeros; any address if there is no element.
    first: *const A,
    shape: &'a [usize],
    /// In elements, one for each dim.
    strides: &'a [isize],
    elements: PhantomData<&'a [A]>,
}

impl<A> Clone for Strided<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for Strided<'_, A> {}

impl<'a, A> Strided<'a, A> {
    /// All of an array.
    #[inline(always)] // So that what is known of the shape stays known.
    pub(crate) fn of<D: Dimension>(array: &'a ArrayRef<A, D>) -> Self {
        let (shape, strides) = (array.shape(), array.strides());
        Self { first: array.as_ptr(), shape, strides, elements: PhantomData }
    }

    /// The elements of a slice that these strides reach, the first of them `offset` elements from its start; `None` if
    /// one of them lies outside.
    pub(crate) fn within(
        elements: &'a [A],
        offset: usize,
        shape: &'a [usize],
        strides: &'a [isize],
    ) -> Option<Self> {
        // As in arrays, so that a product of dims never overflows.
        let nonzero = shape.iter().filter(|dim| **dim > 0);
        let count = nonzero.copied().try_fold(1usize, usize::checked_mul)?;
        if shape.len() != strides.len() || isize::try_from(count).is_err() {
            return None;
        }
        let mut first = elements.as_ptr();
        if !shape.contains(&0) {
            let (mut lowest, mut highest) = (offset as i128, offset as i128);
            for (dim, stride) in shape.iter().zip(strides) {
                // Of two numbers of 64 bits; a shape has fewer than 2^60 dims.
                let reach = (*dim as i128 - 1) * *stride as i128;
                *if reach < 0 { &mut lowest } else { &mut highest } += reach;
            }
            if lowest < 0 || highest >= elements.len() as i128 {
                return None;
            }
            first = first.wrapping_add(offset);
        }
        Some(Self { first, shape, strides, elements: PhantomData })
    }

    /// The element at the multi-index of zeros.
    #[inline(always)]
    pub(crate) const fn first(&self) -> *const A {
        self.first
    }

    #[inline(always)]
    pub(crate) const fn shape(&self) -> &'a [usize] {
        self.shape
    }

    /// In elements.
    #[inline(always)]
    pub(crate) const fn strides(&self) -> &'a [isize] {
        self.strides
    }

    /// The number of elements.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.shape.iter().product()
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at a multi-index.
    ///
    /// # Panics
    /// If it is not within the shape.
    pub(crate) fn get(&self, position: &[usize]) -> &'a A {
        assert!(
            position.len() == self.shape.len() && position.iter().zip(self.shape).all(|(at, dim)| at < dim)
        );
        let steps = position.iter().zip(self.strides).map(|(at, stride)| at.cast_signed() * stride);
        // SAFETY: the position is within the shape, so this is an element that may be read.
        unsafe { &*self.first.offset(steps.sum()) }
    }
}

/// The strides of a tensor of this shape that is row-major without gaps.
pub(crate) fn row_major(shape: &[usize]) -> Strides {
    let mut strides: Strides = shape.iter().map(|_| 0).collect();
    let mut step = 1usize;
    for (stride, dim) in strides.iter_mut().zip(shape).rev() {
        *stride = step.cast_signed();
        step = step.wrapping_mul(*dim);
    }
    strides
}

#[cfg(test)]
mod tests {
    use ndarray::{Axis, array, s};

    use super::*;

    #[test]
    fn an_array_and_a_slice_with_its_strides_have_the_same_elements() {
        let mut array = array![[1, 2, 3], [4, 5, 6]];
        array.invert_axis(Axis(1));
        let view = array.slice(s![.., ..2]);
        let elements = [1, 2, 3, 4, 5, 6];
        let (of_array, of_slice) =
            (Strided::of(&view), Strided::within(&elements, 2, &[2, 2], &[3, -1]).unwrap());
        for (position, expected) in [([0, 0], 3), ([0, 1], 2), ([1, 0], 6), ([1, 1], 5)] {
            assert_eq!((*of_array.get(&position), *of_slice.get(&position)), (expected, expected));
        }
    }

    #[test]
    fn a_slice_must_hold_every_element_that_strides_reach() {
        let six = [0u8; 6];
        let fits = |offset, shape: &[usize], strides: &[isize]| {
            Strided::within(&six, offset, shape, strides).is_some()
        };
        assert!(fits(0, &[2, 3], &[3, 1]) && !fits(1, &[2, 3], &[3, 1]), "one too far");
        assert!(fits(5, &[6], &[-1]) && !fits(4, &[6], &[-1]), "one too low");
        assert!(fits(3, &[2, 2], &[-3, 2]) && !fits(3, &[2, 2], &[-3, 3]), "each way at once");
        assert!(fits(5, &[usize::MAX >> 1], &[0]), "the same element again and again");
        assert!(!fits(0, &[usize::MAX >> 1, 2], &[0, 0]), "more elements than any array may have");
        #[cfg(target_pointer_width = "64")]
        assert!(!fits(0, &[(1 << 33) + 1], &[1 << 31]), "a reach of 2^64, which 64 bits take for 0");
        assert!(!fits(0, &[2], &[isize::MAX]) && !fits(0, &[2, 2], &[isize::MIN, isize::MAX]));
        assert!(fits(9, &[0, 7], &[1, 100]) && !fits(6, &[], &[]), "no element, and one");
        assert!(!fits(0, &[2], &[]) && !fits(0, &[], &[1]), "a stride for each dim");
        assert!(!fits(0, &[0, usize::MAX, 2], &[0, 0, 0]));
    }

    #[test]
    fn row_major_strides_step_over_the_dims_behind() {
        assert_eq!(row_major(&[2, 3, 4]).as_slice(), [12, 4, 1]);
        assert_eq!(row_major(&[]).as_slice(), [0isize; 0]);
    }

    #[test]
    #[should_panic(expected = "assertion failed")]
    fn a_position_outside_is_not_read() {
        Strided::within(&[1, 2], 0, &[2], &[1]).unwrap().get(&[2]);
    }
}
