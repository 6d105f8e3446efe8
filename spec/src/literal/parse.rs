//! Parses elements of case files into bits.

use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, Status};

use super::{component, component_bits};
use crate::DType;
use crate::diagnostic::Quoted;
use crate::dtype::Kind;

/// Parses a real number or a bool. Complex numbers and strings are not scalars.
///
/// # Errors
/// What is wrong with the text, and what would be right.
///
/// ```
/// # use gather_spec::{DType, literal::parse_scalar};
/// assert_eq!(parse_scalar(DType::BF16, "-2.5"), Ok(0xC020));
/// assert!(parse_scalar(DType::U8, "256").unwrap_err().contains("0 to 255"));
/// ```
pub fn parse_scalar(dtype: DType, text: &str) -> Result<u128, String> {
    let shown = Quoted(text);
    match dtype.kind() {
        Kind::Bool => match text {
            "false" => Ok(0),
            "true" => Ok(1),
            _ => Err(format!("{shown} is no bool: true or false is expected (other bytes go under `bits`)")),
        },
        Kind::Signed | Kind::Unsigned => parse_integer(dtype, text),
        Kind::Float => parse_float(dtype, text),
        Kind::Complex => Err(format!("{shown} is no {dtype}: {{ re: …, im: … }} is expected")),
        Kind::String => Err("a string is not a number".to_owned()),
    }
}

/// Parses hexadecimal bits, such as `0x7fc00001`, of one component of the dtype.
///
/// # Errors
/// What is wrong with the text, and what would be right.
pub fn parse_bits(dtype: DType, text: &str) -> Result<u128, String> {
    let width = component_bits(dtype);
    let shown = Quoted(text);
    let digits = text.strip_prefix("0x").unwrap_or_default();
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(format!("{shown} is no bit pattern: 0x and hexadecimal digits are expected"));
    }
    match u128::from_str_radix(digits, 16) {
        Ok(bits) if width == 128 || bits >> width == 0 => Ok(bits),
        _ => {
            let part = if component(dtype) == dtype { "" } else { "each part of " };
            Err(format!("{shown} does not fit the {width} bits of {part}{dtype}"))
        }
    }
}

/// The bits of a complex element, from those of its parts.
#[must_use]
pub fn complex(dtype: DType, re: u128, im: u128) -> u128 {
    re | im << component_bits(dtype)
}

/// The bits of a small number as an element, if the dtype represents it exactly. `fill: iota` writes these.
#[must_use]
pub fn bits_of_count(dtype: DType, count: usize) -> Option<u128> {
    let bits = 8 * u32::try_from(dtype.size()).ok()?;
    match dtype.kind() {
        Kind::Bool => (count < 2).then_some(count as u128),
        Kind::Signed => (count as u128 >> (bits - 1) == 0).then_some(count as u128),
        Kind::Unsigned => (count as u128 >> bits == 0).then_some(count as u128),
        Kind::Float | Kind::Complex => match component(dtype) {
            DType::F16 => exact::<Half>(count),
            DType::BF16 => exact::<BFloat>(count),
            DType::F32 => fits(count, f32::MANTISSA_DIGITS).then(|| (count as f32).to_bits().into()),
            _ => fits(count, f64::MANTISSA_DIGITS).then(|| (count as f64).to_bits().into()),
        },
        Kind::String => None,
    }
}

fn parse_integer(dtype: DType, text: &str) -> Result<u128, String> {
    let bits = 8 * u32::try_from(dtype.size()).expect("a size of at most 16");
    let (low, high) = match dtype.kind() {
        Kind::Signed => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        _ => (0, (1i128 << bits) - 1),
    };
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!("{} is no {dtype}: an integer in decimal digits is expected", Quoted(text)));
    }
    let value = text.parse::<i128>().ok().filter(|value| (low..=high).contains(value));
    let value =
        value.ok_or_else(|| format!("{} does not fit {dtype}: {low} to {high} is allowed", Quoted(text)))?;
    Ok(value.cast_unsigned() & (u128::MAX >> (128 - bits)))
}

fn parse_float(dtype: DType, text: &str) -> Result<u128, String> {
    let parsed = match dtype {
        DType::F16 => decimal::<Half>(text),
        DType::BF16 => decimal::<BFloat>(text),
        DType::F32 => decimal::<Single>(text),
        _ => decimal::<Double>(text),
    };
    parsed.map_err(|wrong| match wrong {
        WrongFloat::Overflow => {
            format!("{} overflows {dtype}; write .inf or -.inf if infinity is meant", Quoted(text))
        }
        WrongFloat::Syntax => format!(
            "{} is no {dtype}: a decimal, .nan, .inf or -.inf is expected (a NaN with a sign or payload goes under `bits`)",
            Quoted(text)
        ),
    })
}

enum WrongFloat {
    Syntax,
    Overflow,
}

/// The bits of the float nearest to a decimal: ties to even, rounded only once.
fn decimal<F: Float>(text: &str) -> Result<u128, WrongFloat> {
    match text {
        ".nan" | ".NaN" | ".NAN" => return Ok(F::NAN.to_bits()),
        ".inf" | ".Inf" | ".INF" | "+.inf" => return Ok(F::INFINITY.to_bits()),
        "-.inf" | "-.Inf" | "-.INF" => return Ok((-F::INFINITY).to_bits()),
        _ => {}
    }
    // The library also accepts hexadecimal floats, `inf` and `nan`, for which case files have one spelling each.
    let plain = |b: u8| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E');
    if !text.bytes().all(plain) || text.parse::<f64>().is_err() {
        return Err(WrongFloat::Syntax);
    }
    let shortened = shortened(text);
    let parsed = F::from_str(shortened.as_deref().unwrap_or(text)).map_err(|_| WrongFloat::Syntax)?;
    if parsed.is_finite() { Ok(parsed.to_bits()) } else { Err(WrongFloat::Overflow) }
}

