//! The plug-in for pytest, on `python3` or the interpreter that `GATHERSPEC_PYTHON` names. Without pytest, pytest-xdist and NumPy
//! there these tests say that they were skipped.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::tutorial::{python, root};

/// A function with two planted bugs: -1 means the first row instead of the last, and indices of four dims end the process or raise.
/// Another deviation is NumPy's own.
const PLANTED: &str = "
import ctypes, os
import numpy as np
from gatherspec import Operator, numpy_load, numpy_store, serve
def gather(data, indices, axis=0):
    if indices.ndim == 4:
        if os.environ.get('CRASH'):
            ctypes.string_at(0)
        raise NotImplementedError('four dims')
    return np.take(data, np.where(indices == -1, 0, indices), axis=axis)
serve(name='planted', version='1', load=numpy_load, store=numpy_store, operators={
    'onnx.Gather-13': Operator(gather, ['f32'], ['i64'], ['axis'], negative='wrap')})
";

const KNOWN: &str = "
schema: 2
backend: planted
deviations:
- case: onnx.Gather-13/zero-size/bad-index-with-an-empty-outer
  verdict: accepted-bad-input
  reason: NumPy looks at no index where the output is empty
- case: onnx.Gather-13/precedence/index-dtype-before-params-rank
  verdict: accepted-bad-input
  reason: NumPy takes indices of any integer dtype
- case: onnx.Gather-13/default-axis/of-a-scalar
  verdict: accepted-bad-input
  reason: NumPy takes scalars
";

/// Cases that fail by the planted bugs.
const FAIL: [&str; 4] = [
    "bad-index/minus-one",
    "bad-index/minus-one-on-a-middle-axis",
    "ranks/four-axes-of-indices",
    "sizes/all-rows-from-the-end",
];

struct Project {
    folder: TempDir,
    python: String,
}

/// What a run of pytest ended with.
struct Ended {
    status: Option<i32>,
    printed: String,
}

impl Project {
    fn new() -> Option<Self> {
        let python = python("pytest, xdist, numpy")?;
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("adapter.py", PLANTED);
        write("known.yaml", KNOWN);
        Some(Self { folder, python })
    }

    fn pytest(&self, arguments: &str, crash: &str) -> Ended {
        let mut pytest = Command::new(&self.python);
        pytest.args(["-m", "pytest", "-p", "gatherspec.pytest_plugin", "-p", "no:cacheprovider"]);
        pytest.args(arguments.split(' ')).current_dir(self.folder.path());
        pytest.env("PYTHONPATH", root().join("conformance/python")).env("PYTHONDONTWRITEBYTECODE", "1");
        pytest.env("GATHERSPEC", env!("CARGO_BIN_EXE_gatherspec")).env("CRASH", crash).env("COLUMNS", "200");
        let output = pytest.output().unwrap();
        let printed = [output.stdout, output.stderr].concat();
        Ended { status: output.status.code(), printed: String::from_utf8(printed).unwrap() }
    }
}

impl Ended {
    /// The cases that the summary says failed, with what it says.
    fn failed(&self) -> Vec<&str> {
        let mut failed: Vec<&str> =
            self.printed.lines().filter_map(|line| line.strip_prefix("FAILED ")).collect();
        failed.sort_unstable();
        failed
    }
}

fn test(case: &str) -> String {
    format!("adapter.py::gatherspec/onnx.Gather-13/{case}")
}

#[test]
fn planted_bugs_fail_their_tests_and_known_deviations_are_expected() {
    let Some(project) = Project::new() else { return };
    let ended = project
        .pytest("--gatherspec adapter.py --gatherspec-deviations known.yaml --junit-xml junit.xml -rfx", "");
    let failed = ended.failed();
    for (said, case) in failed.iter().zip(FAIL) {
        assert!(said.starts_with(&test(case)), "{}", ended.printed);
    }
    assert_eq!((failed.len(), ended.status), (FAIL.len(), Some(1)), "{}", ended.printed);
    assert!(
        failed[0].contains("wrong-output: ") && failed[2].contains("rejected-good-input: "),
        "{}",
        ended.printed
    );
    assert!(ended.printed.contains("3 xfailed"), "{}", ended.printed);
    // What is needed to mend it, as the terminal shows it.
    for line in [
        "difference first difference at [1, 0]: expected 31.0, actual 11.0; 2 of 4 elements differ",
        "show       gatherspec show onnx.Gather-13/bad-index/minus-one",
        "reproduce  pytest --gatherspec adapter.py adapter.py::gatherspec/onnx.Gather-13/bad-index/minus-one",
        "NotImplementedError: four dims",
    ] {
        assert!(ended.printed.contains(line), "{line}\n{}", ended.printed);
    }
    let junit = std::fs::read_to_string(project.folder.path().join("junit.xml")).unwrap();
    let case = junit.split("<testcase ").find(|case| case.contains("/bad-index/minus-one\"")).unwrap();
    for property in [
        r#"<property name="verdict" value="wrong-output" />"#,
        r#"<property name="clause" value="onnx.Gather-13.index.negative" />"#,
    ] {
        assert!(case.contains(property), "{case}");
    }
}

