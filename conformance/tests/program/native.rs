//! Native libraries: the worked example in C passes the suite, and libraries that do what they should not cost their
//! own call the verdict below, and the calls beside it keep theirs. Needs a C compiler, `cc` or the one that `CC`
//! names; without one these tests say that they were skipped.

#![cfg(unix)]
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use gather_conformance::internals::judge::Verdict::{self, *};
use gather_conformance::internals::process::{Broken, Findings, ProcessBackend, ProcessLimits, Trivial};
use gather_spec::case::{Arm, Expectation};
use gather_spec::{Allowed, Attribute, Attributes, Call, DType, Operator, Run, Tensor};
use gatherspec::internals::native::COMMAND;
use tempfile::TempDir;

/// The first of the params at which a library misbehaves, and the place of that call.
const MARK: u32 = 666;
const AT: usize = 1;

/// What a library does to one call, the verdict of that call, and words that its report holds.
const AT_ONE_CALL: &[(&str, Verdict, &str)] = &[
    ("honest", Pass, ""),
    ("segfaults", Crash, "killed by signal 11 (SIGSEGV)"),
    ("aborts", Crash, "killed by signal 6 (SIGABRT)"),
    ("exits", Crash, "ended with exit status 3"),
    ("exits-with-status-0", Crash, "ended with exit status 0"),
    ("overflows-the-stack", Crash, "killed by signal"),
    ("hangs", Timeout, "did not come within 1s"),
    ("prints-on-stdout", Pass, ""),
    ("prints-and-aborts", Crash, "the kernel went away"),
    ("closes-stdout", Pass, ""),
    ("leaves-a-thread-running", Pass, ""),
    ("allocates-without-end", Crash, "killed by signal 6 (SIGABRT)"),
    ("leaves-the-reply-blank", ProtocolError, "breaks its contract: the status is 0"),
    ("gives-an-unknown-status", ProtocolError, "the status is 4, which stands for nothing"),
    ("gives-strides", ProtocolError, "it has strides, and an output is row-major"),
    ("gives-null-as-shape", ProtocolError, "shape is null, but has 1 entries"),
    ("gives-null-as-data", ProtocolError, "data is null, but has 4 entries"),
    ("gives-a-shape-off-the-grid", ProtocolError, "shape is not aligned"),
    ("gives-rank-65", ProtocolError, "the rank is 65, at most 64 is allowed"),
    ("gives-the-greatest-rank", ProtocolError, "the rank is 4294967295"),
    ("gives-a-negative-dim", ProtocolError, "the shape [-1] has a dim below 0"),
    ("gives-dims-that-overflow", ProtocolError, "no memory holds"),
    (
        "gives-dims-that-overflow-without-elements",
        WrongOutput,
        "i32 [1099511627776, 1099511627776, 0] without elements",
    ),
    ("gives-an-unknown-dtype", ProtocolError, "the dtype is 0, which stands for nothing"),
    ("gives-another-dtype", WrongOutput, "u32 [1] [667]"),
    ("gives-another-shape", WrongOutput, "i32 [1, 1] [[667]]"),
    ("gives-other-bits", WrongOutput, "i32 [1] [0]"),
    ("gives-a-string", WrongOutput, "string [1] [six]"),
    ("gives-a-string-that-is-null", ProtocolError, "the data of a string"),
    ("gives-an-endless-string", ProtocolError, "more than any memory holds"),
    ("gives-a-code-with-an-output", ProtocolError, "an output comes without a code"),
    ("refuses", RejectedGoodInput, "error without a code"),
    ("refuses-with-an-unknown-code", ProtocolError, "oops"),
    ("refuses-with-a-long-text", ProtocolError, "the message has more than 65536 bytes"),
    ("refuses-with-no-utf-8", RejectedGoodInput, "\u{fffd}\u{fffd} no"),
    ("does-not-do-such-calls", RejectedGoodInput, "no i32 here"),
    // Params have 12 bytes, which end at memory that must not be read, and begin at an odd multiple of 4.
    ("reads-past-the-end", Crash, "memory access 1 byte past the end of `params`, which has 12 bytes"),
    ("reads-before-the-start", Crash, "bytes before the start of `params`, which has 12 bytes"),
    (
        "reads-far-past-the-indices",
        Crash,
        "memory access 100 bytes past the end of `indices`, which has 4 bytes",
    ),
    ("needs-8-bytes-alignment", Crash, "killed by signal 6 (SIGABRT)"),
    ("gives-its-input", ProtocolError, "its data overlaps the input params"),
    ("gives-data-off-the-grid", ProtocolError, "data is not aligned: i32 needs a multiple of 4 bytes"),
    ("writes-the-same", InputChanged, "changed its input: params"),
    ("changes-params", InputChanged, "changed its input: params"),
    ("changes-indices", InputChanged, "changed its input: indices"),
    ("changes-a-shape", InputChanged, "changed its input: params"),
    ("changes-the-operator", InputChanged, "changed its input: the name of the operator"),
    ("changes-an-attribute", InputChanged, "changed its input: an attribute"),
    ("changes-the-type-of-an-attribute", InputChanged, "changed its input: an attribute"),
    ("changes-the-name-of-an-attribute", InputChanged, "changed its input: the name of an attribute"),
    ("swaps-the-name-of-an-attribute", InputChanged, "changed its input: an attribute"),
    ("changes-a-rank", InputChanged, "changed its input: the structure of the call"),
    ("forgets-the-attributes", InputChanged, "changed its input: the structure of the call"),
    ("changes-the-name-of-an-operand", InputChanged, "changed its input: the name of an operand"),
    ("claims-another-size", InputChanged, "changed its input: the structure of the call"),
    ("swaps-an-operand", InputChanged, "changed its input: the structure of the call"),
    ("aborts-when-it-frees", Crash, "killed by signal 6 (SIGABRT)"),
    ("scribbles-when-it-frees", Pass, ""),
    #[cfg(target_os = "linux")]
    ("gives-more-than-memory", ProtocolError, "could not be reserved"),
];

