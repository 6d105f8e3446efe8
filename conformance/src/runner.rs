//! Runs cases on a backend in this process: in every layout and with every number of threads. Any failing run decides.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gather_spec::{Allowed, Call, Case, Filled, Outcome, Profile, Tensor, TensorError};

use crate::backend::{Capability, Description, Held};
use crate::declared::{Outside, Probes};
use crate::difference::Difference;
use crate::judge::{Judgement, Strictness, Verdict, describe_allowed, describe_outcome, judge};
use crate::layout::Layout;
use crate::words::shown;

/// The numbers of threads to try, for a backend that lets the runner choose.
const THREADS: [usize; 3] = [1, 2, 5];

/// Row-major order with each of the other layouts.
const PAIRS: [&[Layout]; 4] = [
    &[Layout::Contiguous, Layout::Transposed],
    &[Layout::Contiguous, Layout::Offset],
    &[Layout::Contiguous, Layout::Reversed],
    &[Layout::Contiguous, Layout::Broadcast],
];

/// Why a case whose tensors are too large is not run.
const NO_MEMORY: &str = "no memory for its tensors";

/// The note of a refusal that is right.
const OUTSIDE: &str = "refused, just outside a declared limit";

/// The result of one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseResult {
    /// The case's id.
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
    /// The layout and the number of threads of the failing run, if it was not the first run.
    pub at: Option<String>,
    /// What was not checked.
    pub note: Option<String>,
    /// What the backend wrote to standard error during the call.
    pub stderr: Option<String>,
    /// The time of all runs together; `None` if the case was not sent.
    pub duration: Option<Duration>,
}

/// A backend in this process. Its factory recreates it after a panic.
pub struct InProcess<F> {
    factory: F,
    backend: Option<Held>,
    description: Arc<Description>,
    layouts: &'static [Layout],
    threads: &'static [usize],
    /// Whether the first number of threads writes to poisoned outputs, too.
    poisons_all: bool,
    repeat: usize,
    strictness: Strictness,
    probes: Arc<Probes>,
}

impl<F: Fn() -> B, B: Into<Held>> InProcess<F> {
    /// A runner for the backends that `factory` makes.
    pub fn new(factory: F, strictness: Strictness) -> Self {
        let mut held = factory().into();
        let description = Arc::new(held.backend().describe());
        Self::described(factory, held, description, strictness)
    }

    /// The same for a backend that was made and described before: describing takes longer than a small call.
    pub(crate) fn described(
        factory: F,
        mut held: Held,
        description: Arc<Description>,
        strictness: Strictness,
    ) -> Self {
        let threads = if held.backend().use_threads(1) { &THREADS[..] } else { &THREADS[..1] };
        Self {
            factory,
            backend: Some(held),
            description,
            layouts: &Layout::ALL,
            threads,
            poisons_all: false,
            repeat: 1,
            strictness,
            probes: Arc::default(),
        }
    }

    /// Repeats every run.
    #[must_use]
    pub const fn repeat(mut self, times: usize) -> Self {
        self.repeat = times;
        self
    }

    /// Runs also the cases just outside the limits of the backend.
    #[must_use]
    pub(crate) fn probing(self, probes: Arc<Probes>) -> Self {
        Self { probes, ..self }
    }

    /// Runs in row-major order and in one more layout, with one number of threads, to poisoned outputs: what a turn chooses,
    /// so that many cases together try all of them.
    #[must_use]
    pub fn in_turn(mut self, turn: usize) -> Self {
        let threads = turn / PAIRS.len() % self.threads.len();
        self.threads = &self.threads[threads..=threads];
        self.layouts = PAIRS[turn % PAIRS.len()];
        self.poisons_all = true;
        self
    }

    /// Runs in row-major order on one thread only, as a program is asked.
    #[must_use]
    pub const fn as_a_program(mut self) -> Self {
        self.layouts = &[Layout::Contiguous];
        self.threads = &[THREADS[0]];
        self
    }

    /// Runs in these layouts only, for a backend whose answers cannot depend on the layout.
    #[must_use]
    pub(crate) const fn in_layouts(mut self, layouts: &'static [Layout]) -> Self {
        self.layouts = layouts;
        self
    }

