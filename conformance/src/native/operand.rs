//! A tensor as passed to a library: row-major, aligned for its elements and no better, in memory that is watched for writes.

use std::fs::File;
use std::io;

use gather_spec::{DType, Element, Tensor};

use super::abi;
use super::guarded::Guarded;

/// Where the elements of an operand come from.
#[derive(Debug)]
pub(super) enum Source<'a> {
    /// From memory: they are copied.
    Tensor(&'a Tensor),
    /// From a file, too large to be copied.
    File { dtype: DType, shape: &'a [usize], file: File, offset: u64, length: usize },
}

/// The memory of one tensor while a library uses it.
#[derive(Debug)]
pub(super) struct Operand {
    dtype: DType,
    /// The dims for the library, and those that were passed.
    shape: Vec<i64>,
    passed: Vec<i64>,
    data: Guarded,
    /// The bytes of all strings; `data` has the position of each.
    bytes: Option<Guarded>,
}

impl Operand {
    /// Lays out an operand.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub(super) fn new(name: &str, source: &Source<'_>) -> Result<Self, String> {
        let laid_out = match source {
            Source::Tensor(tensor) => Self::of_tensor(name, tensor),
            Source::File { dtype, shape, file, offset, length } => {
                Guarded::map(name, file, *offset, *length).map(|data| Self::of(*dtype, shape, data, None))
            }
        };
        laid_out.map_err(|error| format!("{name} cannot be laid out for the library: {error}"))
    }

    fn of_tensor(name: &str, tensor: &Tensor) -> io::Result<Self> {
        let (dtype, align) = (tensor.dtype(), abi::alignment(tensor.dtype()));
        let (data, bytes) = match tensor.to_le_bytes() {
            Some(elements) => (Guarded::copy(name, &elements, align)?, None),
            None => {
                let bytes = Guarded::copy(name, &bytes_of(tensor), 1)?;
                (Guarded::copy(name, &positions(tensor, bytes.start()), align)?, Some(bytes))
            }
        };
        Ok(Self::of(dtype, tensor.shape(), data, bytes))
    }

    fn of(dtype: DType, shape: &[usize], data: Guarded, bytes: Option<Guarded>) -> Self {
        // No dim of a tensor exceeds `isize::MAX`.
        let shape: Vec<i64> = shape.iter().map(|dim| dim.cast_signed() as i64).collect();
        Self { dtype, passed: shape.clone(), shape, data, bytes }
    }

    /// The tensor as the library sees it. It must not outlive `self`.
    pub(super) fn descriptor(&self) -> abi::Tensor {
        abi::Tensor {
            dtype: abi::dtype_number(self.dtype),
            rank: u32::try_from(self.shape.len()).unwrap_or(u32::MAX),
            shape: self.shape.as_ptr(),
            data: self.data.start().cast(),
            strides: std::ptr::null(),
        }
    }

    /// Whether the library wrote to it.
    pub(super) fn was_changed(&self) -> bool {
        self.shape != self.passed || self.memory().any(Guarded::was_written)
    }

    /// All memory with elements.
    pub(super) fn memory(&self) -> impl Iterator<Item = &Guarded> {
        std::iter::once(&self.data).chain(&self.bytes)
    }
}

/// The handles of strings whose bytes lie one after the other from `start` on.
fn positions(tensor: &Tensor, start: *const u8) -> Vec<u8> {
    let mut handles = Vec::new();
    let mut at = 0;
    for element in tensor.iter() {
        let length = length_of(&element);
        handles.extend_from_slice(&start.wrapping_add(at).expose_provenance().to_ne_bytes());
        // Where pointers are shorter, there may be a gap.
        handles.resize(handles.len().next_multiple_of(align_of::<u64>()), 0);
        handles.extend_from_slice(&(length as u64).to_ne_bytes());
        at += length;
    }
    handles
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
