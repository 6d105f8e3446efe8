//! Reads the written tensors of one file, within its budget.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use crate::diagnostic::{Diagnostic, Quoted};
use crate::tensor::StorageId;
use crate::yaml::{Node, Spanned, Text};
use crate::{DType, Shape, Tensor};

use super::sizes::{GridPoint, Sizes};

/// What a word is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Spoilt {
    /// Zero bits.
    Zero,
    /// Another element, which tells its places from those of zeros.
    Marked,
}

impl Spoilt {
    /// The bits, of any dtype but string.
    pub(super) const fn bits(self) -> u128 {
        match self {
            Self::Zero => 0,
            Self::Marked => 1,
        }
    }

    /// The number of a closed form.
    pub(super) const fn number(self) -> i128 {
        self.bits().cast_signed()
    }
}

/// The most elements that a tensor in a case file may have.
pub(super) const MAX_ELEMENTS: usize = 1 << 24;

/// The most bytes that the stored elements of a file's tensors may take together; a fill with one value stores one.
const MAX_STORED_BYTES: usize = 64 << 20;

/// The same of a file of large cases.
const MAX_STORED_BYTES_LARGE: usize = 256 << 20;

/// The files of the suite of large calls, one for each form.
const LARGE: &str = "large.yaml";

/// What a stored string is taken to cost: its handle, its count of users, and an allocation.
pub(super) const STRING_BYTES: usize = 64;

/// Turns written tensors of one file into tensors, within the file's budget of bytes.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) text: Text<'a>,
    pub(super) shared: &'a Shared,
    /// What the names of sizes stand for.
    pub(super) sizes: &'a Sizes,
    /// Whether tensors may have any number of elements, as long as few of them are stored.
    pub(super) large: bool,
    /// What the word `fill` stands for, which only an output has: see [`Spoilt`].
    pub(super) spoilt: Option<Spoilt>,
    /// Whether the call says itself what it fills with.
    pub(super) sends_fill: bool,
}

/// What was read: where, as which dtype, with which sizes, and what a word in it stood for.
pub(super) type Reading = (serde_yaml::Location, DType, Sizes, Option<Spoilt>);

/// What has been read of a file so far.
#[derive(Default)]
pub(super) struct Shared {
    stored: Cell<usize>,
    /// What stands at one place, read as a dtype and with some sizes, is one tensor for every case: those of a family's
    /// operators share it.
    pub(super) read: RefCell<HashMap<Reading, Tensor>>,
    /// The numbers that closed forms pass, by dtype and modulo.
    pub(super) numbers: RefCell<HashMap<(DType, Option<i128>), Tensor>>,
    /// The same under `any`, each beside its elements of a dtype.
    pub(super) elements: RefCell<HashMap<(StorageId, DType), (Tensor, Tensor)>>,
    /// What the `for-each` at a place stands for.
    pub(super) grids: RefCell<HashMap<serde_yaml::Location, Rc<[GridPoint]>>>,
}

/// No size has a name.
static NO_SIZES: Sizes = Sizes::new(Vec::new());

impl<'a> Reader<'a> {
    pub(super) fn new(text: Text<'a>, shared: &'a Shared) -> Self {
        Self { text, shared, sizes: &NO_SIZES, large: is_large(text.file), spoilt: None, sends_fill: false }
    }

    /// The same, where the names of sizes stand for something.
    pub(super) const fn with_sizes<'s>(self, sizes: &'s Sizes) -> Reader<'s>
    where
        'a: 's,
    {
        Reader { sizes, ..self }
    }

    /// The number that a node stands for, with its names.
    pub(super) fn number(&self, node: &'a Spanned<Node>) -> Result<i128, Diagnostic> {
        let text = self.text.scalar(node).unwrap_or_default();
        if let Some(spoilt) = self.spoilt(node) {
            return Ok(spoilt.number());
        }
        let plain = text.strip_prefix('-').unwrap_or(text);
        if self.sizes.is_empty() && (plain.is_empty() || !plain.bytes().all(|b| b.is_ascii_digit())) {
            let found = if text.is_empty() { node.value.kind().to_owned() } else { Quoted(text).to_string() };
            return Err(self.wrong(node.defined, format!("{found} is no whole number")));
        }
        let wrong = |why| self.wrong(node.defined, format!("{} is no number: {why}", Quoted(text)));
        self.sizes.number(text).map_err(wrong)
    }

    /// The same, of a number that is not negative, such as a position.
    pub(super) fn count_of(&self, node: &'a Spanned<Node>) -> Result<usize, Diagnostic> {
        let number = self.number(node)?;
        usize::try_from(number).map_err(|_| {
            let message = format!("{number} is written where no number is below 0 or above 2^63 - 1");
            self.wrong(node.defined, message)
        })
    }

    /// Takes a tensor's elements from the file's budget, before memory is reserved for them.
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

    /// Takes bytes from the budget of the file.
    pub(super) fn spend(&self, bytes: usize, at: serde_yaml::Location) -> Result<(), Diagnostic> {
        let stored = self.shared.stored.get().saturating_add(bytes);
        self.check_stored(stored, at)?;
        self.shared.stored.set(stored);
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

/// Whether the cases of a file belong to the suite of large calls, by its name.
pub(super) fn is_large(file: &str) -> bool {
    Path::new(file).file_name().is_some_and(|name| name == LARGE)
}

/// What an element is taken to cost.
pub(super) const fn stored_size(dtype: DType) -> usize {
    if matches!(dtype, DType::String) { STRING_BYTES } else { dtype.size() }
}
