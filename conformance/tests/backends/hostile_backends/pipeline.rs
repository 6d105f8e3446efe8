//! Backends that go wrong while several calls are in flight.

use std::time::Duration;

use gather_conformance::internals::judge::Verdict::{self, *};
use gather_conformance::internals::process::{Answers, Dialogue};
use gather_spec::Call;
use libtest_mimic::Trial;

use super::support::{AT, CALLS, assert_only, backend, cases, only, run, verdicts, with_note};
use crate::trial;

pub(super) fn trials() -> Vec<Trial> {
    let others: [(&str, fn()); 9] = [
        ("pipeline/a-reply-that-was-not-written-is-no-timeout", || {
            an_unwritten_reply("when-idle-writes-but-hangs", Timeout, "did not come within 1s");
        }),
        ("pipeline/a-reply-that-was-not-written-is-no-crash", || {
            an_unwritten_reply("when-idle-writes-but-dies", Crash, "ended with exit status 3");
        }),
        ("pipeline/replies-that-were-written-before-the-end-count", || {
            an_unwritten_reply("when-idle-or-dying-writes", Crash, "ended with exit status 3");
        }),
        ("pipeline/the-second-of-two-calls-in-flight-pays-for-its-crash", the_second_of_two_crashes),
        ("pipeline/a-call-that-changes-the-inputs-of-those-before-pays", changes_all_inputs),
        ("pipeline/a-crash-that-no-call-repeats-is-seen", a_crash_that_no_call_repeats),
        ("pipeline/a-crash-that-no-call-of-a-campaign-repeats-is-seen", a_crash_of_a_dialogue),
        ("pipeline/a-backend-that-drops-calls-is-asked-one-at-a-time", drops_calls),
        ("pipeline/a-backend-that-breaks-the-protocol-is-not-excused", takes_two_calls_for_one),
    ];
    others.map(|(name, test)| trial(name, test)).into()
}

/// Only the marked call fails. A single restart is enough: the one before calls are asked alone is not counted.
fn an_unwritten_reply(mode: &str, verdict: Verdict, words: &str) {
    let mut backend = backend(mode);
    backend.limits.restarts = 1;
    assert_only(&run(&backend, &[AT]).unwrap(), verdict, words);
    // In each worker of several, and for each of several runs.
    (backend.jobs, backend.limits.restarts) = (2, 2);
    assert_eq!(verdicts(&run(&backend, &[0, 4]).unwrap()), only(verdict, &[0, 4]));
    (backend.jobs, backend.repeat) = (1, 3);
    assert_eq!(verdicts(&run(&backend, &[1, 3]).unwrap()), only(verdict, &[1, 3]));
}

/// The reply to the first one is lost with the process.
fn the_second_of_two_crashes() {
    let mut backend = backend("when-idle-writes-but-dies");
    backend.limits.window = 2;
    assert_eq!(verdicts(&run(&backend, &[1]).unwrap()), only(Crash, &[1]));
}

/// The first reply finds the file of its call changed, which a later call in flight has done.
fn changes_all_inputs() {
    let mut backend = backend("when-idle-writes-but-changes-all-inputs");
    backend.limits.file_above = 0;
    assert_only(&run(&backend, &[AT]).unwrap(), InputChanged, "the file of params differs from byte ");
}

/// The call that was due is blamed, because no other call fails alone.
fn a_crash_that_no_call_repeats() {
    let folder = tempfile::tempdir().unwrap();
    let mut backend = with_note(backend("dies-the-first-time"), &folder.path().join("was here"));
    backend.limits.restarts = 0;
    let words = "exit status 7 before a reply came, with 4 calls in flight; alone, each of them was answered";
    assert_only(&run(&backend, &[AT]).unwrap(), Crash, words);
}

/// The same for calls that are no cases.
fn a_crash_of_a_dialogue() {
    let folder = tempfile::tempdir().unwrap();
    let backend = with_note(backend("dies-the-first-time"), &folder.path().join("was here"));
    let cases = cases(&[AT]);
    let calls: Vec<&Call> = cases.iter().map(|case| &case.call).collect();
    let Answers { answers, interrupted } = Dialogue::start(backend).unwrap().ask(&calls);
    assert_eq!((answers.len(), interrupted), (CALLS, None));
    for (at, answer) in answers.iter().enumerate() {
        assert_eq!(answer.is_err(), at == AT, "{at}: {answer:?}");
    }
    let trouble = answers[AT].as_ref().unwrap_err();
    let words = "exit status 7 before a reply came, with 4 calls in flight; alone, each of them was answered";
    assert!(trouble.verdict == Crash && trouble.what.contains(words), "{trouble:?}");
}

/// Nothing comes if more than one call has been sent.
fn drops_calls() {
    let mut backend = backend("when-idle-takes-one-call-or-none");
    (backend.limits.call, backend.limits.restarts) = (Duration::from_secs(1), 0);
    let findings = run(&backend, &[AT]).unwrap();
    assert_eq!(verdicts(&findings), [Pass; CALLS], "{findings:#?}");
    let [remark] = &findings.remarks[..] else { panic!("{:?}", findings.remarks) };
    assert_eq!(
        remark,
        "timeout: a reply did not come within 1s, with 4 calls in flight; alone, each of them was answered; from \
         then on calls were sent one at a time"
    );
}

fn takes_two_calls_for_one() {
    let mut backend = backend("when-idle-takes-one-call-or-complains");
    backend.limits.restarts = 0;
    let findings = run(&backend, &[AT]).unwrap();
    assert_eq!(verdicts(&findings), only(ProtocolError, &[0]), "{findings:#?}");
    let words = "two lines, with 4 calls in flight; alone, each of them was answered";
    assert!(findings.results[0].actual.as_deref().unwrap_or_default().contains(words), "{findings:#?}");
}
