//! Why a tensor cannot be made.

use crate::{DType, Shape, ShapeTooLarge};

/// Why a tensor cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TensorError {
    /// The shape breaks its invariant.
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
        /// Bytes by the non-zero dims.
        bytes: u128,
    },
    /// The number of elements is not the shape's.
    #[error("the shape {shape} has {expected} elements, but {found} are given")]
    Count {
        /// The shape.
        shape: Shape,
        /// The product of its dims.
        expected: usize,
        /// The number given.
        found: usize,
    },
    /// The number of bytes is not that of the shape and dtype.
    #[error("a {dtype} tensor of shape {shape} takes {expected} bytes, but {found} are given")]
    Bytes {
        /// The dtype.
        dtype: DType,
        /// The shape.
        shape: Shape,
        /// Bytes that the elements take.
        expected: usize,
        /// Bytes given.
        found: usize,
    },
    /// The storage is of another width than the dtype.
    #[error("the elements given are not of the width of {0}")]
    Width(DType),
    /// Some element would lie outside the storage, or there is not one stride per dim.
    #[error("strides {strides:?} from offset {offset} leave the {len} stored elements")]
    Layout {
        /// Strides in elements.
        strides: Vec<isize>,
        /// Where the first element lies.
        offset: usize,
        /// Elements stored.
        len: usize,
    },
    /// The memory cannot be had.
    #[error("{bytes} bytes for a tensor could not be reserved")]
    OutOfMemory {
        /// Bytes asked for.
        bytes: usize,
    },
}
