//! The dtype `any` of case files: the dtypes in which such a case can run, and how its numbers become elements of each.
//!
//! Gather moves elements and never looks at them, so a case whose dtype is incidental holds for every dtype. Its
//! elements are whole numbers from 0 to 255, and each dtype has one element per number: distinct numbers stay distinct,
//! and 0 becomes the zero that the policy `zero` stores. What the case shows in one dtype it thus shows in all. `bool` is
//! not among them: with only two elements, painted rows would look alike.

use std::sync::OnceLock;

use crate::dtype::Kind;
use crate::literal::{bits_of_count, complex};
use crate::tensor::integer;
use crate::{DType, Element, Tensor, TensorError};

/// The dtypes of params that `any` stands for, in order of preference. A case runs in the first that a backend declares.
pub const PARAMS: [DType; 15] = [
    DType::I32,
    DType::F32,
    DType::I64,
    DType::F64,
    DType::F16,
    DType::BF16,
    DType::I16,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::I8,
    DType::U8,
    DType::C64,
    DType::C128,
    DType::String,
];

/// The dtypes of indices that `any` stands for, in order of preference.
pub const INDICES: [DType; 2] = [DType::I32, DType::I64];

/// The dtype in which numbers under `any` are read: it holds exactly 0 to 255.
pub(crate) const NUMBERS: DType = DType::U8;

/// The dtypes that a case leaves open, in order of preference. Empty for an operand with a fixed dtype.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenDtypes {
    /// Of params, and so also of the output.
    pub params: Vec<DType>,
    /// Of indices.
    pub indices: Vec<DType>,
}

impl OpenDtypes {
    /// Whether some operand has the dtype `any`.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        !self.params.is_empty() || !self.indices.is_empty()
    }
}

/// The element of a dtype for a number under `any`. It is the number itself, except that i8 takes its byte, a complex
/// dtype has it in both parts, and a string has its decimal digits, or is empty for 0.
fn element(dtype: DType, number: u8) -> Element {
    let count = |dtype| bits_of_count(dtype, number.into()).unwrap_or_default();
    match dtype {
        DType::String if number == 0 => Element::zero(dtype),
        DType::String => Element::Bytes(number.to_string().into()),
        DType::I8 => Element::Bits(number.into()),
        DType::C64 | DType::C128 => Element::Bits(complex(dtype, count(dtype), count(dtype))),
        _ => Element::Bits(count(dtype)),
    }
}

/// Converts params, or an output, of a case under `any` to another dtype.
///
/// # Errors
/// [`TensorError`] if memory is short, or if the tensor is too large in that dtype.
pub(crate) fn values_as(tensor: &Tensor, dtype: DType) -> Result<Tensor, TensorError> {
    let (from, to) = (tensor.dtype(), elements(dtype));
    tensor.map_elements(dtype, |old| {
        number(from, &old).map_or_else(|| Element::zero(dtype), |number| to[usize::from(number)].clone())
    })
}

/// The number under `any` of an element: what [`element`] makes of it.
fn number(dtype: DType, element: &Element) -> Option<u8> {
    match (element, dtype.kind()) {
        (Element::Bytes(bytes), _) if bytes.as_bytes().is_empty() => Some(0),
        (Element::Bytes(bytes), _) => std::str::from_utf8(bytes.as_bytes()).ok()?.parse().ok(),
        (Element::Bits(bits), Kind::Signed | Kind::Unsigned) => u8::try_from(*bits).ok(),
        // The bits of what is not negative have the order of the numbers.
        (Element::Bits(bits), _) => {
            let bits_of = |element: &Element| if let Element::Bits(bits) = element { *bits } else { 0 };
            let at = elements(dtype).binary_search_by_key(bits, bits_of).ok()?;
            u8::try_from(at).ok()
        }
    }
}

/// The elements of a dtype by number, computed once because every case needs them.
fn elements(dtype: DType) -> &'static [Element] {
    static ELEMENTS: [OnceLock<Vec<Element>>; PARAMS.len()] = [const { OnceLock::new() }; PARAMS.len()];
    ELEMENTS[place(dtype)].get_or_init(|| (0..=u8::MAX).map(|number| element(dtype, number)).collect())
}

/// The position of a dtype in [`PARAMS`].
fn place(dtype: DType) -> usize {
    PARAMS.iter().position(|other| *other == dtype).expect("params under `any` have one of these dtypes")
}

/// Converts indices of a case under `any` to another integer dtype, which must hold them.
///
/// # Errors
/// [`TensorError`] if memory is short.
pub(crate) fn indices_as(tensor: &Tensor, dtype: DType) -> Result<Tensor, TensorError> {
    let from = tensor.dtype();
    tensor.map_elements(dtype, |old| match old {
        Element::Bits(bits) => Element::Bits(integer(from, bits).cast_unsigned()),
        bytes @ Element::Bytes(_) => bytes,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_dtype_has_256_distinct_elements_and_zero_is_its_zero() {
        for dtype in PARAMS {
            let elements: HashSet<Element> = (0..=u8::MAX).map(|number| element(dtype, number)).collect();
            assert_eq!(elements.len(), 256, "{dtype}");
            assert_eq!(element(dtype, 0), Element::zero(dtype), "{dtype}");
        }
    }

    #[test]
    fn numbers_become_the_elements_that_their_dtype_calls_so() {
        let bits = |dtype, number| match element(dtype, number) {
            Element::Bits(bits) => bits,
            Element::Bytes(bytes) => panic!("{bytes:?}"),
        };
        assert_eq!(bits(DType::F32, 200), u128::from(200f32.to_bits()));
        assert_eq!(bits(DType::F64, 255), u128::from(255f64.to_bits()));
        assert_eq!(bits(DType::F16, 255), 0x5BF8);
        assert_eq!(bits(DType::BF16, 255), 0x437F);
        assert_eq!(bits(DType::I8, 255), 0xFF);
        assert_eq!(bits(DType::U64, 255), 0xFF);
        assert_eq!(bits(DType::C64, 1), 0x3F80_0000_3F80_0000);
        assert_eq!(element(DType::String, 12), Element::Bytes("12".into()));
    }

    #[test]
    fn values_keep_their_numbers_from_dtype_to_dtype_and_their_layout() {
        let numbers = Tensor::new(NUMBERS, [2, 2], vec![0u8, 7, 128, 255]).unwrap();
        for first in PARAMS {
            for second in PARAMS {
                let there = values_as(&values_as(&numbers, first).unwrap(), second).unwrap();
                assert_eq!(there, values_as(&numbers, second).unwrap(), "{first} {second}");
            }
        }
        let filled =
            Tensor::filled(NUMBERS, crate::Shape::new([1 << 40]).unwrap(), &Element::Bits(3)).unwrap();
        let strings = values_as(&filled, DType::String).unwrap();
        assert_eq!((strings.strides(), strings.element(&[1 << 39])), (&[0][..], Element::Bytes("3".into())));
    }

    #[test]
    fn indices_keep_their_sign() {
        let indices = Tensor::new(DType::I32, [3], vec![0u32, u32::MAX, 1 << 31]).unwrap();
        let wide = indices_as(&indices, DType::I64).unwrap();
        let values = [0, 1, 2].map(|at| wide.integer(&[at]).unwrap());
        assert_eq!(values, [0, -1, -(1 << 31)]);
        assert_eq!(indices_as(&wide, DType::I32).unwrap(), indices);
    }
}