/// What a library does when it starts, and words of the explanation.
const AT_THE_START: &[(&str, &str)] = &[
    ("segfaults-when-loaded", "killed by signal 11"),
    ("describes-nothing", "the description is null"),
    ("describes-itself-off-the-grid", "the description is not aligned"),
    ("has-no-name", "the name is null"),
    ("has-null-operators", "operators is null, but has 1 entries"),
    ("has-more-operators-than-memory", "more than any memory holds"),
    ("has-an-operator-without-a-name", "the name of an operator is null"),
    ("declares-an-operator-twice", "tf.gather_nd is declared twice"),
    ("declares-an-unknown-dtype", "tf.gather_nd: a dtype is 17"),
    ("declares-no-policy", "bad is 0, which stands for nothing"),
    ("declares-an-unknown-policy", "negative is 3"),
    ("declares-half-a-limit", "no_scalars is 2, which is neither 0 nor 1"),
    ("declares-axes-that-are-null", "axes is null, but has 1 entries"),
    ("declares-limits-off-the-grid", "limits is not aligned"),
    ("declares-variants-that-are-null", "variants is null, but has 1 entries"),
    ("declares-a-variant-that-is-none", "unknown variant `fast`"),
    ("exits-when-asked-who-it-is", "ended with exit status 0"),
    ("hangs-when-asked-who-it-is", "did not come within 2s"),
];

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Builds a library into a folder; `None`, and a word about it, without a C compiler.
fn build(folder: &Path, name: &str, source: &str, options: &[&str]) -> Option<PathBuf> {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let library = folder.join(name);
    let mut command = Command::new(&compiler);
    command.args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", "-I"]);
    command.arg(here("include")).args(options).arg("-o").arg(&library).arg(here(source));
    let Ok(output) = command.output() else {
        // Not by `eprintln!`, which the test harness would keep to itself.
        let _ = writeln!(std::io::stderr(), "skipped: there is no C compiler {compiler}; CC names another");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(library)
}

/// The one library that all modes share.
fn hostile() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<(TempDir, PathBuf)>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        // The stack is to overflow, and 8 to be written to.
        let options =
            ["-pthread", "-Wno-infinite-recursion", "-Wno-unknown-warning-option", "-Wno-array-bounds"];
        let library = build(folder.path(), "libhostile.so", "tests/native/hostile.c", &options)?;
        Some((folder, library))
    });
    built.as_ref().map(|(_, library)| library.as_path())
}

