//! A tree of YAML, for what has no struct.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_yaml::Tagged;

use super::spanned::Spanned;

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