    /// The backend's self-description.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Runs one case in all layouts and with all numbers of threads, in dtypes that the backend declares.
    pub fn run(&mut self, case: &Case) -> CaseResult {
        if case.large {
            // A large case has one layout only: copies of hundreds of megabytes would not reveal anything new.
            return self.run_laid_out(case, |call, _| Cow::Owned(Ok(call.clone())));
        }
        self.run_laid_out(case, |call, layout| Cow::Owned(layout.apply(call)))
    }

    /// Like [`InProcess::run`], but the caller supplies the call in each layout.
    pub(crate) fn run_laid_out<'c>(
        &mut self,
        case: &Case,
        laid_out: impl Fn(&Call, Layout) -> Cow<'c, Result<Call, TensorError>>,
    ) -> CaseResult {
        match Judged::or_probe(&self.description, case, self.strictness, Some(&self.probes)) {
            Ok(judged) => {
                let start = Instant::now();
                let profile = judged.profile;
                let Ok(spread) = judged.spread() else {
                    return unsupported(case, Some(profile), NO_MEMORY);
                };
                let result = self.run_judged(&spread, laid_out);
                CaseResult { duration: Some(start.elapsed()), ..result }
            }
            Err(unsupported) => *unsupported,
        }
    }

    /// Runs a case of an operator that the backend declares.
    fn run_judged<'c>(
        &mut self,
        judged: &Judged<'_>,
        laid_out: impl Fn(&Call, Layout) -> Cow<'c, Result<Call, TensorError>>,
    ) -> CaseResult {
        let mut first: Option<(Outcome, Judgement)> = None;
        for layout in layouts(self.layouts, judged.case.large, judged.case.grid_point) {
            let call = laid_out(judged.call(), layout);
            let answered = match self.run_layout(judged, layout, &call, first.is_none()) {
                Ok(answered) => answered,
                Err(result) => return *result,
            };
            let earlier = first.as_ref().map(|(outcome, _)| outcome);
            if let Some(earlier) = earlier.filter(|one| !one.agrees(&answered.0) && !judged.may_vary()) {
                return judged.varies(earlier, &answered.0, self.place((layout, self.threads[0])));
            }
            first.get_or_insert(answered);
        }
        let (outcome, judgement) = first.expect("there is at least one layout");
        judged.result_of(&outcome, judgement, None)
    }

    /// Runs a call in one layout, with every number of threads and as often as requested. Returns the common outcome of
    /// all runs if it passes, with its judgement.
    fn run_layout(
        &mut self,
        judged: &Judged<'_>,
        layout: Layout,
        call: &Result<Call, TensorError>,
        is_first: bool,
    ) -> Result<(Outcome, Judgement), Box<CaseResult>> {
        let Ok(call) = call else {
            let judgement = Judgement { verdict: Verdict::Unsupported, note: None };
            let at = (!is_first).then(|| self.place((layout, self.threads[0])));
            return Err(Box::new(judged.result(judgement, "no memory for this layout".to_owned(), at)));
        };
        let mut first: Option<Outcome> = None;
        for threads in self.threads {
            for _ in 0..self.repeat {
                let at = (!is_first || first.is_some()).then_some((layout, *threads));
                let outcome = self.run_once(judged, call, *threads).map_err(|(verdict, actual)| {
                    let at = at.map(|run| self.place(run));
                    Box::new(judged.result(Judgement { verdict, note: None }, actual, at))
                })?;
                if let Some(first) =
                    first.as_ref().filter(|first| !first.agrees(&outcome) && !judged.may_vary())
                {
                    return Err(Box::new(judged.varies(first, &outcome, self.place((layout, *threads)))));
                }
                // If outcomes may vary, each is judged; otherwise all are equal, and the caller judges one.
                if judged.may_vary() {
                    let judgement = judged.judge(&outcome);
                    if judgement.verdict != Verdict::Pass {
                        let at = at.map(|run| self.place(run));
                        return Err(Box::new(judged.result_of(&outcome, judgement, at)));
                    }
                }
                first.get_or_insert(outcome);
            }
        }
        let outcome = first.expect("there is at least one run");
        let judgement = judged.judge(&outcome);
        if judgement.verdict == Verdict::Pass {
            return Ok((outcome, judgement));
        }
        let at = (!is_first).then(|| self.place((layout, self.threads[0])));
        Err(Box::new(judged.result_of(&outcome, judgement, at)))
    }

    /// Runs a call once. The error is the verdict, with a description, of a run without an outcome to judge.
    fn run_once(
        &mut self,
        judged: &Judged<'_>,
        call: &Call,
        threads: usize,
    ) -> Result<Outcome, (Verdict, String)> {
        let backend = self.backend.get_or_insert_with(|| (self.factory)().into());
        // Unless all outputs are poisoned, those of the first number of threads are memory as it is.
        let poison = self.poisons_all || threads != THREADS[0];
        let answered = catch_unwind(AssertUnwindSafe(|| backend.call(call, threads, poison)));
        let outcome = answered.map_err(|panic| {
            self.backend = None;
            (Verdict::Crash, format!("panic: {}", panic_message(&*panic)))
        })?;
        let original = judged.call();
        if call.operands != original.operands {
            return Err((Verdict::InputChanged, "the call changed its input".to_owned()));
        }
        Ok(outcome)
    }

    /// A layout and a number of threads, in words.
    fn place(&self, (layout, threads): (Layout, usize)) -> String {
        if self.threads == &THREADS[..1] {
            return format!("layout {}", layout.name());
        }
        format!("layout {}, {threads} threads", layout.name())
    }
}

