//! Positions in tensors: numbers in row-major order, multi-indices, and counts from the end.

use gather_spec::{DType, Element, Shape, Tensor, TensorBuilder};

/// The product of dims, saturating.
pub fn count(dims: &[usize]) -> usize {
    if dims.contains(&0) { 0 } else { dims.iter().fold(1, |count, dim| count.saturating_mul(*dim)) }
}

/// A tensor of these elements; `None` if their number does not fit the shape.
pub fn tensor(dtype: DType, shape: Vec<usize>, elements: Vec<Element>) -> Option<Tensor> {
    let mut tensor = TensorBuilder::new(dtype, Shape::new(shape).ok()?).ok()?;
    elements.into_iter().for_each(|element| tensor.push(element));
    tensor.finish().ok()
}

/// Resolves a value that counts from the end if negative.
pub fn from_start(value: i64, rank: usize) -> Option<usize> {
    let rank = i64::try_from(rank).ok()?;
    let value = if value < 0 { value.checked_add(rank)? } else { value };
    usize::try_from(value).ok()
}

/// The row-major offset of a position. A mutant's position may be far outside the dims, hence saturating.
pub fn row_major(position: &[usize], dims: &[usize]) -> usize {
    position.iter().zip(dims).fold(0, |flat: usize, (at, dim)| flat.saturating_mul(*dim).saturating_add(*at))
}

/// The same for coordinates that may be negative.
pub fn row_major_signed(position: impl Iterator<Item = i128>, dims: &[usize]) -> i128 {
    position.zip(dims).fold(0, |flat: i128, (at, dim)| flat.saturating_mul(*dim as i128).saturating_add(at))
}

/// The multi-index of a row-major offset.
pub fn multi_index(mut at: usize, shape: &[usize]) -> Vec<usize> {
    let mut position = vec![0; shape.len()];
    for (coordinate, dim) in position.iter_mut().zip(shape).rev() {
        let dim = (*dim).max(1);
        *coordinate = at % dim;
        at /= dim;
    }
    position
}
