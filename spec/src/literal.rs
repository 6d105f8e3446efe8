//! Elements as text: how reports show them and, with the feature `cases`, how case files write them.

#[cfg(feature = "cases")]
mod parse;

use std::fmt;

use rustc_apfloat::Float;
use rustc_apfloat::ieee::{BFloat, Half};

use crate::dtype::Kind;
use crate::tensor::integer;
use crate::{DType, Element, Tensor};

#[cfg(feature = "cases")]
pub use parse::{bits_of_count, complex, parse_bits, parse_scalar};

/// The dtype of one component: of the real or the imaginary part of a complex dtype, the dtype itself for others.
#[must_use]
pub fn component(dtype: DType) -> DType {
    match dtype {
        DType::C64 => DType::F32,
        DType::C128 => DType::F64,
        other => other,
    }
}

fn component_bits(dtype: DType) -> u32 {
    8 * u32::try_from(component(dtype).size()).expect("a size of at most 16")
}

/// Displays one element. Different bits never give the same text.
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
            (Element::Bits(bits), Kind::Signed) => write!(f, "{}", integer(self.0, *bits)),
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
        // Debug uses an exponent for very large and very small values, and a decimal point for others.
        false => write!(f, "{value:?}"),
    }
}

fn show_small<F: Float>(f: &mut fmt::Formatter<'_>, bits: u128) -> fmt::Result {
    let value = F::from_bits(bits);
    show_native(f, value.is_nan(), bits, F::NAN.to_bits(), 4, &format_args!("{value}"))
}

/// The most elements of a tensor to show.
const SHOWN: usize = 64;

/// The most bytes to show of a string within a tensor.
const SHOWN_OF_A_STRING: usize = 256;

/// Displays the elements of a tensor as nested rows on one line: at most the first 64 elements, and at most the first 256
/// bytes of each string.
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

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.dtype(), Rows(self))
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
        return write!(f, "{}", Brief(tensor.dtype(), &tensor.element(at)));
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

/// Displays one element among others: like [`Shown`], but at most the first 256 bytes of a string.
#[derive(Clone, Copy, Debug)]
pub struct Brief<'a>(pub DType, pub &'a Element);

impl fmt::Display for Brief<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            Element::Bytes(string) if string.as_bytes().len() > SHOWN_OF_A_STRING => {
                let bytes = string.as_bytes();
                // Cuts between characters, because half a character would turn a text into hexadecimal digits.
                let cut = (SHOWN_OF_A_STRING - 3..=SHOWN_OF_A_STRING).rev();
                let whole = cut.map(|end| &bytes[..end]).find(|part| std::str::from_utf8(part).is_ok());
                show_string(f, whole.unwrap_or(&bytes[..SHOWN_OF_A_STRING]))?;
                write!(f, "… of {} bytes", bytes.len())
            }
            element => Shown(self.0, element).fmt(f),
        }
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
}
