//! The cases as tests of a Rust implementation: `cargo test` runs all, `cargo test NAME` some of them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use gather_spec::load::Maker;
use gather_spec::{Case, Run, Specification, Variant};
use libtest_mimic::{Arguments, Failed, FormatSetting, Trial};

use crate::backend::{Backend, Description};
use crate::declared::Probes;
use crate::deviations::Deviations;
use crate::entry::Entry;
use crate::judge::{Strictness, Verdict};
use crate::judged::Judged;
use crate::plan::in_names_of;
use crate::report::{BackendReport, PageWidth, Problem};
use crate::runner::InProcess;
use crate::select::{is_at, without_variant};
use crate::style::guarded;

/// The status of a run with failures, as libtest has it.
const FAILED: u8 = 101;

type Factory = dyn Fn() -> Box<dyn Backend> + Send + Sync;
type Runner = InProcess<Box<dyn Fn() -> Box<dyn Backend> + Send>>;

/// Runs the suite on the backends that a factory makes. This is the `main` of a test with `harness = false`:
///
/// ```toml
/// [dev-dependencies]
/// gather-conformance = { version = "0.1", features = ["harness"] }
/// gather-spec = "0.1"
///
/// [[test]]
/// name = "conformance"
/// harness = false
/// ```
///
/// Each case is a test named by its id, and `profile` is one of what the backend declares. A filter may be the id of a run, such as
/// `tf.gather_nd/rows/permuted[indices=constant]`. An instance is used by one thread at a time. A panic gives the verdict `crash`,
/// and the factory makes a new instance. Cases that the backend does not declare are shown as ignored, those of other operators only
/// where there is a filter. The status is 0 if all that is declared conforms, 101 if a test fails, and 2 if nothing can be tested.
///
/// ```no_run
/// use std::process::ExitCode;
/// # use gather_conformance::{Backend, backend::Description, builtin};
/// # use gather_spec::{Call, Outcome, Profile};
/// # struct MyBackend(Box<dyn Backend>);
/// # impl MyBackend {
/// #     fn new() -> Self { Self(builtin::backend("reference", Profile::default(), 1 << 20).unwrap()) }
/// # }
/// # impl Backend for MyBackend {
/// #     fn describe(&self) -> Description { self.0.describe() }
/// #     fn call(&mut self, call: &Call) -> Outcome { self.0.call(call) }
/// # }
///
/// fn main() -> ExitCode {
///     gather_conformance::harness(MyBackend::new)
/// }
/// ```
#[must_use]
pub fn harness<B: Backend + 'static>(factory: impl Fn() -> B + Send + Sync + 'static) -> ExitCode {
    run(boxed(factory), None)
}

/// Like [`harness`], with a file of known deviations, of the form that `gatherspec run --write-deviations` drafts. A listed
/// deviation that does not occur fails its test.
#[must_use]
pub fn harness_with<B: Backend + 'static>(
    factory: impl Fn() -> B + Send + Sync + 'static,
    deviations: impl Into<PathBuf>,
) -> ExitCode {
    run(boxed(factory), Some(&deviations.into()))
}

fn boxed<B: Backend + 'static>(factory: impl Fn() -> B + Send + Sync + 'static) -> Arc<Factory> {
    Arc::new(move || Box::new(factory()))
}

fn run(factory: Arc<Factory>, deviations: Option<&Path>) -> ExitCode {
    let mut arguments = Arguments::from_args();
    let written = arguments.filter.clone().unwrap_or_default();
    let chosen_run = arguments.filter.as_mut().and_then(ChosenRun::split_off);
    let state = match HarnessState::new(factory, deviations, chosen_run) {
        Ok(state) => Arc::new(state),
        Err(wrong) => {
            drop(writeln!(anstream::stderr(), "{}", guarded(&wrong)));
            return ExitCode::from(2);
        }
    };
    for said in state.description.unknown_names(&state.spec) {
        eprintln!("the backend {said}");
    }
    let trials = trials(&state, &arguments);
    let (chosen, trials): (Vec<Option<usize>>, Vec<Option<Trial>>) = trials.into_iter().unzip();
    if chosen.is_empty() && written.contains('/') {
        eprintln!("no case has an id with `{written}`: `--list` prints the id of every case");
        return ExitCode::from(FAILED);
    }
    let conclusion = libtest_mimic::run(&arguments, trials.into_iter().flatten().collect());
    if arguments.list || chosen.is_empty() {
        return conclusion.exit_code();
    }
    let report = state.ended(&chosen);
    // With JSON output, standard output must hold nothing else.
    match arguments.format {
        Some(FormatSetting::Json) => {
            drop(write!(anstream::stderr(), "{}", report.ending(PageWidth::of_stdout())));
        }
        _ => drop(write!(anstream::stdout(), "{}", report.ending(PageWidth::of_stdout()))),
    }
    // Whether a deviation of several cases occurred, no test alone can know.
    let is_idle = |problem: &&Problem| matches!(problem, Problem::CaseDidNotOccur { .. });
    let idle: Vec<&Problem> = report.problems.iter().filter(is_idle).collect();
    idle.iter().for_each(|problem| drop(writeln!(anstream::stderr(), "{}", guarded(&problem.to_string()))));
    if idle.is_empty() { conclusion.exit_code() } else { ExitCode::from(FAILED) }
}

