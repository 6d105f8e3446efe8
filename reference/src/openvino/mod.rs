//! OpenVINO's operations, each with its version.

mod axis;
mod batch;
mod dtypes;
pub mod gather_7;
pub mod gather_8;
pub mod gather_elements_6;
pub mod gather_nd_5;
pub mod gather_nd_8;

pub use axis::AXIS_DTYPES;
pub use dtypes::DATA_DTYPES;

use crate::Implemented;

pub(crate) const OPERATORS: &[Implemented] = &[
    gather_7::OPERATOR,
    gather_8::OPERATOR,
    gather_elements_6::OPERATOR,
    gather_nd_5::OPERATOR,
    gather_nd_8::OPERATOR,
];
