//! Reads elements: nested data and bits, down to a single number, string or complex number.

use crate::diagnostic::{Diagnostic, Quoted};
use crate::dtype::Kind;
use crate::literal::{complex, component, parse_bits, parse_scalar};
use crate::shape::MAX_RANK;
use crate::yaml::{Node, Spanned};
use crate::{DType, Element, Shape, Tensor, TensorBuilder};

use super::reader::TensorReader;

/// The notation of an element.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Notation {
    Data,
    Bits,
}

impl<'a> TensorReader<'a> {
    pub(super) fn nested(
        &self,
        dtype: DType,
        shape: Option<Shape>,
        data: &'a Spanned<Node>,
        notation: Notation,
    ) -> Result<Tensor, Diagnostic> {
        let found = self.found(dtype, data, notation)?;
        let empty = found.contains(&0);
        let shape = match shape {
            None => found.clone(),
            Some(shape) if shape == found || (empty && shape.element_count() == 0) => shape,
            Some(shape) => {
                return Err(self
                    .wrong(data.defined, format!("the data has shape {found}, but `shape` says {shape}"))
                    .help("let the two agree, or leave `shape` out"));
            }
        };
        self.count(dtype, &shape, data.defined)?;
        let bad = |error: crate::TensorError| self.wrong(data.defined, error.to_string());
        let mut builder = TensorBuilder::new(dtype, shape).map_err(bad)?;
        self.push_nested(&mut builder, dtype, &found, data, notation)?;
        builder.finish().map_err(bad)
    }

    /// The shape of nested data, according to its first entries.
    fn found(&self, dtype: DType, data: &'a Spanned<Node>, notation: Notation) -> Result<Shape, Diagnostic> {
        let mut dims = Vec::new();
        first_path(data, &mut dims, &|node| is_element(dtype, notation, node));
        if dims.len() > MAX_RANK {
            let message =
                format!("the data is nested {} deep; a tensor has at most {MAX_RANK} dims", dims.len());
            return Err(self.wrong(data.defined, message));
        }
        Shape::new(dims).map_err(|error| self.wrong(data.defined, error.to_string()))
    }

    fn push_nested(
        &self,
        builder: &mut TensorBuilder,
        dtype: DType,
        shape: &[usize],
        node: &'a Spanned<Node>,
        notation: Notation,
    ) -> Result<(), Diagnostic> {
        let Some((dim, inner)) = shape.split_first() else {
            if matches!(node.value, Node::Sequence(_)) && !is_element(dtype, notation, &node.value) {
                return Err(self
                    .wrong(node.defined, "ragged data: a sequence where the first row has an element")
                    .help("all rows of a tensor have the same depth"));
            }
            let element = match notation {
                Notation::Data => self.element(dtype, node)?,
                Notation::Bits => self.bits(dtype, node)?,
            };
            builder.push(element);
            return Ok(());
        };
        match &node.value {
            Node::Sequence(rows) if rows.len() == *dim => {
                rows.iter().try_for_each(|row| self.push_nested(builder, dtype, inner, row, notation))
            }
            Node::Sequence(rows) => Err(self
                .wrong(
                    node.defined,
                    format!("ragged data: length {} here, {dim} in the first row", rows.len()),
                )
                .help("all rows of a tensor have the same length")),
            other => Err(self
                .wrong(
                    node.defined,
                    format!(
                        "ragged data: {} where the first row has a sequence of length {dim}",
                        other.kind()
                    ),
                )
                .help("all rows of a tensor have the same depth")),
        }
    }

