//! `--spec-add`: operators of a folder beside those of the specification, in every command that reads one, and what is wrong
//! where both have the same id. The folder is that of the made-up operators.

#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Command;

use gather_spec::Specification;
use gather_spec::load::Wanted;
use serde_json::Value;

use crate::page_lines::files_of;

const MADE_UP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/made_up");

/// Runs the program in a folder; gives the status and all that it printed.
fn gatherspec(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatherspec"));
    let output = command.args(arguments).current_dir(folder).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn every_command_has_the_added_operators_beside_the_others() {
    let place = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_gatherspec");
    let add = ["--spec-add", MADE_UP];
    let said = |arguments: &[&str], status| {
        let (ended, said) = gatherspec(place.path(), arguments);
        assert_eq!(ended, Some(status), "{arguments:?}\n{said}");
        said
    };
    let listed = said(&[&["list", "operators"], &add[..]].concat(), 0);
    assert!(listed.contains("made.pick_rows") && listed.contains("tf.gather_nd"), "{listed}");
    assert!(said(&[&["show", "made.pick_rows"], &add[..]].concat(), 0).contains("made.pick_rows.depth.some"));
    let call = "made.pick_rows(where=[[1], [0]], table=[[1, 2], [3, 4]]:f32)";
    let asked = said(&[&["ask", call, "--backend", "optimized"], &add[..]].concat(), 0);
    assert!(asked.contains("optimized 0.1.0  pass  f32 [2] [2.0, 3.0]"), "{asked}");
    let file = format!("{MADE_UP}/operators/made/pick_rows/clauses.yaml");
    assert!(said(&[&["check", &file], &add[..]].concat(), 0).contains("clauses.yaml: 2 clauses"));
    let laws = ["fuzz", "--backend", "optimized", "--laws", "--cases", "50", "--operator", "made.*"];
    assert!(said(&[&laws, &add[..]].concat(), 0).contains("nothing found"));
    let run = ["run", "--operator", "made.pick_rows", "--campaign", "400"];
    let served = ["--", program, "serve", "optimized"];
    for backend in [&["--backend", "optimized"][..], &served] {
        // The options of the command of the backend come last.
        let text = said(&[&run[..], &add, backend, if backend[0] == "--" { &add } else { &[] }].concat(), 0);
        let ending = "everything conforms; without a reference, drawn calls of made.pick_rows are checked by laws only";
        assert!(
            text.contains("0 drawn calls compared") && text.replace("\n  ", " ").contains(ending),
            "{text}"
        );
    }
    // What the reference answers is compared as before.
    let text =
        said(&[&["run", "-q", "--operator", "torch.take", "--backend", "optimized"], &add[..]].concat(), 0);
    assert!(text.trim_end().ends_with("everything conforms"), "{text}");
}

#[test]
fn a_line_that_repeats_a_failure_names_the_added_folder() {
    let place = tempfile::tempdir().unwrap();
    let case = ["--case", "made.pick_rows/picking/one-shared-axis-by-default"];
    let run = ["run", "--spec-add", MADE_UP, "--backend", "optimized", "--max-output", "1", "--out", "one"];
    let (status, said) = gatherspec(place.path(), &[&run[..], &case].concat());
    assert_eq!(status, Some(1), "{said}");
    let report: Value =
        serde_json::from_slice(&fs::read(place.path().join("one/report.json")).unwrap()).unwrap();
    let sources = &report["backends"][0]["sources"];
    assert_eq!(sources[0], format!("--spec-add {MADE_UP}"), "{sources}");
    let line = said.replace(" \\\n            ", "");
    assert!(line.contains(&format!("gatherspec run --spec-add {MADE_UP} --max-output 1")), "{said}");
    // Pictures show what follows from the signature, since there is no reference.
    let (status, said) =
        gatherspec(place.path(), &["show", case[1], "--spec-add", MADE_UP, "--svg", "case.svg"]);
    assert_eq!(status, Some(0), "{said}");
    let picture = fs::read_to_string(place.path().join("case.svg")).unwrap();
    let page = fs::read_to_string(place.path().join("one/report.html")).unwrap();
    // Of row 0 the second element, of row 1 the one before the last: the first.
    for drawn in [picture, page] {
        assert!(drawn.contains("output: u8 [2] [11, 20]"), "{drawn}");
        assert!(!drawn.contains("is not implemented"), "{drawn}");
    }
}

#[test]
fn an_id_that_both_folders_have_is_an_error_that_names_both_files() {
    let here = |path: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let documents = fs::read_to_string(format!("{MADE_UP}/documents.yaml")).unwrap();
    let question = "schema: 1\nquestions:\n  - id: minus-one\n    question: What?\n    family: { take: bad-index/minus-one }\n";
    let erratum = fs::read_to_string(here("../spec/errata.yaml")).unwrap();
    let operator = fs::read_to_string(here("../spec/operators/numpy/take/operator.yaml")).unwrap();
    let family = fs::read_to_string(here("../spec/families/take/clauses.yaml")).unwrap();
    let table = [
        (
            "operators/numpy/take/operator.yaml",
            operator,
            "the operator `numpy.take` is already in built-in:operators/numpy/take/operator.yaml",
        ),
        (
            "operators/numpy/take/mode.yaml",
            String::new(),
            "there is already built-in:operators/numpy/take/mode.yaml",
        ),
        (
            "families/take/clauses.yaml",
            family,
            "the family `take` is already in built-in:families/take/clauses.yaml",
        ),
        (
            "documents.yaml",
            documents.replace("made-pick-rows", "tf-gather-nd"),
            "the document `tf-gather-nd` is already in built-in:documents.yaml",
        ),
        ("errata.yaml", erratum, "is already in built-in:errata.yaml"),
        (
            "questions.yaml",
            question.to_owned(),
            "the question `minus-one` is already in built-in:questions.yaml",
        ),
    ];
    for (file, text, said) in &table {
        let place = tempfile::tempdir().unwrap();
        write(place.path(), file, text);
        let wrong = Specification::with_added(None, place.path(), &Wanted::None).unwrap_err();
        let shown = wrong[0].to_string();
        assert!(shown.contains(said) && shown.contains(place.path().to_str().unwrap()), "{file}: {shown}");
    }
    let twice =
        Specification::with_added(Some(Path::new(MADE_UP)), Path::new(MADE_UP), &Wanted::Usual).unwrap_err();
    let both = format!("is already in {MADE_UP}/operators/made/pick_along/operator.yaml");
    assert!(twice.iter().any(|one| one.to_string().contains(&both)), "{}", twice[0]);
    let empty = tempfile::tempdir().unwrap();
    let wrong = Specification::with_added(None, empty.path(), &Wanted::None).unwrap_err();
    assert!(wrong[0].to_string().contains("this folder has nothing to add"), "{}", wrong[0]);
}

/// The operator of `OPERATOR.md` beside those of a folder, with the families of another: those of the specification.
#[test]
fn the_operator_of_the_page_may_be_added_to_a_folder_and_takes_the_cases_of_its_families() {
    let place = tempfile::tempdir().unwrap();
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("OPERATOR.md")).unwrap();
    let files = files_of(&page);
    assert_eq!(files.len(), 5, "{files:?}");
    files.iter().for_each(|(name, text)| write(place.path(), name, text));
    let own = place.path().join("own");
    let spec = Specification::with_added(None, &own, &Wanted::Of(vec!["mylib.pick"]));
    let spec = spec.unwrap_or_else(|wrong| panic!("{}", wrong[0]));
    let cases = spec.cases.iter().filter(|case| case.operator().as_str() == "mylib.pick");
    let (family, alone): (Vec<_>, Vec<_>) = cases.partition(|case| case.family.is_some());
    assert!(family.len() > 40 && alone.len() == 1, "{} of a family, {} others", family.len(), alone.len());
    let names = spec.operators.iter().map(|one| one.operator.as_str());
    assert!(names.is_sorted(), "operators are in the order of their names");
    // Without the families that it maps its clauses to, it cannot be read.
    let wrong = Specification::with_added(Some(Path::new(MADE_UP)), &own, &Wanted::None).unwrap_err();
    assert!(wrong[0].to_string().contains("there is no family `take`"), "{}", wrong[0]);
}
