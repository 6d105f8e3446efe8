//! Sparse tensors: zero except in a few painted places. They are so large that they are built only when needed, and rely on
//! the operating system to provide untouched pages as zeros without allocating them.

use super::builder::reserved;
use super::{Stored, Tensor, TensorError};
use crate::{DType, Element, Shape};

/// A tensor that is zero except in a few places.
#[derive(Clone, Debug)]
pub struct Sparse {
    dtype: DType,
    shape: Shape,
    /// Runs of painted elements: the row-major position of the first, and the bits of each.
    runs: Vec<(usize, Vec<u128>)>,
}

impl Sparse {
    /// A tensor of zeros. Strings are not supported.
    ///
    /// # Errors
    /// [`TensorError`] for strings, and if the shape is too large.
    pub fn new(dtype: DType, shape: Shape) -> Result<Self, TensorError> {
        if dtype == DType::String {
            return Err(TensorError::Width(dtype));
        }
        // This checks the size without allocating memory.
        Tensor::filled(dtype, shape.clone(), &Element::zero(dtype))?;
        Ok(Self { dtype, shape, runs: Vec::new() })
    }

    /// Paints elements from a row-major position on. They must be within the shape.
    pub(crate) fn paint(&mut self, first: usize, bits: Vec<u128>) {
        self.runs.push((first, bits));
    }

    /// Paints elements, given as little-endian bytes, from a row-major position on.
    pub fn paint_le_bytes(&mut self, first: usize, bytes: &[u8]) {
        let bits = |bytes: &[u8]| {
            let mut wide = [0; 16];
            wide[..bytes.len()].copy_from_slice(bytes);
            u128::from_le_bytes(wide)
        };
        self.paint(first, bytes.chunks(self.dtype.size()).map(bits).collect());
    }

    /// Builds the tensor in row-major order.
    ///
    /// # Errors
    /// [`TensorError::OutOfMemory`] if the system does not provide the memory.
    #[allow(clippy::cast_possible_truncation, reason = "an element's bits lie in the low end of the u128")]
    pub fn tensor(&self) -> Result<Tensor, TensorError> {
        match self.dtype.size() {
            1 => self.painted(|bits| bits as u8),
            2 => self.painted(|bits| bits as u16),
            4 => self.painted(|bits| bits as u32),
            8 => self.painted(|bits| bits as u64),
            _ => self.painted(|bits| bits),
        }
    }

    /// The size of the dense tensor in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.shape.element_count().saturating_mul(self.dtype.size())
    }

    /// The painted runs: the byte offset of each, and its little-endian bytes.
    pub fn le_runs(&self) -> impl Iterator<Item = (usize, Vec<u8>)> {
        let size = self.dtype.size();
        let bytes = move |bits: &u128| bits.to_le_bytes().into_iter().take(size);
        self.runs.iter().map(move |(first, bits)| (first * size, bits.iter().flat_map(bytes).collect()))
    }

    fn painted<T: Stored + Default>(&self, element: impl Fn(u128) -> T) -> Result<Tensor, TensorError> {
        let mut elements = zeroed::<T>(self.shape.element_count())?;
        for (first, bits) in &self.runs {
            let places = elements.get_mut(*first..).unwrap_or_default();
            places.iter_mut().zip(bits).for_each(|(place, bits)| *place = element(*bits));
        }
        Tensor::new(self.dtype, self.shape.to_vec(), elements)
    }
}

/// `count` zeros. The system allocates pages as they are touched.
fn zeroed<T: Clone + Default>(count: usize) -> Result<Vec<T>, TensorError> {
    // `vec!` aborts the program if memory is short, so a fallible reservation comes first.
    drop(std::hint::black_box(reserved::<T>(count)?));
    Ok(vec![T::default(); count])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

    use super::*;

    #[test]
    fn what_is_painted_stands_among_zeros() {
        let mut sparse = Sparse::new(DType::I16, Shape::new([2, 3]).unwrap()).unwrap();
        sparse.paint(1, vec![7, 0xFFFF]);
        sparse.paint(5, vec![9]);
        let written = Tensor::new(DType::I16, [2, 3], vec![0u16, 7, 0xFFFF, 0, 0, 9]).unwrap();
        assert_eq!(sparse.tensor().unwrap(), written);
        assert_eq!(sparse.bytes(), 12);
        let runs: Vec<_> = sparse.le_runs().collect();
        assert_eq!(runs, [(2, vec![7, 0, 0xFF, 0xFF]), (10, vec![9, 0])]);
    }

    #[test]
    fn more_than_there_is_memory_is_an_error_and_strings_are_none() {
        let huge = Sparse::new(DType::U8, Shape::new([1 << 62]).unwrap()).unwrap();
        assert!(matches!(huge.tensor(), Err(TensorError::OutOfMemory { .. })));
        assert!(Sparse::new(DType::String, Shape::new([1]).unwrap()).is_err());
        assert!(Sparse::new(DType::C128, Shape::new([1 << 62]).unwrap()).is_err());
    }
}
