//! Backends that go wrong at one call, or at its repetition.

use std::time::Duration;

use gather_conformance::internals::judge::Verdict::{self, *};
use gather_conformance::internals::process::Trivial;
use gather_spec::{Allowed, DType, ErrorCode, ErrorFields, Tensor};
use libtest_mimic::Trial;

use super::support::{AT, CALLS, assert_only, backend, cases, run, verdicts, with_note};
use crate::trial;

/// What a backend does to one call, the verdict of that call, and words that its report holds.
const AT_ONE_CALL: &[(&str, Verdict, &str)] = &[
    ("exits", Crash, "ended with exit status 3"),
    ("exits-with-status-0", Crash, "ended with exit status 0"),
    ("aborts", Crash, "killed by signal 6 (SIGABRT)"),
    ("is-killed", Crash, "killed by signal 9 (SIGKILL)"),
    ("panics-with-words", Crash, "the kernel went away"),
    ("hangs", Timeout, "did not come within 1s"),
    ("writes-half-a-line-and-hangs", Timeout, "did not come within 1s"),
    ("writes-half-a-line-and-exits", Crash, "after 20 bytes of an unfinished line"),
    ("closes-stdout", ProtocolError, "closed its stdout"),
    ("closes-stdin", ProtocolError, "closed its stdin"),
    ("writes-a-line-of-1-gb", ProtocolError, "longer than the limit"),
    ("writes-no-utf-8", ProtocolError, "byte 24 of the line is not UTF-8"),
    ("writes-no-json", ProtocolError, "key must be a string"),
    ("writes-an-array", ProtocolError, "expected an object"),
    ("writes-null", ProtocolError, "expected an object"),
    ("leaves-out-the-answer", ProtocolError, "none of `output`, `error` and `unsupported`"),
    ("leaves-out-seq", ProtocolError, "missing field `seq`"),
    ("adds-a-key", ProtocolError, "unknown field `elapsed`"),
    ("answers-two-things-at-once", ProtocolError, "unknown field `unsupported`"),
    ("answers-an-empty-line", ProtocolError, "EOF"),
    ("answers-another-call", ProtocolError, "which was not asked"),
    ("answers-out-of-order", ProtocolError, "when that to seq"),
    ("answers-twice", ProtocolError, "answered twice"),
    ("prints-a-banner", ProtocolError, "falling back to the slow path"),
    ("floods-stderr-and-exits", Crash, "out of luck"),
    ("reports-and-answers", Crash, "a sanitizer's report: ERROR: AddressSanitizer: heap-buffer-overflow"),
    ("reports-early-in-a-flood-and-answers", Crash, "a sanitizer's report: Invalid read of size 8"),
    ("reports-undefined-behaviour-and-answers", Crash, "take.c:12:9: runtime error: signed integer overflow"),
    ("claims-a-dtype-that-it-lacks", RejectedGoodInput, "no i32 here"),
    ("refuses", RejectedGoodInput, "error without a code"),
    ("says-too-much", RejectedGoodInput, " … 896000 characters left out … "),
    ("gives-null-as-code", ProtocolError, "null stands where a value is expected"),
    ("gives-an-unknown-code", ProtocolError, "unknown variant `oops`"),
    ("calls-the-message-invalid", ProtocolError, "I do not understand"),
    ("answers-other-bits", WrongOutput, "i32 [1] [0]"),
    ("answers-another-dtype", WrongOutput, "u32 [1] [667]"),
    ("answers-another-shape", WrongOutput, "i32 [1, 1] [[667]]"),
    ("disagrees-with-its-shape", ProtocolError, "the output: "),
    ("answers-negative-dims", ProtocolError, "`-1`"),
    ("answers-dims-of-2-to-the-63", ProtocolError, "too large"),
    ("answers-dims-that-overflow", WrongOutput, "i32 [4294967296, 4294967296, 0] without elements"),
    ("answers-dims-that-overflow-with-elements", ProtocolError, "too large"),
    ("answers-rank-65-without-elements", ProtocolError, "at most 64"),
    ("answers-fractional-dims", ProtocolError, "floating point `1.0`"),
    ("answers-rank-65", ProtocolError, "at most 64"),
    ("answers-rubbish-as-base64", ProtocolError, "not base64"),
    ("answers-base64-without-padding", ProtocolError, "not base64"),
    ("answers-numbers-as-strings", ProtocolError, "one base64 text"),
    ("answers-an-unknown-dtype", ProtocolError, "`int32`"),
    ("answers-with-a-file", ProtocolError, "only inputs lie in files"),
    ("allocates-without-end", Crash, "killed by signal 6"),
];

