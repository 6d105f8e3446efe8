//! One test per built-in backend, profile and case, named `<backend>/<profile>/<case id>`, so that
//! `cargo test --test suite <part of an id>` runs just those.

mod tiers;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;

use gather_conformance::builtin;
use gather_conformance::judge::{Strictness, Verdict};
use gather_conformance::layout::Layout;
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
    let mut trials = Vec::new();
    for case in spec.cases.into_iter().map(Arc::new) {
        let turn = turn(&case.id);
        for (backend, profile) in
            builtin::NAMES.iter().flat_map(|name| profiles(turn, &case).map(move |one| (*name, one)))
        {
            let name = format!("{backend}/{profile}/{}", case.id);
            let case = Arc::clone(&case);
            trials.push(Trial::test(name, move || run(backend, profile, turn, &case)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The turn of a case, by its id, so that a new case changes no other's.
fn turn(id: &str) -> usize {
    id.bytes().fold(0, |turn: usize, byte| turn.wrapping_mul(31).wrapping_add(byte.into()))
}

/// The profiles that a case is asked under: some of those for which it expects the same, or one, in turns, if it expects the
/// same under all.
fn profiles(turn: usize, case: &Case) -> impl Iterator<Item = Profile> {
    let arm = |profile: Profile| case.expect.arms.iter().position(|arm| arm.when.matches(profile));
    let mut all: Vec<Profile> = Profile::all_specified().collect();
    // Apart from the layout and the number of threads, of which 12 turns try all.
    let first = turn / 12 % all.len();
    all.rotate_left(first);
    let most = if case.expect.arms.len() == 1 { 1 } else { tiers::PROFILES.count() };
    let mut taken = BTreeMap::new();
    all.retain(|profile| {
        let taken: &mut usize = taken.entry(arm(*profile)).or_default();
        *taken += 1;
        *taken <= most
    });
    all.into_iter()
}

fn run(backend: &'static str, profile: Profile, turn: usize, case: &Case) -> Result<(), Failed> {
    // As `gatherspec run` has it: most runs write to poisoned outputs.
    let factory = || {
        builtin::held(builtin::signatures(), backend, profile, builtin::MAX_OUTPUT)
            .expect("a name from the list")
    };
    let mut runner = InProcess::new(factory, Strictness::Strict);
    if tiers::LAYOUTS.count() < Layout::ALL.len() {
        runner = runner.in_turn(turn);
    }
    let result = runner.run(case);
    match result.verdict {
        Verdict::Pass => Ok(()),
        verdict => {
            let at = result.at.map(|at| format!(" at {at}")).unwrap_or_default();
            Err(format!("{verdict}{at}\n  expected {}\n  actual   {}", result.expected, result.actual).into())
        }
    }
}
