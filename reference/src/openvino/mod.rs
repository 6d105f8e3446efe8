//! OpenVINO's operations, each with the version of the operation set that last changed it.

mod dtypes;
pub mod gather_elements_6;
pub mod gather_nd_8;

pub use dtypes::DATA_DTYPES;

use crate::Implemented;

pub(crate) const OPERATORS: &[Implemented] = &[gather_elements_6::OPERATOR, gather_nd_8::OPERATOR];
