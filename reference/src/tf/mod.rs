//! TensorFlow's operators.

pub mod gather;
pub mod gather_nd;
pub mod raw_ops_gather_nd;

use crate::Implemented;

pub(crate) const OPERATORS: &[Implemented] =
    &[gather::OPERATOR, gather_nd::OPERATOR, raw_ops_gather_nd::OPERATOR];
