//! Backends that go wrong at the start, at the stop, or again and again.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use gather_conformance::internals::judge::Verdict::{self, *};
use gather_conformance::internals::process::{ProcessBackend, Trivial};
use libtest_mimic::Trial;
use rustix::process::{Pid, Signal, kill_process};

use super::support::{AT, CALLS, assert_only, backend, cases, only, run, verdicts, with_note};
use crate::miniatures::{MODE, NOTE};
use crate::trial;

/// What a backend does at its start, how that is called, and words of the explanation.
const AT_THE_START: &[(&str, Verdict, &str)] = &[
    ("exits-at-once", Crash, "ended with exit status 4"),
    ("is-killed-at-start", Crash, "killed by signal 6"),
    ("hangs-at-start", Timeout, "the answer to `start` did not come within 1s"),
    ("closes-stdout-at-start", ProtocolError, "closed its stdout"),
    ("prints-a-banner-at-start", ProtocolError, "Welcome to HostileFlow 3.1!"),
    ("speaks-of-the-future", ProtocolError, "it speaks protocol 3, this program speaks 2"),
    ("declares-an-unknown-dtype", ProtocolError, "`f8`"),
    ("declares-an-unknown-policy", ProtocolError, "`maybe`"),
    ("describes-itself-in-an-array", ProtocolError, "expected an object"),
];

pub(super) fn trials() -> Vec<Trial> {
    let table = AT_THE_START
        .iter()
        .map(|(mode, verdict, words)| trial(format!("start/{mode}"), || at_the_start(mode, *verdict, words)));
    let others: [(&str, fn()); 13] = [
        ("start/fails-every-trivial-call", fails_everything),
        ("start/answers-no-trivial-call", answers_nothing),
        ("start/a-sanitizer-reports-before-the-first-call", reports_at_start),
        ("start/there-is-no-such-program", there_is_no_such_program),
        ("start/fails-one-of-the-trivial-calls", fails_one_of_the_trivial_calls),
        ("stop/ignores-stop", ignores_stop),
        ("stop/fails-at-stop", fails_at_stop),
        ("stop/talks-at-stop", talks_at_stop),
        ("start/no-child-escapes-the-memory-limit", no_child_escapes_the_memory_limit),
        ("start/cannot-be-killed", cannot_be_killed),
        ("budget/is-stated-and-kept", the_budget_is_kept),
        ("budget/changes-its-mind", changes_its_mind),
        ("jobs/every-worker-pays-for-its-own", every_worker_pays_for_its_own),
    ];
    table.chain(others.map(|(name, test)| trial(name, test))).collect()
}

fn at_the_start(mode: &str, verdict: Verdict, words: &str) {
    let broken = run(&backend(mode), &[]).unwrap_err();
    assert_eq!(broken.verdict, verdict, "{broken}");
    assert!(broken.why.contains(words), "{broken}");
}

fn there_is_no_such_program() {
    let broken = run(&ProcessBackend::new("/no/such/program"), &[]).unwrap_err();
    assert!(broken.why.contains("/no/such/program cannot be started"), "{broken}");
}

/// It works, and is wrong: that is what a run says about it.
fn fails_everything() {
    let findings = run(&backend("fails-everything"), &[]).unwrap();
    assert_eq!(verdicts(&findings), [RejectedGoodInput; CALLS]);
    assert_eq!((findings.not_run(), findings.problems.len()), (None, 0));
}

/// It answers none of the first three calls, so that the others are not sent.
fn answers_nothing() {
    let findings = run(&backend("answers-before-being-asked"), &[]).unwrap();
    let rest = [ProtocolError, ProtocolError, ProtocolError, NotRun, NotRun, NotRun];
    assert_eq!(verdicts(&findings), rest, "{findings:#?}");
    assert!(
        findings.results[0].actual.as_deref().unwrap_or_default().contains("which was not asked"),
        "{findings:#?}"
    );
    let why = "not sent: the backend answers none of 3 trivial calls: protocol-error at call 0: ";
    assert!(findings.not_run().unwrap().starts_with(why), "{findings:#?}");
}

fn reports_at_start() {
    let findings = run(&backend("reports-at-start"), &[AT]).unwrap();
    assert_eq!(verdicts(&findings), [Pass; CALLS]);
    let said = "at the start of the backend, a sanitizer's report: ERROR: AddressSanitizer: odr-violation";
    assert_eq!(findings.problems, [said]);
}

/// It is wrong, and works.
fn fails_one_of_the_trivial_calls() {
    let cases = cases(&[AT]);
    let findings = backend("refuses").run_each(Trivial::Runs(&cases[..=AT]), &cases, &|_| ()).unwrap();
    assert_only(&findings, RejectedGoodInput, "error without a code");
}

