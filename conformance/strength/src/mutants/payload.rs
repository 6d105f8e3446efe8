//! Wrong about elements: inspects, converts or truncates what it should only copy.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "the mutations"
)]

use gather_spec::{ByteString, DType, Element};

use super::mutant::Mutant;

pub(super) static MUTANTS: &[Mutant] = &[
    Mutant::new(
        "nan-canonicalised",
        "turns every NaN of a float into the quiet one",
        "NaN of WebAssembly and JavaScript engines",
        |model| {
            model.moved = |dtype, element| {
                each_float(
                    dtype,
                    element,
                    |float, bits| {
                        if float.is_nan(bits) { float.quiet_nan() } else { bits }
                    },
                )
            };
        },
    ),
    Mutant::new(
        "signalling-nan-quieted",
        "sets the quiet bit of signalling NaNs",
        "moves through x87 registers, and conversions to a wider float and back",
        |model| {
            model.moved = |dtype, element| {
                each_float(dtype, element, |float, bits| {
                    if float.is_nan(bits) { bits | 1 << (float.mantissa - 1) } else { bits }
                })
            };
        },
    ),
    Mutant::new(
        "sign-of-zero-lost",
        "turns -0.0 into 0.0",
        "class: a value that is added to zero",
        |model| {
            model.moved = |dtype, element| {
                each_float(dtype, element, |float, bits| if bits == float.sign() { 0 } else { bits })
            };
        },
    ),
    Mutant::new(
        "subnormals-flushed",
        "turns subnormal floats into zero",
        "flush-to-zero modes of GPUs and of -ffast-math",
        |model| {
            model.moved = |dtype, element| {
                each_float(dtype, element, |float, bits| {
                    if bits & float.exponent() == 0 { bits & float.sign() } else { bits }
                })
            };
        },
    ),
    Mutant::new(
        "f64-through-f32",
        "takes doubles through floats",
        "devices without doubles, such as Metal",
        |model| {
            model.moved = |dtype, element| match (dtype, element) {
                (DType::F64, Element::Bits(bits)) => {
                    Element::Bits(f64::from(f64::from_bits(bits as u64) as f32).to_bits().into())
                }
                (_, element) => element,
            };
        },
    ),
    Mutant::new(
        "i64-through-f64",
        "takes 64-bit integers through doubles",
        "numbers of JavaScript, where 2^53 + 1 is 2^53",
        |model| {
            model.moved = |dtype, element| match (dtype, element) {
                (DType::I64, Element::Bits(bits)) => {
                    Element::Bits(((bits as i64) as f64 as i64 as u64).into())
                }
                (_, element) => element,
            };
        },
    ),
    Mutant::new(
        "i32-through-f32",
        "takes 32-bit integers through floats",
        "textures of floats in WebGL backends, where 2^24 + 1 is 2^24",
        |model| {
            model.moved = |dtype, element| match (dtype, element) {
                (DType::I32, Element::Bits(bits)) => {
                    Element::Bits(((bits as i32) as f32 as i32 as u32).into())
                }
                (_, element) => element,
            };
        },
    ),
    Mutant::new(
        "high-bit-of-bytes-lost",
        "clears the highest bit of 8-bit integers",
        "u8 was broken on one GPU backend: https://github.com/pytorch/pytorch/issues/91047",
        |model| {
            model.moved = |dtype, element| match (dtype, element) {
                (DType::U8 | DType::I8, Element::Bits(bits)) => Element::Bits(bits & 0x7F),
                (_, element) => element,
            };
        },
    ),
    Mutant::new(
        "upper-half-of-8-bytes-lost",
        "moves the lower half of 8-byte elements only",
        "class: an element size of 4 that is assumed",
        |model| {
            model.moved = |dtype, element| match element {
                Element::Bits(bits) if dtype.size() == 8 => Element::Bits(bits & 0xFFFF_FFFF),
                element => element,
            };
        },
    ),
    Mutant::new(
        "bool-normalised",
        "turns every bool byte but 0 into 1",
        "class: a bool of a language where other bytes do not exist",
        |model| {
            model.moved = |dtype, element| match (dtype, element) {
                (DType::Bool, Element::Bits(bits)) => Element::Bits(u128::from(bits != 0)),
                (_, element) => element,
            };
        },
    ),
    Mutant::new(
        "imaginary-part-lost",
        "moves the real part of complex elements only",
        "class: a cast that a warning allows",
        |model| {
            model.moved = |dtype, element| match (dtype, element) {
                (DType::C64, Element::Bits(bits)) => Element::Bits(bits & 0xFFFF_FFFF),
                (DType::C128, Element::Bits(bits)) => Element::Bits(bits & u128::from(u64::MAX)),
                (_, element) => element,
            };
        },
    ),
    Mutant::new(
        "bytes-swapped",
        "turns the order of the bytes of 2-byte elements",
        "class: endianness",
        |model| {
            model.moved = |dtype, element| match element {
                Element::Bits(bits) if dtype.size() == 2 => Element::Bits(bits >> 8 | (bits & 0xFF) << 8),
                element => element,
            };
        },
    ),
    Mutant::new(
        "trailing-nuls-stripped",
        "strips zero bytes from the end of a string",
        "numpy 2: elements of dtype S lose their trailing zero bytes",
        |model| {
            model.moved = |_, element| {
                string(element, |bytes| {
                    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                    bytes[..end].to_vec()
                })
            };
        },
    ),
    Mutant::new(
        "long-strings-cut",
        "keeps the 23 bytes of a string that fit in place",
        "class: small strings in place, and the rest forgotten",
        |model| {
            model.moved = |_, element| string(element, |bytes| bytes[..bytes.len().min(23)].to_vec());
        },
    ),
    Mutant::new(
        "empty-strings-made-longer",
        "answers an empty string with one of a zero byte",
        "class: a string that must not be empty",
        |model| {
            model.moved =
                |_, element| string(element, |bytes| if bytes.is_empty() { vec![0] } else { bytes.to_vec() });
        },
    ),
];

