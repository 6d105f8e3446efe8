//! Typed values from a tree of nodes, and what is said where the two differ.

use std::str::FromStr;

use serde::de::{self, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess};
use serde::de::{Unexpected, Visitor};
use serde::forward_to_deserialize_any;

use super::fault::{Fault, kind, unknown_key};
use super::node::{NODE, Node, hand_node};
use super::spanned::{SPANNED, Spanned, hand_location};
use super::text::Text;
use crate::diagnostic::{Diagnostic, Quoted};

/// A node to read, and its key in the surrounding mapping.
#[derive(Clone, Copy)]
pub(super) struct Site<'t> {
    text: Text<'t>,
    node: &'t Spanned<Node>,
    key: Option<&'t str>,
    role: Role,
}

#[derive(Clone, Copy)]
enum Role {
    File,
    Value,
    Entry,
}

impl<'t> Site<'t> {
    pub(super) const fn root(text: Text<'t>, node: &'t Spanned<Node>) -> Self {
        Self { text, node, key: None, role: Role::File }
    }

    /// Explains a fault in this node, unless it is in a node inside.
    pub(super) fn explain(self, fault: Fault) -> Diagnostic {
        let here = |message: String| self.text.wrong(self.node.defined, message);
        match fault {
            Fault::Explained(diagnostic) => *diagnostic,
            Fault::UnknownKey { key, expected } => unknown_key(self.text, self.node.defined, &key, expected),
            Fault::Missing(key) => {
                here(format!("`{key}` is missing")).help(format!("add `{key}: …` to this mapping"))
            }
            Fault::UnknownWord { word, expected } => {
                let what = self.key.unwrap_or("word");
                here(format!("unknown {what} {}", Quoted(&word)))
                    .help(format!("one of {} is expected", expected.join(" ")))
            }
            Fault::Wanted(wanted) => here(self.mismatch(&wanted)),
            Fault::Tagged => here("a tag is not part of the format".to_owned())
                .help("leave the tag out, and write text as it is"),
            Fault::Other(message) => here(message),
        }
    }

    /// A value of the wrong kind.
    fn mismatch(self, wanted: &str) -> String {
        let found = match self.text.scalar(self.node) {
            Some(_) if self.text.is_null(self.node) => "nothing".to_owned(),
            Some(scalar) => Quoted(scalar).to_string(),
            None => self.node.value.kind().to_owned(),
        };
        let key = Quoted(self.key.unwrap_or_default());
        let subject = match self.role {
            Role::File => "the file".to_owned(),
            Role::Value => key.to_string(),
            Role::Entry => format!("an entry of {key}"),
        };
        format!("{subject} must be {wanted}, but {found} is written here")
    }

    /// The value that a visitor makes, or what is wrong with this node.
    fn or_explained<V>(self, made: Result<V, Fault>) -> Result<V, Fault> {
        made.map_err(|fault| Fault::Explained(Box::new(self.explain(fault))))
    }

    /// The text of a scalar.
    fn scalar(self, wanted: &str) -> Result<&'t str, Fault> {
        match &self.node.value {
            Node::Scalar(_) if !self.text.is_null(self.node) => {
                Ok(self.text.scalar(self.node).unwrap_or_default())
            }
            Node::Tagged => Err(Fault::Tagged),
            _ => Err(Fault::Wanted(kind(wanted))),
        }
    }

    /// A whole number.
    fn number<N: FromStr>(self, wanted: &str) -> Result<N, Fault> {
        let number = self.scalar(wanted)?.parse().ok().filter(|_| !self.text.is_quoted(self.node));
        number.ok_or_else(|| Fault::Wanted(kind(wanted)))
    }

    fn entries(self, nodes: &'t [Spanned<Node>]) -> Entries<'t> {
        Entries { site: self, nodes: nodes.iter() }
    }

    fn keys(self, entries: &'t [(Spanned<String>, Spanned<Node>)]) -> Keys<'t> {
        Keys { text: self.text, entries: entries.iter(), value: None }
    }
}

/// Methods for numbers, each with its type and the method of the visitor.
macro_rules! numbers {
    ($($method:ident $ty:ident $visit:ident)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            self.or_explained(self.number::<$ty>(stringify!($ty)).and_then(|number| visitor.$visit(number)))
        }
    )+};
}

