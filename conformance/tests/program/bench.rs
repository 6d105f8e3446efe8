//! `gatherspec bench`: outputs are verified before they are timed, and what was measured is printed and written.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Status, stdout and stderr.
fn ended(arguments: &[&str]) -> (i32, String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_gatherspec")).arg("bench").args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// The cells of the rows of a workload.
fn rows<'a>(out: &'a str, workload: &str) -> Vec<Vec<&'a str>> {
    let cells = |line: &'a str| line.split('|').map(str::trim).collect::<Vec<_>>();
    out.lines().map(cells).filter(|cells| cells.get(1) == Some(&workload)).collect()
}

#[test]
fn backends_take_turns_and_every_duration_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("bench.json");
    let (status, out, said) = ended(&[
        "--backend",
        "reference",
        "--workload",
        "tiny-2x2",
        "--output",
        "fresh,into",
        "--turns",
        "2",
        "--rounds",
        "3",
        "--json",
        json.to_str().unwrap(),
    ]);
    assert_eq!((status, said.as_str()), (0, ""), "{out}");
    let rows = rows(&out, "tiny-2x2");
    let [fresh, reused] = &rows[..] else { panic!("{out}") };
    assert_eq!((fresh[2], fresh[3], reused[3]), ("8.00 B", "fresh", "reused"));
    assert!(fresh[4].contains("ns ±") || fresh[4].contains("µs ±"), "{fresh:?}");
    assert!(fresh[5].contains("ns ±") || fresh[5].contains("µs ±"), "{fresh:?}");
    assert_eq!(reused[5], "–", "the reference writes to new memory only");
    assert!(out.contains("- reference: this backend can be timed with fresh outputs only"), "{out}");

    let record: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    let workload = &record["workloads"][0];
    assert_eq!((&workload["id"], &workload["output_bytes"]), (&"tiny-2x2".into(), &8.into()));
    let fresh = &workload["timed"][0];
    assert_eq!(fresh["output"], "fresh");
    for durations in [&fresh["floor"], &fresh["backends"][0]["durations"], &fresh["backends"][1]["durations"]]
    {
        let all = durations["all"].as_array().unwrap();
        assert_eq!(all.len(), 2 * 3);
        let median = durations["median"].as_f64().unwrap();
        assert!(all.iter().any(|one| one.as_f64().unwrap() <= median) && median > 0.0);
    }
    assert_eq!(
        workload["timed"][1]["backends"][1]["left_out"],
        "this backend can be timed with fresh outputs only"
    );
    assert_eq!(record["backends"][1]["identity"]["name"], "reference");
}

/// Frameworks keep the memory of freed outputs, so a pool of ours is compared with fresh outputs of theirs.
#[test]
fn a_pool_is_timed_beside_fresh_outputs_of_the_others() {
    let brief = ["--workload", "tiny-2x2", "--turns", "1", "--rounds", "1", "--backend", "reference"];
    let (status, out, said) = ended(&[&brief[..], &["--output", "pooled"]].concat());
    assert_eq!((status, said.as_str()), (0, ""), "{out}");
    let row = &rows(&out, "tiny-2x2")[0];
    assert!(row[3] == "pooled" && row[4].contains('±') && row[5].contains('±'), "{out}");
    assert!(out.contains("| memory | workloads with a peer |") && out.contains("\n| pooled | 1 |"), "{out}");
}

