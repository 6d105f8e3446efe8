//! Tensors of any dtype and layout from integers.

use gather_spec::tensor::Stored;
use gather_spec::{DType, Shape, Tensor, TensorError};

use gather_conformance::internals::layout::Layout;

/// A tensor in a layout, mostly the row-major one.
pub(super) fn in_layout(tensor: Tensor, layout: usize) -> Result<Tensor, TensorError> {
    match layout {
        at @ 8.. => Layout::ALL[at - 7].tensor(&tensor),
        _ => Ok(tensor),
    }
}

/// A row-major tensor of any dtype, from integers that are truncated to its width.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the values are cut to the width")]
pub(super) fn stored(
    dtype: DType,
    shape: Shape,
    values: impl Iterator<Item = i64>,
) -> Result<Tensor, TensorError> {
    let strides = shape.row_major_strides();
    let elements = match dtype {
        DType::String => gather_spec::ByteString::store(values.map(|v| v.to_string().into()).collect()),
        _ => match dtype.size() {
            1 => u8::store(values.map(|value| value as u8).collect()),
            2 => u16::store(values.map(|value| value as u16).collect()),
            4 => u32::store(values.map(|value| value as u32).collect()),
            8 => u64::store(values.map(|value| value as u64).collect()),
            _ => u128::store(values.map(|value| value as u128).collect()),
        },
    };
    Tensor::strided(dtype, shape, strides, 0, elements)
}
