//! The command line as a user meets it: texts in snapshots, statuses, files.

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
    for command in [
        "",
        "run",
        "list",
        "show",
        "ask",
        "serve",
        "fuzz",
        "bench",
        "merge",
        "check",
        "mutants",
        "header",
        "man",
        "completions",
    ] {
        let arguments: Vec<&str> = [command, "--help"].into_iter().filter(|part| !part.is_empty()).collect();
        insta::assert_snapshot!(format!("help-{command}"), texts(&arguments, 0).0);
    }
}

#[test]
fn what_the_examples_of_help_show_is_there() {
    let help = texts(&["--help"], 0).0 + &texts(&["show", "--help"], 0).0;
    let lines = help.lines().filter_map(|line| line.strip_prefix("  gatherspec show "));
    // A folder of cases would be the user's.
    let lines: Vec<&str> = lines.filter(|line| !line.starts_with("--cases")).collect();
    assert!(lines.len() > 3, "{help}");
    for line in lines {
        // What it is for stands behind two spaces.
        let words =
            line.split("  ").next().unwrap_or_default().split(' ').map(|word| word.trim_matches('\''));
        texts(&std::iter::once("show").chain(words).collect::<Vec<_>>(), 0);
    }
}

/// The program of a user who has no checkout must hold the header of its own version, byte for byte.
#[test]
fn the_header_of_the_c_interface_is_printed_as_it_stands() {
    assert_eq!(texts(&["header"], 0).0, include_str!("../../include/gatherspec.h"));
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
    let times = vec![(r#"time="[^"]*""#, r#"time="…""#), (r#""duration": [0-9.e-]+"#, r#""duration": "…""#)];
    insta::with_settings!({ filters => times.clone() }, { insta::assert_snapshot!("report-junit", junit) });
    let report: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("report.json")).unwrap()).unwrap();
    let report = serde_json::to_string_pretty(&report).unwrap();
    insta::with_settings!({ filters => times }, { insta::assert_snapshot!("report-json", report) });
}

#[test]
fn a_policy_that_the_documents_do_not_permit_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let backend = "reference:bad=clamp,negative=wrap";
    let (text, _) = texts(&["run", "--backend", backend, "--operator", "tf.gather", "--out", out], 0);
    assert!(text.contains("tf.gather declares bad=clamp, which its documents do not permit"), "{text}");
    assert!(text.contains("tf.gather declares negative=wrap, which its documents do not permit"), "{text}");
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
    above_quick!();
    let keys = |what: &str| {
        // All cases are tens of megabytes.
        let few: &[&str] = if what == "cases" { &["--operator", "torch.take"] } else { &[] };
        let list = json(&[&["list", what, "--format", "json"], few].concat());
        let first = list.as_array().unwrap()[0].as_object().unwrap().clone();
        first.keys().cloned().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(keys("cases"), "basis clauses documented family history id operator provenance runs");
    assert_eq!(keys("clauses"), "accepting basis id rejecting text");
    assert_eq!(keys("operators"), "cases documents id signature summary");
    assert!(keys("backends").starts_with("id "));
    assert_eq!(keys("documents"), "address attribution date id licence sections sha256 title");
}

