//! Runs cases on an in-process backend: every layout, every number of threads, one disagreement decides.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use gather_spec::{Allowed, Call, Case, Outcome, Profile, TensorError};

use crate::backend::{Backend, Description};
use crate::judge::{
    Judgement, Strictness, Verdict, describe_allowed, describe_outcome, is_dtype_error, judge,
};
use crate::layout::Layout;

/// The numbers of threads that a backend which can choose is run with.
const THREADS: [usize; 3] = [1, 2, 5];

/// What became of one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseResult {
    /// The case.
    pub id: String,
    /// The profile that it was judged under; absent if the operator is not supported.
    pub profile: Option<Profile>,
    /// The verdict.
    pub verdict: Verdict,
    /// What was allowed, in words.
    pub expected: String,
    /// What was answered, in words.
    pub actual: String,
    /// The layout and number of threads at which the verdict fell, unless at the first run.
    pub at: Option<String>,
    /// What was not checked.
    pub note: Option<String>,
    /// What the backend wrote to its standard error meanwhile.
    pub stderr: Option<String>,
}

/// A backend in this process, made anew by its factory when it panics.
pub struct InProcess<F> {
    factory: F,
    backend: Option<Box<dyn Backend>>,
    description: Description,
    threads: &'static [usize],
    repeat: usize,
    strictness: Strictness,
}

impl<F: Fn() -> Box<dyn Backend>> InProcess<F> {
    /// A runner for the backends that `factory` makes.
    pub fn new(factory: F, strictness: Strictness) -> Self {
        let mut backend = factory();
        let description = backend.describe();
        let threads = if backend.use_threads(1) { &THREADS[..] } else { &THREADS[..1] };
        Self { factory, backend: Some(backend), description, threads, repeat: 1, strictness }
    }

    /// Makes every run a number of runs.
    #[must_use]
    pub const fn repeat(mut self, times: usize) -> Self {
        self.repeat = times;
        self
    }

    /// Who the backend is.
    pub const fn description(&self) -> &Description {
        &self.description
    }

    /// Runs one case over all layouts and numbers of threads.
    pub fn run(&mut self, case: &Case) -> CaseResult {
        self.run_laid_out(case, |layout| Cow::Owned(layout.apply(&case.call)))
    }

    /// The same, with the layouts of the case's call made by somebody else.
    pub(crate) fn run_laid_out<'c>(
        &mut self,
        case: &Case,
        laid_out: impl Fn(Layout) -> Cow<'c, Result<Call, TensorError>>,
    ) -> CaseResult {
        let judged = match Judged::new(&self.description, case, self.strictness) {
            Ok(judged) => judged,
            Err(unsupported) => return *unsupported,
        };
        let mut first: Option<Outcome> = None;
        for layout in Layout::ALL {
            let call = laid_out(layout);
            for threads in self.threads {
                for _ in 0..self.repeat {
                    if let Some(result) = self.run_once(&judged, layout, &call, *threads, &mut first) {
                        return result;
                    }
                }
            }
        }
        let outcome = first.expect("there is at least one layout");
        let judgement = judged.judge(&outcome);
        judged.result(judgement, describe_outcome(&outcome), None)
    }

    /// One run; gives a result if it decides the verdict.
    fn run_once(
        &mut self,
        judged: &Judged<'_>,
        layout: Layout,
        call: &Result<Call, TensorError>,
        threads: usize,
        first: &mut Option<Outcome>,
    ) -> Option<CaseResult> {
        let original = &judged.case.call;
        let at = || match self.threads.len() {
            1 => format!("layout {}", layout.name()),
            _ => format!("layout {}, {threads} threads", layout.name()),
        };
        let at = first.as_ref().map(|_| at());
        let fail =
            |verdict, actual| Some(judged.result(Judgement { verdict, note: None }, actual, at.clone()));
        let Ok(call) = call else {
            return fail(Verdict::Unsupported, "no memory for this layout".to_owned());
        };
        let backend = self.backend.get_or_insert_with(|| (self.factory)());
        let answered = catch_unwind(AssertUnwindSafe(|| {
            backend.use_threads(threads);
            backend.call(call)
        }));
        let outcome = match answered {
            Ok(outcome) => outcome,
            Err(panic) => {
                self.backend = None;
                return fail(Verdict::Crash, format!("panic: {}", panic_message(&*panic)));
            }
        };
        if call.params != original.params || call.indices != original.indices {
            return fail(Verdict::InputChanged, "the call changed its input".to_owned());
        }
        let judgement = judged.judge(&outcome);
        if judgement.verdict != Verdict::Pass {
            return Some(judged.result(judgement, describe_outcome(&outcome), at));
        }
        match first {
            None => *first = Some(outcome),
            Some(first) if *first != outcome && !judged.may_vary() => {
                let actual =
                    format!("first {}, then {}", describe_outcome(first), describe_outcome(&outcome));
                return fail(Verdict::Nondeterministic, actual);
            }
            Some(_) => {}
        }
        None
    }
}

/// A case under the profile that a backend declares.
#[derive(Clone, Debug)]
pub(crate) struct Judged<'a> {
    pub(crate) case: &'a Case,
    profile: Profile,
    allowed: Vec<Allowed>,
    declared: bool,
    strictness: Strictness,
}

impl<'a> Judged<'a> {
    /// A case that is to be sent to a backend of this description; the result of one that is not.
    pub(crate) fn new(
        description: &Description,
        case: &'a Case,
        strictness: Strictness,
    ) -> Result<Self, Box<CaseResult>> {
        let Some(capability) = description.operators.get(case.call.operator.as_str()) else {
            return Err(Box::new(unsupported(case, None, "the operator is not declared")));
        };
        let (profile, declared) = (capability.profile, capability.covers(&case.call));
        let allowed = case.expect.under(profile);
        if declared || allowed.iter().any(is_dtype_error) {
            Ok(Self { case, profile, allowed, declared, strictness })
        } else {
            Err(Box::new(unsupported(case, Some(profile), "the dtypes are not declared")))
        }
    }

    pub(crate) fn judge(&self, outcome: &Outcome) -> Judgement {
        judge(&self.allowed, &self.case.call.params, outcome, self.declared, self.strictness)
    }

    /// Whether even repeated runs may differ.
    pub(crate) fn may_vary(&self) -> bool {
        self.allowed.iter().any(|allowed| matches!(allowed, Allowed::Unspecified | Allowed::AnyError))
    }

    pub(crate) fn result(&self, judgement: Judgement, actual: String, at: Option<String>) -> CaseResult {
        CaseResult {
            id: self.case.id.clone(),
            profile: Some(self.profile),
            verdict: judgement.verdict,
            expected: describe_allowed(&self.allowed),
            actual,
            at,
            note: judgement.note.map(str::to_owned),
            stderr: None,
        }
    }
}

fn unsupported(case: &Case, profile: Option<Profile>, why: &str) -> CaseResult {
    CaseResult {
        id: case.id.clone(),
        profile,
        verdict: Verdict::Unsupported,
        expected: String::new(),
        actual: why.to_owned(),
        at: None,
        note: None,
        stderr: None,
    }
}

pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
