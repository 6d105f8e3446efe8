//! Selectors: which calls among those that an entry names deviate. A selector tests what a call asks and, by `message`,
//! what the backend said. Cases, drawn calls and laws share it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use gather_spec::{Attribute, BadIndex, DType, NegativeIndex, Profile, Signature, Variant};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::facts::{ExpectedOutcome, Facts};
use crate::words::quoted;

/// What calls have in common. Absent members restrict nothing.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Selector {
    /// What is expected: an output, or an error with one of these codes.
    #[serde(deserialize_with = "one_or_several")]
    pub(super) expected: Option<BTreeSet<ExpectedOutcome>>,
    /// The dtype of params.
    #[serde(deserialize_with = "one_or_several")]
    pub(super) params_dtype: Option<BTreeSet<DType>>,
    /// The dtype of indices.
    #[serde(deserialize_with = "one_or_several")]
    pub(super) index_dtype: Option<BTreeSet<DType>>,
    /// The rank of params.
    pub(super) rank: Option<Span>,
    /// The number of elements of params.
    pub(super) size: Option<Span>,
    /// Whether some operand has no elements.
    pub(super) empty: Option<bool>,
    /// Attributes that the call carries.
    pub(super) attribute: Option<Carried>,
    /// The mode, for operators that have modes; a call that sends none has the default.
    #[serde(deserialize_with = "one_or_several")]
    pub(super) mode: Option<BTreeSet<String>>,
    /// The policies that apply to the call.
    pub(super) policy: Option<PolicySelector>,
    /// Variants of the call: all that one of these texts names; `usual` for none.
    #[serde(deserialize_with = "one_or_several")]
    pub(super) variant: Option<BTreeSet<InVariant>>,
    /// A part of what the backend said.
    pub(super) message: Option<String>,
}

/// A number, or a range with both its ends: `3`, `2..4`, `5..`, `..4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "NumberOrRange")]
pub(crate) struct Span {
    least: u64,
    most: Option<u64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum NumberOrRange {
    Number(u64),
    Range(String),
}

/// One attribute by its name, or some with their values.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub(super) enum Carried {
    /// The call carries it.
    Name(String),
    /// The call carries all of these.
    Values(BTreeMap<String, Value>),
}

/// What a variant has, among other values or not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(super) enum InVariant {
    Usual,
    With(Variant),
}

impl TryFrom<String> for InVariant {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let with = |variant: Variant| match variant.is_usual() {
            true => Err("an empty variant; `usual` means none".to_owned()),
            false => Ok(Self::With(variant)),
        };
        if text == "usual" { Ok(Self::Usual) } else { text.parse().and_then(with) }
    }
}

impl fmt::Display for InVariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usual => f.write_str("usual"),
            Self::With(variant) => f.write_str(&quoted(&variant.to_string())),
        }
    }
}

impl InVariant {
    fn fits(&self, variant: &Variant) -> bool {
        match self {
            Self::Usual => variant.is_usual(),
            Self::With(part) => variant.includes(part),
        }
    }
}

/// Policies. An absent one restricts nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct PolicySelector {
    bad: Option<BadIndex>,
    negative: Option<NegativeIndex>,
}

/// Reads one value, or a list that is not empty.
pub(super) fn one_or_several<'de, D, T>(deserializer: D) -> Result<Option<BTreeSet<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Ord,
{
    #[derive(Deserialize)]
    #[serde(untagged, bound = "T: Deserialize<'de> + Ord")]
    enum OneOrSeveral<T> {
        One(T),
        Several(BTreeSet<T>),
    }
    Ok(Some(match OneOrSeveral::deserialize(deserializer)? {
        OneOrSeveral::One(one) => BTreeSet::from([one]),
        OneOrSeveral::Several(several) => several,
    }))
}

