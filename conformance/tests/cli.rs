//! The command line as a user meets it: texts in snapshots, statuses, files.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use assert_cmd::Command;
use serde_json::Value;

fn gatherspec(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("gatherspec").unwrap();
    command
        .args(arguments)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"))
        .env_remove("GATHERSPEC_LEVEL");
    command
}

/// Standard output and standard error of a run, which must end with the given status.
fn texts(arguments: &[&str], status: i32) -> (String, String) {
    let output = gatherspec(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(status), "{out}{err}");
    (out, err)
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&texts(arguments, 0).0).unwrap()
}

#[test]
fn help_of_every_command() {
    for command in ["", "run", "list", "show", "serve", "check", "completions"] {
        let arguments: Vec<&str> = [command, "--help"].into_iter().filter(|part| !part.is_empty()).collect();
        insta::assert_snapshot!(format!("help-{command}"), texts(&arguments, 0).0);
    }
}

#[test]
fn the_matrix_of_one_operator() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let (text, _) =
        texts(&["run", "--case", "paddle.gather_nd/documented/*", "--backend", "reference", "--out", out], 0);
    insta::with_settings!({ filters => vec![(out, "[folder]")] }, { insta::assert_snapshot!(text) });
}

#[test]
fn a_failure_says_all_that_is_needed_to_mend_and_to_reproduce_it() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let (text, _) = texts(&["run", "--cases", "cases/wrong.yaml", "--backend", "reference", "--out", out], 1);
    insta::with_settings!({ filters => vec![(out, "[folder]")] }, { insta::assert_snapshot!(text) });
    let markdown = std::fs::read_to_string(folder.path().join("report.md")).unwrap();
    insta::assert_snapshot!("report-markdown", markdown);
    let junit = std::fs::read_to_string(folder.path().join("report.xml")).unwrap();
    insta::with_settings!({ filters => vec![(r#"uuid="[^"]*""#, r#"uuid="…""#)] }, { insta::assert_snapshot!("report-junit", junit) });
    let report: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("report.json")).unwrap()).unwrap();
    insta::assert_snapshot!("report-json", serde_json::to_string_pretty(&report).unwrap());
}

#[test]
fn a_policy_that_the_documents_do_not_permit_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let backend = "reference:bad_index=clamp,negative_index=wrap";
    let (text, _) = texts(&["run", "--backend", backend, "--operator", "tf.gather", "--out", out], 0);
    assert!(text.contains("tf.gather declares bad_index=clamp, which its documents do not permit"), "{text}");
    assert!(
        text.contains("tf.gather declares negative_index=wrap, which its documents do not permit"),
        "{text}"
    );
}

#[test]
fn a_case_and_a_clause_are_shown() {
    insta::assert_snapshot!("show-case", texts(&["show", "tf.gather_nd/documented/rows-of-a-matrix"], 0).0);
    insta::assert_snapshot!("show-clause", texts(&["show", "tf.gather_nd.shape.slices"], 0).0);
    let (_, error) = texts(&["show", "tf.gather_nd/documented/rows-of"], 2);
    assert!(error.contains("did you mean tf.gather_nd/documented/rows-of-a-matrix"), "{error}");
}