/// The runs of a case that a filter in brackets chooses: those at a place, in a variant.
struct ChosenRun {
    place: String,
    variant: Variant,
}

impl ChosenRun {
    /// What a filter says in brackets, which it loses: a test is a case.
    fn split_off(filter: &mut String) -> Option<Self> {
        let (usual, variant) = without_variant(filter);
        let place = usual[usual.find('[')?..].to_owned();
        filter.truncate(usual.len() - place.len());
        Some(Self { place, variant })
    }
}

/// The state that all tests share.
struct HarnessState {
    spec: Specification,
    factory: Arc<Factory>,
    deviations: Deviations,
    /// The only runs to make, if a filter names them.
    chosen_run: Option<ChosenRun>,
    description: Description,
    /// The runs just outside the limits of the backend.
    probes: Arc<Probes>,
    /// Runners that no test is using at the moment.
    idle: Mutex<Vec<Runner>>,
    /// The results so far, without deviations, by the position of the case in the specification.
    done: Mutex<BTreeMap<usize, Entry>>,
}

/// The tests that the arguments choose, each with the position of its case. The last test checks the profile and has none. A case
/// of an operator that is not declared is a test only where there is a filter: most backends have few operators, and would print
/// thousands of ignored tests.
fn trials(state: &Arc<HarnessState>, arguments: &Arguments) -> Vec<(Option<usize>, Option<Trial>)> {
    let mut trials = Vec::new();
    for (at, case) in state.spec.cases.iter().enumerate() {
        if arguments.filter.is_none() && !state.description.operators.contains_key(case.operator().as_str()) {
            trials.push((Some(at), None));
            continue;
        }
        let trial = |undeclared: bool| {
            let shared = Arc::clone(state);
            let trial = Trial::test(case.id.clone(), move || shared.test(at));
            if undeclared { trial.with_kind("not declared").with_ignored_flag(true) } else { trial }
        };
        // Whether a case is asked is known only once its runs are made.
        if [false, true].into_iter().any(|undeclared| !arguments.is_filtered_out(&trial(undeclared)))
            && (state.chosen_run.is_none() || !state.runs(case).is_empty())
        {
            let undeclared = !state.description.declares(case) || state.not_asked(case).is_some();
            trials.push((Some(at), Some(trial(undeclared))));
        }
    }
    let shared = Arc::clone(state);
    let profile = Trial::test("profile", move || match shared.report().problems.as_slice() {
        [] => Ok(()),
        problems => Err(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n").into()),
    });
    trials.push((None, Some(profile)));
    trials.retain(|(_, trial)| trial.as_ref().is_none_or(|trial| !arguments.is_filtered_out(trial)));
    trials
}

impl HarnessState {
    fn new(
        factory: Arc<Factory>,
        deviations: Option<&Path>,
        chosen_run: Option<ChosenRun>,
    ) -> Result<Self, String> {
        let spec = Specification::embedded()
            .map_err(|wrong| wrong.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n"))?;
        let deviations = match deviations {
            Some(path) => Deviations::read(path, &spec, &spec.cases)?,
            None => Deviations::default(),
        };
        let first = runner(&factory);
        let description = first.description().clone();
        if let Some(why) = description.nothing_to_test(&spec) {
            return Err(format!("error: nothing can be tested: {why}"));
        }
        let probes = Arc::new(Probes::new(&description, &spec.cases));
        let idle = Mutex::new(vec![first.probing(Arc::clone(&probes))]);
        Ok(Self { spec, factory, deviations, chosen_run, description, probes, idle, done: Mutex::default() })
    }

    /// A runner for exclusive use by one test.
    fn take(&self) -> Runner {
        let idle = self.idle.lock().ok().and_then(|mut idle| idle.pop());
        idle.unwrap_or_else(|| runner(&self.factory).probing(Arc::clone(&self.probes)))
    }

    /// The runs of a case that are made.
    fn runs(&self, case: &Arc<Case>) -> Vec<Run> {
        thread_local!(static MAKER: RefCell<Maker> = RefCell::default());
        let mut runs = MAKER.with_borrow_mut(|maker| maker.runs(case));
        if let Some(ChosenRun { place, variant }) = &self.chosen_run {
            let capability = self.description.operators.get(case.operator().as_str());
            let variant = in_names_of(variant, case);
            runs.iter_mut().for_each(|run| run.call.variant.clone_from(&variant));
            let is_declared = |run: &Run| capability.is_some_and(|one| one.variants.admit(&run.call));
            runs.retain(|run| is_at(case, &run.id, place) && (variant.is_usual() || is_declared(run)));
        }
        runs
    }

    /// The result of a case none of whose runs is sent to the backend; `None` if some are.
    fn not_asked(&self, case: &Arc<Case>) -> Option<Entry> {
        let asked = |run| Judged::or_probe(&self.description, run, Strictness::Lenient, Some(&self.probes));
        let runs = self.runs(case);
        let results = runs.iter().map(|run| Some(Entry::new(run, *asked(run).err()?)));
        let results: Vec<Entry> = results.collect::<Option<_>>()?;
        (!results.is_empty()).then(|| Entry::of_case(case, results))
    }

    /// A report without results.
    fn report(&self) -> BackendReport {
        let mut report = BackendReport::new(String::new(), &self.description, &self.spec);
        let operators = self.spec.operators.iter().map(|page| page.operator.as_str());
        self.deviations.apply_to_profile(&mut report, &self.description, &self.spec, &operators.collect());
        report
    }

    fn test(&self, at: usize) -> Result<(), Failed> {
        let case = &self.spec.cases[at];
        let mut runner = self.take();
        let mut report = self.report();
        let mut result = |run| Entry::with_facts(run, runner.run(run));
        let runs = self.runs(case);
        let result = Entry::of_case(case, runs.iter().map(&mut result).collect());
        if let Ok(mut done) = self.done.lock() {
            done.insert(at, result.clone());
        }
        report.results.push(result);
        self.deviations.apply(&mut report, &[case]);
        report.conclude(&[case], &self.spec);
        if let Ok(mut idle) = self.idle.lock() {
            idle.push(runner);
        }
        let entry = report.results.remove(0);
        if entry.verdict.is_failure() { Err(failure(&report, &entry).into()) } else { Ok(()) }
    }

    /// The report on the tests that were not filtered out. Cases that did not run count as not asked.
    fn ended(&self, chosen: &[Option<usize>]) -> BackendReport {
        let mut report = self.report();
        if !chosen.contains(&None) {
            report.problems.clear();
        }
        let mut done = self.done.lock().map(|mut done| std::mem::take(&mut *done)).unwrap_or_default();
        let (mut cases, mut undeclared) = (Vec::new(), Vec::new());
        for at in chosen.iter().flatten() {
            let case = &self.spec.cases[*at];
            if !report.declares(case.operator().as_str()) {
                undeclared.push(case);
            } else if let Some(entry) = done.remove(at).or_else(|| self.not_asked(case)) {
                report.results.push(entry);
                cases.push(case);
            }
        }
        self.deviations.apply(&mut report, &cases);
        cases.extend(undeclared);
        report.conclude(&cases, &self.spec);
        report
    }
}

fn runner(factory: &Arc<Factory>) -> Runner {
    let factory = Arc::clone(factory);
    InProcess::new(Box::new(move || factory()) as Box<_>, Strictness::Lenient)
}

fn failure(report: &BackendReport, entry: &Entry) -> String {
    let verdict = match entry.verdict {
        Verdict::UnexpectedPass => "unexpected-pass".to_owned(),
        _ => entry.label(),
    };
    let fields = report.failure_in_lines(entry, PageWidth::of_stdout());
    format!("{verdict}\n{fields}  show       gatherspec show '{}'", entry.run_id())
}
