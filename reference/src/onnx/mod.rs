//! ONNX's operators, each with the version of the operator set that last changed it.

pub mod gather_13;
pub mod gather_elements_13;
pub mod gather_nd_13;

use crate::Implemented;

pub(crate) const OPERATORS: &[Implemented] =
    &[gather_13::OPERATOR, gather_elements_13::OPERATOR, gather_nd_13::OPERATOR];
