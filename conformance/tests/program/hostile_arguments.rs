//! Extreme arguments, outputs that are not read or cannot be written, and files that are no regular files:
//! each leads to its exit status and a message, and results are neither lost nor written over something else.

#![cfg(unix)]
use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt as _, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_gatherspec");
const CASE: &str = "tf.gather_nd/documented/rows-of-a-matrix";
/// A small specification, for what is not about the cases.
const SMALL: [&str; 2] = ["--spec", "made_up"];
const MOST: &str = "18446744073709551615";

fn gatherspec(arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command
        .args(arguments)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"))
        .env_remove("GATHERSPEC_LEVEL")
        .env_remove("CARGO_TARGET_DIR");
    command
}

/// Status, stdout and stderr of a command.
fn ended(command: &mut Command) -> (i32, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().expect("it was not killed"), text(stdout), text(stderr))
}

/// What a wrong usage is answered with.
fn refused(arguments: &[&str]) -> String {
    let (status, out, said) = ended(&mut gatherspec(arguments));
    assert_eq!((status, out.as_str()), (2, ""), "{said}");
    assert!(said.len() < 2000, "{} bytes", said.len());
    said
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn numbers_beyond_their_bounds_are_refused_with_the_bounds() {
    for (arguments, bound) in [
        (&["run", "--jobs"][..], "from 1 to 1024"),
        (&["run", "--backend", "./suite.rs", "--jobs"], "from 1 to 1024"),
        (&["fuzz", "--backend", "reference", "--jobs"], "from 1 to 1024"),
        (&["run", "--repeat"], "from 1 to 100000"),
    ] {
        for number in [MOST, "99999999999999999999999", "0", "-1", ""] {
            let said = refused(&[arguments, &[number]].concat());
            assert!(said.contains(bound) || number == "-1" || number.is_empty(), "{said}");
        }
    }
}

#[test]
fn threads_are_bounded_and_where_there_are_none_the_work_is_done_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let run = ["run", "--backend", "reference", "--case", CASE, "--jobs", "1", "--out"];
    let mut many = gatherspec(&run);
    let (status, text, said) = ended(many.arg(folder.path()).env("RAYON_NUM_THREADS", MOST));
    assert!(status == 0 && text.contains("everything conforms"), "{text}{said}");
    // A limit on address space that leaves no room for the stacks of threads.
    let mut none = Command::new("sh");
    let script = "ulimit -v 300000; exec \"$0\" list documents";
    let (status, text, said) = ended(none.args(["-c", script, PROGRAM]).env("RUST_MIN_STACK", "400000000"));
    assert!(status == 0 && text.contains("\ntf-gather  "), "{status} {text}{said}");
}

