//! NumPy's functions.

pub mod take;
pub mod take_along_axis;

use gather_spec::DType;

use crate::Implemented;
use crate::checks::INTEGERS;

pub(crate) const OPERATORS: &[Implemented] = &[take::OPERATOR, take_along_axis::OPERATOR];

/// The dtypes of indices. The pages list none, so all integers are accepted (errata `numpy-index-dtypes`).
pub const INDICES_DTYPES: [DType; 8] = INTEGERS;
