//! What commands make of the report of an earlier run: compare with it, repeat what failed; and the choice of
//! cases that goes with that.

use std::path::Path;

use assert_cmd::Command;
use serde_json::{Value, json};

/// Four cases, each of which expects what the reference does not do.
const WRONG: [&str; 4] = ["run", "--cases", "cases/wrong.yaml", "--backend"];

/// Standard output and standard error of a command, which must end with the given status.
fn texts(arguments: &[&str], status: i32) -> (String, String) {
    let mut command = Command::cargo_bin("gatherspec").unwrap();
    command.args(arguments).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).env_remove("NO_COLOR");
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(status), "{out}{err}");
    (out, err)
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// The report of a run of the wrong cases on the reference, and its folder.
fn report() -> (tempfile::TempDir, Value) {
    let folder = tempfile::tempdir().unwrap();
    texts(&[&WRONG[..], &["reference", "--out", folder.path().to_str().unwrap()]].concat(), 1);
    let report = read(&folder.path().join("report.json"));
    (folder, report)
}

/// A file beside a report.
fn write(folder: &tempfile::TempDir, report: &Value) -> String {
    let path = folder.path().join("altered.json");
    std::fs::write(&path, report.to_string()).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_baseline_leaves_only_what_changed() {
    let (folder, report) = report();
    let out = folder.path().join("now");
    let run = |baseline: &Value, status| {
        let file = write(&folder, baseline);
        let options = ["reference", "--out", out.to_str().unwrap(), "--baseline", &file];
        texts(&[&WRONG[..], &options].concat(), status)
    };
    let (same, _) = run(&report, 0);
    let nothing = "reference 0.1.0 against reference 0.1.0 (suite 0.1.0): 0 new failures, 0 fixed, 0 changed, 0 new cases, 0 gone";
    assert!(same.starts_with(&format!("{nothing}\nreports: ")), "{same}");

    // Before, the first case passed, the second had another verdict, the third did not exist, and one more did.
    let mut before = report.clone();
    before["backends"][0]["backend"]["version"] = "0.0.9".into();
    let results = before["backends"][0]["results"].as_array_mut().unwrap();
    results[0]["verdict"] = "pass".into();
    results[1]["verdict"] = "crash".into();
    results[2]["id"] = "tf.gather_nd/wrong/gone".into();
    let (text, _) = run(&before, 1);
    for words in [
        "wrong-output tf.gather_nd/wrong/another-output on reference",
        "rejected-good-input tf.gather_nd/wrong/an-output-where-there-is-none on reference",
        "  changed    1: tf.gather_nd/wrong/an-error-where-there-is-none (crash, now accepted-bad-input)",
        "  gone       1: tf.gather_nd/wrong/gone",
        "against reference 0.0.9 (suite 0.1.0): 2 new failures, 0 fixed, 1 changed, 0 new cases, 1 gone",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    assert_eq!(text.matches("\n  reproduce ").count(), 2, "{text}");
    let file = write(&folder, &before);
    let quiet = ["reference", "--out", out.to_str().unwrap(), "--quiet", "--baseline", &file];
    let (quiet, _) = texts(&[&WRONG[..], &quiet].concat(), 1);
    assert!(quiet.lines().count() == 1 && text.contains(&quiet), "{quiet}");

    // What failed before and passes now is fixed, and that is no failure.
    let mut before = report.clone();
    before["backends"][0]["problems"] = json!(["gone"]);
    let case = "tf.gather_nd/documented/rows-of-a-matrix";
    let one = ["run", "--case", case, "--backend", "reference", "--out", out.to_str().unwrap()];
    texts(&one, 0);
    let mut failed = read(&out.join("report.json"));
    failed["backends"][0]["results"][0]["verdict"] = "wrong-output".into();
    let (text, _) = texts(&[&one[..], &["--baseline", &write(&folder, &failed)]].concat(), 0);
    assert!(
        text.contains(&format!("  fixed      1: {case}\n")) && text.contains("0 new failures, 1 fixed"),
        "{text}"
    );
}

#[test]
fn a_baseline_that_cannot_be_compared_is_an_error() {
    let (folder, report) = report();
    let out = folder.path().join("now");
    let said = |backend: &str, file: &str| {
        let options = [backend, "--out", out.to_str().unwrap(), "--baseline", file];
        texts(&[&WRONG[..], &options].concat(), 2).1
    };
    let file = write(&folder, &report);
    assert!(
        said("optimized", &file)
            .contains("the baseline is of another backend: it holds reference, and not optimized")
    );
    assert!(said("reference", "suite.rs").contains("suite.rs: this is no report of a run: "));
    assert!(said("reference", "no-such.json").contains("no-such.json: "));
    let mut another = report.clone();
    another["schema"] = 9.into();
    let file = write(&folder, &another);
    assert!(said("reference", &file).contains("this report has schema 9, and 2 is expected"));
    another["schema"] = 2.into();
    another["backends"][0]["results"][0]["verdict"] = "odd".into();
    assert!(
        said("reference", &write(&folder, &another))
            .contains("this report is damaged: unknown variant `odd`")
    );
}

#[test]
fn what_failed_is_run_again_until_nothing_does() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let run = |more: &[&str], status| {
        texts(&[&["run", "--backend", "reference", "--out", out, "--cases"], more].concat(), status)
    };
    let case = "tf.gather_nd/documented/rows-of-a-matrix";
    let (_, said) = run(&["cases/wrong.yaml", "--failed"], 2);
    assert!(said.contains("--failed reads the report of the last run"), "{said}");
    run(&["cases/wrong.yaml", "--case", "*/another-*"], 1);
    let (text, _) = run(&["cases/wrong.yaml", "--failed", "--quiet"], 1);
    assert_eq!(text, "reference 0.1.0  2 of 2 cases asked: 2 verdicts do not conform\n");
    texts(&["run", "--backend", "reference", "--out", out, "--case", case], 0);
    let (text, _) = run(&["cases/wrong.yaml", "--failed"], 0);
    assert!(text.starts_with("nothing to run: no case failed in "), "{text}");
}

#[test]
fn a_run_stops_at_its_first_failure() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let options = ["--out", out, "--jobs", "1", "--fail-fast"];
    let (text, _) = texts(&[&WRONG[..], &["reference", "--backend", "optimized"], &options].concat(), 1);
    assert!(text.contains("stopped at the first failure: 1 case was asked"), "{text}");
    assert!(text.contains("reference 0.1.0  1 of 1 case asked: 1 verdict does not conform"), "{text}");
    assert_eq!(read(&folder.path().join("report.json"))["backends"].as_array().unwrap().len(), 1);
    // A program has calls in flight; those after the failure have no result.
    let program = env!("CARGO_BIN_EXE_gatherspec");
    let case = ["run", "--cases", "cases/wrong.yaml"];
    let (text, _) = texts(&[&case[..], &options, &["--", program, "serve", "reference"]].concat(), 1);
    assert!(text.contains("stopped at the first failure: "), "{text}");
    assert!(!text.contains("protocol-error") && !text.contains("`stop` was ignored"), "{text}");
    let report = read(&folder.path().join("report.json"));
    assert_eq!(report["backends"][0]["summary"]["failures"], 1, "{text}");
    // Nothing stops what does not fail.
    let case =
        ["run", "--case", "tf.gather_nd/documented/*", "--backend", "reference", "--backend", "optimized"];
    assert!(!texts(&[&case[..], &options].concat(), 0).0.contains("stopped"));
}

