//! The steps of the composite action, run in order as GitHub's runner does: each with its shell, its environment and the files for
//! outputs and the summary. `pipx` and `gh` are stand-ins that say what they were asked; the second installation succeeds.

#![cfg(unix)]
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

const ACTION: &str = include_str!("../../action/action.yml");

/// Fails at first, as where PyPI does not list the version yet.
const PIPX: &str = "echo \"$@\" >> pipx.said; [ \"$(wc -l < pipx.said)\" -gt 1 ]";
/// The last run has no report, the one before it has.
const GH: &str = "case \"$2\" in list) echo 12; echo 11 ;; download) [ \"$3\" = 11 ] && mkdir -p \"$7\" && cp earlier.json \"$7/report.json\" ;; esac";

/// A folder in which the steps of a job run.
struct Job {
    folder: TempDir,
    inputs: BTreeMap<String, String>,
}

/// What a job ended with.
struct Ended {
    /// Of the step that failed, its name and status.
    failed: Option<(String, i32)>,
    outputs: BTreeMap<String, String>,
    summary: String,
    printed: String,
}

impl Job {
    fn new(given: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("bin")).unwrap();
        for (name, line) in [
            ("pipx", PIPX),
            ("gh", GH),
            ("sleep", "exit 0"),
            ("gatherspec", &*format!("exec '{}' \"$@\"", env!("CARGO_BIN_EXE_gatherspec"))),
            // The Python of the environment that pipx has made for the program alone.
            ("python", &*format!("echo '{}/python'", env!("CARGO_MANIFEST_DIR"))),
        ] {
            let path = folder.path().join("bin").join(name);
            fs::write(&path, format!("#!/bin/bash\n{line}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let action: Value = serde_yaml::from_str(ACTION).unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let inputs = action["inputs"].as_object().unwrap().iter();
        let mut inputs: BTreeMap<String, String> =
            inputs.map(|(name, input)| (name.clone(), text(&input["default"]))).collect();
        for (name, value) in given {
            assert!(
                inputs.insert((*name).to_owned(), (*value).to_owned()).is_some(),
                "there is no input {name}"
            );
        }
        Self { folder, inputs }
    }

    fn run(&self) -> Ended {
        let action: Value = serde_yaml::from_str(ACTION).unwrap();
        let path = |name: &str| self.folder.path().join(name);
        let mut values: BTreeMap<String, String> =
            self.inputs.iter().map(|(name, value)| (format!("inputs.{name}"), value.clone())).collect();
        values.insert("github.token".to_owned(), "token".to_owned());
        let mut ended =
            Ended { failed: None, outputs: BTreeMap::new(), summary: String::new(), printed: String::new() };
        for step in action["runs"]["steps"].as_array().unwrap() {
            let (name, Some(script)) = (step["name"].as_str().unwrap(), step["run"].as_str()) else {
                continue;
            };
            if ended.failed.is_some()
                || !step["if"].as_str().is_none_or(|condition| holds(condition, &values))
            {
                continue;
            }
            fs::write(path("step.sh"), script).unwrap();
            fs::write(path("output"), "").unwrap();
            let mut shell = Command::new("bash");
            shell
                .args(["--noprofile", "--norc", "-e", "-o", "pipefail", "step.sh"])
                .current_dir(&self.folder);
            let programs = format!("{}:{}", path("bin").display(), std::env::var("PATH").unwrap());
            shell.env("PATH", programs).env("GITHUB_OUTPUT", path("output")).env("RUNNER_TEMP", path("temp"));
            shell.env("GITHUB_STEP_SUMMARY", path("summary.md")).env("GITHUB_WORKFLOW", "tests");
            for (name, value) in step["env"].as_object().into_iter().flatten() {
                shell.env(name, filled_in(value.as_str().unwrap(), &values));
            }
            let output = shell.output().unwrap();
            ended.printed += &String::from_utf8_lossy(&[output.stdout, output.stderr].concat());
            if let Some(status) = output.status.code().filter(|status| *status != 0) {
                ended.failed = Some((name.to_owned(), status));
            }
            let id = step["id"].as_str().unwrap_or_default();
            for line in fs::read_to_string(path("output")).unwrap().lines() {
                let (key, value) = line.split_once('=').unwrap();
                values.insert(format!("steps.{id}.outputs.{key}"), value.to_owned());
            }
        }
        for (name, output) in action["outputs"].as_object().unwrap() {
            ended.outputs.insert(name.clone(), filled_in(output["value"].as_str().unwrap(), &values));
        }
        ended.summary = fs::read_to_string(path("summary.md")).unwrap_or_default();
        ended
    }
}

/// A text with the values of its expressions; one that is unknown is empty.
fn filled_in(text: &str, values: &BTreeMap<String, String>) -> String {
    let parts = text.split("${{").enumerate().map(|(at, part)| match part.split_once("}}") {
        Some((name, rest)) if at > 0 => values.get(name.trim()).cloned().unwrap_or_default() + rest,
        _ => part.to_owned(),
    });
    parts.collect()
}

/// Whether a condition of the form `NAME == 'TEXT'` or `NAME != 'TEXT'` holds.
fn holds(condition: &str, values: &BTreeMap<String, String>) -> bool {
    let (name, operator, text) = match *condition.split(' ').collect::<Vec<_>>() {
        [name, operator, text] => (name, operator, text.trim_matches('\'')),
        _ => panic!("{condition}"),
    };
    (values.get(name).is_some_and(|value| value == text)) == (operator == "==")
}

/// `tf.gather` alone, with or without a bug.
fn backend(folder: &Path, bug: &str) {
    let script = format!(
        "import json, sys
start = json.loads(sys.stdin.readline())
start['operators'] = {{'tf.gather': start['operators']['tf.gather']}}
print(json.dumps(start), flush=True)
for line in iter(sys.stdin.readline, ''):
    sys.stdout.write(line{bug})
    sys.stdout.flush()
"
    );
    fs::write(folder.join("filter.py"), script).unwrap();
}

const COMMAND: &str = "bash -c 'gatherspec serve reference | python3 -u filter.py'";
const BUG: &str = ".replace('index-out-of-range', 'axis-out-of-range')";

#[test]
fn the_steps_of_the_action_install_run_and_end_as_the_suite_does() {
    let job = Job::new(&[("command", COMMAND), ("suite", "smoke"), ("version", "0.1.0")]);
    backend(job.folder.path(), "");
    let ended = job.run();
    assert_eq!(ended.failed, None, "{}", ended.printed);
    assert_eq!(
        (&*ended.outputs["verdict"], &*ended.outputs["failures"]),
        ("conforms", "0"),
        "{}",
        ended.printed
    );
    assert!(ended.summary.contains("everything conforms"), "{}", ended.summary);
    let report = Path::new(&ended.outputs["report"]);
    assert!(report.join("report.xml").exists() && report.join("report.html").exists());
    // The installation was repeated.
    let asked = fs::read_to_string(job.folder.path().join("pipx.said")).unwrap();
    assert_eq!(asked, "install --force gatherspec==0.1.0\n".repeat(2));

    // With a bug, the status of the suite is that of the last step, after the reports are kept.
    let report = fs::read(report.join("report.json")).unwrap();
    backend(job.folder.path(), BUG);
    let ended = job.run();
    assert_eq!(ended.failed, Some(("End as the suite did".to_owned(), 1)), "{}", ended.printed);
    assert_eq!(ended.outputs["verdict"], "does-not-conform");
    assert!(ended.outputs["failures"].parse::<u32>().unwrap() > 0, "{}", ended.printed);

    // With the report of that run as the baseline, nothing is new; with the one before, everything is.
    let failing = Path::new(&ended.outputs["report"]).join("report.json");
    for (earlier, status) in [(fs::read(failing).unwrap(), None), (report, Some(1))] {
        let job = Job::new(&[("command", COMMAND), ("suite", "smoke"), ("baseline", "main")]);
        backend(job.folder.path(), BUG);
        fs::write(job.folder.path().join("earlier.json"), earlier).unwrap();
        let ended = job.run();
        assert_eq!(ended.failed.as_ref().map(|(_, status)| *status), status, "{}", ended.printed);
    }
}

#[test]
fn a_command_in_python_finds_the_kit_where_pipx_has_put_it() {
    let Some(python) = crate::tutorial::python("numpy") else { return };
    let command = format!("'{python}' adapter.py");
    let job = Job::new(&[("command", &command), ("suite", "smoke"), ("deviations", "deviations.yaml")]);
    let made =
        Command::new(env!("CARGO_BIN_EXE_gatherspec")).arg("init").current_dir(&job.folder).output().unwrap();
    assert!(made.status.success());
    let ended = job.run();
    assert_eq!(ended.outputs["verdict"], "conforms", "{}", ended.printed);
}

#[test]
fn what_cannot_be_run_ends_the_job_with_its_status() {
    let ended = Job::new(&[("library", "./libmissing.so"), ("suite", "smoke"), ("summary", "false")]).run();
    assert_eq!(ended.failed, Some(("End as the suite did".to_owned(), 2)), "{}", ended.printed);
    assert_eq!((&*ended.outputs["verdict"], &*ended.summary), ("not-run", ""));
    // No branch has a report: the job goes on without one.
    let job = Job::new(&[("command", COMMAND), ("suite", "smoke"), ("baseline", "main")]);
    backend(job.folder.path(), "");
    let ended = job.run();
    assert!(
        ended.failed.is_none() && ended.printed.contains("::notice::no run of this workflow"),
        "{}",
        ended.printed
    );
}