/// A child that is started before anything else has its limit from the beginning.
fn no_child_escapes_the_memory_limit() {
    if cfg!(target_os = "linux") {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("limits");
        for _ in 0..40 {
            let mut backend = with_note(backend("honest"), &note);
            backend.program = "/bin/sh".into();
            let script = format!("ulimit -v >> \"${NOTE}\" & wait");
            backend.arguments = vec!["-c".into(), script.into()];
            run(&backend, &[]).unwrap_err();
        }
        let limits = std::fs::read_to_string(note).unwrap();
        assert_eq!(limits.lines().collect::<Vec<_>>(), ["1048576"; 40]);
    }
}

/// A backend that has become another user's hangs, and is not waited for. It takes root to make one.
fn cannot_be_killed() {
    let folder = tempfile::tempdir().unwrap();
    let (setpriv, note) = (folder.path().join("setpriv"), folder.path().join("note"));
    let may = rustix::process::geteuid().is_root() && std::fs::copy("/usr/bin/setpriv", &setpriv).is_ok();
    if !may {
        eprintln!("skipped: a backend that cannot be killed needs root and /usr/bin/setpriv");
        return;
    }
    for (path, mode) in [(folder.path(), 0o777), (&setpriv, 0o4755)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let mut gatherspec = std::process::Command::new("setpriv");
    gatherspec.args(["--reuid=65534", "--clear-groups", env!("CARGO_BIN_EXE_gatherspec"), "run"]);
    gatherspec.args(["--start-limit", "1", "--out", "out", "--"]);
    gatherspec.arg(&setpriv).args(["--reuid=0", "--clear-groups"]).arg(std::env::current_exe().unwrap());
    gatherspec.env(MODE, "notes-itself-and-hangs-at-start").env(NOTE, &note).env("TMPDIR", folder.path());
    let start = Instant::now();
    let output = gatherspec.current_dir(folder.path()).output().unwrap();
    let took = start.elapsed();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if let Ok(id) = std::fs::read_to_string(&note) {
        let _ = kill_process(Pid::from_raw(id.parse().unwrap()).unwrap(), Signal::KILL);
        assert!(said.contains("did not come within 1s; the process cannot be killed"), "{said}");
        assert!(took < Duration::from_secs(15), "{took:?}");
    } else {
        eprintln!("skipped: the user `nobody` may not run a program that becomes root's here: {said}");
    }
}

fn ignores_stop() {
    let mut backend = backend("ignores-stop");
    backend.limits.stop = Duration::from_millis(300);
    let findings = run(&backend, &[AT]).unwrap();
    assert_eq!(verdicts(&findings), [Pass; CALLS]);
    assert_eq!(findings.remarks, ["`stop` was ignored for 300ms: killed"]);
}

fn fails_at_stop() {
    let findings = run(&backend("fails-at-stop"), &[AT]).unwrap();
    assert_eq!(verdicts(&findings), [Pass; CALLS]);
    // What it wrote, which may differ from process to process, is no part of the problem.
    assert_eq!(findings.remarks, ["after `stop` it wrote to stderr:\nall is lost"]);
    assert_eq!(findings.problems, ["after `stop` the process ended with exit status 5"]);
}

fn talks_at_stop() {
    let findings = run(&backend("talks-at-stop"), &[AT]).unwrap();
    assert_eq!(verdicts(&findings), only(ProtocolError, &[CALLS - 1]), "{findings:#?}");
    assert_eq!(findings.results[CALLS - 1].actual.as_deref(), Some("the call was answered twice"));
}

fn the_budget_is_kept() {
    let mut backend = backend("exits");
    backend.limits.restarts = 1;
    let findings = run(&backend, &[1, 3]).unwrap();
    assert_eq!(verdicts(&findings), [Pass, Crash, Pass, Crash, NotRun, NotRun]);
    assert_eq!(findings.not_run(), Some("not sent: the budget of 1 restart is used up"));
}

fn changes_its_mind() {
    let folder = tempfile::tempdir().unwrap();
    let backend = with_note(backend("changes-its-mind"), &folder.path().join("was here"));
    let findings = run(&backend, &[AT]).unwrap();
    assert_eq!(verdicts(&findings), [Pass, Pass, Crash, NotRun, NotRun, NotRun]);
    assert!(
        findings.results[5].actual.as_deref().unwrap_or_default().contains("describes itself differently")
    );
}

fn every_worker_pays_for_its_own() {
    let mut backend = backend("aborts");
    backend.jobs = 3;
    backend.limits.window = 1;
    let findings = run(&backend, &[0, 2, 5]).unwrap();
    assert_eq!(verdicts(&findings), only(Crash, &[0, 2, 5]));
}
