//! Signatures: what distinguishes one operator from another of the same form. A signature lists operands and attributes with
//! their roles, and what the pages list and permit. It is read from `operator.yaml`; no other code knows operators by name.
//!
//! A role relates the document's term to the form's: Paddle's `input` and TensorFlow's `params` both have the role
//! params. [`Signature::roles`] translates a call into role terms, and [`Signature::spell`] is the inverse. Both check only
//! names and types (`roles`). The vocabulary of signatures is closed (`rules`). Checking ranges and ranks, and in which
//! order, is up to each implementation.

mod fill;
mod policies;
mod roles;
mod rules;

use std::sync::Arc;

use serde::Serialize;

use crate::call::{Attribute, BadIndex, EmptyAxis, NegativeIndex, Operator};
use crate::{DType, Element, Profile, Tensor};

pub use fill::{Fill, FillWord};
pub use roles::{Axis, Misfit, Roles, Window};
pub use rules::{
    AttributeDefault, AttributeRole, AttributeType, CollapsedSize, EmptyDims, EmptyIndex, Flatten, Form,
    Join, OperandRole, OutputBatch, Range, RankRule, SliceBound,
};

/// An operand, by the document's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OperandSignature {
    /// The document's name.
    pub name: Arc<str>,
    /// Its role.
    pub role: OperandRole,
    /// The dtypes that the pages list.
    pub dtypes: Vec<DType>,
    /// The rule for its rank.
    pub rank: RankRule,
}

/// An attribute, by the document's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AttributeSignature {
    /// The document's name.
    pub name: String,
    /// Its role.
    pub role: AttributeRole,
    /// The type of its values.
    pub r#type: AttributeType,
    /// Whether it may also be null.
    pub nullable: bool,
    /// The meaning of its absence.
    pub default: AttributeDefault,
    /// The range of its values; `None` for an attribute without effect.
    pub range: Option<Range>,
}

/// The axis of an operator that has it as an operand.
static AXIS_OPERAND: AttributeSignature = AttributeSignature {
    name: String::new(),
    role: AttributeRole::Axis,
    r#type: AttributeType::Integer,
    nullable: false,
    default: AttributeDefault::Operand,
    range: Some(Range::FromMinusRBelowR),
};

/// Who chooses what a bad index gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// The device or the version: a backend declares a pair of policies, and the pages permit these.
    Permitted(PermittedPolicies),
    /// The call, by its mode. The first mode is the default.
    ByMode(Vec<ModePolicy>),
}

/// The policies of a mode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModePolicy {
    /// The value of the attribute.
    pub mode: String,
    /// What bad and negative indices give.
    pub profile: Profile,
    /// What an index into an axis of size 0 gives, if a bad index is no error.
    pub empty_axis: EmptyAxis,
}

/// The policies that the pages permit: the product of both lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PermittedPolicies {
    /// For a negative index.
    pub negative: Vec<NegativeIndex>,
    /// For an index outside its axis.
    pub bad: Vec<BadIndex>,
}

/// Deviations from the strict reading of the pages that are accepted besides it: the output that the form gives as if the
/// pages listed these; for scalar params, which have no output, anything or the output of a vector.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tolerated {
    /// More dtypes of params.
    pub params_dtypes: Vec<DType>,
    /// More dtypes of indices.
    pub index_dtypes: Vec<DType>,
    /// Whether anything but a crash is accepted for scalar params, about which the pages promise nothing.
    pub scalar_params: bool,
    /// For [`Form::Elements`]: whether scalar params with a scalar index may be gathered as vectors of one element.
    pub scalars_as_vectors: bool,
    /// A wider rule for the rank of indices.
    pub indices_rank: Option<RankRule>,
    /// For [`Form::Elements`]: a wider join rule.
    pub join: Option<Join>,
    /// For [`Form::Nd`]: a lower minimum for the components of an index row.
    pub least_depth: Option<usize>,
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
    /// The kind of gather.
    pub form: Form,
    /// The operands, in the document's order.
    pub operands: Vec<OperandSignature>,
    /// The attributes, in the document's order.
    pub attributes: Vec<AttributeSignature>,
    /// Who chooses what a bad index gives, and among which policies.
    pub policy: Policy,
    /// The fill value of modes with the policy `fill`.
    pub fill: Option<Fill>,
    /// What is flattened first, for operators that do so.
    pub flatten: Option<Flatten>,
    /// What is accepted besides the strict reading of the pages.
    pub tolerates: Tolerated,
    /// For all forms but [`Form::Window`]: whether params and indices may have a dim of 0.
    pub empty_dims: EmptyDims,
    /// The most elements that the pages let an operand have. Family cases with a larger operand are left out.
    pub most_elements: Option<usize>,
    /// For [`Form::Nd`]: the least number of components of an index row.
    pub least_depth: usize,
    /// For [`Form::Nd`]: the batch dims of the output.
    pub output_batch: OutputBatch,
    /// For [`Form::Elements`], where it is always set: how the dims of params and indices off the axis relate.
    pub join: Option<Join>,
    /// For [`Form::Elements`]: what is checked if indices has no elements.
    pub empty_index: EmptyIndex,
    /// For [`Form::Window`], where it is always set: the size of a window along collapsed and batching dims.
    pub collapsed_size: Option<CollapsedSize>,
    /// For [`Form::Window`]: whether slice sizes are checked against the dims of params even if there are no index rows.
    pub slice_bound: SliceBound,
}

