//! Writes tensors, attributes and expectations as YAML of the case-file format.

use std::fmt::Write as _;

use gather_spec::dtype::Kind;
use gather_spec::literal::{Shown, component, parse_scalar};
use gather_spec::{
    Allowed, Attribute, Attributes, BadIndex, Call, DType, Element, ErrorFields, NegativeIndex, Profile,
    Signatures, Tensor,
};

use super::expect::{allowed, reference};

/// From this many elements on, a constant tensor is written as a `fill`.
const LARGE: usize = 32;

/// The operands and attributes of a call, as entries of a case.
pub(super) fn call(call: &Call) -> String {
    let mut text = "    operands:\n".to_owned();
    for (name, tensor) in call.operands.iter() {
        let _ = writeln!(text, "      {name}: {{ dtype: {}, {} }}", tensor.dtype(), body(tensor));
    }
    if !call.attributes.is_empty() {
        let _ = writeln!(text, "    attributes: {{ {} }}", attributes(&call.attributes));
    }
    text
}

fn attributes(attributes: &Attributes) -> String {
    let value = |value: &Attribute| match value {
        Attribute::Element(element) => single(element),
        value => value.to_string(),
    };
    attributes.iter().map(|(name, one)| format!("{name}: {}", value(one))).collect::<Vec<_>>().join(", ")
}

/// An attribute that is a single element.
fn single(element: &Tensor) -> String {
    format!("{{ {} }}", body(element).replacen("data:", "element:", 1))
}

/// The `expect` entry of a case: what the reference allows under every profile.
pub(super) fn expect(signatures: &Signatures, call: &Call) -> String {
    let under = |profile| outcomes(&allowed(signatures, call, profile, &reference(call, profile)));
    let of = |bad, negative| under(Profile { bad, negative });
    let all = BadIndex::SPECIFIED.map(|bad| NegativeIndex::ALL.map(|negative| of(bad, negative)));
    let first = &all[0][0];
    if all.iter().flatten().all(|outcome| outcome == first) {
        return format!("    expect: {{ {first} }}\n");
    }
    let mut text = "    expect:\n".to_owned();
    for (bad, each) in BadIndex::SPECIFIED.into_iter().zip(&all) {
        if each[0] == each[1] {
            let _ = writeln!(text, "      - {{ when: {{ bad: {bad} }}, {} }}", each[0]);
            continue;
        }
        for (negative, outcome) in NegativeIndex::ALL.into_iter().zip(each) {
            let when = format!("bad: {bad}, negative: {negative}");
            let _ = writeln!(text, "      - {{ when: {{ {when} }}, {outcome} }}");
        }
    }
    text
}

/// Alternatives, each of which passes. If the reference gives none, the case only requires that nothing crashes.
fn outcomes(allowed: &[Allowed]) -> String {
    match allowed {
        [] => "unspecified: true".to_owned(),
        [one] => outcome(one),
        several => {
            let each: Vec<String> = several.iter().map(|one| format!("{{ {} }}", outcome(one))).collect();
            format!("any-of: [{}]", each.join(", "))
        }
    }
}

fn outcome(allowed: &Allowed) -> String {
    match allowed {
        Allowed::Output(tensor) => format!("output: {{ {} }}", body(tensor)),
        Allowed::Filled(filled) => match filled.tensor() {
            Ok(tensor) => format!("output: {{ {} }}", body(&tensor)),
            Err(_) => format!("shape: {}", filled.zeroed.shape()),
        },
        Allowed::Shape(shape) => format!("shape: {shape}"),
        Allowed::Error(code, fields) => format!("error: {code}{}", error_fields(fields)),
        Allowed::AnyError | Allowed::Unspecified => "unspecified: true".to_owned(),
    }
}

fn error_fields(fields: &ErrorFields) -> String {
    fields.texts().filter_map(|(name, value)| Some(format!(", {name}: {}", value?))).collect()
}

/// A tensor without its dtype: as `data` where every element has a lossless text, otherwise as `bits`.
fn body(tensor: &Tensor) -> String {
    if tensor.shape().element_count() == 0 {
        return format!("shape: {}, data: []", tensor.shape());
    }
    let dtype = tensor.dtype();
    if let Some(fill) = fill(tensor) {
        return format!("shape: {}, fill: {fill}", tensor.shape());
    }
    let as_data: Option<Vec<String>> = tensor.iter().map(|element| value(dtype, &element)).collect();
    let (key, texts) = match as_data {
        Some(texts) => ("data", texts),
        None => ("bits", tensor.iter().map(|element| bits(dtype, &element)).collect()),
    };
    format!("{key}: {}", nested(tensor.shape(), &mut texts.into_iter()))
}

/// The `fill` of a large tensor whose elements are all equal.
fn fill(tensor: &Tensor) -> Option<String> {
    let mut elements = tensor.iter();
    let first = elements.next()?;
    if tensor.shape().element_count() < LARGE || !elements.all(|element| element == first) {
        return None;
    }
    if first == Element::zero(tensor.dtype()) {
        return Some("zeros".to_owned());
    }
    value(tensor.dtype(), &first).map(|value| format!("{{ value: {value} }}"))
}

/// An element as text, if the text says all of it.
fn value(dtype: DType, element: &Element) -> Option<String> {
    match element {
        Element::Bytes(bytes) => {
            let text = std::str::from_utf8(bytes.as_bytes()).ok();
            let plain = text.filter(|text| text.bytes().all(|b| b.is_ascii_alphanumeric()));
            Some(plain.map_or_else(|| hex(bytes.as_bytes()), |text| format!("\"{text}\"")))
        }
        Element::Bits(_) if dtype.kind() == Kind::Complex => None,
        Element::Bits(bits) => {
            let text = Shown(dtype, element).to_string();
            (parse_scalar(dtype, &text) == Ok(*bits)).then_some(text)
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{{ hex: \"{digits}\" }}")
}

fn bits(dtype: DType, element: &Element) -> String {
    let Element::Bits(bits) = element else { return String::new() };
    let part = component(dtype);
    let digits = 2 * part.size();
    if part == dtype {
        return format!("0x{bits:0digits$x}");
    }
    let width = 8 * u32::try_from(part.size()).unwrap_or(8);
    let (re, im) = (bits & (u128::MAX >> (128 - width)), bits >> width);
    format!("[0x{re:0digits$x}, 0x{im:0digits$x}]")
}

fn nested(shape: &[usize], texts: &mut impl Iterator<Item = String>) -> String {
    match shape.split_first() {
        None => texts.next().unwrap_or_default(),
        Some((dim, inner)) => {
            let rows: Vec<String> = (0..*dim).map(|_| nested(inner, texts)).collect();
            format!("[{}]", rows.join(", "))
        }
    }
}