/// A run and what it wrote give the same page, and no other file gives one.
#[test]
fn a_page_is_made_by_a_run_or_from_its_record() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (json, page, again) = (path("bench.json"), path("page.html"), path("again.html"));
    let brief = ["--workload", "tiny-2x2", "--turns", "1", "--rounds", "1", "--backend", "reference"];
    let (status, _, said) = ended(&[&brief[..], &["--json", &json, "--page", &page]].concat());
    assert_eq!((status, said.as_str()), (0, ""));
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.starts_with("<!doctype html>") && text.contains("tiny-2x2"), "{text}");
    assert!(text.contains("Content-Security-Policy") && !text.contains("<script"), "{text}");
    assert_eq!(ended(&["--from", &json, "--page", &again]), (0, String::new(), String::new()));
    assert_eq!(fs::read_to_string(&again).unwrap(), text);

    let (status, _, said) = ended(&["--from", &page, "--page", &again]);
    assert!(
        status == 2 && said.contains("--from reads a file that `gatherspec bench --json` wrote"),
        "{said}"
    );
    let (status, out, said) = ended(&["--from", &json, "--from", &json]);
    assert_eq!((status, said.as_str()), (0, ""));
    assert!(
        out.contains("\n| workload | memory | 1 | 2 |\n") && out.contains("\n| tiny-2x2 | pooled | "),
        "{out}"
    );
    let (status, _, said) = ended(&["--from", &json, "--from", &json, "--page", &again]);
    assert!(status == 2 && said.contains("--page shows one file: give --from once"), "{said}");
    let mut record: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    record["workloads"][0]["timed"][1]["floor"]["median"] = 0.into();
    fs::write(&json, record.to_string()).unwrap();
    let (status, _, said) = ended(&["--from", &json, "--page", &again]);
    let words = "bench.json: workloads[0].timed[1].floor.median is 0e0: expected nanoseconds";
    assert!(status == 2 && said.contains(words), "{said}");
    assert_eq!(fs::read_to_string(&again).unwrap(), text);
}

#[test]
fn a_backend_whose_output_is_wrong_is_not_timed() {
    let folder = tempfile::tempdir().unwrap();
    let kit = concat!(env!("CARGO_MANIFEST_DIR"), "/python");
    let program = folder.path().join("wrong.py");
    fs::write(
        &program,
        format!(
            "import sys\nsys.path.insert(0, {kit:?})\nfrom gatherspec import Operator, Tensor, serve\n\
             zeros = lambda params, indices: Tensor('f32', [2], bytes(8))\nitself = lambda tensor: tensor\n\
             serve(name='wrong', version='1', load=itself, store=itself,\n\
             operators={{'tf.gather_nd': Operator(zeros, ['f32'], ['i64'])}})\n"
        ),
    )
    .unwrap();
    let (status, out, said) =
        ended(&["--workload", "tiny-2x2", "--turns", "1", "--", "python3", program.to_str().unwrap()]);
    assert_eq!((status, said.as_str()), (1, ""), "{out}");
    assert_eq!(rows(&out, "tiny-2x2")[0][5], "–");
    assert!(out.contains("wrong.py: its output is wrong"), "{out}");
}

/// A backend for `tiny-2x2` which answers right, and then does what its mode says.
const PROGRAM: &str = r#"
import base64, json, struct, sys, time
mode, note = sys.argv[1:]
operators = {"tf.gather_nd": {"profile": {"bad": "error", "negative": "reject"}, "dtypes": ["f32"], "index_dtypes": ["i64"]}}
timings = 0
def read(tensor, kind):
    with open(tensor["file"], "rb") as file:
        return struct.unpack("<4" + kind, file.read()[tensor["offset"]:])
for line in sys.stdin:
    message = json.loads(line)
    if message["cmd"] == "start":
        backend = {"name": mode, "version": "1", "language": "Python"}
        reply = {"protocol": 2, "backend": backend, "operators": operators}
    elif message["cmd"] == "stop":
        break
    elif message["cmd"] == "call":
        params = read(message["operands"]["params"], "f")
        a, b, c, d = read(message["operands"]["indices"], "q")
        data = base64.b64encode(struct.pack("<2f", params[2 * a + b], params[2 * c + d])).decode()
        reply = {"seq": message["seq"], "output": {"dtype": "f32", "shape": [2], "data": data}}
    else:
        timings += 1
        if mode != "at-once":
            time.sleep(message["rounds"] * message["min_round_ns"] / 1e9)
        if mode == "overwrites" and timings == 2:
            with open(message["operands"]["indices"]["file"], "r+b") as file:
                file.seek(message["operands"]["indices"]["offset"])
                file.write(b"\x7f" * 32)
        if mode == "hangs" and timings == 2:
            with open(note, "w") as file:
                file.write("hangs")
            time.sleep(60)
        claim = 0.25 if mode == "impossible" else 250.0
        reply = {"seq": message["seq"], "nanoseconds": [claim] * message["rounds"]}
    print(json.dumps(reply), flush=True)
"#;