#[test]
fn cases_are_chosen_by_id_glob_operator_and_basis() {
    let count = |arguments: &[&str]| {
        let list = json(&[&["list", "cases", "--format", "json"], arguments].concat());
        list.as_array().unwrap().len()
    };
    assert_eq!(count(&["--case", "tf.gather_nd/documented/rows-of-a-matrix"]), 1);
    // Brackets choose runs. A list of cases says how many runs each case has.
    assert_eq!(count(&["--case", "paddle.gather_nd/dtypes/numbers[i32,i64]"]), 1);
    let numbers = json(&["list", "cases", "--format", "json", "--case", "paddle.gather_nd/dtypes/numbers"]);
    assert_eq!((numbers.as_array().unwrap().len(), &numbers[0]["runs"]), (1, &8.into()));
    let documented = crate::embedded().cases.iter().filter(|case| case.documented.is_some()).count();
    assert_eq!(count(&["--case", "*/documented*/*"]), documented);
    let of_both = count(&["--operator", "torch.take"]) + count(&["--operator", "torch.take_along_dim"]);
    assert_eq!(count(&["--operator", "torch.take*"]), of_both);
    let of_one = |basis: &[&str]| count(&[&["--operator", "paddle.gather_nd"], basis].concat());
    assert!(of_one(&["--basis", "documented"]) < of_one(&["--basis", "derived"]));
    assert_eq!(of_one(&["--basis", "ruling"]), of_one(&[]));
}

#[test]
fn wrong_usage_ends_with_status_2_and_says_what_would_be_right() {
    let said = |arguments: &[&str]| texts(arguments, 2).1;
    assert!(said(&["run", "--backend", "tensorflaw"]).contains("one of reference"));
    assert!(said(&["run", "--backend", "reference:bad=ignore"]).contains("error zero clamp"));
    let modulo = said(&["run", "--backend", "reference:bad=modulo"]);
    assert!(modulo.contains("only the mode of a call chooses `modulo`"), "{modulo}");
    assert!(said(&["run", "--backend", "reference:speed=9"]).contains("bad=… or negative=…"));
    assert!(said(&["run", "--case", "no/such/case"]).contains("gatherspec list cases"));
    assert!(said(&["run", "--operator", "onnx.Gather"]).contains("gatherspec list operators"));
    assert!(said(&["run", "--basis", "rumour"]).contains("one of documented derived ruling"));
    assert!(
        said(&["serve", "reference", "--bad", "unspecified"])
            .contains("[possible values: error, zero, clamp]")
    );
    assert!(said(&["run", "--cases", "no-such-file.yaml"]).contains("no-such-file.yaml"));
    assert!(said(&["check", "suite.rs"]).contains("suite.rs"));
    assert!(said(&["list", "cases", "--spec", "no-such-folder"]).contains("no-such-folder"));
}

#[test]
fn a_page_that_has_changed_names_the_clauses_to_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.txt");
    std::fs::write(&page, "tf.gather is something else now").unwrap();
    let (text, _) = texts(&["check", "--document", "paddle-gather-nd", page.to_str().unwrap()], 1);
    let spec = crate::embedded();
    let (own, others): (Vec<_>, Vec<_>) = spec
        .clauses
        .iter()
        .partition(|clause| clause.sources.iter().any(|source| source.document == "paddle-gather-nd"));
    assert!(!own.is_empty() && own.iter().all(|clause| text.contains(&clause.id)), "{text}");
    assert!(others.iter().all(|clause| !text.contains(&format!("    {}\n", clause.id))), "{text}");
    assert!(texts(&["check", "--document", "no-page", "suite.rs"], 2).1.contains("tf-gather-nd-2.0"));
}

#[test]
fn nothing_is_coloured_where_there_is_no_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let (text, error) =
        texts(&["run", "--case", "*/documented/*", "--out", folder.path().to_str().unwrap()], 0);
    assert!(!text.contains('\u{1b}') && error.is_empty(), "{text}{error}");
}

/// `run` on a served reference, as a stranger would start it.
fn run_served(options: &[&str], status: i32) -> (String, String) {
    let served = [env!("CARGO_BIN_EXE_gatherspec"), "serve", "reference", "--bad", "clamp"];
    texts(&[&["run"], options, &["--"], &served[..]].concat(), status)
}

