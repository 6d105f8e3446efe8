//! Memory layouts of tensors. An implementation's answer must not depend on them.
//!
//! # A new layout
//!
//! Add it to [`Layout`]: the runner takes it by itself, campaigns draw from the list (raise `GENERATORS` in `fuzz/plan.rs`), and
//! `conformance/README.md` says how many there are. Numbers of threads are `THREADS` in `runner.rs` for cases, and in
//! `fuzz/differential.rs` for campaigns.

use gather_spec::call::Way;
use gather_spec::tensor::Stored;
use gather_spec::{ByteString, Call, DType, Shape, Tensor, TensorError, named};
use ndarray::{ArrayViewMutD, Axis, IxDyn, Slice};

/// The buffer around a window has at most this many times its elements, or [`MOST_PADDED`] elements for a small window.
const MOST_PADDING: usize = 4;
const MOST_PADDED: usize = 1 << 12;

/// Elements of garbage in front of a window.
const FRONT: usize = 3;

/// Larger tensors, in bytes, are not copied.
const MOST_SPREAD: usize = 256 << 20;

/// The size of a tensor in dense form, in bytes.
fn bytes(tensor: &Tensor) -> usize {
    tensor.shape().element_count().saturating_mul(tensor.dtype().size())
}

named! {
    /// How the elements of a tensor are arranged in memory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Layout: "layout" {
        /// Row-major without gaps.
        Contiguous = "contiguous",
        /// Column-major: the strides of the transposed tensor.
        Transposed = "transposed",
        /// A window in a larger buffer: garbage in front, after every row, and behind.
        Offset = "offset",
        /// Every axis runs backwards.
        Reversed = "reversed",
        /// Stride 0 along every axis whose slices are all equal.
        Broadcast = "stride-0",
    }
}

/// The layout of each operand of a call: that of the first operand, and by how many places in [`Layout::ALL`]
/// the layout moves on from each operand to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layouts {
    first: usize,
    step: usize,
}

impl From<Layout> for Layouts {
    /// All operands in one layout.
    fn from(layout: Layout) -> Self {
        Self::new(layout as usize, 0)
    }
}

impl Layouts {
    /// Layouts by their places in [`Layout::ALL`], which may be any numbers.
    #[must_use]
    pub const fn new(first: usize, step: usize) -> Self {
        Self { first: first % Layout::ALL.len(), step: step % Layout::ALL.len() }
    }

    /// The layout of the operand at a place, in the order of the call.
    #[must_use]
    pub const fn of(self, operand: usize) -> Layout {
        Layout::ALL[(self.first + self.step * (operand % Layout::ALL.len())) % Layout::ALL.len()]
    }

    /// The same call with its operands in these layouts.
    ///
    /// # Errors
    /// [`TensorError`] if memory is short.
    pub fn apply(self, call: &Call) -> Result<Call, TensorError> {
        let operands = call.operands.shared().enumerate();
        let operands = operands.map(|(at, (name, tensor))| Ok((name.clone(), self.of(at).tensor(tensor)?)));
        let operands = operands.collect::<Result<_, TensorError>>()?;
        let (operator, attributes) = (call.operator.clone(), call.attributes.clone());
        Ok(Call { operator, operands, attributes, variant: call.variant.clone() })
    }

    /// The layouts of a call's operands in words: `params=transposed,indices=offset`; `row-major` if all are.
    #[must_use]
    pub fn of_call(self, call: &Call) -> String {
        let named = call.operands.iter().enumerate().map(|(at, (name, _))| (name, self.of(at)));
        let off: Vec<String> = named
            .filter(|(_, layout)| *layout != Layout::Contiguous)
            .map(|(name, layout)| format!("{name}={layout}"))
            .collect();
        if off.is_empty() { "row-major".to_owned() } else { off.join(",") }
    }
}

impl Layout {
    /// The layout of an operand in a variant; `None` if the variant says nothing of where its elements lie.
    #[must_use]
    pub const fn of(way: Way) -> Option<Self> {
        match way {
            Way::Transposed => Some(Self::Transposed),
            Way::Offset => Some(Self::Offset),
            Way::Reversed => Some(Self::Reversed),
            Way::Expanded => Some(Self::Broadcast),
            Way::ReadOnly | Way::Constant | Way::Symbolic | Way::Compiled => None,
        }
    }

    /// The same call with all operands in this layout.
    ///
    /// # Errors
    /// [`TensorError`] if memory is short.
    pub fn apply(self, call: &Call) -> Result<Call, TensorError> {
        Layouts::from(self).apply(call)
    }

