//! Elements as texts of a format.

use gather_spec::dtype::Kind;
use gather_spec::literal::{Shown, component};
use gather_spec::{DType, Element, Tensor};

/// Whether a tensor has only elements that any format can hold: bools of 0 and 1, and strings that are texts.
pub(crate) fn are_plain(tensor: &Tensor) -> bool {
    tensor.dtype().kind() != Kind::Bool && tensor.dtype() != DType::String
        || tensor.iter().all(|element| match element {
            Element::Bits(bits) => bits <= 1,
            Element::Bytes(bytes) => std::str::from_utf8(bytes.as_bytes()).is_ok(),
        })
}

/// The components of an element, of dtype [`component`]: the real and the imaginary part, or the element itself.
pub(super) fn components(dtype: DType, element: &Element) -> Vec<u128> {
    let Element::Bits(bits) = element else { return Vec::new() };
    let width = 8 * component(dtype).size();
    match dtype.kind() {
        Kind::Complex => vec![bits & ((1 << width) - 1), bits >> width],
        _ => vec![*bits],
    }
}

/// A component as a decimal number, which is read as the same bits; `None` for an infinity and a NaN.
pub(crate) fn decimal(dtype: DType, bits: u128) -> Option<String> {
    // The exponent of f16 and bf16 is a capital letter.
    let text = Shown(dtype, &Element::Bits(bits)).to_string().to_ascii_lowercase();
    // An exponent is the only letter of a number that is finite.
    let is_decimal = |one: char| !one.is_ascii_alphabetic() || one == 'e';
    (dtype.kind() != Kind::Float || text.chars().all(is_decimal)).then_some(text)
}

/// Words in brackets, as deep as the shape.
pub(crate) fn nested(shape: &[usize], words: &[String]) -> String {
    let Some((dim, rest)) = shape.split_first() else { return words.concat() };
    let rows: Vec<String> = words.chunks(words.len() / dim).map(|row| nested(rest, row)).collect();
    format!("[{}]", rows.join(", "))
}
