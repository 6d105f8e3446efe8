//! The same tensor in different layouts: what an implementation answers must not depend on them.

use gather_spec::tensor::Stored;
use gather_spec::{ByteString, Call, DType, Element, Shape, Tensor, TensorError};

/// How the elements of a tensor lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Row-major without gaps.
    Contiguous,
    /// Column-major: the strides of the transposed tensor.
    Transposed,
    /// A window inside a larger buffer: an offset at the front, gaps after every row, garbage around.
    Offset,
    /// Every axis runs backwards.
    Reversed,
    /// Stride 0 along every axis whose slices are all equal.
    Broadcast,
}

impl Layout {
    /// Every layout.
    pub const ALL: [Self; 5] =
        [Self::Contiguous, Self::Transposed, Self::Offset, Self::Reversed, Self::Broadcast];

    /// The name used in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Contiguous => "contiguous",
            Self::Transposed => "transposed",
            Self::Offset => "offset",
            Self::Reversed => "reversed",
            Self::Broadcast => "stride 0",
        }
    }

    /// The same call with both tensors in this layout.
    ///
    /// # Errors
    /// [`TensorError`] if memory is short.
    pub fn apply(self, call: &Call) -> Result<Call, TensorError> {
        Ok(Call {
            operator: call.operator.clone(),
            params: self.tensor(&call.params)?,
            indices: self.tensor(&call.indices)?,
            attributes: call.attributes.clone(),
        })
    }

    /// The same tensor in this layout.
    ///
    /// # Errors
    /// [`TensorError`] if memory is short.
    ///
    /// ```
    /// use gather_conformance::layout::Layout;
    /// use gather_spec::{DType, Tensor};
    /// let tensor = Tensor::new(DType::U8, [2, 2], vec![1u8, 2, 3, 4])?;
    /// let transposed = Layout::Transposed.tensor(&tensor)?;
    /// assert_eq!(transposed.strides(), [1, 2]);
    /// assert_eq!(transposed, tensor);
    /// # Ok::<(), gather_spec::TensorError>(())
    /// ```
    pub fn tensor(self, tensor: &Tensor) -> Result<Tensor, TensorError> {
        if tensor.shape().element_count() == 0 {
            return Ok(tensor.clone());
        }
        match self {
            Self::Contiguous => tensor.to_row_major(),
            _ => self.placed(tensor),
        }
    }

    fn placed(self, tensor: &Tensor) -> Result<Tensor, TensorError> {
        match tensor.dtype() {
            DType::String => self.rebuild(tensor, |element| match element {
                Element::Bytes(bytes) => bytes,
                Element::Bits(_) => ByteString::from("garbage"),
            }),
            dtype => match dtype.size() {
                1 => self.rebuild(tensor, |element| low_bits(&element).to_le_bytes()[0]),
                2 => self.rebuild(tensor, |element| u16::from_le_bytes(low_bytes(&element))),
                4 => self.rebuild(tensor, |element| u32::from_le_bytes(low_bytes(&element))),
                8 => self.rebuild(tensor, |element| u64::from_le_bytes(low_bytes(&element))),
                _ => self.rebuild(tensor, |element| low_bits(&element)),
            },
        }
    }

    /// Writes every element to its place under this layout, into a buffer full of garbage.
    fn rebuild<T: Stored>(
        self,
        tensor: &Tensor,
        convert: impl Fn(Element) -> T,
    ) -> Result<Tensor, TensorError> {
        let shape = tensor.shape();
        let Placing { strides, offset, len } = self.placing(tensor);
        let mut stored = Vec::new();
        let bytes = len.saturating_mul(size_of::<T>());
        stored.try_reserve_exact(len).map_err(|_| TensorError::OutOfMemory { bytes })?;
        stored.resize(len, convert(Element::Bits(u128::from_le_bytes([0xA5; 16]))));
        for position in shape.positions() {
            let steps: isize =
                position.iter().zip(&strides).map(|(at, stride)| at.cast_signed() * stride).sum();
            stored[offset.wrapping_add_signed(steps)] = convert(tensor.element(&position));
        }
        Tensor::strided(tensor.dtype(), shape.clone(), strides, offset, T::store(stored))
    }

    fn placing(self, tensor: &Tensor) -> Placing {
        let shape = tensor.shape();
        match self {
            Self::Contiguous => {
                Placing { strides: shape.row_major_strides(), offset: 0, len: shape.element_count() }
            }
            Self::Transposed => {
                let mut strides = vec![0; shape.rank()];
                let mut stride = 1;
                for (axis, dim) in shape.iter().enumerate() {
                    strides[axis] = stride;
                    stride *= dim.cast_signed();
                }
                Placing { strides, offset: 0, len: shape.element_count() }
            }
            Self::Offset => {
                // Each axis is one longer in the buffer than in the window, so that rows have gaps after them.
                let padded: Vec<usize> = shape.iter().map(|dim| dim + 1).collect();
                let padded = Shape::new(padded).unwrap_or_else(|_| shape.clone());
                Placing { strides: padded.row_major_strides(), offset: 3, len: padded.element_count() + 3 }
            }
            Self::Reversed => {
                let strides = shape.row_major_strides().into_iter().map(|stride| -stride).collect();
                Placing { strides, offset: shape.element_count() - 1, len: shape.element_count() }
            }
            Self::Broadcast => {
                let equal: Vec<bool> = (0..shape.rank()).map(|axis| slices_are_equal(tensor, axis)).collect();
                let kept: Vec<usize> =
                    shape.iter().zip(&equal).map(|(dim, equal)| if *equal { 1 } else { *dim }).collect();
                let kept = Shape::new(kept).unwrap_or_else(|_| shape.clone());
                let strides = kept.row_major_strides();
                let strides =
                    strides.iter().zip(&equal).map(|(s, equal)| if *equal { 0 } else { *s }).collect();
                Placing { strides, offset: 0, len: kept.element_count() }
            }
        }
    }
}

