//! Reads tensors of case files: nested data, bits and fills, checked element by element.

use crate::any;
use crate::diagnostic::{Diagnostic, Quoted};
use crate::shape::MAX_RANK;
use crate::tensor::Sparse;
use crate::yaml::{Node, Spanned};
use crate::{DType, Element, Shape, Tensor};

use super::closed_form::PLACES;
use super::elements::Notation;
use super::raw::TensorEntry;
use super::reader::{Placeholder, STRING_BYTES, TensorReader, stored_size};
use super::written::WrittenDtype;

impl<'a> TensorReader<'a> {
    /// Reads the params of a case.
    pub(super) fn params(
        &self,
        dtype: &WrittenDtype,
        entry: &'a TensorEntry,
        at: serde_yaml::Location,
    ) -> Result<Tensor, Diagnostic> {
        self.values(dtype, at, |dtype| self.tensor(dtype, entry, at))
    }

    /// Reads sparse params, which are zero except in some places. They need a fixed dtype.
    pub(super) fn sparse(
        &self,
        dtype: &WrittenDtype,
        entry: &'a TensorEntry,
    ) -> Result<Option<Sparse>, Diagnostic> {
        let (Some(fill), Some(shape)) = (&entry.fill, &entry.shape) else { return Ok(None) };
        let Node::Mapping(entries) = &fill.value else { return Ok(None) };
        match dtype {
            _ if !entries.iter().any(|(name, _)| name.value == PLACES) => Ok(None),
            WrittenDtype::Named(dtype) => {
                self.places(*dtype, &self.shape(shape)?, fill.defined, entries).map(Some)
            }
            WrittenDtype::Any(_) => Err(self
                .wrong(fill.defined, "`places` under `dtype: any`")
                .help("name a dtype: memory is asked for by its size")),
        }
    }

    /// Reads the output of a case: nested data, or a mapping like that of an operand, without a dtype.
    pub(super) fn output(&self, dtype: &WrittenDtype, node: &'a Spanned<Node>) -> Result<Tensor, Diagnostic> {
        let reader = Self { placeholder: Some(Placeholder::Zero), ..*self };
        self.values(dtype, node.defined, |dtype| reader.output_of(dtype, node))
    }

    /// Reads a tensor with a fixed dtype, or one under `any`: then the numbers are read, and converted to its first dtype. The
    /// tensor must be possible in all the other dtypes as well.
    fn values(
        &self,
        dtype: &WrittenDtype,
        at: serde_yaml::Location,
        read: impl Fn(DType) -> Result<Tensor, Diagnostic>,
    ) -> Result<Tensor, Diagnostic> {
        let open = match dtype {
            WrittenDtype::Named(dtype) => return self.once(*dtype, at, || read(*dtype)),
            WrittenDtype::Any(open) => open,
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
        let Some(held) = self.cache.numbers.borrow().values().find(|held| held.storage_id() == id).cloned()
        else {
            self.spend(numbers.stored_count().saturating_mul(stored_size(dtype)), at)?;
            return any::values_as(numbers, dtype).map_err(bad);
        };
        let known = self.cache.elements.borrow().get(&(id, dtype)).map(|(_, elements)| elements.clone());
        let elements = match known {
            Some(elements) => elements,
            None => {
                self.spend(held.stored_count().saturating_mul(stored_size(dtype)), at)?;
                let elements = any::values_as(&held, dtype).map_err(bad)?;
                self.cache.elements.borrow_mut().insert((id, dtype), (held, elements.clone()));
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
        if let Some(tensor) = self.cache.read.borrow().get(&key) {
            return Ok(tensor.clone());
        }
        let tensor = make()?;
        self.cache.read.borrow_mut().insert(key, tensor.clone());
        Ok(tensor)
    }

    /// Reads the indices of a case. They must be possible in every dtype of `any`.
    pub(super) fn indices(
        &self,
        dtype: &WrittenDtype,
        entry: &'a TensorEntry,
        at: serde_yaml::Location,
    ) -> Result<Tensor, Diagnostic> {
        let indices = self.once(dtype.dtype(), at, || self.tensor(dtype.dtype(), entry, at))?;
        if let WrittenDtype::Any(open) = dtype {
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

    /// The shape of a tensor, without its elements. One that is written wrong may have any.
    pub(super) fn shape_of(&self, entry: &'a TensorEntry) -> Result<Shape, Diagnostic> {
        if let Some(shape) = &entry.shape {
            return self.shape(shape);
        }
        let mut node = entry.data.as_ref().or(entry.bits.as_ref());
        let mut dims = Vec::new();
        while let Some(Node::Sequence(items)) = node.map(|node| &node.value) {
            dims.push(items.len());
            node = items.first();
        }
        Shape::new(dims).map_err(|error| self.text.wrong(serde_yaml::Location::UNKNOWN, error.to_string()))
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
    pub(super) fn single(&self, dtype: &WrittenDtype, node: &'a Spanned<Node>) -> Result<Tensor, Diagnostic> {
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
}