impl<'de> Deserializer<'de> for Site<'_> {
    type Error = Fault;

    numbers! {
        deserialize_i64 i64 visit_i64
        deserialize_u8 u8 visit_u8
        deserialize_u32 u32 visit_u32
        deserialize_u64 u64 visit_u64
        deserialize_u128 u128 visit_u128
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.or_explained(match &self.node.value {
            Node::Scalar(Some(text)) => visitor.visit_str(text),
            // What else a scalar may be, no value that asks for any takes.
            Node::Scalar(None) => Err(de::Error::invalid_type(Unexpected::Unit, &visitor)),
            Node::Sequence(nodes) => visitor.visit_seq(self.entries(nodes)),
            Node::Mapping(entries) => visitor.visit_map(self.keys(entries)),
            Node::Tagged => Err(Fault::Tagged),
        })
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let value = self.scalar("boolean").and_then(|text| match text {
            "true" | "false" if !self.text.is_quoted(self.node) => Ok(text == "true"),
            _ => Err(Fault::Wanted(kind("boolean"))),
        });
        self.or_explained(value.and_then(|value| visitor.visit_bool(value)))
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let wanted = if self.text.is_null(self.node) { "a string" } else { "string scalar" };
        self.or_explained(self.scalar(wanted).and_then(|text| visitor.visit_str(text)))
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.text.is_null(self.node) { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match name {
            NODE => {
                hand_node(self.node.value.clone());
                visitor.visit_unit()
            }
            SPANNED => {
                hand_location(self.node.defined);
                visitor.visit_newtype_struct(self)
            }
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.or_explained(match &self.node.value {
            Node::Sequence(nodes) => visitor.visit_seq(self.entries(nodes)),
            // A key without a value: what reads the entries says which are missing.
            _ if self.text.is_null(self.node) => visitor.visit_seq(self.entries(&[])),
            _ => Err(Fault::Wanted(kind("sequence start"))),
        })
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.or_explained(match &self.node.value {
            Node::Mapping(entries) => visitor.visit_map(self.keys(entries)),
            _ if self.text.is_null(self.node) => visitor.visit_map(self.keys(&[])),
            _ => Err(Fault::Wanted(kind("mapping start"))),
        })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_map(visitor)
    }

    /// A word: no format has others.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let word = self.scalar("string scalar");
        self.or_explained(word.and_then(|word| visitor.visit_enum(word.into_deserializer())))
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i128 u16 f32 f64 char bytes byte_buf unit unit_struct tuple tuple_struct identifier ignored_any
    }
}

/// The nodes of a sequence.
struct Entries<'t> {
    site: Site<'t>,
    nodes: std::slice::Iter<'t, Spanned<Node>>,
}

impl<'de> SeqAccess<'de> for Entries<'_> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        let site = |node| Site { node, role: Role::Entry, ..self.site };
        self.nodes.next().map(|node| seed.deserialize(site(node))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.nodes.len())
    }
}

/// The keys and values of a mapping.
struct Keys<'t> {
    text: Text<'t>,
    entries: std::slice::Iter<'t, (Spanned<String>, Spanned<Node>)>,
    value: Option<Site<'t>>,
}

impl<'de> MapAccess<'de> for Keys<'_> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let Some((key, node)) = self.entries.next() else { return Ok(None) };
        self.value = Some(Site { text: self.text, node, key: Some(&key.value), role: Role::Value });
        seed.deserialize(Key { text: self.text, key }).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let value = self.value.take();
        seed.deserialize(value.ok_or_else(|| Fault::Other("a key comes before its value".to_owned()))?)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}

/// A key of a mapping.
struct Key<'t> {
    text: Text<'t>,
    key: &'t Spanned<String>,
}

impl<'de> Deserializer<'de> for Key<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let Self { text, key } = self;
        visitor.visit_str(&key.value).map_err(|fault| match fault {
            Fault::UnknownKey { key: unknown, expected } => {
                Fault::Explained(Box::new(unknown_key(text, key.defined, &unknown, expected)))
            }
            other => other,
        })
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        if name == SPANNED {
            hand_location(self.key.defined);
        }
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct seq tuple
        tuple_struct map struct enum identifier ignored_any
    }
}