/// The operators of a specification. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Signatures(Arc<[Signature]>);

impl Signatures {
    /// The signature of an operator.
    #[must_use]
    pub fn get(&self, operator: &str) -> Option<&Signature> {
        self.0.iter().find(|one| one.operator.as_str() == operator)
    }

    /// All signatures, in the order of the specification.
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

impl Signature {
    /// The operand with a role.
    ///
    /// # Panics
    /// If there is none. Every operator has params and indices: the loader rejects any other signature.
    #[must_use]
    pub fn operand(&self, role: OperandRole) -> &OperandSignature {
        let found = self.operands.iter().find(|operand| operand.role == role);
        found.expect("every signature has params and indices")
    }

    /// The operand that holds the slice sizes, for operators that have one.
    #[must_use]
    pub fn slice_sizes_operand(&self) -> Option<&OperandSignature> {
        self.operands.iter().find(|operand| operand.role == OperandRole::SliceSizes)
    }

    /// The operand that holds the axis, for operators that have one.
    #[must_use]
    pub fn axis_operand(&self) -> Option<&OperandSignature> {
        self.operands.iter().find(|operand| operand.role == OperandRole::Axis)
    }

    /// The operand beside params and indices, for operators that have one: the axis or the slice sizes.
    #[must_use]
    pub fn other_operand(&self) -> Option<&OperandSignature> {
        self.axis_operand().or_else(|| self.slice_sizes_operand())
    }

    /// The operand with a role, for modification.
    ///
    /// # Panics
    /// As [`Signature::operand`] does.
    pub fn operand_mut(&mut self, role: OperandRole) -> &mut OperandSignature {
        let found = self.operands.iter_mut().find(|operand| operand.role == role);
        found.expect("every signature has params and indices")
    }

    /// The attribute with a role. An axis that is an operand has a range like one that is an attribute, and no name here.
    #[must_use]
    pub fn attribute(&self, role: AttributeRole) -> Option<&AttributeSignature> {
        let is_operand = role == AttributeRole::Axis && self.axis_operand().is_some();
        let found = self.attributes.iter().find(|attribute| attribute.role == role);
        found.or(is_operand.then_some(&AXIS_OPERAND))
    }

    /// The attribute with this name.
    #[must_use]
    pub fn attribute_named(&self, name: &str) -> Option<&AttributeSignature> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }

    /// The modes of the operator, the default first; empty if it has none.
    #[must_use]
    pub fn modes(&self) -> &[ModePolicy] {
        match &self.policy {
            Policy::ByMode(modes) => modes,
            Policy::Permitted(_) => &[],
        }
    }

    /// The policies that the pages permit a backend to declare; `None` if the call chooses.
    #[must_use]
    pub const fn permitted(&self) -> Option<&PermittedPolicies> {
        match &self.policy {
            Policy::Permitted(permitted) => Some(permitted),
            Policy::ByMode(_) => None,
        }
    }

    /// Whether a bad index is an error under some policy that a backend may declare or a call may choose.
    #[must_use]
    pub fn refuses_indices(&self) -> bool {
        match &self.policy {
            Policy::Permitted(permitted) => permitted.bad.contains(&BadIndex::Error),
            Policy::ByMode(modes) => modes.iter().any(|mode| mode.profile.bad == BadIndex::Error),
        }
    }

    /// The element that fills the slice of a bad index if that is no error. If the call chooses to fill, that is the fill value
    /// that it sends or, without one, the operator's; otherwise it is zero.
    #[must_use]
    pub fn filler(&self, profile: Profile, dtype: DType, sent: Option<&Tensor>) -> Element {
        let fill = self.fill.filter(|_| profile.bad == BadIndex::Fill);
        let by_dtype = || fill.map_or_else(|| Element::zero(dtype), |fill| fill.element(dtype));
        let sent = sent.filter(|_| fill.is_some()).and_then(|element| element.iter().next());
        sent.unwrap_or_else(by_dtype)
    }

    /// Whether the operator rejects operands of these shapes for a dim of 0.
    #[must_use]
    pub fn rejects_empty_dims(&self, params: &[usize], indices: &[usize]) -> bool {
        self.empty_dims == EmptyDims::Rejected && (params.contains(&0) || indices.contains(&0))
    }

    /// Whether the operator has no calls of some shapes that its form has.
    #[cfg(feature = "cases")]
    pub(crate) fn restricts_shapes(&self) -> bool {
        self.empty_dims == EmptyDims::Rejected || self.most_elements.is_some()
    }

    /// Whether params and indices can share leading dims.
    #[must_use]
    pub fn has_batch(&self) -> bool {
        self.attribute(AttributeRole::BatchDims).is_some()
    }
}

impl AttributeSignature {
    /// The values that it accepts, in words.
    #[must_use]
    pub fn takes_what(&self) -> String {
        let or_null = if self.nullable { " or null" } else { "" };
        format!("{}{or_null}", self.r#type)
    }

    /// Whether it accepts a value: one of its type, or null.
    #[must_use]
    pub fn takes(&self, value: &Attribute) -> bool {
        self.r#type.takes(value) || self.nullable && *value == Attribute::Null
    }
}

impl PermittedPolicies {
    /// Whether the pages permit a pair of policies.
    #[must_use]
    pub fn permits(&self, profile: Profile) -> bool {
        self.bad.contains(&profile.bad) && self.negative.contains(&profile.negative)
    }
}
