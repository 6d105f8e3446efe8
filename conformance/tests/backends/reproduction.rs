//! The lines that `run` and `fuzz` print to repeat a case: each is run by a shell as it was printed, in the folder in
//! which it was printed, and the same case gets the same verdict. This program is both the tests and, told so by its
//! environment, the backends.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::miniatures::{MARK, MODE};
use crate::tiers::CALLS_OF_PASTED_LINES;

/// A case that each backend passes.
const RIGHT: &str = "tf.gather_nd/documented/rows-of-a-matrix";

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("run/a-built-in-backend-with-cases-of-its-own", a_built_in_backend),
    ("run/a-command", a_command),
    ("run/a-path-that-needs-quotes", a_path_that_needs_quotes),
    ("run/a-library", a_library),
    ("run/an-unexpected-pass-needs-the-deviations", an_unexpected_pass),
    ("run/only-the-deviations-of-the-backend-are-named", only_its_deviations),
    ("run/a-specification-of-its-own", a_specification),
    ("run/a-command-with-quotes", a_command_with_quotes),
    ("run/the-environment", the_environment),
    ("run/the-failed-cases-are-still-known", the_failed_cases_are_still_known),
    ("run/limits", limits),
    ("run/what-its-campaign-finds", what_a_campaign_finds),
    ("fuzz/nothing-is-saved", || fuzz(&[], false)),
    ("fuzz/what-is-found-is-saved", || fuzz(&[], true)),
    ("fuzz/laws", || fuzz(&["--laws"], false)),
];

/// A folder to run in, and the backend that this program is there.
struct RunFolder {
    folder: TempDir,
    mode: &'static str,
}

impl RunFolder {
    fn new(mode: &'static str) -> Self {
        let folder = Self { folder: tempfile::tempdir().unwrap(), mode };
        fs::copy(here("tests/cases/wrong.yaml"), folder.path("wrong cases.yaml")).unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs something in this folder, with `gatherspec` and this program, `miniature`, on the path.
    fn run(&self, mut command: Command) -> String {
        let bin = self.path("bin");
        if !bin.exists() {
            fs::create_dir(&bin).unwrap();
            let link = |file: &Path, name| std::os::unix::fs::symlink(file, bin.join(name)).unwrap();
            link(Path::new(env!("CARGO_BIN_EXE_gatherspec")), "gatherspec");
            link(&std::env::current_exe().unwrap(), "miniature");
        }
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", bin.display())).env(MODE, self.mode);
        command.env_remove("GATHERSPEC_LEVEL").current_dir(self.folder.path());
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command:?}\n{text}{said}");
        text
    }

    fn gatherspec(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gatherspec"));
        command.args(arguments);
        self.run(command)
    }

    /// Runs a line as a shell does; gives the verdicts.
    fn paste(&self, line: &str) -> BTreeMap<String, String> {
        let mut shell = Command::new("sh");
        shell.args(["-c", line]);
        self.run(shell);
        self.verdicts()
    }

    /// The verdicts of the last run, by case.
    fn verdicts(&self) -> BTreeMap<String, String> {
        let usual = self.path("gatherspec-report");
        let written = [usual.join("chosen/report.json"), usual.join("report.json")];
        let report = fs::read(written.iter().find(|path| path.is_file()).unwrap()).unwrap();
        let report: Value = serde_json::from_slice(&report).unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let backends = report["backends"].as_array().unwrap().iter();
        let results = backends.flat_map(|backend| backend["results"].as_array().unwrap());
        results.map(|result| (text(&result["id"]), text(&result["verdict"]))).collect()
    }

