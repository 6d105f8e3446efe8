//! A run for one backend: in its dtypes and a variant, with what is allowed under its policies, and the result of asking it.

use std::borrow::Cow;
use std::time::Duration;

use gather_spec::{Allowed, Call, Filled, Outcome, Profile, Run, Tensor, TensorError, Variant};

use crate::backend::{Capability, Description};
use crate::declared::{Outside, Probes};
use crate::difference::Difference;
use crate::judge::{Judgement, Strictness, Verdict, describe_allowed, describe_outcome, judge};
use crate::layout::Layout;

/// Why a run whose tensors are too large is not run.
pub(crate) const NO_MEMORY: &str = "no memory for its tensors";

/// The note for a refusal that is right.
const OUTSIDE: &str = "refused, just outside a declared limit";

/// The result of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunResult {
    /// The run's id.
    pub id: String,
    /// The call as sent, with open dtypes filled in; `None` if it was not sent.
    pub call: Option<Call>,
    /// The profile that it was judged under; `None` if the operator is not supported.
    pub profile: Option<Profile>,
    /// The verdict.
    pub verdict: Verdict,
    /// What was allowed, in words; empty for a pass.
    pub expected: String,
    /// What was answered, in words; empty for a pass.
    pub actual: String,
    /// The difference between the output and the expected one, or an earlier one.
    pub difference: Option<Box<Difference>>,
    /// The layout and the number of threads of the failing call, if it was not the first call.
    pub at: Option<String>,
    /// What was not checked.
    pub note: Option<String>,
    /// What the backend wrote to standard error during the call.
    pub stderr: Option<String>,
    /// The time of all calls together; `None` if none was sent.
    pub duration: Option<Duration>,
    /// Whether it was not sent because it is outside what the backend declares.
    pub is_outside: bool,
}

impl RunResult {
    /// The result of a run that is not made.
    pub(crate) fn unsupported(run: &Run, profile: Option<Profile>, why: &str) -> Self {
        Self {
            id: run.id.clone(),
            call: None,
            profile,
            verdict: Verdict::Unsupported,
            expected: String::new(),
            actual: why.to_owned(),
            difference: None,
            at: None,
            note: None,
            stderr: None,
            duration: None,
            is_outside: false,
        }
    }
}

/// A run for one backend: under the profile and in dtypes that the backend declares.
#[derive(Clone, Debug)]
pub struct Judged<'a> {
    pub(crate) run: Cow<'a, Run>,
    /// The call with its elements stored densely, if that differs from the run's call.
    spread: Option<Call>,
    profile: Profile,
    allowed: Vec<Allowed>,
    declared: bool,
    /// Whether the call is just outside a limit of the backend, which may then refuse it.
    is_probe: bool,
    strictness: Strictness,
}

impl<'a> Judged<'a> {
    /// Prepares a run for a backend with this description. The error is the result of a run that is not to be sent.
    pub fn new(
        description: &Description,
        run: &'a Run,
        strictness: Strictness,
    ) -> Result<Self, Box<RunResult>> {
        let Some(capability) = description.operators.get(run.call.operator.as_str()) else {
            return Err(Box::new(RunResult::unsupported(run, None, "the operator is not declared")));
        };
        let (judged, outside) = Self::of(capability, run, strictness)?;
        match outside {
            None => Ok(judged),
            Some(outside) => {
                Err(Box::new(RunResult { is_outside: true, ..judged.not_sent(&outside.to_string()) }))
            }
        }
    }

    /// As [`Judged::new`], but also sends a run that probes a limit.
    pub(crate) fn or_probe(
        description: &Description,
        run: &'a Run,
        strictness: Strictness,
        probes: Option<&Probes>,
    ) -> Result<Self, Box<RunResult>> {
        match (
            probes.is_some_and(|probes| probes.has(run)),
            description.operators.get(run.call.operator.as_str()),
        ) {
            (true, Some(capability)) => {
                Self::of(capability, run, strictness).map(|(judged, _)| Self { is_probe: true, ..judged })
            }
            _ => Self::new(description, run, strictness),
        }
    }

    /// The run in declared dtypes if it can have them, and the reason not to send it if it is outside the
    /// declaration.
    fn of(
        capability: &Capability,
        run: &'a Run,
        strictness: Strictness,
    ) -> Result<(Self, Option<Outside>), Box<RunResult>> {
        let profile = capability.profile;
        let no_memory = |_| Box::new(RunResult::unsupported(run, Some(profile), NO_MEMORY));
        let asked = capability.in_declared_dtypes(run).map_err(no_memory)?;
        let (declared, outside) = (capability.covers(&asked.roles()), capability.excludes(&asked));
        let allowed = asked.expect.under(profile);
        let judged =
            Self { run: asked, spread: None, profile, allowed, declared, is_probe: false, strictness };
        Ok((judged, outside))
    }

