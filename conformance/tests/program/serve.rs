//! `gatherspec serve`: every documented example over the line, broken messages, and 100,000 random calls held
//! against an independent oracle.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use gather_conformance::protocol::{CallMessage, TensorMessage};
use gather_spec::signature::{OperandRole, PermittedPolicies};
use gather_spec::{Allowed, Profile};
use serde_json::{Value, json};

use crate::tiers;

/// A served backend and both ends of its pipe.
struct Served {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Served {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_gatherspec"))
            .arg("serve")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    fn ask(&mut self, line: &str) -> Value {
        writeln!(self.input, "{line}").unwrap();
        let mut reply = String::new();
        self.output.read_line(&mut reply).unwrap();
        serde_json::from_str(&reply).unwrap()
    }

    fn stop(mut self) {
        writeln!(self.input, r#"{{"cmd":"stop"}}"#).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn start_tells_version_name_and_every_operator_with_its_profile() {
    let mut served = Served::start(&["reference", "--bad", "zero"]);
    let reply = served.ask(r#"{"cmd":"start","protocol":2}"#);
    assert_eq!(reply["protocol"], 2);
    assert_eq!(reply["backend"]["name"], "reference");
    let spec = crate::embedded();
    for page in &spec.operators {
        let declared = &reply["operators"][page.operator.as_str()];
        // What the command line leaves open is what the pages permit first.
        let profile = match page.permitted() {
            Some(permitted) => json!({"bad": "zero", "negative": permitted.negative[0]}),
            // The call chooses, whatever the command line says.
            None => json!({"bad": "error", "negative": "reject"}),
        };
        assert_eq!(declared["profile"], profile);
        let listed = &page.operand(OperandRole::Indices).dtypes;
        assert_eq!(declared["index_dtypes"].as_array().unwrap().len(), listed.len());
    }
    served.stop();
}

#[test]
fn a_start_of_another_version_is_answered_with_its_own() {
    let mut served = Served::start(&["reference"]);
    assert_eq!(served.ask(r#"{"cmd":"start","protocol":3}"#)["protocol"], 2);
    served.stop();
}

#[test]
fn every_documented_example_is_answered_as_its_case_expects() {
    let spec = crate::embedded();
    let mut served = Served::start(&["reference"]);
    let documented = spec.cases.iter().filter(|case| case.documented.is_some());
    for (seq, case) in documented.flat_map(gather_spec::Case::runs).enumerate() {
        let message = CallMessage::new(seq as u64, &case.call);
        let reply = served.ask(&serde_json::to_string(&message).unwrap());
        assert_eq!(reply["seq"], seq, "{}", case.id);
        // Without options, a backend follows the first policies that the pages permit.
        let page = spec.operators.iter().find(|page| page.operator == case.call.operator).unwrap();
        let first = |all: &PermittedPolicies| Profile { bad: all.bad[0], negative: all.negative[0] };
        let profile = page.permitted().map_or_else(Profile::default, first);
        match case.expect.under(profile).as_slice() {
            [Allowed::Output(output)] => {
                let expected = serde_json::to_value(TensorMessage::new(output)).unwrap();
                assert_eq!(reply["output"], expected, "{}", case.id);
            }
            [Allowed::Filled(filled)] => {
                let expected = serde_json::to_value(TensorMessage::new(&filled.tensor().unwrap())).unwrap();
                assert_eq!(reply["output"], expected, "{}", case.id);
            }
            [Allowed::Shape(shape)] => assert_eq!(reply["output"]["shape"], json!(**shape), "{}", case.id),
            [Allowed::Error(code, _)] => assert_eq!(reply["error"]["code"], code.name(), "{}", case.id),
            other => panic!("{}: {other:?}", case.id),
        }
    }
    served.stop();
}

#[test]
fn an_error_carries_its_code_and_fields() {
    let mut served = Served::start(&["reference"]);
    // params = [5, 6] as u8, indices = [[0], [2]] as i32: 2 is one past the end.
    let reply = served.ask(
        r#"{"cmd":"call","seq":9,"operator":"tf.gather_nd","operands":{"params":{"dtype":"u8","shape":[2],"data":"BQY="},"indices":{"dtype":"i32","shape":[2,1],"data":"AAAAAAIAAAA="}},"attributes":{}}"#,
    );
    let error = &reply["error"];
    assert_eq!(error["code"], "index-out-of-range");
    assert_eq!((&error["position"], &error["component"]), (&json!([1]), &json!(0)));
    assert_eq!((&error["index"], &error["bound"]), (&json!(2), &json!(2)));
    served.stop();
}

#[test]
fn a_broken_message_is_answered_invalid_and_the_next_is_answered_as_ever() {
    let good = r#"{"cmd":"call","seq":2,"operator":"tf.gather","operands":{"params":{"dtype":"u8","shape":[2],"data":"BQY="},"indices":{"dtype":"i32","shape":[],"data":"AQAAAA=="}},"attributes":{}}"#;
    let params = r#""params":{"dtype":"u8","shape":[2],"data":"BQY="}"#;
    let time = good.replace("call", "time");
    let time = |more: &str| time.replacen('{', &format!(r#"{{"rounds":1,"min_round_ns":0,{more},"#), 1);
    let attributes = |given: &str| good.replace(r#""attributes":{}"#, &format!(r#""attributes":{given}"#));
    let folder = tempfile::tempdir().unwrap();
    let file = |shape: &str| {
        let path = json!(folder.path());
        good.replace(
            params,
            &format!(r#""params":{{"dtype":"u8","shape":{shape},"file":{path},"offset":0}}"#),
        )
    };
    let broken: [(&str, &str, Value); 31] = [
        ("not json", "what", Value::Null),
        ("an array", "[1]", Value::Null),
        ("no command", r#"{"seq":7}"#, json!(7)),
        ("an unknown command", r#"{"cmd":"dance","seq":7}"#, json!(7)),
        ("an unknown key", &good.replace(r#""seq":2"#, r#""seq":7,"more":1"#), json!(7)),
        ("a missing key", &good.replace(params, r#""x":1"#).replace(r#""seq":2"#, r#""seq":7"#), json!(7)),
        ("a negative seq", &good.replace(r#""seq":2"#, r#""seq":-1"#), Value::Null),
        ("an unknown dtype", &good.replace("u8", "u9"), json!(2)),
        ("a negative dim", &good.replace("[2]", "[-2]"), json!(2)),
        ("a dim of 2^63", &good.replace("[2]", "[9223372036854775808]"), json!(2)),
        ("a shape that disagrees", &good.replace("[2]", "[3]"), json!(2)),
        ("a tensor as an array", &good.replace(params, r#""params":["u8",[2],"BQY="]"#), json!(2)),
        ("no base64", &good.replace("BQY=", "B!Y="), json!(2)),
        ("base64 without padding", &good.replace("BQY=", "BQY"), json!(2)),
        ("a fraction as attribute", &attributes(r#"{"axis":0.5}"#), json!(2)),
        ("a boolean where an integer belongs", &attributes(r#"{"batch_dims":true}"#), json!(2)),
        ("an integer where a boolean belongs", &attributes(r#"{"validate_indices":1}"#), json!(2)),
        ("a type that is wrong, and an unknown name", &attributes(r#"{"axis":true,"mode":1}"#), json!(2)),
        ("an attribute that is null", &attributes(r#"{"axis":null}"#), json!(2)),
        ("an attribute that is given twice", &attributes(r#"{"axis":0,"axis":0}"#), json!(2)),
        ("a file that is null", &good.replace("BQY=\"", "BQY=\",\"file\":null"), json!(2)),
        ("an offset that is null", &good.replace("BQY=\"", "BQY=\",\"offset\":null"), json!(2)),
        ("data that are null", &good.replace("\"BQY=\"", "null"), json!(2)),
        ("threads that are null", &time(r#""threads":null"#), json!(2)),
        ("an output that is null", &time(r#""output":null"#), json!(2)),
        ("a seq with a fraction", &good.replace(r#""seq":2"#, r#""seq":2.0"#), Value::Null),
        ("a dim with an exponent", &good.replace("[2]", "[2e0]"), json!(2)),
        ("a folder for elements", &file("[2]"), json!(2)),
        ("a folder for no elements", &file("[0]"), json!(2)),
        (
            "both data and file",
            &good.replace(r#""data":"BQY=""#, r#""data":"BQY=","file":"x","offset":0"#),
            json!(2),
        ),
        ("a rank of 65", &good.replace("[2]", &format!("[{}1]", "1,".repeat(64))), json!(2)),
    ];
    let mut served = Served::start(&["reference"]);
    for (what, line, seq) in broken {
        let reply = served.ask(line);
        assert_eq!(reply["seq"], seq, "{what}: {reply}");
        assert!(!reply["invalid"].as_str().unwrap().is_empty(), "{what}: {reply}");
        assert_eq!(served.ask(good)["output"]["data"], "Bg==", "after {what}");
    }
    served.stop();
}

#[test]
fn a_tensor_may_lie_in_a_file_and_the_file_must_hold_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("params.raw");
    std::fs::write(&path, [9u8, 5, 6]).unwrap();
    let ask = |served: &mut Served, offset: u64, file: &str| {
        let params = json!({"dtype": "u8", "shape": [2], "file": file, "offset": offset});
        let indices = json!({"dtype": "i32", "shape": [1], "data": "AQAAAA=="});
        let call = json!({"cmd": "call", "seq": 1, "operator": "tf.gather", "operands": {"params": params, "indices": indices}, "attributes": {}});
        served.ask(&call.to_string())
    };
    let mut served = Served::start(&["reference"]);
    let name = path.to_str().unwrap();
    assert_eq!(ask(&mut served, 1, name)["output"]["data"], "Bg==");
    assert!(ask(&mut served, 2, name)["invalid"].as_str().unwrap().contains("3 bytes"));
    assert!(ask(&mut served, u64::MAX, name)["invalid"].is_string());
    assert!(ask(&mut served, 0, "no/such/file")["invalid"].is_string());
    served.stop();
}

#[cfg(unix)]
#[test]
fn a_named_pipe_in_place_of_a_file_is_invalid_and_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut served = Served::start(&["reference"]);
    for dims in [json!([2]), json!([0])] {
        let reply = served.ask(&in_a_file(&pipe, &dims));
        assert!(reply["invalid"].as_str().unwrap().contains("this is a named pipe"), "{reply}");
    }
    served.stop();
}

/// A call whose params lie in a file.
fn in_a_file(path: &Path, dims: &Value) -> String {
    let params = json!({"dtype": "u8", "shape": dims, "file": path, "offset": 0});
    let indices = json!({"dtype": "i32", "shape": [], "data": "AQAAAA=="});
    json!({"cmd": "call", "seq": 1, "operator": "tf.gather", "operands": {"params": params, "indices": indices}, "attributes": {}})
        .to_string()
}

#[test]
fn files_can_be_forbidden_and_are_not_even_looked_for_then() {
    let folder = tempfile::tempdir().unwrap();
    let (there, missing) = (folder.path().join("there"), folder.path().join("missing"));
    std::fs::write(&there, [5, 6]).unwrap();
    let mut open = Served::start(&["reference"]);
    assert_eq!(open.ask(&in_a_file(&there, &json!([2])))["output"]["data"], "Bg==");
    assert!(open.ask(&in_a_file(&missing, &json!([2])))["invalid"].is_string());
    open.stop();
    let mut closed = Served::start(&["reference", "--no-files"]);
    for path in [there, missing] {
        let call = in_a_file(&path, &json!([2]));
        let time = call.replace("\"call\"", "\"time\"").replacen('{', r#"{"rounds":1,"min_round_ns":0,"#, 1);
        let replies = [closed.ask(&call), closed.ask(&time)];
        for reply in replies {
            assert_eq!(reply["unsupported"], "tensors in files are not read here", "{reply}");
        }
    }
    closed.stop();
}

/// One element gathered from one element, each of as many axes: the output has twice as many, less one.
fn of_rank(rank: usize, index: &str) -> String {
    let params = json!({"dtype": "u8", "shape": vec![1; rank], "data": "BQ=="});
    let indices = json!({"dtype": "i32", "shape": vec![1; rank], "data": index});
    json!({"cmd": "call", "seq": 1, "operator": "tf.gather", "operands": {"params": params, "indices": indices}, "attributes": {}})
        .to_string()
}

#[test]
fn an_output_of_more_than_64_axes_is_unsupported_whatever_its_indices() {
    let (zero, bad) = ("AAAAAA==", "BwAAAA==");
    for backend in gather_conformance::builtin::NAMES {
        let mut served = Served::start(&[backend]);
        // 32 + 32 - 1 axes are carried, 33 + 33 - 1 are not.
        let carried = served.ask(&of_rank(32, zero));
        assert_eq!(carried["output"]["shape"].as_array().unwrap().len(), 63, "{backend}");
        assert_eq!(served.ask(&of_rank(32, bad))["error"]["code"], "index-out-of-range", "{backend}");
        for index in [zero, bad] {
            let reply = served.ask(&of_rank(33, index));
            assert!(reply["unsupported"].as_str().unwrap().contains("65 axes"), "{backend}: {reply}");
        }
        // A fault that the shapes show comes before: 2^62 x 2^61 elements beside a dim of 0.
        let ones = "1,".repeat(31);
        let params = format!(r#"{{"data":"","dtype":"u8","shape":[0,{ones}4611686018427387904]}}"#);
        let indices = format!(r#"{{"data":"","dtype":"i32","shape":[0,{ones}2305843009213693951]}}"#);
        let call = format!(
            r#"{{"cmd":"call","seq":1,"operator":"tf.gather","operands":{{"params":{params},"indices":{indices}}},"attributes":{{}}}}"#
        );
        assert_eq!(served.ask(&call)["error"]["code"], "output-too-large", "{backend}");
        served.stop();
    }
}

#[test]
fn a_timing_without_end_is_unsupported_at_once() {
    let time = r#"{"cmd":"time","seq":3,"operator":"tf.gather","operands":{"params":{"dtype":"u8","shape":[2],"data":"BQY="},"indices":{"dtype":"i32","shape":[1],"data":"AQAAAA=="}},"attributes":{},"rounds":1,"min_round_ns":0}"#;
    let mut served = Served::start(&["reference"]);
    for (key, most) in [("rounds", u64::from(u32::MAX)), ("min_round_ns", u64::MAX)] {
        let value = if key == "rounds" { 1 } else { 0 };
        let message = time.replace(&format!(r#""{key}":{value}"#), &format!(r#""{key}":{most}"#));
        assert!(served.ask(&message)["unsupported"].is_string(), "{key}");
    }
    served.stop();
}

#[test]
fn a_call_is_timed_round_by_round() {
    let mut served = Served::start(&["reference"]);
    let time = r#"{"cmd":"time","seq":3,"operator":"tf.gather","operands":{"params":{"dtype":"u8","shape":[2],"data":"BQY="},"indices":{"dtype":"i32","shape":[1],"data":"AQAAAA=="}},"attributes":{},"rounds":4,"min_round_ns":1000}"#;
    let reply = served.ask(time);
    let nanoseconds = reply["nanoseconds"].as_array().unwrap();
    assert_eq!(nanoseconds.len(), 4);
    assert!(nanoseconds.iter().all(|duration| duration.as_f64().unwrap() > 0.0));
    assert!(
        served.ask(&time.replace(r#""rounds":4"#, r#""rounds":4,"output":"into""#))["unsupported"]
            .is_string()
    );
    served.stop();
    let mut optimized = Served::start(&["optimized"]);
    for memory in ["fresh", "pooled", "into"] {
        let time = time.replace(r#""rounds":4"#, &format!(r#""rounds":4,"output":"{memory}""#));
        assert_eq!(optimized.ask(&time)["nanoseconds"].as_array().unwrap().len(), 4, "{memory}");
        let bad = time.replace("AQAAAA==", "AgAAAA==");
        assert_eq!(optimized.ask(&bad)["error"]["code"], "index-out-of-range", "{memory}");
    }
    optimized.stop();
}

#[test]
fn a_limit_on_the_threads_of_a_timing_is_kept_and_the_next_timing_is_without() {
    let time = |threads: &str| {
        format!(
            r#"{{"cmd":"time","seq":3,"operator":"tf.gather","operands":{{"params":{{"dtype":"u8","shape":[2],"data":"BQY="}},"indices":{{"dtype":"i32","shape":[1],"data":"AQAAAA=="}}}},"attributes":{{}},"rounds":1,"min_round_ns":0{threads}}}"#
        )
    };
    let mut optimized = Served::start(&["optimized"]);
    let usual = optimized.ask(&time(""))["threads"].as_u64().unwrap();
    assert_eq!(optimized.ask(&time(r#","threads":1"#))["threads"], 1);
    for more in [1_000_000, u64::MAX] {
        assert_eq!(optimized.ask(&time(&format!(r#","threads":{more}"#)))["threads"], usual, "{more}");
    }
    assert_eq!(optimized.ask(&time(""))["threads"], usual);
    optimized.stop();
    let mut reference = Served::start(&["reference"]);
    assert_eq!(reference.ask(&time(r#","threads":8"#))["threads"], 1);
    reference.stop();
}

#[test]
fn an_output_beyond_the_limit_is_unsupported() {
    let mut served = Served::start(&["reference", "--max-output", "7"]);
    let call = |count: usize| {
        let data = if count == 1 { "AQAAAAAAAAA=" } else { "AQAAAAAAAAABAAAAAAAAAA==" };
        format!(
            r#"{{"cmd":"call","seq":1,"operator":"tf.gather","operands":{{"params":{{"dtype":"f32","shape":[2],"data":"AAAAAAAAAAA="}},"indices":{{"dtype":"i64","shape":[{count}],"data":"{data}"}}}},"attributes":{{}}}}"#
        )
    };
    assert!(served.ask(&call(1))["output"].is_object());
    assert!(served.ask(&call(2))["unsupported"].as_str().unwrap().contains("8 bytes"));
    served.stop();
    let mut served = Served::start(&["optimized", "--max-output", "7"]);
    for memory in ["fresh", "pooled", "into"] {
        let more = format!(r#""rounds":1,"min_round_ns":0,"output":"{memory}","attributes""#);
        let time = |count| call(count).replace(r#""call""#, r#""time""#).replace(r#""attributes""#, &more);
        assert_eq!(served.ask(&time(1))["nanoseconds"].as_array().unwrap().len(), 1, "{memory}");
        assert!(served.ask(&time(2))["unsupported"].as_str().unwrap().contains("8 bytes"), "{memory}");
    }
    served.stop();
}

#[test]
fn the_end_of_input_equals_stop() {
    let served = Served::start(&["reference"]);
    let Served { mut child, input, .. } = served;
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn an_independent_oracle_agrees_on_every_random_call_under_every_profile() {
    above_quick!();
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: the oracle needs python3");
        return;
    }
    let oracle = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle/oracle.py");
    let self_test = Command::new("python3").args([oracle, "--self-test"]).output().unwrap();
    assert!(self_test.status.success(), "{}", String::from_utf8_lossy(&self_test.stderr));
    let gatherspec = env!("CARGO_BIN_EXE_gatherspec");
    let listed = Command::new(gatherspec).args(["list", "operators", "--format", "json"]).output().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let operators = folder.path().join("operators.json");
    std::fs::write(&operators, listed.stdout).unwrap();
    let asked = gather_conformance::builtin::NAMES
        .into_iter()
        .flat_map(|backend| Profile::all_specified().map(move |profile| (backend, profile)));
    for (backend, Profile { bad, negative }) in asked.take(tiers::ORACLES.count()) {
        let policies = [format!("--bad={bad}"), format!("--negative={negative}")];
        // 20,000 is the least at which the oracle insists on having met every code.
        let mut command = Command::new("python3");
        command.args([oracle, "--calls", "20000", "--seed", "1", "--operators"]).arg(&operators);
        command.args(&policies).args(["--", gatherspec, "serve", backend]).args(&policies);
        let output = command.output().unwrap();
        let shown =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && shown.contains("20000 calls agree"), "{backend}: {shown}");
    }
}