#[test]
fn a_program_is_run_like_any_other_backend_and_its_deviations_are_strict_both_ways() {
    above_quick!();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let file = folder.path().join("deviations.yaml");
    let known = file.to_str().unwrap();
    let case = "tf.gather_nd/documented/rows-of-a-matrix";
    let run =
        |options: &[&str], status| run_served(&[&["--out", out, "--case", case], options].concat(), status);

    // A declared policy that the documents do not permit needs an entry with a reason.
    let (text, _) = run(&[], 1);
    assert!(text.contains("1 pass") && text.contains("a deviation with `profile: tf.gather_nd`"), "{text}");
    let profile = "schema: 2\nbackend: reference\ndeviations:\n  - { profile: '*', reason: it clamps }\n";
    std::fs::write(&file, profile).unwrap();
    let (text, _) = run(&["--deviations", known], 0);
    assert!(text.contains("which its documents do not permit: it clamps"), "{text}");

    // What is listed and does not occur.
    let with = |entry: &str| std::fs::write(&file, format!("{profile}  - {entry}\n")).unwrap();
    with(&format!("{{ case: {case}, verdict: crash, reason: it used to }}"));
    let (text, _) = run(&["--deviations", known], 1);
    assert!(text.contains(&format!("unexpected-pass {case}")), "{text}");
    with(&format!("{{ case: {case}, verdict: [crash, pass], reason: now and then }}"));
    run(&["--deviations", known], 0);

    // What is wrong with the file.
    with("{ case: tf.gather_nd/documented/no-such-case, verdict: crash, reason: it used to }");
    assert!(run(&["--deviations", known], 2).1.contains("matches no case"));
    with(&format!("{{ case: {case}, verdict: crash }}"));
    assert!(run(&["--deviations", known], 2).1.contains("has no reason"));
    with(&format!("{{ case: {case}, verdict: crush, reason: x }}"));
    run(&["--deviations", known], 2);
    std::fs::write(&file, "schema: 2\nbackend: another\ndeviations: []\n").unwrap();
    assert!(run(&["--deviations", known], 2).1.contains("not in this run"));
}

#[test]
fn a_deviation_keeps_what_it_covers_and_a_draft_covers_what_fails() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let file = folder.path().join("deviations.yaml");
    let known = file.to_str().unwrap();
    let own = ["--cases", "cases/wrong.yaml", "--out", out];
    run_served(&[&own[..], &["--write-deviations", known]].concat(), 1);
    let draft = std::fs::read_to_string(&file).unwrap();
    assert!(draft.contains("verdict: wrong-output\n    reason: \"\""), "{draft}");
    std::fs::write(&file, draft.replace("reason: \"\"", "reason: the case is wrong")).unwrap();
    let (text, _) = run_served(&[&own[..], &["--deviations", known]].concat(), 0);
    assert!(text.contains("known-deviation (wrong-output): the case is wrong"), "{text}");
    let report: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("report.json")).unwrap()).unwrap();
    let results = report["backends"][0]["results"].as_array().unwrap();
    let known = results.iter().find(|result| result["observed"] == "wrong-output").unwrap();
    assert_eq!(known["verdict"], "known-deviation");
    assert_eq!(known["reason"], "the case is wrong");
}

