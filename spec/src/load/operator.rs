//! From an `operator.yaml` as written to a [`Signature`].

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::{SeqAccessDeserializer, StrDeserializer};
use serde::de::{Deserializer, Error, SeqAccess, Visitor};

use crate::DType;
use crate::call::{Attribute, BadIndex, NegativeIndex, Operator};
use crate::diagnostic::{Diagnostic, Quoted};
use crate::signature::{
    AttributeDefault, AttributeRole, AttributeSignature, AttributeType, Form, OperandRole, OperandSignature,
    PermittedPolicies, Range, RankRule, Signature, Tolerated,
};
use crate::yaml::{Node, Spanned, Text};

use super::check_schema;
use super::raw::{FamiliesEntry, InOrder, present};

/// The version of this form.
const SCHEMA: u32 = 2;

/// `operator.yaml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OperatorFile {
    schema: Spanned<u32>,
    operator: Spanned<String>,
    summary: String,
    documents: Vec<String>,
    form: Form,
    operands: Spanned<InOrder<OperandEntry>>,
    #[serde(default)]
    attributes: InOrder<AttributeEntry>,
    policy: PolicyEntry,
    #[serde(default)]
    tolerates: TolerancesEntry,
    #[serde(default, deserialize_with = "present")]
    depth: Option<Spanned<DepthEntry>>,
    #[serde(default)]
    families: FamiliesEntry,
}

