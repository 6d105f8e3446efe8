//! StableHLO's operations.

pub mod gather;

use crate::Implemented;

pub(crate) const OPERATORS: &[Implemented] = &[gather::OPERATOR];
