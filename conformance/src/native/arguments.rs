//! A call as passed to a library. Everything that the structure points to is a private copy, so that writes are detected.

use std::ffi::CString;
use std::ops::Range;

use gather_conformance::internals::layout::{Layout, view};
use gather_spec::call::Way;
use gather_spec::{Attribute, Attributes, Call, Operator, Tensor, Variant};

use super::abi;
use super::guarded::Guarded;
use super::operand::{OperandMemory, OperandSource};

/// A call, with operands that need not be in memory.
#[derive(Debug)]
pub(super) struct LibraryCall<'a> {
    pub(super) operator: &'a Operator,
    pub(super) operands: Vec<(&'a str, OperandSource<'a>)>,
    pub(super) attributes: &'a Attributes,
    pub(super) variant: &'a Variant,
}

impl<'a> From<&'a Call> for LibraryCall<'a> {
    fn from(call: &'a Call) -> Self {
        let operands =
            call.operands.iter().map(|(name, tensor)| (name, OperandSource::Tensor(tensor))).collect();
        Self { operator: &call.operator, operands, attributes: &call.attributes, variant: &call.variant }
    }
}

/// The memory of one call while a library uses it.
#[derive(Debug)]
pub(super) struct Arguments<'a> {
    call: LibraryCall<'a>,
    texts: CallTexts,
    operands: Vec<OperandMemory>,
    elements: Vec<OperandMemory>,
    /// The structure passed to the library, and the two arrays that it points to.
    asked: abi::Call,
    listed_operands: Vec<abi::Operand>,
    listed_elements: Vec<abi::Tensor>,
    attributes: Vec<abi::Attribute>,
}

/// The texts and integer lists of a call. CallTexts are zero-terminated.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CallTexts {
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
    pub(super) fn new(call: LibraryCall<'a>, texts: CallTexts) -> Result<Self, String> {
        let operands = lay_out(&call)?;
        // Moving the vectors does not move their heap memory, which the pointers refer to.
        let listed_operands = list_operands(&texts, &operands);
        let elements = call.attributes.iter().filter_map(|(name, value)| Some((name, element(value)?)));
        let elements: Vec<OperandMemory> = elements
            .map(|(name, tensor)| {
                OperandMemory::new(name, &OperandSource::Tensor(tensor), Layout::Contiguous)
            })
            .collect::<Result<_, _>>()?;
        let listed_elements: Vec<abi::Tensor> = elements.iter().map(OperandMemory::descriptor).collect();
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
        let overlaps = |operand: &OperandMemory| {
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
        let fresh = CallTexts::of(&self.call).ok()?;
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
            || !self.elements.iter().map(OperandMemory::descriptor).eq(self.listed_elements.iter().copied())
            || self.elements.iter().any(OperandMemory::was_changed)
        {
            "an attribute"
        } else {
            return None;
        };
        Some(what.to_owned())
    }
}

impl CallTexts {
    /// The texts of a call.
    ///
    /// # Errors
    /// If one holds a zero byte.
    pub(super) fn of(call: &LibraryCall<'_>) -> Result<Self, String> {
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

/// The operands of a call, as its variant lays them out.
fn lay_out(call: &LibraryCall<'_>) -> Result<Vec<OperandMemory>, String> {
    let has_views = call.variant.iter().any(|(_, way)| way == Way::View);
    let mut operands: Vec<OperandMemory> = Vec::new();
    // What later operands may be views of, with its place.
    let mut earlier: Vec<(usize, Tensor)> = Vec::new();
    for (name, source) in &call.operands {
        let way = call.variant.of(name);
        let found = match source {
            OperandSource::Tensor(tensor) if way == Some(Way::View) => {
                earlier.iter().find_map(|(at, of)| Some(operands[*at].view(&view(of, tensor)?)))
            }
            _ => None,
        };
        let layout = way.and_then(Layout::of).unwrap_or(Layout::Contiguous);
        if let (None, true, OperandSource::Tensor(tensor)) = (&found, has_views, source)
            && let Ok(laid_out) = layout.tensor(tensor)
        {
            earlier.push((operands.len(), laid_out));
        }
        operands.push(match found {
            Some(operand) => operand,
            None => OperandMemory::new(name, source, layout)?,
        });
    }
    Ok(operands)
}

fn text(text: &str) -> Result<Vec<u8>, String> {
    let text = CString::new(text).map_err(|_| format!("{text:?} holds a zero byte"))?;
    Ok(text.into_bytes_with_nul())
}

fn list_operands(texts: &CallTexts, operands: &[OperandMemory]) -> Vec<abi::Operand> {
    let one = |(name, operand): (&Vec<u8>, &OperandMemory)| abi::Operand {
        name: name.as_ptr().cast(),
        tensor: operand.descriptor(),
    };
    texts.operands.iter().zip(operands).map(one).collect()
}

/// The tensor of an element attribute.
fn element(value: &Attribute) -> Option<&Tensor> {
    if let Attribute::Element(element) = value { Some(&**element) } else { None }
}

fn list_attributes(
    attributes: &Attributes,
    texts: &CallTexts,
    elements: &[abi::Tensor],
) -> Vec<abi::Attribute> {
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

fn describe(texts: &CallTexts, operands: &[abi::Operand], attributes: &[abi::Attribute]) -> abi::Call {
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

#[cfg(test)]
mod tests {
    use gather_spec::DType;

    use super::*;

    #[test]
    fn a_view_lies_in_the_memory_of_an_earlier_operand() {
        let table = Tensor::new(DType::I64, [3], vec![0u64, 1, 2]).unwrap();
        let tail = Tensor::new(DType::I64, [2], vec![1u64, 2]).unwrap();
        for (variant, stride) in [("indices=view", None), ("a=reversed,indices=view", Some(-1))] {
            let call = Call {
                operator: Operator::new("numpy.take"),
                operands: [("a", table.clone()), ("indices", tail.clone())].into(),
                attributes: Attributes::default(),
                variant: variant.parse().unwrap(),
            };
            let request = LibraryCall::from(&call);
            let texts = CallTexts::of(&request).unwrap();
            let arguments = Arguments::new(request, texts).unwrap();
            let [of, view] = [0, 1].map(|at| arguments.listed_operands[at].tensor);
            let step = stride.unwrap_or(1) * size_of::<i64>().cast_signed();
            assert_eq!(view.data.addr().wrapping_sub(of.data.addr()).cast_signed(), step, "{variant}");
            assert_eq!(view.strides.is_null(), stride.is_none(), "{variant}");
            assert_eq!(arguments.operands[1].memory().count(), 1);
            assert_eq!(arguments.changed(), None);
        }
    }
}
