//! `gather_conformance::harness` as its users meet it. This program is the tests and, told so by its environment, what
//! they start: the suite on a backend that is right but for one thing.

use std::path::Path;
use std::process::{Command, ExitCode};

use gather_conformance::backend::{Backend, Description};
use gather_conformance::{builtin, harness, harness_with};
use gather_spec::{BadIndex, Call, DType, Outcome, Profile};

const DEVIATIONS: &str = "GATHERSPEC_TEST_DEVIATIONS";
const CASE: &str = "tf.gather_nd/documented/rows-of-a-matrix";

/// The reference, which panics at the one call whose params are strings in two rows of three.
struct Panics(Box<dyn Backend>);

impl Panics {
    fn new() -> Self {
        let profile = Profile { bad: BadIndex::Clamp, ..Profile::default() };
        Self(builtin::backend("reference", profile, builtin::MAX_OUTPUT).unwrap())
    }
}

impl Backend for Panics {
    fn describe(&self) -> Description {
        self.0.describe()
    }

    fn call(&mut self, call: &Call) -> Outcome {
        let params = call.operands.tensors().next().unwrap();
        assert!(params.dtype().name() != "string" || params.shape()[..] != [2, 3], "no strings");
        self.0.call(call)
    }
}

/// The reference, which declares one operator and one pair of dtypes.
struct Narrow(Box<dyn Backend>);

impl Narrow {
    fn new() -> Self {
        Self(builtin::backend("reference", Profile::default(), builtin::MAX_OUTPUT).unwrap())
    }
}

impl Backend for Narrow {
    fn describe(&self) -> Description {
        let mut description = self.0.describe();
        description.operators.retain(|operator, _| operator == "tf.gather_nd");
        for capability in description.operators.values_mut() {
            (capability.dtypes, capability.index_dtypes) = (vec![DType::C128], vec![DType::I64]);
        }
        description
    }

    fn call(&mut self, call: &Call) -> Outcome {
        self.0.call(call)
    }
}

/// The suite on a backend, if the environment says so.
pub(crate) fn be() -> Option<ExitCode> {
    let deviations = std::env::var_os(DEVIATIONS)?;
    Some(match deviations.to_str() {
        Some("none") => harness(Panics::new),
        Some("narrow") => harness(Narrow::new),
        _ => harness_with(Panics::new, deviations),
    })
}

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("a failure names the case and a panic is a crash", a_failure),
    ("deviations cover it", covered),
    ("deviations are strict", strict),
    ("what was not asked is said at the end", not_asked),
    ("what is not declared is ignored and does not pass", ignored),
];

/// The status of a run of the harness, and what it printed.
fn run(deviations: &Path, filter: &str) -> (Option<i32>, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.arg(filter).env(DEVIATIONS, deviations).output().unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

fn with(deviations: &str, filter: &str) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("deviations.yaml");
    std::fs::write(&file, format!("schema: 2\ndeviations:\n{deviations}")).unwrap();
    run(&file, filter)
}

fn a_failure() {
    let (status, text) = run(Path::new("none"), "tf.gather_nd/documented/");
    assert_eq!(status, Some(101), "{text}");
    assert!(text.contains(CASE) && text.contains("panic: no strings"), "{text}");
    assert!(text.contains("  clause     tf.gather_nd.shape.slices: Without batch dimensions"), "{text}");
    assert!(text.contains("\nreference 0.1.0  16 of 16 cases asked: 1 verdict does not conform\n"), "{text}");
    let (status, text) = run(Path::new("none"), "profile");
    assert!(status == Some(101) && text.contains("declares bad=clamp"), "{text}");
}

fn covered() {
    let profile = "  - { profile: '*', reason: it clamps }\n";
    assert_eq!(with(profile, "profile").0, Some(0));
    let (status, text) = with(&format!("  - {{ case: {CASE}, verdict: crash, reason: no strings }}\n"), CASE);
    assert_eq!(status, Some(0), "{text}");
}

fn strict() {
    let (status, text) = with(&format!("  - {{ case: {CASE}, verdict: timeout, reason: slow }}\n"), CASE);
    assert!(status == Some(101) && text.contains("crash"), "{text}");
    let entry = "  - { case: 'tf.gather_nd/ranks/*', verdict: crash, reason: it did once }\n";
    let (status, text) = with(entry, "tf.gather_nd/ranks/");
    assert!(status == Some(101) && text.contains("unexpected-pass"), "{text}");
    // One that several cases stand for is known to be idle only once all have run.
    let entry = "  - { case: 'tf.gather_nd/ranks/*', where: { message: gone }, verdict: crash, reason: it did once }\n";
    let (status, text) = with(entry, "tf.gather_nd/ranks/");
    assert!(status == Some(101) && text.contains("did not occur in any case of tf.gather_nd"), "{text}");
    let (status, text) = with(entry, "tf.gather_nd/ranks/scalar-params-once");
    assert_eq!(status, Some(0), "{text}");
    let (status, text) = with("  - { case: no/such/case, verdict: crash, reason: x }\n", CASE);
    assert!(status == Some(2) && text.contains("matches no case"), "{text}");
}

fn not_asked() {
    let narrow = Path::new("narrow");
    let (status, text) = run(narrow, "tf.");
    let ending = text.split("test result: ok").nth(1).unwrap();
    assert_eq!(status, Some(0), "{text}");
    assert!(ending.contains(" runs: conforms for "), "{ending}");
    assert!(ending.contains("  does not declare 2 operators: tf.gather, tf.raw_ops.GatherNd\n"), "{ending}");
    assert!(
        ending.contains("  outside of what it declares: ")
            && ending.contains("tf.gather_nd.value.string-bytes"),
        "{ending}"
    );
    // Strings of another operator and a dtype that is not declared: not one case ran.
    let (status, text) = run(narrow, "tf.gather/documented");
    assert!(status == Some(0) && text.contains("nothing was asked: of "), "{text}");
    // Neither a list nor the profile alone has cases to sum up.
    let listed = run(narrow, "--list").1;
    assert!(
        listed.ends_with(": test\n") && listed.contains("tf.gather_nd/") && !listed.contains("tf.gather/")
    );
}

fn ignored() {
    let (status, text) = run(Path::new("narrow"), "tf.gather/documented");
    assert!(status == Some(0) && text.contains("\ntest result: ok. 0 passed; 0 failed; "), "{text}");
    assert!(!text.contains("; 0 ignored; "), "{text}");
}
