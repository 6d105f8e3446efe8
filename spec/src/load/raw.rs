//! The formats of the files under `spec/`, as serde reads them. `cases` and its neighbours interpret the values.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};

use crate::ErrorCode;
use crate::case::{Provenance, When};
use crate::clause::{Basis, Document, Erratum, Evidence, Example, OutOfScope, Renamed, Section};
use crate::yaml::{Node, Spanned};

/// Reads an optional key. Unlike `Option` alone, this rejects null: a key without a value is a mistake, and must not be
/// treated as absent.
pub(super) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// `documents.yaml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DocumentsFile {
    pub(super) schema: Spanned<u32>,
    pub(super) documents: Vec<Spanned<Document>>,
}

/// `inventory.yaml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InventoryFile {
    pub(super) schema: Spanned<u32>,
    pub(super) examples: Vec<Example>,
}

/// `out-of-scope.yaml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct OutOfScopeFile {
    pub(super) schema: Spanned<u32>,
    pub(super) out_of_scope: Vec<OutOfScope>,
}

/// `renamed.yaml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RenamedFile {
    pub(super) schema: Spanned<u32>,
    pub(super) renamed: Vec<Renamed>,
}

/// `errata.yaml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ErrataFile {
    pub(super) schema: Spanned<u32>,
    pub(super) errata: Vec<Spanned<Erratum>>,
}

/// `clauses.yaml` of a family.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FamilyClausesFile {
    pub(super) schema: Spanned<u32>,
    pub(super) family: Spanned<String>,
    pub(super) clauses: Vec<FamilyClauseEntry>,
}

/// A clause of a family as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FamilyClauseEntry {
    pub(super) id: Spanned<String>,
    pub(super) text: String,
    pub(super) rejects: Rejects,
}

/// The `families` of `operator.yaml`: for each family, how the operator's clauses map to its clauses.
pub(super) type FamiliesEntry = InOrder<InOrder<Spanned<String>>>;

/// `clauses.yaml` of an operator.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClausesFile {
    pub(super) schema: Spanned<u32>,
    pub(super) operator: Spanned<String>,
    pub(super) clauses: Vec<ClauseEntry>,
}

/// A clause as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClauseEntry {
    pub(super) id: Spanned<String>,
    #[serde(default, deserialize_with = "present")]
    pub(super) text: Option<String>,
    pub(super) document: String,
    pub(super) section: String,
    #[serde(default)]
    pub(super) also: Vec<Section>,
    pub(super) basis: Basis,
    #[serde(default, deserialize_with = "present")]
    pub(super) rejects: Option<Rejects>,
    #[serde(default)]
    pub(super) errata: Vec<Spanned<String>>,
}

/// `rejects: none`, or a list of codes.
pub(super) struct Rejects(pub(super) Vec<ErrorCode>);

/// A case file of an operator.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CaseFile {
    pub(super) schema: Spanned<u32>,
    pub(super) operator: Spanned<String>,
    pub(super) cases: Spanned<Vec<CaseEntry>>,
}

/// A case file of a family.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FamilyFile {
    pub(super) schema: Spanned<u32>,
    pub(super) form: Spanned<String>,
    pub(super) cases: Spanned<Vec<CaseEntry>>,
}

/// A case as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct CaseEntry {
    pub(super) name: Spanned<String>,
    #[serde(default, deserialize_with = "present")]
    pub(super) documented: Option<Spanned<String>>,
    pub(super) clauses: Spanned<Vec<Spanned<String>>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) why: Option<String>,
    #[serde(default)]
    pub(super) history: OneOrMany<Spanned<Evidence>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) provenance: Option<Spanned<Provenance>>,
    pub(super) operands: Spanned<InOrder<Spanned<TensorEntry>>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) attributes: Option<Spanned<Node>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) for_each: Option<Spanned<ForEach>>,
    pub(super) expect: Spanned<Expect>,
}

/// The dtypes and sizes that a written case expands to.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ForEach {
    #[serde(default)]
    pub(super) params_dtype: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) index_dtype: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) sizes: InOrder<Spanned<Vec<Spanned<u32>>>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) element_bytes: Option<Spanned<Vec<Spanned<u32>>>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) index_bytes: Option<Spanned<Vec<Spanned<u32>>>>,
    #[serde(default)]
    pub(super) at_most: InOrder<usize>,
}

