//! Parses YAML within limits, keeping the position of every node: typed structs by serde, free-form parts as [`Node`].

mod explain;

use std::fmt;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error, MapAccess, SeqAccess, Visitor};
pub(crate) use serde_yaml::Spanned;
use serde_yaml::Tagged;
use serde_yaml::options::{MergeKeyPolicy, NonFiniteFloatPolicy};

use crate::diagnostic::{Diagnostic, Place, lines};

/// The largest file to read, in bytes.
pub(crate) const MAX_FILE_BYTES: usize = 8 << 20;

/// The deepest nesting of sequences and mappings.
const MAX_DEPTH: usize = 80;

/// The most sequences, mappings and scalars in a file.
const MAX_NODES: usize = 400_000;

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

    /// Parses the text as a single document.
    pub(crate) fn parse<T: DeserializeOwned>(&self) -> Result<T, Diagnostic> {
        serde_yaml::from_str_with_options(self.text, options())
            .map_err(|error| explain::explain(*self, &error))
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
fn options() -> serde_yaml::Options {
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

fn place(location: serde_yaml::Location) -> Place {
    let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    Place { line: count(location.line()), column: count(location.column()) }
}

/// A YAML node whose meaning depends on its context, such as the data of a tensor.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// A scalar. The text is kept if YAML treats it as a string; otherwise it is in the source.
    Scalar(Option<String>),
    /// A sequence.
    Sequence(Vec<Spanned<Node>>),
    /// A mapping.
    Mapping(Vec<(Spanned<String>, Spanned<Node>)>),
    /// A node with a tag, such as `!!binary`, which would change how to read it.
    Tagged,
}

impl Node {
    /// The kind of node, for messages.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Scalar(_) => "a scalar",
            Self::Sequence(_) => "a sequence",
            Self::Mapping(_) => "a mapping",
            Self::Tagged => "a value with a YAML tag",
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Plain(Node);

        impl<'de> Deserialize<'de> for Plain {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(NodeVisitor).map(Self)
            }
        }

        let Tagged(Plain(node), tag) = Tagged::deserialize(deserializer)?;
        Ok(if tag.is_some() { Self::Tagged } else { node })
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a scalar, a sequence or a mapping")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Node, E> {
        Ok(Node::Scalar(None))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Node, E> {
        Ok(Node::Scalar(None))
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Node, E> {
        Ok(Node::Scalar(None))
    }

    fn visit_i128<E: Error>(self, _: i128) -> Result<Node, E> {
        Ok(Node::Scalar(None))
    }

    fn visit_u128<E: Error>(self, _: u128) -> Result<Node, E> {
        Ok(Node::Scalar(None))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Node, E> {
        Ok(Node::Scalar(None))
    }

    fn visit_unit<E: Error>(self) -> Result<Node, E> {
        Ok(Node::Scalar(None))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Scalar(Some(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Node, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = sequence.next_element()? {
            nodes.push(node);
        }
        Ok(Node::Sequence(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut mapping: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = mapping.next_entry()? {
            entries.push(entry);
        }
        Ok(Node::Mapping(entries))
    }
}
