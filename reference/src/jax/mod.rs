//! JAX's functions.

pub mod numpy_take;
pub mod numpy_take_along_axis;

use gather_spec::dtype::Kind;
use gather_spec::{Attribute, Call, DType, Element, GatherError, Refusal, Tensor};

use crate::Implemented;

pub(crate) const OPERATORS: &[Implemented] = &[numpy_take::OPERATOR, numpy_take_along_axis::OPERATOR];

/// The dtypes that an array may have (errata `jax-params-dtypes`).
pub const ARRAY_DTYPES: [DType; 15] = [
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
    DType::C64,
    DType::C128,
];

/// Integer types.
pub const INDICES_DTYPES: [DType; 8] =
    [DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32, DType::U64];

/// The invalid value of a dtype: "NaN for inexact types, the largest negative value for signed types, the largest positive
/// value for unsigned types, and True for booleans".
fn invalid_value(dtype: DType) -> Element {
    let all_ones = u128::MAX >> (128 - 8 * dtype.size());
    Element::Bits(match dtype {
        DType::F16 => 0x7E00,
        DType::BF16 => 0x7FC0,
        DType::F32 | DType::C64 => f32::NAN.to_bits().into(),
        DType::F64 | DType::C128 => f64::NAN.to_bits().into(),
        DType::Bool => 1,
        _ if dtype.kind() == Kind::Signed => all_ones ^ (all_ones >> 1),
        _ => all_ones,
    })
}

/// An axis as it is sent, the inner `None` for null.
fn sent_axis(call: &Call) -> Result<Option<Option<i64>>, Refusal> {
    match call.attributes.get("axis") {
        None => Ok(None),
        Some(Attribute::Null) => Ok(Some(None)),
        Some(Attribute::Integer(axis)) => Ok(Some(Some(*axis))),
        Some(other) => {
            Err(Refusal::Unsupported(format!("the attribute `axis` is an integer or null, not {other}")))
        }
    }
}

/// A mode as it is sent, which null does not.
fn sent_mode(call: &Call) -> Result<Option<&str>, Refusal> {
    match call.attributes.get("mode") {
        None | Some(Attribute::Null) => Ok(None),
        Some(Attribute::String(mode)) => Ok(Some(mode)),
        Some(other) => {
            Err(Refusal::Unsupported(format!("the attribute `mode` is a string or null, not {other}")))
        }
    }
}

/// An axis counted from the start, which the array must have.
fn canonicalize_axis(axis: i64, ndim: usize) -> Result<usize, GatherError> {
    let rank = i64::try_from(ndim).unwrap_or(i64::MAX);
    let from_start = if axis < 0 { axis.checked_add(rank) } else { Some(axis) };
    from_start
        .and_then(|axis| usize::try_from(axis).ok())
        .filter(|axis| *axis < ndim)
        .ok_or(GatherError::AxisOutOfRange { axis, rank: ndim })
}

/// The array flattened to one axis, its last axis counting fastest.
fn ravel(array: &Tensor) -> Result<Tensor, Refusal> {
    array.flattened().map_err(|error| Refusal::Unsupported(error.to_string()))
}

/// An index with negative ones counted from the end.
const fn normalize_index(index: i128, size: usize) -> i128 {
    if index < 0 { index + size as i128 } else { index }
}

/// The place on an axis of a size, if it is one.
fn in_bounds(index: i128, size: usize) -> Option<usize> {
    usize::try_from(index).ok().filter(|place| *place < size)
}