/// Address space for anything from no thread to all of them: each takes 300 MB.
#[test]
#[cfg(target_os = "linux")]
fn wherever_threads_end_is_said_or_done_without() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("fuzz.json");
    let run = ["run", "--memory-limit", "0", "--jobs", "3", "--case", CASE, "--out", "."];
    let run = [&run[..], &["--", PROGRAM, "serve", "reference"]].concat();
    let built_in = ["run", "--jobs", "3", "--case", CASE, "--out", "."];
    let fuzz = ["fuzz", "--backend", "optimized", "--jobs", "3", "--cases", "50", "--report"];
    let fuzz = [&fuzz[..], &[report.to_str().unwrap()]].concat();
    for arguments in [&run[..], &built_in, &fuzz] {
        let mut statuses = std::collections::BTreeSet::new();
        for megabytes in (500..=4500).step_by(1000) {
            let mut shell = Command::new("sh");
            let script = format!("ulimit -v {megabytes}000; exec \"$0\" \"$@\"");
            shell.args(["-c", &script, PROGRAM]).args(arguments).current_dir(folder.path());
            shell.env("RUST_MIN_STACK", "300000000").env("RAYON_NUM_THREADS", "3");
            let output = shell.output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(!said.contains("panicked"), "{megabytes} MB: {said}");
            let Some(status) = output.status.code() else {
                // What is left beside the stacks is not enough for a few bytes either.
                assert!(said.contains("memory allocation of "), "{megabytes} MB: {said}");
                continue;
            };
            assert!(matches!(status, 0 | 2 | 3), "{megabytes} MB: {status} {said}");
            statuses.insert(status);
        }
        assert!(statuses.contains(&0) && statuses.len() > 1, "{arguments:?}: {statuses:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_limit_on_the_size_of_files_costs_the_report_and_not_the_matrix() {
    let folder = tempfile::tempdir().unwrap();
    let mut shell = Command::new("sh");
    let script =
        "ulimit -c 0; ulimit -f 8; exec \"$0\" run --operator torch.take --backend reference --out .";
    let (status, text, said) = ended(shell.args(["-c", script, PROGRAM]).current_dir(folder.path()));
    assert!(status == 2 && text.contains("everything conforms"), "{status} {text}{said}");
    assert!(said.contains("cannot be written: File too large"), "{said}");
    // No part of a file is left; the smallest of them may fit.
    for left in fs::read_dir(folder.path()).unwrap() {
        let left = left.unwrap().file_name().into_string().unwrap();
        assert!(["badge-reference.json", "report.md"].contains(&left.as_str()), "{left}");
    }
}

#[test]
fn patterns_that_would_take_long_or_panic_are_refused_wherever_they_are_given() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("deviations.yaml");
    let deep = format!("{}a{}", "{".repeat(400), "}".repeat(400));
    // It is too long, or no name, and no glob either.
    let is_explained =
        |said: &str| said.contains("error: the pattern `") || said.contains("cannot be read as a glob: ");
    let no_glob = "cannot be read as a glob";
    // Each entry is right but for its pattern. What is short enough may also be a name.
    let entries = [
        ("case", "verdict: crash, ", no_glob),
        ("clause", "verdict: crash, ", no_glob),
        ("profile", "", "matches no operator"),
        ("versions", "case: '*', verdict: crash, ", no_glob),
    ];
    for (pattern, is_long) in [("*".repeat(100_000), true), (deep, false), ("{".repeat(100_000), true)] {
        for arguments in [&["run", "--case"][..], &["list", "cases", "--case"], &["mutants", "--without"]] {
            let said = refused(&[arguments, &[&pattern], &SMALL].concat());
            assert!(is_explained(&said), "{said}");
        }
        for (key, rest, short) in entries {
            let entry = format!("schema: 2\ndeviations:\n  - {{ {key}: '{pattern}', {rest}reason: x }}\n");
            fs::write(&file, entry).unwrap();
            let run = ["run", "--backend", "reference", "--deviations", file.to_str().unwrap()];
            let said = refused(&[&run[..], &SMALL].concat());
            let words = if is_long { "` has more than 4000 characters" } else { short };
            assert!(said.contains(words), "{key}: {said}");
        }
    }
}

#[test]
fn a_pattern_without_a_case_is_refused_beside_others() {
    let said = refused(&["run", "--case", CASE, "--case", "tf.gather/no-such-topic/*"]);
    assert!(said.contains("--case `tf.gather/no-such-topic/*` matches no case"), "{said}");
}

#[test]
fn a_folder_that_is_no_specification_is_refused_with_what_it_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec");
    let operator = folder.path().join("operators/tf/gather");
    fs::create_dir_all(&operator).unwrap();
    fs::create_dir_all(folder.path().join("families/take")).unwrap();
    let of_operator =
        ["operator.yaml", "clauses.yaml", "axis.yaml"].map(|file| format!("operators/tf/gather/{file}"));
    for file in of_operator.iter().map(String::as_str).chain(["families/take/clauses.yaml"]) {
        fs::copy(spec.join(file), folder.path().join(file)).unwrap();
    }
    for command in [&["list", "cases"][..], &["run"], &["check", "suite.rs"], &["mutants"]] {
        let said = refused(&[command, &["--spec", folder.path().to_str().unwrap()]].concat());
        assert!(said.contains("this folder has no documents.yaml"), "{said}");
    }
    // A topic that is none is not left out in silence.
    let topic = operator.join("topic.yaml");
    pipe(&topic);
    let said = refused(&["list", "cases", "--spec", folder.path().to_str().unwrap()]);
    assert!(said.contains("topic.yaml") && said.contains("this is not a file"), "{said}");
    fs::remove_file(topic).unwrap();
    // One that has it, but none of the sections that clauses name.
    fs::write(folder.path().join("documents.yaml"), "schema: 1\ndocuments: []\n").unwrap();
    let (status, _, said) = ended(gatherspec(&["list", "cases", "--spec"]).arg(folder.path()));
    assert!(status == 2 && said.contains("documents.yaml has no section"), "{said}");
}

