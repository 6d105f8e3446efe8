//! Copies and compares views with any strides, slice by slice and without building `ndarray` views.

use super::builder::reserved;
use super::{Stored, Tensor, TensorError};

/// A part of a tensor: what remains of its dims after fixing some of the first axes.
struct SubTensor<'a, T> {
    stored: &'a [T],
    /// The position of the first element in the storage.
    first: usize,
    dims: &'a [usize],
    strides: &'a [isize],
}

impl<'a, T: Stored> SubTensor<'a, T> {
    fn new(tensor: &'a Tensor) -> Option<Self> {
        let stored = T::slice(&tensor.elements)?;
        Some(Self { stored, first: tensor.offset, dims: &tensor.shape, strides: &tensor.strides })
    }

    /// The storage positions along the first axis.
    fn places(&self, dim: usize, stride: isize) -> impl Iterator<Item = usize> + use<T> {
        let first = self.first;
        (0..dim.cast_signed()).map(move |step| first.wrapping_add_signed(step * stride))
    }

    /// The slices along the first axis.
    fn slices(&self, dim: usize, stride: isize) -> impl Iterator<Item = Self> + use<'a, T> {
        let (stored, dims, strides) = (self.stored, &self.dims[1..], &self.strides[1..]);
        self.places(dim, stride).map(move |first| Self { stored, first, dims, strides })
    }

    fn row(&self, dim: usize) -> &'a [T] {
        &self.stored[self.first..self.first + dim]
    }

    /// Appends the elements to a list in row-major order.
    fn append_to(&self, list: &mut Vec<T>) {
        match (self.dims, self.strides) {
            ([dim], [1]) => list.extend_from_slice(self.row(*dim)),
            ([dim], [stride]) => list.extend(self.places(*dim, *stride).map(|at| self.stored[at].clone())),
            ([dim, ..], [stride, ..]) => self.slices(*dim, *stride).for_each(|slice| slice.append_to(list)),
            _ => list.push(self.stored[self.first].clone()),
        }
    }

    /// Whether a part with the same dims has the same elements.
    fn equals(&self, other: &Self) -> bool {
        match (self.dims, self.strides, other.strides) {
            ([dim], [1], [1]) => self.row(*dim) == other.row(*dim),
            ([dim], [one], [two]) => {
                let mut places = self.places(*dim, *one).zip(other.places(*dim, *two));
                places.all(|(one, two)| self.stored[one] == other.stored[two])
            }
            ([dim, ..], [one, ..], [two, ..]) => {
                let mut slices = self.slices(*dim, *one).zip(other.slices(*dim, *two));
                slices.all(|(one, two)| one.equals(&two))
            }
            _ => self.stored[self.first] == other.stored[other.first],
        }
    }
}

impl Tensor {
    /// The elements as a slice, if they are stored row-major without gaps.
    pub(super) fn row_major<T: Stored>(&self) -> Option<&[T]> {
        let mut stride = 1;
        for (dim, found) in self.shape.iter().zip(&self.strides).rev() {
            if *found != stride {
                return None;
            }
            stride *= dim.cast_signed();
        }
        T::slice(&self.elements)?.get(self.offset..self.offset + stride.unsigned_abs())
    }

    /// The same elements, stored row-major without gaps.
    pub(super) fn copied<T: Stored>(&self) -> Result<Self, TensorError> {
        let count = self.shape.element_count();
        let mut elements: Vec<T> = reserved(count)?;
        // An empty tensor may have a huge number of empty rows. Skip them.
        if count > 0 {
            match self.row_major() {
                Some(row) => elements.extend_from_slice(row),
                None => SubTensor::new(self).ok_or(TensorError::Width(self.dtype))?.append_to(&mut elements),
            }
        }
        Self::new(self.dtype, self.shape.to_vec(), elements)
    }

    /// Whether a tensor of the same shape has the same elements.
    pub(super) fn equals<T: Stored>(&self, other: &Self) -> bool {
        // Avoids comparing gigabytes of zeros with themselves.
        let same_layout = self.strides == other.strides && self.offset == other.offset;
        if (same_layout && self.elements.is(&other.elements)) || self.shape.element_count() == 0 {
            return true;
        }
        match (self.row_major::<T>(), other.row_major::<T>()) {
            (Some(one), Some(other)) => one == other,
            _ => match (SubTensor::<T>::new(self), SubTensor::new(other)) {
                (Some(one), Some(other)) => one.equals(&other),
                _ => false,
            },
        }
    }
}
