//! The operator-defined element that replaces what a bad index would select.

use serde::{Deserialize, Serialize};

use crate::dtype::Kind;
use crate::{DType, Element};

/// The fill value of modes with the policy `fill`, by kind of dtype. Strings are filled with the empty string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fill {
    /// For `f16`, `bf16`, `f32` and `f64`, and for the real part of `c64` and `c128`, whose imaginary part is 0.
    pub inexact: FillWord,
    /// For `i8` to `i64`.
    pub signed: FillWord,
    /// For `u8` to `u64`.
    pub unsigned: FillWord,
    /// For `bool`.
    pub bool: FillWord,
}

/// A value that exists in dtypes of any width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FillWord {
    /// A NaN. Any NaN is accepted; our implementations give the quiet one without a payload.
    Nan,
    /// The smallest value.
    Smallest,
    /// The largest value.
    Largest,
    /// `true`.
    True,
    /// 0, or `false`.
    Zero,
}

impl Fill {
    /// The value for a dtype; `None` for strings.
    const fn word(self, dtype: DType) -> Option<FillWord> {
        match dtype.kind() {
            Kind::Float | Kind::Complex => Some(self.inexact),
            Kind::Signed => Some(self.signed),
            Kind::Unsigned => Some(self.unsigned),
            Kind::Bool => Some(self.bool),
            Kind::String => None,
        }
    }

    /// The element for a dtype.
    ///
    /// ```
    /// use gather_spec::signature::{Fill, FillWord};
    /// use gather_spec::{DType, Element};
    /// let fill = Fill {
    ///     inexact: FillWord::Nan,
    ///     signed: FillWord::Smallest,
    ///     unsigned: FillWord::Largest,
    ///     bool: FillWord::True,
    /// };
    /// assert_eq!(fill.element(DType::F32), Element::Bits(f32::NAN.to_bits().into()));
    /// assert_eq!(fill.element(DType::I8), Element::Bits(0x80));
    /// ```
    #[must_use]
    pub fn element(self, dtype: DType) -> Element {
        match self.word(dtype) {
            Some(word) => Element::Bits(word.bits(dtype)),
            None => Element::zero(dtype),
        }
    }

    /// Whether the fill may give this element.
    #[must_use]
    pub fn allows(self, dtype: DType, element: &Element) -> bool {
        match (self.word(dtype), element) {
            (Some(FillWord::Nan), Element::Bits(bits)) => is_nan(real(dtype), *bits),
            _ => *element == self.element(dtype),
        }
    }
}

impl FillWord {
    /// The bits in a dtype.
    const fn bits(self, dtype: DType) -> u128 {
        let real = real(dtype);
        let width = real.size() * 8;
        match (self, real.kind()) {
            (Self::Zero, _) => 0,
            (Self::True, _) | (Self::Largest, Kind::Bool) => 1,
            // All bits of the exponent, and the first bit of the fraction.
            (Self::Nan, _) => exponent(real) | exponent(real) >> 1 & !exponent(real),
            (Self::Smallest, Kind::Signed) => 1 << (width - 1),
            (Self::Largest, Kind::Signed) => (1 << (width - 1)) - 1,
            (Self::Largest, Kind::Unsigned) => u128::MAX >> (128 - width),
            (Self::Smallest, Kind::Float | Kind::Complex) => 1 << (width - 1) | exponent(real),
            (Self::Largest, Kind::Float | Kind::Complex) => exponent(real),
            (Self::Smallest, _) | (Self::Largest, Kind::String) => 0,
        }
    }
}

/// The dtype of the real part, or the dtype itself if it is not complex.
const fn real(dtype: DType) -> DType {
    match dtype {
        DType::C64 => DType::F32,
        DType::C128 => DType::F64,
        dtype => dtype,
    }
}

/// The exponent bits of a float, which are the bits of infinity.
const fn exponent(float: DType) -> u128 {
    match float {
        DType::F16 => 0x7C00,
        DType::BF16 => 0x7F80,
        DType::F32 => 0x7F80_0000,
        DType::F64 => 0x7FF0_0000_0000_0000,
        _ => 0,
    }
}

/// Whether a float, or the real part of a complex number, is a NaN.
const fn is_nan(float: DType, bits: u128) -> bool {
    let width = float.size() * 8;
    let magnitude = bits & (u128::MAX >> (129 - width));
    magnitude > exponent(float)
}

#[cfg(test)]
mod tests {
    use super::*;

    const JAX: Fill = Fill {
        inexact: FillWord::Nan,
        signed: FillWord::Smallest,
        unsigned: FillWord::Largest,
        bool: FillWord::True,
    };

    #[test]
    fn each_dtype_has_the_bits_of_its_extreme() {
        let bits = |dtype| match JAX.element(dtype) {
            Element::Bits(bits) => bits,
            Element::Bytes(bytes) => panic!("{bytes:?}"),
        };
        assert_eq!([DType::F16, DType::BF16].map(bits), [0x7E00, 0x7FC0]);
        assert_eq!(bits(DType::F32), f32::NAN.to_bits().into());
        assert_eq!(bits(DType::F64), f64::NAN.to_bits().into());
        assert_eq!([DType::C64, DType::C128].map(bits), [0x7FC0_0000, f64::NAN.to_bits().into()]);
        let smallest = [DType::I8, DType::I16, DType::I32, DType::I64].map(bits);
        assert_eq!(smallest, [0x80, 0x8000, 0x8000_0000, 0x8000_0000_0000_0000]);
        let largest = [DType::U8, DType::U16, DType::U32, DType::U64].map(bits);
        assert_eq!(largest, [u8::MAX.into(), u16::MAX.into(), u32::MAX.into(), u64::MAX.into()]);
        assert_eq!(bits(DType::Bool), 1);
        assert_eq!(JAX.element(DType::String), Element::zero(DType::String));
    }

    #[test]
    fn every_nan_is_right_where_no_bits_are_promised_and_nothing_else_is() {
        let f32 = |bits: u32| JAX.allows(DType::F32, &Element::Bits(bits.into()));
        assert!(f32(0x7FC0_0000) && f32(0xFFC0_0001) && f32(0x7F80_0001));
        assert!(!f32(0x7F80_0000) && !f32(0xFF80_0000) && !f32(0));
        let c64 = |bits: u64| JAX.allows(DType::C64, &Element::Bits(bits.into()));
        assert!(c64(0x3F80_0000_7FC0_0000), "the imaginary part is free");
        assert!(!c64(0x7FC0_0000_3F80_0000), "the real part is a NaN");
        assert!(!JAX.allows(DType::I8, &Element::Bits(0x7F)));
    }
}
