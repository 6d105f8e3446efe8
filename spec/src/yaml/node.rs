//! A node of a tree of YAML with the position of every node: what typed values are read from, and a value of its own where a
//! format has no struct. A [`Site`](super::Site) hands it to a value that asks by name.

use std::cell::Cell;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

use super::spanned::{Spanned, nothing_handed};

/// A YAML node.
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

/// The name of a newtype that asks for the node itself.
pub(super) const NODE: &str = "gather_spec::Node";

thread_local! {
    static HANDED: Cell<Option<Node>> = const { Cell::new(None) };
}

/// Hands a node to the value that asks for it next.
pub(super) fn hand_node(node: Node) {
    HANDED.set(Some(node));
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NodeVisitor;

        impl Visitor<'_> for NodeVisitor {
            type Value = Node;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_unit<E: Error>(self) -> Result<Node, E> {
                HANDED.take().ok_or_else(nothing_handed)
            }
        }

        deserializer.deserialize_newtype_struct(NODE, NodeVisitor)
    }
}
