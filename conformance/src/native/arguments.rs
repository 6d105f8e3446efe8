//! A call as a library gets it: all that its structure points to, in memory of its own, so that a write to it is seen.

use std::ffi::CString;

use gather_spec::{Attribute, Call};

use super::abi;
use super::operand::Operand;

/// The memory of one call while a library looks at it.
#[derive(Debug)]
pub(super) struct Arguments<'a> {
    call: &'a Call,
    operator: Vec<u8>,
    names: Vec<Vec<u8>>,
    attributes: Vec<abi::Attribute>,
    params: Operand<'a>,
    indices: Operand<'a>,
    /// What the library gets.
    asked: abi::Call,
}

impl<'a> Arguments<'a> {
    /// Lays out a call.
    ///
    /// # Errors
    /// If a name holds a zero byte.
    pub(super) fn new(call: &'a Call) -> Result<Self, String> {
        let operator = text(call.operator.as_str())?;
        let names: Vec<Vec<u8>> = call.attributes.keys().map(|name| text(name)).collect::<Result<_, _>>()?;
        let attributes = attributes(call, &names);
        let (params, indices) = (Operand::new(&call.params), Operand::new(&call.indices));
        // What these point to stays where it is when the vectors move.
        let asked = describe(&operator, &attributes, &params, &indices);
        Ok(Self { call, operator, names, attributes, params, indices, asked })
    }

    /// What the library gets. It must not outlive this.
    pub(super) fn for_library(&mut self) -> *const abi::Call {
        // Writes are forbidden but looked for, so that the compiler must not assume that there are none.
        (&raw mut self.asked).cast_const()
    }

    /// What the library has written to, if anything.
    pub(super) fn changed(&self) -> Option<&'static str> {
        let fresh_names = self.call.attributes.keys();
        let same = |bytes: &[u8], name: &str| bytes.strip_suffix(b"\0") == Some(name.as_bytes());
        if self.asked != describe(&self.operator, &self.attributes, &self.params, &self.indices) {
            Some("the structure of the call")
        } else if self.params.was_changed() {
            Some("params")
        } else if self.indices.was_changed() {
            Some("indices")
        } else if !same(&self.operator, self.call.operator.as_str()) {
            Some("the name of the operator")
        } else if !self.names.iter().zip(fresh_names).all(|(bytes, name)| same(bytes, name)) {
            Some("the name of an attribute")
        } else if self.attributes != attributes(self.call, &self.names) {
            Some("an attribute")
        } else {
            None
        }
    }
}

fn text(text: &str) -> Result<Vec<u8>, String> {
    let text = CString::new(text).map_err(|_| format!("{text:?} holds a zero byte"))?;
    Ok(text.into_bytes_with_nul())
}

fn attributes(call: &Call, names: &[Vec<u8>]) -> Vec<abi::Attribute> {
    let one = |(name, value): (&Vec<u8>, &Attribute)| {
        let name = name.as_ptr().cast();
        match *value {
            Attribute::Boolean(value) => abi::Attribute { name, is_boolean: 1, value: value.into() },
            Attribute::Integer(value) => abi::Attribute { name, is_boolean: 0, value },
        }
    };
    names.iter().zip(call.attributes.values()).map(one).collect()
}

fn describe(
    operator: &[u8],
    attributes: &[abi::Attribute],
    params: &Operand<'_>,
    indices: &Operand<'_>,
) -> abi::Call {
    abi::Call {
        operator: operator.as_ptr().cast(),
        params: params.descriptor(),
        indices: indices.descriptor(),
        attributes: attributes.as_ptr(),
        attribute_count: attributes.len() as u64,
    }
}
