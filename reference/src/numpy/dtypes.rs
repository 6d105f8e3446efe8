//! The dtypes of NumPy's indices.

use gather_spec::DType;

use crate::checks::INTEGERS;

/// The dtypes of indices. The pages list none, so all integers are accepted (errata `numpy-index-dtypes`).
pub const INDICES_DTYPES: [DType; 8] = INTEGERS;
