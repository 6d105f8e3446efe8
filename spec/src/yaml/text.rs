//! A file's text, where its nodes stand, and the limits under which it is read.

use serde_yaml::options::{MergeKeyPolicy, NonFiniteFloatPolicy};

use super::node::Node;
use super::spanned::Spanned;
use crate::diagnostic::{Diagnostic, Place, lines};

/// The largest file to read, in bytes.
pub(crate) const MAX_FILE_BYTES: usize = 8 << 20;

/// The deepest nesting of sequences and mappings.
pub(super) const MAX_DEPTH: usize = 80;

/// The most sequences, mappings and scalars in a file.
pub(super) const MAX_NODES: usize = 400_000;

/// A file: its name and its text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'a> {
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
}

impl<'a> Text<'a> {
    /// Decodes a file. Skips a byte order mark.
    pub(crate) fn new(file: &'a str, bytes: &'a [u8]) -> Result<Self, Diagnostic> {
        if bytes.len() > MAX_FILE_BYTES {
            return Err(too_long(file, bytes.len() as u64));
        }
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Self { file, text }),
            Err(error) => {
                let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
                let line = lines(&valid).count();
                let column = lines(&valid).last().map_or(0, |last| last.chars().count()) + 1;
                let lossy = String::from_utf8_lossy(bytes);
                let message = format!("byte {:#04x} is not UTF-8", bytes[error.valid_up_to()]);
                Err(Diagnostic::at(file, &lossy, Place { line, column }, message)
                    .help("save the file as UTF-8; a string that is not UTF-8 is written { hex: \"…\" }"))
            }
        }
    }

    /// A problem with the node at `location`.
    pub(crate) fn wrong(&self, location: serde_yaml::Location, message: impl Into<String>) -> Diagnostic {
        Diagnostic::at(self.file, self.text, place(location), message)
    }

    /// The text of a scalar: as written, or the content if it is quoted, folded or literal.
    pub(crate) fn scalar(&self, node: &'a Spanned<Node>) -> Option<&'a str> {
        let Node::Scalar(content) = &node.value else { return None };
        let raw = self.raw(node)?;
        match content {
            Some(content) if raw.starts_with(['"', '\'', '|', '>']) || raw.contains('\n') => Some(content),
            _ => Some(raw),
        }
    }

    /// The source text of a node, including quotes.
    fn raw(&self, node: &Spanned<Node>) -> Option<&'a str> {
        let span = node.defined.span();
        let start = usize::try_from(span.byte_offset()?).ok()?;
        let end = start.checked_add(usize::try_from(span.byte_len()?).ok()?)?;
        self.text.get(start..end)
    }

    /// Whether a scalar is quoted, which makes it a string in YAML.
    pub(crate) fn is_quoted(&self, node: &Spanned<Node>) -> bool {
        self.raw(node).is_some_and(|raw| raw.starts_with(['"', '\'']))
    }

    /// Whether a scalar is a plain null, which may be a mistake where a string is expected.
    pub(crate) fn is_null(&self, node: &'a Spanned<Node>) -> bool {
        matches!(node.value, Node::Scalar(None))
            && matches!(self.scalar(node), Some("" | "~" | "null" | "Null" | "NULL"))
    }
}

/// The error for a file larger than [`MAX_FILE_BYTES`].
pub(crate) fn too_long(file: &str, bytes: u64) -> Diagnostic {
    Diagnostic::file(file, format!("the file has {bytes} bytes; at most {MAX_FILE_BYTES} are read"))
        .help("split it, or write large tensors with `fill`")
}

/// The accepted subset of YAML, and limits, all of them far above what a case file needs.
pub(super) fn options() -> serde_yaml::Options {
    let mut options = serde_yaml::options! {
        budget: serde_yaml::budget! {
            max_depth: MAX_DEPTH,
            max_documents: 1,
            max_nodes: MAX_NODES,
            max_events: 1_000_000,
            max_aliases: 1_000,
            max_anchors: 1_000,
        },
        strict_booleans: true,
        merge_keys: MergeKeyPolicy::Error,
        reject_unsupported_tags: true,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        with_snippet: false,
    };
    options.alias_limits.max_total_replayed_events = 100_000;
    options
}

pub(super) fn place(location: serde_yaml::Location) -> Place {
    let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    Place { line: count(location.line()), column: count(location.column()) }
}
