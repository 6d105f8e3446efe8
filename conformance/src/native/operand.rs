//! A tensor as passed to a library: in the layout of the variant, aligned for its elements and no better, in memory that is
//! watched for writes.

use std::fs::File;
use std::io;
use std::rc::Rc;

use gather_conformance::internals::layout::Layout;
use gather_spec::{DType, Element, Shape, Tensor};

use super::abi;
use super::guarded::Guarded;

/// Where the elements of an operand come from.
#[derive(Debug)]
pub(super) enum OperandSource<'a> {
    /// From memory: they are copied.
    Tensor(&'a Tensor),
    /// From a file, too large to be copied.
    File { dtype: DType, shape: &'a [usize], file: File, offset: u64, length: usize },
}

/// The dims and the strides of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DimsAndStrides {
    shape: Vec<i64>,
    strides: Option<Vec<i64>>,
}

/// The memory of one tensor while a library uses it.
#[derive(Debug)]
pub(super) struct OperandMemory {
    dtype: DType,
    /// The dims for the library and, unless it is row-major without gaps, its strides.
    dims: DimsAndStrides,
    /// What was passed.
    passed: DimsAndStrides,
    /// Shared by an operand and its views.
    data: Rc<Guarded>,
    /// The bytes before its first element.
    offset: usize,
    /// The bytes of all strings; `data` has the position of each.
    bytes: Option<Rc<Guarded>>,
}

impl OperandMemory {
    /// Lays out an operand.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub(super) fn new(name: &str, source: &OperandSource<'_>, layout: Layout) -> Result<Self, String> {
        let no_layout =
            |error: &dyn std::fmt::Display| format!("{name} cannot be laid out for the library: {error}");
        let laid_out = match source {
            OperandSource::Tensor(tensor) if layout != Layout::Contiguous => {
                let tensor = layout.tensor(tensor).map_err(|error| no_layout(&error))?;
                Self::with_strides(name, &tensor)
            }
            OperandSource::Tensor(tensor) => Self::of_tensor(name, tensor),
            // One that is too large to be copied stays as it is.
            OperandSource::File { dtype, shape, file, offset, length } => {
                Guarded::map(name, file, *offset, *length).map(|data| Self::of(*dtype, shape, data, None))
            }
        };
        laid_out.map_err(|error| no_layout(&error))
    }

    /// A tensor with its strides: all of its memory, with the garbage around its elements.
    fn with_strides(name: &str, tensor: &Tensor) -> io::Result<Self> {
        let (stored, dtype) = (tensor.stored(), tensor.dtype());
        let whole = Shape::new([stored.len()]).map_err(io::Error::other)?;
        let whole = Tensor::strided(dtype, whole, vec![1], 0, stored.clone()).map_err(io::Error::other)?;
        let laid_out = Self::of_tensor(name, &whole)?;
        let strides = tensor.strides().iter().map(|stride| *stride as i64).collect();
        let dims = DimsAndStrides { shape: signed(tensor.shape()), strides: Some(strides) };
        let offset = tensor.offset() * dtype.size();
        Ok(Self { passed: dims.clone(), dims, offset, ..laid_out })
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
        let dims = DimsAndStrides { shape: signed(shape), strides: None };
        Self { dtype, passed: dims.clone(), dims, data: Rc::new(data), offset: 0, bytes: bytes.map(Rc::new) }
    }

    /// An operand in the same memory: a view of the tensor as it is laid out here.
    pub(super) fn view(&self, view: &Tensor) -> Self {
        let strides = view.strides().iter().map(|stride| *stride as i64).collect();
        let dims = DimsAndStrides {
            shape: signed(view.shape()),
            strides: self.dims.strides.is_some().then_some(strides),
        };
        Self {
            dtype: self.dtype,
            passed: dims.clone(),
            dims,
            data: Rc::clone(&self.data),
            offset: view.offset() * view.dtype().size(),
            bytes: self.bytes.clone(),
        }
    }

    /// The tensor as the library sees it. It must not outlive `self`.
    pub(super) fn descriptor(&self) -> abi::Tensor {
        abi::Tensor {
            dtype: abi::dtype_number(self.dtype),
            rank: u32::try_from(self.dims.shape.len()).unwrap_or(u32::MAX),
            shape: self.dims.shape.as_ptr(),
            data: self.data.start().wrapping_add(self.offset).cast(),
            strides: self.dims.strides.as_ref().map_or(std::ptr::null(), Vec::as_ptr),
        }
    }

    /// Whether the library wrote to it.
    pub(super) fn was_changed(&self) -> bool {
        self.dims != self.passed || self.memory().any(Guarded::was_written)
    }

    /// All memory with elements.
    pub(super) fn memory(&self) -> impl Iterator<Item = &Guarded> {
        std::iter::once(&self.data).chain(&self.bytes).map(|memory| &**memory)
    }
}

/// DimsAndStrides as the header has them. No dim of a tensor exceeds `isize::MAX`.
fn signed(shape: &[usize]) -> Vec<i64> {
    shape.iter().map(|dim| dim.cast_signed() as i64).collect()
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