    /// The same tensor in this layout.
    ///
    /// # Errors
    /// [`TensorError`] if memory is short.
    ///
    /// ```
    /// use gather_conformance::internals::layout::Layout;
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
            // A view too large to be stored densely stays as it is.
            Self::Contiguous if bytes(tensor) > MOST_SPREAD => Ok(tensor.clone()),
            _ => self.placed(tensor),
        }
    }

    /// Stores the elements in the order of this layout, with strides that give the same tensor.
    fn placed(self, tensor: &Tensor) -> Result<Tensor, TensorError> {
        let (shape, strides) = (tensor.shape(), tensor.strides());
        // A view of the same elements in the order in which they are to be stored.
        let stored = |dims: Vec<usize>, strides: Vec<isize>, first: isize| {
            let first = tensor.offset().wrapping_add_signed(first);
            let window =
                Tensor::strided(tensor.dtype(), Shape::new(dims)?, strides, first, tensor.stored().clone());
            window?.to_row_major()
        };
        let backwards = |strides: &[isize]| strides.iter().rev().copied().collect::<Vec<_>>();
        let (stored, strides, offset) = match self {
            Self::Contiguous => return tensor.to_row_major(),
            Self::Transposed => {
                let stored = stored(shape.iter().rev().copied().collect(), backwards(strides), 0)?;
                let strides = backwards(stored.strides());
                (stored, strides, 0)
            }
            Self::Offset => return in_a_buffer(tensor),
            Self::Reversed => {
                let last =
                    shape.iter().zip(strides).map(|(dim, stride)| (dim - 1).cast_signed() * stride).sum();
                let negative = |strides: &[isize]| strides.iter().map(|stride| -stride).collect::<Vec<_>>();
                let stored = stored(shape.to_vec(), negative(strides), last)?;
                let strides = negative(stored.strides());
                (stored, strides, shape.element_count() - 1)
            }
            Self::Broadcast => {
                let equal: Vec<bool> =
                    (0..shape.rank()).map(|axis| slices_are_equal(tensor, axis)).collect::<Result<_, _>>()?;
                let dims = shape.iter().zip(&equal).map(|(dim, equal)| if *equal { 1 } else { *dim });
                let stored = stored(dims.collect(), strides.to_vec(), 0)?;
                let strides = stored.strides().iter().zip(&equal);
                let strides = strides.map(|(stride, equal)| if *equal { 0 } else { *stride }).collect();
                (stored, strides, 0)
            }
        };
        Tensor::strided(tensor.dtype(), shape.clone(), strides, offset, stored.stored().clone())
    }
}

/// Whether some axis has several slices, all of them equal. Of large tensors, which take long to compare, it is not known.
pub(crate) fn has_equal_slices(tensor: &Tensor) -> bool {
    const MOST_COMPARED: usize = 1 << 16;
    let several = |axis: &usize| tensor.shape()[*axis] > 1;
    tensor.shape().element_count() <= MOST_COMPARED
        && (0..tensor.rank()).filter(several).any(|axis| slices_are_equal(tensor, axis).unwrap_or(false))
}

/// Whether all slices along an axis are equal, which is checked by comparing each with the next.
fn slices_are_equal(tensor: &Tensor, axis: usize) -> Result<bool, TensorError> {
    let mut dims = tensor.shape().to_vec();
    dims[axis] -= 1;
    let shape = Shape::new(dims)?;
    let slices = |first: usize| {
        Tensor::strided(
            tensor.dtype(),
            shape.clone(),
            tensor.strides().to_vec(),
            first,
            tensor.stored().clone(),
        )
    };
    let next = tensor.offset().wrapping_add_signed(tensor.strides()[axis]);
    Ok(shape.element_count() == 0 || slices(tensor.offset())? == slices(next)?)
}

/// The same tensor as a window in a larger buffer.
fn in_a_buffer(tensor: &Tensor) -> Result<Tensor, TensorError> {
    match tensor.dtype() {
        DType::String => surrounded(tensor, ByteString::from("garbage")),
        dtype => match dtype.size() {
            1 => surrounded(tensor, 0xA5u8),
            2 => surrounded(tensor, 0xA5A5u16),
            4 => surrounded(tensor, 0xA5A5_A5A5u32),
            8 => surrounded(tensor, 0xA5A5_A5A5_A5A5_A5A5u64),
            _ => surrounded(tensor, 0xA5A5_A5A5_A5A5_A5A5_A5A5_A5A5_A5A5_A5A5u128),
        },
    }
}

fn surrounded<T: Stored>(tensor: &Tensor, garbage: T) -> Result<Tensor, TensorError> {
    let view = tensor.view::<T>().ok_or(TensorError::Width(tensor.dtype()))?;
    let padded = padded(tensor.shape())?;
    let mut buffer = reserve(FRONT + padded.element_count())?;
    buffer.resize(FRONT + padded.element_count(), garbage);
    let window = ArrayViewMutD::from_shape(IxDyn(&padded), &mut buffer[FRONT..]);
    let mut window = window.expect("the buffer was made for this shape");
    for (axis, dim) in tensor.shape().iter().enumerate() {
        window.slice_axis_inplace(Axis(axis), Slice::from(..*dim));
    }
    window.assign(&view);
    Tensor::strided(
        tensor.dtype(),
        tensor.shape().clone(),
        padded.row_major_strides(),
        FRONT,
        T::store(buffer),
    )
}

/// The shape of the buffer for a window of this shape. Axes grow by one, which leaves gaps after rows, from the last axis on
/// and only up to a limit: with many axes, the buffer for a single element would fill the memory.
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
