//! A call as passed to a library. Everything that the structure points to is a private copy, so that writes are detected.

use std::ffi::CString;
use std::ops::Range;

use gather_conformance::internals::layout::Layout;
use gather_spec::{Attribute, Attributes, Call, Operator, Tensor, Variant};

use super::abi;
use super::guarded::Guarded;
use super::operand::{Operand, Source};

/// A call, with operands that need not be in memory.
#[derive(Debug)]
pub(super) struct Request<'a> {
    pub(super) operator: &'a Operator,
    pub(super) operands: Vec<(&'a str, Source<'a>)>,
    pub(super) attributes: &'a Attributes,
    pub(super) variant: &'a Variant,
}

impl<'a> From<&'a Call> for Request<'a> {
    fn from(call: &'a Call) -> Self {
        let operands = call.operands.iter().map(|(name, tensor)| (name, Source::Tensor(tensor))).collect();
        Self { operator: &call.operator, operands, attributes: &call.attributes, variant: &call.variant }
    }
}

/// The memory of one call while a library uses it.
#[derive(Debug)]
pub(super) struct Arguments<'a> {
    call: Request<'a>,
    texts: Texts,
    operands: Vec<Operand>,
    elements: Vec<Operand>,
    /// The structure passed to the library, and the two arrays that it points to.
    asked: abi::Call,
    listed_operands: Vec<abi::Operand>,
    listed_elements: Vec<abi::Tensor>,
    attributes: Vec<abi::Attribute>,
}

/// The texts and integer lists of a call. Texts are zero-terminated.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Texts {
    operator: Vec<u8>,
    operands: Vec<Vec<u8>>,
    attributes: Vec<Vec<u8>>,
    /// The values of text attributes; empty for all others.
    values: Vec<Vec<u8>>,
    /// The values of list attributes; empty for all others.
    lists: Vec<Vec<i64>>,
    /// Empty for the usual variant.
    variant: Vec<u8>,
}

impl<'a> Arguments<'a> {
    /// Lays out a call.
    ///
    /// # Errors
    /// If there is no memory for an operand.
    pub(super) fn new(call: Request<'a>, texts: Texts) -> Result<Self, String> {
        let operands = call
            .operands
            .iter()
            .map(|(name, source)| Operand::new(name, source, layout_of(call.variant, name)));
        let operands: Vec<Operand> = operands.collect::<Result<_, _>>()?;
        // Moving the vectors does not move their heap memory, which the pointers refer to.
        let listed_operands = list_operands(&texts, &operands);
        let elements = call.attributes.iter().filter_map(|(name, value)| Some((name, element(value)?)));
        let elements: Vec<Operand> = elements
            .map(|(name, tensor)| Operand::new(name, &Source::Tensor(tensor), Layout::Contiguous))
            .collect::<Result<_, _>>()?;
        let listed_elements: Vec<abi::Tensor> = elements.iter().map(Operand::descriptor).collect();
        let attributes = list_attributes(call.attributes, &texts, &listed_elements);
        let asked = describe(&texts, &listed_operands, &attributes);
        Ok(Self { call, texts, operands, elements, asked, listed_operands, listed_elements, attributes })
    }

    /// The pointer for the library. It must not outlive `self`.
    pub(super) fn for_library(&mut self) -> *const abi::Call {
        // Writes are forbidden but checked for, so the compiler must not assume that there are none.
        (&raw mut self.asked).cast_const()
    }

    /// The name of the operand or attribute that holds one of these addresses.
    pub(super) fn holder(&self, addresses: &Range<usize>) -> Option<&str> {
        let overlaps = |operand: &Operand| {
            let mut memory = operand.memory().map(Guarded::addresses);
            memory.any(|own| own.start < addresses.end && addresses.start < own.end)
        };
        let mut named = self.operands.iter().zip(&self.call.operands);
        match named.find(|(operand, _)| overlaps(operand)) {
            Some((_, (name, _))) => Some(name),
            None => self.elements.iter().any(overlaps).then_some("an attribute"),
        }
    }

