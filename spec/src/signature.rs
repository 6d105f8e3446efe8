//! What sets one operator apart from another of its form: operands and attributes with their roles, and what the pages
//! list and permit. Read from `operator.yaml`; nothing else may know an operator by its name.
//!
//! A role connects a document's own word with the form's: Paddle's `input` and TensorFlow's `params` both have the role
//! params. [`Signature::roles`] puts a call into role terms and [`Signature::spell`] is its inverse; neither checks
//! anything but names and types. Ranges, ranks and the order of checks are for whoever answers.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::call::{Attribute, Attributes, BadIndex, Call, NegativeIndex, Operator};
use crate::{DType, Profile, Tensor};

/// What kind of gather an operator is: the only thing that code may ask about it by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// One axis of params is replaced by indices: `P[:a] + I[b:] + P[a+1:]`.
    Take,
    /// The last axis of indices holds index rows: `I[:b] + I[b:-1] + P[b+k:]`.
    Nd,
}

/// What an operand is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperandRole {
    /// The tensor to gather from.
    Params,
    /// The tensor that says what to gather.
    Indices,
}

/// What an attribute is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttributeRole {
    /// The axis of params that is gathered along.
    Axis,
    /// How many leading axes params and indices share.
    BatchDims,
    /// Accepted, and without effect.
    Ignored,
}

/// What values an attribute takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AttributeType {
    /// An integer within i64.
    Integer,
    /// `true` or `false`.
    Boolean,
}

/// The ranks that an operand may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RankRule {
    /// Any.
    Any,
    /// 1 or more.
    #[serde(rename = "at-least-1")]
    AtLeast1,
    /// 2 or more.
    #[serde(rename = "at-least-2")]
    AtLeast2,
}

/// The values that an attribute may have, and what a negative one means. P has rank r, indices rank q.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Range {
    /// `-r <= axis < r`; a negative one counts from r.
    FromMinusRBelowR,
    /// `-q <= batch_dims <= q`; a negative one counts from q.
    FromMinusQToQ,
    /// `0 <= batch_dims < q` and `batch_dims <= r`.
    #[serde(rename = "from-0-below-q-to-r")]
    From0BelowQToR,
}

/// What an attribute that is not sent stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum AttributeDefault {
    /// This value.
    Value(Attribute),
    /// The number of batch dims, counted from the start.
    BatchDims,
    /// The pages do not say, and it has no effect.
    Undocumented,
}

/// One operand, by the document's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OperandSignature {
    /// The document's name.
    pub name: Arc<str>,
    /// What it is for.
    pub role: OperandRole,
    /// The dtypes that the pages list.
    pub dtypes: Vec<DType>,
    /// The ranks that the pages allow.
    pub rank: RankRule,
}

/// One attribute, by the document's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AttributeSignature {
    /// The document's name.
    pub name: String,
    /// What it is for.
    pub role: AttributeRole,
    /// What values it takes.
    pub r#type: AttributeType,
    /// What its absence stands for.
    pub default: AttributeDefault,
    /// Which values are in range; none for what is ignored.
    pub range: Option<Range>,
}

/// The policies that the pages permit: the product of both lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PermittedPolicies {
    /// For a negative index.
    pub negative: Vec<NegativeIndex>,
    /// For an index outside its axis.
    pub bad: Vec<BadIndex>,
}

/// What is allowed beside the error that the letter of the pages gives: the form's output, as if the pages listed this too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tolerated {
    /// More dtypes of params.
    pub params_dtypes: Vec<DType>,
    /// More dtypes of indices.
    pub index_dtypes: Vec<DType>,
    /// Another rule for the rank of indices.
    pub indices_rank: Option<RankRule>,
}

/// An operator as data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Signature {
    /// The operator.
    pub operator: Operator,
    /// What it does, in one line.
    pub summary: String,
    /// The ids of the pages that define it.
    pub documents: Vec<String>,
    /// What kind of gather it is.
    pub form: Form,
    /// The operands, in the document's order.
    pub operands: Vec<OperandSignature>,
    /// The attributes, in the document's order.
    pub attributes: Vec<AttributeSignature>,
    /// The policies that the pages permit.
    pub policy: PermittedPolicies,
    /// What is allowed beside the letter.
    pub tolerates: Tolerated,
    /// Of [`Form::Nd`]: the fewest components of an index row.
    pub least_depth: usize,
}

