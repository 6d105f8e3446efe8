//! What a backend receives and returns: operators by name, calls, policies, outcomes.

mod attribute;
mod variant;

use std::fmt;
use std::sync::Arc;

use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize};

use crate::shape::{MAX_BYTES, nonzero_bytes};
use crate::{DType, ErrorCode, ErrorFields, GatherError, Refusal, Tensor, named};

pub use attribute::{Attribute, Attributes, Finite};
pub use variant::{EXECUTION, OPERANDS, SHAPES, Variant, Way};

/// The name of a documented function, such as `tf.gather_nd`. The set is open: every folder under `spec/operators/` defines
/// an operator, and a backend answers those that it knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Operator(Arc<str>);

impl Operator {
    /// The operator with this name.
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

/// Tensors by the document's names, in the document's order.
///
/// ```
/// use gather_spec::{DType, Tensor, call::Operands};
/// let tensor = Tensor::new(DType::U8, [2], vec![1u8, 2])?;
/// let operands = Operands::from([("input", tensor.clone()), ("index", tensor)]);
/// assert!(operands.get("index").is_some() && operands.get("indices").is_none());
/// # Ok::<(), gather_spec::TensorError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operands(Vec<(Arc<str>, Tensor)>);

impl Operands {
    /// The operand with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Tensor> {
        self.0.iter().find(|(known, _)| **known == *name).map(|(_, tensor)| tensor)
    }

    /// Replaces the operand with this name, if there is one.
    pub fn replace(&mut self, name: &str, tensor: Tensor) {
        if let Some((_, old)) = self.0.iter_mut().find(|(known, _)| **known == *name) {
            *old = tensor;
        }
    }

    /// The operands with their names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Tensor)> {
        self.0.iter().map(|(name, tensor)| (&**name, tensor))
    }

    /// The operands with their names, which can be cloned cheaply.
    pub fn shared(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Tensor)> {
        self.0.iter().map(|(name, tensor)| (name, tensor))
    }

    /// The tensors, in order.
    pub fn tensors(&self) -> impl ExactSizeIterator<Item = &Tensor> {
        self.0.iter().map(|(_, tensor)| tensor)
    }

    /// All operands in order, if there are exactly `K`.
    ///
    /// ```
    /// # use gather_spec::{DType, Tensor, call::Operands};
    /// # let tensor = Tensor::new(DType::U8, [2], vec![1u8, 2])?;
    /// let operands = Operands::from([("input", tensor.clone()), ("index", tensor.clone())]);
    /// let Some([input, index]) = operands.in_order() else { panic!("there are two") };
    /// assert_eq!((input, index), (&tensor, &tensor));
    /// # Ok::<(), gather_spec::TensorError>(())
    /// ```
    #[must_use]
    pub fn in_order<const K: usize>(&self) -> Option<[&Tensor; K]> {
        self.tensors().collect::<Vec<_>>().try_into().ok()
    }

    /// The number of operands.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no operands.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<N: Into<Arc<str>>> FromIterator<(N, Tensor)> for Operands {
    fn from_iter<I: IntoIterator<Item = (N, Tensor)>>(operands: I) -> Self {
        Self(operands.into_iter().map(|(name, tensor)| (name.into(), tensor)).collect())
    }
}

impl<N: Into<Arc<str>>, const K: usize> From<[(N, Tensor); K]> for Operands {
    fn from(operands: [(N, Tensor); K]) -> Self {
        operands.into_iter().collect()
    }
}

/// A call to a backend. It is everything that the backend learns about a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The function to call.
    pub operator: Operator,
    /// The tensors by the document's names.
    pub operands: Operands,
    /// The attributes to send.
    pub attributes: Attributes,
    /// How it is made, of the ways that the backend declares. A backend in the same process may get other strides all the same.
    pub variant: Variant,
}

impl Call {
    /// A call that is made as usual.
    #[must_use]
    pub fn new(operator: Operator, operands: Operands, attributes: Attributes) -> Self {
        Self { operator, operands, attributes, variant: Variant::default() }
    }
}

named! {
    /// What an index outside its axis gives.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum BadIndex: "policy" {
        /// The error `index-out-of-range`.
        #[default]
        Error = "error",
        /// A slice of zero bits for the whole row, if any component is bad.
        Zero = "zero",
        /// Likewise, with the element that the operator's page defines in place of zero bits. Only the mode of a call can
        /// choose this.
        Fill = "fill",
        /// Each component is clamped to the nearest end of its axis. For an axis of size 0 the slice is zero.
        Clamp = "clamp",
        /// Each component is reduced modulo the size of its axis (Euclidean). Only the mode of a call can choose this.
        Modulo = "modulo",
        /// Any output with the right shape, or any error.
        #[cfg_attr(test, schemars(skip))]
        Unspecified = "unspecified",
    }
}

