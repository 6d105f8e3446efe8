//! The functions of the Array API standard.

mod dtypes;
pub mod take;
pub mod take_along_axis;

pub use dtypes::{INDICES_DTYPES, X_DTYPES};

use crate::Implemented;

pub(crate) const OPERATORS: &[Implemented] = &[take::OPERATOR, take_along_axis::OPERATOR];
