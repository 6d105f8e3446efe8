//! One test per built-in backend and case, named `<backend>/<case id>`, so that `cargo test --test suite <part of an id>` runs
//! just those. A test makes every run of its case, under each profile that matters. A filter may be the id of a run.

mod tiers;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::{Arc, LazyLock, Mutex};

use gather_conformance::builtin;
use gather_conformance::internals::in_process::{self, InProcessBackend};
use gather_conformance::internals::judge::{Strictness, Verdict};
use gather_conformance::internals::layout::Layout;
use gather_conformance::internals::plan::turn;
use gather_conformance::internals::runner::InProcess;
use gather_spec::load::Maker;
use gather_spec::{Case, Profile, Run, Specification};
use libtest_mimic::{Arguments, Failed, Trial};

type Runner = InProcess<Box<dyn Fn() -> InProcessBackend + Send>>;

/// The name of a backend, and its profile.
type BackendProfile = (&'static str, Profile);

/// Runners that no test is using at the moment: to make one takes longer than many calls.
static IDLE: LazyLock<Mutex<HashMap<BackendProfile, Vec<Runner>>>> = LazyLock::new(Mutex::default);

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    let spec = match Specification::embedded() {
        Ok(spec) => spec,
        Err(wrong) => {
            for diagnostic in wrong {
                eprintln!("{diagnostic}\n");
            }
            return ExitCode::from(2);
        }
    };
    let only = arguments.filter.take_if(|filter| filter.contains('['));
    arguments.filter =
        only.as_ref().and_then(|id| id.split('[').next().map(str::to_owned)).or(arguments.filter);
    let only = only.map(|id| Arc::from(id.split_once('/').map_or("", |(_, id)| id)));
    let mut trials = Vec::new();
    // Cases of one family follow each other, since they share tensors.
    let cases: Vec<&Arc<Case>> = spec.cases.iter().collect();
    for case in Maker::groups(&cases).into_iter().flatten().map(|at| cases[at]) {
        for backend in builtin::NAMES {
            let (case, only) = (Arc::clone(case), only.clone());
            let name = format!("{backend}/{}", case.id);
            trials.push(Trial::test(name, move || test(backend, &case, only.as_deref())));
        }
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    // A filter without a slash may be the name of another test.
    let is_id = arguments.filter.as_ref().is_some_and(|filter| filter.contains('/'));
    if is_id && !arguments.list && conclusion.num_passed + conclusion.num_failed == 0 {
        eprintln!("no case has an id with `{}`", arguments.filter.unwrap_or_default());
        return ExitCode::FAILURE;
    }
    conclusion.exit_code()
}

/// Runs a case on a backend, or the run of it with this id alone.
fn test(backend: &'static str, case: &Arc<Case>, only: Option<&str>) -> Result<(), Failed> {
    thread_local!(static MAKER: RefCell<Maker> = RefCell::default());
    let runs = MAKER.with_borrow_mut(|maker| maker.runs(case));
    let mut failures = String::new();
    for run in runs.iter().filter(|run| only.is_none_or(|id| id == run.id || run.id.ends_with(id))) {
        for profile in profiles(run) {
            failures += &failure(backend, profile, run).unwrap_or_default();
        }
    }
    if failures.is_empty() { Ok(()) } else { Err(failures.into()) }
}

/// What is wrong with the answer to a run, if anything.
fn failure(backend: &'static str, profile: Profile, run: &Run) -> Option<String> {
    let idle = IDLE.lock().ok()?.get_mut(&(backend, profile)).and_then(Vec::pop);
    let mut runner = idle.unwrap_or_else(|| runner(backend, profile));
    let result = runner.run(run);
    IDLE.lock().ok()?.entry((backend, profile)).or_default().push(runner);
    if result.verdict == Verdict::Pass {
        return None;
    }
    let mut text = format!("{} under {profile}: {}", run.id, result.verdict);
    if let Some(at) = result.at {
        let _ = write!(text, " at {at}");
    }
    let _ = writeln!(text, "\n  expected {}\n  actual   {}", result.expected, result.actual);
    Some(text)
}

fn runner(backend: &'static str, profile: Profile) -> Runner {
    let held = move || {
        in_process::built_in(builtin::signatures(), backend, profile, builtin::MAX_OUTPUT)
            .expect("a name from the list")
    };
    let runner = InProcess::new(Box::new(held) as Box<_>, Strictness::Strict);
    if tiers::LAYOUTS.count() < Layout::ALL.len() { runner } else { runner.product() }
}

/// The profiles that a run is asked under: some of those for which it expects the same, or one, in turns, if it expects the
/// same under all.
fn profiles(run: &Run) -> impl Iterator<Item = Profile> + use<> {
    let arm = |profile: Profile| run.expect.arms.iter().position(|arm| arm.when.matches(profile));
    let mut all: Vec<Profile> = Profile::all_specified().collect();
    // Other digits of the turn than those of the layouts and the number of threads, so that all vary independently.
    let first = turn(&run.id) / 3000 % all.len();
    all.rotate_left(first);
    let most = if run.expect.arms.len() == 1 { 1 } else { tiers::PROFILES.count() };
    let mut taken = BTreeMap::new();
    all.retain(|profile| {
        let taken: &mut usize = taken.entry(arm(*profile)).or_default();
        *taken += 1;
        *taken <= most
    });
    all.into_iter()
}