    /// The name of what the library wrote to, if anything.
    pub(super) fn changed(&self) -> Option<String> {
        if self.asked != describe(&self.texts, &self.listed_operands, &self.attributes)
            || self.listed_operands != list_operands(&self.texts, &self.operands)
        {
            return Some("the structure of the call".to_owned());
        }
        let mut named = self.operands.iter().zip(self.call.operands.iter());
        if let Some((_, (name, _))) = named.find(|(operand, _)| operand.was_changed()) {
            return Some((*name).to_owned());
        }
        // This succeeded when the arguments were laid out, so it succeeds again.
        let fresh = Texts::of(&self.call).ok()?;
        let what = if fresh.operator != self.texts.operator {
            "the name of the operator"
        } else if fresh.variant != self.texts.variant {
            "the variant"
        } else if fresh.operands != self.texts.operands {
            "the name of an operand"
        } else if fresh.attributes != self.texts.attributes {
            "the name of an attribute"
        } else if fresh != self.texts
            || self.attributes != list_attributes(self.call.attributes, &self.texts, &self.listed_elements)
            || !self.elements.iter().map(Operand::descriptor).eq(self.listed_elements.iter().copied())
            || self.elements.iter().any(Operand::was_changed)
        {
            "an attribute"
        } else {
            return None;
        };
        Some(what.to_owned())
    }
}

impl Texts {
    /// The texts of a call.
    ///
    /// # Errors
    /// If one holds a zero byte.
    pub(super) fn of(call: &Request<'_>) -> Result<Self, String> {
        let value = |value: &Attribute| match value {
            Attribute::String(value) => text(value),
            _ => Ok(Vec::new()),
        };
        let list = |value: &Attribute| match value {
            Attribute::Integers(values) => values.clone(),
            _ => Vec::new(),
        };
        Ok(Self {
            operator: text(call.operator.as_str())?,
            operands: call.operands.iter().map(|(name, _)| text(name)).collect::<Result<_, _>>()?,
            attributes: call.attributes.keys().map(|name| text(name)).collect::<Result<_, _>>()?,
            values: call.attributes.values().map(value).collect::<Result<_, _>>()?,
            lists: call.attributes.values().map(list).collect(),
            variant: if call.variant.is_usual() { Vec::new() } else { text(&call.variant.to_string())? },
        })
    }
}

/// The layout of an operand in a variant.
fn layout_of(variant: &Variant, operand: &str) -> Layout {
    variant.of(operand).and_then(Layout::of).unwrap_or(Layout::Contiguous)
}

fn text(text: &str) -> Result<Vec<u8>, String> {
    let text = CString::new(text).map_err(|_| format!("{text:?} holds a zero byte"))?;
    Ok(text.into_bytes_with_nul())
}

fn list_operands(texts: &Texts, operands: &[Operand]) -> Vec<abi::Operand> {
    let one = |(name, operand): (&Vec<u8>, &Operand)| abi::Operand {
        name: name.as_ptr().cast(),
        tensor: operand.descriptor(),
    };
    texts.operands.iter().zip(operands).map(one).collect()
}

/// The tensor of an element attribute.
fn element(value: &Attribute) -> Option<&Tensor> {
    if let Attribute::Element(element) = value { Some(&**element) } else { None }
}

fn list_attributes(attributes: &Attributes, texts: &Texts, elements: &[abi::Tensor]) -> Vec<abi::Attribute> {
    let mut elements = elements.iter();
    let one = |(at, value): (usize, &Attribute)| {
        let blank = abi::Attribute::blank(texts.attributes[at].as_ptr().cast());
        match value {
            Attribute::Null => blank,
            Attribute::Boolean(value) => {
                abi::Attribute { kind: abi::BOOLEAN, integer: i64::from(*value), ..blank }
            }
            Attribute::Integer(value) => abi::Attribute { kind: abi::INTEGER, integer: *value, ..blank },
            Attribute::Float(value) => abi::Attribute { kind: abi::FLOAT, number: value.get(), ..blank },
            Attribute::String(_) => {
                abi::Attribute { kind: abi::TEXT, text: texts.values[at].as_ptr().cast(), ..blank }
            }
            Attribute::Integers(_) => {
                let list = &texts.lists[at];
                let integer_count = list.len() as u64;
                abi::Attribute { kind: abi::INTEGERS, integers: list.as_ptr(), integer_count, ..blank }
            }
            Attribute::Element(_) => {
                let element = elements.next().map_or(std::ptr::null(), std::ptr::from_ref);
                abi::Attribute { kind: abi::ELEMENT, element, ..blank }
            }
        }
    };
    attributes.values().enumerate().map(one).collect()
}

fn describe(texts: &Texts, operands: &[abi::Operand], attributes: &[abi::Attribute]) -> abi::Call {
    abi::Call {
        struct_size: size_of::<abi::Call>() as u64,
        operator: texts.operator.as_ptr().cast(),
        operands: operands.as_ptr(),
        operand_count: operands.len() as u64,
        attributes: attributes.as_ptr(),
        attribute_count: attributes.len() as u64,
        variant: if texts.variant.is_empty() { std::ptr::null() } else { texts.variant.as_ptr().cast() },
    }
}