/// The layout of an IEEE 754 float: the width of its mantissa, and the total width in bits.
#[derive(Clone, Copy)]
struct Float {
    mantissa: usize,
    width: usize,
}

impl Float {
    const fn sign(self) -> u128 {
        1 << (self.width - 1)
    }

    const fn exponent(self) -> u128 {
        self.sign() - (1 << self.mantissa)
    }

    const fn is_nan(self, bits: u128) -> bool {
        bits & !self.sign() > self.exponent()
    }

    const fn quiet_nan(self) -> u128 {
        self.exponent() | 1 << (self.mantissa - 1)
    }
}

/// Changes the bits of a float, or of both halves of a complex number.
fn each_float(dtype: DType, element: Element, change: fn(Float, u128) -> u128) -> Element {
    let Element::Bits(bits) = element else { return element };
    let (mantissa, width, halves) = match dtype {
        DType::F16 => (10, 16, 1),
        DType::BF16 => (7, 16, 1),
        DType::F32 => (23, 32, 1),
        DType::F64 => (52, 64, 1),
        DType::C64 => (23, 32, 2),
        DType::C128 => (52, 64, 2),
        _ => return Element::Bits(bits),
    };
    let float = Float { mantissa, width };
    let half = |at: usize| change(float, bits >> (at * width) & (float.sign() * 2 - 1)) << (at * width);
    Element::Bits((0..halves).map(half).sum())
}

/// Changes the bytes of a string.
fn string(element: Element, change: fn(&[u8]) -> Vec<u8>) -> Element {
    match element {
        Element::Bytes(bytes) => Element::Bytes(ByteString::from(change(bytes.as_bytes()))),
        bits => bits,
    }
}