/// The layouts to run a case in: all of a list; for one size of a grid the first and, in turns, one other; for a large case
/// only the first.
fn layouts(all: &[Layout], large: bool, grid_point: Option<usize>) -> impl Iterator<Item = Layout> {
    let others = all.len() - 1;
    let wanted = move |at: usize| !large && grid_point.is_none_or(|point| point % others == at);
    let chosen = all.iter().enumerate().filter(move |(at, _)| at.checked_sub(1).is_none_or(wanted));
    chosen.map(|(_, layout)| *layout)
}

/// A case for one backend: under the profile and in dtypes that the backend declares.
#[derive(Clone, Debug)]
pub(crate) struct Judged<'a> {
    pub(crate) case: Cow<'a, Case>,
    /// The call with its elements stored densely, if that differs from the case's call.
    spread: Option<Call>,
    profile: Profile,
    allowed: Vec<Allowed>,
    declared: bool,
    /// Whether the call is just outside a limit of the backend's, so that it may be refused.
    is_probe: bool,
    strictness: Strictness,
}

impl<'a> Judged<'a> {
    /// Prepares a case for a backend with this description. The error is the result of a case that is not to be sent.
    pub(crate) fn new(
        description: &Description,
        case: &'a Case,
        strictness: Strictness,
    ) -> Result<Self, Box<CaseResult>> {
        let Some(capability) = description.operators.get(case.call.operator.as_str()) else {
            return Err(Box::new(unsupported(case, None, "the operator is not declared")));
        };
        let (judged, outside) = Self::of(capability, case, strictness)?;
        match outside {
            None => Ok(judged),
            Some(outside) => Err(Box::new(judged.not_sent(&outside.to_string()))),
        }
    }

    /// As [`Judged::new`], but a case that is a probe of a limit is to be sent, too.
    pub(crate) fn or_probe(
        description: &Description,
        case: &'a Case,
        strictness: Strictness,
        probes: Option<&Probes>,
    ) -> Result<Self, Box<CaseResult>> {
        match (
            probes.is_some_and(|probes| probes.has(case)),
            description.operators.get(case.call.operator.as_str()),
        ) {
            (true, Some(capability)) => {
                Self::of(capability, case, strictness).map(|(judged, _)| Self { is_probe: true, ..judged })
            }
            _ => Self::new(description, case, strictness),
        }
    }

