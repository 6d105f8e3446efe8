//! Builds tensors element by element.

use super::{ByteString, Element, Tensor, TensorError};
use crate::{DType, Shape};

/// Collects the elements of a tensor in row-major order. Allocation happens up front, and can fail.
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
    /// A builder with memory for all elements of the shape.
    ///
    /// # Errors
    /// [`TensorError::OutOfMemory`] if the memory cannot be allocated.
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
    /// If bytes are pushed to a tensor of bits, or vice versa.
    #[track_caller]
    #[allow(clippy::cast_possible_truncation, reason = "an element's bits lie in the low end of the u128")]
    #[inline]
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

    /// Adds elements from their little-endian bytes, as fast as a copy.
    ///
    /// # Panics
    /// If the dtype is string, or the bytes are not a whole number of elements.
    ///
    /// ```
    /// # use gather_spec::{DType, Shape, Tensor, TensorBuilder};
    /// let mut tensor = TensorBuilder::new(DType::I16, Shape::new([2])?)?;
    /// tensor.extend_from_le_bytes(&[7, 0, 0xFF, 0xFF]);
    /// assert_eq!(tensor.finish()?, Tensor::new(DType::I16, [2], vec![7u16, 0xFFFF])?);
    /// # Ok::<(), gather_spec::TensorError>(())
    /// ```
    #[track_caller]
    pub fn extend_from_le_bytes(&mut self, bytes: &[u8]) {
        match &mut self.elements {
            Growing::B1(elements) => elements.extend_from_slice(bytes),
            Growing::B2(elements) => elements.extend(whole(bytes).iter().copied().map(u16::from_le_bytes)),
            Growing::B4(elements) => elements.extend(whole(bytes).iter().copied().map(u32::from_le_bytes)),
            Growing::B8(elements) => elements.extend(whole(bytes).iter().copied().map(u64::from_le_bytes)),
            Growing::B16(elements) => elements.extend(whole(bytes).iter().copied().map(u128::from_le_bytes)),
            Growing::Strings(_) => panic!("strings have no fixed number of bytes"),
        }
    }

    /// Adds a zero of the dtype.
    pub fn push_zero(&mut self) {
        self.push(Element::zero(self.dtype));
    }

    /// The finished tensor.
    ///
    /// # Errors
    /// [`TensorError::Count`] if the number of elements is not the shape's.
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

/// Splits bytes into elements.
#[track_caller]
fn whole<const SIZE: usize>(bytes: &[u8]) -> &[[u8; SIZE]] {
    let (elements, rest) = bytes.as_chunks();
    assert!(rest.is_empty(), "{} bytes are not a whole number of elements of {SIZE}", bytes.len());
    elements
}

/// An empty vector with capacity, if that can be allocated.
pub(super) fn reserved<T>(count: usize) -> Result<Vec<T>, TensorError> {
    let mut elements = Vec::new();
    let bytes = count.saturating_mul(size_of::<T>());
    elements.try_reserve_exact(count).map_err(|_| TensorError::OutOfMemory { bytes })?;
    Ok(elements)
}

impl Tensor {
    /// A tensor whose elements are all equal. Only one is stored.
    ///
    /// # Errors
    /// [`TensorError`] if the shape is too large.
    pub fn filled(dtype: DType, shape: Shape, element: &Element) -> Result<Self, TensorError> {
        let mut one = TensorBuilder::new(dtype, Shape::default())?;
        one.push(element.clone());
        let strides = vec![0; shape.rank()];
        Self::strided(dtype, shape, strides, 0, one.finish()?.elements)
    }

