//! Translates calls between the document's names and roles. Only names and types are checked, in either direction.

use std::sync::Arc;

use super::{AttributeDefault, AttributeRole, AttributeSignature, Form, OperandRole, Signature, Signatures};
use crate::call::{Attribute, Attributes, Call, Operator};
use crate::{DType, DimensionNumbers, Tensor};

/// The value of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// An explicit null.
    Null,
    /// This axis. It may count from the end where the range allows that.
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

/// A call in role terms. `T` is a tensor or a reference to one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roles<T> {
    /// The tensor to gather from.
    pub params: T,
    /// The tensor that says what to gather.
    pub indices: T,
    /// The axis, if sent.
    pub axis: Option<Axis>,
    /// The number of batch dims, if sent.
    pub batch_dims: Option<i64>,
    /// The mode, if sent.
    pub mode: Option<String>,
    /// The fill value, if sent and not null.
    pub fill_value: Option<T>,
    /// The dimension numbers, for [`Form::Window`](super::Form::Window) only.
    pub window: Option<Window>,
    /// The operand that holds the axis or the slice sizes, if the operator has one. [`Roles::axis`] and
    /// [`Window::slice_sizes`] hold its values; if both are set, [`Signature::spell`] uses those.
    pub other: Option<T>,
    /// The attributes that are sent and have no effect, by the document's names.
    pub ignored: Attributes,
}

/// The dimension numbers that a call sends; see [`DimensionNumbers`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// See [`DimensionNumbers::offset_dims`].
    pub offset_dims: Option<Vec<i64>>,
    /// See [`DimensionNumbers::collapsed_slice_dims`].
    pub collapsed_slice_dims: Option<Vec<i64>>,
    /// See [`DimensionNumbers::operand_batching_dims`].
    pub operand_batching_dims: Option<Vec<i64>>,
    /// See [`DimensionNumbers::start_indices_batching_dims`].
    pub start_indices_batching_dims: Option<Vec<i64>>,
    /// See [`DimensionNumbers::start_index_map`].
    pub start_index_map: Option<Vec<i64>>,
    /// See [`DimensionNumbers::index_vector_dim`].
    pub index_vector_dim: Option<i64>,
    /// The window size along each dim of params.
    pub slice_sizes: Option<Vec<i64>>,
}

impl Window {
    /// A window with everything sent.
    #[must_use]
    pub fn new(numbers: DimensionNumbers, slice_sizes: Vec<i64>) -> Self {
        Self {
            offset_dims: Some(numbers.offset_dims),
            collapsed_slice_dims: Some(numbers.collapsed_slice_dims),
            operand_batching_dims: Some(numbers.operand_batching_dims),
            start_indices_batching_dims: Some(numbers.start_indices_batching_dims),
            start_index_map: Some(numbers.start_index_map),
            index_vector_dim: Some(numbers.index_vector_dim),
            slice_sizes: Some(slice_sizes),
        }
    }

    /// Sets the value for an attribute role of form window, if the type fits.
    fn set(&mut self, role: AttributeRole, value: &Attribute) {
        match (role, value) {
            (AttributeRole::IndexVectorDim, Attribute::Integer(dim)) => self.index_vector_dim = Some(*dim),
            (role, Attribute::Integers(dims)) => {
                if let Some(list) = self.list_mut(role) {
                    *list = Some(dims.clone());
                }
            }
            _ => {}
        }
    }

    /// The list for a role, if the role has one.
    pub fn list_mut(&mut self, role: AttributeRole) -> Option<&mut Option<Vec<i64>>> {
        match role {
            AttributeRole::OffsetDims => Some(&mut self.offset_dims),
            AttributeRole::CollapsedSliceDims => Some(&mut self.collapsed_slice_dims),
            AttributeRole::OperandBatchingDims => Some(&mut self.operand_batching_dims),
            AttributeRole::StartIndicesBatchingDims => Some(&mut self.start_indices_batching_dims),
            AttributeRole::StartIndexMap => Some(&mut self.start_index_map),
            AttributeRole::SliceSizes => Some(&mut self.slice_sizes),
            _ => None,
        }
    }

    /// The values that are sent, with their roles.
    fn sent(mut self) -> impl Iterator<Item = (AttributeRole, Attribute)> {
        AttributeRole::OF_WINDOWS.into_iter().filter_map(move |role| {
            let value = match role {
                AttributeRole::IndexVectorDim => self.index_vector_dim.map(Attribute::Integer),
                role => self.list_mut(role)?.take().map(Attribute::Integers),
            };
            Some((role, value?))
        })
    }
}

impl<T> Roles<T> {
    /// Operands without attributes.
    pub const fn new(params: T, indices: T) -> Self {
        Self {
            params,
            indices,
            axis: None,
            batch_dims: None,
            mode: None,
            fill_value: None,
            window: None,
            other: None,
            ignored: Attributes::new(),
        }
    }
}