fn backend(library: &Path, mode: &str) -> ProcessBackend {
    let mut backend = ProcessBackend::new(env!("CARGO_BIN_EXE_gatherspec"));
    backend.arguments = vec![COMMAND.into(), library.into()];
    backend.environment.push(("GATHERSPEC_HOSTILE".into(), mode.into()));
    let hangs = mode.contains("hang");
    backend.limits = ProcessLimits {
        start: Duration::from_secs(if hangs { 2 } else { 20 }),
        call: Duration::from_secs(if hangs { 1 } else { 20 }),
        memory: Some(1 << 30),
        restarts: 3,
        ..ProcessLimits::default()
    };
    backend
}

/// `tf.gather_nd` of the second of three numbers.
fn case(first: u32) -> Run {
    let params = Tensor::new(DType::I32, [3], vec![first, first + 1, first + 2]).unwrap();
    let indices = Tensor::new(DType::I32, [1, 1], vec![1u32]).unwrap();
    let output = Tensor::new(DType::I32, [1], vec![first + 1]).unwrap();
    let operator = Operator::new("tf.gather_nd");
    let allowed = vec![Allowed::Output(output)];
    let attributes = Attributes::from([("batch_dims".into(), Attribute::Integer(0))]);
    let signature = gather_conformance::builtin::signatures().get("tf.gather_nd").unwrap().clone();
    let call = Call::new(operator, [("params", params), ("indices", indices)].into(), attributes);
    let expect = Expectation { arms: vec![Arm::always(allowed)] };
    Run::alone(&first.to_string(), signature.into(), call, expect)
}

fn run(library: &Path, mode: &str) -> Result<Findings, Broken> {
    backend(library, mode).run_each(Trivial::Runs(&[]), &[10, MARK, 20, 30].map(case), &|_| ())
}

#[test]
fn a_library_pays_for_what_it_does_to_a_call() {
    above_quick!();
    let Some(library) = hostile() else { return };
    for (mode, verdict, words) in AT_ONE_CALL {
        let findings = run(library, mode).unwrap_or_else(|broken| panic!("{mode}: {broken}"));
        let verdicts: Vec<Verdict> = findings.results.iter().map(|result| result.verdict).collect();
        let result = &findings.results[AT];
        assert_eq!(verdicts, [Pass, *verdict, Pass, Pass], "{mode}: {result:#?}");
        let [actual, stderr] =
            [&result.actual, &result.stderr].map(|said| said.as_deref().unwrap_or_default());
        let said = format!("{actual} {stderr}");
        assert!(said.contains(words), "{mode}: {said:?} does not contain {words:?}");
        // What a library prints is kept also if its call passes.
        let is_loud = *mode == "prints-on-stdout";
        let remarks: &[&str] = if is_loud { &["1 passing call wrote to standard error"] } else { &[] };
        assert_eq!(findings.remarks, remarks, "{mode}");
    }
}

#[test]
fn a_library_that_does_not_start_is_broken() {
    above_quick!();
    let Some(library) = hostile() else { return };
    for (mode, words) in AT_THE_START {
        let broken = run(library, mode).unwrap_err();
        assert!(broken.to_string().contains(words), "{mode}: {broken}");
    }
}

/// `gatherspec run --library`; gives the status and what was printed.
fn gatherspec(library: &Path) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatherspec"));
    command.arg("run").arg("--out").arg(folder.path()).arg("--library").arg(library);
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

