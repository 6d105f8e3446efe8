//! StableHLO's operations.

pub mod dynamic_gather;
pub mod gather;

use crate::Implemented;

pub(crate) const OPERATORS: &[Implemented] = &[dynamic_gather::OPERATOR, gather::OPERATOR];