impl Roles<&Tensor> {
    /// The same with owned tensors.
    #[must_use]
    pub fn cloned(&self) -> Roles<Tensor> {
        Roles {
            params: self.params.clone(),
            indices: self.indices.clone(),
            axis: self.axis,
            batch_dims: self.batch_dims,
            mode: self.mode.clone(),
            fill_value: self.fill_value.cloned(),
            window: self.window.clone(),
            other: self.other.cloned(),
            ignored: self.ignored.clone(),
        }
    }
}

/// A call whose operands or attributes do not fit the signature. A backend answers it with `unsupported`.
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
    /// A required attribute is missing.
    #[error("{operator} has an attribute `{name}`, which is missing")]
    MissingAttribute {
        /// The operator.
        operator: Operator,
        /// The name.
        name: String,
    },
    /// The attribute has a value of the wrong type.
    #[error("attribute `{name}` of {operator} is {wanted}, and cannot be {value}")]
    AttributeType {
        /// The operator.
        operator: Operator,
        /// The name.
        name: String,
        /// The type that it needs.
        wanted: String,
        /// The value that it has.
        value: Box<Attribute>,
    },
}

impl Signature {
    /// The axis that a call sends, or the default. `None` if the operator has no axis, or the call lacks a required one.
    #[must_use]
    pub fn axis_of(&self, roles: &Roles<&Tensor>) -> Option<Axis> {
        roles.axis.or_else(|| match &self.attribute(AttributeRole::Axis)?.default {
            AttributeDefault::Value(Attribute::Integer(axis)) => Some(Axis::At(*axis)),
            AttributeDefault::Value(_) => Some(Axis::Null),
            AttributeDefault::BatchDims => Some(Axis::At(roles.batch_dims.unwrap_or(0))),
            AttributeDefault::OnlyAxis => (roles.params.rank() == 1).then_some(Axis::At(0)),
            _ => None,
        })
    }

