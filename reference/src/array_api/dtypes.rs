//! The dtypes of the Array API standard.

use gather_spec::DType;

use crate::checks::INTEGERS;

/// The dtypes of the standard (errata `array-api-dtypes`).
pub const X_DTYPES: [DType; 13] = [
    DType::Bool,
    DType::I8,
    DType::U8,
    DType::I16,
    DType::U16,
    DType::I32,
    DType::U32,
    DType::I64,
    DType::U64,
    DType::F32,
    DType::F64,
    DType::C64,
    DType::C128,
];

/// The standard's integer dtypes (errata `array-api-index-dtypes`).
pub const INDICES_DTYPES: [DType; 8] = INTEGERS;