/// The operators of a specification; a clone shares them.
#[derive(Clone, Debug, Default)]
pub struct Signatures(Arc<[Signature]>);

impl Signatures {
    /// The signature of an operator.
    #[must_use]
    pub fn get(&self, operator: &str) -> Option<&Signature> {
        self.0.iter().find(|one| one.operator.as_str() == operator)
    }

    /// A call in role terms, if its operator is among these and it has the operands and attributes of that.
    #[must_use]
    pub fn roles<'a>(&self, call: &'a Call) -> Option<Roles<&'a Tensor>> {
        self.get(call.operator.as_str())?.roles(call).ok()
    }

    /// All of them, in the order of the specification.
    pub fn iter(&self) -> std::slice::Iter<'_, Signature> {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a Signatures {
    type Item = &'a Signature;
    type IntoIter = std::slice::Iter<'a, Signature>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl FromIterator<Signature> for Signatures {
    fn from_iter<T: IntoIterator<Item = Signature>>(signatures: T) -> Self {
        Self(signatures.into_iter().collect())
    }
}

/// A call in role terms; `T` is a tensor or a reference to one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roles<T> {
    /// The tensor to gather from.
    pub params: T,
    /// The tensor that says what to gather.
    pub indices: T,
    /// The axis, if it is sent.
    pub axis: Option<i64>,
    /// The number of batch dims, if it is sent.
    pub batch_dims: Option<i64>,
    /// What is sent and has no effect, by the document's names.
    pub ignored: Attributes,
}

impl<T> Roles<T> {
    /// Two operands without any attribute.
    pub const fn new(params: T, indices: T) -> Self {
        Self { params, indices, axis: None, batch_dims: None, ignored: Attributes::new() }
    }
}

impl Roles<&Tensor> {
    /// The same with tensors of its own.
    #[must_use]
    pub fn cloned(&self) -> Roles<Tensor> {
        Roles {
            params: self.params.clone(),
            indices: self.indices.clone(),
            axis: self.axis,
            batch_dims: self.batch_dims,
            ignored: self.ignored.clone(),
        }
    }
}

/// A call that does not have the operands and attributes of a signature. A backend answers it with `unsupported`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// An operand is missing.
    #[error("{operator} has an operand `{name}`, which is missing")]
    MissingOperand {
        /// The operator.
        operator: Operator,
        /// The name.
        name: Arc<str>,
    },
    /// There is no operand of this name.
    #[error("{operator} has no operand `{name}`")]
    ForeignOperand {
        /// The operator.
        operator: Operator,
        /// The name.
        name: String,
    },
    /// There is no attribute of this name.
    #[error("{operator} has no attribute `{name}`")]
    ForeignAttribute {
        /// The operator.
        operator: Operator,
        /// The name.
        name: String,
    },
    /// The attribute takes other values.
    #[error("attribute `{name}` of {operator} is {wanted}, and cannot be {value}")]
    AttributeType {
        /// The operator.
        operator: Operator,
        /// The name.
        name: String,
        /// What it takes.
        wanted: AttributeType,
        /// What it was.
        value: Attribute,
    },
}

impl Signature {
    /// The operand that plays a role.
    ///
    /// # Panics
    /// If no operand does: the loader refuses such a signature.
    #[must_use]
    pub fn operand(&self, role: OperandRole) -> &OperandSignature {
        let found = self.operands.iter().find(|operand| operand.role == role);
        found.expect("every signature has params and indices")
    }

    /// The same, to be changed.
    ///
    /// # Panics
    /// As [`Signature::operand`] does.
    pub fn operand_mut(&mut self, role: OperandRole) -> &mut OperandSignature {
        let found = self.operands.iter_mut().find(|operand| operand.role == role);
        found.expect("every signature has params and indices")
    }

    /// The attribute that plays a role.
    #[must_use]
    pub fn attribute(&self, role: AttributeRole) -> Option<&AttributeSignature> {
        self.attributes.iter().find(|attribute| attribute.role == role)
    }

