//! Backends that leave processes behind.

use gather_conformance::internals::judge::Verdict::*;
use libtest_mimic::Trial;

use crate::miniatures::assert_is_gone;

use super::support::{AT, assert_only, backend, run, with_note};
use crate::miniatures::{MODE, NOTE};
use crate::trial;

pub(super) fn trials() -> Vec<Trial> {
    let others: [(&str, fn()); 7] = [
        ("call/leaves-a-child", leaves_a_child),
        ("call/leaves-a-child-and-exits", leaves_a_child_and_exits),
        ("call/leaves-a-child-in-a-session-of-its-own", || leaves_a_daemon("leaves-a-daemon")),
        ("call/leaves-an-orphan-in-a-session-of-its-own", || leaves_a_daemon("leaves-an-orphan")),
        ("call/leaves-a-child-without-an-environment", || leaves_a_daemon("leaves-a-blank-daemon")),
        ("run/leaves-nothing-at-all", leaves_nothing_at_all),
        ("call/leaves-orphans-that-end", leaves_orphans_that_end),
    ];
    others.map(|(name, test)| trial(name, test)).into()
}

fn leaves_a_child() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("child");
    assert_only(&run(&with_note(backend("leaves-a-child"), &note), &[AT]).unwrap(), Pass, "");
    assert_is_gone(&note);
}

/// Only Linux has a way to find such a process.
fn leaves_a_daemon(mode: &str) {
    if cfg!(target_os = "linux") {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("child");
        assert_only(&run(&with_note(backend(mode), &note), &[AT]).unwrap(), Pass, "");
        assert_is_gone(&note);
    }
}

/// An orphan in a session of its own which has thrown away all that tells whose it is lives until the run or the campaign
/// ends.
fn leaves_nothing_at_all() {
    if cfg!(target_os = "linux") {
        for options in [&["run", "--out", "."][..], &["fuzz", "--cases", "9", "--report", "fuzz.json"]] {
            let folder = tempfile::tempdir().unwrap();
            let note = folder.path().join("child");
            let mut gatherspec = std::process::Command::new(env!("CARGO_BIN_EXE_gatherspec"));
            gatherspec.current_dir(folder.path()).args(options).arg("--");
            gatherspec.arg(std::env::current_exe().unwrap());
            let output = gatherspec.env(MODE, "leaves-a-blank-orphan").env(NOTE, &note).output().unwrap();
            assert!(output.status.code().is_some(), "{output:?}");
            assert_is_gone(&note);
        }
    }
}

fn leaves_a_child_and_exits() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("child");
    let findings = run(&with_note(backend("leaves-a-child-and-exits"), &note), &[AT]).unwrap();
    assert_only(&findings, Crash, "ended with exit status 6");
    assert_is_gone(&note);
}

fn leaves_orphans_that_end() {
    if cfg!(target_os = "linux") {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("left");
        assert_only(&run(&with_note(backend("leaves-orphans-that-end"), &note), &[AT]).unwrap(), Pass, "");
        assert_eq!(std::fs::read_to_string(note).unwrap(), "0");
    }
}
