//! The elements in which two tensors of equal dtype and shape differ.

use std::ops::Range;

use gather_spec::literal::{Shown, component};
use gather_spec::tensor::Stored;
use gather_spec::{ByteString, DType, Element, Tensor};
use serde::{Deserialize, Serialize};

/// The largest tensor to show in full, in elements.
pub(super) const WHOLE: usize = 64;

/// How many neighbours on each side of the first difference to show of a larger tensor.
const AROUND: usize = 16;

/// The most characters of one element.
const LONGEST: usize = 48;

/// How many characters to show before the first difference in a long element.
const BEFORE: usize = 8;

/// The elements in which two tensors differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(schemars::JsonSchema), schemars(rename = "Elements"))]
#[serde(deny_unknown_fields)]
pub struct DifferingElements {
    /// The dtype of both tensors.
    #[cfg_attr(feature = "internals", schemars(with = "crate::schema_names::Dtype"))]
    pub dtype: DType,
    /// The shape of both tensors.
    pub shape: Vec<usize>,
    /// The multi-index of the first differing element in row-major order.
    pub first: Vec<usize>,
    /// The expected element there.
    pub expected: String,
    /// The actual element there.
    pub actual: String,
    /// How many elements differ.
    pub differing: usize,
    /// How many elements each tensor has.
    pub of: usize,
    /// The elements around the first difference.
    pub window: ElementWindow,
}

/// Row-major neighbours from both tensors. Texts are equal if and only if the bits are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(schemars::JsonSchema), schemars(rename = "Window"))]
#[serde(deny_unknown_fields)]
pub struct ElementWindow {
    /// The row-major number of the first element.
    pub start: usize,
    /// The expected elements.
    pub expected: Vec<String>,
    /// The actual elements.
    pub actual: Vec<String>,
}

impl DifferingElements {
    /// Compares two tensors; `None` if they are equal, or differ in dtype or shape.
    pub(super) fn between(expected: &Tensor, actual: &Tensor) -> Option<Self> {
        if expected.dtype() != actual.dtype() || expected.shape() != actual.shape() {
            return None;
        }
        let Differing { first, count } = differing(expected, actual)?;
        let (dtype, shape, of) = (expected.dtype(), expected.shape(), expected.shape().element_count());
        let range = around(first, of);
        let pair = |number: usize| {
            let at = position(shape, number);
            pair(dtype, &expected.element(&at), &actual.element(&at))
        };
        let (left, right) = pair(first);
        let window = range.clone().map(pair).unzip();
        Some(Self {
            dtype,
            shape: shape.to_vec(),
            first: position(shape, first),
            expected: left,
            actual: right,
            differing: count,
            of,
            window: ElementWindow { start: range.start, expected: window.0, actual: window.1 },
        })
    }
}

/// Which elements to show if the first difference is at `first`.
fn around(first: usize, of: usize) -> Range<usize> {
    if of <= WHOLE { 0..of } else { first.saturating_sub(AROUND)..of.min(first + AROUND + 1) }
}

/// The row-major number of the first difference, and how many there are.
struct Differing {
    first: usize,
    count: usize,
}

fn differing(expected: &Tensor, actual: &Tensor) -> Option<Differing> {
    None.or_else(|| stored::<u8>(expected, actual))
        .or_else(|| stored::<u16>(expected, actual))
        .or_else(|| stored::<u32>(expected, actual))
        .or_else(|| stored::<u64>(expected, actual))
        .or_else(|| stored::<u128>(expected, actual))
        .or_else(|| stored::<ByteString>(expected, actual))
}

/// Compares elements that are stored as `T`.
fn stored<T: Stored + PartialEq>(expected: &Tensor, actual: &Tensor) -> Option<Differing> {
    let (expected, actual) = (expected.view::<T>()?, actual.view::<T>()?);
    let pairs = expected.iter().zip(actual.iter());
    let mut numbers = pairs.enumerate().filter(|(_, (one, other))| one != other).map(|(number, _)| number);
    let first = numbers.next()?;
    Some(Differing { first, count: 1 + numbers.count() })
}

/// The texts of two elements. They differ if and only if the bits do.
fn pair(dtype: DType, one: &Element, other: &Element) -> (String, String) {
    let mut texts = [one, other].map(|element| Shown(dtype, element).to_string());
    if one == other {
        let text = part(&texts[0], 0);
        return (text.clone(), text);
    }
    if texts[0] == texts[1] || alike(dtype, one, other) {
        for (text, element) in texts.iter_mut().zip([one, other]) {
            if let (Element::Bits(bits), false) = (element, text.contains("(0x")) {
                text.push_str(&format!("(0x{bits:0width$x})", width = 2 * dtype.size()));
            }
        }
    }
    let [one, other] = texts;
    let same = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let long = one.chars().count().max(other.chars().count()) > LONGEST;
    let from = if long { same.saturating_sub(BEFORE) } else { 0 };
    (part(&one, from), part(&other, from))
}

