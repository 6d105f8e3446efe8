//! Errors of making a tensor.

use crate::{DType, Shape, ShapeTooLarge};

/// Why a tensor cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TensorError {
    /// The shape violates its invariant.
    #[error(transparent)]
    Shape(#[from] ShapeTooLarge),
    /// Shape and dtype together exceed 2^63 - 1 bytes.
    #[error(
        "a {dtype} tensor of shape {shape} is too large: its non-zero dims take {bytes} bytes, more than 2^63 - 1"
    )]
    TooLarge {
        /// The dtype.
        dtype: DType,
        /// The shape.
        shape: Shape,
        /// The size in bytes, by the non-zero dims.
        bytes: u128,
    },
    /// The number of elements does not fit the shape.
    #[error("the shape {shape} has {expected} elements, but {found} are given")]
    Count {
        /// The shape.
        shape: Shape,
        /// The product of its dims.
        expected: usize,
        /// The number given.
        found: usize,
    },
    /// The number of bytes does not fit shape and dtype.
    #[error("a {dtype} tensor of shape {shape} takes {expected} bytes, but {found} are given")]
    Bytes {
        /// The dtype.
        dtype: DType,
        /// The shape.
        shape: Shape,
        /// Bytes that are needed.
        expected: usize,
        /// Bytes given.
        found: usize,
    },
    /// The width of the stored elements does not fit the dtype.
    #[error("the elements given are not of the width of {0}")]
    Width(DType),
    /// An element would be outside the storage, or the number of strides is not the rank.
    #[error("strides {strides:?} from offset {offset} leave the {len} stored elements")]
    Layout {
        /// Strides in elements.
        strides: Vec<isize>,
        /// The position of the first element.
        offset: usize,
        /// Elements stored.
        len: usize,
    },
    /// The memory cannot be allocated.
    #[error("{bytes} bytes for a tensor could not be reserved")]
    OutOfMemory {
        /// Bytes requested.
        bytes: usize,
    },
}