/// The status of a command if the other end of its stdout or stderr, or of both, is closed before it starts.
fn unread(arguments: &[&str], stdout: bool, stderr: bool) -> Option<i32> {
    let closed = |is_closed| {
        let (reader, writer) = std::io::pipe().unwrap();
        if is_closed {
            drop(reader);
            Stdio::from(writer)
        } else {
            Stdio::null()
        }
    };
    gatherspec(arguments).stdout(closed(stdout)).stderr(closed(stderr)).status().unwrap().code()
}

#[test]
fn a_reader_that_stops_changes_no_status() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let right = ["run", "--backend", "reference", "--case", CASE, "--out", out];
    let wrong = ["run", "--backend", "reference", "--cases", "cases/wrong.yaml", "--out", out];
    let broken = ["run", "--spec", "made_up", "--out", out, "--", "/no/such/program"];
    let json = [&wrong[..], &["--format", "json"]].concat();
    let report = folder.path().join("fuzz.json");
    let fuzz = ["fuzz", "--backend", "reference", "--cases", "20", "--report", report.to_str().unwrap()];
    let table: [(&[&str], i32); 11] = [
        (&right, 0),
        (&wrong, 1),
        (&json, 1),
        (&broken, 3),
        (&fuzz, 0),
        (&["list", "cases", "--spec", "made_up"], 0),
        (&["show", CASE], 0),
        (&["completions", "bash"], 0),
        (&["--help"], 0),
        (&["run", "--no-such-option"], 2),
        (&["run", "--operator", "no.such"], 2),
    ];
    for (arguments, status) in table {
        for (stdout, stderr) in [(true, false), (false, true), (true, true)] {
            assert_eq!(unread(arguments, stdout, stderr), Some(status), "{arguments:?} {stdout} {stderr}");
        }
    }
    assert!(folder.path().join("report.json").is_file());
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_stdout_is_said_and_the_report_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = gatherspec(&["run", "--backend", "reference", "--case", CASE, "--out"]);
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = command.arg(folder.path()).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    let output = output.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said.starts_with("error: stdout cannot be written: "), "{said}");
    assert!(folder.path().join("report.json").is_file());
    for words in
        [&["--help"][..], &["run", "--help"], &["--version"], &["list", "cases", "--spec", "made_up"]]
    {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = gatherspec(words).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
        let output = output.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(said.starts_with("error: stdout cannot be written: "), "{said}");
    }
}

#[test]
fn nothing_but_a_file_is_replaced_and_that_is_said_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let [fifo, link, out] = ["fifo", "link", "out"].map(path);
    pipe(Path::new(&fifo));
    symlink("/dev/null", &link).unwrap();
    fs::create_dir(&out).unwrap();
    let case = "made.pick_rows/picking/no-components";
    let run = ["run", "--spec", "made_up", "--backend", "reference", "--case", case];
    for wrong in [fifo.as_str(), &link, "/dev/null", &out] {
        for arguments in [&["--out", &out, "--write-deviations", wrong][..], &["--out", wrong]] {
            if arguments == ["--out", out.as_str()] {
                continue;
            }
            let said = refused(&[&run[..], arguments].concat());
            assert!(said.contains(" cannot be written: "), "{said}");
        }
        let said = refused(
            &[&["fuzz", "--backend", "optimized", "--cases", "9", "--report", wrong][..], &SMALL].concat(),
        );
        assert!(said.contains(" cannot be written: "), "{said}");
    }
    symlink("../fifo", folder.path().join("out/report.md")).unwrap();
    assert!(refused(&[&run[..], &["--out", &out]].concat()).contains("not a regular file"));
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    assert!(fs::metadata(&fifo).unwrap().file_type().is_fifo());
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    let nowhere = path("no/such/folder.yaml");
    let said = refused(&[&run[..], &["--out", &out, "--write-deviations", &nowhere]].concat());
    assert!(said.contains("not a regular file") || said.contains("there is no folder"), "{said}");
}

