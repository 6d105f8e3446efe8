//! Makes the calls of runs on a backend in this process, in several layouts and on several numbers of threads. Any failing call
//! decides.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use gather_spec::call::{OPERANDS, Way};
use gather_spec::{Call, Outcome, Run, TensorError, Variant};

use crate::backend::Description;
use crate::declared::Probes;
use crate::in_process::InProcessBackend;
use crate::judge::{Judgement, Strictness, Verdict};
use crate::judged::{Judged, NO_MEMORY, RunResult};
use crate::layout::{Layout, laid_out};
use crate::plan::{VariantsAsked, meets_all, turn};
use crate::variants::Variants;
use crate::words::shown;

/// The numbers of threads to try, for a backend that lets the runner choose.
const THREADS: [usize; 3] = [1, 2, 5];

/// More than the layouts of all operands of a call together.
const LAYOUTS_OF_A_CALL: usize = 1000;

/// The layouts that the operands of each call may have.
static LAYOUTS: LazyLock<Variants> = LazyLock::new(|| {
    let ways = Way::ALL.iter().filter(|way| way.is_layout() && **way != Way::ReadOnly);
    let texts: Vec<String> = ways.map(|way| format!("{OPERANDS}={way}")).collect();
    Variants::new(texts.iter().map(String::as_str)).expect("each way is one of an operand")
});

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

    /// The variants of a run, without the layouts, which every backend in this process gets; none if none is declared, or the run
    /// is in one already.
    fn variants_of(&self, run: &Run) -> Vec<Variant> {
        if !run.call.variant.is_usual() {
            return Vec::new();
        }
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
        self.run_laid_out(run, |call, layouts| Cow::Owned(laid_out(call, layouts)))
    }

    /// Like [`InProcess::run`], but the caller supplies the call in each of the layouts.
    pub fn run_laid_out<'c>(
        &mut self,
        run: &Run,
        laid_out: impl Fn(&Call, &Variant) -> Cow<'c, Result<Call, TensorError>>,
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
                    let plain =
                        self.make_calls(&spread, &[(Variant::default(), vec![THREADS[0]])], &laid_out);
                    result = if plain.verdict.is_failure() { plain } else { result };
                }
                RunResult { duration: Some(start.elapsed()), ..result }
            }
            Err(unsupported) => *unsupported,
        }
    }

    /// The layouts in which to make the call of a run, each with the numbers of threads.
    fn calls(&self, run: &Run) -> Vec<(Variant, Vec<usize>)> {
        let turn = turn(&run.id);
        // Other digits of the turn than those of the layouts, so that they vary independently of each other.
        let on = |at: usize| vec![self.threads[(turn / LAYOUTS_OF_A_CALL + at) % self.threads.len()]];
        let each = || LAYOUTS.each(&run.call, turn);
        let layouts = match self.calls {
            Calls::One => return vec![(Variant::default(), vec![THREADS[0]])],
            // Copies of hundreds of megabytes would not reveal anything new.
            _ if run.case.large => vec![Variant::default()],
            Calls::InTurn if meets_all(run) => {
                return each().into_iter().enumerate().map(|(at, layouts)| (layouts, on(at))).collect();
            }
            Calls::InTurn => return vec![(LAYOUTS.in_turn(&run.call, turn), on(0))],
            Calls::Product if run.case.axes.has_sizes() => {
                let mut each = each();
                let other = each.len().checked_sub(2).map(|others| each.swap_remove(1 + turn % (others + 1)));
                each.truncate(1);
                each.into_iter().chain(other).collect()
            }
            Calls::Product => each(),
            Calls::Uniform(layouts) => layouts.iter().map(|layout| layout.of_all(&run.call)).collect(),
        };
        layouts.into_iter().map(|layouts| (layouts, self.threads.to_vec())).collect()
    }

    /// Makes the calls of a run, in these layouts and on these numbers of threads.
    fn make_calls<'c>(
        &mut self,
        judged: &Judged<'_>,
        calls: &[(Variant, Vec<usize>)],
        laid_out: &impl Fn(&Call, &Variant) -> Cow<'c, Result<Call, TensorError>>,
    ) -> RunResult {
        let mut first: Option<(Outcome, Judgement)> = None;
        for (layouts, threads) in calls {
            let call = laid_out(judged.call(), layouts);
            let answered = match self.run_layout(judged, (layouts, threads), &call, first.is_none()) {
                Ok(answered) => answered,
                Err(result) => return *result,
            };
            let earlier = first.as_ref().map(|(outcome, _)| outcome);
            if let Some(earlier) = earlier.filter(|one| !one.agrees(&answered.0) && !judged.may_vary()) {
                return judged.varies(earlier, &answered.0, self.place((layouts, threads[0])));
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
        (layouts, threads): (&Variant, &[usize]),
        call: &Result<Call, TensorError>,
        is_first: bool,
    ) -> Result<(Outcome, Judgement), Box<RunResult>> {
        let Ok(call) = call else {
            let judgement = Judgement { verdict: Verdict::Unsupported, note: None };
            let at = self.at((layouts, threads[0]), is_first);
            return Err(Box::new(judged.result(judgement, "no memory for this layout".to_owned(), at)));
        };
        let mut first: Option<Outcome> = None;
        for threads in threads {
            for _ in 0..self.repeat {
                let at = self.at((layouts, *threads), is_first && first.is_none());
                let outcome = self.run_once(judged, call, *threads).map_err(|(verdict, actual)| {
                    Box::new(judged.result(Judgement { verdict, note: None }, actual, at.clone()))
                })?;
                if let Some(first) =
                    first.as_ref().filter(|first| !first.agrees(&outcome) && !judged.may_vary())
                {
                    return Err(Box::new(judged.varies(first, &outcome, self.place((layouts, *threads)))));
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
        let at = self.at((layouts, threads[0]), is_first);
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
    fn at(&self, call: (&Variant, usize), is_first: bool) -> Option<String> {
        let is_plainest = call.0.is_usual() && call.1 == THREADS[0];
        (!is_first || !is_plainest).then(|| self.place(call))
    }

    /// The layouts and the number of threads of a call in words.
    fn place(&self, (layouts, threads): (&Variant, usize)) -> String {
        let layouts = if layouts.is_usual() { "row-major".to_owned() } else { layouts.to_string() };
        if self.threads == &THREADS[..1] { layouts } else { format!("{layouts}, {threads} threads") }
    }
}

/// What a panic says, or `no message`.
#[must_use]
pub fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    shown(text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message"))
}

#[cfg(test)]
mod tests;
