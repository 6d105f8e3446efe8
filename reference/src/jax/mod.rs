//! JAX's functions.

mod array;
pub mod lax_gather;
pub mod numpy_take;
pub mod numpy_take_along_axis;

pub use array::{ARRAY_DTYPES, INDICES_DTYPES};

use crate::Implemented;

pub(crate) const OPERATORS: &[Implemented] =
    &[lax_gather::OPERATOR, numpy_take::OPERATOR, numpy_take_along_axis::OPERATOR];