    /// The attribute of a name.
    #[must_use]
    pub fn attribute_named(&self, name: &str) -> Option<&AttributeSignature> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }

    /// Whether params and indices can share leading axes.
    #[must_use]
    pub fn has_batch(&self) -> bool {
        self.attribute(AttributeRole::BatchDims).is_some()
    }

    /// A call of this operator in role terms.
    ///
    /// # Errors
    /// [`Misfit`] if it does not have the operands and attributes of this signature.
    pub fn roles<'a>(&self, call: &'a Call) -> Result<Roles<&'a Tensor>, Misfit> {
        let operator = || self.operator.clone();
        let known = |name: &str| self.operands.iter().any(|operand| *operand.name == *name);
        if let Some((name, _)) = call.operands.iter().find(|(name, _)| !known(name)) {
            return Err(Misfit::ForeignOperand { operator: operator(), name: name.to_owned() });
        }
        let tensor = |role| {
            let name = &self.operand(role).name;
            let missing = || Misfit::MissingOperand { operator: operator(), name: name.clone() };
            call.operands.get(name).ok_or_else(missing)
        };
        let mut roles = Roles::new(tensor(OperandRole::Params)?, tensor(OperandRole::Indices)?);
        for (name, value) in &call.attributes {
            let Some(attribute) = self.attribute_named(name) else {
                return Err(Misfit::ForeignAttribute { operator: operator(), name: name.clone() });
            };
            let wanted = attribute.r#type;
            match (attribute.role, value) {
                (AttributeRole::Axis, Attribute::Integer(axis)) if wanted.takes(value) => {
                    roles.axis = Some(*axis);
                }
                (AttributeRole::BatchDims, Attribute::Integer(dims)) if wanted.takes(value) => {
                    roles.batch_dims = Some(*dims);
                }
                (AttributeRole::Ignored, value) if wanted.takes(value) => {
                    roles.ignored.insert(name.clone(), value.clone());
                }
                (_, value) => {
                    let (name, value) = (name.clone(), value.clone());
                    return Err(Misfit::AttributeType { operator: operator(), name, wanted, value });
                }
            }
        }
        Ok(roles)
    }

    /// The call that roles stand for: the inverse of [`Signature::roles`]. A role that the operator lacks is left out.
    #[must_use]
    pub fn spell(&self, roles: Roles<Tensor>) -> Call {
        let Roles { params, indices, axis, batch_dims, ignored } = roles;
        let (mut params, mut indices) = (Some(params), Some(indices));
        let operands = self.operands.iter().filter_map(|operand| {
            let tensor = match operand.role {
                OperandRole::Params => params.take(),
                OperandRole::Indices => indices.take(),
            };
            Some((operand.name.clone(), tensor?))
        });
        let operands = operands.collect();
        let mut attributes = ignored;
        for (role, value) in [(AttributeRole::Axis, axis), (AttributeRole::BatchDims, batch_dims)] {
            if let (Some(attribute), Some(value)) = (self.attribute(role), value) {
                attributes.insert(attribute.name.clone(), Attribute::Integer(value));
            }
        }
        Call { operator: self.operator.clone(), operands, attributes }
    }
}

impl AttributeType {
    /// Whether a value is of this type.
    #[must_use]
    pub const fn takes(self, value: &Attribute) -> bool {
        matches!(
            (self, value),
            (Self::Integer, Attribute::Integer(_)) | (Self::Boolean, Attribute::Boolean(_))
        )
    }
}

impl PermittedPolicies {
    /// Whether the pages permit a pair of policies.
    #[must_use]
    pub fn permits(&self, profile: Profile) -> bool {
        self.bad.contains(&profile.bad) && self.negative.contains(&profile.negative)
    }
}

impl RankRule {
    /// The least rank that it allows.
    #[must_use]
    pub const fn least(self) -> usize {
        match self {
            Self::Any => 0,
            Self::AtLeast1 => 1,
            Self::AtLeast2 => 2,
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Take => "take",
            Self::Nd => "nd",
        })
    }
}

impl fmt::Display for AttributeType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Integer => "an integer",
            Self::Boolean => "a boolean",
        })
    }
}

impl fmt::Display for AttributeDefault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => value.fmt(f),
            Self::BatchDims => f.pad("the number of batch dims, once normalised"),
            Self::Undocumented => f.pad("not documented; it has no effect"),
        }
    }
}
