//! A tensor as passed to a library: row-major and aligned, in a private copy, so that writes are detected.

use std::ffi::c_void;

use gather_spec::{DType, Element, Tensor};

use super::abi;

/// The memory of one tensor while a library uses it.
#[derive(Debug)]
pub(super) struct Operand<'a> {
    tensor: &'a Tensor,
    shape: Vec<i64>,
    /// The elements of any dtype but string. The type `u128` aligns them.
    data: Vec<u128>,
    /// The bytes of all strings.
    bytes: Vec<u8>,
    /// The position of each string.
    strings: Vec<abi::Text>,
}

impl<'a> Operand<'a> {
    pub(super) fn new(tensor: &'a Tensor) -> Self {
        // No dim of a tensor exceeds `isize::MAX`.
        let shape = tensor.shape().iter().map(|dim| dim.cast_signed() as i64).collect();
        let mut operand = Self { tensor, shape, data: Vec::new(), bytes: Vec::new(), strings: Vec::new() };
        match tensor.to_le_bytes() {
            Some(elements) => {
                operand.data.resize(elements.len().div_ceil(size_of::<u128>()), 0);
                bytemuck::cast_slice_mut(&mut operand.data)[..elements.len()].copy_from_slice(&elements);
            }
            None => operand.place_strings(),
        }
        operand
    }

    fn place_strings(&mut self) {
        self.bytes = bytes_of(self.tensor);
        let start = self.bytes.as_ptr();
        let mut at = 0;
        for element in self.tensor.iter() {
            let length = length_of(&element);
            self.strings.push(abi::Text { data: start.wrapping_add(at), length: length as u64 });
            at += length;
        }
    }

    /// The tensor as the library sees it. It must not outlive `self`.
    pub(super) fn descriptor(&self) -> abi::Tensor {
        let data: *const c_void = match self.tensor.dtype() {
            DType::String => self.strings.as_ptr().cast(),
            _ => self.data.as_ptr().cast(),
        };
        abi::Tensor {
            dtype: abi::dtype_number(self.tensor.dtype()),
            rank: u32::try_from(self.shape.len()).unwrap_or(u32::MAX),
            shape: self.shape.as_ptr(),
            data,
        }
    }

    /// Whether the library wrote to it.
    pub(super) fn was_changed(&self) -> bool {
        let fresh = Self::new(self.tensor);
        let places = |operand: &Self| -> Vec<(usize, u64)> {
            let start = operand.bytes.as_ptr().addr();
            operand.strings.iter().map(|text| (text.data.addr().wrapping_sub(start), text.length)).collect()
        };
        fresh.shape != self.shape
            || fresh.data != self.data
            || fresh.bytes != self.bytes
            || places(&fresh) != places(self)
    }
}

fn bytes_of(tensor: &Tensor) -> Vec<u8> {
    let mut bytes = Vec::new();
    for element in tensor.iter() {
        if let Element::Bytes(string) = element {
            bytes.extend_from_slice(string.as_bytes());
        }
    }
    bytes
}

fn length_of(element: &Element) -> usize {
    if let Element::Bytes(string) = element { string.as_bytes().len() } else { 0 }
}
