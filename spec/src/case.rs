//! Cases: a call, the clauses it tests, and the outcomes that are allowed.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;

use crate::any::{self, OpenDtypes};
use crate::call::{BadIndex, EmptyAxis, NegativeIndex};
use crate::clause::Evidence;
use crate::signature::{Fill, ModePolicy, Signature};
use crate::tensor::Sparse;
use crate::{
    Attribute, Basis, Call, DType, ErrorCode, ErrorFields, Profile, Roles, Shape, Tensor, TensorBuilder,
    TensorError,
};

/// A call with the outcomes that are allowed.
#[derive(Clone, Debug)]
pub struct Case {
    /// `<operator>/<file>/<name>`, followed by `[dtype,…]` if `for-each` generated the case or its mode is not the default.
    /// It never changes.
    pub id: String,
    /// The id as written, without the part that `for-each` adds.
    pub written: String,
    /// The family case that this is an instance of, as `<family>/<topic>/<name>`.
    pub family: Option<String>,
    /// The documented example that it transcribes.
    pub documented: Option<String>,
    /// The clauses that it tests.
    pub clauses: Arc<[String]>,
    /// The weakest basis among its clauses.
    pub basis: Basis,
    /// What it distinguishes, if the name does not say so.
    pub why: Option<String>,
    /// Real bugs that it reproduces.
    pub history: Vec<Evidence>,
    /// Where the expectation comes from, unless it was derived from the documents by hand.
    pub provenance: Option<Provenance>,
    /// The dtypes that `dtype: any` leaves open. `call` and `expect` use the first of each.
    pub open: OpenDtypes,
    /// Its position among the sizes of its `for-each`.
    pub grid_point: Option<usize>,
    /// Whether it belongs to the suite of large calls, which only runs on request.
    pub large: bool,
    /// Its params, if they are too large to be kept in memory. Then `call` has zeros of the same shape, without storing them.
    pub sparse: Option<Arc<Sparse>>,
    /// The call.
    pub call: Call,
    /// The names of the call's params and indices.
    pub names: OperandNames,
    /// The signature of its operator.
    pub signature: Arc<Signature>,
    /// The allowed outcomes.
    pub expect: Expectation,
}

impl Case {
    /// The topic, which is the name of its file.
    #[must_use]
    pub fn topic(&self) -> &str {
        self.written.rsplit('/').nth(1).unwrap_or_default()
    }

    /// The tensor to gather from.
    ///
    /// # Panics
    /// If the call lacks it. No loaded case does.
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

    /// The operands in role terms, without attributes.
    #[must_use]
    pub fn roles(&self) -> Roles<&Tensor> {
        Roles::new(self.params(), self.indices())
    }

    /// The case for a backend that supports these dtypes of params and of indices. An operand with an open dtype gets the
    /// first of its dtypes that is supported; if none is, it keeps its current dtype.
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
        self.in_dtypes(first(&self.open.params, params, now.0), first(&self.open.indices, indices, now.1))
    }

    /// The case in these dtypes. They are its own, or of those that `any` stands for: see [`any::PARAMS`] and [`any::INDICES`].
    ///
    /// # Errors
    /// [`TensorError`] if memory is short.
    pub fn in_dtypes(&self, params: DType, indices: DType) -> Result<Cow<'_, Self>, TensorError> {
        let (now, new) = ((self.params().dtype(), self.indices().dtype()), (params, indices));
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

/// The document's names for the operands that every form has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperandNames {
    /// The tensor to gather from.
    pub params: Arc<str>,
    /// The tensor that says what to gather.
    pub indices: Arc<str>,
}

/// The tool that computed an expectation that was not derived by hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Provenance {
    /// The tool's name.
    pub computed_by: String,
    /// Its version.
    pub version: String,
    /// The seed that the call was drawn from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

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
