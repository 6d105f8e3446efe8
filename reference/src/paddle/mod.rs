//! PaddlePaddle's operators.

pub mod gather_nd;

use crate::Implemented;

pub(crate) const OPERATORS: &[Implemented] = &[gather_nd::OPERATOR];
