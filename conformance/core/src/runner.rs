//! Makes the calls of runs on a backend in this process, in several layouts and on several numbers of threads. Any failing call
//! decides.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use gather_spec::{Call, Outcome, Run, TensorError, Variant};

use crate::backend::Description;
use crate::declared::Probes;
use crate::in_process::InProcessBackend;
use crate::judge::{Judgement, Strictness, Verdict};
use crate::judged::{Judged, NO_MEMORY, RunResult};
use crate::layout::{Layout, Layouts};
use crate::plan::{VariantsAsked, meets_all, turn};
use crate::words::shown;

/// The numbers of threads to try, for a backend that lets the runner choose.
const THREADS: [usize; 3] = [1, 2, 5];

/// How a program is sent the operands of a call.
const ROW_MAJOR: Layouts = Layouts::new(0, 0);

/// Which calls to make of a run. All of them must give the same answer.
#[derive(Clone, Copy, Debug)]
enum Calls {
    /// A layout for each operand and a number of threads, by the run's turn. A documented example or a bad
    /// index meets every layout of each operand and every number of threads, but not every pair. All outputs
    /// are poisoned.
    InTurn,
    /// Every layout of each operand with every number of threads; for a case of many sizes, two of the
    /// layouts.
    Product,
    /// All operands in one of these layouts after the other, with every number of threads.
    Uniform(&'static [Layout]),
    /// One call, in row-major order on one thread, as for a program.
    One,
}

/// A backend in this process. Its factory recreates it after a panic.
pub struct InProcess<F> {
    factory: F,
    backend: Option<InProcessBackend>,
    description: Arc<Description>,
    calls: Calls,
    /// The numbers of threads that the backend can run on.
    threads: &'static [usize],
    repeat: usize,
    variants: VariantsAsked,
    strictness: Strictness,
    probes: Arc<Probes>,
}

impl<F: Fn() -> B, B: Into<InProcessBackend>> InProcess<F> {
    /// A runner for the backends that `factory` makes.
    pub fn new(factory: F, strictness: Strictness) -> Self {
        let mut held = factory().into();
        let description = Arc::new(held.backend().describe());
        Self::described(factory, held, description, strictness)
    }