impl Selector {
    /// Whether a call is selected, with what the backend said.
    pub(crate) fn fits(&self, facts: &Facts) -> bool {
        fn among<T: Ord>(wanted: Option<&BTreeSet<T>>, value: Option<&T>) -> bool {
            wanted.is_none_or(|wanted| value.is_some_and(|value| wanted.contains(value)))
        }
        let within = |span: Option<Span>, number| span.is_none_or(|span| span.holds(number));
        let expected = self.expected.as_ref();
        expected.is_none_or(|wanted| facts.expected.iter().any(|expected| wanted.contains(expected)))
            && among(self.params_dtype.as_ref(), Some(&facts.params))
            && among(self.index_dtype.as_ref(), Some(&facts.indices))
            && within(self.rank, facts.rank)
            && within(self.size, facts.size)
            && self.empty.is_none_or(|empty| empty == facts.empty)
            && self.attribute.as_ref().is_none_or(|attribute| attribute.fits(&facts.attributes))
            && among(self.mode.as_ref(), facts.mode.as_ref())
            && self.policy.is_none_or(|policy| policy.fits(facts.profile))
            && self.variant.as_ref().is_none_or(|any| any.iter().any(|one| one.fits(&facts.variant)))
            && self.message.as_ref().is_none_or(|part| {
                facts.message.as_ref().is_some_and(|message| message.contains(part.as_str()))
            })
    }

    /// Whether it restricts nothing.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Everything that is wrong with it, for an entry about these operators.
    pub(super) fn wrong(&self, operators: &[&Signature]) -> Vec<String> {
        let mut wrong = Vec::new();
        let lists = [
            ("expected", self.expected.as_ref().map(BTreeSet::is_empty)),
            ("params-dtype", self.params_dtype.as_ref().map(BTreeSet::is_empty)),
            ("index-dtype", self.index_dtype.as_ref().map(BTreeSet::is_empty)),
            ("mode", self.mode.as_ref().map(BTreeSet::is_empty)),
            ("variant", self.variant.as_ref().map(BTreeSet::is_empty)),
            ("message", self.message.as_ref().map(String::is_empty)),
            ("policy", self.policy.map(|policy| policy == PolicySelector::default())),
            ("attribute", self.attribute.as_ref().map(|carried| carried.names().next().is_none())),
        ];
        let empty = lists.into_iter().filter(|(_, empty)| *empty == Some(true));
        wrong.extend(empty.map(|(name, _)| format!("has an empty `{name}`")));
        let has = |name: &str| operators.iter().any(|one| one.attribute_named(name).is_some());
        let names = self.attribute.iter().flat_map(Carried::names).filter(|name| !has(name));
        wrong.extend(
            names.map(|name| format!("names the attribute {}, which no operator of it has", quoted(name))),
        );
        if self.mode.is_some() && operators.iter().all(|one| one.modes().is_empty()) {
            wrong.push("names a mode, and no operator of it has modes".to_owned());
        }
        wrong
    }
}

/// The selector as YAML: `{ rank: 5.., empty: true }`.
impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list<T: ToString>(values: Option<&BTreeSet<T>>) -> Option<String> {
            let values: Vec<String> = values?.iter().map(T::to_string).collect();
            Some(if let [one] = values.as_slice() { one.clone() } else { format!("[{}]", values.join(", ")) })
        }
        let modes = self.mode.as_ref().map(|modes| modes.iter().map(|mode| quoted(mode)).collect());
        let parts = [
            ("expected", list(self.expected.as_ref())),
            ("params-dtype", list(self.params_dtype.as_ref())),
            ("index-dtype", list(self.index_dtype.as_ref())),
            ("rank", self.rank.map(|span| span.to_string())),
            ("size", self.size.map(|span| span.to_string())),
            ("empty", self.empty.map(|empty| empty.to_string())),
            ("attribute", self.attribute.as_ref().map(Carried::to_string)),
            ("mode", list(modes.as_ref())),
            ("policy", self.policy.map(|policy| policy.to_string())),
            ("variant", list(self.variant.as_ref())),
            ("message", self.message.as_deref().map(quoted)),
        ];
        let parts = parts.into_iter().filter_map(|(name, value)| Some(format!("{name}: {}", value?)));
        write!(f, "{{ {} }}", parts.collect::<Vec<_>>().join(", "))
    }
}

