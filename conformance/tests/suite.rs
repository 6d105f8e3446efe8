//! One test per built-in backend, profile and case, named `<backend>/<profile>/<case id>`, so that
//! `cargo test --test suite <part of an id>` runs just those.

use std::process::ExitCode;
use std::sync::Arc;

use gather_conformance::builtin;
use gather_conformance::judge::{Strictness, Verdict};
use gather_conformance::runner::InProcess;
use gather_spec::{Case, Profile, Specification};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let spec = match Specification::embedded() {
        Ok(spec) => spec,
        Err(wrong) => {
            for diagnostic in wrong {
                eprintln!("{diagnostic}\n");
            }
            return ExitCode::from(2);
        }
    };
    let cases: Vec<Arc<Case>> = spec.cases.into_iter().map(Arc::new).collect();
    let mut trials = Vec::new();
    for backend in builtin::NAMES {
        for profile in Profile::all_specified() {
            let asked = cases.iter().enumerate().filter(|(turn, case)| is_asked(*turn, case, profile));
            for (_, case) in asked {
                let name = format!("{backend}/{profile}/{}", case.id);
                let case = Arc::clone(case);
                trials.push(Trial::test(name, move || run(backend, profile, &case)));
            }
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Whether a case is asked under a profile: only under one, in turns, unless its outcome depends on it.
fn is_asked(turn: usize, case: &Case, profile: Profile) -> bool {
    let turn = case.grid_point.unwrap_or(turn);
    case.expect.arms.len() > 1 || Profile::all_specified().nth(turn % 6) == Some(profile)
}

fn run(backend: &'static str, profile: Profile, case: &Case) -> Result<(), Failed> {
    // As `gatherspec run` has it: most runs write to poisoned outputs.
    let factory = || {
        builtin::held(builtin::signatures(), backend, profile, builtin::MAX_OUTPUT)
            .expect("a name from the list")
    };
    let result = InProcess::new(factory, Strictness::Strict).run(case);
    match result.verdict {
        Verdict::Pass => Ok(()),
        verdict => {
            let at = result.at.map(|at| format!(" at {at}")).unwrap_or_default();
            Err(format!("{verdict}{at}\n  expected {}\n  actual   {}", result.expected, result.actual).into())
        }
    }
}
