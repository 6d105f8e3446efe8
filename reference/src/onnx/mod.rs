//! ONNX's operators, each with the version of the operator set that changed it.

mod dtypes;
pub mod gather_1;
pub mod gather_13;
pub mod gather_elements_13;
pub mod gather_nd_11;
pub mod gather_nd_13;

pub use dtypes::DTYPES_BEFORE_13;

use crate::Implemented;

pub(crate) const OPERATORS: &[Implemented] = &[
    gather_1::OPERATOR,
    gather_13::OPERATOR,
    gather_elements_13::OPERATOR,
    gather_nd_11::OPERATOR,
    gather_nd_13::OPERATOR,
];