#[test]
fn departures_are_those_of_the_operators_of_the_run_and_are_drafted_with_their_reasons() {
    above_quick!();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (out, known, draft) = (path("out"), path("known.yaml"), path("draft.yaml"));
    let one = ["--case", "tf.gather_nd/documented/rows-of-a-matrix", "--out", &out];
    let run = |options: &[&str], status| run_served(&[&one[..], options].concat(), status).0;
    let drafted = || std::fs::read_to_string(&draft).unwrap().split_once("deviations:").unwrap().1.to_owned();

    let text = run(&["--write-deviations", &draft], 1);
    assert_eq!(text.matches(" declares bad=clamp").count(), 1, "{text}");
    assert_eq!(drafted(), "\n  # it declares bad=clamp\n  - profile: \"tf.gather_nd\"\n    reason: \"\"\n");

    // A reason that is known stays in the draft; one for operators outside the run is of no concern.
    let entries =
        "  - { profile: 'tf.gather_nd', reason: it clamps }\n  - { profile: 'paddle.*', reason: it does }\n";
    std::fs::write(&known, format!("schema: 2\ndeviations:\n{entries}")).unwrap();
    let text = run(&["--deviations", &known, "--write-deviations", &draft], 0);
    assert!(
        text.contains("tf.gather_nd declares bad=clamp, which its documents do not permit: it clamps"),
        "{text}"
    );
    assert!(!text.contains("tf.gather declares") && !text.contains("paddle"), "{text}");
    assert!(drafted().contains("- profile: \"tf.gather_nd\"\n    reason: \"it clamps\""), "{}", drafted());

    // A departure that does not occur needs no entry, so none is drafted. This served reference is not told to clamp.
    let (fresh, served) = (path("fresh.yaml"), env!("CARGO_BIN_EXE_gatherspec"));
    let options = ["--deviations", &known, "--write-deviations", &fresh, "--", served, "serve", "reference"];
    let (text, _) = texts(&[&["run"], &one[..], &options].concat(), 1);
    assert!(text.contains("unexpected-pass: the deviation `profile: tf.gather_nd` did not occur"), "{text}");
    assert!(std::fs::read_to_string(fresh).unwrap().ends_with("\ndeviations: []\n"));
}

#[test]
fn a_backend_that_cannot_be_started_ends_with_status_3_and_the_others_are_judged() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let case = "tf.gather_nd/documented/*";
    let run = ["run", "--out", out, "--case", case, "--backend", "reference", "--", "/no/such/program"];
    let (text, _) = texts(&run, 3);
    assert!(text.contains("/no/such/program cannot be started") && text.contains(" pass"), "{text}");
    // An adapter whose Python is not there: the message names it.
    let python = ["--python", "/no/such/python", "--backend", "numpy"];
    let (text, _) = texts(&[&["run", "--out", out, "--case", case], &python[..]].concat(), 3);
    assert!(text.contains("not run: numpy: /no/such/python cannot be started"), "{text}");
    assert!(texts(&["run", "--backend", "./no-such-program"], 2).1.contains("no such program"));
}

#[test]
#[cfg(unix)]
fn results_are_kept_of_every_program_whatever_it_calls_itself() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let kept = folder.path().join("kept");
    let spec = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/made_up");
    let options = ["--no-campaign", "--out", out, "--results", kept.to_str().unwrap()];
    let run = [&["run", "--spec", spec][..], &options].concat();
    let program = ["--", env!("CARGO_BIN_EXE_gatherspec"), "serve", "optimized", "--spec", spec];
    // Two of the same name and version: one file, and a word about it.
    let twin = folder.path().join("twin");
    std::fs::write(&twin, format!("#!/bin/sh\nexec '{}' serve optimized --spec '{spec}'\n", program[1]))
        .unwrap();
    std::fs::set_permissions(&twin, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let twin = ["--backend", twin.to_str().unwrap()];
    let (_, said) = texts(&[&run[..], &twin, &program].concat(), 0);
    let files = std::fs::read_dir(&kept).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(files.collect::<Vec<_>>(), [concat!("optimized-", env!("CARGO_PKG_VERSION"), ".json")]);
    // A run that takes long says how far it is.
    let said: Vec<&str> = said.lines().filter(|line| !line.ends_with(" left")).collect();
    assert!(said.len() == 1 && said[0].contains("in place of a backend of the same name"), "{said:?}");
    let (_, said) = texts(&[&run[..], &["--backend", "reference"]].concat(), 2);
    assert!(said.contains("--results needs a backend that is a program"), "{said}");
}

#[test]
fn the_whole_suite_goes_through_a_pipe() {
    above_quick!();
    let folder = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_gatherspec");
    let options =
        ["run", "--out", folder.path().to_str().unwrap(), "--no-campaign", "--jobs", "2", "--repeat", "2"];
    let files = ["--file-above", "4096", "--", program, "serve", "reference"];
    let (text, _) = texts(&[&options[..], &files[..]].concat(), 0);
    assert!(text.contains("everything conforms"), "{text}");
}

