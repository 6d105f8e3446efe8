//! Reads tensors of case files: nested data, bits and fills, checked element by element.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use crate::any;
use crate::diagnostic::{Diagnostic, Quoted};
use crate::shape::MAX_RANK;
use crate::tensor::{Sparse, StorageId};
use crate::yaml::{Node, Spanned, Text};
use crate::{DType, Element, Shape, Tensor};

use super::closed_form::PLACES;
use super::dtypes::Written;
use super::elements::Notation;
use super::filled::Placeholder;
use super::grid::GridPoint;
use super::raw::TensorEntry;
use super::sizes::Sizes;

/// The most elements of a tensor in a case file.
pub(super) const MAX_ELEMENTS: usize = 1 << 24;

/// The limit on the stored elements of all tensors of a file, in bytes. A constant fill stores one element.
const MAX_STORED_BYTES: usize = 64 << 20;

/// The same limit for a file of large cases.
const MAX_STORED_BYTES_LARGE: usize = 256 << 20;

/// The name of files with large cases. Each form has one.
const LARGE: &str = "large.yaml";

/// The estimated cost of a stored string in bytes: its handle, its reference count, and an allocation.
const STRING_BYTES: usize = 64;

/// Reads the tensors of one file within the file's memory budget.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) text: Text<'a>,
    pub(super) shared: &'a Shared,
    /// The values of named sizes.
    pub(super) sizes: &'a Sizes,
    /// Whether tensors may have any number of elements, provided that few are stored.
    pub(super) large: bool,
    /// What the word `fill` stands for, which is allowed in outputs only; see [`Placeholder`].
    pub(super) placeholder: Option<Placeholder>,
    /// Whether the call sends its own fill value.
    pub(super) sends_fill: bool,
}

/// A cache key: position, dtype, sizes, and the meaning of `fill`.
type Reading = (serde_yaml::Location, DType, Sizes, Option<Placeholder>);

/// What the cases of a file share.
#[derive(Default)]
pub(super) struct Shared {
    stored: Cell<usize>,
    /// Tensors by position, dtype and sizes, so that all operators of a family share them.
    read: RefCell<HashMap<Reading, Tensor>>,
    /// The numbers of closed forms, by dtype and modulo.
    pub(super) numbers: RefCell<HashMap<(DType, Option<i128>), Tensor>>,
    /// Numbers under `any`, each with its elements in a dtype.
    elements: RefCell<HashMap<(StorageId, DType), (Tensor, Tensor)>>,
    /// The expansion of the `for-each` at a position.
    pub(super) grids: RefCell<HashMap<serde_yaml::Location, Rc<[GridPoint]>>>,
}

/// For cases without named sizes.
static NO_SIZES: Sizes = Sizes::new(Vec::new());

impl<'a> Reader<'a> {
    pub(super) fn new(text: Text<'a>, shared: &'a Shared) -> Self {
        Self {
            text,
            shared,
            sizes: &NO_SIZES,
            large: is_large(text.file),
            placeholder: None,
            sends_fill: false,
        }
    }

