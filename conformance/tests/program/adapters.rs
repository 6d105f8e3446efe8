//! The Python kit and the adapters, on `python3` or the interpreter that `GATHERSPEC_PYTHON` names. What that has not
//! is skipped, and said to be.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

fn python() -> String {
    std::env::var("GATHERSPEC_PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

/// Whether the interpreter has a module; says so if not.
fn has(module: &str) -> bool {
    let status = Command::new(python())
        .args(["-c", &format!("import {module}")])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let has = status.is_ok_and(|status| status.success());
    if !has {
        skipped(&format!("{} has no {module}; GATHERSPEC_PYTHON names another", python()));
    }
    has
}

/// Says what is not tested, and not by `eprintln!`, which the test harness would keep to itself.
fn skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}

fn here(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path).to_str().unwrap().to_owned()
}

fn gatherspec() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatherspec"));
    command.env("PYTHONPATH", here("python")).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// Runs the suite; gives the status and what was printed.
fn run(arguments: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let output = gatherspec()
        .args(["run", "--out", folder.path().to_str().unwrap()])
        .args(arguments)
        .env("XDG_CACHE_HOME", folder.path())
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

#[test]
fn a_tiny_adapter_is_judged_like_any_other() {
    above_quick!();
    if !has("struct") {
        return;
    }
    let some = ["documented", "bad-index", "ranks"].map(|topic| format!("paddle.gather_nd/{topic}/*"));
    let cases = some.iter().flat_map(|glob| ["--case", glob]);
    let cases: Vec<&str> = cases.chain(["--campaign", "400", "--file-above", "16", "--"]).collect();
    let (status, text) = run(&[&cases[..], &[&python(), &here("tests/adapters/tiny.py")]].concat());
    assert!(status == Some(0) && text.contains("pass") && !text.contains("nothing was asked"), "{text}");
}

#[test]
fn the_kit_is_strict_and_times_calls() {
    if !has("struct") {
        return;
    }
    let call = r#"{"cmd":"call","seq":5,"operator":"paddle.gather_nd","operands":{"input":{"dtype":"i32","shape":[2],"data":"AQAAAAIAAAA="},"index":{"dtype":"i32","shape":[1,1],"data":"AQAAAA=="}},"attributes":{}}"#;
    let time = call
        .replace("\"call\"", "\"time\"")
        .replace("\"attributes\"", "\"rounds\":3,\"min_round_ns\":1000,\"attributes\"");
    let in_file =
        |file: &str| call.replacen("\"data\":\"AQAAAAIAAAA=\"", &format!("\"file\":{file},\"offset\":0"), 1);
    let tiny = json!(here("tests/adapters/tiny.py")).to_string();
    let lines = [
        (call.to_owned(), r#"{"seq": 5, "output": {"dtype": "i32", "shape": [1], "data": "AgAAAA=="}}"#),
        (call.replace("AQAAAA==", "AgAAAA=="), "IndexError: 2 is out of range [0, 2)"),
        (call.replace("paddle.gather_nd", "tf.gather"), r#""unsupported": "no operator tf.gather""#),
        (call.replace("{}", "{\"axis\":0}"), "has no attribute axis"),
        (call.replace("{}", "{\"axis\":[0.5]}"), r#""seq": 5, "invalid""#),
        (call.replace("\"shape\":[2]", "\"shape\":[3]"), "8 bytes, but dtype and shape ask for 12"),
        (call.replace("\"shape\":[2]", "\"shape\":[-2]"), "a dim is no integer of at least 0"),
        (call.replace("\"shape\":[2]", "\"shape\":[true]"), "a dim is no integer of at least 0"),
        (call.replace("\"seq\":5", "\"seq\":5,\"seq\":6"), "a key occurs twice"),
        (call.replace("\"seq\":5", "\"seq\":5,\"more\":6"), "the key more is unknown"),
        (call.replace("AQAAAA==", "AQAAAA"), "index: data is not base64"),
        (call.replace("\"i32\",\"shape\":[2]", "\"int\",\"shape\":[2]"), "unknown dtype 'int'"),
        (in_file("0"), "0 is no regular file"),
        (in_file("null"), "None is no regular file"),
        (in_file("\"/dev/zero\""), "'/dev/zero' is no regular file"),
        (in_file(&json!(here("tests/adapters")).to_string()), "is no regular file"),
        (in_file(&tiny).replace("[2]", "[1099511627776]"), "the file is shorter than 4398046511104 bytes"),
        (in_file(&tiny), r#""output": {"dtype": "i32", "shape": [1]"#),
        (time.replace("\"rounds\"", "\"threads\":null,\"rounds\""), "threads is no integer"),
        (time.replace("\"rounds\"", "\"output\":null,\"rounds\""), "output is none of"),
        ("[1]".to_owned(), "a message is an object"),
        ("nonsense".to_owned(), r#""seq": null, "invalid": "no JSON"#),
        (r#"{"cmd":"start","protocol":7}"#.to_owned(), r#""protocol": 2, "backend": {"name": "tiny""#),
        (time.replace("\"rounds\"", "\"threads\":1,\"rounds\""), "cannot limit its threads"),
        (time, r#"{"seq": 5, "nanoseconds": ["#),
    ];
    let replies = replies(&[&here("tests/adapters/tiny.py")], lines.iter().map(|(line, _)| line.as_str()));
    let schema = jsonschema::validator_for(&gather_conformance::schemas::backend()).unwrap();
    for ((line, words), reply) in lines.iter().zip(replies.lines()) {
        assert!(reply.contains(words), "{line}\n{reply}");
        assert!(schema.is_valid(&serde_json::from_str::<Value>(reply).unwrap()), "{reply}");
    }
    assert_eq!(replies.lines().count(), lines.len());
}

/// What a Python program that uses the kit answers to some lines.
fn replies<'a>(program: &[&str], lines: impl Iterator<Item = &'a str>) -> String {
    said(program, lines).0
}

/// What it answers, and what it writes to standard error.
fn said<'a>(program: &[&str], lines: impl Iterator<Item = &'a str>) -> (String, String) {
    let mut child = Command::new(python())
        .args(program)
        .env("PYTHONPATH", here("python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    lines.for_each(|line| writeln!(input, "{line}").unwrap());
    drop(input);
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{stderr}");
    (stdout, stderr)
}

/// Functions that write to an operand: to an array that `load` made, to the bytes that it was made of, and before they
/// raise; and a `load` that loses bits, which is none.
const WRITES_TO_INPUTS: &str = "
import ctypes
from gatherspec import Operator, Tensor, serve
def array(params, indices):
    indices[0] = 9
    return params
def shared(params, indices):
    ctypes.memset(kept['data'], 7, 1)
    return params
def raises(params, indices):
    params[0] = 9
    raise ValueError('too late')
def element(params, indices, fill_value=None):
    return fill_value
kept = {}
def load(tensor):
    kept.update(data=tensor.data)
    return bytearray(byte & 0x7f for byte in tensor.data)
functions = {'paddle.gather_nd': array, 'tf.gather_nd': shared, 'tf.raw_ops.GatherNd': raises, 'jax.numpy.take': element}
serve(name='writes', version='1', load=load, store=lambda output: Tensor('u8', [len(output)], bytes(output)),
      operators={name: Operator(it, ['u8'], ['u8'], ['fill_value']) for name, it in functions.items()})
";

#[test]
fn the_kit_says_which_operand_was_written_to_and_loads_elements_and_prints_tracebacks() {
    if !has("struct") {
        return;
    }
    let call = |operator: &str, attributes: &str| {
        format!(
            r#"{{"cmd":"call","seq":5,"operator":"{operator}","operands":{{"params":{{"dtype":"u8","shape":[2],"data":"//8="}},"indices":{{"dtype":"u8","shape":[2],"data":"AQE="}}}},"attributes":{{{attributes}}}}}"#
        )
    };
    let changed = |operand: &str| {
        format!(
            r#"{{"seq": 5, "invalid": "the function wrote to its operand {operand}", "fault": "input-changed"}}"#
        )
    };
    let fill = r#""fill_value":{"dtype":"u8","shape":[],"data":"hQ=="}"#;
    let lines = [
        (call("paddle.gather_nd", ""), changed("indices")),
        (call("tf.gather_nd", ""), changed("indices")),
        (call("tf.raw_ops.GatherNd", ""), changed("params")),
        // 0x85 without its highest bit, which `load` drops of each operand, too.
        (
            call("jax.numpy.take", fill),
            r#"{"seq": 5, "output": {"dtype": "u8", "shape": [1], "data": "BQ=="}}"#.to_owned(),
        ),
    ];
    let (replies, stderr) = said(&["-c", WRITES_TO_INPUTS], lines.iter().map(|(line, _)| line.as_str()));
    let expected: Vec<&str> = lines.iter().map(|(_, reply)| reply.as_str()).collect();
    assert_eq!(replies.lines().collect::<Vec<_>>(), expected);
    let frame = "in raises\nValueError: too late\n";
    assert!(stderr.starts_with("Traceback (most recent call last)") && stderr.ends_with(frame), "{stderr}");
}

/// A library of 4 threads, which answers how often their number was set.
const THREADED: &str = "
from gatherspec import Operator, Tensor, serve
limits = [4]
count = lambda params, indices: Tensor('u8', [], bytes([len(limits) - 1]))
serve(name='threaded', version='1', load=lambda it: it, store=lambda it: it,
      threads=(lambda: limits[-1], limits.append), operators={'paddle.gather_nd': Operator(count, ['u8'], ['i32'])})
";

#[test]
fn the_kit_limits_threads_only_for_a_timing_that_asks_for_it_and_lifts_the_limit_afterwards() {
    if !has("struct") {
        return;
    }
    let call = r#"{"cmd":"call","seq":5,"operator":"paddle.gather_nd","operands":{"input":{"dtype":"u8","shape":[],"data":"AQ=="},"index":{"dtype":"i32","shape":[0],"data":""}},"attributes":{}}"#;
    let time = |more: &str| {
        let more = format!("\"rounds\":1,\"min_round_ns\":0{more},\"attributes\"");
        call.replace("\"call\"", "\"time\"").replace("\"attributes\"", &more)
    };
    let limited = |most: u64| time(&format!(",\"threads\":{most}"));
    let (set_0, set_2) = (r#""data": "AA==""#, r#""data": "Ag==""#);
    let lines = [
        (time(""), r#""threads": 4}"#),
        (call.to_owned(), set_0),
        (limited(3), r#""threads": 3}"#),
        (call.to_owned(), set_2),
        (time(""), r#""threads": 4}"#),
        (limited(9), r#""threads": 4}"#),
        (limited(0), r#""invalid": "threads is 0""#),
    ];
    let replies = replies(&["-c", THREADED], lines.iter().map(|(line, _)| line.as_str()));
    for ((line, words), reply) in lines.iter().zip(replies.lines()) {
        assert!(reply.contains(words), "{line}\n{reply}");
    }
    assert_eq!(replies.lines().count(), lines.len());
}

/// An adapter whose output says how often it was written to, and whether `timed` was called.
const WRITES: &str = "
from gatherspec import Operator, Tensor, serve
made = []
def fresh(params, indices):
    made.append(bytearray(1))
    return made[-1]
def into(params, indices, out):
    assert out is made[-1], 'another output'
    out[0] += 1
serve(name='writes', version='1', load=lambda tensor: tensor, timed=lambda: made.append(b'timed'),
      store=lambda output: Tensor('u8', [3], bytes([len(made), made[0] == b'timed', made[-2][0] if len(made) > 1 else 9])),
      operators={'paddle.gather_nd': Operator(fresh, ['u8'], ['i32'], into=into)})
";

#[test]
fn the_kit_times_calls_into_one_output_after_it_has_said_that_it_times() {
    if !has("struct") {
        return;
    }
    let call = r#"{"cmd":"call","seq":5,"operator":"paddle.gather_nd","operands":{"input":{"dtype":"u8","shape":[],"data":"AQ=="},"index":{"dtype":"i32","shape":[0],"data":""}},"attributes":{}}"#;
    let time = |output: &str| {
        let more = format!("\"rounds\":2,\"min_round_ns\":0,\"output\":\"{output}\",\"attributes\"");
        call.replace("\"call\"", "\"time\"").replace("\"attributes\"", &more)
    };
    let lines = [
        (time("into"), r#"{"seq": 5, "nanoseconds": ["#),
        // Three outputs are `timed`, that of the timing, written to once before its two rounds, and that of this call.
        (call.to_owned(), r#""data": "AwED""#),
        (time("pooled"), r#""unsupported": "this backend has no outputs of the kind pooled""#),
    ];
    let replies = replies(&["-c", WRITES], lines.iter().map(|(line, _)| line.as_str()));
    for ((line, words), reply) in lines.iter().zip(replies.lines()) {
        assert!(reply.contains(words), "{line}\n{reply}");
    }
    assert_eq!(replies.lines().count(), lines.len());
}

#[test]
fn the_adapter_of_stablehlo_names_both_versions_where_private_functions_are_missing() {
    if !has("struct") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let package = folder.path().join("jaxlib");
    std::fs::create_dir(&package).unwrap();
    std::fs::write(package.join("__init__.py"), "").unwrap();
    std::fs::write(package.join("version.py"), "__version__ = '9.9'").unwrap();
    let mut run = gatherspec();
    run.args(["run", "--backend", "stablehlo", "--python", &python(), "--out"])
        .arg(folder.path().join("out"));
    let output = run.env("PYTHONPATH", folder.path()).env("XDG_CACHE_HOME", folder.path()).output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("does not work in jaxlib 9.9; this adapter is for 0."), "{text}");
}

#[test]
fn a_whole_run_of_an_adapter_says_first_how_long_it_takes() {
    above_quick!();
    let first = "numpy: the run takes about 3 min on two cores\n";
    let (_, whole) = run(&["--backend", "numpy", "--python", "./no-python"]);
    let (_, cases) = run(&["--backend", "numpy", "--python", "./no-python", "--no-campaign"]);
    assert!(whole.contains(first) && !cases.contains(first), "{whole}{cases}");
}

/// What a run of an adapter for Node says where the path has these programs only.
#[cfg(unix)]
fn run_with_programs(programs: &[(&str, &str)]) -> String {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    for (name, script) in programs {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    let mut run = gatherspec();
    run.args(["run", "--backend", "webnn", "--out"]).arg(folder.path().join("out"));
    let output = run.env("PATH", folder.path()).env("XDG_CACHE_HOME", folder.path()).output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert_eq!(output.status.code(), Some(3), "{text}");
    text
}

#[test]
#[cfg(unix)]
fn what_an_adapter_for_node_lacks_is_named() {
    above_quick!();
    let has = |programs: &[(&str, &str)], words: &str| {
        let text = run_with_programs(programs);
        assert!(text.contains(words), "{text}");
    };
    let node = ("node", "echo v20.1.2");
    has(&[], "there is no node on the path: webnn needs Node 20 or later");
    has(&[("node", "echo v18.19.0")], "has the version `18.19.0`: webnn needs Node 20 or later");
    has(&[node], "there is no npm on the path");
    let failing = ("npm", "echo no disk here; exit 1");
    has(&[node, failing], "npm cannot install the packages of webnn: is there a network?");
    has(&[node, failing], "no disk here");
    has(&[node, ("npm", "")], "npm has installed @sparticuz/chromium elsewhere");
}
