//! Cases: a call, the clauses it tests, and the outcomes that are allowed.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;

use crate::any::{self, OpenDtypes};
use crate::call::{BadIndex, EmptyAxis, NegativeIndex};
use crate::clause::Evidence;
use crate::signature::{Fill, ModePolicy};
use crate::tensor::Sparse;
use crate::{
    Attribute, Basis, Call, DType, ErrorCode, ErrorFields, Profile, Roles, Shape, Tensor, TensorBuilder,
    TensorError,
};

/// A call together with what may be answered to it.
#[derive(Clone, Debug)]
pub struct Case {
    /// `<operator>/<file>/<name>`, with `[dtype,…]` behind it when it comes from `for-each`, and the mode if it is not the
    /// default; stable for ever.
    pub id: String,
    /// The id as written, without what `for-each` adds.
    pub written: String,
    /// The case of a family that this is, as `<family>/<topic>/<name>`.
    pub family: Option<String>,
    /// The documented example that this transcribes.
    pub documented: Option<String>,
    /// The clauses that it tests.
    pub clauses: Arc<[String]>,
    /// The weakest basis among its clauses.
    pub basis: Basis,
    /// What this separates, when the name does not say it.
    pub why: Option<String>,
    /// The real bugs that this stands for.
    pub history: Vec<Evidence>,
    /// Where the expectation comes from, if not from the documents by hand.
    pub provenance: Option<Provenance>,
    /// The dtypes that it leaves open, as `dtype: any` does. `call` and `expect` have the first of each.
    pub open: OpenDtypes,
    /// Its place among those that the sizes of its `for-each` stand for.
    pub grid_point: Option<usize>,
    /// Whether it belongs to the suite of large calls, which is run only where it is asked for.
    pub large: bool,
    /// Its params, where these are too large to be held before they are needed: `call` then has zeros of their shape.
    pub sparse: Option<Arc<Sparse>>,
    /// The question.
    pub call: Call,
    /// The names of the operands of the call that every form has.
    pub names: OperandNames,
    /// The answers that are allowed.
    pub expect: Expectation,
}

impl Case {
    /// The topic: the name of the file that it is written in.
    #[must_use]
    pub fn topic(&self) -> &str {
        self.written.rsplit('/').nth(1).unwrap_or_default()
    }

    /// The tensor to gather from.
    ///
    /// # Panics
    /// If the call lacks it, which no loaded case does.
    #[must_use]
    pub fn params(&self) -> &Tensor {
        self.call.operands.get(&self.names.params).expect("a case has params")
    }

    /// The tensor that says what to gather.
    ///
    /// # Panics
    /// As [`Case::params`].
    #[must_use]
    pub fn indices(&self) -> &Tensor {
        self.call.operands.get(&self.names.indices).expect("a case has indices")
    }

    /// The operands of the call in role terms, without its attributes.
    #[must_use]
    pub fn roles(&self) -> Roles<&Tensor> {
        Roles::new(self.params(), self.indices())
    }

    /// The case as it is run on a backend that takes these dtypes of params and of indices: an operand whose dtype is
    /// open gets the first of its dtypes that is among them. Where none is, it keeps the one it has.
    ///
    /// # Errors
    /// [`TensorError`] if memory is short.
    ///
    /// ```
    /// use gather_spec::{DType, Specification};
    /// let spec = Specification::embedded().unwrap();
    /// let case = spec.case("tf.gather_nd/rows/permuted").unwrap();
    /// let narrow = case.within(&[DType::U8], &[DType::I64]).unwrap();
    /// assert_eq!((narrow.params().dtype(), narrow.indices().dtype()), (DType::U8, DType::I64));
    /// ```
    pub fn within(&self, params: &[DType], indices: &[DType]) -> Result<Cow<'_, Self>, TensorError> {
        let first = |open: &[DType], taken: &[DType], now: DType| {
            open.iter().copied().find(|dtype| taken.contains(dtype)).unwrap_or(now)
        };
        let now = (self.params().dtype(), self.indices().dtype());
        let new = (first(&self.open.params, params, now.0), first(&self.open.indices, indices, now.1));
        if new == now {
            return Ok(Cow::Borrowed(self));
        }
        let mut case = self.clone();
        if new.0 != now.0 {
            let params = any::values_as(self.params(), new.0)?;
            case.call.operands.replace(&self.names.params, params);
            for value in case.call.attributes.values_mut() {
                if let Attribute::Element(element) = value {
                    **element = any::values_as(element, new.0)?;
                }
            }
            for allowed in case.expect.arms.iter_mut().flat_map(|arm| &mut arm.allowed) {
                match allowed {
                    Allowed::Output(output) | Allowed::Filled(Filled { zeroed: output, .. }) => {
                        *output = any::values_as(output, new.0)?;
                    }
                    Allowed::Error(_, ErrorFields { bytes: Some(bytes), .. }) => {
                        let elements = *bytes / now.0.size() as u128;
                        *bytes = elements.saturating_mul(new.0.size() as u128);
                    }
                    _ => {}
                }
            }
        }
        if new.1 != now.1 {
            let indices = any::indices_as(self.indices(), new.1)?;
            case.call.operands.replace(&self.names.indices, indices);
        }
        Ok(Cow::Owned(case))
    }
}

