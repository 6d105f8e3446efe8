//! WebNN's gathers, after the text of the specification.

mod dimensions;
mod dtypes;
pub mod gather;
pub mod gather_elements;
pub mod gather_nd;

pub use dtypes::{INDICES_DTYPES, INPUT_DTYPES};

use crate::Implemented;

pub(crate) const OPERATORS: &[Implemented] =
    &[gather::OPERATOR, gather_elements::OPERATOR, gather_nd::OPERATOR];