/// What an `operator.yaml` says.
pub(super) struct OperatorPage {
    pub(super) signature: Signature,
    /// Which clauses of the operator stand for which of a family.
    pub(super) families: FamiliesEntry,
    /// Where the operator is named.
    pub(super) named: serde_yaml::Location,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OperandEntry {
    role: Spanned<OperandRole>,
    dtypes: Spanned<Dtypes>,
    rank: RankRule,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AttributeEntry {
    role: Spanned<AttributeRole>,
    r#type: Spanned<AttributeType>,
    #[serde(default, deserialize_with = "present")]
    default: Option<Spanned<Node>>,
    #[serde(default, deserialize_with = "present")]
    range: Option<Spanned<Range>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyEntry {
    negative: Spanned<Words<NegativeIndex>>,
    bad: Spanned<Words<BadIndex>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct TolerancesEntry {
    #[serde(default)]
    params_dtypes: Dtypes,
    #[serde(default)]
    index_dtypes: Dtypes,
    #[serde(default, deserialize_with = "present")]
    indices_rank: Option<RankRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DepthEntry {
    least: usize,
}

/// `all`, or a list of dtypes.
#[derive(Default)]
struct Dtypes(Vec<DType>);

/// A word, or a list of them.
struct Words<T>(Vec<T>);

impl Signature {
    /// What the text of an `operator.yaml` says. The families are not looked at.
    pub(super) fn read(text: Text<'_>) -> Result<OperatorPage, Diagnostic> {
        let file: OperatorFile = text.parse()?;
        check_schema(text, &file.schema, SCHEMA)?;
        let operands = operands(text, file.operands)?;
        let attributes = attributes(text, file.attributes, file.form)?;
        if let Some(depth) = file.depth.as_ref().filter(|_| file.form != Form::Nd) {
            let message = format!("the form {} has no index rows, so `depth` says nothing", file.form);
            return Err(text.wrong(depth.defined, message).help("leave it out"));
        }
        let signature = Self {
            operator: Operator::new(file.operator.value.as_str()),
            summary: file.summary,
            documents: file.documents,
            form: file.form,
            operands,
            attributes,
            policy: PermittedPolicies {
                negative: policies(text, file.policy.negative)?,
                bad: policies(text, file.policy.bad)?,
            },
            tolerates: Tolerated {
                params_dtypes: file.tolerates.params_dtypes.0,
                index_dtypes: file.tolerates.index_dtypes.0,
                indices_rank: file.tolerates.indices_rank,
            },
            least_depth: file.depth.map_or(0, |depth| depth.value.least),
        };
        Ok(OperatorPage { signature, families: file.families, named: file.operator.defined })
    }
}

/// The policies that the pages permit, of which there is one at least.
fn policies<T>(text: Text<'_>, written: Spanned<Words<T>>) -> Result<Vec<T>, Diagnostic> {
    if written.value.0.is_empty() {
        return Err(text
            .wrong(written.defined, "the pages permit at least one policy")
            .help("write it as a word, or several as a list"));
    }
    Ok(written.value.0)
}

/// Every role once, in the order of the file.
fn operands(
    text: Text<'_>,
    written: Spanned<InOrder<OperandEntry>>,
) -> Result<Vec<OperandSignature>, Diagnostic> {
    let mut operands: Vec<OperandSignature> = Vec::new();
    for (name, entry) in written.value.0 {
        if let Some(other) = operands.iter().find(|other| other.role == entry.role.value) {
            let message = format!("{} has this role already", Quoted(&other.name));
            return Err(text.wrong(entry.role.defined, message).help("a role is played by one operand"));
        }
        if entry.dtypes.value.0.is_empty() {
            return Err(text
                .wrong(entry.dtypes.defined, "an operand takes at least one dtype")
                .help("write `all`, or a list such as [i32, i64]"));
        }
        let (role, dtypes) = (entry.role.value, entry.dtypes.value.0);
        operands.push(OperandSignature { name: name.value.into(), role, dtypes, rank: entry.rank });
    }
    for role in [OperandRole::Params, OperandRole::Indices] {
        if !operands.iter().any(|operand| operand.role == role) {
            let role = if role == OperandRole::Params { "params" } else { "indices" };
            return Err(text
                .wrong(written.defined, format!("no operand has the role `{role}`"))
                .help("every form gathers from params what indices say"));
        }
    }
    Ok(operands)
}

fn attributes(
    text: Text<'_>,
    written: InOrder<AttributeEntry>,
    form: Form,
) -> Result<Vec<AttributeSignature>, Diagnostic> {
    let mut attributes: Vec<AttributeSignature> = Vec::new();
    for (name, entry) in written.0 {
        let role = &entry.role;
        let twice =
            |other: &AttributeSignature| other.role == role.value && other.role != AttributeRole::Ignored;
        if let Some(other) = attributes.iter().find(|other| twice(other)) {
            let message = format!("{} has this role already", Quoted(&other.name));
            return Err(text.wrong(role.defined, message).help("a role is played by one attribute"));
        }
        if role.value == AttributeRole::Axis && form != Form::Take {
            return Err(text.wrong(role.defined, format!("the form {form} has no axis")));
        }
        let fixed = role.value != AttributeRole::Ignored;
        if fixed && entry.r#type.value != AttributeType::Integer {
            return Err(text.wrong(entry.r#type.defined, "an attribute of this role is an integer"));
        }
        let range = range(text, &name, &entry, form)?;
        let default = default(text, &name, &entry)?;
        let (role, r#type) = (role.value, entry.r#type.value);
        attributes.push(AttributeSignature { name: name.value, role, r#type, default, range });
    }
    Ok(attributes)
}

/// The range of an attribute: what has an effect has one that speaks of its role.
fn range(
    text: Text<'_>,
    name: &Spanned<String>,
    entry: &AttributeEntry,
    form: Form,
) -> Result<Option<Range>, Diagnostic> {
    let fitting = match (entry.role.value, form) {
        (AttributeRole::Ignored, _) => None,
        (AttributeRole::Axis, _) => Some((Range::FromMinusRBelowR, "from-minus-r-below-r")),
        (AttributeRole::BatchDims, Form::Take) => Some((Range::FromMinusQToQ, "from-minus-q-to-q")),
        (AttributeRole::BatchDims, Form::Nd) => Some((Range::From0BelowQToR, "from-0-below-q-to-r")),
    };
    match (fitting, &entry.range) {
        (None, None) => Ok(None),
        (None, Some(range)) => Err(text
            .wrong(range.defined, "an attribute without effect has no range")
            .help("leave `range` out")),
        (Some((_, word)), None) => Err(text
            .wrong(name.defined, format!("{} has no `range`", Quoted(&name.value)))
            .help(format!("such as `range: {word}`"))),
        (Some((fitting, _)), Some(range)) if range.value == fitting => Ok(Some(fitting)),
        (Some((_, word)), Some(range)) => Err(text
            .wrong(range.defined, "this range is not one of an attribute of this role and form")
            .help(format!("`{word}` is expected"))),
    }
}

/// The default of an attribute: a value of its type within any range, or, of an axis, the word `batch-dims`.
fn default(
    text: Text<'_>,
    name: &Spanned<String>,
    entry: &AttributeEntry,
) -> Result<AttributeDefault, Diagnostic> {
    let Some(written) = &entry.default else {
        return match entry.role.value {
            AttributeRole::Ignored => Ok(AttributeDefault::Undocumented),
            _ => Err(text
                .wrong(name.defined, format!("{} has no `default`", Quoted(&name.value)))
                .help("write what its absence stands for, such as `default: 0`")),
        };
    };
    let word = text.scalar(written).filter(|_| !text.is_quoted(written));
    let value = match (entry.role.value, entry.r#type.value, word) {
        (AttributeRole::Axis, _, Some("batch-dims")) => return Ok(AttributeDefault::BatchDims),
        (_, AttributeType::Integer, Some(word)) => word.parse().ok().map(Attribute::Integer),
        (_, AttributeType::Boolean, Some(word)) => word.parse().ok().map(Attribute::Boolean),
        _ => None,
    };
    match (entry.range.as_ref().map(|range| range.value), value) {
        (_, None) => Err(text
            .wrong(
                written.defined,
                format!("the default of {} is {}", Quoted(&name.value), entry.r#type.value),
            )
            .help("an axis may also have `default: batch-dims`")),
        (Some(Range::From0BelowQToR), Some(Attribute::Integer(..0))) => {
            Err(text.wrong(written.defined, "the default is outside the range").help("it begins at 0"))
        }
        (_, Some(value)) => Ok(AttributeDefault::Value(value)),
    }
}

impl<'de> Deserialize<'de> for Dtypes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListOrAll;

        impl<'de> Visitor<'de> for ListOrAll {
            type Value = Dtypes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`all` or a list of dtypes")
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<Dtypes, E> {
                match word {
                    "all" => Ok(Dtypes(DType::ALL.to_vec())),
                    other => Err(E::unknown_variant(other, &["all"])),
                }
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Dtypes, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(Dtypes)
            }
        }

        deserializer.deserialize_any(ListOrAll)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Words<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrMany<T> {
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

        deserializer.deserialize_any(OneOrMany(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIGHT: &str = include_str!("../../operators/tf/gather/operator.yaml");

    /// What is wrong once a part of a right signature is changed: its line and column, and both texts.
    fn wrong(part: &str, instead: &str) -> (usize, usize, String) {
        let text = RIGHT.replacen(part, instead, 1);
        assert_ne!(text, RIGHT, "{part}");
        let diagnostic =
            Signature::read(Text { file: "operator.yaml", text: &text }).map(|_| ()).unwrap_err();
        let place = diagnostic.place.unwrap();
        (place.line, place.column, format!("{diagnostic}"))
    }

    #[test]
    fn what_is_wrong_with_a_signature_is_said_where_it_stands_with_what_would_be_right() {
        let text = Text { file: "operator.yaml", text: RIGHT };
        assert!(Signature::read(text).is_ok());
        let table: &[(&str, &str, usize, &[&str])] = &[
            ("schema: 2", "schema: 3", 1, &["schema 3 is not known", "write `schema: 2`"]),
            ("form: take", "form: taken", 5, &["`taken`", "take nd"]),
            ("role: params", "role: source", 7, &["`source`", "params indices"]),
            ("role: params", "role: indices", 8, &["`params` has this role already"]),
            ("dtypes: all", "dtypes: any", 7, &["`any`", "all"]),
            ("dtypes: all", "dtypes: []", 7, &["at least one dtype"]),
            ("[i32, i64]", "[i32, i63]", 8, &["`i63`"]),
            ("rank: any", "rank: at-least-9", 8, &["`at-least-9`", "at-least-1"]),
            ("role: axis", "role: axes", 10, &["`axes`", "axis batch-dims ignored"]),
            ("type: integer", "type: boolean", 10, &["an attribute of this role is an integer"]),
            ("default: batch-dims", "default: last", 10, &["the default of `axis` is an integer"]),
            ("default: 0, ", "", 11, &["`batch_dims` has no `default`"]),
            ("range: from-minus-r-below-r", "range: 0..r", 10, &["`0..r`", "from-minus-r-below-r"]),
            ("from-minus-q-to-q", "from-minus-r-below-r", 11, &["`from-minus-q-to-q` is expected"]),
            (", range: from-minus-q-to-q", "", 11, &["`batch_dims` has no `range`"]),
            ("role: ignored, type: boolean", "role: ignored, type: word", 12, &["`word`", "integer boolean"]),
            ("bad: [error, zero]", "bad: []", 13, &["at least one policy"]),
            ("bad: [error, zero]", "bad: [error, nil]", 13, &["`nil`", "zero"]),
            ("tolerates:", "depth: { least: 1 }\ntolerates:", 14, &["the form take has no index rows"]),
            ("policy:", "polices:", 13, &["unknown key `polices`", "policy"]),
        ];
        for (part, instead, line, words) in table {
            let (found, column, said) = wrong(part, instead);
            assert!(found == *line && column > 0, "{instead}: line {found}\n{said}");
            for word in *words {
                assert!(said.contains(word), "{instead}: {word} is missing in\n{said}");
            }
        }
    }

    #[test]
    fn a_default_lies_within_its_range() {
        let right = include_str!("../../operators/tf/gather_nd/operator.yaml");
        let text = right.replacen("default: 0", "default: -1", 1);
        let said = Signature::read(Text { file: "operator.yaml", text: &text }).map(|_| ()).unwrap_err();
        assert_eq!(said.message, "the default is outside the range");
    }
}