/// Writes [`PROGRAM`] to a folder, and gives the command for a mode.
fn program(folder: &Path, mode: &str) -> [String; 5] {
    let path = folder.join("program.py");
    fs::write(&path, PROGRAM).unwrap();
    let [path, note] = [path, folder.join("note")].map(|path| path.to_str().unwrap().to_owned());
    ["--".to_owned(), "python3".to_owned(), path, mode.to_owned(), note]
}

/// The number of durations of a backend with each kind of output memory.
fn counts(record: &Value, backend: usize) -> Vec<usize> {
    let timed = record["workloads"][0]["timed"].as_array().unwrap().iter();
    timed.map(|timed| timed["backends"][backend]["durations"]["all"].as_array().map_or(0, Vec::len)).collect()
}

#[test]
fn a_backend_that_changes_its_inputs_is_named_and_the_others_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("bench.json");
    let command = program(folder.path(), "overwrites");
    let options = ["--workload", "tiny-2x2", "--turns", "3", "--rounds", "1", "--backend", "reference"];
    let options = [&options[..], &["--output", "fresh,into", "--json", json.to_str().unwrap()]].concat();
    let command = command.iter().map(String::as_str);
    let (status, out, said) = ended(&options.into_iter().chain(command).collect::<Vec<_>>());
    assert_eq!((status, said.as_str()), (1, ""), "{out}");
    assert!(
        out.contains("note: it changed its inputs: the file of indices differs from byte 64 on\n"),
        "{out}"
    );
    let record: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    assert_eq!([0, 1, 2].map(|backend| counts(&record, backend)), [[3, 3], [3, 0], [0, 0]], "{out}");
    assert_eq!(out.matches("\n- ").count(), 2, "the reference has fresh outputs only: {out}");
}