#[test]
fn cases_are_chosen_by_clause_and_read_from_files() {
    above_quick!();
    let list = |more: &[&str]| texts(&[&["list", "cases"], more].concat(), 0).0.lines().count();
    let clause = "tf.gather_nd.shape.slices";
    let (text, _) = texts(&["list", "cases", "--clause", clause, "--format", "json"], 0);
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert!(
        !cases.is_empty()
            && cases.iter().all(|case| case["clauses"].as_array().unwrap().contains(&clause.into()))
    );
    assert!(list(&["--clause", "tf.gather_nd.shape.*"]) > cases.len());
    assert_eq!(list(&["--cases", "cases/wrong.yaml"]), 4);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let (text, _) = texts(&["run", "--clause", clause, "--backend", "reference", "--out", out], 0);
    assert!(text.contains(&format!(" {} of {} cases asked", cases.len(), cases.len())), "{text}");
    let (_, said) = texts(&["run", "--clause", "no.such.clause"], 2);
    assert!(said.contains("--clause `no.such.clause` matches no clause"), "{said}");
}

#[test]
fn what_is_shown_is_an_object_too() {
    let show = |arguments: &[&str]| -> Value {
        serde_json::from_str(&texts(&[&["show", "--format", "json"], arguments].concat(), 0).0).unwrap()
    };
    let case = show(&["--cases", "cases/wrong.yaml", "tf.gather_nd/wrong/another-output"]);
    assert_eq!(
        case["operands"]["indices"],
        json!({ "dtype": "i32", "shape": [2, 1], "data": "AQAAAAAAAAA=" })
    );
    assert_eq!(case["expect"][0]["allowed"], "f32 [2, 3] [[4.0, 5.0, nan(0x7fc00001)], [1.0, 2.0, 3.0]]");
    let clause = show(&["tf.gather_nd.shape.slices"]);
    assert!(clause["cases"].as_array().unwrap().contains(&"tf.gather_nd/documented/rows-of-a-matrix".into()));
    let operator = show(&["tf.gather"]);
    assert!(
        operator["clauses"].as_array().unwrap().len() > 5 && operator["signature"]["operator"] == "tf.gather"
    );
    assert!(
        texts(&["show", "--cases", "cases/wrong.yaml", "tf.gather_nd/wrong/another-output"], 0)
            .0
            .contains("nan(0x7fc00001)")
    );
}