    /// Runs `gatherspec run` and pastes every line that it prints; gives the lines. One of them is for each failure.
    fn run_and_paste(&self, arguments: &[&str], failures: usize) -> Vec<String> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gatherspec"));
        command.arg("run").args(arguments);
        self.paste_lines_of(command, failures)
    }

    fn paste_lines_of(&self, command: Command, failures: usize) -> Vec<String> {
        let text = self.run(command);
        let before = self.verdicts();
        let lines = text.lines().filter(|line| line.contains("gatherspec run "));
        let lines = lines.map(|line| line.trim_start().trim_start_matches("reproduce").trim_start());
        let lines: Vec<String> = lines.map(str::to_owned).collect();
        assert_eq!(lines.len(), failures, "{text}");
        for line in &lines {
            let again = self.paste(line);
            let [(id, verdict)] = &again.iter().collect::<Vec<_>>()[..] else { panic!("{line}: {again:?}") };
            assert_eq!(before.get(*id), Some(*verdict), "{line}");
            assert_ne!(*verdict, "pass", "{line}");
        }
        lines
    }
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn a_built_in_backend() {
    let lines = RunFolder::new("").run_and_paste(
        &["--cases", "wrong cases.yaml", "--max-output", "65536", "--backend", "reference"],
        4,
    );
    let line = "gatherspec run --cases 'wrong cases.yaml' --max-output 65536 --backend reference --case ";
    assert!(lines[0].starts_with(line), "{}", lines[0]);
}

fn a_command() {
    let command = ["--", "gatherspec", "serve", "reference"];
    let options = ["--cases", "wrong cases.yaml", "--repeat", "2", "--jobs", "2"];
    let lines = RunFolder::new("").run_and_paste(&[&options[..], &command].concat(), 4);
    assert!(
        lines[0].starts_with("gatherspec run --cases 'wrong cases.yaml' --repeat 2 --case "),
        "{}",
        lines[0]
    );
    assert!(lines[0].ends_with("' -- gatherspec serve reference"), "{}", lines[0]);
}

