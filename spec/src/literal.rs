//! Elements as text: how a case file writes them, and how a report shows them.

use std::fmt;

use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, Status};

use crate::diagnostic::Quoted;
use crate::dtype::Kind;
use crate::{DType, Element, Tensor};

/// The bits of a real number or bool written as plain text; complex and strings are not scalars.
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

/// The bits written in hexadecimal, such as `0x7fc00001`, for one real component of the dtype.
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

/// The dtype of one component: that of the real and of the imaginary part for complex, itself for others.
#[must_use]
pub fn component(dtype: DType) -> DType {
    match dtype {
        DType::C64 => DType::F32,
        DType::C128 => DType::F64,
        other => other,
    }
}

/// The bits of a complex element from those of its parts.
#[must_use]
pub fn complex(dtype: DType, re: u128, im: u128) -> u128 {
    re | im << component_bits(dtype)
}

fn component_bits(dtype: DType) -> u32 {
    8 * u32::try_from(component(dtype).size()).expect("a size of at most 16")
}

/// The bits of a small count as an element, if exact: what `fill: iota` writes.
#[must_use]
pub fn parse_count(dtype: DType, count: usize) -> Option<u128> {
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

/// The bits of the float nearest to a decimal, ties to even, rounded once.
fn decimal<F: Float>(text: &str) -> Result<u128, WrongFloat> {
    match text {
        ".nan" | ".NaN" | ".NAN" => return Ok(F::NAN.to_bits()),
        ".inf" | ".Inf" | ".INF" | "+.inf" => return Ok(F::INFINITY.to_bits()),
        "-.inf" | "-.Inf" | "-.INF" => return Ok((-F::INFINITY).to_bits()),
        _ => {}
    }
    // The library also reads hexadecimal floats, `inf` and `nan`; a case file has one spelling for each.
    let plain = |b: u8| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E');
    if !text.bytes().all(plain) || text.parse::<f64>().is_err() {
        return Err(WrongFloat::Syntax);
    }
    let parsed = F::from_str(text).map_err(|_| WrongFloat::Syntax)?;
    if parsed.is_finite() { Ok(parsed.to_bits()) } else { Err(WrongFloat::Overflow) }
}

fn exact<F: Float>(count: usize) -> Option<u128> {
    let converted = F::from_u128(count as u128);
    (converted.status == Status::OK).then(|| converted.value.to_bits())
}

/// Whether a count takes at most this many binary digits, zeros at its end aside.
fn fits(count: usize, digits: u32) -> bool {
    count.checked_ilog2().is_none_or(|highest| highest - count.trailing_zeros() < digits)
}

/// Shows one element so that different bits never look alike.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a>(pub DType, pub &'a Element);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.1, self.0.kind()) {
            (Element::Bytes(bytes), _) => show_string(f, bytes.as_bytes()),
            (Element::Bits(bits), Kind::Bool) => match bits {
                0 => f.write_str("false"),
                1 => f.write_str("true"),
                other => write!(f, "bool({other:#04x})"),
            },
            (Element::Bits(bits), Kind::Complex) => {
                let part = component(self.0);
                let width = component_bits(self.0);
                let low = bits & (u128::MAX >> (128 - width));
                show_float(f, part, low)?;
                let high = bits >> width;
                let sign = if high >> (width - 1) == 0 { "+" } else { "" };
                f.write_str(sign)?;
                show_float(f, part, high)?;
                f.write_str("i")
            }
            (Element::Bits(bits), Kind::Float) => show_float(f, self.0, *bits),
            (Element::Bits(bits), Kind::Signed) => write!(f, "{}", crate::tensor::integer(self.0, *bits)),
            (Element::Bits(bits), _) => write!(f, "{bits}"),
        }
    }
}

fn show_string(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    let plain = !bytes.is_empty() && bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(b));
    match std::str::from_utf8(bytes) {
        Ok(text) if plain => f.write_str(text),
        Ok(text) => write!(f, "{text:?}"),
        Err(_) => write!(f, "hex\"{}\"", bytes.iter().map(|b| format!("{b:02x}")).collect::<String>()),
    }
}

fn show_float(f: &mut fmt::Formatter<'_>, dtype: DType, bits: u128) -> fmt::Result {
    match dtype {
        DType::F16 => show_small::<Half>(f, bits),
        DType::BF16 => show_small::<BFloat>(f, bits),
        DType::F32 => {
            let value = f32::from_bits(u32::try_from(bits).unwrap_or_default());
            show_native(f, value.is_nan(), bits, f32::NAN.to_bits().into(), 8, &value)
        }
        _ => {
            let value = f64::from_bits(u64::try_from(bits).unwrap_or_default());
            show_native(f, value.is_nan(), bits, f64::NAN.to_bits().into(), 16, &value)
        }
    }
}

fn show_native(
    f: &mut fmt::Formatter<'_>,
    is_nan: bool,
    bits: u128,
    canonical: u128,
    digits: usize,
    value: &dyn fmt::Debug,
) -> fmt::Result {
    match is_nan {
        true if bits == canonical => f.write_str("nan"),
        true => write!(f, "nan(0x{bits:0digits$x})"),
        // Debug shows very large and very small values with an exponent, and others with a point.
        false => write!(f, "{value:?}"),
    }
}

fn show_small<F: Float>(f: &mut fmt::Formatter<'_>, bits: u128) -> fmt::Result {
    let value = F::from_bits(bits);
    show_native(f, value.is_nan(), bits, F::NAN.to_bits(), 4, &format_args!("{value}"))
}