/// The part of a long text that starts at a character.
fn part(text: &str, from: usize) -> String {
    let mut rest = text.chars().skip(from);
    let start: String = rest.by_ref().take(LONGEST).collect();
    let [before, after] = [from > 0, rest.next().is_some()].map(|more| if more { "…" } else { "" });
    format!("{before}{start}{after}")
}

/// Whether two different values, or parts of complex ones, would print alike, as two NaNs or two zeros do.
fn alike(dtype: DType, one: &Element, other: &Element) -> bool {
    let (Element::Bits(one), Element::Bits(other)) = (one, other) else { return false };
    let infinity: u128 = match component(dtype) {
        DType::F16 => 0x7C00,
        DType::BF16 => 0x7F80,
        DType::F32 => 0x7F80_0000,
        DType::F64 => 0x7FF0_0000_0000_0000,
        _ => return false,
    };
    let width = 8 * component(dtype).size();
    let magnitude = (1u128 << (width - 1)) - 1;
    let parts = [0, width].into_iter().take(dtype.size() * 8 / width);
    parts.map(|shift| (one >> shift, other >> shift)).any(|(one, other)| {
        let bits = |value: u128| value & (magnitude << 1 | 1);
        let [a, b] = [one & magnitude, other & magnitude];
        bits(one) != bits(other) && (a > infinity && b > infinity || a == 0 && b == 0)
    })
}

/// The multi-index of an element from its row-major number.
pub(super) fn position(shape: &[usize], mut number: usize) -> Vec<usize> {
    let mut position: Vec<usize> = shape
        .iter()
        .rev()
        .map(|dim| {
            let at = number % dim;
            number /= dim;
            at
        })
        .collect();
    position.reverse();
    position
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(dtype: DType, one: u128, other: u128) -> (String, String) {
        pair(dtype, &Element::Bits(one), &Element::Bits(other))
    }

    fn texts(one: &str, other: &str) -> (String, String) {
        (one.to_owned(), other.to_owned())
    }

    #[test]
    fn values_that_read_alike_are_shown_with_their_bits() {
        assert_eq!(bits(DType::F32, 0, 0x8000_0000), texts("0.0(0x00000000)", "-0.0(0x80000000)"));
        assert_eq!(bits(DType::F32, 0x7FC0_0000, 0x7FC0_0001), texts("nan(0x7fc00000)", "nan(0x7fc00001)"));
        assert_eq!(bits(DType::F16, 0x7E00, 0xFE00), texts("nan(0x7e00)", "nan(0xfe00)"));
        let (one, other) = bits(DType::C64, 0x3F80_0000, 0x8000_0000_3F80_0000);
        assert!(
            one.ends_with("(0x000000003f800000)") && other.ends_with("(0x800000003f800000)"),
            "{one} {other}"
        );
    }

    #[test]
    fn values_that_read_differently_are_shown_plainly() {
        assert_eq!(bits(DType::F32, 0x3F80_0000, 0xBF80_0000), texts("1.0", "-1.0"));
        assert_eq!(bits(DType::F32, 0x7F80_0000, 0x7FC0_0000), texts("inf", "nan"));
        assert_eq!(bits(DType::Bool, 1, 2), texts("true", "bool(0x02)"));
        assert_eq!(bits(DType::I8, 0xFF, 0xFF), texts("-1", "-1"));
    }

    #[test]
    fn a_long_string_is_shown_from_shortly_before_where_it_differs() {
        let text = |last: &str| Element::Bytes(ByteString::from(format!("{}{last}", "a".repeat(100))));
        let (one, other) = pair(DType::String, &text("b"), &text("c"));
        assert_eq!((one.as_str(), other.as_str()), ("…aaaaaaaab", "…aaaaaaaac"));
        let (same, _) = pair(DType::String, &text("b"), &text("b"));
        assert_eq!(same, format!("{}…", "a".repeat(LONGEST)));
    }

    #[test]
    fn a_window_is_whole_or_around_the_first_difference() {
        assert_eq!(around(63, 64), 0..64);
        assert_eq!(around(0, 65), 0..17);
        assert_eq!(around(40, 65), 24..57);
        assert_eq!(around(64, 65), 48..65);
    }

    #[test]
    fn a_difference_behind_the_start_is_found_whatever_the_layout() {
        let count = 40_000;
        let one = Tensor::new(DType::I32, [count, 1], (0..40_000u32).collect()).unwrap();
        let mut elements: Vec<u32> = (0..40_000).collect();
        elements[16_384] = 9;
        elements[39_999] = 9;
        let other = Tensor::new(DType::I32, [count, 1], elements).unwrap();
        let found = DifferingElements::between(&one, &other).unwrap();
        assert_eq!((found.first, found.differing, found.of), (vec![16_384, 0], 2, count));
        assert_eq!((found.expected.as_str(), found.actual.as_str()), ("16384", "9"));
        assert_eq!((found.window.start, found.window.actual.len()), (16_368, 33));
        assert_eq!(found.window.actual[16], "9");
    }
}
