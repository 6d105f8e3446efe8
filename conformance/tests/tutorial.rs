//! The adapter of `PYTHON.md`, taken from its page as it stands: it runs, and is as short as it says. On `python3` or the
//! interpreter that `GATHERSPEC_PYTHON` names; without NumPy there this test says that it was skipped.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use std::io::Write;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

#[test]
fn the_adapter_of_the_page_is_short_and_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let page = std::fs::read_to_string(root.join("conformance/PYTHON.md")).unwrap();
    let adapter = page.split("```python\n").nth(1).unwrap().split("```").next().unwrap();
    assert!(adapter.lines().count() < 30, "{} lines", adapter.lines().count());

    let python = std::env::var("GATHERSPEC_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    if !Command::new(&python)
        .args(["-c", "import numpy"])
        .output()
        .is_ok_and(|output| output.status.success())
    {
        // Not by `eprintln!`, which the test harness would keep to itself.
        let _ =
            writeln!(std::io::stderr(), "skipped: {python} has no numpy; GATHERSPEC_PYTHON names another");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("adapter.py"), adapter).unwrap();
    let kit = "conformance/backends/kit/gatherspec_kit.py";
    std::fs::copy(root.join(kit), folder.path().join("gatherspec_kit.py")).unwrap();
    let mut run = Command::new(env!("CARGO_BIN_EXE_gatherspec"));
    run.args(["run", "--operator", "onnx.Gather-13", "--out", "out", "--", &python, "adapter.py"]);
    let output = run.current_dir(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));

    let report = std::fs::read_to_string(folder.path().join("out/report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    let results = report["backends"][0]["results"].as_array().unwrap();
    let count = |verdict: &str| results.iter().filter(|result| result["verdict"] == verdict).count();
    // NumPy takes indices of every integer dtype, which ONNX refuses.
    let wide = results.iter().filter(|result| {
        let id = result["id"].as_str().unwrap();
        id.contains("/dtypes/") && result["verdict"] == "accepted-bad-input"
    });
    assert!(count("pass") > 100, "{} pass", count("pass"));
    assert!(wide.count() > 0 && count("crash") + count("protocol-error") == 0, "{results:#?}");
}
