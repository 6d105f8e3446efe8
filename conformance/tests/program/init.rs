//! The starters: each is made in a folder of its own, and its commands are run there. What this machine lacks is said.

#![cfg(unix)]
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use gatherspec::internals::published::either;
use tempfile::TempDir;

use crate::tutorial::{python, root};

/// What a starter needs beside this program: a program on the path, and modules of Python.
const STARTERS: [(&str, &str, &str); 6] = [
    ("python", "python3", "numpy"),
    ("pytest", "python3", "numpy, pytest"),
    ("c", "cc", "sys"),
    ("cpp", "c++", "sys"),
    ("node", "node", "sys"),
    ("go", "go", "sys"),
];

fn init(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gatherspec"))
        .arg("init")
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

/// A shell in a folder, with the programs of the starters as a reader has them.
fn shell(line: &str, folder: &Path, python: &str) -> Output {
    let programs = TempDir::new().unwrap();
    let script = |name: &str, line: &str| {
        let path = programs.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\nexec {line} \"$@\"\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    script("gatherspec", &format!("'{}'", env!("CARGO_BIN_EXE_gatherspec")));
    script("python3", &format!("'{python}'"));
    script("pytest", &format!("'{python}' -P -m pytest -p gatherspec.pytest_plugin -p no:cacheprovider"));
    let mut shell = Command::new("sh");
    shell.args(["-ec", line]).current_dir(folder).env("PYTHONPATH", root().join("conformance/python"));
    shell.env("GATHERSPEC", env!("CARGO_BIN_EXE_gatherspec")).env("PYTHONDONTWRITEBYTECODE", "1");
    // Builds of the crates that a starter depends on are kept, without a network.
    shell.env("CARGO_TARGET_DIR", root().join("target/starter")).env("CARGO_NET_OFFLINE", "true");
    shell.env("PATH", format!("{}:{}", programs.path().display(), std::env::var("PATH").unwrap()));
    shell.output().unwrap()
}

#[test]
fn each_starter_is_made_with_its_workflow_and_its_commands_pass() {
    for (name, program, modules) in STARTERS {
        start(name, program, modules);
    }
}

#[test]
fn the_starter_in_rust_builds_and_its_tests_pass() {
    above_quick!();
    start("rust", "cargo", "sys");
}

/// Makes a starter, and runs the commands that it prints, which are also those of its workflow.
fn start(name: &str, program: &str, modules: &str) {
    let Some(python) = python(modules) else { return };
    if shell(&format!("command -v {program}"), Path::new("."), &python).status.code() != Some(0) {
        let _ = writeln!(std::io::stderr(), "skipped: the starter {name}, since there is no {program}");
        return;
    }
    let folder = TempDir::new().unwrap();
    let made = init(&[name, "--out", "made"], folder.path());
    let said = text(&made);
    assert_eq!(made.status.code(), Some(0), "{said}");
    let made = folder.path().join("made");
    if name == "rust" {
        // The versions that are here, without a network.
        std::fs::copy(root().join("Cargo.lock"), made.join("Cargo.lock")).unwrap();
    }
    let workflow = std::fs::read_to_string(made.join(".github/workflows/gatherspec.yml")).unwrap();
    let workflow: serde_json::Value = serde_yaml::from_str(&workflow).unwrap();
    let steps = workflow["jobs"]["gather"]["steps"].as_array().unwrap();
    let steps: Vec<&str> = steps.iter().filter_map(|step| step["run"].as_str()).collect();
    let lines = said.split("Now run:\n").nth(1).unwrap().lines();
    let lines = lines.take_while(|line| line.starts_with(' ')).map(str::trim);
    let lines: Vec<&str> =
        lines.filter(|line| !line.starts_with("cd ") && !line.starts_with("pip ")).collect();
    assert!(!lines.is_empty(), "{said}");
    // A script in Python imports the kit, which is in the package.
    let installs =
        said.contains(&format!("pip install {} ", either("gatherspec", env!("CARGO_MANIFEST_DIR"))));
    assert_eq!(installs, ["python", "pytest"].contains(&name), "{said}");
    for line in lines {
        assert!(steps.contains(&line), "the workflow of {name} lacks `{line}`: {steps:?}");
        let ended = shell(line, &made, &python);
        assert_eq!(ended.status.code(), Some(0), "{name}: {line}\n{}", text(&ended));
        let judged = ["conforms", "passed"].iter().any(|word| text(&ended).contains(word));
        assert!(judged || line.contains(" -o "), "{name}: {line}\n{}", text(&ended));
    }
}

#[test]
fn nothing_is_written_over_a_file_that_is_there() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("gather.c"), "mine").unwrap();
    let refused = init(&["c"], folder.path());
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused).contains("gather.c is there already; nothing was written"), "{}", text(&refused));
    let left: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["gather.c"]);
    let unknown = init(&["fortran"], folder.path());
    assert_eq!(unknown.status.code(), Some(2));
    assert!(
        text(&unknown).contains("possible values: python, pytest, rust, c, cpp, node, go"),
        "{}",
        text(&unknown)
    );
}
