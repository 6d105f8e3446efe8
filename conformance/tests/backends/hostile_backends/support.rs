//! What the tests share: a backend that misbehaves on demand, calls some of which are marked, and assertions
//! about findings.

use std::path::Path;
use std::time::Duration;

use gather_conformance::internals::judge::Verdict::{self, *};
use gather_conformance::internals::process::{Broken, Findings, ProcessBackend, ProcessLimits, Trivial};
use gather_spec::case::{Arm, Expectation};
use gather_spec::{Allowed, Attributes, Call, DType, Operator, Run, Tensor};

use crate::miniatures::{MARK, MODE, NOTE};

/// The place of the marked call among [`CALLS`].
pub(super) const AT: usize = 2;

pub(super) const CALLS: usize = 6;

pub(super) fn backend(mode: &str) -> ProcessBackend {
    let mut backend = ProcessBackend::new(std::env::current_exe().unwrap());
    backend.environment.push((MODE.into(), mode.into()));
    backend.environment.push(("RUST_BACKTRACE".into(), "0".into()));
    backend.limits = ProcessLimits {
        start: Duration::from_secs(20),
        call: Duration::from_secs(20),
        virtual_call: Duration::from_secs(20),
        stop: Duration::from_secs(10),
        reply: 1 << 20,
        memory: Some(1 << 30),
        restarts: 10,
        window: 4,
        file_above: usize::MAX,
    };
    if mode.contains("hang") {
        backend.limits.call = Duration::from_secs(1);
    }
    if mode == "hangs-at-start" {
        backend.limits.start = Duration::from_secs(1);
    }
    backend
}

pub(super) fn with_note(mut backend: ProcessBackend, note: &Path) -> ProcessBackend {
    backend.environment.push((NOTE.into(), note.into()));
    backend
}

/// `tf.gather_nd` of the second of three numbers.
pub(super) fn case(name: &str, first: u32) -> Run {
    let params = Tensor::new(DType::I32, [3], vec![first, first + 1, first + 2]).unwrap();
    let indices = Tensor::new(DType::I32, [1, 1], vec![1u32]).unwrap();
    let output = Tensor::new(DType::I32, [1], vec![first + 1]).unwrap();
    let call = Call::new(
        Operator::new("tf.gather_nd"),
        [("params", params), ("indices", indices)].into(),
        Attributes::new(),
    );
    let allowed = vec![Allowed::Output(output)];
    let signature = gather_conformance::builtin::signatures().get("tf.gather_nd").unwrap().clone();
    let expect = Expectation { arms: vec![Arm::always(allowed)] };
    Run::alone(name, signature.into(), call, expect)
}

/// Calls. Those at the given places are marked.
pub(super) fn cases(marked: &[usize]) -> Vec<Run> {
    let first = |at| if marked.contains(&at) { MARK } else { 10 * u32::try_from(at).unwrap() };
    (0..CALLS).map(|at| case(&format!("call {at}"), first(at))).collect()
}

pub(super) fn run(backend: &ProcessBackend, marked: &[usize]) -> Result<Findings, Broken> {
    let cases = cases(marked);
    let trivial = if marked.is_empty() { &cases[..3] } else { &[] };
    backend.run_each(Trivial::Runs(trivial), &cases, &|_| ())
}

pub(super) fn verdicts(findings: &Findings) -> Vec<Verdict> {
    findings.results.iter().map(|result| result.verdict).collect()
}

pub(super) fn only(verdict: Verdict, marked: &[usize]) -> Vec<Verdict> {
    (0..CALLS).map(|at| if marked.contains(&at) { verdict } else { Pass }).collect()
}

/// The marked call gets the verdict, with these words; the others pass, and nothing else is remarked.
pub(super) fn assert_only(findings: &Findings, verdict: Verdict, words: &str) {
    assert_eq!(verdicts(findings), only(verdict, &[AT]), "{findings:#?}");
    let result = &findings.results[AT];
    let [actual, stderr] = [&result.actual, &result.stderr].map(|said| said.as_deref().unwrap_or_default());
    let said = format!("{actual} {stderr}");
    assert!(said.contains(words), "{said:?} does not contain {words:?}");
    assert!(said.len() < 20_000, "{} bytes are shown", said.len());
    assert_eq!((&findings.remarks[..], &findings.problems[..]), (&[][..], &[][..]));
}
