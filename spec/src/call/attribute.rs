//! Attributes of a call.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::Tensor;
use crate::literal::Rows;

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Attribute {
    /// An explicit null, for attributes whose page allows that.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// An integer within i64.
    Integer(i64),
    /// A number that is neither infinite nor NaN.
    Float(Finite),
    /// A string.
    String(String),
    /// A list of integers within i64.
    Integers(Vec<i64>),
    /// One element, as a tensor of rank 0.
    #[serde(serialize_with = "as_text")]
    Element(Box<Tensor>),
}

/// Writes an element as its dtype and its value.
fn as_text<S: Serializer>(element: &Tensor, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{} {}", element.dtype(), Rows(element)))
}

/// A number that is neither infinite nor NaN. Equality is on bits.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(transparent)]
pub struct Finite(f64);

impl Finite {
    /// The number, unless it is infinite or NaN.
    #[must_use]
    pub fn new(number: f64) -> Option<Self> {
        number.is_finite().then_some(Self(number))
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl PartialEq for Finite {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Finite {}

impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            // With a decimal point, to distinguish 1.0 from the integer 1.
            Self::Float(value) => write!(f, "{:?}", value.get()),
            Self::String(value) => write!(f, "{value:?}"),
            Self::Integers(values) => write!(f, "{values:?}"),
            Self::Element(element) => Rows(element).fmt(f),
        }
    }
}

impl<'de> Deserialize<'de> for Attribute {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Value;

        impl<'de> Visitor<'de> for Value {
            type Value = Attribute;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "null, a boolean, an integer from -2^63 to 2^63 - 1, a finite number, a string or a list of integers",
                )
            }

            fn visit_unit<E: de::Error>(self) -> Result<Attribute, E> {
                Ok(Attribute::Null)
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Attribute, E> {
                Ok(Attribute::Boolean(value))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Attribute, E> {
                Ok(Attribute::Integer(value))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Attribute, E> {
                let value = i64::try_from(value);
                value
                    .map(Attribute::Integer)
                    .map_err(|_| E::custom("an integer attribute must be from -2^63 to 2^63 - 1"))
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Attribute, E> {
                let finite = Finite::new(value).map(Attribute::Float);
                finite.ok_or_else(|| E::custom("a number must be finite"))
            }

            fn visit_str<E: de::Error>(self, value: &str) -> Result<Attribute, E> {
                Ok(Attribute::String(value.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Attribute, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(Attribute::Integers)
            }
        }

        deserializer.deserialize_any(Value)
    }
}

/// Attributes by name. An absent attribute is not sent; this differs from sending its default.
pub type Attributes = BTreeMap<String, Attribute>;
