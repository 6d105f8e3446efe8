//! Conversion between tensors and little-endian bytes.

use super::{Elements, Stored, Tensor, TensorBuilder, TensorError};
use crate::{DType, Shape};

impl Tensor {
    /// A tensor from the little-endian bytes of its elements in row-major order. Not for strings.
    ///
    /// # Errors
    /// [`TensorError`] if the number of bytes is not that of shape and dtype, or memory is short.
    pub fn from_le_bytes(dtype: DType, shape: Shape, bytes: &[u8]) -> Result<Self, TensorError> {
        let expected = shape.element_count().saturating_mul(dtype.size());
        if dtype == DType::String {
            return Err(TensorError::Width(dtype));
        }
        if bytes.len() != expected {
            return Err(TensorError::Bytes { dtype, shape, expected, found: bytes.len() });
        }
        let mut tensor = TensorBuilder::new(dtype, shape)?;
        tensor.extend_from_le_bytes(bytes);
        tensor.finish()
    }

    /// The little-endian bytes of the elements in row-major order; `None` for strings.
    #[must_use]
    pub fn to_le_bytes(&self) -> Option<Vec<u8>> {
        match &self.elements {
            Elements::B1(_) => self.le_bytes(u8::to_le_bytes),
            Elements::B2(_) => self.le_bytes(u16::to_le_bytes),
            Elements::B4(_) => self.le_bytes(u32::to_le_bytes),
            Elements::B8(_) => self.le_bytes(u64::to_le_bytes),
            Elements::B16(_) => self.le_bytes(u128::to_le_bytes),
            Elements::Strings(_) => None,
        }
    }

    fn le_bytes<T: Stored + Copy, const SIZE: usize>(
        &self,
        element_bytes: impl Fn(T) -> [u8; SIZE],
    ) -> Option<Vec<u8>> {
        let elements = self.view::<T>()?;
        let mut bytes = vec![0; elements.len() * SIZE];
        let (chunks, _) = bytes.as_chunks_mut::<SIZE>();
        let copy = |(chunk, element): (&mut [u8; SIZE], &T)| *chunk = element_bytes(*element);
        match elements.as_slice() {
            // The compiler turns a loop over a slice into a memory copy, which it cannot do for strides.
            Some(elements) => chunks.iter_mut().zip(elements).for_each(copy),
            None => chunks.iter_mut().zip(&elements).for_each(copy),
        }
        Some(bytes)
    }
}
