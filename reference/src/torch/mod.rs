//! PyTorch's operators.

pub mod gather;
pub mod index_select;
pub mod nn_functional_embedding;
pub mod take;
pub mod take_along_dim;

use crate::Implemented;

pub(crate) const OPERATORS: &[Implemented] = &[
    gather::OPERATOR,
    index_select::OPERATOR,
    take::OPERATOR,
    take_along_dim::OPERATOR,
    nn_functional_embedding::OPERATOR,
];
