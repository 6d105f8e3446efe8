//! Reads the written tensors of one file, within its budget.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Quoted};
use crate::tensor::StorageId;
use crate::yaml::{Node, Spanned, Text};
use crate::{DType, Shape, Tensor};

use super::sizes::{GridPoint, Sizes};

/// What to read a word as. An output is read twice, and the elements that differ are those that the word wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Placeholder {
    /// Zero bits.
    Zero,
    /// Another element.
    Marked,
}

impl Placeholder {
    /// The bits, of any dtype but string.
    pub(super) const fn bits(self) -> u128 {
        match self {
            Self::Zero => 0,
            Self::Marked => 1,
        }
    }

    /// The number in a closed form.
    pub(super) const fn number(self) -> i128 {
        self.bits().cast_signed()
    }
}

/// The most elements of a tensor in a case file.
pub(super) const MAX_ELEMENTS: usize = 1 << 24;

/// The limit on the stored elements of all tensors of a file, in bytes. A constant fill stores one element.
const MAX_STORED_BYTES: usize = 64 << 20;

/// The same limit for a file of large cases.
const MAX_STORED_BYTES_LARGE: usize = 256 << 20;

/// The name of files with large cases. Each form has one.
const LARGE: &str = "large.yaml";

/// The estimated cost of a stored string in bytes: its handle, its reference count, and an allocation.
pub(super) const STRING_BYTES: usize = 64;

/// Reads the tensors of one file within the file's memory budget.
#[derive(Clone, Copy)]
pub(super) struct TensorReader<'a> {
    pub(super) text: Text<'a>,
    pub(super) cache: &'a FileCache,
    /// The values of named sizes.
    pub(super) sizes: &'a Sizes,
    /// Whether tensors may have any number of elements, provided that few are stored.
    pub(super) large: bool,
    /// What the word `fill` stands for, which only an output has: see [`Placeholder`].
    pub(super) placeholder: Option<Placeholder>,
    /// Whether the call says itself what it fills with.
    pub(super) sends_fill: bool,
}

/// What was read: where, as which dtype, with which sizes, and what a word in it stood for.
pub(super) type Reading = (serde_yaml::Location, DType, Sizes, Option<Placeholder>);

/// What the cases of a file share.
#[derive(Default)]
pub(super) struct FileCache {
    stored: Cell<usize>,
    /// Tensors by position, dtype and sizes, so that all operators of a family share them.
    pub(super) read: RefCell<HashMap<Reading, Tensor>>,
    /// The numbers of closed forms, by dtype and modulo.
    pub(super) numbers: RefCell<HashMap<(DType, Option<i128>), Tensor>>,
    /// Numbers under `any`, each with its elements in a dtype.
    pub(super) elements: RefCell<HashMap<(StorageId, DType), (Tensor, Tensor)>>,
    /// The expansion of the `for-each` at a position.
    pub(super) grids: RefCell<HashMap<serde_yaml::Location, Arc<[GridPoint]>>>,
}

impl FileCache {
    /// Forgets the tensors at positions, which only cases of the same entry share.
    pub(super) fn forget_tensors(&self) {
        self.read.borrow_mut().clear();
        self.stored.set(0);
    }
}

/// For cases without named sizes.
static NO_SIZES: Sizes = Sizes::new(Vec::new());

impl<'a> TensorReader<'a> {
    pub(super) fn new(text: Text<'a>, cache: &'a FileCache) -> Self {
        Self {
            text,
            cache,
            sizes: &NO_SIZES,
            large: is_large(text.file),
            placeholder: None,
            sends_fill: false,
        }
    }

    /// Sets the values of named sizes.
    pub(super) const fn with_sizes<'s>(self, sizes: &'s Sizes) -> TensorReader<'s>
    where
        'a: 's,
    {
        TensorReader { sizes, ..self }
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
        let stored = self.cache.stored.get().saturating_add(bytes);
        self.check_stored(stored, at)?;
        self.cache.stored.set(stored);
        Ok(())
    }

    pub(super) fn check_stored(&self, bytes: usize, at: serde_yaml::Location) -> Result<(), Diagnostic> {
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
pub(super) const fn stored_size(dtype: DType) -> usize {
    if matches!(dtype, DType::String) { STRING_BYTES } else { dtype.size() }
}
