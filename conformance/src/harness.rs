//! The cases as tests of an implementation in Rust: `cargo test` runs them, `cargo test NAME` some of them.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use gather_spec::{Case, Specification};
use libtest_mimic::{Arguments, Failed, Trial};

use crate::backend::Backend;
use crate::deviations::Deviations;
use crate::judge::{Strictness, Verdict};
use crate::report::{BackendReport, Entry};
use crate::runner::{InProcess, Judged};

type Factory = dyn Fn() -> Box<dyn Backend> + Send + Sync;
type Runner = InProcess<Box<dyn Fn() -> Box<dyn Backend> + Send>>;

/// Runs the suite on the backends that a factory makes, as the `main` of a test with `harness = false`.
///
/// Each case is a test named by its id. One instance serves one thread at a time; a panic is `crash`, and the
/// instance is made anew. Cases that the backend does not declare are shown as ignored.
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

/// The same, with a file of known deviations. They are strict: one that does not occur fails its test.
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
    let arguments = Arguments::from_args();
    match trials(factory, deviations) {
        Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
        Err(wrong) => {
            eprintln!("{wrong}");
            ExitCode::from(2)
        }
    }
}

/// What the tests share.
struct Suite {
    spec: Specification,
    factory: Arc<Factory>,
    deviations: Deviations,
    /// Runners that no test is using.
    idle: Mutex<Vec<Runner>>,
}

fn trials(factory: Arc<Factory>, deviations: Option<&Path>) -> Result<Vec<Trial>, String> {
    let spec = Specification::embedded()
        .map_err(|wrong| wrong.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n"))?;
    let deviations = match deviations {
        Some(path) => Deviations::read(path, &spec, &spec.cases)?,
        None => Deviations::default(),
    };
    let suite = Arc::new(Suite { spec, factory, deviations, idle: Mutex::new(Vec::new()) });
    let description = suite.take().description().clone();
    let mut trials = Vec::new();
    for at in 0..suite.spec.cases.len() {
        let case = &suite.spec.cases[at];
        let undeclared = Judged::new(&description, case, Strictness::Lenient).is_err();
        let (name, shared) = (case.id.clone(), Arc::clone(&suite));
        let trial = Trial::test(name, move || shared.test(&shared.spec.cases[at]));
        trials.push(if undeclared { trial.with_kind("not declared").with_ignored_flag(true) } else { trial });
    }
    let profile = Arc::clone(&suite);
    trials.push(Trial::test("profile", move || {
        let mut report = BackendReport::new(String::new(), &description, &profile.spec);
        profile.deviations.apply_to_profile(&mut report, &description, &profile.spec);
        if report.problems.is_empty() { Ok(()) } else { Err(report.problems.join("\n").into()) }
    }));
    Ok(trials)
}

impl Suite {
    /// A runner for one test at a time.
    fn take(&self) -> Runner {
        let idle = self.idle.lock().ok().and_then(|mut idle| idle.pop());
        idle.unwrap_or_else(|| {
            let factory = Arc::clone(&self.factory);
            InProcess::new(Box::new(move || factory()) as Box<_>, Strictness::Lenient)
        })
    }

    fn test(&self, case: &Case) -> Result<(), Failed> {
        let mut runner = self.take();
        let mut report = BackendReport::new(String::new(), runner.description(), &self.spec);
        report.results.push(Entry::new(case, runner.run(case)));
        self.deviations.apply(&mut report, &[case]);
        if let Ok(mut idle) = self.idle.lock() {
            idle.push(runner);
        }
        let entry = report.results.remove(0);
        if entry.verdict.is_fine() { Ok(()) } else { Err(failure(&entry).into()) }
    }
}

fn failure(entry: &Entry) -> String {
    let shown = |text: &Option<String>| text.clone().unwrap_or_default();
    let at = entry.at.as_ref().map(|at| format!(" at {at}")).unwrap_or_default();
    let verdict = match entry.verdict {
        Verdict::UnexpectedPass => "unexpected-pass".to_owned(),
        _ => entry.label(),
    };
    format!(
        "{verdict}{at}\n  clauses  {}\n  call     {}\n  expected {}\n  actual   {}\n  show     gatherspec show '{}'",
        entry.clauses.join(" "),
        shown(&entry.call),
        shown(&entry.expected),
        shown(&entry.actual),
        entry.id
    )
}