    pub(super) fn element(&self, dtype: DType, node: &'a Spanned<Node>) -> Result<Element, Diagnostic> {
        if let Some(placeholder) = self.placeholder(node).filter(|_| dtype != DType::String) {
            return Ok(Element::Bits(placeholder.bits()));
        }
        match (dtype.kind(), &node.value) {
            (Kind::String, _) => self.string(node),
            (Kind::Complex, Node::Mapping(entries)) => {
                let part =
                    |key: &str| match entries.iter().find(|(name, _)| name.value == key) {
                        Some((_, value)) if entries.len() == 2 => self.scalar(component(dtype), value),
                        _ => Err(self
                            .wrong(node.defined, "a complex element is { re: …, im: … }, with both parts")),
                    };
                Ok(Element::Bits(complex(dtype, part("re")?, part("im")?)))
            }
            _ => self.scalar(dtype, node).map(Element::Bits),
        }
    }

    fn scalar(&self, dtype: DType, node: &'a Spanned<Node>) -> Result<u128, Diagnostic> {
        let wrong = |message: String| Err(self.wrong(node.defined, message));
        match self.text.scalar(node) {
            None => wrong(format!("{} is no {dtype}", node.value.kind())),
            Some("") => wrong(format!("nothing is written here: a value of dtype {dtype} is expected")),
            Some(text) if self.text.is_quoted(node) => {
                wrong(format!("the text {} is no {dtype}: write it without quotes", Quoted(text)))
            }
            Some(text) => parse_scalar(dtype, text).or_else(wrong),
        }
    }

    fn string(&self, node: &'a Spanned<Node>) -> Result<Element, Diagnostic> {
        if self.text.is_null(node) {
            return Err(self
                .wrong(node.defined, "this is a null, not a string")
                .help("quote it: \"\" or \"null\""));
        }
        if let Node::Mapping(entries) = &node.value
            && let [(name, value)] = entries.as_slice()
            && name.value == "hex"
        {
            let bytes = self.text.scalar(value).and_then(from_hex);
            let bytes = bytes.ok_or_else(|| {
                self.wrong(value.defined, "hex is an even number of hexadecimal digits, such as \"00ff\"")
            })?;
            return Ok(Element::Bytes(bytes.into()));
        }
        match self.text.scalar(node) {
            Some(text) => Ok(Element::Bytes(text.into())),
            None => Err(self.wrong(
                node.defined,
                format!("{} is no string: text or {{ hex: \"00ff\" }} is expected", node.value.kind()),
            )),
        }
    }

    fn bits(&self, dtype: DType, node: &'a Spanned<Node>) -> Result<Element, Diagnostic> {
        let one = |node: &'a Spanned<Node>| {
            let text = self.text.scalar(node).unwrap_or_default();
            parse_bits(dtype, text).map_err(|message| self.wrong(node.defined, message))
        };
        match (dtype.kind(), &node.value) {
            (Kind::String, _) => {
                Err(self.wrong(node.defined, "a string has no bits: write { hex: \"00ff\" } under `data`"))
            }
            (Kind::Complex, Node::Sequence(parts)) if parts.len() == 2 => {
                Ok(Element::Bits(complex(dtype, one(&parts[0])?, one(&parts[1])?)))
            }
            (Kind::Complex, _) => {
                Err(self.wrong(node.defined, "the bits of a complex element are a pair [re, im]"))
            }
            _ => one(node).map(Element::Bits),
        }
    }
}

/// The dims of nested sequences along their first entries, down to a node that `is_element` accepts.
fn first_path(node: &Spanned<Node>, dims: &mut Vec<usize>, is_element: &dyn Fn(&Node) -> bool) {
    if let Node::Sequence(rows) = &node.value
        && !is_element(&node.value)
    {
        dims.push(rows.len());
        if let Some(first) = rows.first() {
            first_path(first, dims, is_element);
        }
    }
}

/// Whether a sequence is a single element: the `[re, im]` pair of a complex number's bits.
fn is_element(dtype: DType, notation: Notation, node: &Node) -> bool {
    let Node::Sequence(rows) = node else { return true };
    notation == Notation::Bits
        && dtype.kind() == Kind::Complex
        && rows.len() == 2
        && rows.iter().all(|part| matches!(part.value, Node::Scalar(_)))
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    digits.chunks_exact(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}