    /// The case in dtypes that the backend declares, if it has any of those, and why it is not to be sent.
    fn of(
        capability: &Capability,
        case: &'a Case,
        strictness: Strictness,
    ) -> Result<(Self, Option<Outside>), Box<CaseResult>> {
        let profile = capability.profile;
        let no_memory = |_| Box::new(unsupported(case, Some(profile), NO_MEMORY));
        let asked = capability.in_declared_dtypes(case).map_err(no_memory)?;
        let (declared, outside) = (capability.covers(&asked.roles()), capability.excludes(&asked));
        let allowed = asked.expect.under(profile);
        let judged =
            Self { case: asked, spread: None, profile, allowed, declared, is_probe: false, strictness };
        Ok((judged, outside))
    }

    /// Stores the elements of a grid case densely. Its tensors are views of few numbers, which makes repeated comparison
    /// slow.
    ///
    /// # Errors
    /// [`TensorError`] if there is no memory for params that are stored sparsely.
    pub(crate) fn spread(mut self) -> Result<Self, TensorError> {
        if let Some(sparse) = &self.case.sparse {
            let mut call = self.case.call.clone();
            call.operands.replace(&self.case.names.params, sparse.tensor()?);
            self.spread = Some(call);
        }
        if (self.case.grid_point.is_some() || self.case.large)
            && let Ok(call) = Layout::Contiguous.apply(self.call())
        {
            self.spread = Some(call);
            if self.case.large {
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

    /// The call to send.
    pub(crate) fn call(&self) -> &Call {
        self.spread.as_ref().unwrap_or(&self.case.call)
    }

    fn params(&self) -> &Tensor {
        self.call().operands.get(&self.case.names.params).expect("a case has params")
    }

    /// The result of a case that cannot be sent.
    pub(crate) fn not_sent(&self, why: &str) -> CaseResult {
        unsupported(&self.case, Some(self.profile), why)
    }

    pub(crate) fn judge(&self, outcome: &Outcome) -> Judgement {
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
    pub(crate) fn answered(&self, outcome: &Outcome, at: Option<String>) -> CaseResult {
        self.result_of(outcome, self.judge(outcome), at)
    }

    /// The result of an answer that was judged. A pass gets no description, which would take time.
    pub(crate) fn result_of(
        &self,
        outcome: &Outcome,
        judgement: Judgement,
        at: Option<String>,
    ) -> CaseResult {
        if judgement.verdict == Verdict::Pass {
            return self.described(judgement, String::new(), String::new(), at);
        }
        let difference = Difference::from_allowed(&self.allowed, self.params(), outcome);
        let (expected, actual) = match difference.as_ref().and_then(Difference::texts) {
            Some((expected, actual)) => (expected, actual),
            None => (describe_allowed(&self.allowed), describe_outcome(outcome)),
        };
        let result = self.described(judgement, expected, actual, at);
        CaseResult { difference: difference.map(Box::new), ..result }
    }

    /// The result of runs that differ.
    pub(crate) fn varies(&self, first: &Outcome, other: &Outcome, at: String) -> CaseResult {
        let difference = Difference::between(first, other);
        let (was, is) = match difference.as_ref().and_then(Difference::texts) {
            Some(texts) => texts,
            None => (describe_outcome(first), describe_outcome(other)),
        };
        let judgement = Judgement { verdict: Verdict::Nondeterministic, note: None };
        let result = self.result(judgement, format!("first {was}, then {is}"), Some(at));
        CaseResult { difference: difference.map(Box::new), ..result }
    }

    /// A result without an answer.
    pub(crate) fn result(&self, judgement: Judgement, actual: String, at: Option<String>) -> CaseResult {
        self.described(judgement, describe_allowed(&self.allowed), actual, at)
    }

    fn described(
        &self,
        judgement: Judgement,
        expected: String,
        actual: String,
        at: Option<String>,
    ) -> CaseResult {
        CaseResult {
            id: self.case.id.clone(),
            // As written in the case, the call takes less memory than in dense form.
            call: Some(self.case.call.clone()),
            profile: Some(self.profile),
            verdict: judgement.verdict,
            expected,
            actual,
            difference: None,
            at,
            note: judgement.note.map(str::to_owned),
            stderr: None,
            duration: None,
        }
    }
}

fn unsupported(case: &Case, profile: Option<Profile>, why: &str) -> CaseResult {
    CaseResult {
        id: case.id.clone(),
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
    }
}

pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    shown(text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message"))
}

#[cfg(test)]
mod tests;
