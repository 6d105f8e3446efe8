//! Tensors element by element.

use super::{ByteString, Element, Tensor, TensorError};
use crate::{DType, Shape};

/// Collects the elements of a tensor in row-major order; memory is reserved up front, and fallibly.
///
/// ```
/// # use gather_spec::{DType, Element, Shape, Tensor, TensorBuilder};
/// let mut output = TensorBuilder::new(DType::U8, Shape::new([2])?)?;
/// output.push(Element::Bits(7));
/// output.push(Element::Bits(8));
/// assert_eq!(output.finish()?, Tensor::new(DType::U8, [2], vec![7u8, 8])?);
/// # Ok::<(), gather_spec::TensorError>(())
/// ```
#[derive(Debug)]
pub struct TensorBuilder {
    dtype: DType,
    shape: Shape,
    elements: Growing,
}

/// The elements pushed so far, by width.
#[derive(Debug)]
enum Growing {
    B1(Vec<u8>),
    B2(Vec<u16>),
    B4(Vec<u32>),
    B8(Vec<u64>),
    B16(Vec<u128>),
    Strings(Vec<ByteString>),
}

impl TensorBuilder {
    /// A builder with room for all elements of the shape.
    ///
    /// # Errors
    /// [`TensorError::OutOfMemory`] if that much cannot be reserved.
    pub fn new(dtype: DType, shape: Shape) -> Result<Self, TensorError> {
        let count = shape.element_count();
        let elements = match dtype {
            DType::String => Growing::Strings(reserved(count)?),
            _ => match dtype.size() {
                1 => Growing::B1(reserved(count)?),
                2 => Growing::B2(reserved(count)?),
                4 => Growing::B4(reserved(count)?),
                8 => Growing::B8(reserved(count)?),
                _ => Growing::B16(reserved(count)?),
            },
        };
        Ok(Self { dtype, shape, elements })
    }

    /// Adds the next element in row-major order. Bits beyond the dtype's width are dropped.
    ///
    /// # Panics
    /// If bytes are pushed where bits belong, or the other way round.
    #[track_caller]
    #[allow(clippy::cast_possible_truncation, reason = "an element's bits lie in the low end of the u128")]
    pub fn push(&mut self, element: Element) {
        match (&mut self.elements, element) {
            (Growing::B1(elements), Element::Bits(bits)) => elements.push(bits as u8),
            (Growing::B2(elements), Element::Bits(bits)) => elements.push(bits as u16),
            (Growing::B4(elements), Element::Bits(bits)) => elements.push(bits as u32),
            (Growing::B8(elements), Element::Bits(bits)) => elements.push(bits as u64),
            (Growing::B16(elements), Element::Bits(bits)) => elements.push(bits),
            (Growing::Strings(elements), Element::Bytes(bytes)) => elements.push(bytes),
            (_, element) => panic!("{element:?} is no element of dtype {}", self.dtype),
        }
    }

    /// Adds a zero of the dtype.
    pub fn push_zero(&mut self) {
        self.push(Element::zero(self.dtype));
    }

    /// The finished tensor.
    ///
    /// # Errors
    /// [`TensorError::Count`] if not exactly the shape's elements were pushed.
    pub fn finish(self) -> Result<Tensor, TensorError> {
        let Self { dtype, shape, elements } = self;
        match elements {
            Growing::B1(elements) => Tensor::new(dtype, shape.to_vec(), elements),
            Growing::B2(elements) => Tensor::new(dtype, shape.to_vec(), elements),
            Growing::B4(elements) => Tensor::new(dtype, shape.to_vec(), elements),
            Growing::B8(elements) => Tensor::new(dtype, shape.to_vec(), elements),
            Growing::B16(elements) => Tensor::new(dtype, shape.to_vec(), elements),
            Growing::Strings(elements) => Tensor::new(dtype, shape.to_vec(), elements),
        }
    }
}

/// An empty vector with room, if that can be had.
pub(super) fn reserved<T>(count: usize) -> Result<Vec<T>, TensorError> {
    let mut elements = Vec::new();
    let bytes = count.saturating_mul(size_of::<T>());
    elements.try_reserve_exact(count).map_err(|_| TensorError::OutOfMemory { bytes })?;
    Ok(elements)
}
