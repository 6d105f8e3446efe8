//! The adapter of `PYTHON.md`, taken from its page as it stands: the run of the page ends, and it is as short as it says. On `python3` or the
//! interpreter that `GATHERSPEC_PYTHON` names; without NumPy there this test says that it was skipped.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

/// The interpreter, if it has these modules; otherwise says that the test is skipped.
pub(crate) fn python(modules: &str) -> Option<String> {
    let python = std::env::var("GATHERSPEC_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let output = Command::new(&python).args(["-c", &format!("import {modules}")]).output();
    if output.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    // Not by `eprintln!`, which the test harness would keep to itself.
    let _ = writeln!(std::io::stderr(), "skipped: {python} lacks {modules}; GATHERSPEC_PYTHON names another");
    None
}

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The first block in Python of a page.
fn block(page: &str) -> String {
    let page = std::fs::read_to_string(root().join(page)).unwrap();
    page.split("```python\n").nth(1).unwrap().split("```").next().unwrap().to_owned()
}

/// A folder with the kit and an adapter.
fn folder(adapter: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("adapter.py"), adapter).unwrap();
    let kit = "conformance/python/gatherspec/__init__.py";
    std::fs::copy(root().join(kit), folder.path().join("gatherspec.py")).unwrap();
    folder
}

#[test]
fn the_adapter_of_the_page_is_short_and_runs() {
    let adapter = block("conformance/PYTHON.md");
    assert!(adapter.lines().count() < 30, "{} lines", adapter.lines().count());
    above_quick!();
    let Some(python) = python("numpy") else { return };
    let folder = folder(&adapter);
    // The run that the page shows, with every default: whatever the adapter refuses, the run ends with its reports.
    let mut run = Command::new(env!("CARGO_BIN_EXE_gatherspec"));
    run.args(["run", "--", &python, "adapter.py"]).current_dir(folder.path());
    let output = run.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{printed}\n{errors}");
    assert!(printed.contains("│ onnx.Gather-13 ") && !errors.contains("panicked"), "{printed}\n{errors}");

    let reports = folder.path().join("gatherspec-report");
    assert!(std::fs::read_to_string(reports.join("report.html")).unwrap().contains("gs-picture"));
    let report = std::fs::read_to_string(reports.join("report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    let results = report["backends"][0]["results"].as_array().unwrap();
    let count = |verdict: &str| results.iter().filter(|result| result["verdict"] == verdict).count();
    // NumPy takes indices of every integer dtype, which ONNX refuses.
    let wide = results.iter().filter(|result| {
        let id = result["id"].as_str().unwrap();
        id.contains("/dtypes/") && result["verdict"] == "accepted-bad-input"
    });
    assert!(wide.count() > 0, "{results:#?}");
    assert!(count("pass") > 100, "{} pass", count("pass"));
    assert_eq!(count("crash") + count("protocol-error"), 0, "{results:#?}");
}