    /// Sets the values of named sizes.
    pub(super) const fn with_sizes<'s>(self, sizes: &'s Sizes) -> Reader<'s>
    where
        'a: 's,
    {
        Reader { sizes, ..self }
    }

    /// Reads a number, in which named sizes may occur.
    pub(super) fn number(&self, node: &'a Spanned<Node>) -> Result<i128, Diagnostic> {
        let text = self.text.scalar(node).unwrap_or_default();
        if let Some(placeholder) = self.placeholder(node) {
            return Ok(placeholder.number());
        }
        let plain = text.strip_prefix('-').unwrap_or(text);
        if self.sizes.is_empty() && (plain.is_empty() || !plain.bytes().all(|b| b.is_ascii_digit())) {
            let found = if text.is_empty() { node.value.kind().to_owned() } else { Quoted(text).to_string() };
            return Err(self.wrong(node.defined, format!("{found} is no whole number")));
        }
        let wrong = |why| self.wrong(node.defined, format!("{} is no number: {why}", Quoted(text)));
        self.sizes.number(text).map_err(wrong)
    }

    /// Reads a number that must not be negative, such as a coordinate.
    pub(super) fn count_of(&self, node: &'a Spanned<Node>) -> Result<usize, Diagnostic> {
        let number = self.number(node)?;
        usize::try_from(number).map_err(|_| {
            let message = format!("{number} is written where no number is below 0 or above 2^63 - 1");
            self.wrong(node.defined, message)
        })
    }

    /// Reads the params of a case.
    pub(super) fn params(
        &self,
        dtype: &Written,
        entry: &'a TensorEntry,
        at: serde_yaml::Location,
    ) -> Result<Tensor, Diagnostic> {
        self.values(dtype, at, |dtype| self.tensor(dtype, entry, at))
    }

    /// Reads sparse params, which are zero except in some places. They need a fixed dtype.
    pub(super) fn sparse(
        &self,
        dtype: &Written,
        entry: &'a TensorEntry,
    ) -> Result<Option<Sparse>, Diagnostic> {
        let (Some(fill), Some(shape)) = (&entry.fill, &entry.shape) else { return Ok(None) };
        let Node::Mapping(entries) = &fill.value else { return Ok(None) };
        match dtype {
            _ if !entries.iter().any(|(name, _)| name.value == PLACES) => Ok(None),
            Written::Named(dtype) => {
                self.places(*dtype, &self.shape(shape)?, fill.defined, entries).map(Some)
            }
            Written::Any(_) => Err(self
                .wrong(fill.defined, "`places` under `dtype: any`")
                .help("name a dtype: memory is asked for by its size")),
        }
    }

    /// Reads the output of a case: nested data, or a mapping like that of an operand, without a dtype.
    pub(super) fn output(&self, dtype: &Written, node: &'a Spanned<Node>) -> Result<Tensor, Diagnostic> {
        let reader = Self { placeholder: Some(Placeholder::Zero), ..*self };
        self.values(dtype, node.defined, |dtype| reader.output_of(dtype, node))
    }

    /// Reads a tensor with a fixed dtype, or one under `any`: then the numbers are read, and converted to its first dtype. The
    /// tensor must be possible in all the other dtypes as well.
    fn values(
        &self,
        dtype: &Written,
        at: serde_yaml::Location,
        read: impl Fn(DType) -> Result<Tensor, Diagnostic>,
    ) -> Result<Tensor, Diagnostic> {
        let open = match dtype {
            Written::Named(dtype) => return self.once(*dtype, at, || read(*dtype)),
            Written::Any(open) => open,
        };
        let values = self.once(open[0], at, || {
            let numbers = read(any::NUMBERS).map_err(|wrong| {
                wrong.or_help("the elements of a tensor of dtype `any` are whole numbers from 0 to 255")
            })?;
            self.check_widest(open, numbers.shape(), at)?;
            // They may later be read as strings, but only one dtype is stored at a time.
            self.check_stored(numbers.stored_count().saturating_mul(STRING_BYTES), at)?;
            self.elements_of(&numbers, open[0], at)
        })?;
        self.check_widest(open, values.shape(), at)?;
        Ok(values)
    }

    /// Converts numbers under `any` to a dtype. Tensors that share numbers will share elements.
    fn elements_of(
        &self,
        numbers: &Tensor,
        dtype: DType,
        at: serde_yaml::Location,
    ) -> Result<Tensor, Diagnostic> {
        let bad = |error: crate::TensorError| self.wrong(at, error.to_string());
        let id = numbers.storage_id();
        let Some(held) = self.shared.numbers.borrow().values().find(|held| held.storage_id() == id).cloned()
        else {
            self.spend(numbers.stored_count().saturating_mul(stored_size(dtype)), at)?;
            return any::values_as(numbers, dtype).map_err(bad);
        };
        let known = self.shared.elements.borrow().get(&(id, dtype)).map(|(_, elements)| elements.clone());
        let elements = match known {
            Some(elements) => elements,
            None => {
                self.spend(held.stored_count().saturating_mul(stored_size(dtype)), at)?;
                let elements = any::values_as(&held, dtype).map_err(bad)?;
                self.shared.elements.borrow_mut().insert((id, dtype), (held, elements.clone()));
                elements
            }
        };
        elements.window(numbers.shape().clone(), numbers.strides().to_vec(), numbers.offset()).map_err(bad)
    }

    /// Reads the tensor at a position, or returns it from the cache.
    pub(super) fn once(
        &self,
        dtype: DType,
        at: serde_yaml::Location,
        make: impl FnOnce() -> Result<Tensor, Diagnostic>,
    ) -> Result<Tensor, Diagnostic> {
        let key = (at, dtype, self.sizes.clone(), self.placeholder);
        if let Some(tensor) = self.shared.read.borrow().get(&key) {
            return Ok(tensor.clone());
        }
        let tensor = make()?;
        self.shared.read.borrow_mut().insert(key, tensor.clone());
        Ok(tensor)
    }

    /// Reads the indices of a case. They must be possible in every dtype of `any`.
    pub(super) fn indices(
        &self,
        dtype: &Written,
        entry: &'a TensorEntry,
        at: serde_yaml::Location,
    ) -> Result<Tensor, Diagnostic> {
        let indices = self.once(dtype.dtype(), at, || self.tensor(dtype.dtype(), entry, at))?;
        if let Written::Any(open) = dtype {
            self.check_widest(open, indices.shape(), at)?;
        }
        Ok(indices)
    }

    /// Checks that a shape is possible in the widest of some dtypes.
    fn check_widest(
        &self,
        open: &[DType],
        shape: &Shape,
        at: serde_yaml::Location,
    ) -> Result<(), Diagnostic> {
        let widest = open.iter().copied().max_by_key(|dtype| dtype.size()).unwrap_or(open[0]);
        match Tensor::filled(widest, shape.clone(), &Element::zero(widest)) {
            Ok(_) => Ok(()),
            Err(error) => Err(self
                .wrong(at, error.to_string())
                .help("`any` stands for all of its dtypes: make the shape smaller, or name a dtype")),
        }
    }

    /// Reads a tensor. `at` is its position in the file.
    pub(super) fn tensor(
        &self,
        dtype: DType,
        entry: &'a TensorEntry,
        at: serde_yaml::Location,
    ) -> Result<Tensor, Diagnostic> {
        let (data, bits, fill) = (entry.data.as_ref(), entry.bits.as_ref(), entry.fill.as_ref());
        self.written(dtype, entry.shape.as_ref(), [data, bits, fill], at)
    }

    pub(super) fn output_of(&self, dtype: DType, node: &'a Spanned<Node>) -> Result<Tensor, Diagnostic> {
        let Node::Mapping(entries) = &node.value else {
            return self.nested(dtype, None, node, Notation::Data);
        };
        let get = |key: &str| entries.iter().find(|(name, _)| name.value == key).map(|(_, value)| value);
        if get("re").or(get("im")).or(get("hex")).is_some() {
            return self.nested(dtype, None, node, Notation::Data);
        }
        if let Some((name, _)) =
            entries.iter().find(|(name, _)| !["shape", "data", "bits", "fill"].contains(&&*name.value))
        {
            return Err(self
                .wrong(name.defined, format!("unknown key {} in an output", Quoted(&name.value)))
                .help("an output has `shape`, `data`, `bits` or `fill`; its dtype is that of params"));
        }
        self.written(dtype, get("shape"), [get("data"), get("bits"), get("fill")], node.defined)
    }

    /// Reads a tensor from its shape, if given, and exactly one of data, bits and fill.
    fn written(
        &self,
        dtype: DType,
        shape: Option<&'a Spanned<Node>>,
        forms: [Option<&'a Spanned<Node>>; 3],
        at: serde_yaml::Location,
    ) -> Result<Tensor, Diagnostic> {
        let dims = shape.map(|shape| self.shape(shape)).transpose()?;
        match (forms, shape, dims) {
            ([Some(data), None, None], _, dims) => self.nested(dtype, dims, data, Notation::Data),
            ([None, Some(bits), None], _, dims) => self.nested(dtype, dims, bits, Notation::Bits),
            ([None, None, Some(fill)], Some(shape), Some(dims)) => self.fill(dtype, dims, shape.defined, fill),
            ([None, None, Some(_)], ..) => {
                Err(self.wrong(at, "`fill` needs a `shape`").help("add `shape: [2, 3]`, say"))
            }
            _ => Err(self
                .wrong(at, "a tensor has exactly one of `data`, `bits` and `fill`")
                .help("`data: [[1, 2], [3, 4]]`, or `shape: [2, 0]` with `data: []`, or `shape: [2, 3]` with `fill: iota`")),
        }
    }

    /// Reads a single element: `{ element: 7 }`, or `{ bits: 0x7fc00001 }` for its exact bits.
    pub(super) fn single(&self, dtype: &Written, node: &'a Spanned<Node>) -> Result<Tensor, Diagnostic> {
        let wrong = |message: &str| {
            Err(self.wrong(node.defined, message).help("such as `{ element: 7 }` or `{ bits: 0x7fc00001 }`"))
        };
        let (value, notation) = match &node.value {
            Node::Mapping(entries) => match entries.as_slice() {
                [(name, value)] if name.value == "element" => (value, Notation::Data),
                [(name, value)] if name.value == "bits" => (value, Notation::Bits),
                _ => return wrong("an element has `element` or `bits`, and nothing else"),
            },
            _ => return wrong("an element is a mapping"),
        };
        let read = |dtype| self.nested(dtype, None, value, notation);
        let element = self.values(dtype, node.defined, read)?;
        if element.rank() == 0 { Ok(element) } else { wrong("an element is no list") }
    }

    /// Reads a shape.
    pub(super) fn shape(&self, node: &'a Spanned<Node>) -> Result<Shape, Diagnostic> {
        let Node::Sequence(dims) = &node.value else {
            return Err(self
                .wrong(node.defined, format!("a shape is a sequence of dims, not {}", node.value.kind()))
                .help("such as [2, 3]; [] is the shape of a single element"));
        };
        if dims.len() > MAX_RANK {
            let message = format!("{} dims; a tensor has at most {MAX_RANK}", dims.len());
            return Err(self.wrong(node.defined, message));
        }
        let dims: Vec<usize> = dims.iter().map(|dim| self.dim(dim)).collect::<Result<_, _>>()?;
        Shape::new(dims).map_err(|error| self.wrong(node.defined, error.to_string()))
    }

    fn dim(&self, node: &'a Spanned<Node>) -> Result<usize, Diagnostic> {
        if !self.sizes.is_empty() {
            return self.count_of(node);
        }
        let text = self.text.scalar(node).unwrap_or_default();
        text.parse().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit())).ok_or_else(|| {
            let found = if text.is_empty() { node.value.kind().to_owned() } else { Quoted(text).to_string() };
            self.wrong(node.defined, format!("{found} is no dim"))
                .help("a whole number from 0 to 2^63 - 1, in decimal digits, is expected")
        })
    }

    /// Charges a tensor's elements to the file's budget before memory is allocated for them.
    pub(super) fn count(
        &self,
        dtype: DType,
        shape: &Shape,
        at: serde_yaml::Location,
    ) -> Result<(), Diagnostic> {
        let count = shape.element_count();
        if count > MAX_ELEMENTS {
            return Err(self.too_many(count, at));
        }
        self.spend(count.saturating_mul(stored_size(dtype)), at)
    }

    /// Charges bytes to the file's budget.
    pub(super) fn spend(&self, bytes: usize, at: serde_yaml::Location) -> Result<(), Diagnostic> {
        let stored = self.shared.stored.get().saturating_add(bytes);
        self.check_stored(stored, at)?;
        self.shared.stored.set(stored);
        Ok(())
    }

    fn check_stored(&self, bytes: usize, at: serde_yaml::Location) -> Result<(), Diagnostic> {
        let most = if self.large { MAX_STORED_BYTES_LARGE } else { MAX_STORED_BYTES };
        if bytes > most {
            let message =
                format!("with this one, the tensors of this file take more than {most} bytes together");
            return Err(self
                .wrong(at, message)
                .help("use `fill: zeros` or `fill: { value: x }`, which cost nothing"));
        }
        Ok(())
    }

    pub(super) fn too_many(&self, count: usize, at: serde_yaml::Location) -> Diagnostic {
        self.wrong(
            at,
            format!("{count} elements; a tensor in a case file may have at most {MAX_ELEMENTS} (2^24)"),
        )
    }

    pub(super) fn wrong(&self, at: serde_yaml::Location, message: impl Into<String>) -> Diagnostic {
        self.text.wrong(at, message)
    }
}

/// Whether a file holds large cases, by its name.
pub(super) fn is_large(file: &str) -> bool {
    Path::new(file).file_name().is_some_and(|name| name == LARGE)
}

/// The estimated cost of an element in bytes.
const fn stored_size(dtype: DType) -> usize {
    if matches!(dtype, DType::String) { STRING_BYTES } else { dtype.size() }
}