#[test]
fn what_is_no_file_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    pipe(&fifo);
    for file in [fifo.to_str().unwrap(), "/dev/zero", folder.path().to_str().unwrap()] {
        for arguments in [
            &["run", "--backend", "reference", "--deviations"][..],
            &["run", "--library"],
            &["check"],
            &["check", "--document", "made-pick-rows"],
            &["merge"],
        ] {
            let said = refused(&[arguments, &[file], &SMALL].concat());
            assert!(said.contains("not a regular file") || said.contains("is not a file"), "{said}");
        }
        // Nor in a folder that is named.
        let results = tempfile::tempdir().unwrap();
        symlink(file, results.path().join("mine.json")).unwrap();
        let said = refused(&["show", "minus-one", "--results", results.path().to_str().unwrap()]);
        assert!(said.contains("mine.json: this is ") && said.contains("not a regular file"), "{said}");
    }
}

#[test]
fn deviations_of_another_backend_cost_neither_matrix_nor_report() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let file = folder.path().join("deviations.yaml");
    fs::write(&file, "schema: 2\nbackend: another\ndeviations: []\n").unwrap();
    let mut command = gatherspec(&["run", "--case", CASE, "--out"]);
    command.arg(&out).arg("--deviations").arg(&file).args(["--", PROGRAM, "serve", "reference"]);
    let (status, text, said) = ended(&mut command);
    assert_eq!(status, 2);
    assert!(said.contains("concerns the backend `another`, which is not in this run"), "{said}");
    assert!(
        text.contains("1 of 1 case asked: everything conforms") && out.join("report.json").is_file(),
        "{text}"
    );
}

/// A run in a folder of its own, on a backend that does something to it first.
fn run_in(folder: &Path, does: &str, options: &[&str]) -> (i32, String, String) {
    let mut command = gatherspec(&["run", "--case", CASE]);
    let script = format!("{does}; exec {PROGRAM} serve reference");
    ended(command.args(options).current_dir(folder).args(["--", "sh", "-c", &script]))
}

#[test]
fn a_working_folder_that_is_removed_meanwhile_costs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().join("here");
    fs::create_dir(&here).unwrap();
    let does = format!("rm -r '{}'", here.display());
    let (status, text, said) = run_in(&here, &does, &["--write-deviations", "draft.yaml"]);
    assert_eq!(status, 0, "{said}");
    assert!(
        text.contains("everything conforms") && text.ends_with("reports: gatherspec-report/chosen\n"),
        "{text}"
    );
    for name in ["gatherspec-report/chosen/report.json", "draft.yaml"] {
        assert!(here.join(name).is_file(), "{name}");
    }
}

#[test]
fn a_report_that_cannot_be_written_after_the_run_is_kept_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let (status, text, said) = run_in(folder.path(), "rm -r out; echo > out", &["--out", "out"]);
    assert_eq!(status, 2, "{text}");
    assert!(said.contains("the report out cannot be written: "), "{said}");
    assert!(text.contains("everything conforms"), "{text}");
    let kept = Path::new(text.lines().last().unwrap().strip_prefix("reports: ").unwrap());
    assert!(kept.join("report.json").is_file() && kept.join("report.xml").is_file(), "{}", kept.display());
    fs::remove_dir_all(kept).unwrap();
    // One file that cannot be written does not cost the others.
    let does = "rm draft.yaml; mkdir draft.yaml";
    fs::write(folder.path().join("draft.yaml"), "").unwrap();
    let (status, text, said) =
        run_in(folder.path(), does, &["--out", "other", "--write-deviations", "draft.yaml"]);
    assert_eq!(status, 2, "{text}");
    assert!(said.contains("draft.yaml cannot be written: "), "{said}");
    assert!(text.ends_with("reports: other\n") && folder.path().join("other/report.md").is_file(), "{text}");
}