#[test]
fn the_example_in_c_passes_the_whole_suite() {
    above_quick!();
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = build(folder.path(), "libgather.so", "backends/c-example/gather.c", &["-Wpedantic"])
    else {
        return;
    };
    let (status, text) = gatherspec(&library);
    assert!(status == Some(0) && text.contains("everything conforms"), "{text}");
    for operator in ["paddle.gather_nd", "tf.gather", "tf.gather_nd", "tf.raw_ops.GatherNd"] {
        assert!(text.contains(&format!("│ {operator} ")) && !text.contains("unsupported"), "{text}");
    }
}

#[test]
fn a_library_is_fuzzed_and_repeated_by_its_file() {
    above_quick!();
    let folder = tempfile::tempdir().unwrap();
    let fuzz = |library: &Path, cases: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gatherspec"));
        command.args(["fuzz", "--time", "5", "--cases", cases, "--restarts", "1000", "--report"]);
        command.arg(folder.path().join("fuzz.json")).arg("--library").arg(library);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };
    let Some(right) = build(folder.path(), "libgather.so", "backends/c-example/gather.c", &[]) else {
        return;
    };
    let (status, text) = fuzz(&right, "300");
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains(&format!("300 cases of seed 1, {} against reference", right.display())), "{text}");
    // This one crashes at nearly every call.
    let Some(wrong) = hostile() else { return };
    let (status, text) = fuzz(wrong, "20");
    assert_eq!(status, Some(1), "{text}");
    let line = format!("gatherspec run --cases - --restarts 1000 --library {} <<", wrong.display());
    assert!(text.contains(&line), "{text}");
}

#[test]
fn the_lines_of_the_readme_build_and_run_the_example() {
    above_quick!();
    run_lines("../README.md", "cc", "everything conforms");
}

#[test]
fn the_lines_of_the_page_build_and_run_the_library_in_cpp() {
    above_quick!();
    run_lines("C.md", "c++", "conforms for f32 by i64");
}

/// Runs the first lines of a page that build a library, beside this folder: the run ends with these words.
fn run_lines(page: &str, compiler: &str, ending: &str) {
    let page = std::fs::read_to_string(here(page)).unwrap();
    let block = page.split("```sh\n").find(|block| block.contains("--library")).unwrap();
    let lines = block.split("```").next().unwrap();
    if Command::new(compiler).arg("--version").output().is_err() {
        let _ = writeln!(std::io::stderr(), "skipped: there is no compiler {compiler}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(here("."), folder.path().join("conformance")).unwrap();
    let programs = Path::new(env!("CARGO_BIN_EXE_gatherspec")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    let output =
        shell.args(["-e", "-c", lines]).current_dir(folder.path()).env("PATH", path).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains(ending), "{output:?}");
}

#[test]
fn what_cannot_be_loaded_is_said_and_ends_with_status_3() {
    above_quick!();
    let folder = tempfile::tempdir().unwrap();
    let nonsense = folder.path().join("libnonsense.so");
    std::fs::write(&nonsense, "no library").unwrap();
    let (status, text) = gatherspec(&nonsense);
    assert!(status == Some(3) && text.contains("it cannot be loaded"), "{status:?} {text}");
    let (status, text) = gatherspec(&folder.path().join("libnowhere.so"));
    assert!(status == Some(2) && text.contains("no such file"), "{status:?} {text}");

    for (define, words) in [
        ("-DNO_CALL", "it exports no gatherspec_call"),
        ("-DWRONG_ABI", "it speaks version 4 of gatherspec.h, this program speaks 3"),
    ] {
        let options =
            [define, "-Wno-unused-function", "-Wno-infinite-recursion", "-Wno-unknown-warning-option"];
        let Some(library) = build(folder.path(), "libother.so", "tests/native/hostile.c", &options) else {
            return;
        };
        let (status, text) = gatherspec(&library);
        assert!(status == Some(3) && text.contains(words), "{status:?} {text}");
    }
}
