//! An output as the kernels see it where its elements do not follow one another: where its first element is, its shape
//! and its strides.

use std::marker::PhantomData;

use ndarray::{ArrayRef, Dimension};
use smallvec::SmallVec;

use super::cursor::Cursor;
use super::strided::Strided;
use crate::geometry::Geometry;

/// An output in memory that others own, in any layout. Every multi-index within the shape is a distinct
/// element, which is initialised and which only the owner of this value may access during `'a`. So it is made
/// only from a mutable array, or from a mutable slice with strides that were checked for that.
#[derive(Debug)]
pub(crate) struct Places<'a, A> {
    /// The element at the multi-index of zeros; any address if there is no element.
    first: *mut A,
    shape: &'a [usize],
    /// In elements, one for each dim.
    strides: &'a [isize],
    elements: PhantomData<&'a mut [A]>,
}

/// Why strides within a slice are no places for an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoPlaces {
    /// An element lies outside the slice, or there is not one stride for each dim.
    Outside,
    /// Two multi-indices may be the same element.
    Overlapping,
}

impl<'a, A> Places<'a, A> {
    /// All of an array. No two multi-indices of an array that may be written are the same element: ndarray sees to that.
    pub(crate) fn of<D: Dimension>(array: &'a mut ArrayRef<A, D>) -> Self {
        let first = array.as_mut_ptr();
        let array: &'a ArrayRef<A, D> = array;
        Self { first, shape: array.shape(), strides: array.strides(), elements: PhantomData }
    }

    /// The elements of a slice that these strides reach, the first of them `offset` elements from its start.
    pub(crate) fn within(
        elements: &'a mut [A],
        offset: usize,
        shape: &'a [usize],
        strides: &'a [isize],
    ) -> Result<Self, NoPlaces> {
        if Strided::within(elements, offset, shape, strides).is_none() {
            return Err(NoPlaces::Outside);
        }
        let mut first = elements.as_mut_ptr();
        if !shape.contains(&0) {
            if !are_apart(shape, strides) {
                return Err(NoPlaces::Overlapping);
            }
            first = first.wrapping_add(offset);
        }
        Ok(Self { first, shape, strides, elements: PhantomData })
    }

    /// The element at the multi-index of zeros.
    pub(super) const fn first(&self) -> *mut A {
        self.first
    }

    pub(crate) const fn shape(&self) -> &'a [usize] {
        self.shape
    }

    /// The bytes that neighbours have without gaps, at least those of one element.
    pub(super) fn run_bytes(&self) -> usize {
        Geometry::run(self.shape, self.strides).1 * size_of::<A>()
    }

    /// Where the rows of the output lie. Each has `row_bytes` bytes, which must divide [`Places::run_bytes`].
    pub(super) fn rows(&self, row_bytes: usize) -> Geometry {
        Geometry::of_output(self.shape, self.strides, size_of::<A>(), row_bytes)
    }

    /// Writes the same element everywhere.
    pub(crate) fn fill(&mut self, element: A)
    where
        A: Copy,
    {
        if self.shape.contains(&0) {
            return;
        }
        let rows = self.rows(size_of::<A>());
        let (mut cursor, mut left) = (Cursor::new(&rows, 0), rows.row_count);
        while left > 0 {
            let segment = cursor.take(left);
            for at in 0..segment.len {
                let place = segment.params.wrapping_add(segment.axis.params.wrapping_mul(at.cast_signed()));
                // SAFETY: a row of the geometry is an element of this output.
                unsafe { self.first.byte_offset(place).write(element) };
            }
            left -= segment.len;
        }
    }
}

/// Whether strides keep all elements of a shape without a dim of 0 distinct: each step is longer than all
/// shorter ones reach together. Dims that interleave without overlap are rejected, too.
fn are_apart(shape: &[usize], strides: &[isize]) -> bool {
    let dims = shape.iter().zip(strides).filter(|(dim, _)| **dim > 1);
    let mut dims: SmallVec<[(usize, usize); 6]> =
        dims.map(|(dim, stride)| (stride.unsigned_abs(), dim - 1)).collect();
    dims.sort_unstable();
    let mut reach = 0usize;
    dims.iter().all(|(step, steps)| {
        let apart = *step > reach;
        reach = reach.saturating_add(step.saturating_mul(*steps));
        apart
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(len: usize, offset: usize, shape: &[usize], strides: &[isize]) -> Option<NoPlaces> {
        Places::within(&mut vec![0u8; len], offset, shape, strides).err()
    }

    #[test]
    fn no_two_multi_indices_are_the_same_element() {
        let overlapping = Some(NoPlaces::Overlapping);
        assert_eq!(refused(6, 0, &[2, 3], &[3, 1]), None);
        assert_eq!(refused(6, 5, &[3, 2], &[-1, -3]), None, "transposed and backwards");
        assert_eq!(refused(6, 0, &[2, 3], &[2, 1]), overlapping, "one too short");
        assert_eq!(refused(6, 0, &[3, 2], &[1, 2]), overlapping, "one too short, the other way round");
        assert_eq!(refused(6, 0, &[2], &[0]), overlapping);
        assert_eq!(refused(6, 3, &[2, 2], &[1, -1]), overlapping);
        assert_eq!(refused(6, 0, &[1, 6, 1], &[0, 1, 1]), None, "a dim of 1 may have any stride");
        assert_eq!(refused(9, 0, &[2, 2, 2], &[4, 2, 1]), None);
        assert_eq!(
            refused(9, 0, &[2, 2, 2], &[3, 2, 1]),
            overlapping,
            "two shorter steps reach a longer one"
        );
        assert_eq!(refused(8, 0, &[3, 2], &[2, 3]), overlapping, "they interleave");
    }

    #[test]
    fn every_element_lies_within_the_slice() {
        let outside = Some(NoPlaces::Outside);
        assert_eq!((refused(6, 1, &[6], &[1]), refused(6, 4, &[6], &[-1])), (outside, outside));
        assert_eq!((refused(6, 0, &[2], &[]), refused(6, 0, &[], &[1])), (outside, outside));
        assert_eq!((refused(0, 9, &[0, 3], &[0, 0]), refused(1, 0, &[], &[])), (None, None));
    }

    #[test]
    fn only_elements_of_the_output_are_filled() {
        let mut memory = [0; 12];
        Places::within(&mut memory, 9, &[2, 2], &[-4, 2]).unwrap().fill(7);
        assert_eq!(memory, [0, 0, 0, 0, 0, 7, 0, 7, 0, 7, 0, 7]);
        Places::within(&mut memory, 0, &[2, 0], &[0, 0]).unwrap().fill(8);
        assert!(!memory.contains(&8));
    }
}