#[test]
fn a_crash_costs_one_test_of_an_isolated_adapter_and_two_workers_find_the_same() {
    let Some(project) = Project::new() else { return };
    for how in ["--gatherspec-isolate", "-n 2"] {
        let ended =
            project.pytest(&format!("--gatherspec adapter.py --gatherspec-deviations known.yaml {how}"), "1");
        let failed = ended.failed();
        assert_eq!((failed.len(), ended.status), (FAIL.len(), Some(1)), "{}", ended.printed);
        assert!(failed[2].contains("crash: onnx.Gather-13/ranks/four-axes-of-indices"), "{}", ended.printed);
    }
}

#[test]
fn tests_are_chosen_by_marker_name_and_id_and_a_deviation_that_does_not_occur_fails() {
    let Some(project) = Project::new() else { return };
    let fails = test("bad-index/minus-one");
    for (arguments, passed, failed) in [
        ("--gatherspec adapter.py --strict-markers -m bad-index -k minus-one", 0, 2),
        ("--gatherspec adapter.py -m onnx.Gather-13 -k axis/first-of-three", 1, 0),
        (&*format!("--gatherspec adapter.py {fails}"), 0, 1),
    ] {
        let ended = project.pytest(arguments, "");
        let count =
            |count: usize, what: &str| count == 0 || ended.printed.contains(&format!("{count} {what}"));
        assert!(count(passed, "passed") && count(failed, "failed"), "{arguments}\n{}", ended.printed);
    }
    let never = KNOWN.replace("zero-size/bad-index-with-an-empty-outer", "axis/first-of-three");
    std::fs::write(project.folder.path().join("known.yaml"), never).unwrap();
    let ended = project
        .pytest("--gatherspec adapter.py --gatherspec-deviations known.yaml -k axis/first-of-three", "");
    assert!(
        ended.printed.contains("[XPASS(strict)] unexpected-pass: onnx.Gather-13/axis/first-of-three"),
        "{}",
        ended.printed
    );
    assert_eq!(ended.status, Some(1));
}

#[test]
fn the_operators_of_an_added_folder_are_tests_too() {
    let Some(project) = Project::new() else { return };
    let adapter = "
from gatherspec import Operator, numpy_load, numpy_store, serve
serve(name='own', version='1', load=numpy_load, store=numpy_store, operators={
    'made.pick_rows': Operator(lambda where, table, **_: table, ['u8', 'i64', 'f32'], ['i64'], ['shared', 'quietly'], 'clamp', 'wrap')})
";
    std::fs::write(project.folder.path().join("own.py"), adapter).unwrap();
    let made_up = root().join("conformance/tests/made_up");
    let options =
        format!("--gatherspec own.py --gatherspec-suite all --gatherspec-spec-add={}", made_up.display());
    let ended = project.pytest(&format!("{options} --collect-only -q"), "");
    assert!(ended.printed.contains("own.py::gatherspec/made.pick_rows/"), "{}", ended.printed);
    let without = project.pytest("--gatherspec own.py --gatherspec-suite all --collect-only -q", "");
    assert!(!without.printed.contains("own.py::gatherspec/made.pick_rows/"), "{}", without.printed);
    // The line that repeats a failure names the folder.
    let ended = project.pytest(&format!("{options} -x"), "");
    let line = format!(
        "pytest --gatherspec own.py --gatherspec-suite all --gatherspec-spec-add={}",
        made_up.display()
    );
    assert!(ended.status == Some(1) && ended.printed.contains(&line), "{}", ended.printed);
}

#[test]
fn what_is_wrong_before_the_first_case_is_an_error_of_collection() {
    let Some(project) = Project::new() else { return };
    let adapter = project.folder.path().join("adapter.py");
    for (text, error) in [
        ("import sys; sys.exit('no library here')", "adapter.py ended: no library here"),
        ("print('nothing')", "calls `gatherspec.serve` 0 times instead of once"),
        (&*PLANTED.replace("onnx.Gather-13", "onnx.Gathr-13"), "declares `onnx.Gathr-13`"),
    ] {
        std::fs::write(&adapter, text).unwrap();
        let ended = project.pytest("--gatherspec adapter.py", "");
        assert!(ended.printed.contains(error), "{error}\n{}", ended.printed);
        assert_ne!(ended.status, Some(0));
    }
    assert!(Path::new(&adapter).exists());
}