    /// The same for a backend that was made and described before: describing takes longer than a small call.
    pub fn described(
        factory: F,
        mut held: InProcessBackend,
        description: Arc<Description>,
        strictness: Strictness,
    ) -> Self {
        let threads = if held.backend().use_threads(1) { &THREADS[..] } else { &THREADS[..1] };
        Self {
            factory,
            backend: Some(held),
            description,
            calls: Calls::InTurn,
            threads,
            repeat: 1,
            variants: VariantsAsked::Turns,
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

    /// Also runs those that are just outside the limits of the backend.
    #[cfg(any(test, feature = "harness"))]
    #[must_use]
    pub(crate) fn probing(self, probes: Arc<Probes>) -> Self {
        Self { probes, ..self }
    }

    /// Makes every call: each layout with each number of threads.
    #[must_use]
    pub const fn product(mut self) -> Self {
        self.calls = Calls::Product;
        self
    }

    /// Makes the call in row-major order on one thread only, as for a program.
    #[must_use]
    pub const fn like_a_program(mut self) -> Self {
        self.calls = Calls::One;
        self
    }

    /// Makes the calls with all operands in each of these layouts only, for a backend whose answers depend on no other.
    #[must_use]
    pub const fn in_layouts(mut self, layouts: &'static [Layout]) -> Self {
        self.calls = Calls::Uniform(layouts);
        self
    }

    /// The backend's self-description.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Makes the calls of a run, in dtypes and variants that the backend declares. The first variant that fails decides.
    pub fn run(&mut self, run: &Run) -> RunResult {
        let variants = self.variants_of(run);
        if variants.is_empty() {
            return self.run_in_variant(run);
        }
        let start = Instant::now();
        let mut varied = run.clone();
        let mut result = None;
        for variant in variants {
            varied.call.variant = variant;
            let one = result.insert(self.run_in_variant(&varied));
            if one.verdict != Verdict::Pass {
                break;
            }
        }
        RunResult { duration: Some(start.elapsed()), ..result.expect("there is at least one variant") }
    }

    /// The variants of a run, without the layouts, which every backend in this process gets; none if none is declared.
    fn variants_of(&self, run: &Run) -> Vec<Variant> {
        let capability = self.description.operators.get(run.call.operator.as_str());
        let Some(capability) = capability.filter(|one| !one.variants.is_empty()) else { return Vec::new() };
        let Ok(declared) = capability.in_declared_dtypes(run) else { return Vec::new() };
        let mut variants = self.variants.of(capability, &declared);
        variants.iter_mut().for_each(|variant| *variant = variant.without_layouts());
        variants.sort();
        variants.dedup();
        variants
    }

    /// Makes the calls of a run, in the variant that it has.
    fn run_in_variant(&mut self, run: &Run) -> RunResult {
        if run.case.large {
            // A large case has one layout only: copies of hundreds of megabytes would not reveal anything new.
            return self.run_laid_out(run, |call, _| Cow::Owned(Ok(call.clone())));
        }
        self.run_laid_out(run, |call, layouts| Cow::Owned(layouts.apply(call)))
    }

    /// Like [`InProcess::run`], but the caller supplies the call in each of the layouts.
    pub fn run_laid_out<'c>(
        &mut self,
        run: &Run,
        laid_out: impl Fn(&Call, Layouts) -> Cow<'c, Result<Call, TensorError>>,
    ) -> RunResult {
        match Judged::or_probe(&self.description, run, self.strictness, Some(&self.probes)) {
            Ok(judged) => {
                let start = Instant::now();
                let profile = judged.profile();
                let judged =
                    if run.call.variant.is_usual() { judged } else { judged.in_variant(&run.call.variant) };
                let Ok(spread) = judged.spread() else {
                    return RunResult::unsupported(run, Some(profile), NO_MEMORY);
                };
                let calls = self.calls(&spread.run);
                let mut result = self.make_calls(&spread, &calls, &laid_out);
                // A failure that also occurs in row-major order on one thread does not depend on the layout.
                if result.at.is_some() && matches!(self.calls, Calls::InTurn) && result.verdict.is_failure() {
                    let plain = self.make_calls(&spread, &[(ROW_MAJOR, vec![THREADS[0]])], &laid_out);
                    result = if plain.verdict.is_failure() { plain } else { result };
                }
                RunResult { duration: Some(start.elapsed()), ..result }
            }
            Err(unsupported) => *unsupported,
        }
    }

    /// The layouts in which to make the call of a run, each with the numbers of threads.
    fn calls(&self, run: &Run) -> Vec<(Layouts, Vec<usize>)> {
        let turn = turn(&run.id);
        let on = |turn: usize| vec![self.threads[turn % self.threads.len()]];
        let layouts = match self.calls {
            Calls::One => return vec![(ROW_MAJOR, vec![THREADS[0]])],
            _ if run.case.large => vec![ROW_MAJOR],
            Calls::InTurn if meets_all(run) => {
                return each_layout(turn).enumerate().map(|(at, layouts)| (layouts, on(turn + at))).collect();
            }
            Calls::InTurn => {
                // Layout, threads and step are digits of the turn, so that they vary independently of each
                // other.
                let layouts = Layouts::new(turn, turn / (Layout::ALL.len() * THREADS.len()));
                return vec![(layouts, on(turn / Layout::ALL.len()))];
            }
            Calls::Product if run.case.axes.has_sizes() => {
                let others = Layout::ALL.len() - 1;
                each_layout(turn).take(1).chain(each_layout(turn).skip(1 + turn % others).take(1)).collect()
            }
            Calls::Product => each_layout(turn).collect(),
            Calls::Uniform(layouts) => layouts.iter().copied().map(Layouts::from).collect(),
        };
        layouts.into_iter().map(|layouts| (layouts, self.threads.to_vec())).collect()
    }

    /// Makes the calls of a run, in these layouts and on these numbers of threads.
    fn make_calls<'c>(
        &mut self,
        judged: &Judged<'_>,
        calls: &[(Layouts, Vec<usize>)],
        laid_out: &impl Fn(&Call, Layouts) -> Cow<'c, Result<Call, TensorError>>,
    ) -> RunResult {
        let mut first: Option<(Outcome, Judgement)> = None;
        for (layouts, threads) in calls {
            let call = laid_out(judged.call(), *layouts);
            let answered = match self.run_layout(judged, (*layouts, threads), &call, first.is_none()) {
                Ok(answered) => answered,
                Err(result) => return *result,
            };
            let earlier = first.as_ref().map(|(outcome, _)| outcome);
            if let Some(earlier) = earlier.filter(|one| !one.agrees(&answered.0) && !judged.may_vary()) {
                return judged.varies(earlier, &answered.0, self.place(judged, (*layouts, threads[0])));
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
        (layouts, threads): (Layouts, &[usize]),
        call: &Result<Call, TensorError>,
        is_first: bool,
    ) -> Result<(Outcome, Judgement), Box<RunResult>> {
        let Ok(call) = call else {
            let judgement = Judgement { verdict: Verdict::Unsupported, note: None };
            let at = self.at(judged, (layouts, threads[0]), is_first);
            return Err(Box::new(judged.result(judgement, "no memory for this layout".to_owned(), at)));
        };
        let mut first: Option<Outcome> = None;
        for threads in threads {
            for _ in 0..self.repeat {
                let at = self.at(judged, (layouts, *threads), is_first && first.is_none());
                let outcome = self.run_once(judged, call, *threads).map_err(|(verdict, actual)| {
                    Box::new(judged.result(Judgement { verdict, note: None }, actual, at.clone()))
                })?;
                if let Some(first) =
                    first.as_ref().filter(|first| !first.agrees(&outcome) && !judged.may_vary())
                {
                    return Err(Box::new(judged.varies(
                        first,
                        &outcome,
                        self.place(judged, (layouts, *threads)),
                    )));
                }
                // If outcomes may vary, each is judged; otherwise all are equal, and the caller judges one.
                if judged.may_vary() {
                    let judgement = judged.judge(&outcome);
                    if judgement.verdict != Verdict::Pass {
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
        let at = self.at(judged, (layouts, threads[0]), is_first);
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
        // In a product, outputs on the first number of threads are not poisoned, so that both kinds of memory
        // occur.
        let poison = matches!(self.calls, Calls::InTurn | Calls::One) || threads != THREADS[0];
        let answered = catch_unwind(AssertUnwindSafe(|| backend.call(call, threads, poison)));
        let outcome = answered.map_err(|panic| {
            // The panic may have left it in any state.
            self.backend = None;
            (Verdict::Crash, format!("panic: {}", panic_message(&*panic)))
        })?;
        let original = judged.call();
        if call.operands != original.operands {
            return Err((Verdict::InputChanged, "the call changed its input".to_owned()));
        }
        Ok(outcome)
    }

    /// The layouts and the number of threads of a call in words, unless it is the first call and they are the plainest.
    fn at(&self, judged: &Judged<'_>, call: (Layouts, usize), is_first: bool) -> Option<String> {
        (!is_first || call != (ROW_MAJOR, THREADS[0])).then(|| self.place(judged, call))
    }

    /// The layouts and the number of threads of a call in words.
    fn place(&self, judged: &Judged<'_>, (layouts, threads): (Layouts, usize)) -> String {
        let layouts = layouts.of_call(judged.call());
        if self.threads == &THREADS[..1] { layouts } else { format!("{layouts}, {threads} threads") }
    }
}

/// As many layouts of a call as there are, row-major first, such that each operand is in each of them once.
fn each_layout(turn: usize) -> impl Iterator<Item = Layouts> {
    // With any other step, the second or the third operand would stay in one layout.
    const STEPS: [usize; 3] = [0, 1, 3];
    let step = STEPS[turn / (Layout::ALL.len() * THREADS.len()) % STEPS.len()];
    (0..Layout::ALL.len()).map(move |at| Layouts::new(at, at * step))
}

/// What a panic says, or `no message`.
#[must_use]
pub fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    shown(text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message"))
}

#[cfg(test)]
mod tests;