#[test]
fn a_draft_does_not_replace_reasons() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("deviations.yaml");
    let path = file.to_str().unwrap();
    let reason = format!("schema: 2\ndeviations:\n  - {{ case: {CASE}, verdict: crash, reason: it does }}\n");
    fs::write(&file, &reason).unwrap();
    let out = folder.path().join("out");
    let run = ["run", "--backend", "reference", "--case", CASE, "--out", out.to_str().unwrap()];
    let said = refused(&[&run[..], &["--write-deviations", path]].concat());
    assert!(said.contains("holds reasons, which a draft in its place would lose"), "{said}");
    assert_eq!(fs::read_to_string(&file).unwrap(), reason);
    // A draft without reasons is replaced by the next one.
    fs::write(&file, "schema: 2\ndeviations:\n  - { case: x, verdict: crash, reason: '' }\n").unwrap();
    let (status, ..) = ended(&mut gatherspec(&[&run[..], &["--write-deviations", path]].concat()));
    assert_eq!(status, 0);
    assert!(fs::read_to_string(&file).unwrap().ends_with("deviations: []\n"));
    // A file of another kind is no draft either.
    fs::write(&file, "schema: 1\noperator: tf.gather\ncases: []\n").unwrap();
    let said = refused(&[&run[..], &["--write-deviations", path]].concat());
    assert!(said.contains("holds something other than deviations, which a draft"), "{said}");
    assert!(fs::read_to_string(&file).unwrap().ends_with("cases: []\n"));
}

#[test]
fn a_campaign_does_not_replace_what_is_no_report() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let [cases, report] = ["cases.yaml", "fuzz.json"].map(path);
    fs::write(&cases, "schema: 1\n").unwrap();
    let fuzz = ["fuzz", "--backend", "reference", "--cases", "9", "--report"];
    let (status, ..) = ended(&mut gatherspec(&[&fuzz[..], &[&report]].concat()));
    assert_eq!(status, 0);
    for arguments in [&[&fuzz[..], &[&cases]].concat()[..], &["merge", &report, "--out", &cases]] {
        let said = refused(arguments);
        assert!(said.contains("cases.yaml is no report and would be lost"), "{said}");
    }
    assert_eq!(fs::read_to_string(&cases).unwrap(), "schema: 1\n");
    let circle = path("circle");
    symlink("circle", &circle).unwrap();
    refused(&[&fuzz[..], &[&report, "--save", &circle]].concat());
    // Its own report is replaced, and so is a file that is empty.
    fs::write(&cases, "").unwrap();
    for file in [&report, &cases] {
        assert_eq!(ended(&mut gatherspec(&["merge", &report, "--out", file])).0, 0);
    }
    assert_eq!(fs::read(&cases).unwrap(), fs::read(&report).unwrap());
}

/// Kind and content are of one file: what becomes a named pipe after its kind was looked at is not waited for.
#[test]
fn a_file_that_becomes_a_pipe_meanwhile_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.yaml");
    let [file, fifo] = ["a", "b"].map(|name| folder.path().join(name));
    pipe(&fifo);
    let spec = crate::embedded();
    let (done, is_done) = std::sync::mpsc::channel();
    let read = path.clone();
    std::thread::spawn(move || {
        for _ in 0..2000 {
            let _ = spec.read_case_file(&read);
            let _ = gather_campaign::fuzz::CampaignReport::read(&read);
        }
        let _ = done.send(());
    });
    let start = std::time::Instant::now();
    while is_done.try_recv().is_err() {
        assert!(start.elapsed().as_secs() < 20, "a pipe is waited for");
        fs::write(&file, "schema: 1\n").unwrap();
        fs::rename(&file, &path).unwrap();
        fs::hard_link(&fifo, &file).unwrap();
        fs::rename(&file, &path).unwrap();
    }
}

#[test]
fn names_of_files_are_not_obeyed_by_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let evil = folder.path().join("a\u{1b}[2J\u{9b}0m\u{202e}.yaml");
    fs::write(&evil, "schema: 1\n").unwrap();
    let evil = evil.to_str().unwrap();
    for arguments in [
        &["check", evil][..],
        &["run", "--cases", evil],
        &["run", "--deviations", evil],
        &["merge", evil],
        &["run", "--operator", evil],
        &["show", evil],
        &["run", evil],
        &["list", "cases", "--spec", evil],
        &["run", "--case", evil],
        &["mutants", "--without", evil],
    ] {
        let small: &[&str] = if arguments.contains(&"--spec") { &[] } else { &SMALL };
        let said = refused(&[arguments, small].concat());
        let obeyed = said.chars().find(|c| c.is_control() && *c != '\n' || *c == '\u{202e}');
        assert_eq!(obeyed, None, "{arguments:?}: {said:?}");
    }
}
