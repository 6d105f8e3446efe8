//! Elements that reveal where they came from.

use gather_spec::{ByteString, DType, Element, Shape, Tensor, TensorBuilder, TensorError};

/// The period of one-byte elements. It is prime, so that a displacement by any power of two shows.
const PERIOD: u128 = 251;

/// A tensor whose elements differ from their neighbours near and far: one-byte elements repeat with a prime period,
/// wider ones count up, with their upper bytes in use too.
///
/// # Errors
/// [`TensorError`] if the tensor is too large or memory is short.
///
/// ```
/// use gather_campaign::generate::paint;
/// use gather_spec::{DType, Shape};
/// let tensor = paint::params(DType::F32, Shape::new([2, 300])?)?;
/// assert_ne!(tensor.element(&[0, 0]), tensor.element(&[1, 211]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn params(dtype: DType, shape: Shape) -> Result<Tensor, TensorError> {
    let count = shape.element_count();
    let mut tensor = TensorBuilder::new(dtype, shape)?;
    (0..count).for_each(|at| tensor.push(element(dtype, at as u128)));
    tensor.finish()
}

/// The element at a linear position.
pub(crate) fn element(dtype: DType, at: u128) -> Element {
    match dtype {
        DType::String => Element::Bytes(ByteString::from(format!("s{at}"))),
        _ => Element::Bits(bits(dtype, at)),
    }
}

/// The bits of the element at a linear position, of any dtype but string.
pub(super) fn bits(dtype: DType, at: u128) -> u128 {
    if dtype.size() == 1 {
        return at % PERIOD + 1;
    }
    // The upper half counts down, so that half an element is never mistaken for another one.
    let half = 4 * u32::try_from(dtype.size()).unwrap_or(4);
    (at + 1) | ((!at & ((1 << half) - 1)) << half)
}

/// A row-major index tensor from its values, each truncated to the width of the dtype.
///
/// # Errors
/// [`TensorError`] if the number of values is not that of the shape's elements.
pub fn indices(
    dtype: DType,
    shape: Shape,
    values: impl IntoIterator<Item = i64>,
) -> Result<Tensor, TensorError> {
    let mut tensor = TensorBuilder::new(dtype, shape)?;
    for value in values {
        tensor.push(Element::Bits(i128::from(value).cast_unsigned()));
    }
    tensor.finish()
}
