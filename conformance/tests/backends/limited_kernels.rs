//! Kernels that take a part of an operator and say so: right ones are green with nothing else said, drawn calls and laws
//! included, and each bug fails within the limits, also in the smoke suite. The bugs are those that users planted who had only
//! the pages.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::narrow_kernels::{KernelRun, gatherspec, kernel};

/// The tests, by name.
pub(crate) const TESTS: &[(&str, fn())] = &[
    ("floats_of_onnx_in_c", floats_of_onnx_in_c),
    ("a_gather_nd_without_batch_dims_in_numpy", a_gather_nd_without_batch_dims_in_numpy),
    ("bugs_beside_the_departures_of_numpy", bugs_beside_the_departures_of_numpy),
];

const NO_CAMPAIGN: &[&str] = &["--no-campaign"];
const SMOKE: &[&str] = &["--suite", "smoke"];

/// The operators with a case that failed.
fn operators(ran: &KernelRun) -> BTreeSet<&str> {
    ran.failed.iter().filter_map(|id| id.split_once('/')).map(|(operator, _)| operator).collect()
}

/// A rank of 1 to 4, f32 by i64. A byte offset of 32 bits, which users planted, too, shows only beyond 2 GiB, in the suite large.
fn floats_of_onnx_in_c() {
    let [gather, elements, nd] = ["onnx.Gather-13", "onnx.GatherElements-13", "onnx.GatherND-13"];
    let folder = tempfile::tempdir().unwrap();
    let run = |bug: &str, options: &[&str]| {
        let file = folder.path().join(format!("{bug}.so"));
        kernel::compile("onnx.c", &[bug.to_owned()], &file)?;
        let mut command = Command::new(env!("CARGO_BIN_EXE_gatherspec"));
        Some(gatherspec(command.arg("run").args(options).arg("--library").arg(file)))
    };
    let Some(right) = run("Right", &[]) else { return };
    assert_eq!((right.status, &*right.failed), (Some(0), &[][..]), "{}", right.printed);
    let conforms = "conforms for f32 by i64, rank <= 4, no scalars, no empty tensors";
    assert!(right.printed.contains(conforms), "{}", right.printed);
    let smoke = run("Right", SMOKE).unwrap();
    assert_eq!((smoke.status, &*smoke.failed), (Some(0), &[][..]), "{}", smoke.printed);
    let bugs: [(&str, &[&str]); 6] = [
        ("BelowAccepted", &[gather, elements, nd]),
        ("IndexIn32Bits", &[gather, elements, nd]),
        ("BatchStride", &[nd]),
        ("TailCut", &[gather, nd]),
        ("IndicesStride", &[elements]),
        // The worker dies with the first of them.
        ("OverRead", &[gather, nd]),
    ];
    for (bug, wrong) in bugs {
        for options in [NO_CAMPAIGN, SMOKE] {
            let ran = run(bug, options).unwrap();
            let wrong: BTreeSet<&str> = wrong.iter().copied().collect();
            assert_eq!(ran.status, Some(1), "{bug} {options:?}\n{}", ran.printed);
            assert!(!ran.printed.contains("rejected-good-input"), "{bug} {options:?}\n{}", ran.printed);
            if bug == "OverRead" {
                assert!(ran.printed.contains("past the end"), "{}", ran.printed);
            } else {
                assert_eq!(operators(&ran), wrong, "{bug} {options:?}\n{}", ran.printed);
            }
        }
    }
}

/// Runs the wrapper with a bug; nothing where there is no NumPy.
fn wrapper(bug: &str, operator: &str, options: &[&str]) -> Option<KernelRun> {
    python("tests/narrow_kernels/wrapper.py", bug, operator, options)
}

/// Runs an adapter with a bug; nothing where there is no NumPy.
pub(crate) fn python(adapter: &str, bug: &str, operator: &str, options: &[&str]) -> Option<KernelRun> {
    let python = std::env::var("GATHERSPEC_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let numpy = Command::new(&python).args(["-c", "import numpy"]).output();
    if !numpy.is_ok_and(|output| output.status.success()) {
        // Not by `eprintln!`, which the test harness would keep to itself.
        let _ =
            writeln!(std::io::stderr(), "skipped: {python} has no numpy; GATHERSPEC_PYTHON names another");
        return None;
    }
    let here = |path: &str| -> PathBuf { Path::new(env!("CARGO_MANIFEST_DIR")).join(path) };
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatherspec"));
    command.env("PYTHONPATH", here("python")).env("PYTHONDONTWRITEBYTECODE", "1");
    // A program of its own, since after `--` nothing may follow that is not the backend's.
    let folder = tempfile::tempdir().unwrap();
    command.arg("run").args(options).args(["--operator", operator, "--backend"]);
    let starter = folder.path().join("adapter");
    let script = format!("#!/bin/sh\nexec '{python}' '{}' {bug}\n", here(adapter).display());
    std::fs::write(&starter, script).unwrap();
    executable(&starter);
    Some(gatherspec(command.arg(starter)))
}

#[cfg(unix)]
fn executable(file: &Path) {
    use std::os::unix::fs::PermissionsExt as _;

    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(not(unix))]
fn executable(_: &Path) {}

fn a_gather_nd_without_batch_dims_in_numpy() {
    let Some(right) = wrapper("right", "tf.gather_nd", &[]) else { return };
    assert_eq!((right.status, &*right.failed), (Some(0), &[][..]), "{}", right.printed);
    let conforms = "conforms for 14 dtypes by i32, i64, no empty tensors, no batch_dims";
    assert!(right.printed.contains(conforms), "{}", right.printed);
    for bug in ["32-bit", "modulo", "flat"] {
        for options in [NO_CAMPAIGN, SMOKE] {
            let ran = wrapper(bug, "tf.gather_nd", options).unwrap();
            assert_eq!(ran.status, Some(1), "{bug} {options:?}\n{}", ran.printed);
            for other in ["rejected-good-input", "wrong-output", "wrong-error", "crash"] {
                assert!(!ran.printed.contains(other), "{bug} {options:?}\n{}", ran.printed);
            }
        }
    }
}

/// NumPy's functions differ from their pages in a few cases of their own, which a wrapper inherits: one is a call that goes on for
/// years. A bug adds to those.
fn bugs_beside_the_departures_of_numpy() {
    let smoke = [SMOKE, &["--call-limit", "2"]].concat();
    for (bug, operator) in [("32-bit", "numpy.take"), ("modulo", "numpy.take_along_axis")] {
        let Some(right) = wrapper("right", operator, &smoke) else { return };
        let wrong = wrapper(bug, operator, &smoke).unwrap();
        let more = wrong.failed.iter().filter(|id| !right.failed.contains(id));
        assert!(more.count() > 0, "{bug} in {operator}\n{}", wrong.printed);
    }
}