pub(super) fn trials() -> Vec<Trial> {
    let table = AT_ONE_CALL
        .iter()
        .map(|(mode, verdict, words)| trial(format!("call/{mode}"), || at_one_call(mode, *verdict, words)));
    let others: [(&str, fn()); 7] = [
        ("call/floods-stderr", floods_stderr),
        (
            "repeat/answers-wrongly-the-second-time-where-answers-may-vary",
            answers_wrongly_where_answers_may_vary,
        ),
        ("call/accepts-what-is-too-large", accepts_what_is_too_large),
        ("repeat/answers-differently-the-second-time", answers_differently),
        ("repeat/dies-the-second-time", dies_the_second_time),
        ("honest/everything-passes", everything_passes),
        ("size/virtual-calls-have-a-limit-of-their-own", virtual_calls_have_a_limit_of_their_own),
    ];
    table.chain(others.map(|(name, test)| trial(name, test))).collect()
}

fn at_one_call(mode: &str, verdict: Verdict, words: &str) {
    assert_only(&run(&backend(mode), &[AT]).unwrap(), verdict, words);
}

/// An output that no tensor can hold is an answer, and not a broken message.
fn accepts_what_is_too_large() {
    let mut cases = cases(&[AT]);
    let too_large = Allowed::Error(ErrorCode::OutputTooLarge, ErrorFields::default());
    cases[AT].expect.arms[0].allowed = vec![too_large];
    let findings =
        backend("answers-dims-that-overflow").run_each(Trivial::Runs(&[]), &cases, &|_| ()).unwrap();
    assert_only(&findings, AcceptedBadInput, "i32 [4294967296, 4294967296, 0] without elements");
}

fn everything_passes() {
    let findings = run(&backend("honest"), &[]).unwrap();
    assert_eq!(verdicts(&findings), [Pass; CALLS]);
    assert_eq!(findings.remarks, [""; 0]);
}

fn answers_differently() {
    let folder = tempfile::tempdir().unwrap();
    let mut backend =
        with_note(backend("answers-differently-the-second-time"), &folder.path().join("was here"));
    backend.repeat = 2;
    let findings = run(&backend, &[AT]).unwrap();
    assert_only(&findings, Nondeterministic, "first i32 [1] [667], then i32 [1] [0]");
}

/// Any error is right, but no output: every run is judged, and not only the first.
fn answers_wrongly_where_answers_may_vary() {
    let folder = tempfile::tempdir().unwrap();
    let mut backend = with_note(backend("refuses-only-once"), &folder.path().join("was here"));
    backend.repeat = 3;
    let mut cases = cases(&[AT]);
    cases[AT].expect.arms[0].allowed = vec![Allowed::AnyError];
    let findings = backend.run_each(Trivial::Runs(&[]), &cases, &|_| ()).unwrap();
    assert_only(&findings, AcceptedBadInput, "i32 [1] [667]");
    assert_eq!(findings.results[AT].at.as_deref(), Some("run 2 of 3"));
}

/// What a call that passes writes is kept in part, and counted.
fn floods_stderr() {
    let findings = run(&backend("floods-stderr"), &[AT]).unwrap();
    assert_eq!(verdicts(&findings), [Pass; CALLS]);
    let said: Vec<&str> = findings.results.iter().filter_map(|result| result.stderr.as_deref()).collect();
    assert!(!said.is_empty() && said.iter().all(|said| said.len() < 20_000), "{}", said.len());
    assert!(said.iter().any(|said| said.ends_with("eeee")), "{said:?}");
    let words = format!(
        "{} wrote to standard error",
        match said.len() {
            1 => "1 passing call".to_owned(),
            calls => format!("{calls} passing calls"),
        }
    );
    assert_eq!((findings.remarks, findings.problems), (vec![words], Vec::new()));
}

fn dies_the_second_time() {
    let folder = tempfile::tempdir().unwrap();
    let mut backend = with_note(backend("dies-the-second-time"), &folder.path().join("was here"));
    backend.repeat = 2;
    let findings = run(&backend, &[AT]).unwrap();
    assert_only(&findings, Crash, "ended with exit status 7");
    assert_eq!(findings.results[AT].at.as_deref(), Some("run 2 of 2"));
}

/// The marked call spans 2^40 rows without elements.
fn virtual_calls_have_a_limit_of_their_own() {
    let mut cases = cases(&[]);
    let huge = Tensor::new(DType::I32, [1 << 40, 0], Vec::<u32>::new()).unwrap();
    cases[AT].call.operands.replace("indices", huge);
    let mut backend = backend("hangs-at-no-index");
    (backend.limits.call, backend.limits.virtual_call) =
        (Duration::from_secs(600), Duration::from_millis(500));
    let findings = backend.run_each(Trivial::Runs(&[]), &cases, &|_| ()).unwrap();
    assert_only(&findings, Timeout, "a reply did not come within");
}