#[test]
fn durations_that_cannot_be_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (mode, words) in [
        ("at-once", "its rounds last at least 30.0 ms, and its reply came after "),
        ("impossible", "it claims 0.25 ns a call, and no machine writes 8.00 B in less than 1.0 ns"),
    ] {
        let command = program(folder.path(), mode);
        let options = ["--workload", "tiny-2x2", "--turns", "1"].into_iter();
        let (status, out, said) =
            ended(&options.chain(command.iter().map(String::as_str)).collect::<Vec<_>>());
        assert!(status == 3 && said.contains(words) && out.contains(words), "{out}{said}");
        assert_eq!(rows(&out, "tiny-2x2")[0][5], "–", "{out}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_keeps_what_was_measured_and_no_input() {
    use std::os::unix::process::ExitStatusExt as _;
    use std::thread;
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, Signal, kill_process};

    let folder = tempfile::tempdir().unwrap();
    let here = |name: &str| folder.path().join(name);
    fs::create_dir(here("temporary")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatherspec"));
    command.args(["bench", "--workload", "t*-2x2", "--turns", "3", "--rounds", "2", "--page"]);
    command.arg(here("page.html")).arg("--json").arg(here("bench.json"));
    command.args(program(folder.path(), "hangs")).env("TMPDIR", here("temporary"));
    let mut running = command.stdout(fs::File::create(here("stdout")).unwrap()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while fs::metadata(here("note")).map_or(0, |file| file.len()) == 0 {
        assert!(Instant::now() < deadline && running.try_wait().unwrap().is_none(), "no second timing");
        thread::sleep(Duration::from_millis(5));
    }
    kill_process(Pid::from_child(&running), Signal::TERM).unwrap();
    let status = running.wait().unwrap();
    assert_eq!(status.signal(), Some(Signal::TERM.as_raw()), "{status:?}");
    assert_eq!(fs::read_dir(here("temporary")).unwrap().count(), 0, "inputs are left");
    let record: Value = serde_json::from_slice(&fs::read(here("bench.json")).unwrap()).unwrap();
    assert_eq!(record["interrupted"], "SIGTERM");
    assert_eq!((counts(&record, 0), counts(&record, 1)), (vec![2 * 2], vec![2]), "{record}");
    let sentence = "Interrupted by SIGTERM: the last workload may have fewer turns";
    for name in ["stdout", "page.html"] {
        let text = fs::read_to_string(here(name)).unwrap();
        assert!(text.contains("tiny-2x2") && text.contains(sentence), "{text}");
    }
}

#[test]
fn a_backend_that_ends_is_left_out_and_the_others_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let kit = concat!(env!("CARGO_MANIFEST_DIR"), "/python");
    let program = folder.path().join("ends.py");
    fs::write(
        &program,
        format!(
            "import os, sys\nsys.path.insert(0, {kit:?})\nfrom gatherspec import Operator, serve\n\
             ends = lambda params, indices: os._exit(7)\nitself = lambda tensor: tensor\n\
             serve(name='ends', version='1', load=itself, store=itself,\n\
             operators={{'tf.gather_nd': Operator(ends, ['f32'], ['i64'])}})\n"
        ),
    )
    .unwrap();
    let json = folder.path().join("bench.json");
    let (program, json) = (program.to_str().unwrap(), json.to_str().unwrap());
    let options = ["--workload", "tiny-2x2", "--output", "fresh,into", "--turns", "1", "--json", json];
    let (status, out, said) = ended(&[&options[..], &["--", "python3", program]].concat());
    assert_eq!(status, 3, "{out}");
    let row = &rows(&out, "tiny-2x2")[1];
    assert!(row[4].contains('±') && row[5] == "–", "{out}");
    assert!(said.contains("ends.py: the process ended with exit status 7"), "{said}");
    let record: Value = serde_json::from_slice(&fs::read(json).unwrap()).unwrap();
    assert_eq!(record["workloads"][0]["timed"].as_array().unwrap().len(), 2);
}

#[test]
fn a_workload_under_a_policy_is_asked_of_operators_that_have_it() {
    above_quick!();
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("bench.json");
    let (status, out, said) = ended(&[
        "--workload",
        "scalars-f32-65536-*",
        "--turns",
        "1",
        "--rounds",
        "1",
        "--output",
        "fresh",
        "--json",
        json.to_str().unwrap(),
    ]);
    assert_eq!((status, said.as_str()), (0, ""), "{out}");
    let record: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    let asked: Vec<(&str, &str)> = record["workloads"]
        .as_array()
        .unwrap()
        .iter()
        .map(|workload| {
            let operator = &workload["timed"][0]["backends"][0]["operator"];
            (workload["id"].as_str().unwrap(), operator.as_str().unwrap())
        })
        .collect();
    let of = |policy: &str| {
        let id = format!("scalars-f32-65536-{policy}");
        asked.iter().find(|(workload, _)| *workload == id).map(|(_, operator)| *operator)
    };
    assert_eq!(of("wrap"), Some("array_api.take"));
    assert_eq!(of("zero"), Some("openvino.Gather-8"));
    assert_eq!([of("clamp"), of("fill")], [Some("jax.numpy.take"); 2]);
    assert_eq!(of("modulo"), Some("jax.numpy.take"));
}

#[test]
fn every_level_of_the_processor_is_timed_as_a_backend_of_its_own() {
    let brief = ["--workload", "tiny-2x2", "--turns", "1", "--rounds", "1", "--output", "fresh"];
    let (status, out, said) = ended(&[&brief[..], &["--level", "portable"]].concat());
    assert_eq!((status, said.as_str()), (0, ""), "{out}");
    let head = rows(&out, "workload");
    assert_eq!(head[0][4..6], ["optimized", "optimized (portable)"]);
    assert!(rows(&out, "tiny-2x2")[0][5].contains("s ±"), "{out}");
    let (status, _, said) = ended(&["--level", "avx1"]);
    assert_eq!(status, 2);
    assert!(said.contains("expected one that this processor has: portable"), "{said}");
}

#[test]
fn an_unknown_or_strided_workload_is_refused_before_anything_is_started() {
    let (status, out, said) = ended(&["--workload", "tiny-2x3"]);
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(said.contains("tiny-2x3") && said.contains("tiny-2x2"), "{said}");
    let (status, _, said) = ended(&["--workload", "rows-f32-1mx64-padded"]);
    assert_eq!(status, 2);
    assert!(
        said.contains("strided tensors")
            && said.contains("cargo bench -p gather-benches --bench gather -- rows-f32-1mx64-padded"),
        "{said}"
    );
    let (status, _, said) = ended(&["--workload", "*-into-padded"]);
    assert_eq!(status, 2, "a table without rows");
    assert!(said.contains("strided tensors"), "{said}");
    let (status, _, said) = ended(&["--output", "elsewhere"]);
    assert_eq!(status, 2);
    assert!(said.contains("expected fresh, pooled or into"), "{said}");
}