/// How many elements of a tensor are shown before the rest is left out.
const SHOWN: usize = 64;

/// How many bytes of a string are shown among others.
const SHOWN_OF_A_STRING: usize = 256;

/// Shows the elements of a tensor as nested rows on one line, at most the first 64 of them, and at most the first 256
/// bytes of a string.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a>(pub &'a Tensor);

impl fmt::Display for Rows<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.shape().element_count() == 0 {
            return write!(f, "{} without elements", self.0.shape());
        }
        let mut left = SHOWN;
        show_rows(f, self.0, &mut Vec::new(), &mut left)
    }
}

fn show_rows(
    f: &mut fmt::Formatter<'_>,
    tensor: &Tensor,
    at: &mut Vec<usize>,
    left: &mut usize,
) -> fmt::Result {
    let Some(dim) = tensor.shape().get(at.len()) else {
        *left = left.saturating_sub(1);
        return show_among_others(f, tensor.dtype(), &tensor.element(at));
    };
    f.write_str("[")?;
    for i in 0..*dim {
        if i > 0 {
            f.write_str(", ")?;
        }
        if *left == 0 {
            f.write_str("…")?;
            break;
        }
        at.push(i);
        show_rows(f, tensor, at, left)?;
        at.pop();
    }
    f.write_str("]")
}

fn show_among_others(f: &mut fmt::Formatter<'_>, dtype: DType, element: &Element) -> fmt::Result {
    match element {
        Element::Bytes(string) if string.as_bytes().len() > SHOWN_OF_A_STRING => {
            let bytes = string.as_bytes();
            // Half a character would make hexadecimal digits of a text.
            let cut = (SHOWN_OF_A_STRING - 3..=SHOWN_OF_A_STRING).rev();
            let whole = cut.map(|end| &bytes[..end]).find(|part| std::str::from_utf8(part).is_ok());
            show_string(f, whole.unwrap_or(&bytes[..SHOWN_OF_A_STRING]))?;
            write!(f, "… of {} bytes", bytes.len())
        }
        element => write!(f, "{}", Shown(dtype, element)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_string_is_cut_at_a_character_and_says_its_length() {
        let shown = |bytes: &[u8]| {
            let mut tensor =
                crate::TensorBuilder::new(DType::String, crate::Shape::new([1]).unwrap()).unwrap();
            tensor.push(Element::Bytes(crate::ByteString::from(bytes)));
            Rows(&tensor.finish().unwrap()).to_string()
        };
        assert_eq!(shown("a".repeat(256).as_bytes()), format!("[{}]", "a".repeat(256)));
        assert_eq!(shown("a".repeat(1 << 20).as_bytes()), format!("[{}… of 1048576 bytes]", "a".repeat(256)));
        let accents = format!("a{}", "é".repeat(500));
        assert_eq!(shown(accents.as_bytes()), format!("[\"a{}\"… of 1001 bytes]", "é".repeat(127)));
        assert_eq!(shown(&[0xff; 300]), format!("[hex\"{}\"… of 300 bytes]", "ff".repeat(256)));
    }

    #[test]
    fn a_decimal_is_rounded_once() {
        // Between two neighbours of f16, and a hair above the middle: through f64 it would tie to even, down.
        assert_eq!(parse_scalar(DType::F16, "1.00048828125000000000000000001"), Ok(0x3C01));
        assert_eq!(parse_scalar(DType::F16, "1.00048828125"), Ok(0x3C00));
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
    fn different_bits_never_look_alike() {
        let shown = |dtype, bits| Shown(dtype, &Element::Bits(bits)).to_string();
        assert_eq!(shown(DType::F32, 0x8000_0000), "-0.0");
        assert_eq!(shown(DType::F32, 0x7FC0_0000), "nan");
        assert_eq!(shown(DType::F32, 0x7FC0_0001), "nan(0x7fc00001)");
        assert_eq!(shown(DType::Bool, 2), "bool(0x02)");
        assert_eq!(shown(DType::C64, 0xBF80_0000_3F80_0000), "1.0-1.0i");
        assert_eq!(shown(DType::F16, 0x3C01), "1.001");
        assert_eq!(shown(DType::F16, 0x3C02), "1.002");
        assert_eq!(shown(DType::I16, 0xFFFF), "-1");
    }

    #[test]
    fn an_iota_ends_where_a_count_is_not_exact() {
        assert_eq!(parse_count(DType::F16, 2048), Some(0x6800));
        assert_eq!(parse_count(DType::F16, 2049), None);
        assert_eq!(parse_count(DType::U8, 256), None);
        assert_eq!(parse_count(DType::Bool, 2), None);
        assert_eq!((parse_count(DType::I8, 127), parse_count(DType::I8, 128)), (Some(127), None));
        assert_eq!(parse_count(DType::C64, 3), Some(0x4040_0000));
        assert_eq!(
            (parse_count(DType::F32, 1 << 24), parse_count(DType::F32, (1 << 24) + 1)),
            (Some(0x4B80_0000), None)
        );
        assert_eq!(parse_count(DType::F32, (1 << 24) + 2), Some(0x4B80_0001));
        assert_eq!((parse_count(DType::F64, 0), parse_count(DType::C128, 3)), (Some(0), Some(0x4008 << 48)));
        assert_eq!(parse_count(DType::F64, (1 << 53) + 1), None);
    }
}
