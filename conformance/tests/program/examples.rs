//! The example backends in other languages pass the whole suite. A language that this machine lacks is skipped, and said
//! to be.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

fn example(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("backends").join(path)
}

/// Whether a tool is there.
fn has(tool: &str, version: &str) -> bool {
    let there = Command::new(tool).arg(version).output().is_ok_and(|output| output.status.success());
    if !there {
        // Not by `eprintln!`, which the test harness would keep to itself.
        let _ = writeln!(std::io::stderr(), "skipped: there is no {tool} on this machine");
    }
    there
}

/// Runs the suite on a command, and asserts that every case was run and passed.
fn passes_everything(command: &[&Path], options: &[&str]) {
    assert_eq!(not_passed(command, options), [""; 0]);
}

/// Runs the suite on a command that must conform, and gives the verdicts other than `pass` on the operators that it declares.
fn not_passed(command: &[&Path], options: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut run = Command::new(env!("CARGO_BIN_EXE_gatherspec"));
    run.args(["run", "--out"]).arg(folder.path()).args(options).arg("--").args(command);
    let output = run.output().unwrap();
    let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert_eq!(output.status.code(), Some(0), "{printed}");
    let report = std::fs::read(folder.path().join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    let results = report["backends"][0]["results"].as_array().unwrap();
    let runs = |result: &serde_json::Value| result["runs"]["all"].as_u64().unwrap_or(1);
    assert!(results.iter().map(runs).sum::<u64>() > 800);
    let verdicts = results.iter().map(|result| result["verdict"].as_str().unwrap());
    verdicts.filter(|verdict| *verdict != "pass").map(str::to_owned).collect()
}

/// It declares three dtypes, so a few cases are not for it.
#[test]
fn the_process_in_cpp_passes_every_case_of_its_dtypes() {
    above_quick!();
    if has("c++", "--version") {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("gather");
        let mut build = Command::new("c++");
        build.args(["-O2", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program);
        let output = build.arg(example("cpp-process-example/gather.cpp")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        for options in [&[][..], &["--file-above", "1", "--jobs", "2", "--no-campaign"]] {
            let other = not_passed(&[&program], options);
            assert!(other.len() < 200 && other.iter().all(|verdict| verdict == "unsupported"), "{other:?}");
        }
    }
}

#[test]
fn the_example_in_javascript_passes_every_case() {
    above_quick!();
    if has("node", "--version") {
        let command = [Path::new("node"), &example("node-example/gather.mjs")];
        passes_everything(&command, &[]);
        passes_everything(&command, &["--file-above", "1", "--jobs", "2", "--no-campaign"]);
    }
}

#[test]
fn the_example_in_go_passes_every_case() {
    above_quick!();
    if has("go", "version") {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("gather");
        let mut build = Command::new("go");
        build.env("GOCACHE", folder.path().join("cache")).env("GOFLAGS", "-mod=mod");
        build.arg("build").arg("-o").arg(&program).arg("gather.go").current_dir(example("go-example"));
        let output = build.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        passes_everything(&[&program], &[]);
        passes_everything(&[&program], &["--file-above", "1", "--jobs", "2", "--no-campaign"]);
    }
}
