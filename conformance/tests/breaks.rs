//! The breaks of real code fit the code. Whether they are caught is for `examples/breaks` to say.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use std::collections::BTreeSet;
use std::path::Path;

#[path = "../examples/breaks/round.rs"]
mod round;

use round::{Reach, Round};

const ROUNDS: u32 = 2;

#[test]
fn every_break_changes_one_place_of_a_file_that_there_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut wrong = Vec::new();
    for broken in (1..=ROUNDS).flat_map(|number| Round::read(root, number).unwrap().breaks) {
        let source = std::fs::read_to_string(root.join(&broken.file)).unwrap_or_default();
        wrong.extend(broken.applied(&source).err());
        if broken.wrong_on.is_empty() || !is_judged(&broken.file) {
            wrong.push(format!("{}: wrong-on is empty, or no backend is in {}", broken.id, broken.file));
        }
        if broken.level.is_some() && broken.reach == Reach::Rust {
            wrong.push(format!("{}: no step calls it at a level", broken.id));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Whether a file belongs to a backend that is built in.
fn is_judged(file: &str) -> bool {
    ["reference/src/", "optimized/src/"].iter().any(|folder| file.starts_with(folder))
}

#[test]
fn no_two_breaks_have_the_same_name() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut ids = BTreeSet::new();
    for broken in (1..=ROUNDS).flat_map(|number| Round::read(root, number).unwrap().breaks) {
        assert!(ids.insert(broken.id.clone()), "{} is there twice", broken.id);
    }
}

#[test]
fn rounds_are_files_without_gaps() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("breaks");
    let files = std::fs::read_dir(folder).unwrap().flatten();
    let rounds = files.filter(|file| file.file_name().to_string_lossy().starts_with("round-")).count();
    assert_eq!(rounds, ROUNDS as usize);
}