#[test]
fn lists_are_json_arrays_of_objects() {
    let keys = |what: &str| {
        let list = json(&["list", what, "--format", "json"]);
        let first = list.as_array().unwrap()[0].as_object().unwrap().clone();
        first.keys().cloned().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(keys("cases"), "basis clauses documented history id operator provenance");
    assert_eq!(keys("clauses"), "accepting basis id rejecting text");
    assert_eq!(keys("operators"), "cases documents dtypes id profile summary");
    assert!(keys("backends").starts_with("id "));
    assert_eq!(keys("documents"), "address attribution date id licence sections sha256 title");
}

#[test]
fn the_suite_has_the_size_that_it_promises() {
    let cases = json(&["list", "cases", "--format", "json"]);
    let cases = cases.as_array().unwrap();
    let documented: Vec<&str> = cases.iter().filter_map(|case| case["documented"].as_str()).collect();
    let unique: std::collections::BTreeSet<&str> = documented.iter().copied().collect();
    assert_eq!((documented.len(), unique.len()), (57, 57));
    let ids = cases.iter().map(|case| case["id"].as_str().unwrap());
    let written: std::collections::BTreeSet<&str> = ids.map(|id| id.split('[').next().unwrap()).collect();
    assert!(written.len() >= 250 && cases.len() >= 600, "{} written, {} in all", written.len(), cases.len());
}

#[test]
fn cases_are_chosen_by_id_glob_operator_and_basis() {
    let count = |arguments: &[&str]| {
        let list = json(&[&["list", "cases", "--format", "json"], arguments].concat());
        list.as_array().unwrap().len()
    };
    assert_eq!(count(&["--case", "tf.gather_nd/documented/rows-of-a-matrix"]), 1);
    // An id with dtypes behind it is found as it stands, although brackets mean something else in a glob.
    assert_eq!(count(&["--case", "paddle.gather_nd/dtypes/numbers[i32,i64]"]), 1);
    assert_eq!(count(&["--case", "paddle.gather_nd/dtypes/numbers"]), 8);
    assert_eq!(count(&["--case", "*/documented*/*"]), 57);
    assert!(count(&["--basis", "documented"]) < count(&["--basis", "derived"]));
    assert_eq!(count(&["--basis", "ruling"]), count(&[]));
}

#[test]
fn wrong_usage_ends_with_status_2_and_says_what_would_be_right() {
    let said = |arguments: &[&str]| texts(arguments, 2).1;
    assert!(said(&["run", "--backend", "tensorflaw"]).contains("one of reference"));
    assert!(said(&["run", "--backend", "reference:bad_index=ignore"]).contains("error zero clamp"));
    assert!(said(&["run", "--backend", "reference:speed=9"]).contains("bad_index=… or negative_index=…"));
    assert!(said(&["run", "--case", "no/such/case"]).contains("gatherspec list cases"));
    assert!(said(&["run", "--operator", "onnx.Gather"]).contains("gatherspec list operators"));
    assert!(said(&["run", "--basis", "rumour"]).contains("documented, derived or ruling"));
    assert!(said(&["serve", "reference", "--bad-index", "unspecified"]).contains("error zero clamp"));
    assert!(said(&["run", "--cases", "no-such-file.yaml"]).contains("no-such-file.yaml"));
    assert!(said(&["check", "cli.rs"]).contains("cli.rs"));
    assert!(said(&["list", "cases", "--spec", "no-such-folder"]).contains("no-such-folder"));
}

#[test]
fn a_page_that_has_changed_names_the_clauses_to_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.txt");
    std::fs::write(&page, "tf.gather is something else now").unwrap();
    let (text, _) = texts(&["check", "--document", "paddle-gather-nd", page.to_str().unwrap()], 1);
    let spec = gather_spec::Specification::embedded().unwrap();
    let (own, others): (Vec<_>, Vec<_>) = spec
        .clauses
        .iter()
        .partition(|clause| clause.sources.iter().any(|source| source.document == "paddle-gather-nd"));
    assert!(!own.is_empty() && own.iter().all(|clause| text.contains(&clause.id)), "{text}");
    assert!(others.iter().all(|clause| !text.contains(&format!("    {}\n", clause.id))), "{text}");
    assert!(texts(&["check", "--document", "no-page", "cli.rs"], 2).1.contains("tf-gather-nd-2.0"));
}

#[test]
fn nothing_is_coloured_where_there_is_no_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let (text, error) =
        texts(&["run", "--case", "*/documented/*", "--out", folder.path().to_str().unwrap()], 0);
    assert!(!text.contains('\u{1b}') && error.is_empty(), "{text}{error}");
}
