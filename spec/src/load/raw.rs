//! The formats of the files under `spec/`, as serde reads them. `cases` and its neighbours interpret the values. The JSON Schema
//! of case files follows from these types: where a value is read by hand later, `schema` says what it looks like.

#[cfg(test)]
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};
use serde_yaml::Location;

#[cfg(test)]
use crate::DType;
use crate::ErrorCode;
use crate::case::{Provenance, When};
use crate::clause::{Basis, Document, Erratum, Evidence, Example, OutOfScope, Renamed, Section};
use crate::error_fields;
use crate::yaml::{Node, Spanned};

#[cfg(test)]
use super::schema::{
    self, Attribute, Bytes, Count, DtypeOrAny, Elements, Fill, Number, Output, Position, Rule, Size,
};

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

/// Cases of one operator, or of the family of a form. The id of a case is `<operator>/<file stem>/<name>`.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct CaseFile {
    /// The version of this format: 2.
    #[cfg_attr(test, schemars(range(min = 2, max = 2)))]
    pub(super) schema: Spanned<u32>,
    /// The operator of these cases. It must match the folder.
    pub(super) operator: Spanned<String>,
    /// The cases.
    #[cfg_attr(test, schemars(length(min = 1)))]
    pub(super) cases: Spanned<Vec<CaseEntry>>,
}

/// Cases of the family of a form.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct FamilyFile {
    pub(super) schema: Spanned<u32>,
    /// The form whose operators take these cases. It must match the folder.
    pub(super) form: Spanned<String>,
    pub(super) cases: Spanned<Vec<CaseEntry>>,
}

/// A call, the clauses that it tests, and the allowed outcomes.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct CaseEntry {
    /// What the case distinguishes. It is part of an id that never changes.
    #[cfg_attr(test, schemars(regex(pattern = "^[a-z0-9-]{1,100}$")))]
    pub(super) name: Spanned<String>,
    /// The documented example that it transcribes, such as `tf-gather-nd/2`.
    #[serde(default, deserialize_with = "present")]
    pub(super) documented: Option<Spanned<String>>,
    /// The clauses that it tests, of the operator or of the family.
    #[cfg_attr(test, schemars(length(min = 1)))]
    pub(super) clauses: Spanned<Vec<Spanned<String>>>,
    /// What the case distinguishes, if the name does not say so.
    #[serde(default, deserialize_with = "present")]
    pub(super) why: Option<String>,
    /// Public threads of real bugs that it reproduces, one or a list.
    #[serde(default)]
    pub(super) history: OneOrMany<Spanned<Evidence>>,
    /// Who computed the expectation, unless it was derived by hand. Under `spec/`, never an implementation of this project.
    #[serde(default, deserialize_with = "present")]
    pub(super) provenance: Option<Spanned<Provenance>>,
    /// The tensors, by the names of the operator's page; in a family, by role.
    pub(super) operands: Spanned<InOrder<Spanned<TensorEntry>>>,
    /// The attributes that are sent, by name; in a family, by role. An absent attribute is not sent.
    #[serde(default, deserialize_with = "present")]
    #[cfg_attr(test, schemars(with = "BTreeMap<String, Option<Attribute>>"))]
    pub(super) attributes: Option<Spanned<Node>>,
    /// The dtypes and sizes that the case expands to.
    #[serde(default, deserialize_with = "present")]
    pub(super) for_each: Option<Spanned<ForEach>>,
    /// The allowed outcomes.
    pub(super) expect: Spanned<Expect>,
}

/// The dtypes and sizes that a case expands to: every combination of dtypes; of several lists of sizes, combinations such that
/// each value of each list occurs with each value of each other list.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ForEach {
    /// The dtypes of params.
    #[serde(default)]
    #[cfg_attr(test, schemars(with = "Vec<DType>"))]
    pub(super) params_dtype: Vec<Spanned<String>>,
    /// The dtypes of indices.
    #[serde(default)]
    #[cfg_attr(test, schemars(with = "Vec<DType>"))]
    pub(super) index_dtype: Vec<Spanned<String>>,
    /// Named sizes, each with its values.
    #[serde(default)]
    pub(super) sizes: InOrder<Spanned<Vec<Spanned<u32>>>>,
    /// Preferred widths in bytes of params elements under `any`, for a backend that has such a dtype.
    #[serde(default, deserialize_with = "present")]
    pub(super) element_bytes: Option<Spanned<Vec<Spanned<u32>>>>,
    /// Preferred widths in bytes of indices under `any`.
    #[serde(default, deserialize_with = "present")]
    pub(super) index_bytes: Option<Spanned<Vec<Spanned<u32>>>>,
    /// Limits on products of sizes, such as `n*m: 4096`.
    #[serde(default)]
    pub(super) at_most: InOrder<usize>,
}

