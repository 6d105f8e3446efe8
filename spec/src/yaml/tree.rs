//! The tree of a whole text, from the parser.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_yaml::Tagged;

use super::node::Node;
use super::spanned::Spanned;

/// A whole tree, from the parser. Nothing else is read from the parser itself, whose code the compiler would make again for each type.
pub(super) struct Tree(pub(super) Spanned<Node>);

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Plain(Node);

        impl<'de> Deserialize<'de> for Plain {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(NodeVisitor).map(Self)
            }
        }

        let parsed = serde_yaml::Spanned::<Tagged<Plain>>::deserialize(deserializer)?;
        let Tagged(Plain(node), tag) = parsed.value;
        let value = if tag.is_some() { Node::Tagged } else { node };
        Ok(Self(Spanned { value, defined: parsed.defined }))
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
        while let Some(Tree(node)) = sequence.next_element()? {
            nodes.push(node);
        }
        Ok(Node::Sequence(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut mapping: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, Tree(node))) = mapping.next_entry::<serde_yaml::Spanned<String>, _>()? {
            entries.push((Spanned { value: key.value, defined: key.defined }, node));
        }
        Ok(Node::Mapping(entries))
    }
}