fn a_command_with_quotes() {
    let script = r#"[ "$1" = "it's \"here\"; x" ] || exit 9; exec gatherspec serve reference"#;
    let command = ["--", "sh", "-c", script, "two words", r#"it's "here"; x"#];
    RunFolder::new("").run_and_paste(&[&["--cases", "wrong cases.yaml"], &command[..]].concat(), 4);
}

/// Without the variables the backend would not start.
fn the_environment() {
    let folder = RunFolder::new("");
    let script = r#"[ "$ASAN_OPTIONS$LD_PRELOAD" = "log_path=a blibm.so.6" ] || exit 9; exec gatherspec serve reference"#;
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatherspec"));
    command.args(["run", "--cases", "wrong cases.yaml", "--", "sh", "-c", script]);
    command.env("ASAN_OPTIONS", "log_path=a b").env("LD_PRELOAD", "libm.so.6");
    let lines = folder.paste_lines_of(command, 4);
    let set = "LD_PRELOAD=libm.so.6 ASAN_OPTIONS='log_path=a b' gatherspec run --cases ";
    assert!(lines[0].starts_with(set), "{}", lines[0]);
}

/// A line that repeats one case leaves the report of the whole run as it is.
fn the_failed_cases_are_still_known() {
    let folder = RunFolder::new("dies-at-strings");
    let text = folder.gatherspec(&[
        "run",
        "--basis",
        "documented",
        "--no-campaign",
        "--restarts",
        "1000",
        "--",
        "miniature",
    ]);
    let failed: BTreeMap<String, String> =
        folder.verdicts().into_iter().filter(|(_, verdict)| verdict == "crash").collect();
    assert!(failed.len() > 1, "{text}");
    let line = text.lines().find_map(|line| line.find("gatherspec run ").map(|at| &line[at..])).unwrap();
    assert_eq!(folder.paste(line).len(), 1, "{line}");
    fs::remove_dir_all(folder.path("gatherspec-report/chosen")).unwrap();
    folder.gatherspec(&["run", "--failed", "--restarts", "1000", "--", "miniature"]);
    assert_eq!(folder.verdicts(), failed);
}

fn a_path_that_needs_quotes() {
    let folder = RunFolder::new("");
    let script = folder.path("it's mine");
    fs::write(&script, "#!/bin/sh\nexec gatherspec serve reference\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    folder.run_and_paste(&["--cases", "wrong cases.yaml", "--backend", "./it's mine"], 4);
}

fn a_library() {
    let folder = RunFolder::new("");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let mut command = Command::new(&compiler);
    command.args(["-shared", "-fPIC", "-I"]).arg(here("include")).arg("-o").arg(folder.path("libmine.so"));
    let Ok(output) = command.arg(here("backends/c-example/gather.c")).output() else {
        println!("skipped: there is no C compiler {compiler}; CC names another");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder.run_and_paste(&["--cases", "wrong cases.yaml", "--library", "libmine.so"], 4);
}

/// Without the file the case would pass.
fn an_unexpected_pass() {
    let folder = RunFolder::new("");
    let known =
        format!("schema: 2\ndeviations:\n  - {{ case: {RIGHT}, verdict: crash, reason: it used to }}\n");
    fs::write(folder.path("known.yaml"), known).unwrap();
    let options = ["--deviations", "known.yaml", "--case", RIGHT, "--", "gatherspec", "serve", "reference"];
    let lines = folder.run_and_paste(&options, 1);
    assert_eq!(folder.verdicts()[RIGHT], "unexpected-pass");
    assert!(lines[0].contains(" --deviations known.yaml "), "{}", lines[0]);
}

/// A file that concerns another backend would be one too many.
fn only_its_deviations() {
    let folder = RunFolder::new("honest");
    for backend in ["hostile", "reference"] {
        let known = format!(
            "schema: 2\nbackend: {backend}\ndeviations:\n  - {{ case: {RIGHT}, verdict: crash, reason: it used to }}\n"
        );
        fs::write(folder.path(backend), known).unwrap();
    }
    let script = folder.path("served");
    fs::write(&script, "#!/bin/sh\nexec gatherspec serve reference\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let known = ["--deviations", "hostile", "--deviations", "reference"];
    let backends = ["--case", RIGHT, "--backend", "./served", "--", "miniature"];
    folder.run_and_paste(&[&known[..], &backends].concat(), 2);
}

fn a_specification() {
    let folder = RunFolder::new("");
    copy_folder(&here("../spec"), &folder.path("my spec"));
    fs::copy(here("tests/cases/wrong.yaml"), folder.path("my spec/operators/tf/gather_nd/wrong.yaml"))
        .unwrap();
    let options = ["--spec", "my spec", "--case", "tf.gather_nd/wrong/*", "--backend", "optimized"];
    folder.run_and_paste(&options, 4);
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy_folder(&from, &to);
        } else if from.extension().is_some_and(|extension| extension == "yaml") {
            fs::copy(&from, &to).unwrap();
        }
    }
}

/// One call hangs, which shows after the limit that was given, and not after the usual one.
fn limits() {
    let folder = RunFolder::new("hangs");
    let cases = format!(
        "schema: 2\noperator: tf.gather_nd\ncases:\n  - name: marked\n    clauses: [tf.gather_nd.shape.slices]\n    \
         operands:\n      params: {{ dtype: i32, data: [{MARK}, 5] }}\n      indices: {{ dtype: i32, data: [[1]] }}\n    \
         expect: {{ output: [5] }}\n"
    );
    fs::write(folder.path("marked.yaml"), cases).unwrap();
    let limits = [
        "--start-limit 60",
        "--call-limit 0.5",
        "--virtual-limit 0.25",
        "--reply-limit 100000",
        "--memory-limit 0",
        "--restarts 3",
        "--file-above 9",
    ];
    let words = limits.iter().flat_map(|limit| limit.split(' '));
    let words: Vec<&str> = ["--cases", "marked.yaml"].into_iter().chain(words).collect();
    let lines = folder.run_and_paste(&[&words[..], &["--", "miniature"]].concat(), 1);
    assert!(lines[0].contains(&format!(" {} ", limits.join(" "))), "{}", lines[0]);
    // What is as ever is not said.
    let usual = ["--cases", "marked.yaml", "--call-limit", "0.5", "--start-limit", "120", "--", "miniature"];
    let lines = folder.run_and_paste(&usual, 1);
    assert_eq!(
        lines[0],
        "gatherspec run --cases marked.yaml --call-limit 0.5 --case 'tf.gather_nd/marked/marked' -- miniature"
    );
}

/// The campaign behind a case that passes: every line that is printed leads to a call at which the backend dies.
fn what_a_campaign_finds() {
    let folder = RunFolder::new("dies-at-strings");
    let right = "tf.gather_nd/precedence/*";
    let calls = CALLS_OF_PASTED_LINES.count().to_string();
    let options = ["run", "--case", right, "--campaign", &calls, "--restarts", "1000", "--", "miniature"];
    let text = folder.gatherspec(&options);
    let report = fs::read(folder.path("gatherspec-report/chosen/report.json")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    let parts = report["backends"][0]["campaign"].as_array().unwrap();
    let kinds: Vec<&Value> = parts.iter().flat_map(|part| part["kinds"].as_array().unwrap()).collect();
    assert!(kinds.iter().any(|kind| kind["law"].is_string()), "{text}");
    for kind in kinds {
        assert_eq!(kind["verdict"], "crash", "{kind}");
        let lines = kind["reproduce"].as_array().unwrap().iter().map(|line| line.as_str().unwrap());
        for line in lines {
            assert!(text.contains(line) && line.contains("--restarts 1000 -- miniature"), "{line}\n{text}");
            let verdicts = folder.paste(line);
            assert!(verdicts.values().any(|verdict| verdict == "crash"), "{line}: {verdicts:?}");
        }
    }
}

/// A campaign on a backend that dies at strings: every line that it prints leads to such a death.
fn fuzz(options: &[&str], save: bool) {
    let folder = RunFolder::new("dies-at-strings");
    let saved: &[&str] = if save { &["--save", "what is found"] } else { &[] };
    let calls = CALLS_OF_PASTED_LINES.count().to_string();
    let more = ["--cases", &calls, "--restarts", "1000", "--report", "fuzz.json", "--", "miniature"];
    let text = folder.gatherspec(&[&["fuzz"], options, saved, &more].concat());
    let report: Value = serde_json::from_slice(&fs::read(folder.path("fuzz.json")).unwrap()).unwrap();
    let groups = report["groups"].as_array().unwrap();
    assert!(!groups.is_empty(), "{text}");
    assert_eq!(text.contains("--save DIR"), !save, "{text}");
    for group in groups {
        let example = &group["example"];
        let lines = example["replay"].as_array().unwrap();
        assert!(!lines.is_empty());
        for line in lines.iter().map(|line| line.as_str().unwrap()) {
            assert!(text.contains(line) && line.contains("--restarts 1000 -- miniature"), "{text}");
            let verdicts = folder.paste(line);
            assert!(
                verdicts.values().any(|verdict| *verdict == group["key"]["verdict"]),
                "{line}: {verdicts:?}"
            );
        }
        let files = example["files"].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
        let written = files.filter(|name| folder.path("what is found").join(name).is_file()).count();
        assert_eq!(written, if save { lines.len() } else { 0 });
    }
    if save {
        folder.gatherspec(&[&["fuzz"], options, saved, &more].concat());
        let report: Value = serde_json::from_slice(&fs::read(folder.path("fuzz.json")).unwrap()).unwrap();
        let failing = report["corpus"]["failing"].as_array().unwrap();
        assert!(failing.len() >= groups.len());
        for failing in failing {
            let verdicts = folder.paste(failing["replay"].as_str().unwrap());
            assert_eq!(verdicts[failing["id"].as_str().unwrap()], failing["verdict"], "{failing}");
        }
    }
}