impl fmt::Display for ExpectedOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Output => f.write_str("output"),
            Self::Code(code) => f.write_str(code.name()),
        }
    }
}

impl Span {
    pub(super) const fn from(least: u64) -> Self {
        Self { least, most: None }
    }

    pub(super) const fn up_to(most: u64) -> Self {
        Self { least: 0, most: Some(most) }
    }

    pub(super) const fn only(number: u64) -> Self {
        Self { least: number, most: Some(number) }
    }

    pub(super) const fn holds(self, number: u64) -> bool {
        self.least <= number
            && match self.most {
                Some(most) => number <= most,
                None => true,
            }
    }
}

impl TryFrom<NumberOrRange> for Span {
    type Error = String;

    fn try_from(text: NumberOrRange) -> Result<Self, String> {
        let text = match text {
            NumberOrRange::Number(number) => return Ok(Self::only(number)),
            NumberOrRange::Range(text) => text,
        };
        let number = |text: &str| text.parse().ok();
        let span = match text.split_once("..") {
            Some((least, "")) => number(least).map(Self::from),
            Some(("", most)) => number(most).map(Self::up_to),
            Some((least, most)) => {
                number(least).zip(number(most)).map(|(least, most)| Self { least, most: Some(most) })
            }
            None => None,
        };
        let span = span.filter(|span| span.most.is_none_or(|most| span.least <= most));
        span.ok_or_else(|| format!("{} is no number or range such as 3, 2..4, 5.. or ..4", quoted(&text)))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.least, self.most) {
            (least, None) => write!(f, "{least}.."),
            (least, Some(most)) if least == most => write!(f, "{least}"),
            (0, Some(most)) => write!(f, "..{most}"),
            (least, Some(most)) => write!(f, "{least}..{most}"),
        }
    }
}

impl Carried {
    fn names(&self) -> impl Iterator<Item = &str> {
        let (name, values) = match self {
            Self::Name(name) => (Some(name.as_str()), None),
            Self::Values(values) => (None, Some(values)),
        };
        name.into_iter().chain(values.into_iter().flat_map(|values| values.keys().map(String::as_str)))
    }

    fn fits(&self, attributes: &[(String, Attribute)]) -> bool {
        let sent = |name: &str| attributes.iter().find(|(sent, _)| sent == name).map(|(_, value)| value);
        match self {
            Self::Name(name) => sent(name).is_some(),
            Self::Values(values) => {
                values.iter().all(|(name, wanted)| sent(name).is_some_and(|value| equals(wanted, value)))
            }
        }
    }
}

/// Whether a value of a file is that of an attribute. An element is written as its text: `f32 1.5`.
fn equals(wanted: &Value, value: &Attribute) -> bool {
    serde_json::to_value(value).is_ok_and(|value| {
        // An attribute that is a float may be written without a point.
        let as_float = || value.is_f64() && wanted.is_number() && wanted.as_f64() == value.as_f64();
        *wanted == value || as_float()
    })
}

impl fmt::Display for Carried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(&quoted(name)),
            Self::Values(values) => {
                let values = values.iter().map(|(name, value)| format!("{}: {value}", quoted(name)));
                write!(f, "{{ {} }}", values.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

impl PolicySelector {
    fn fits(self, profile: Profile) -> bool {
        self.bad.is_none_or(|bad| bad == profile.bad)
            && self.negative.is_none_or(|negative| negative == profile.negative)
    }
}

impl fmt::Display for PolicySelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bad = self.bad.map(|bad| format!("bad: {bad}"));
        let negative = self.negative.map(|negative| format!("negative: {negative}"));
        write!(f, "{{ {} }}", bad.into_iter().chain(negative).collect::<Vec<_>>().join(", "))
    }
}
