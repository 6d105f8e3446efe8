//! The dtypes that the operator sets before 13 list for data.

use gather_spec::DType;

/// All but bf16, which operator set 13 added.
pub const DTYPES_BEFORE_13: [DType; 15] = [
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::F16,
    DType::F32,
    DType::F64,
    DType::String,
    DType::Bool,
    DType::C64,
    DType::C128,
];
