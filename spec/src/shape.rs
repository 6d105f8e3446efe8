//! Shapes, and size arithmetic. It is checked, because the product of the other dims can overflow even if a dim is zero.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use crate::DType;

/// The largest size in bytes that any tensor may have, on every platform: 2^63 - 1.
pub const MAX_BYTES: u128 = i64::MAX as u128;

/// The highest rank of a tensor in a case file or in a message of the protocol.
pub const MAX_RANK: usize = 64;

/// The dims of a tensor.
///
/// Invariant: the product of the non-zero dims is at most `isize::MAX`, as `ndarray` requires. So no stride of a
/// row-major layout can overflow, even if a dim is zero.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Shape(Vec<usize>);

impl Shape {
    /// A shape with these dims.
    ///
    /// # Errors
    /// [`ShapeTooLarge`] if the product of the non-zero dims exceeds `isize::MAX`.
    ///
    /// ```
    /// # use gather_spec::Shape;
    /// assert_eq!(Shape::new([2, 0, 3])?.element_count(), 0);
    /// assert!(Shape::new([usize::MAX, 0, 2]).is_err());
    /// # Ok::<(), gather_spec::ShapeTooLarge>(())
    /// ```
    pub fn new(dims: impl Into<Vec<usize>>) -> Result<Self, ShapeTooLarge> {
        let dims = dims.into();
        let fits = nonzero_product(&dims).is_some_and(|count| isize::try_from(count).is_ok());
        if fits { Ok(Self(dims)) } else { Err(ShapeTooLarge(dims)) }
    }

    /// The number of dims.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The product of the dims, which is 1 for rank 0.
    #[must_use]
    pub fn element_count(&self) -> usize {
        if self.0.contains(&0) { 0 } else { self.0.iter().product() }
    }

    /// The strides, in elements, of a row-major layout without gaps.
    #[must_use]
    pub fn row_major_strides(&self) -> Vec<isize> {
        let mut strides = vec![0; self.0.len()];
        let mut stride: usize = 1;
        for (axis, dim) in self.0.iter().enumerate().rev() {
            strides[axis] = stride.cast_signed();
            stride *= dim.max(&1);
        }
        strides
    }

    /// All multi-indices of a tensor with this shape, in row-major order: one empty multi-index for rank 0, none if a dim
    /// is zero.
    ///
    /// ```
    /// # use gather_spec::Shape;
    /// let positions: Vec<_> = Shape::new([2, 2])?.positions().map(|position| position.to_vec()).collect();
    /// assert_eq!(positions, [[0, 0], [0, 1], [1, 0], [1, 1]]);
    /// # Ok::<(), gather_spec::ShapeTooLarge>(())
    /// ```
    pub fn positions(&self) -> impl Iterator<Item = Position> + use<'_> {
        positions(&self.0)
    }
}

/// All multi-indices of these dims, in row-major order.
///
/// ```
/// let second = gather_spec::shape::positions(&[1, 3]).nth(1).unwrap();
/// assert_eq!(*second, [0, 1]);
/// ```
pub fn positions(dims: &[usize]) -> impl Iterator<Item = Position> + use<'_> {
    let mut last: Option<Position> = None;
    std::iter::from_fn(move || {
        match &mut last {
            Some(position) => go_on(position, dims)?,
            None if dims.contains(&0) => return None,
            None => last = Some(Position(vec![0; dims.len()].into())),
        }
        last.clone()
    })
}

/// A multi-index. Who drops it before asking for the next one lets that have its memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position(Rc<[usize]>);

impl Deref for Position {
    type Target = [usize];

    #[inline]
    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl DerefMut for Position {
    #[inline]
    fn deref_mut(&mut self) -> &mut [usize] {
        Rc::make_mut(&mut self.0)
    }
}

impl Deref for Shape {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, dim) in self.0.iter().enumerate() {
            write!(f, "{}{dim}", if i == 0 { "" } else { ", " })?;
        }
        f.write_str("]")
    }
}

/// The size in bytes that decides whether a tensor with these dims can exist: the product of the non-zero dims and the
/// element size. It saturates at `u128::MAX`.
///
/// ```
/// # use gather_spec::{DType, shape::nonzero_bytes};
/// assert_eq!(nonzero_bytes(&[1 << 40, 0, 8], DType::F32), 1 << 45);
/// ```
#[must_use]
pub fn nonzero_bytes(dims: &[usize], dtype: DType) -> u128 {
    dims.iter()
        .filter(|dim| **dim != 0)
        .fold(dtype.size() as u128, |bytes, dim| bytes.saturating_mul(*dim as u128))
}

/// Makes a multi-index the next one in row-major order; `None` if it is the last one.
#[inline]
fn go_on(position: &mut Position, dims: &[usize]) -> Option<()> {
    let axis = (0..dims.len()).rev().find(|axis| position[*axis] + 1 < dims[*axis])?;
    let position = &mut **position;
    position[axis] += 1;
    position[axis + 1..].fill(0);
    Some(())
}

fn nonzero_product(dims: &[usize]) -> Option<usize> {
    dims.iter().filter(|dim| **dim != 0).try_fold(1usize, |count, dim| count.checked_mul(*dim))
}

/// Dims whose non-zero product exceeds `isize::MAX`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the shape {0:?} is too large: the product of its non-zero dims must not exceed 2^63 - 1")]
pub struct ShapeTooLarge(pub Vec<usize>);

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

    use super::*;

    #[test]
    fn positions_go_from_the_last_axis_to_the_first() {
        let positions =
            |dims: &[usize]| Shape::new(dims).unwrap().positions().map(|at| at.to_vec()).collect::<Vec<_>>();
        assert_eq!(positions(&[2, 1, 2]), [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1]]);
        assert_eq!(positions(&[]), [[0usize; 0]]);
        assert!(positions(&[3, 0, 1 << 40]).is_empty());
    }
}