/// A tensor: `data`, `bits`, or `shape` with `fill`. In an output it has no `dtype`.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct TensorEntry {
    /// The dtype, or `any` if it does not matter. Omitted if `for-each` lists dtypes.
    #[serde(default, deserialize_with = "present")]
    #[cfg_attr(test, schemars(with = "DtypeOrAny"))]
    pub(super) dtype: Option<Spanned<String>>,
    /// The dims. Needed with `fill`, and with `data: []` for an empty tensor.
    #[serde(default, deserialize_with = "present")]
    #[cfg_attr(test, schemars(with = "Vec<Number>"))]
    pub(super) shape: Option<Spanned<Node>>,
    /// Nested rows of elements. A string is a text or `{ hex: "00ff" }`, a complex number `{ re: 1, im: 2 }`.
    #[serde(default, deserialize_with = "present")]
    #[cfg_attr(test, schemars(with = "Elements"))]
    pub(super) data: Option<Spanned<Node>>,
    /// `zeros`, `iota` (0, 1, 2, …), `{ cycle: 251 }` (0 to 250, then 0 again), `{ value: x }`, or a closed form.
    #[serde(default, deserialize_with = "present")]
    #[cfg_attr(test, schemars(with = "Fill"))]
    pub(super) fill: Option<Spanned<Node>>,
    /// Nested rows of bit patterns, such as `0x7fc00001`; a complex number as `[re, im]`.
    #[serde(default, deserialize_with = "present")]
    #[cfg_attr(test, schemars(with = "Elements"))]
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
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(untagged))]
pub(super) enum Expect {
    /// Anything but a crash.
    Word(#[cfg_attr(test, schemars(extend("const" = "unspecified")))] String),
    One(Box<ArmEntry>),
    Arms(Vec<Spanned<ArmEntry>>),
}

/// How a field of an error is written, by its kind.
macro_rules! written {
    ("Position") => { Vec<Spanned<Node>> };
    ("Count") => { usize };
    ("Number") => { Node };
    ("Size") => { Node };
    ("Bytes") => { u128 };
    ("Rule") => { String };
}

macro_rules! arm_entry {
    ($($code:ident { $($(#[doc = $doc:literal])+ $name:ident: $ty:ty as $kind:tt,)+ })+) => {
        /// The outcome allowed under the profiles of `when`: exactly one of output, shape, error, any-of, unspecified.
        #[derive(Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(deny_unknown_fields, rename_all = "kebab-case")]
        pub(super) struct ArmEntry {
            /// The profiles that this applies to. If absent, all that remain.
            #[serde(default, deserialize_with = "present")]
            pub(super) when: Option<Spanned<When>>,
            /// Exactly this tensor, bit by bit.
            #[serde(default, deserialize_with = "present")]
            #[cfg_attr(test, schemars(with = "Output<TensorEntry>"))]
            pub(super) output: Option<Spanned<Node>>,
            /// Any tensor with this shape.
            #[serde(default, deserialize_with = "present")]
            #[cfg_attr(test, schemars(with = "Vec<Number>"))]
            pub(super) shape: Option<Spanned<Node>>,
            /// An error with this code.
            #[serde(default, deserialize_with = "present")]
            #[cfg_attr(test, schemars(with = "ErrorCode"))]
            pub(super) error: Option<Spanned<String>>,
            $($(
                $(#[doc = $doc])+
                #[serde(default, deserialize_with = "present")]
                #[cfg_attr(test, schemars(with = $kind))]
                pub(super) $name: Option<Spanned<written!($kind)>>,
            )+)+
            /// For `output-too-large` under `dtype: any`, in place of `bytes`: the product of the non-zero dims.
            #[serde(default, deserialize_with = "present")]
            pub(super) elements: Option<Spanned<u128>>,
            /// Several outcomes, each of which passes.
            #[serde(default, deserialize_with = "present")]
            pub(super) any_of: Option<Spanned<Vec<Spanned<ArmEntry>>>>,
            /// Anything but a crash.
            #[serde(default, deserialize_with = "present")]
            pub(super) unspecified: Option<Spanned<bool>>,
        }

        impl ArmEntry {
            /// Where each field of an error is written, by name.
            pub(super) fn stated(&self) -> impl Iterator<Item = (&'static str, Option<Location>)> {
                let places = [$($((stringify!($name), self.$name.as_ref().map(|field| field.defined)),)+)+];
                places.into_iter()
            }
        }
    };
}

error_fields!(arm_entry);

/// One value, or a list of them.
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(with = "schema::OneOrMany<T>", inline))]
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

        let Spanned { value: Whole(values), defined } = Spanned::<Whole<T>>::deserialize(deserializer)?;
        Ok(Self(values.into_iter().map(|value| Spanned { value, defined }).collect()))
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
        struct ExpectVisitor;

        impl<'de> Visitor<'de> for ExpectVisitor {
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

        deserializer.deserialize_any(ExpectVisitor)
    }
}

/// A mapping in the order of the file.
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(with = "BTreeMap<String, T>", inline))]
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
