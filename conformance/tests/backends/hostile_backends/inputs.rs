//! Backends that change, replace or remove the files of their inputs.

use gather_conformance::internals::judge::Verdict::*;
use libtest_mimic::Trial;

use super::support::{AT, assert_only, backend, run};
use crate::trial;

pub(super) fn trials() -> Vec<Trial> {
    let others: [(&str, fn()); 11] = [
        ("call/changes-its-input", || {
            changes_its_input("changes-its-input", "file of indices differs from byte 67 on");
        }),
        ("call/mutters-and-changes-its-input", || {
            changes_its_input("mutters-and-changes-its-input", "the file is mine");
        }),
        ("call/deletes-its-input", || changes_its_input("deletes-its-input", "cannot be read any more")),
        ("call/puts-a-pipe-for-its-input", || {
            changes_its_input("puts-a-pipe-for-its-input", "file of indices is a named pipe now");
        }),
        ("call/puts-an-endless-device-for-its-input", || {
            changes_its_input("puts-an-endless-device-for-its-input", "file of indices is a link now");
        }),
        ("call/puts-a-link-for-its-input", || {
            changes_its_input("puts-a-link-for-its-input", "file of indices is a link now");
        }),
        ("call/puts-a-folder-for-its-input", || {
            changes_its_input("puts-a-folder-for-its-input", "file of indices is a folder now");
        }),
        ("call/grows-its-input", || {
            changes_its_input("grows-its-input", "has 1099511627776 bytes instead of 68");
        }),
        ("call/takes-the-folder-of-its-input-away", || {
            changes_its_input("takes-the-folder-of-its-input-away", "cannot be read any more");
        }),
        ("call/takes-the-folder-of-its-input-away-and-complains", || {
            changes_its_input("takes-the-folder-of-its-input-away-and-complains", "cannot be read any more");
        }),
        ("call/prepares-pipes-for-later-inputs", prepares_pipes),
    ];
    others.map(|(name, test)| trial(name, test)).into()
}

fn changes_its_input(mode: &str, words: &str) {
    let mut backend = backend(mode);
    backend.limits.file_above = 0;
    assert_only(&run(&backend, &[AT]).unwrap(), InputChanged, words);
}

/// Pipes in the place of later files are not written to, and the runner does not wait for a reader.
fn prepares_pipes() {
    let mut backend = backend("prepares-pipes-for-later-inputs");
    (backend.limits.file_above, backend.limits.window) = (0, 1);
    assert_only(&run(&backend, &[AT]).unwrap(), Pass, "");
}