    /// Stores the elements of a run of many sizes densely. Its tensors are views of few numbers, which makes repeated comparison
    /// slow.
    ///
    /// # Errors
    /// [`TensorError`] if there is no memory for params that are stored sparsely.
    pub fn spread(mut self) -> Result<Self, TensorError> {
        if let Some(sparse) = &self.run.sparse {
            let mut call = self.run.call.clone();
            call.operands.replace(&self.run.case.names.params, sparse.tensor()?);
            self.spread = Some(call);
        }
        if (self.run.case.axes.has_sizes() || self.run.case.large)
            && let Ok(call) = Layout::Contiguous.apply(self.call())
        {
            self.spread = Some(call);
            if self.run.case.large {
                // The outputs of a large case are compared only once, so they stay as they are.
                return Ok(self);
            }
            for allowed in &mut self.allowed {
                if let Allowed::Output(output) | Allowed::Filled(Filled { zeroed: output, .. }) = allowed
                    && let Ok(stored) = output.to_row_major()
                {
                    *output = stored;
                }
            }
        }
        Ok(self)
    }

    /// The same, with an owned run.
    pub(crate) fn into_owned(self) -> Judged<'static> {
        Judged { run: Cow::Owned(self.run.into_owned()), ..self }
    }

    /// The same in a variant.
    pub(crate) fn in_variant(&self, variant: &Variant) -> Self {
        let mut varied = self.clone();
        let run = varied.run.to_mut();
        run.id = variant.in_id(&run.id);
        run.call.variant.clone_from(variant);
        if let Some(call) = &mut varied.spread {
            call.variant.clone_from(variant);
        }
        varied
    }

    /// The policies that it is judged under.
    pub(crate) const fn profile(&self) -> Profile {
        self.profile
    }

    /// The call to send.
    pub fn call(&self) -> &Call {
        self.spread.as_ref().unwrap_or(&self.run.call)
    }

    fn params(&self) -> &Tensor {
        self.call().operands.get(&self.run.case.names.params).expect("a run has params")
    }

    /// Whether the call is just outside a limit of the backend.
    pub(crate) const fn is_probe(&self) -> bool {
        self.is_probe
    }

    /// The result of a run that cannot be sent.
    pub(crate) fn not_sent(&self, why: &str) -> RunResult {
        RunResult::unsupported(&self.run, Some(self.profile), why)
    }

    /// The verdict of an outcome.
    #[must_use]
    pub fn judge(&self, outcome: &Outcome) -> Judgement {
        if self.is_probe && matches!(outcome, Outcome::Error(_) | Outcome::Unsupported(_)) {
            return Judgement { verdict: Verdict::Pass, note: Some(OUTSIDE) };
        }
        judge(&self.allowed, self.params(), outcome, self.declared, self.strictness)
    }

    /// Whether exactly one output is allowed, and the backend declares the dtypes.
    pub(crate) fn has_one_output(&self) -> bool {
        self.declared && matches!(self.allowed.as_slice(), [Allowed::Output(_) | Allowed::Filled(_)])
    }

    /// Whether repeated runs may differ.
    pub(crate) fn may_vary(&self) -> bool {
        self.allowed.iter().any(|allowed| matches!(allowed, Allowed::Unspecified | Allowed::AnyError))
    }

    /// The result of an answer.
    pub fn answered(&self, outcome: &Outcome, at: Option<String>) -> RunResult {
        self.result_of(outcome, self.judge(outcome), at)
    }

    /// The result of an answer that was judged. A pass gets no description, which would take time.
    pub(crate) fn result_of(&self, outcome: &Outcome, judgement: Judgement, at: Option<String>) -> RunResult {
        if judgement.verdict == Verdict::Pass {
            return self.described(judgement, String::new(), String::new(), at);
        }
        let difference = Difference::from_allowed(&self.allowed, self.params(), outcome);
        let (expected, actual) = match difference.as_ref().and_then(Difference::texts) {
            Some((expected, actual)) => (expected, actual),
            None => (describe_allowed(&self.allowed), describe_outcome(outcome)),
        };
        let result = self.described(judgement, expected, actual, at);
        RunResult { difference: difference.map(Box::new), ..result }
    }

    /// The result of calls whose answers differ.
    pub(crate) fn varies(&self, first: &Outcome, other: &Outcome, at: String) -> RunResult {
        let difference = Difference::between(first, other);
        let (was, is) = match difference.as_ref().and_then(Difference::texts) {
            Some(texts) => texts,
            None => (describe_outcome(first), describe_outcome(other)),
        };
        let judgement = Judgement { verdict: Verdict::Nondeterministic, note: None };
        let result = self.result(judgement, format!("first {was}, then {is}"), Some(at));
        RunResult { difference: difference.map(Box::new), ..result }
    }

    /// A result without an answer.
    pub fn result(&self, judgement: Judgement, actual: String, at: Option<String>) -> RunResult {
        self.described(judgement, describe_allowed(&self.allowed), actual, at)
    }

    fn described(
        &self,
        judgement: Judgement,
        expected: String,
        actual: String,
        at: Option<String>,
    ) -> RunResult {
        RunResult {
            id: self.run.id.clone(),
            // The run's own call takes less memory than its dense form.
            call: Some(self.run.call.clone()),
            profile: Some(self.profile),
            verdict: judgement.verdict,
            expected,
            actual,
            difference: None,
            at,
            note: judgement.note.map(str::to_owned),
            stderr: None,
            duration: None,
            is_outside: false,
        }
    }
}