    /// Translates a call of this operator into role terms.
    ///
    /// # Errors
    /// [`Misfit`] if the call does not fit this signature.
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
        roles.window = (self.form == Form::Window).then(Window::default);
        if self.slice_sizes_operand().is_some() {
            let sizes = tensor(OperandRole::SliceSizes)?;
            roles.window.get_or_insert_default().slice_sizes = integers(sizes, roles.params.rank());
            roles.other = Some(sizes);
        }
        if self.axis_operand().is_some() {
            let axis = tensor(OperandRole::Axis)?;
            roles.axis = only_integer(axis).map(Axis::At);
            roles.other = Some(axis);
        }
        for (name, value) in &call.attributes {
            let Some(attribute) = self.attribute_named(name) else {
                return Err(Misfit::ForeignAttribute { operator: operator(), name: name.clone() });
            };
            let params = roles.params.dtype();
            let other_dtype = matches!(value, Attribute::Element(element) if element.dtype() != params);
            if !attribute.takes(value) || other_dtype {
                let (name, value, wanted) = (name.clone(), Box::new(value.clone()), attribute.takes_what());
                return Err(Misfit::AttributeType { operator: operator(), name, wanted, value });
            }
            match (attribute.role, value) {
                (AttributeRole::Axis, Attribute::Integer(axis)) => roles.axis = Some(Axis::At(*axis)),
                (AttributeRole::Axis, _) => roles.axis = Some(Axis::Null),
                (AttributeRole::BatchDims, Attribute::Integer(dims)) => roles.batch_dims = Some(*dims),
                (AttributeRole::Mode, Attribute::String(mode)) => roles.mode = Some(mode.clone()),
                // Equivalent to an absent attribute.
                (AttributeRole::Mode | AttributeRole::FillValue, Attribute::Null) => {}
                (AttributeRole::FillValue, Attribute::Element(element)) => {
                    roles.fill_value = Some(&**element);
                }
                (role, value) if role.is_of_windows() => {
                    // The loader allows these roles in form window only.
                    roles.window.get_or_insert_default().set(role, value);
                }
                // The loader allows other values for attributes without effect only.
                _ => drop(roles.ignored.insert(name.clone(), value.clone())),
            }
        }
        match self.missing(&call.attributes) {
            Some(name) => Err(Misfit::MissingAttribute { operator: operator(), name: name.to_owned() }),
            None => Ok(roles),
        }
    }

    /// The name of a required list that is not among these attributes. A missing axis is an error of its own.
    #[must_use]
    pub fn missing(&self, sent: &Attributes) -> Option<&str> {
        let needed = |one: &&AttributeSignature| {
            one.role.is_of_windows() && one.default == AttributeDefault::None && !sent.contains_key(&one.name)
        };
        self.attributes.iter().find(needed).map(|attribute| attribute.name.as_str())
    }

    /// The call for given roles: the inverse of [`Signature::roles`]. Drops roles that the operator does not have.
    #[must_use]
    pub fn spell(&self, roles: Roles<Tensor>) -> Call {
        let Roles { params, indices, axis, batch_dims, mode, fill_value, window, other, ignored } = roles;
        let of_window = window.as_ref().and_then(|window| vector(window.slice_sizes.as_deref()?));
        let of_axis = || self.axis_operand().and_then(|_| scalar(axis?));
        let mut other = of_window.or_else(of_axis).or(other);
        let (mut params, mut indices) = (Some(params), Some(indices));
        let operands = self.operands.iter().filter_map(|operand| {
            let tensor = match operand.role {
                OperandRole::Params => params.take(),
                OperandRole::Indices => indices.take(),
                OperandRole::Axis | OperandRole::SliceSizes => other.take(),
            };
            Some((operand.name.clone(), tensor?))
        });
        let operands = operands.collect();
        let mut attributes = ignored;
        let sent = [
            (AttributeRole::Axis, axis.filter(|_| self.axis_operand().is_none()).map(Attribute::from)),
            (AttributeRole::BatchDims, batch_dims.map(Attribute::Integer)),
            (AttributeRole::Mode, mode.map(Attribute::String)),
            (AttributeRole::FillValue, fill_value.map(Box::new).map(Attribute::Element)),
        ];
        let of_window = window.into_iter().flat_map(Window::sent);
        let sent = sent.into_iter().filter_map(|(role, value)| Some((role, value?))).chain(of_window);
        for (role, value) in sent {
            if let Some(attribute) = self.attribute(role) {
                attributes.insert(attribute.name.clone(), value);
            }
        }
        Call::new(self.operator.clone(), operands, attributes)
    }

    /// The dimension numbers and the slice sizes of a call with indices of rank `q`, with defaults filled in. An operator
    /// without an attribute for the index vector's dim has it last, and one without an attribute for a list of dims has an
    /// empty list.
    #[must_use]
    pub fn window(&self, sent: &Window, q: usize) -> (DimensionNumbers, Vec<i64>) {
        let default = |role| match self.attribute(role).map(|attribute| &attribute.default) {
            Some(AttributeDefault::Value(value)) => Some(value),
            _ => None,
        };
        let list = |role, sent: &Option<Vec<i64>>| match (sent, default(role)) {
            (Some(sent), _) => sent.clone(),
            (None, Some(Attribute::Integers(default))) => default.clone(),
            (None, _) => Vec::new(),
        };
        let last = || i64::try_from(q).unwrap_or(i64::MAX).saturating_sub(1);
        let index_vector_dim = match (sent.index_vector_dim, default(AttributeRole::IndexVectorDim)) {
            (Some(dim), _) | (None, Some(&Attribute::Integer(dim))) => dim,
            (None, _) => last(),
        };
        let numbers = DimensionNumbers {
            offset_dims: list(AttributeRole::OffsetDims, &sent.offset_dims),
            collapsed_slice_dims: list(AttributeRole::CollapsedSliceDims, &sent.collapsed_slice_dims),
            operand_batching_dims: list(AttributeRole::OperandBatchingDims, &sent.operand_batching_dims),
            start_indices_batching_dims: list(
                AttributeRole::StartIndicesBatchingDims,
                &sent.start_indices_batching_dims,
            ),
            start_index_map: list(AttributeRole::StartIndexMap, &sent.start_index_map),
            index_vector_dim,
        };
        (numbers, list(AttributeRole::SliceSizes, &sent.slice_sizes))
    }
}

/// The integers of a vector, but at most `rank + 1` of them, which is enough to notice that there are too many.
fn integers(vector: &Tensor, rank: usize) -> Option<Vec<i64>> {
    let len = (vector.rank() == 1).then(|| vector.shape()[0])?;
    let integer = |at: usize| {
        let value = vector.integer(&[at])?;
        Some(i64::try_from(value).unwrap_or(i64::MAX))
    };
    (0..len.min(rank.saturating_add(1))).map(integer).collect()
}

/// The only integer of a scalar or of a vector. One beyond 2^63 - 1 is beyond every axis, too.
fn only_integer(tensor: &Tensor) -> Option<i64> {
    if tensor.rank() > 1 || tensor.shape().element_count() != 1 {
        return None;
    }
    let value = tensor.integer(&vec![0; tensor.rank()])?;
    Some(i64::try_from(value).unwrap_or(i64::MAX))
}

/// An axis as a tensor; `None` for null.
fn scalar(axis: Axis) -> Option<Tensor> {
    let Axis::At(axis) = axis else { return None };
    Tensor::new(DType::I64, [], vec![axis.cast_unsigned()]).ok()
}

/// A tensor of integers.
fn vector(values: &[i64]) -> Option<Tensor> {
    let bits: Vec<u64> = values.iter().map(|value| value.cast_unsigned()).collect();
    Tensor::new(DType::I64, [bits.len()], bits).ok()
}

impl Signatures {
    /// A call in role terms; `None` if the operator is unknown or the call does not fit it.
    #[must_use]
    pub fn roles<'a>(&self, call: &'a Call) -> Option<Roles<&'a Tensor>> {
        self.get(call.operator.as_str())?.roles(call).ok()
    }
}