/// A tensor as written. In an output it has no dtype.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TensorEntry {
    #[serde(default, deserialize_with = "present")]
    pub(super) dtype: Option<Spanned<String>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) shape: Option<Spanned<Node>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) data: Option<Spanned<Node>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) fill: Option<Spanned<Node>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) bits: Option<Spanned<Node>>,
}

impl TensorEntry {
    /// The rank as written, if the tensor is valid otherwise.
    pub(super) fn rank(&self) -> Option<usize> {
        if let Some(Node::Sequence(dims)) = self.shape.as_ref().map(|shape| &shape.value) {
            return Some(dims.len());
        }
        let mut node = self.data.as_ref().or(self.bits.as_ref()).map(|written| &written.value);
        let mut rank = 0;
        while let Some(Node::Sequence(items)) = node {
            rank += 1;
            node = items.first().map(|item| &item.value);
        }
        Some(rank)
    }
}

/// An expectation: `unspecified`, one arm, or a list of arms.
pub(super) enum Expect {
    Word(String),
    One(Box<ArmEntry>),
    Arms(Vec<Spanned<ArmEntry>>),
}

/// An arm as written: a condition and exactly one kind of outcome.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ArmEntry {
    #[serde(default, deserialize_with = "present")]
    pub(super) when: Option<Spanned<When>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) output: Option<Spanned<Node>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) shape: Option<Spanned<Node>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) error: Option<Spanned<String>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) position: Option<Spanned<Vec<Spanned<Node>>>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) component: Option<Spanned<usize>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) index: Option<Spanned<Node>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) bound: Option<Spanned<Node>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) bytes: Option<Spanned<u128>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) rule: Option<Spanned<String>>,
    /// Replaces `bytes` under `dtype: any`, where those depend on the dtype.
    #[serde(default, deserialize_with = "present")]
    pub(super) elements: Option<Spanned<u128>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) any_of: Option<Spanned<Vec<Spanned<ArmEntry>>>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) unspecified: Option<Spanned<bool>>,
}

/// One value, or a list of them.
pub(super) struct OneOrMany<T>(pub(super) Vec<T>);

impl<T> Default for OneOrMany<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<Spanned<T>> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Several<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Several<T> {
            type Value = Vec<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mapping or a sequence of mappings")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<Vec<T>, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(sequence))
            }

            fn visit_map<A: MapAccess<'de>>(self, mapping: A) -> Result<Vec<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(mapping)).map(|one| vec![one])
            }
        }

        struct Whole<T>(Vec<T>);

        impl<'de, T: Deserialize<'de>> Deserialize<'de> for Whole<T> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(Several(PhantomData)).map(Self)
            }
        }

        let Spanned { value: Whole(values), referenced, defined } =
            Spanned::<Whole<T>>::deserialize(deserializer)?;
        Ok(Self(values.into_iter().map(|value| Spanned { value, referenced, defined }).collect()))
    }
}

impl<'de> Deserialize<'de> for Rejects {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Codes;

        impl<'de> Visitor<'de> for Codes {
            type Value = Rejects;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`none` or a sequence of error codes")
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<Rejects, E> {
                if word == "none" {
                    Ok(Rejects(Vec::new()))
                } else {
                    Err(E::invalid_value(Unexpected::Str(word), &self))
                }
            }

            fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<Rejects, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(sequence)).map(Rejects)
            }
        }

        deserializer.deserialize_any(Codes)
    }
}

impl<'de> Deserialize<'de> for Expect {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Arms;

        impl<'de> Visitor<'de> for Arms {
            type Value = Expect;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`unspecified`, a mapping with an outcome or a sequence of such mappings")
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<Expect, E> {
                Ok(Expect::Word(word.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, mapping: A) -> Result<Expect, A::Error> {
                ArmEntry::deserialize(MapAccessDeserializer::new(mapping))
                    .map(|arm| Expect::One(Box::new(arm)))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<Expect, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(sequence)).map(Expect::Arms)
            }
        }

        deserializer.deserialize_any(Arms)
    }
}

/// A mapping in the order of the file.
pub(super) struct InOrder<T>(pub(super) Vec<(Spanned<String>, T)>);

impl<T> Default for InOrder<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for InOrder<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Mapping<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Mapping<T> {
            type Value = InOrder<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mapping")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<InOrder<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(InOrder(entries))
            }
        }

        deserializer.deserialize_map(Mapping(PhantomData))
    }
}
