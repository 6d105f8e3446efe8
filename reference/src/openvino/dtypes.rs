//! The dtypes that are element types of OpenVINO.

use gather_spec::DType;

/// Any supported type: all dtypes but the complex ones (errata `openvino-dtypes`).
pub const DATA_DTYPES: [DType; 14] = [
    DType::Bool,
    DType::I8,
    DType::U8,
    DType::I16,
    DType::U16,
    DType::I32,
    DType::U32,
    DType::I64,
    DType::U64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
    DType::String,
];
