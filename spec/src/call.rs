//! What a backend sees and what it answers: operators by name, calls, policies, outcomes.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};

use crate::shape::{MAX_BYTES, nonzero_bytes};
use crate::{DType, ErrorCode, ErrorFields, GatherError, Refusal, Tensor};

/// The name of a documented function, such as `tf.gather_nd`. The set is open: whatever has a folder under
/// `spec/operators/` is an operator, and a backend answers those that it knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Operator(Arc<str>);

impl Operator {
    /// The operator of that name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The value of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Attribute {
    /// `true` or `false`.
    Boolean(bool),
    /// An integer within i64.
    Integer(i64),
}

impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
        }
    }
}

impl<'de> Deserialize<'de> for Attribute {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Value;

        impl Visitor<'_> for Value {
            type Value = Attribute;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a boolean, or an integer from -2^63 to 2^63 - 1")
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
                    .map_err(|_| E::custom("an attribute must be from -2^63 to 2^63 - 1"))
            }
        }

        deserializer.deserialize_any(Value)
    }
}

/// Attributes by name. An absent attribute is not sent: absent and explicit default are different calls.
pub type Attributes = BTreeMap<String, Attribute>;

/// One question to a backend: all that it ever sees of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The function asked for.
    pub operator: Operator,
    /// The tensor to gather from.
    pub params: Tensor,
    /// The tensor that says what to gather.
    pub indices: Tensor,
    /// The attributes that are sent.
    pub attributes: Attributes,
}

/// What happens to an index outside its axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BadIndex {
    /// The call is refused with `index-out-of-range`.
    #[default]
    Error,
    /// One bad component makes the whole slice of its row zero bits.
    Zero,
    /// Each component is moved to the nearest end of its axis; with an axis of size 0 the slice is zero.
    Clamp,
    /// Any output of the right shape, or any error.
    Unspecified,
}

/// What a negative index means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NegativeIndex {
    /// It is a bad index.
    #[default]
    Reject,
    /// `-s <= i < 0` means `i + s`.
    Wrap,
}

/// What the documents leave to device or version, as a backend declares it for an operator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// What happens to an index outside its axis.
    pub bad: BadIndex,
    /// What a negative index means.
    pub negative: NegativeIndex,
}

impl BadIndex {
    /// The three policies that fix the outcome; `unspecified` fixes none.
    pub const SPECIFIED: [Self; 3] = [Self::Error, Self::Zero, Self::Clamp];
}

impl NegativeIndex {
    /// Both policies.
    pub const ALL: [Self; 2] = [Self::Reject, Self::Wrap];
}

impl Profile {
    /// Every pair of policies that fixes the outcome.
    pub fn all_specified() -> impl Iterator<Item = Self> {
        BadIndex::SPECIFIED
            .into_iter()
            .flat_map(|bad| NegativeIndex::ALL.into_iter().map(move |negative| Self { bad, negative }))
    }
}

/// Names for the values of a policy, used in case files, in the protocol and on the command line.
macro_rules! policy_names {
    ($policy:ident { $($variant:ident => $name:literal),+ }) => {
        impl fmt::Display for $policy {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self { $(Self::$variant => $name),+ })
            }
        }

        impl FromStr for $policy {
            type Err = String;

            fn from_str(name: &str) -> Result<Self, String> {
                match name {
                    $($name => Ok(Self::$variant),)+
                    _ => Err(format!("`{name}` is unknown: one of {} is expected", [$($name),+].join(" "))),
                }
            }
        }
    };
}

policy_names!(BadIndex { Error => "error", Zero => "zero", Clamp => "clamp", Unspecified => "unspecified" });
policy_names!(NegativeIndex { Reject => "reject", Wrap => "wrap" });

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bad={},negative={}", self.bad, self.negative)
    }
}

/// An error as a backend reports it. A backend that cannot classify its errors gives no code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedError {
    /// Free text, shown but never compared.
    pub message: String,
    /// The stable code, if the backend knows it.
    pub code: Option<ErrorCode>,
    /// What is stated beside the code.
    pub fields: ErrorFields,
}

impl From<GatherError> for ReportedError {
    fn from(error: GatherError) -> Self {
        Self { message: error.to_string(), code: Some(error.code()), fields: error.fields() }
    }
}

/// What a backend answers to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The gathered tensor.
    Output(Tensor),
    /// An output without elements, whose dims other than 0 are more than any [`Tensor`] has. Only a backend that takes
    /// what it should refuse with `output-too-large` has such an output.
    TooLarge {
        /// The dtype.
        dtype: DType,
        /// The dims, of which one is 0.
        shape: Vec<usize>,
    },
    /// The call is refused.
    Error(ReportedError),
    /// The backend does not do such calls; says why.
    Unsupported(String),
}

impl Outcome {
    /// [`Outcome::TooLarge`], if that is what an output of this dtype and shape is.
    ///
    /// ```
    /// # use gather_spec::{DType, Outcome};
    /// assert!(Outcome::too_large(DType::F32, &[1 << 40, 0, 1 << 40]).is_some());
    /// assert!(Outcome::too_large(DType::F32, &[1 << 40, 0]).is_none());
    /// ```
    #[must_use]
    pub fn too_large(dtype: DType, shape: &[usize]) -> Option<Self> {
        let is_too_large = shape.contains(&0) && nonzero_bytes(shape, dtype) > MAX_BYTES;
        is_too_large.then(|| Self::TooLarge { dtype, shape: shape.to_vec() })
    }

    /// Whether two outcomes agree in what is compared: bits, codes and fields, not texts.
    #[must_use]
    pub fn agrees(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Output(one), Self::Output(other)) => one == other,
            (Self::Error(one), Self::Error(other)) => one.code == other.code && one.fields == other.fields,
            (Self::Unsupported(_), Self::Unsupported(_)) => true,
            (Self::TooLarge { .. }, Self::TooLarge { .. }) => self == other,
            _ => false,
        }
    }
}

impl From<Result<Tensor, Refusal>> for Outcome {
    fn from(result: Result<Tensor, Refusal>) -> Self {
        match result {
            Ok(output) => Self::Output(output),
            Err(Refusal::Error(error)) => Self::Error(error.into()),
            Err(Refusal::Unsupported(why)) => Self::Unsupported(why),
        }
    }
}
