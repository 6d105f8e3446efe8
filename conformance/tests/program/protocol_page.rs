//! `PROTOCOL.md` says what is so: its session is what the built-in backend answers, its tables are complete, its limits
//! are the defaults, and its code runs. So do the lists in `gatherspec.h`.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gather_conformance::internals::process::ProcessLimits;
use gather_conformance::protocol::Reply;
use gather_conformance::serve::{LONGEST_TIMING, MAX_ROUNDS};
use gather_conformance::{builtin, schemas};
use gather_spec::signature::{AttributeType, OperandRole};
use gather_spec::{DType, ErrorCode, GatherError, Outcome, Shape};
use serde_json::{Value, json};

/// The file of the session, as the page names it, and the elements in it.
const FILE: &str = "/tmp/gatherspec/4-params.bin";
const FILE_ELEMENTS: [u8; 6] = [0x07, 0x00, 0xFF, 0xFF, 0x2C, 0x01];

fn read(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

fn page() -> String {
    read("PROTOCOL.md")
}

/// The lines of the session that begin with an arrow.
fn session<'a>(page: &'a str, arrow: &str) -> Vec<&'a str> {
    page.lines().filter_map(|line| line.strip_prefix(arrow)).collect()
}

/// The text of every fenced block in a language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    page.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

/// The cells of every row of a table that begins with a text in backquotes.
fn rows(page: &str) -> Vec<Vec<&str>> {
    page.lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect()
}

/// The texts in backquotes.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// A reply without what differs from one version, or one run, to the next.
fn comparable(line: &str) -> Value {
    let mut reply: Value = serde_json::from_str(line).unwrap();
    if let Some(version) = reply.pointer_mut("/backend/version") {
        *version = json!("");
    }
    for duration in reply["nanoseconds"].as_array_mut().into_iter().flatten() {
        assert!(duration.as_f64().unwrap() > 0.0, "{line}");
        *duration = json!(1);
    }
    reply
}

