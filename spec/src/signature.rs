//! What sets one operator apart from another of its form: operands and attributes with their roles, and what the pages
//! list and permit. Read from `operator.yaml`; nothing else may know an operator by its name.
//!
//! A role connects a document's own word with the form's: Paddle's `input` and TensorFlow's `params` both have the role
//! params. [`Signature::roles`] puts a call into role terms and [`Signature::spell`] is its inverse; neither checks
//! anything but names and types (`roles`). The words that a signature is made of are a closed list (`rules`). Ranges,
//! ranks and the order of checks are for whoever answers.

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
    AttributeDefault, AttributeRole, AttributeType, CollapsedSize, EmptyIndex, Form, Join, OperandRole,
    Range, RankRule, SliceBound,
};

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
    /// Whether it may be null beside.
    pub nullable: bool,
    /// What its absence stands for.
    pub default: AttributeDefault,
    /// Which values are in range; none for what is ignored.
    pub range: Option<Range>,
}

/// Who chooses what becomes of a bad index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// The device or the version: a backend declares a pair, and the pages permit these.
    Permitted(PermittedPolicies),
    /// The call, by its mode; the first is the default.
    ByMode(Vec<ModePolicy>),
}

/// What a mode chooses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModePolicy {
    /// The value of the attribute.
    pub mode: String,
    /// What happens to bad and to negative indices.
    pub profile: Profile,
    /// What an index into an empty axis gives, where a bad index is no error.
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

/// What is allowed beside the error that the letter of the pages gives: the form's output, as if the pages listed this too; of a
/// scalar, which has none, anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tolerated {
    /// More dtypes of params.
    pub params_dtypes: Vec<DType>,
    /// More dtypes of indices.
    pub index_dtypes: Vec<DType>,
    /// Anything but a crash where params is a scalar, of which the pages promise nothing.
    pub scalar_params: bool,
    /// Another rule for the rank of indices.
    pub indices_rank: Option<RankRule>,
    /// Of [`Form::Elements`]: a wider join.
    pub join: Option<Join>,
    /// Of [`Form::Nd`]: fewer components of an index row.
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
    /// What kind of gather it is.
    pub form: Form,
    /// The operands, in the document's order.
    pub operands: Vec<OperandSignature>,
    /// The attributes, in the document's order.
    pub attributes: Vec<AttributeSignature>,
    /// Who chooses what becomes of a bad index, and among what.
    pub policy: Policy,
    /// What a mode whose policy is `fill` fills with.
    pub fill: Option<Fill>,
    /// Whether params are flattened, row-major, where the axis is null.
    pub flattens: bool,
    /// What is allowed beside the letter.
    pub tolerates: Tolerated,
    /// Of [`Form::Nd`]: the fewest components of an index row.
    pub least_depth: usize,
    /// Of [`Form::Elements`], which always has one: how the dims of params and indices off the axis relate.
    pub join: Option<Join>,
    /// Of [`Form::Elements`]: what is checked where indices has no elements.
    pub empty_index: EmptyIndex,
    /// Of [`Form::Window`], which always has one: how large a window is along collapsed and batching dims.
    pub collapsed_size: Option<CollapsedSize>,
    /// Of [`Form::Window`]: whether slice sizes are within the dims of params although there is no row.
    pub slice_bound: SliceBound,
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

impl Signature {
    /// The operand that plays a role.
    ///
    /// # Panics
    /// If no operand does. Every operator has params and indices: the loader refuses another signature.
    #[must_use]
    pub fn operand(&self, role: OperandRole) -> &OperandSignature {
        let found = self.operands.iter().find(|operand| operand.role == role);
        found.expect("every signature has params and indices")
    }

    /// The operand that holds the slice sizes, of an operator that has them there.
    #[must_use]
    pub fn slice_sizes_operand(&self) -> Option<&OperandSignature> {
        self.operands.iter().find(|operand| operand.role == OperandRole::SliceSizes)
    }

    /// The operand that plays a role, to be changed.
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

    /// The modes that a call may have, the default first; none of an operator without.
    #[must_use]
    pub fn modes(&self) -> &[ModePolicy] {
        match &self.policy {
            Policy::ByMode(modes) => modes,
            Policy::Permitted(_) => &[],
        }
    }

    /// The policies that the pages permit a backend to declare; none where the call chooses.
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

    /// What a slice with a bad index holds in params of a dtype, where that is no error: if the call chooses to fill, the
    /// fill value that it sends or else the operator's fill, and zero otherwise.
    #[must_use]
    pub fn filler(&self, profile: Profile, dtype: DType, sent: Option<&Tensor>) -> Element {
        let fill = self.fill.filter(|_| profile.bad == BadIndex::Fill);
        let by_dtype = || fill.map_or_else(|| Element::zero(dtype), |fill| fill.element(dtype));
        let sent = sent.filter(|_| fill.is_some()).and_then(|element| element.iter().next());
        sent.unwrap_or_else(by_dtype)
    }

    /// Whether params and indices can share leading axes.
    #[must_use]
    pub fn has_batch(&self) -> bool {
        self.attribute(AttributeRole::BatchDims).is_some()
    }
}

impl AttributeSignature {
    /// What values it takes, in words.
    #[must_use]
    pub fn takes_what(&self) -> String {
        let or_null = if self.nullable { " or null" } else { "" };
        format!("{}{or_null}", self.r#type)
    }

    /// Whether a value is one that it takes, of its type or null.
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