#[test]
fn colours_are_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let run = ["run", "--case", "tf.gather_nd/documented/*", "--backend", "reference", "--out", out];
    let coloured = |more: &[&str]| texts(&[&run[..], more].concat(), 0).0.contains("\u{1b}[32m");
    assert!(coloured(&["--color", "always"]) && coloured(&["--color=always"]));
    assert!(!coloured(&["--color", "never"]) && !coloured(&[]));
    assert!(texts(&["run", "--color", "always", "--no-such"], 2).1.contains("\u{1b}["));
}

/// The properties of https://shields.io/badges/endpoint-badge: which are required, and what the others may be.
fn assert_badge(badge: &Value) {
    let known = [
        "schemaVersion",
        "label",
        "message",
        "color",
        "labelColor",
        "isError",
        "namedLogo",
        "logoSvg",
        "logoColor",
        "logoWidth",
        "logoPosition",
        "style",
        "cacheSeconds",
    ];
    let keys = badge.as_object().unwrap();
    assert!(keys.keys().all(|key| known.contains(&key.as_str())), "{badge}");
    assert_eq!(badge["schemaVersion"], 1);
    assert!(
        badge["label"].is_string() && badge["message"].as_str().is_some_and(|text| !text.is_empty()),
        "{badge}"
    );
    let colours = ["brightgreen", "green", "yellowgreen", "yellow", "orange", "red", "blue", "lightgrey"];
    assert!(colours.contains(&badge["color"].as_str().unwrap()) && badge["isError"].is_boolean(), "{badge}");
}

#[test]
fn every_backend_has_a_badge() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let badge = |name: &str| {
        let badge = read(&folder.path().join(format!("badge-{name}.json")));
        assert_badge(&badge);
        (
            badge["label"].as_str().unwrap().to_owned(),
            badge["message"].as_str().unwrap().to_owned(),
            badge["color"].clone(),
        )
    };
    let case = ["run", "--case", "tf.gather_nd/documented/*", "--out", out, "--backend", "reference"];
    let twice = ["--backend", "reference:bad=zero", "--", "/no/such/program"];
    texts(&[&case[..], &twice].concat(), 3);
    let right = ("gatherspec: reference 0.1.0".to_owned(), "16 cases pass".to_owned(), "brightgreen".into());
    assert_eq!([badge("reference"), badge("reference-2")], [right.clone(), right]);
    let (label, message, colour) = badge("-no-such-program");
    assert_eq!(
        (label.as_str(), message.as_str(), colour),
        ("gatherspec: /no/such/program", "not run", "lightgrey".into())
    );
    texts(&[&WRONG[..], &["reference", "--out", out]].concat(), 1);
    let (_, message, colour) = badge("reference");
    assert_eq!((message.as_str(), colour), ("4 failing", "red".into()));
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let folder = tempfile::tempdir().unwrap();
    texts(&["man", "--out", folder.path().to_str().unwrap()], 0);
    let (help, _) = texts(&["--help"], 0);
    let commands = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = commands.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<&str> =
        names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect();
    assert!(names.len() > 10, "{help}");
    for name in names {
        let page = std::fs::read_to_string(folder.path().join(format!("gatherspec-{name}.1"))).unwrap();
        assert!(page.contains(".TH") && page.contains("Exit status") && page.contains("Examples"), "{page}");
        assert_eq!(texts(&["man", name], 0).0, page);
        let (help, _) = texts(&[name, "--help"], 0);
        assert!(help.contains("\nExamples:\n") && help.contains("\nExit status:\n"), "{help}");
    }
    assert!(texts(&["man"], 0).0.contains("gatherspec\\-run(1)"));
    assert!(texts(&["man", "no-such"], 2).1.contains("there is no command `no-such`"));
}
