//! Kernels that declare a single dtype pair, as most do: right ones pass, and each of three common bugs fails by a case
//! that names it, whether the kernel is a process, a shared library or the subject of the harness. This program is the
//! tests and, where its environment says so, the kernel.

pub(crate) mod kernel;

use std::io;
use std::path::Path;
use std::process::{Command, ExitCode};

use gather_conformance::{harness, serve};
use gather_spec::DType;
use libtest_mimic::Trial;

use kernel::{Bug, Kernel};

use crate::trial;

/// What makes this program a kernel: `serve` or `harness`, then its dtypes and its bug.
const KERNEL: &str = "GATHERSPEC_TEST_KERNEL";

/// The dtype pairs that kernels declare.
const PAIRS: [(DType, DType); 4] = [
    (DType::F32, DType::I64),
    (DType::I32, DType::I32),
    (DType::U8, DType::I64),
    (DType::String, DType::I32),
];

/// Each bug, and a case that must show it.
const BUGS: [(Bug, &str); 3] = [
    (Bug::BoundsOffByOne, "tf.gather_nd/bad-index/one-past-the-end-of-the-buffer"),
    (Bug::BatchIgnored, "tf.gather_nd/batch/two-batch-dims"),
    (
        Bug::LastComponentUnchecked,
        "tf.gather_nd/bad-index/last-component-of-the-last-vector-inside-the-buffer",
    ),
];

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (params, indices) in PAIRS {
        for (way, run) in
            [("process", process as KernelRunner), ("harness", in_harness), ("library", library)]
        {
            let kernel = Kernel { params, indices, bug: Bug::None };
            let name = format!("a right {params} x {indices} kernel passes as a {way}");
            trials.push(trial(name, move || right(&kernel, run)));
            for (bug, case) in BUGS {
                let name = format!("{bug:?} in a {params} x {indices} kernel fails {case} as a {way}");
                let kernel = Kernel { params, indices, bug };
                trials.push(trial(name, move || wrong(&kernel, case, run)));
            }
        }
    }
    trials
}

/// The kernel that the environment names, if it names one.
pub(crate) fn be() -> Option<ExitCode> {
    let wanted = std::env::var(KERNEL).ok()?;
    let mut words = wanted.split(' ');
    let mut word = || words.next().unwrap();
    let way = word();
    let kernel =
        Kernel { params: word().parse().unwrap(), indices: word().parse().unwrap(), bug: Bug::named(word()) };
    if way == "harness" {
        return Some(harness(move || kernel));
    }
    serve::serve(&mut { kernel }, io::stdin().lock(), io::stdout().lock()).unwrap();
    Some(ExitCode::SUCCESS)
}

/// How a kernel is run: gives the exit status, the ids of the cases that failed, and what was printed; nothing where
/// this machine cannot run it.
type KernelRunner = fn(&Kernel) -> Option<KernelRun>;

pub(crate) struct KernelRun {
    pub(crate) status: Option<i32>,
    pub(crate) failed: Vec<String>,
    pub(crate) printed: String,
}

fn right(kernel: &Kernel, run: KernelRunner) {
    let Some(ran) = run(kernel) else { return };
    assert_eq!((ran.status, ran.failed), (Some(0), Vec::new()), "{}", ran.printed);
    assert!(!ran.printed.contains("everything conforms"), "{}", ran.printed);
}

fn wrong(kernel: &Kernel, case: &str, run: KernelRunner) {
    let Some(ran) = run(kernel) else { return };
    assert_ne!(ran.status, Some(0), "{}", ran.printed);
    assert!(ran.failed.iter().any(|id| id == case), "{case} is not among {:#?}\n{}", ran.failed, ran.printed);
}

fn myself(way: &str, kernel: &Kernel) -> String {
    format!("{way} {} {} {:?}", kernel.params, kernel.indices, kernel.bug)
}

fn process(kernel: &Kernel) -> Option<KernelRun> {
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatherspec"));
    command.env(KERNEL, myself("serve", kernel)).args([
        "run",
        "--no-campaign",
        "--operator",
        "tf.gather_nd",
        "--backend",
    ]);
    Some(gatherspec(command.arg(program)))
}

fn library(kernel: &Kernel) -> Option<KernelRun> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("libkernel.so");
    kernel::build(kernel, &file)?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatherspec"));
    command.args(["run", "--no-campaign", "--operator", "tf.gather_nd", "--library"]).arg(&file);
    Some(gatherspec(&mut command))
}

/// Runs `gatherspec run`, and reads what failed from its report.
pub(crate) fn gatherspec(command: &mut Command) -> KernelRun {
    let folder = tempfile::tempdir().unwrap();
    let output = command.arg("--out").arg(folder.path()).output().unwrap();
    let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    KernelRun { status: output.status.code(), failed: failed(&folder.path().join("report.json")), printed }
}

fn failed(report: &Path) -> Vec<String> {
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    let results = report["backends"][0]["results"].as_array().unwrap();
    let fails =
        |result: &&serde_json::Value| !["pass", "unsupported"].contains(&result["verdict"].as_str().unwrap());
    results.iter().filter(fails).map(|result| result["id"].as_str().unwrap().to_owned()).collect()
}

fn in_harness(kernel: &Kernel) -> Option<KernelRun> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.env(KERNEL, myself("harness", kernel)).arg("tf.gather_nd/").output().unwrap();
    let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    let failed = printed.lines().filter_map(|line| line.strip_prefix("test ")?.strip_suffix("FAILED"));
    let failed = failed.map(|line| line.trim_matches([' ', '.']).to_owned()).collect();
    Some(KernelRun { status: output.status.code(), failed, printed })
}