    /// A tensor with another dtype in the same layout. `map` converts every stored element between the first and the last.
    #[cfg(feature = "cases")]
    pub(crate) fn map_elements(
        &self,
        dtype: DType,
        map: impl Fn(Element) -> Element,
    ) -> Result<Self, TensorError> {
        let (low, high) = match self.shape.element_count() {
            0 => (self.offset, self.offset),
            _ => {
                let reaches = self
                    .shape
                    .iter()
                    .zip(&self.strides)
                    .map(|(dim, stride)| (dim - 1).cast_signed() * stride);
                let below: isize = reaches.clone().filter(|reach| *reach < 0).sum();
                let above: isize = reaches.filter(|reach| *reach > 0).sum();
                (self.offset.wrapping_add_signed(below), self.offset.wrapping_add_signed(above) + 1)
            }
        };
        let mut stored = TensorBuilder::new(dtype, Shape::new([high - low])?)?;
        (low..high).filter_map(|at| self.elements.get(at)).for_each(|element| stored.push(map(element)));
        let elements = stored.finish()?.elements;
        Self::strided(dtype, self.shape.clone(), self.strides.clone(), self.offset - low, elements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Stored;

    /// Two rows of three elements: stored so, as the columns of another matrix, reversed, and one row twice.
    fn layouts<T: Stored>(dtype: DType, rows: [T; 6]) -> [Tensor; 4] {
        let [a, b, c, d, e, f] = rows;
        let strided = |stored: Vec<T>, strides: [isize; 2], offset| {
            let shape = Shape::new([2, 3]).unwrap();
            Tensor::strided(dtype, shape, strides.to_vec(), offset, T::store(stored)).unwrap()
        };
        let copy = || [&a, &b, &c, &d, &e, &f].map(Clone::clone);
        let [a2, b2, c2, d2, e2, f2] = copy();
        [
            Tensor::new(dtype, [2, 3], copy().to_vec()).unwrap(),
            strided(vec![a2, d2, b2, e2, c2, f2], [1, 2], 0),
            strided(copy().into_iter().rev().collect(), [-3, -1], 5),
            strided(copy()[..3].to_vec(), [0, 1], 0),
        ]
    }

    fn bytes_go_out_and_in<T: Stored>(dtype: DType, rows: [T; 6], expected: &[u8]) {
        let [plain, columns, reversed, twice] = layouts(dtype, rows);
        for tensor in [&plain, &columns, &reversed] {
            assert_eq!(tensor.to_le_bytes().unwrap(), expected, "{dtype}");
        }
        let half = expected.len() / 2;
        assert_eq!(twice.to_le_bytes().unwrap(), [&expected[..half], &expected[..half]].concat(), "{dtype}");
        let read = Tensor::from_le_bytes(dtype, Shape::new([2, 3]).unwrap(), expected).unwrap();
        assert_eq!(read, plain, "{dtype}");
    }

    #[test]
    fn bytes_are_little_endian_and_row_major_for_every_width_and_layout() {
        let bytes = |size: usize| -> Vec<u8> { (1..=6 * u8::try_from(size).unwrap()).collect() };
        bytes_go_out_and_in(DType::Bool, [1u8, 2, 3, 4, 5, 6], &bytes(1));
        let rows = [0x0201u16, 0x0403, 0x0605, 0x0807, 0x0a09, 0x0c0b];
        bytes_go_out_and_in(DType::BF16, rows, &bytes(2));
        let rows = [0x0403_0201u32, 0x0807_0605, 0x0c0b_0a09, 0x100f_0e0d, 0x1413_1211, 0x1817_1615];
        bytes_go_out_and_in(DType::F32, rows, &bytes(4));
        let wide = |first: u128, size: u128| (0..size).map(|at| (first + at) << (8 * at)).sum::<u128>();
        let rows = [1, 9, 17, 25, 33, 41].map(|first| u64::try_from(wide(first, 8)).unwrap());
        bytes_go_out_and_in(DType::C64, rows, &bytes(8));
        bytes_go_out_and_in(DType::C128, [1, 17, 33, 49, 65, 81].map(|first| wide(first, 16)), &bytes(16));
    }

    #[test]
    fn strings_have_no_bytes_of_their_own_and_no_elements_none() {
        let strings = Tensor::new(DType::String, [1], vec![ByteString::from("a")]).unwrap();
        assert_eq!(strings.to_le_bytes(), None);
        let none = Tensor::filled(DType::F32, Shape::new([1 << 40, 0]).unwrap(), &Element::Bits(1)).unwrap();
        assert_eq!(none.to_le_bytes(), Some(Vec::new()));
    }

    #[test]
    #[should_panic(expected = "3 bytes are not a whole number of elements of 2")]
    fn half_an_element_is_not_added() {
        let mut tensor = TensorBuilder::new(DType::I16, Shape::new([2]).unwrap()).unwrap();
        tensor.extend_from_le_bytes(&[1, 2, 3]);
    }
}
