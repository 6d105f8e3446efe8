//! The same tensor in different layouts: what an implementation answers must not depend on them.

use gather_spec::tensor::Stored;
use gather_spec::{ByteString, Call, DType, Shape, Tensor, TensorError};
use ndarray::{ArrayViewD, ArrayViewMutD, Axis, IxDyn, Slice};

/// A window lies in a buffer of at most this many times its elements, or of this many elements if it is small.
const MOST_PADDING: usize = 4;
const MOST_PADDED: usize = 1 << 12;

/// Tensors of more bytes than this are not copied.
const MOST_SPREAD: usize = 256 << 20;

/// How many bytes the elements of a tensor take one by one.
fn bytes(tensor: &Tensor) -> usize {
    tensor.shape().element_count().saturating_mul(tensor.dtype().size())
}

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
            operands: call
                .operands
                .shared()
                .map(|(name, tensor)| Ok((name.clone(), self.tensor(tensor)?)))
                .collect::<Result<_, TensorError>>()?,
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
            // What no memory should hold stays the window that it is.
            Self::Contiguous if bytes(tensor) > MOST_SPREAD => Ok(tensor.clone()),
            Self::Contiguous => tensor.to_row_major(),
            _ => self.placed(tensor),
        }
    }

    fn placed(self, tensor: &Tensor) -> Result<Tensor, TensorError> {
        match tensor.dtype() {
            DType::String => self.rebuild(tensor, ByteString::from("garbage")),
            dtype => match dtype.size() {
                1 => self.rebuild(tensor, 0xA5u8),
                2 => self.rebuild(tensor, 0xA5A5u16),
                4 => self.rebuild(tensor, 0xA5A5_A5A5u32),
                8 => self.rebuild(tensor, 0xA5A5_A5A5_A5A5_A5A5u64),
                _ => self.rebuild(tensor, 0xA5A5_A5A5_A5A5_A5A5_A5A5_A5A5_A5A5_A5A5u128),
            },
        }
    }

    /// Stores the elements in the order of this layout and describes where each of them lies.
    fn rebuild<T: Stored>(self, tensor: &Tensor, garbage: T) -> Result<Tensor, TensorError> {
        let shape = tensor.shape();
        let mut view = tensor.view::<T>().ok_or(TensorError::Width(tensor.dtype()))?;
        let axes = || (0..shape.rank()).map(Axis);
        let (stored, strides, offset) = match self {
            Self::Contiguous => (collect(&view)?, shape.row_major_strides(), 0),
            Self::Transposed => {
                let transposed = view.t();
                let dims = Shape::new(transposed.shape())?;
                let strides = dims.row_major_strides().into_iter().rev().collect();
                (collect(&transposed)?, strides, 0)
            }
            Self::Offset => {
                let padded = padded(shape)?;
                let mut buffer = reserve(3 + padded.element_count())?;
                buffer.resize(3 + padded.element_count(), garbage);
                let window = ArrayViewMutD::from_shape(IxDyn(&padded), &mut buffer[3..]);
                let mut window = window.expect("the buffer was made for this shape");
                for (axis, dim) in axes().zip(shape.iter()) {
                    window.slice_axis_inplace(axis, Slice::from(..*dim));
                }
                window.assign(&view);
                (buffer, padded.row_major_strides(), 3)
            }
            Self::Reversed => {
                axes().for_each(|axis| view.invert_axis(axis));
                let strides = shape.row_major_strides().into_iter().map(|stride| -stride).collect();
                (collect(&view)?, strides, shape.element_count() - 1)
            }
            Self::Broadcast => {
                let equal: Vec<bool> = axes()
                    .map(|axis| view.axis_iter(axis).all(|slice| slice == view.index_axis(axis, 0)))
                    .collect();
                let along = axes().zip(&equal).filter(|(_, equal)| **equal);
                along.for_each(|(axis, _)| view.slice_axis_inplace(axis, Slice::from(..1)));
                let strides = Shape::new(view.shape())?.row_major_strides();
                let strides =
                    strides.iter().zip(&equal).map(|(s, equal)| if *equal { 0 } else { *s }).collect();
                (collect(&view)?, strides, 0)
            }
        };
        Tensor::strided(tensor.dtype(), shape.clone(), strides, offset, T::store(stored))
    }
}

/// The shape of a buffer around a window of this shape. Each axis is one longer, so that rows have gaps after them,
/// the last axis first: with many axes the buffer of one element would fill the machine.
fn padded(shape: &Shape) -> Result<Shape, TensorError> {
    let mut count = shape.element_count();
    let most = count.saturating_mul(MOST_PADDING).max(MOST_PADDED);
    let mut dims = shape.to_vec();
    for dim in dims.iter_mut().rev() {
        let Some(longer) = (count / *dim).checked_mul(*dim + 1).filter(|longer| *longer <= most) else {
            break;
        };
        (*dim, count) = (*dim + 1, longer);
    }
    Ok(Shape::new(dims)?)
}

fn collect<T: Clone>(view: &ArrayViewD<'_, T>) -> Result<Vec<T>, TensorError> {
    let mut elements = reserve(view.len())?;
    elements.extend(view.iter().cloned());
    Ok(elements)
}

fn reserve<T>(count: usize) -> Result<Vec<T>, TensorError> {
    let mut elements = Vec::new();
    let bytes = count.saturating_mul(size_of::<T>());
    elements.try_reserve_exact(count).map_err(|_| TensorError::OutOfMemory { bytes })?;
    Ok(elements)
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

    #[test]
    fn a_window_with_many_axes_stays_small() {
        for rank in [12, 33, 62, 64] {
            let tensor = Tensor::new(DType::C128, vec![1; rank], vec![7u128]).unwrap();
            let window = Layout::Offset.tensor(&tensor).unwrap();
            assert_eq!(window, tensor);
            assert!(window.strides().iter().all(|stride| *stride <= MOST_PADDED.cast_signed()), "{window:?}");
        }
        let wide = Tensor::new(DType::U8, [2; 16], vec![7u8; 1 << 16]).unwrap();
        assert!(Layout::Offset.tensor(&wide).unwrap().strides()[0] <= 1 << 18);
    }
}
