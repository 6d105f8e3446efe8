//! JAX's functions.

mod array;
pub mod array_getitem;
pub mod lax_gather;
pub mod numpy_take;
pub mod numpy_take_along_axis;

pub use array::{ARRAY_DTYPES, INDICES_DTYPES};

use crate::Implemented;

pub(crate) const OPERATORS: &[Implemented] =
    &[array_getitem::OPERATOR, lax_gather::OPERATOR, numpy_take::OPERATOR, numpy_take_along_axis::OPERATOR];