/// More significant digits than any float, or middle between two floats, has: 767 for f64.
const SIGNIFICANT: usize = 800;

/// A short decimal that rounds to the same float as a long one, since the library takes quadratic time: a last digit of 1
/// stands for all further digits if one of them is not 0.
fn shortened(text: &str) -> Option<String> {
    if text.len() <= 2 * SIGNIFICANT {
        return None;
    }
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let sign = if whole.starts_with('-') { "-" } else { "" };
    let digits = format!("{}{fraction}", whole.trim_start_matches(['-', '+']));
    let digits = digits.trim_start_matches('0');
    let (kept, rest) = digits.split_at_checked(SIGNIFICANT)?;
    let last = if rest.bytes().all(|digit| digit == b'0') { '0' } else { '1' };
    let dropped = i64::try_from(rest.len()).ok()? - i64::try_from(fraction.len()).ok()? - 1;
    let exponent = exponent.parse::<i64>().ok()?.checked_add(dropped)?;
    Some(format!("{sign}{kept}{last}e{exponent}"))
}

fn exact<F: Float>(count: usize) -> Option<u128> {
    let converted = F::from_u128(count as u128);
    (converted.status == Status::OK).then(|| converted.value.to_bits())
}

/// Whether a number needs at most this many binary digits, apart from trailing zeros.
fn fits(count: usize, digits: u32) -> bool {
    count.checked_ilog2().is_none_or(|highest| highest - count.trailing_zeros() < digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_is_rounded_once() {
        // Between two neighbours of f16, and a hair above the middle: through f64 it would tie to even, down.
        assert_eq!(parse_scalar(DType::F16, "1.00048828125000000000000000001"), Ok(0x3C01));
        assert_eq!(parse_scalar(DType::F16, "1.00048828125"), Ok(0x3C00));
    }

    #[test]
    fn a_long_decimal_is_rounded_by_all_of_its_digits() {
        // The middle between two neighbours of f16, and a hair above and below it.
        for (text, bits) in [
            (format!("1.00048828125{}", "0".repeat(5000)), 0x3C00),
            (format!("1.00048828125{}1", "0".repeat(5000)), 0x3C01),
            (format!("1.00048828124{}", "9".repeat(5000)), 0x3C00),
            (format!("-1.00048828125{}1e0", "0".repeat(5000)), 0xBC01),
            (format!("{}1.5", "0".repeat(5000)), 0x3E00),
            (format!("15{}e-5001", "0".repeat(5000)), 0x3E00),
            (format!("0.{}15e5001", "0".repeat(5000)), 0x3E00),
            (format!("{}.5", "6".repeat(5000)), 0),
        ] {
            match bits {
                0 => assert!(parse_scalar(DType::F16, &text).unwrap_err().contains("overflows f16")),
                bits => assert_eq!(parse_scalar(DType::F16, &text), Ok(bits), "{}", &text[..20]),
            }
        }
    }

    #[test]
    fn overflow_is_an_error_and_never_infinity() {
        assert!(parse_scalar(DType::F16, "65520").unwrap_err().contains("overflows f16"));
        assert_eq!(parse_scalar(DType::F16, "65519"), Ok(0x7BFF));
        assert!(parse_scalar(DType::F64, "1e999").unwrap_err().contains("overflows"));
        assert!(parse_scalar(DType::F32, "1e99999999999999999999").unwrap_err().contains("overflows"));
    }

    #[test]
    fn extremes_of_integers_fit_and_their_neighbours_do_not() {
        assert_eq!(parse_scalar(DType::I64, "-9223372036854775808"), Ok(1 << 63));
        assert!(parse_scalar(DType::I64, "9223372036854775808").is_err());
        assert_eq!(parse_scalar(DType::I8, "-1"), Ok(0xFF));
        assert_eq!(parse_scalar(DType::U64, "18446744073709551615"), Ok(u128::from(u64::MAX)));
        assert!(parse_scalar(DType::U64, "-1").is_err());
    }

    #[test]
    fn an_iota_ends_where_a_count_is_not_exact() {
        assert_eq!(bits_of_count(DType::F16, 2048), Some(0x6800));
        assert_eq!(bits_of_count(DType::F16, 2049), None);
        assert_eq!(bits_of_count(DType::U8, 256), None);
        assert_eq!(bits_of_count(DType::Bool, 2), None);
        assert_eq!((bits_of_count(DType::I8, 127), bits_of_count(DType::I8, 128)), (Some(127), None));
        assert_eq!(bits_of_count(DType::C64, 3), Some(0x4040_0000));
        assert_eq!(
            (bits_of_count(DType::F32, 1 << 24), bits_of_count(DType::F32, (1 << 24) + 1)),
            (Some(0x4B80_0000), None)
        );
        assert_eq!(bits_of_count(DType::F32, (1 << 24) + 2), Some(0x4B80_0001));
        assert_eq!(
            (bits_of_count(DType::F64, 0), bits_of_count(DType::C128, 3)),
            (Some(0), Some(0x4008 << 48))
        );
        assert_eq!(bits_of_count(DType::F64, (1 << 53) + 1), None);
    }
}
