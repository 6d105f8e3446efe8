//! NumPy's functions.

pub mod take;
pub mod take_along_axis;

use gather_spec::{Attribute, Call, DType, GatherError, Refusal, Tensor};

use crate::Implemented;

pub(crate) const OPERATORS: &[Implemented] = &[take::OPERATOR, take_along_axis::OPERATOR];

/// The dtypes of indices, since the pages list none (errata `numpy-index-dtypes`).
pub const INDICES_DTYPES: [DType; 8] =
    [DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32, DType::U64];

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

/// An axis counted from the start, which the array must have.
fn normalize_axis_index(axis: i64, ndim: usize) -> Result<usize, GatherError> {
    let rank = i64::try_from(ndim).unwrap_or(i64::MAX);
    let from_start = if axis < 0 { axis.checked_add(rank) } else { Some(axis) };
    from_start
        .and_then(|axis| usize::try_from(axis).ok())
        .filter(|axis| *axis < ndim)
        .ok_or(GatherError::AxisOutOfRange { axis, rank: ndim })
}

/// The array flattened to one axis, its last axis counting fastest.
fn flattened(array: &Tensor) -> Result<Tensor, Refusal> {
    array.flattened().map_err(|error| Refusal::Unsupported(error.to_string()))
}