#[test]
fn the_session_is_what_the_reference_answers() {
    let page = page();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("params.bin");
    fs::write(&file, [&[0xA5; 64][..], &FILE_ELEMENTS].concat()).unwrap();
    let (path, sent) = (json!(file), session(&page, "-> "));
    let lines: String = sent.iter().map(|line| format!("{line}\n")).collect();
    assert!(lines.contains(FILE));
    let lines = lines.replace(&json!(FILE).to_string(), &path.to_string());

    let mut served = Command::new(env!("CARGO_BIN_EXE_gatherspec"))
        .args(["serve", "reference"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    served.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = served.wait_with_output().unwrap();
    assert!(output.status.success());

    let answered = String::from_utf8(output.stdout).unwrap();
    let answered: Vec<Value> = answered.lines().map(comparable).collect();
    let shown: Vec<Value> = session(&page, "<- ").into_iter().map(comparable).collect();
    assert_eq!(shown, answered);
    assert_eq!(shown.len() + 1, sent.len(), "all but `stop` is answered");
}

#[test]
fn the_session_has_every_message_and_keeps_the_schemas() {
    let page = page();
    let (mut sent, mut answered) = (BTreeSet::new(), BTreeSet::new());
    let harness = jsonschema::validator_for(&schemas::harness()).unwrap();
    for line in session(&page, "-> ") {
        let message: Value = serde_json::from_str(line).unwrap();
        assert!(harness.is_valid(&message) != (message["seq"] == 7), "{line}");
        sent.insert(message["cmd"].as_str().unwrap().to_owned());
    }
    assert_eq!(Vec::from_iter(sent), ["call", "start", "stop", "time"]);
    let backend = jsonschema::validator_for(&schemas::backend()).unwrap();
    for line in session(&page, "<- ").into_iter().chain(blocks(&page, "json")) {
        let message: Value = serde_json::from_str(line).unwrap();
        assert!(backend.is_valid(&message), "{line}");
        let keys = message.as_object().unwrap().keys();
        answered.extend(keys.filter(|key| *key != "seq" && *key != "threads").cloned());
    }
    let all =
        ["backend", "error", "invalid", "nanoseconds", "operators", "output", "protocol", "unsupported"];
    assert_eq!(Vec::from_iter(answered), all);
}

#[test]
fn the_bytes_beside_a_base64_text_are_those_in_it() {
    let page = page();
    let hexadecimal =
        |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(" ");
    let session = session(&page, "-> ").concat();
    let mut found = 0;
    for row in rows(&page) {
        let [text, bytes, _] = row[..] else { continue };
        let (text, bytes) = (quoted(text)[0], quoted(bytes));
        if let [bytes] = bytes[..] {
            assert_eq!(hexadecimal(&STANDARD.decode(text).unwrap()), bytes, "{text}");
            found += usize::from(session.contains(text));
        }
    }
    assert_eq!(found, 2, "two of them stand in the session");
    assert!(page.contains(&format!("64 bytes `A5` and then `{}`", hexadecimal(&FILE_ELEMENTS))));
}

#[test]
fn the_table_of_dtypes_is_complete() {
    let page = page();
    let rows = rows(&page);
    for dtype in DType::ALL {
        let bytes = if dtype == DType::String { String::new() } else { dtype.size().to_string() };
        let name = format!("`{dtype}`");
        assert!(rows.iter().any(|row| row[0] == name && row[1] == bytes), "{dtype} has {bytes} bytes");
    }
}

/// An error of every kind.
fn errors() -> [GatherError; 11] {
    let (dtype, shape) = (DType::U8, || Shape::new([]).unwrap());
    [
        GatherError::ParamsDtype { dtype },
        GatherError::IndexDtype { dtype },
        GatherError::ParamsRank { rank: 0, least: 1 },
        GatherError::IndicesRank { rank: 0, least: 1 },
        GatherError::BatchDimsOutOfRange { batch_dims: 1, low: 0, high: 0 },
        GatherError::AxisOutOfRange { axis: 1, low: -1, rank: 1 },
        GatherError::AxisBeforeBatch { axis: 0, batch_dims: 1 },
        GatherError::BatchShapeMismatch { params: shape(), indices: shape() },
        GatherError::IndexDepth { batch_dims: 0, depth: 1, rank: 0 },
        GatherError::OutputTooLarge { bytes: 1 },
        GatherError::IndexOutOfRange { position: vec![0], component: Some(0), index: 1, bound: 1 },
    ]
}

#[test]
fn the_table_of_codes_has_every_code_in_order_with_its_fields() {
    let page = page();
    let fields = |code: ErrorCode| code.fields().iter().map(|field| (*field).to_owned()).collect();
    for error in errors() {
        let reply = Reply::new(1, &Outcome::Error(error.clone().into()));
        let reply = serde_json::to_value(reply).unwrap();
        let keys = reply["error"].as_object().unwrap().keys();
        let sent: BTreeSet<String> =
            keys.filter(|key| *key != "code" && *key != "message").cloned().collect();
        assert_eq!(sent, fields(error.code()), "{error}");
    }
    let expected = ErrorCode::ALL.map(|code| (code.name().to_owned(), fields(code)));
    let shown: Vec<(String, BTreeSet<String>)> = rows(&page)
        .into_iter()
        .filter(|row| quoted(row[0])[0].parse::<ErrorCode>().is_ok())
        .map(|row| (quoted(row[0])[0].to_owned(), quoted(row[2]).into_iter().map(str::to_owned).collect()))
        .collect();
    assert_eq!(shown, expected);
}

#[test]
fn the_table_of_operators_has_their_attributes_and_index_dtypes() {
    let page = page();
    let rows = rows(&page);
    for operator in &crate::embedded().operators {
        let name = format!("`{}`", operator.operator);
        let row = rows.iter().find(|row| row[0] == name).unwrap_or_else(|| panic!("{name} is missing"));
        let attributes: Vec<&str> = operator.attributes.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(quoted(row[1]), attributes, "{name}");
        // Integers and arrays of them first, with their type behind the last of them.
        let (integers, others) = row[1].split_once("integer").unwrap_or(("", row[1]));
        for attribute in &operator.attributes {
            let is_integer = matches!(attribute.r#type, AttributeType::Integer | AttributeType::Integers);
            let typed = if is_integer { integers } else { others };
            assert!(typed.contains(&format!("`{}`", attribute.name)), "{name} {}", attribute.name);
        }
        let has = |kind| operator.attributes.iter().any(|attribute| attribute.r#type == kind);
        assert_eq!(others.contains("boolean"), has(AttributeType::Boolean), "{name}");
        assert_eq!(others.contains("a string"), has(AttributeType::String), "{name}");
        assert_eq!(others.contains("an element"), has(AttributeType::Element), "{name}");
        let nullable = operator.attributes.iter().any(|attribute| attribute.nullable);
        assert_eq!(row[1].contains("or null"), nullable, "{name}");
        let names = |dtypes: &[DType]| dtypes.iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join(", ");
        let params = &operator.operand(OperandRole::Params).dtypes;
        let all = params.len() == DType::ALL.len();
        assert_eq!(row[2], if all { "every dtype".to_owned() } else { names(params) }, "{name}");
        assert_eq!(row[3], names(&operator.operand(OperandRole::Indices).dtypes), "{name}");
    }
}

#[test]
fn the_limits_are_the_defaults() {
    let page = page();
    let limits = ProcessLimits::default();
    let memory = limits.memory.unwrap();
    for (limit, option) in [
        (format!("{} s", limits.start.as_secs()), "`--start-limit SECONDS`"),
        (format!("{} s", limits.call.as_secs()), "`--call-limit SECONDS`"),
        (format!("{} bytes", limits.reply), "`--reply-limit BYTES`"),
        (format!("{memory} bytes"), "`--memory-limit BYTES`, 0 for none"),
        (limits.restarts.to_string(), "`--restarts N`"),
        (format!("{} bytes", limits.file_above), "`--file-above BYTES`"),
    ] {
        assert!(page.contains(&format!("| {limit} | {option} |")), "{limit} {option}");
    }
    assert!(page.contains(&format!("| {} s | |", limits.stop.as_secs())));
    assert!(page.contains(&format!("Up to {} calls", limits.window)));
    assert!(page.contains("more than 100,000 rounds, or of more than an hour"));
    assert_eq!((MAX_ROUNDS, LONGEST_TIMING), (100_000, Duration::from_secs(60 * 60)));
}

/// Calls with two faults, of neighbouring steps of the list of replies or of the first and the last.
#[test]
fn the_first_reply_of_the_list_that_is_possible_is_the_one_that_serve_gives() {
    let page = page();
    for step in ["1. `invalid`", "2. `unsupported`", "3. `error`", "4. `unsupported`", "5. `error`"] {
        assert!(page.contains(&format!("\n{step}")), "{step}");
    }
    let call = |operator: &str, params: &str, indices: &str, attributes: &str| {
        format!(
            r#"{{"cmd":"call","seq":1,"operator":"{operator}","operands":{{"params":{params},"indices":{indices}}},"attributes":{attributes}}}"#
        )
    };
    let tensor = |dtype: &str, dims: &str, data: &str| {
        format!(r#"{{"dtype":"{dtype}","shape":[{dims}],"data":"{data}"}}"#)
    };
    let (scalar, one, bad) =
        (tensor("u8", "", "BQ=="), tensor("u8", "1", "BQ=="), tensor("i32", "", "BwAAAA=="));
    let wrong_data = tensor("u8", "2", "BQ==");
    let ones = "1,".repeat(32);
    let (wide, wide_bad) =
        (tensor("u8", &format!("{ones}1"), "BQ=="), tensor("i32", &format!("{ones}1"), "BwAAAA=="));
    let (huge, two_bad) = (tensor("u8", "0,4611686018427387904", ""), tensor("i32", "2", "BwAAAAcAAAA="));
    let faults = [
        ("wrong data, no such operator", call("no.operator", &wrong_data, &bad, "{}"), "invalid"),
        ("wrong type, unknown name", call("tf.gather", &one, &bad, r#"{"axis":true,"mode":1}"#), "invalid"),
        ("no such operator, a scalar", call("no.operator", &scalar, &bad, "{}"), "unsupported"),
        ("unknown name, a scalar", call("tf.gather", &scalar, &bad, r#"{"mode":1}"#), "unsupported"),
        ("a scalar, a bad index", call("tf.gather", &scalar, &bad, "{}"), "params-rank"),
        ("too large, a bad index", call("tf.gather", &huge, &two_bad, "{}"), "output-too-large"),
        ("65 axes, a bad index", call("tf.gather", &wide, &wide_bad, "{}"), "unsupported"),
        ("two bytes, a bad index", call("tf.gather", &one, &two_bad, "{}"), "unsupported"),
        ("a bad index", call("tf.gather", &one, &bad, "{}"), "index-out-of-range"),
    ];
    for backend in builtin::NAMES {
        let lines: String = faults.iter().map(|(_, line, _)| format!("{line}\n")).collect();
        let mut command = Command::new(env!("CARGO_BIN_EXE_gatherspec"));
        let mut served = command
            .args(["serve", backend, "--max-output", "1"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        served.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        let output = served.wait_with_output().unwrap();
        let replies: Vec<Value> = output
            .stdout
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect();
        assert_eq!(replies.len(), faults.len());
        for ((what, _, expected), reply) in faults.iter().zip(replies) {
            let given = reply["error"]["code"].as_str().map(str::to_owned);
            let given = given.or_else(|| reply.as_object()?.keys().find(|key| *key != "seq").cloned());
            assert_eq!(given.as_deref(), Some(*expected), "{backend}, {what}: {reply}");
        }
    }
}

/// What the loop in JavaScript calls where it is no module.
const REQUIRE: &str = "require(\"node:readline\").createInterface";

/// How long a program in JavaScript may take to end after its last line.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a block of JavaScript of the page, followed by more code, writes when it reads an input; `None` without node.
fn javascript(is_module: bool, block: usize, more: &str, input: &str) -> Option<String> {
    if Command::new("node").arg("--version").output().is_err() {
        println!("skipped: this needs node");
        return None;
    }
    let page = page();
    let code = format!("{}\n{more}", blocks(&page, "js")[block]);
    let code = if is_module { code.replace(REQUIRE, "createInterface") } else { code };
    let (kind, import) = if is_module { ("module", imported(&page)) } else { ("commonjs", "") };
    let mut node = Command::new("node");
    let node = node.arg(format!("--input-type={kind}")).args(["-e", &format!("{import}\n{code}")]);
    let mut node = node.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = node.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    // The end is up to the program: input does not end as long as it may take.
    let began = Instant::now();
    thread::spawn(move || {
        thread::sleep(PATIENCE);
        drop(stdin);
    });
    let output = node.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(began.elapsed() < PATIENCE, "it waits for the end of input");
    Some(String::from_utf8(output.stdout).unwrap())
}

/// The line that a module needs in place of `require`.
fn imported(page: &str) -> &str {
    page.split('`').find(|text| text.starts_with("import ")).unwrap()
}

#[test]
fn integers_of_any_length_go_through_the_javascript_unchanged() {
    let line = r#"{"dims":[9223372036854775807,3,9007199254740993],"least":-9223372036854775808,"text":"a\"1234567890123456789","base64":"1234567890123456"}"#;
    let check = format!(
        "const read = parse({line:?});
        if (read.dims[0] !== 9223372036854775807n || read.dims[1] !== 3) throw new Error(String(read.dims));
        process.stdout.write(stringify(read));"
    );
    if let Some(written) = javascript(false, 0, &check, "") {
        assert_eq!(written, line);
    }
}

#[test]
fn every_reply_of_the_loop_in_javascript_is_out_before_the_next_line_is_read() {
    let answer = r#"
        serve((line) => {
          if (line === "stop") return undefined;
          if (process.stdout.writableLength > 0) throw new Error("a reply is still in the buffer");
          return "x".repeat(Number(line));
        });"#;
    for is_module in [false, true] {
        let Some(written) = javascript(is_module, 1, answer, "1000000\n3\n500000\nstop\n7\n") else { return };
        assert_eq!(written.lines().map(str::len).collect::<Vec<_>>(), [1_000_000, 3, 500_000]);
    }
}

#[test]
fn the_header_for_libraries_lists_every_code_and_attribute() {
    let header = read("include/gatherspec.h");
    for code in ErrorCode::ALL {
        assert!(header.contains(&format!(" {code}")), "{code}");
    }
    for operator in &crate::embedded().operators {
        assert!(header.contains(operator.operator.as_str()), "{}", operator.operator);
        for attribute in &operator.attributes {
            assert!(header.contains(&attribute.name), "{}", attribute.name);
        }
    }
}
