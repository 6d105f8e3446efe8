//! Lists in an `operator.yaml` that a single word may replace.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::{SeqAccessDeserializer, StrDeserializer};
use serde::de::{Deserializer, Error, SeqAccess, Visitor};

use crate::DType;
use crate::call::Attribute;
use crate::diagnostic::Diagnostic;
use crate::signature::AttributeDefault;
use crate::yaml::{Node, Spanned, Text};

/// `all`, or a list of dtypes.
#[derive(Default)]
pub(super) struct DtypeList(pub(super) Vec<DType>);

/// A word, or a list of words.
pub(super) struct Words<T>(pub(super) Vec<T>);

/// The default of a list of integers: an empty list, or none.
pub(super) fn default(text: Text<'_>, written: &Spanned<Node>) -> Result<AttributeDefault, Diagnostic> {
    match &written.value {
        Node::Sequence(items) if items.is_empty() => {
            Ok(AttributeDefault::Value(Attribute::Integers(Vec::new())))
        }
        _ if text.scalar(written) == Some("none") && !text.is_quoted(written) => Ok(AttributeDefault::None),
        _ => Err(text
            .wrong(written.defined, "a list that is not sent is empty")
            .help("write `default: []`, or `default: none` if it must be sent")),
    }
}

impl<'de> Deserialize<'de> for DtypeList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListOrAll;

        impl<'de> Visitor<'de> for ListOrAll {
            type Value = DtypeList;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`all` or a list of dtypes")
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<DtypeList, E> {
                match word {
                    "all" => Ok(DtypeList(DType::ALL.to_vec())),
                    other => Err(E::unknown_variant(other, &["all"])),
                }
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<DtypeList, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(DtypeList)
            }
        }

        deserializer.deserialize_any(ListOrAll)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Words<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WordsVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for WordsVisitor<T> {
            type Value = Words<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a word or a list of words")
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<Words<T>, E> {
                T::deserialize(StrDeserializer::new(word)).map(|word| Words(vec![word]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Words<T>, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(Words)
            }
        }

        deserializer.deserialize_any(WordsVisitor(PhantomData))
    }
}
