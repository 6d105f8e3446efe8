//! Memory layouts of tensors. An implementation's answer must not depend on them.
//!
//! # A new layout
//!
//! Add it to [`Layout`] and to [`Way`]: the runner takes it by itself, campaigns draw from the list (raise `GENERATORS` in
//! `fuzz/plan.rs`), and `schemas.rs` and `PROTOCOL.md` name it. Numbers of threads are `THREADS` in `runner.rs` for cases, and in
//! `fuzz/differential.rs` for campaigns.

use std::sync::Arc;

use gather_spec::call::{Variant, Way};
use gather_spec::tensor::Stored;
use gather_spec::{ByteString, Call, DType, Shape, Tensor, TensorError, named};
use ndarray::{ArrayViewMutD, Axis, IxDyn, Slice};

/// The buffer around a window has at most this many times its elements, or [`MOST_PADDED`] elements for a small window.
const MOST_PADDING: usize = 4;
const MOST_PADDED: usize = 1 << 12;

/// Elements of garbage in front of a window.
const FRONT: usize = 3;

/// Larger tensors, in elements, are not compared.
const MOST_COMPARED: usize = 1 << 16;

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

/// The same call with its operands laid out as a variant says.
///
/// # Errors
/// [`TensorError`] if memory is short.
pub fn laid_out(call: &Call, variant: &Variant) -> Result<Call, TensorError> {
    let mut laid_out: Vec<(Arc<str>, Tensor)> = Vec::new();
    for (name, tensor) in call.operands.shared() {
        let way = variant.of(name);
        let tensor = match (way.and_then(Layout::of), way) {
            (Some(layout), _) => layout.tensor(tensor)?,
            (None, Some(Way::View)) => {
                let found = laid_out.iter().find_map(|(_, earlier)| view(earlier, tensor));
                found.unwrap_or_else(|| tensor.clone())
            }
            _ => tensor.clone(),
        };
        laid_out.push((Arc::clone(name), tensor));
    }
    Ok(Call { operands: laid_out.into_iter().collect(), ..call.clone() })
}

/// Whether an operand of a call can be a view of an earlier one.
pub(crate) fn can_be_view(call: &Call, operand: &str) -> bool {
    let earlier = call.operands.iter().take_while(|(name, _)| *name != operand);
    call.operands.get(operand).is_some_and(|part| earlier.into_iter().any(|(_, of)| view(of, part).is_some()))
}

/// A view of a tensor that equals another one, if there is one: the whole, slices that follow each other along the first axis, or
/// one of them. Of large tensors, which take long to compare, there is none.
#[must_use]
pub fn view(of: &Tensor, part: &Tensor) -> Option<Tensor> {
    let (rows, row) = of.shape().split_first()?;
    let is_row = part.shape()[..] == *row;
    let count = if is_row { 1 } else { *part.shape().first()? };
    let fits = of.dtype() == part.dtype() && (is_row || part.shape()[1..] == *row);
    if !fits || part.shape().element_count() == 0 || of.shape().element_count() > MOST_COMPARED {
        return None;
    }
    let strides = &of.strides()[usize::from(is_row)..];
    let mut views = (0..(rows + 1).saturating_sub(count)).filter_map(|first| {
        let first = of.offset().wrapping_add_signed(first.cast_signed() * of.strides()[0]);
        Tensor::strided(of.dtype(), part.shape().clone(), strides.to_vec(), first, of.stored().clone()).ok()
    });
    views.find(|view| view == part)
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
            Way::View | Way::ReadOnly | Way::Constant | Way::Symbolic | Way::Compiled => None,
        }
    }

    /// The variant in which all operands of a call are in this layout.
    pub(crate) fn of_all(self, call: &Call) -> Variant {
        let mut variant = Variant::default();
        if let Some(way) = Way::ALL.iter().copied().find(|way| Self::of(*way) == Some(self)) {
            for (name, _) in call.operands.shared() {
                variant.set(Arc::clone(name), way).expect("a layout is one of an operand");
            }
        }
        variant
    }

    /// The same call with all operands in this layout.
    ///
    /// # Errors
    /// [`TensorError`] if memory is short.
    pub fn apply(self, call: &Call) -> Result<Call, TensorError> {
        let operands = call.operands.shared();
        let operands = operands.map(|(name, tensor)| Ok((Arc::clone(name), self.tensor(tensor)?)));
        Ok(Call { operands: operands.collect::<Result<_, TensorError>>()?, ..call.clone() })
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
    fn a_view_lies_in_an_earlier_operand_in_any_layout_of_it() {
        let run =
            crate::embedded_runs().iter().find(|run| run.case.id == "numpy.take/selection/a-table-by-itself");
        let call = run.unwrap().call.clone();
        let [params, indices] = ["a", "indices"];
        assert!(can_be_view(&call, indices) && !can_be_view(&call, params));
        for layout in ["", "a=offset,", "a=reversed,", "a=transposed,"] {
            let laid_out = laid_out(&call, &format!("{layout}indices=view").parse().unwrap()).unwrap();
            assert_eq!(laid_out.operands, call.operands);
            let [of, view] = [params, indices].map(|name| laid_out.operands.get(name).unwrap());
            assert!(of.identity() == view.identity(), "{layout}");
        }
        let tensor = |shape: &[usize], first: u32| {
            let count = shape.iter().product();
            Tensor::new(DType::I32, shape, (first..).take(count).collect()).unwrap()
        };
        let table = tensor(&[3, 2], 0);
        for (shape, first, offset) in [
            (&[3, 2][..], 0, Some(0)),
            (&[2, 2], 2, Some(2)),
            (&[2], 4, Some(4)),
            (&[2], 3, None),
            (&[6], 0, None),
        ] {
            let found = view(&table, &tensor(shape, first));
            assert_eq!(found.map(|one| one.offset()), offset, "{shape:?} from {first} on");
        }
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
