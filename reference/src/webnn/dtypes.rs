//! The dtypes that an `MLOperand` of WebNN can have.

use gather_spec::DType;

/// Any data type: the values of `MLOperandDataType`.
pub const INPUT_DTYPES: [DType; 8] =
    [DType::F32, DType::F16, DType::I32, DType::U32, DType::I64, DType::U64, DType::I8, DType::U8];

/// The data types of indices that the tables of limits allow.
pub const INDICES_DTYPES: [DType; 3] = [DType::I32, DType::U32, DType::I64];
