//! NumPy's functions.

mod dtypes;
pub mod ndarray_getitem;
pub mod take;
pub mod take_along_axis;

pub use dtypes::INDICES_DTYPES;

use crate::Implemented;

pub(crate) const OPERATORS: &[Implemented] =
    &[ndarray_getitem::OPERATOR, take::OPERATOR, take_along_axis::OPERATOR];
