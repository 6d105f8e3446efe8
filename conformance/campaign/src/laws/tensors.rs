//! Tensor operations for laws, written element by element without any gather.

use gather_spec::dtype::Kind;
use gather_spec::{DType, Element, Shape, Tensor, TensorBuilder};

use super::stop::Stop;

/// A tensor from a function of the position.
pub(super) fn build(
    dtype: DType,
    dims: &[usize],
    mut element: impl FnMut(&[usize]) -> Element,
) -> Result<Tensor, Stop> {
    let shape = Shape::new(dims)?;
    let mut tensor = TensorBuilder::new(dtype, shape.clone())?;
    shape.positions().for_each(|position| tensor.push(element(&position)));
    Ok(tensor.finish()?)
}

/// A tensor of integers from a function of the position. Skips the law if a value does not fit the dtype, as happens
/// with axes longer than an index dtype can count.
pub(super) fn integers(
    dtype: DType,
    dims: &[usize],
    mut value: impl FnMut(&[usize]) -> i128,
) -> Result<Tensor, Stop> {
    let mut all_fit = true;
    let tensor = build(dtype, dims, |position| {
        let value = value(position);
        all_fit &= holds(dtype, value);
        Element::Bits(value.cast_unsigned())
    })?;
    if all_fit { Ok(tensor) } else { Err(Stop::Skip("skipped: the dtype does not hold an index")) }
}

/// How many values from 0 on fit an integer dtype.
pub(super) const fn counts(dtype: DType) -> i128 {
    let bits = dtype.size() * 8;
    if matches!(dtype.kind(), Kind::Signed) { 1 << (bits - 1) } else { 1 << bits }
}

const fn holds(dtype: DType, value: i128) -> bool {
    let least = if matches!(dtype.kind(), Kind::Signed) { -counts(dtype) } else { 0 };
    least <= value && value < counts(dtype)
}

/// The sub-tensor at leading coordinates.
pub(super) fn at(tensor: &Tensor, leading: &[usize]) -> Result<Tensor, Stop> {
    let rest = tensor.shape()[leading.len()..].to_vec();
    build(tensor.dtype(), &rest, |position| tensor.element(&[leading, position].concat()))
}

/// The slices at `places` along an axis.
pub(super) fn select(tensor: &Tensor, axis: usize, places: &[usize]) -> Result<Tensor, Stop> {
    let mut dims = tensor.shape().to_vec();
    dims[axis] = places.len();
    build(tensor.dtype(), &dims, |position| {
        let mut from = position.to_vec();
        from[axis] = places[position[axis]];
        tensor.element(&from)
    })
}

/// The transposed tensor: its axis `n` is axis `order[n]` of the given one.
pub(super) fn transpose(tensor: &Tensor, order: &[usize]) -> Result<Tensor, Stop> {
    let dims: Vec<usize> = order.iter().map(|axis| tensor.shape()[*axis]).collect();
    build(tensor.dtype(), &dims, |position| {
        let mut from = vec![0; position.len()];
        order.iter().zip(position).for_each(|(axis, at)| from[*axis] = *at);
        tensor.element(&from)
    })
}

/// The same elements with other dims.
pub(super) fn reshape(tensor: &Tensor, dims: &[usize]) -> Result<Tensor, Stop> {
    let mut reshaped = TensorBuilder::new(tensor.dtype(), Shape::new(dims)?)?;
    tensor.iter().for_each(|element| reshaped.push(element));
    Ok(reshaped.finish()?)
}

/// Concatenates two tensors along an axis.
pub(super) fn concat(one: &Tensor, other: &Tensor, axis: usize) -> Result<Tensor, Stop> {
    let mut dims = one.shape().to_vec();
    let first = dims[axis];
    dims[axis] += other.shape()[axis];
    build(one.dtype(), &dims, |position| {
        let mut from = position.to_vec();
        if from[axis] < first {
            return one.element(&from);
        }
        from[axis] -= first;
        other.element(&from)
    })
}

/// Stacks tensors of one shape along a new first axis.
pub(super) fn stack(dtype: DType, parts: &[Tensor], shape: &[usize]) -> Result<Tensor, Stop> {
    let dims = [&[parts.len()], shape].concat();
    build(dtype, &dims, |position| parts[position[0]].element(&position[1..]))
}

/// Appends one slice of a constant element along some axes.
pub(super) fn padded(
    tensor: &Tensor,
    axes: std::ops::Range<usize>,
    element: &Element,
) -> Result<Tensor, Stop> {
    let mut dims = tensor.shape().to_vec();
    dims[axes].iter_mut().for_each(|dim| *dim += 1);
    build(tensor.dtype(), &dims, |position| {
        let inside = position.iter().zip(&**tensor.shape()).all(|(at, dim)| at < dim);
        if inside { tensor.element(position) } else { element.clone() }
    })
}

/// Applies a function to every element.
pub(super) fn map(tensor: &Tensor, change: impl Fn(Element) -> Element) -> Result<Tensor, Stop> {
    build(tensor.dtype(), tensor.shape(), |position| change(tensor.element(position)))
}
