//! The outcomes that a run allows.

use std::sync::Arc;

use crate::call::{BadIndex, EmptyAxis, NegativeIndex};
use crate::signature::{Fill, ModePolicy};
use crate::{ErrorCode, ErrorFields, Profile, Shape, Tensor, TensorBuilder, TensorError};

/// The allowed outcomes, by profile.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// The alternatives. The first that matches the profile applies.
    pub arms: Vec<Arm>,
}

/// The allowed outcomes under some profiles.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The condition on the profile.
    pub when: When,
    /// The clause that says what the policy of the condition gives, where the operator has one.
    pub clause: Option<Arc<str>>,
    /// The outcomes, any of which passes.
    pub allowed: Vec<Allowed>,
}

impl Arm {
    /// The outcomes allowed under every profile.
    #[must_use]
    pub fn always(allowed: Vec<Allowed>) -> Self {
        Self { when: When::default(), clause: None, allowed }
    }
}

/// A condition on policies. An absent field matches every policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct When {
    /// Requires this policy. `fill` also matches `zero`, which fills with zero bits.
    #[serde(default)]
    pub bad: Option<BadIndex>,
    /// Requires this policy.
    #[serde(default)]
    pub negative: Option<NegativeIndex>,
    /// Requires this. For policies that a backend declares, the value is `zero`.
    #[serde(default, rename = "empty-axis")]
    pub empty_axis: Option<EmptyAxis>,
}

impl When {
    /// Whether it matches a profile that a backend declares.
    #[must_use]
    pub fn matches(&self, profile: Profile) -> bool {
        self.matches_both(profile, EmptyAxis::Zero)
    }

    /// Whether it matches the policies of a mode.
    #[must_use]
    pub fn matches_mode(&self, mode: &ModePolicy) -> bool {
        self.matches_both(mode.profile, mode.empty_axis)
    }

    /// Whether it matches these policies.
    pub(crate) fn matches_both(&self, profile: Profile, empty_axis: EmptyAxis) -> bool {
        // The policy zero is a fill with zero bits.
        let fills = |policy| policy == BadIndex::Fill && profile.bad == BadIndex::Zero;
        self.bad.is_none_or(|policy| policy == profile.bad || fills(policy))
            && self.negative.is_none_or(|policy| policy == profile.negative)
            && self.empty_axis.is_none_or(|policy| policy == empty_axis)
    }
}

/// One outcome that passes.
#[derive(Clone, Debug, PartialEq)]
pub enum Allowed {
    /// Exactly this tensor, bit by bit.
    Output(Tensor),
    /// A tensor in which the operator's fill value replaces some elements.
    Filled(Filled),
    /// Any tensor of this shape and of the dtype of params.
    Shape(Shape),
    /// An error with this code and, where the backend states them, these fields.
    Error(ErrorCode, ErrorFields),
    /// Any error.
    AnyError,
    /// Anything but a crash.
    Unspecified,
}

/// An output in which the operator's fill value takes the place of elements selected by bad indices.
#[derive(Clone, Debug, PartialEq)]
pub struct Filled {
    /// The output with zeros in those places.
    pub zeroed: Tensor,
    /// The row-major positions of those elements, ascending.
    pub at: Arc<[usize]>,
    /// The fill value.
    pub fill: Fill,
}

impl Filled {
    /// The output with the fill value inserted.
    ///
    /// # Errors
    /// [`TensorError`] if memory is short.
    pub fn tensor(&self) -> Result<Tensor, TensorError> {
        let dtype = self.zeroed.dtype();
        let element = self.fill.element(dtype);
        let mut builder = TensorBuilder::new(dtype, self.zeroed.shape().clone())?;
        for (at, kept) in self.zeroed.iter().enumerate() {
            builder.push(if self.is_filled(at) { element.clone() } else { kept });
        }
        builder.finish()
    }

    /// Whether an output matches, bit by bit except for a fill value that does not define its bits.
    #[must_use]
    pub fn allows(&self, output: &Tensor) -> bool {
        let dtype = self.zeroed.dtype();
        (output.dtype(), output.shape()) == (dtype, self.zeroed.shape())
            && self.zeroed.iter().zip(output.iter()).enumerate().all(|(at, (kept, found))| {
                if self.is_filled(at) { self.fill.allows(dtype, &found) } else { found == kept }
            })
    }

    fn is_filled(&self, at: usize) -> bool {
        self.at.binary_search(&at).is_ok()
    }
}

impl Expectation {
    /// The outcomes allowed under a profile. If `bad` is `unspecified` and the outcome depends on it, these are any output
    /// with the right shape, and any error.
    #[must_use]
    pub fn under(&self, profile: Profile) -> Vec<Allowed> {
        let matching = self.arms.iter().find(|arm| arm.when.matches(profile));
        match matching {
            Some(arm) => arm.allowed.clone(),
            None => self.unspecified(),
        }
    }

    /// The first pair of policies that determines an outcome but matches no arm.
    #[must_use]
    pub fn unmatched(&self) -> Option<Profile> {
        Profile::all_specified().find(|profile| !self.arms.iter().any(|arm| arm.when.matches(*profile)))
    }

    /// Whether some arm allows an output.
    #[must_use]
    pub fn accepts(&self) -> bool {
        self.allowed()
            .any(|allowed| matches!(allowed, Allowed::Output(_) | Allowed::Filled(_) | Allowed::Shape(_)))
    }

    /// Whether some arm allows an error with this code.
    #[must_use]
    pub fn rejects(&self, code: ErrorCode) -> bool {
        self.allowed().any(|allowed| matches!(allowed, Allowed::Error(found, _) if *found == code))
    }

    /// All outcomes that are allowed under some profile.
    pub fn allowed(&self) -> impl Iterator<Item = &Allowed> {
        self.arms.iter().flat_map(|arm| &arm.allowed)
    }

    fn unspecified(&self) -> Vec<Allowed> {
        let shape = self.allowed().find_map(|allowed| match allowed {
            Allowed::Output(tensor) | Allowed::Filled(Filled { zeroed: tensor, .. }) => {
                Some(tensor.shape().clone())
            }
            Allowed::Shape(shape) => Some(shape.clone()),
            _ => None,
        });
        match shape {
            Some(shape) => vec![Allowed::Shape(shape), Allowed::AnyError],
            None => vec![Allowed::Unspecified],
        }
    }
}