#[test]
fn a_campaign_asks_only_the_operators_that_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("fuzz.json");
    let fuzz = ["fuzz", "--backend", "optimized", "--operator", "tf.gather", "--cases", "400", "--report"];
    texts(&[&fuzz[..], &[report.to_str().unwrap()]].concat(), 0);
    let report: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    let counts = report["counts"].as_object().unwrap();
    assert!(counts["tf.gather"]["output"].as_u64().unwrap() > 0, "{counts:?}");
    for (operator, columns) in counts.iter().filter(|(operator, _)| *operator != "tf.gather") {
        assert!(columns.as_object().unwrap().keys().eq(["not chosen"]), "{operator}: {columns}");
    }
}

#[test]
fn a_campaign_on_a_program_runs_in_shards_that_are_joined_and_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let program = env!("CARGO_BIN_EXE_gatherspec");
    let fuzz = |shard: &str, report: &str, more: &[&str]| {
        let arguments = ["fuzz", "--cases", "900", "--shard", shard, "--report", report];
        let command = ["--", program, "serve", "optimized"];
        texts(&[&arguments[..], more, &command[..]].concat(), 0).0
    };
    let (one, two, whole) = (file("1.json"), file("2.json"), file("whole.json"));
    assert!(fuzz("1/2", &one, &[]).contains("450 cases of seed 1, shard 1/2"));
    fuzz("2/2", &two, &[]);
    let (joined, _) = texts(&["merge", &one, &two, "--out", &whole], 0);
    assert!(joined.contains("900 cases of seed 1") && joined.contains("nothing found"), "{joined}");
    // What is finished is left as it is.
    let before = std::fs::read(&one).unwrap();
    fuzz("1/2", &one, &["--resume"]);
    assert_eq!(std::fs::read(&one).unwrap(), before);

    assert!(texts(&["merge", &one], 2).1.contains("1 of 2 shards are missing: 2"));
    assert!(texts(&["merge", &one, &one, &two], 2).1.contains("are both shard 1/2"));
    let report = ["--report", one.as_str(), "--shard", "1/2", "--resume"];
    let other = [&["fuzz", "--backend", "optimized", "--cases", "900"][..], &report].concat();
    assert!(texts(&other, 2).1.contains("is the report of another campaign"));
    assert!(texts(&["fuzz", "--backend", "optimized", "--shard", "3/2"], 2).1.contains("3/2"));
}

/// Runs a command with nothing reading its standard output and standard error; returns its status.
fn unheard(arguments: &[&str]) -> Option<i32> {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_gatherspec"));
    command.args(arguments).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"));
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    child.wait().unwrap().code()
}

#[test]
fn a_reader_that_stops_does_not_change_how_a_campaign_ends() {
    above_quick!();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (report, corpus, right) = (file("fuzz.json"), file("corpus"), file("right.json"));
    std::fs::create_dir(&corpus).unwrap();
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/wrong.yaml"), file("corpus/wrong.yaml"))
        .unwrap();
    let fuzz = ["fuzz", "--backend", "reference", "--cases", "200"];
    assert_eq!(unheard(&[&fuzz[..], &["--report", &report, "--save", &corpus]].concat()), Some(1));
    assert_eq!(unheard(&["merge", &report]), Some(1));
    assert_eq!(unheard(&[&fuzz[..], &["--report", &right]].concat()), Some(0));
    assert_eq!(unheard(&["merge", &right]), Some(0));
    assert_eq!(unheard(&["merge", "no-such-file"]), Some(2));
    let without = ["mutants", "--operator", "paddle.gather_nd", "--suite", "smoke", "--without", "*"];
    assert_eq!(unheard(&without), Some(1), "no mutant is caught");
}

