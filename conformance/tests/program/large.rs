//! The large cases on both built-in backends: all of them in release, those of small outputs in debug, where elements are
//! moved slowly. Under every profile where the outcome depends on it.

use std::time::Duration;

use gather_conformance::builtin;
use gather_conformance::internals::judge::{Strictness, Verdict};
use gather_conformance::internals::process::ProcessBackend;
use gather_conformance::internals::runner::InProcess;
use gather_spec::load::Wanted;
use std::sync::Arc;

use gather_conformance::internals::select::Chosen;
use gather_spec::{Allowed, Case, Profile, Run, Specification};

/// The most elements that are moved in debug.
const FEW: usize = 1 << 18;

fn large() -> Vec<Run> {
    let spec = Specification::embedded_with(&Wanted::Large).unwrap();
    let runs = spec.cases.iter().filter(|case| case.large).flat_map(Case::runs);
    runs.filter(|run| !cfg!(debug_assertions) || is_quick(run)).collect()
}

fn is_quick(case: &Run) -> bool {
    let outputs = case.expect.allowed().filter_map(|allowed| match allowed {
        Allowed::Output(output) => Some(output.shape().element_count()),
        _ => None,
    });
    outputs.max().unwrap_or(0) <= FEW
}

#[test]
fn both_backends_answer_large_calls_under_every_profile_that_matters() {
    above_quick!();
    let cases = large();
    assert!(cases.len() >= 60, "{}", cases.len());
    for name in builtin::NAMES {
        for profile in Profile::all_specified() {
            let factory = || builtin::backend(name, profile, builtin::MAX_OUTPUT).unwrap();
            let mut runner = InProcess::new(factory, Strictness::Strict);
            let matters = |case: &&Run| profile == Profile::default() || case.expect.arms.len() > 1;
            for case in cases.iter().filter(matters) {
                let result = runner.run(case);
                // A machine may have no room for an axis of more than 2^32 elements, and says so.
                let room = result.verdict == Verdict::Unsupported && result.actual.starts_with("no memory");
                assert!(
                    result.verdict == Verdict::Pass || room,
                    "{name} {profile} {}: {:?}",
                    case.id,
                    result.actual
                );
            }
        }
    }
}

/// What can be neither written nor sent is counted, not failed.
#[cfg(unix)]
#[test]
fn a_program_gets_painted_params_as_a_sparse_file() {
    above_quick!();
    let program = env!("CARGO_BIN_EXE_gatherspec");
    let mut backend = ProcessBackend::new(program);
    backend.arguments = ["serve", "optimized"].map(Into::into).to_vec();
    // Other tests of gigabytes run at the same time, on all cores.
    backend.limits.call = Duration::from_secs(300);
    backend.limits.virtual_call = Duration::from_secs(300);
    let spec = Specification::embedded_with(&Wanted::Large).unwrap();
    let wanted = [
        "around-two-to-the-31-and-32",
        "a-long-axis-of-one-number",
        "from-the-end-of-an-axis-without-elements",
    ];
    let is_wanted = |case: &&Arc<Case>| {
        case.id.starts_with("onnx.GatherND-13/large/")
            && wanted.iter().any(|name| case.id.ends_with(&format!("/{name}")))
    };
    let cases: Vec<&Arc<Case>> = spec.cases.iter().filter(is_wanted).collect();
    let chosen = Chosen { cases: &cases, selection: None };
    let findings = backend.run(&spec.cases, &chosen, &|_| {}).unwrap();
    let of = |name: &str| findings.results.iter().find(|result| result.id.ends_with(name)).unwrap();
    assert_eq!(of(wanted[0]).verdict, Verdict::Pass, "{:?}", of(wanted[0]));
    assert_eq!(of(wanted[2]).verdict, Verdict::Pass, "{:?}", of(wanted[2]));
    assert_eq!(of(wanted[1]).verdict, Verdict::Unsupported);
    let actual = of(wanted[1]).actual.as_deref().unwrap_or_default();
    assert!(actual.contains("more than are sent"), "{actual}");
}