/// Where elements go: strides, the place of the first element, and how many are stored.
struct Placing {
    strides: Vec<isize>,
    offset: usize,
    len: usize,
}

fn slices_are_equal(tensor: &Tensor, axis: usize) -> bool {
    tensor.shape().positions().all(|mut position| {
        let element = tensor.element(&position);
        position[axis] = 0;
        tensor.element(&position) == element
    })
}

fn low_bits(element: &Element) -> u128 {
    match element {
        Element::Bits(bits) => *bits,
        Element::Bytes(_) => 0,
    }
}

fn low_bytes<const N: usize>(element: &Element) -> [u8; N] {
    let mut low = [0; N];
    low.copy_from_slice(&low_bits(element).to_le_bytes()[..N]);
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layout_holds_the_same_elements() {
        let rows = Tensor::new(DType::I32, [3, 2, 2], (0..12u32).map(|i| i % 5).collect()).unwrap();
        let same = Tensor::new(DType::U8, [2, 3], vec![7u8; 6]).unwrap();
        let strings = Tensor::new(DType::String, [2], ["a", ""].map(ByteString::from).to_vec()).unwrap();
        for tensor in [rows, same, strings] {
            for layout in Layout::ALL {
                assert_eq!(layout.tensor(&tensor).unwrap(), tensor, "{layout:?}");
            }
        }
    }

    #[test]
    fn stride_zero_is_used_along_equal_slices_only() {
        let tensor = Tensor::new(DType::U8, [2, 3], vec![1u8, 2, 3, 1, 2, 3]).unwrap();
        assert_eq!(Layout::Broadcast.tensor(&tensor).unwrap().strides(), [0, 1]);
    }

    #[test]
    fn a_window_has_gaps_and_an_offset() {
        let tensor = Tensor::new(DType::U8, [2, 2], vec![1u8, 2, 3, 4]).unwrap();
        assert_eq!(Layout::Offset.tensor(&tensor).unwrap().strides(), [3, 1]);
    }
}
