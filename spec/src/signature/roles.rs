//! Calls in role terms: from a document's names to the form's words and back. Neither way checks anything but names
//! and types.

use std::sync::Arc;

use super::{AttributeRole, OperandRole, Signature};
use crate::Tensor;
use crate::call::{Attribute, Attributes, Call, Operator};

/// The value of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// No axis, said explicitly.
    Null,
    /// This one, from either end where the range allows it.
    At(i64),
}

impl From<i64> for Axis {
    fn from(axis: i64) -> Self {
        Self::At(axis)
    }
}

impl From<Axis> for Attribute {
    fn from(axis: Axis) -> Self {
        match axis {
            Axis::Null => Self::Null,
            Axis::At(axis) => Self::Integer(axis),
        }
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
    pub axis: Option<Axis>,
    /// The number of batch dims, if it is sent.
    pub batch_dims: Option<i64>,
    /// The mode, if it is sent.
    pub mode: Option<String>,
    /// What is sent and has no effect, by the document's names.
    pub ignored: Attributes,
}

impl<T> Roles<T> {
    /// Two operands without any attribute.
    pub const fn new(params: T, indices: T) -> Self {
        Self { params, indices, axis: None, batch_dims: None, mode: None, ignored: Attributes::new() }
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
            mode: self.mode.clone(),
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
        wanted: String,
        /// What it was.
        value: Attribute,
    },
}

impl Signature {
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
            if !attribute.takes(value) {
                let (name, value, wanted) = (name.clone(), value.clone(), attribute.takes_what());
                return Err(Misfit::AttributeType { operator: operator(), name, wanted, value });
            }
            match (attribute.role, value) {
                (AttributeRole::Axis, Attribute::Integer(axis)) => roles.axis = Some(Axis::At(*axis)),
                (AttributeRole::Axis, _) => roles.axis = Some(Axis::Null),
                (AttributeRole::BatchDims, Attribute::Integer(dims)) => roles.batch_dims = Some(*dims),
                (AttributeRole::Mode, Attribute::String(mode)) => roles.mode = Some(mode.clone()),
                // As if it were not sent.
                (AttributeRole::Mode, Attribute::Null) => {}
                // No other role has such values, by the loader.
                _ => drop(roles.ignored.insert(name.clone(), value.clone())),
            }
        }
        Ok(roles)
    }

    /// The call that roles stand for: the inverse of [`Signature::roles`]. A role that the operator lacks is left out.
    #[must_use]
    pub fn spell(&self, roles: Roles<Tensor>) -> Call {
        let Roles { params, indices, axis, batch_dims, mode, ignored } = roles;
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
        let sent = [
            (AttributeRole::Axis, axis.map(Attribute::from)),
            (AttributeRole::BatchDims, batch_dims.map(Attribute::Integer)),
            (AttributeRole::Mode, mode.map(Attribute::String)),
        ];
        for (role, value) in sent {
            if let (Some(attribute), Some(value)) = (self.attribute(role), value) {
                attributes.insert(attribute.name.clone(), value);
            }
        }
        Call { operator: self.operator.clone(), operands, attributes }
    }
}