/// What the operator's page calls the operands that every form has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperandNames {
    /// The tensor to gather from.
    pub params: Arc<str>,
    /// The tensor that says what to gather.
    pub indices: Arc<str>,
}

/// Who computed an expectation that was not derived by hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Provenance {
    /// A tool's name.
    pub computed_by: String,
    /// Its version.
    pub version: String,
    /// The seed that the call was drawn from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// What is allowed, by profile.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// Tried in order.
    pub arms: Vec<Arm>,
}

/// What is allowed under some profiles.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The profiles it is for.
    pub when: When,
    /// The outcomes, any of which passes.
    pub allowed: Vec<Allowed>,
}

/// A condition on the policies; an absent one matches every one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// Asks for this policy; `fill` also for `zero`, which fills with zero bits.
    #[serde(default)]
    pub bad: Option<BadIndex>,
    /// Asks for this policy.
    #[serde(default)]
    pub negative: Option<NegativeIndex>,
    /// Asks for this. Where a backend declares the policies, it is `zero`.
    #[serde(default, rename = "empty-axis")]
    pub empty_axis: Option<EmptyAxis>,
}

impl When {
    /// Whether it holds for a profile that a backend declares.
    #[must_use]
    pub fn matches(&self, profile: Profile) -> bool {
        self.matches_both(profile, EmptyAxis::Zero)
    }

    /// Whether it holds for what a mode chooses.
    #[must_use]
    pub fn matches_mode(&self, mode: &ModePolicy) -> bool {
        self.matches_both(mode.profile, mode.empty_axis)
    }

    /// Whether it holds for these policies.
    pub(crate) fn matches_both(&self, profile: Profile, empty_axis: EmptyAxis) -> bool {
        // Zero is what the policy zero fills with.
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
    /// A tensor in which some elements are the operator's fill.
    Filled(Filled),
    /// Any tensor of this shape and of the dtype of params.
    Shape(Shape),
    /// An error of this code; stated fields must agree.
    Error(ErrorCode, ErrorFields),
    /// Any error.
    AnyError,
    /// Anything but a crash.
    Unspecified,
}

/// An output in which the operator's fill takes the place of what bad indices would select.
#[derive(Clone, Debug, PartialEq)]
pub struct Filled {
    /// The output with zeros at these places.
    pub zeroed: Tensor,
    /// The places, counted in row-major order, ascending.
    pub at: Arc<[usize]>,
    /// What stands there.
    pub fill: Fill,
}

impl Filled {
    /// The output with the elements that the fill makes.
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

    /// Whether an output is this one: bit by bit but for a fill that promises no bits.
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
    /// What is allowed under a profile. Where `bad` is `unspecified` and the outcome depends on it, that is
    /// any output of the right shape, or any error.
    #[must_use]
    pub fn under(&self, profile: Profile) -> Vec<Allowed> {
        let matching = self.arms.iter().find(|arm| arm.when.matches(profile));
        match matching {
            Some(arm) => arm.allowed.clone(),
            None => self.unspecified(),
        }
    }

    /// Whether every pair of policies that fixes an outcome finds an arm; gives the first pair that does not.
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

    /// Whether some arm allows this error.
    #[must_use]
    pub fn rejects(&self, code: ErrorCode) -> bool {
        self.allowed().any(|allowed| matches!(allowed, Allowed::Error(found, _) if *found == code))
    }

    /// Every outcome that is allowed under some profile.
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