named! {
    /// What a negative index means.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum NegativeIndex: "policy" {
        /// It is a bad index.
        #[default]
        Reject = "reject",
        /// `-s <= i < 0` means `i + s`.
        Wrap = "wrap",
    }
}

named! {
    /// What an index into an axis of size 0 gives, if a bad index is no error.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum EmptyAxis: "policy" {
        /// A slice of zero bits, or of the fill value.
        #[default]
        Zero = "zero",
        /// The error `index-out-of-range`.
        Error = "error",
        /// What the policy `fill` gives; the error `index-out-of-range` is tolerated.
        Either = "either",
    }
}

/// What the documents leave to the device or the version. A backend declares it for each operator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// What an index outside its axis gives.
    #[serde(deserialize_with = "declared")]
    pub bad: BadIndex,
    /// What a negative index means.
    pub negative: NegativeIndex,
}

/// Reads a policy that a backend declares.
fn declared<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BadIndex, D::Error> {
    BadIndex::deserialize(deserializer)?.declared().map_err(de::Error::custom)
}

impl BadIndex {
    /// The policy itself, if a backend may declare it.
    ///
    /// # Errors
    /// Why not: only the mode of a call can choose `modulo` or `fill`.
    ///
    /// ```
    /// use gather_spec::BadIndex;
    /// assert_eq!(BadIndex::Clamp.declared(), Ok(BadIndex::Clamp));
    /// assert!(BadIndex::Modulo.declared().is_err() && BadIndex::Fill.declared().is_err());
    /// ```
    pub fn declared(self) -> Result<Self, String> {
        match self {
            Self::Modulo | Self::Fill => {
                let expected = "one of error zero clamp unspecified is expected";
                Err(format!("only the mode of a call chooses `{self}`: {expected}"))
            }
            Self::Error | Self::Zero | Self::Clamp | Self::Unspecified => Ok(self),
        }
    }

    /// The policies that a backend may declare and that determine the outcome, unlike `unspecified`.
    pub const SPECIFIED: [Self; 3] = [Self::Error, Self::Zero, Self::Clamp];
}

impl Profile {
    /// All pairs of policies that determine the outcome.
    pub fn all_specified() -> impl Iterator<Item = Self> {
        BadIndex::SPECIFIED
            .into_iter()
            .flat_map(|bad| NegativeIndex::ALL.into_iter().map(move |negative| Self { bad, negative }))
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bad={},negative={}", self.bad, self.negative)
    }
}

/// An error as a backend reports it. A backend that does not classify its errors gives no code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedError {
    /// Free text. It is shown, but never compared.
    pub message: String,
    /// The stable code, if the backend knows it.
    pub code: Option<ErrorCode>,
    /// Further details that belong to the code.
    pub fields: ErrorFields,
}

impl From<GatherError> for ReportedError {
    fn from(error: GatherError) -> Self {
        Self { message: error.to_string(), code: Some(error.code()), fields: error.fields() }
    }
}

/// A backend's answer to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The gathered tensor.
    Output(Tensor),
    /// An empty output whose other dims are too large for any [`Tensor`]. Only a backend that accepts a call that it
    /// should reject with `output-too-large` gives this.
    TooLarge {
        /// The dtype.
        dtype: DType,
        /// The dims. One of them is 0.
        shape: Vec<usize>,
    },
    /// The call is rejected.
    Error(ReportedError),
    /// The backend does not support the call, for this reason.
    Unsupported(String),
}

impl Outcome {
    /// [`Outcome::Error`] of a backend that does not classify its errors.
    ///
    /// ```
    /// # use gather_spec::Outcome;
    /// let Outcome::Error(error) = Outcome::refused("index 5 is out of range") else { unreachable!() };
    /// assert_eq!((&*error.message, error.code), ("index 5 is out of range", None));
    /// ```
    #[must_use]
    pub fn refused(message: impl Into<String>) -> Self {
        Self::Error(ReportedError { message: message.into(), code: None, fields: ErrorFields::default() })
    }

    /// [`Outcome::TooLarge`], if an output with this dtype and shape is one.
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

    /// Whether two outcomes agree in everything that is compared: bits, codes and fields, but not messages.
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
