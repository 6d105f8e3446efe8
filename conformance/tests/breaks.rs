//! The breaks of real code fit the code. Whether they are caught is for `examples/breaks` to say.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[path = "../examples/breaks/round.rs"]
mod round;

use round::{HARNESS, Reach, Round, Test};

const ROUNDS: [&str; 5] = ["1", "2", "3", "4", HARNESS];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

#[test]
fn every_break_changes_one_place_of_a_file_that_there_is() {
    let mut wrong = Vec::new();
    for round in ROUNDS {
        let folders = if round == HARNESS { HARNESS_FOLDERS } else { BACKEND_FOLDERS };
        for broken in Round::read(root(), round).unwrap().breaks {
            let source = std::fs::read_to_string(root().join(&broken.file)).unwrap_or_default();
            wrong.extend(broken.applied(&source).err());
            if broken.wrong_on.is_empty() || !folders.iter().any(|folder| broken.file.starts_with(folder)) {
                wrong.push(format!(
                    "{}: wrong-on is empty, or {} is in none of {folders:?}",
                    broken.id, broken.file
                ));
            }
            if broken.level.is_some() && broken.reach == Reach::Rust {
                wrong.push(format!("{}: no step calls it at a level", broken.id));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Where the backends lie that are built in.
const BACKEND_FOLDERS: [&str; 2] = ["reference/src/", "optimized/src/"];

/// Where the loader lies, and what judges.
const HARNESS_FOLDERS: [&str; 2] = ["spec/src/", "conformance/src/"];

#[test]
fn every_break_of_the_suite_itself_names_a_test_that_there_is() {
    for round in ROUNDS {
        for broken in Round::read(root(), round).unwrap().breaks {
            match &broken.test {
                Some(test) if round == HARNESS => assert!(exists(test), "{}: {test:?}", broken.id),
                test => assert!(test.is_none() && round != HARNESS, "{}: {test:?}", broken.id),
            }
        }
    }
}

/// Whether a file of the sources that a test is built from holds the last part of its name.
fn exists(test: &Test) -> bool {
    let package = root().join(test.package());
    let last = test.name.rsplit(['/', ':']).next().unwrap();
    let files: Vec<PathBuf> = match test.built.split_once("--test ") {
        Some((_, program)) => {
            let program = package.join("tests").join(program);
            // A program may keep its tests in a folder of its name.
            let topics =
                std::fs::read_dir(&program).into_iter().flatten().flatten().map(|topic| topic.path());
            topics.chain([program.with_extension("rs")]).collect()
        }
        None => {
            let modules = test.name.rsplit_once("::").unwrap().0;
            let paths = [modules, modules.trim_end_matches("::tests")].map(|path| path.replace("::", "/"));
            paths.map(|path| package.join("src").join(path).with_extension("rs")).into()
        }
    };
    files.iter().any(|file| std::fs::read_to_string(file).is_ok_and(|source| source.contains(last)))
}

#[test]
fn no_two_breaks_have_the_same_name() {
    let mut ids = BTreeSet::new();
    for broken in ROUNDS.into_iter().flat_map(|round| Round::read(root(), round).unwrap().breaks) {
        assert!(ids.insert(broken.id.clone()), "{} is there twice", broken.id);
    }
}

#[test]
fn rounds_are_files_without_gaps() {
    let files = std::fs::read_dir(root().join("conformance/breaks")).unwrap().flatten();
    let rounds = files.filter(|file| file.path().extension().is_some_and(|extension| extension == "yaml"));
    assert_eq!(rounds.count(), ROUNDS.len());
}
