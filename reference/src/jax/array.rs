//! What JAX's arrays hold, and how their indices count.

use gather_spec::dtype::Kind;
use gather_spec::{DType, Element};

use crate::checks::{ALL_BUT_STRINGS, INTEGERS};

/// The dtypes of arrays (errata `jax-params-dtypes`).
pub const ARRAY_DTYPES: [DType; 15] = ALL_BUT_STRINGS;

/// Integer types.
pub const INDICES_DTYPES: [DType; 8] = INTEGERS;

/// The invalid value of a dtype: "NaN for inexact types, the largest negative value for signed types, the largest positive
/// value for unsigned types, and True for booleans".
pub(super) fn invalid_value(dtype: DType) -> Element {
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

/// An index, counted from the end if it is negative.
pub(super) const fn normalize_index(index: i128, size: usize) -> i128 {
    if index < 0 { index + size as i128 } else { index }
}

/// The coordinate for an index, if it is in bounds.
pub(super) fn in_bounds(index: i128, size: usize) -> Option<usize> {
    usize::try_from(index).ok().filter(|place| *place < size)
}
