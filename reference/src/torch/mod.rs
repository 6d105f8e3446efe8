//! PyTorch's operators.

pub mod gather;
pub mod index_select;

use crate::Implemented;

pub(crate) const OPERATORS: &[Implemented] = &[gather::OPERATOR, index_select::OPERATOR];