#[test]
fn arguments_of_campaigns_have_bounds_that_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("fuzz.json");
    let most = u64::MAX.to_string();
    let fuzz = |more: &[&str]| {
        let arguments = ["fuzz", "--backend", "optimized", "--report", report.to_str().unwrap()];
        texts(&[&arguments[..], more].concat(), 2).1
    };
    assert!(fuzz(&["--jobs", &most]).contains("expected a number from 1 to 1024"));
    assert!(fuzz(&["--cases", &most]).contains("is not in 0..=1152921504606846976"));
    assert!(fuzz(&["--shard", &format!("1/{most}")]).contains("is no shard"));
    assert!(fuzz(&["--cases", "9", "--time", "0"]).contains("no case was done before the time was up"));
    assert!(fuzz(&["--library", "suite.rs"]).contains("cannot be used with"));
}

#[test]
fn a_report_that_cannot_be_written_shows_before_anything_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let start = std::time::Instant::now();
    let (out, err) = texts(&["fuzz", "--backend", "optimized", "--time", "30", "--report", path], 2);
    assert!(err.starts_with(&format!("error: {path} cannot be written: ")), "{err}");
    assert!(out.is_empty() && start.elapsed().as_secs() < 15, "{out}");
}

/// The program removes the folder of the report, and what was found until then is printed.
#[cfg(unix)]
#[test]
fn what_was_found_is_printed_where_its_report_can_no_longer_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("place");
    let report = place.join("fuzz.json");
    let program = env!("CARGO_BIN_EXE_gatherspec");
    let lines = format!(
        "{program} serve reference | while read -r line; do rm -rf '{}'; echo \"$line\"; done",
        place.display()
    );
    let arguments =
        ["fuzz", "--cases", "300", "--checkpoint", "0", "--report", report.to_str().unwrap(), "--"];
    let (out, err) = texts(&[&arguments[..], &["sh", "-c", &lines]].concat(), 2);
    assert!(err.contains("fuzz.json cannot be written: ") && !err.contains("written: /"), "{err}");
    assert!(
        out.contains(" cases of seed 1, unfinished, ") || out.contains(" case of seed 1, unfinished, "),
        "{out}"
    );
}

#[test]
fn what_a_folder_holds_already_is_asked_before_anything_new_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let (report, corpus) = (folder.path().join("fuzz.json"), folder.path().join("corpus"));
    let (report, corpus) = (report.to_str().unwrap(), corpus.to_str().unwrap());
    let fuzz = |more: &[&str], status: i32| {
        let arguments =
            ["fuzz", "--backend", "reference", "--cases", "200", "--report", report, "--save", corpus];
        texts(&[&arguments[..], more].concat(), status)
    };
    let nothing = fuzz(&[], 0).0;
    assert!(!nothing.contains("saved before"), "{nothing}");

    std::fs::create_dir_all(corpus).unwrap();
    let cases = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/wrong.yaml");
    std::fs::copy(cases, format!("{corpus}/wrong.yaml")).unwrap();
    let (out, err) = fuzz(&[], 1);
    let told: Vec<&str> = err.lines().filter(|line| line.starts_with("still failing: ")).collect();
    assert!(!told.is_empty(), "{err}");
    assert!(out.contains(&format!("cases saved before: {} fail\n", told.len())), "{out}");
    assert!(out.contains("nothing found"), "what is drawn is right: {out}");
    let read: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    assert_eq!(read["corpus"]["failing"].as_array().unwrap().len(), told.len());
    // The result is repeated, but the case is not run again.
    std::fs::remove_file(format!("{corpus}/wrong.yaml")).unwrap();
    let (again, err) = fuzz(&["--resume"], 1);
    assert_eq!((again, err.as_str()), (out, ""));

    std::fs::write(format!("{corpus}/broken.yaml"), "cases: [").unwrap();
    assert!(fuzz(&[], 2).1.contains("broken.yaml:1"));
}
