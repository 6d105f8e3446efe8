//! The backends of `hostile_backends.rs`, `signals.rs` and `campaigns_on_programs.rs`: each answers like the reference, but for one
//! thing that it does to the call whose params begin with [`MARK`] or are strings, or when it starts or stops.

mod inputs;
mod left_behind;

use std::fs::OpenOptions;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::exit;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use gather_conformance::builtin;
use gather_conformance::protocol::{CallMessage, Reply, Request, call};
use gather_reference::Settings;
use gather_spec::{BadIndex, Call, DType, Element, NegativeIndex, Profile};
use inputs::{change_all_inputs, do_to_an_input, make_pipe, take_the_folder_away};
use left_behind::{be_a_daemon, leave_a_child, leave_a_daemon, leave_orphans_that_end};

/// The first element of the params at which a backend misbehaves.
pub(crate) const MARK: u32 = 666;

/// Tells this program to be the backend of that name.
pub(crate) const MODE: &str = "GATHERSPEC_HOSTILE";

/// Where a backend leaves a note for the test: a process id, or that it was here before.
pub(crate) const NOTE: &str = "GATHERSPEC_HOSTILE_NOTE";

const OPERATORS: &str = r#"{"tf.gather_nd":{"profile":{"bad":"error","negative":"reject"},"dtypes":["i32","i64","f32","f64","string"],"index_dtypes":["i32","i64"]}}"#;

/// How the reference answers. It is called by itself: the built-in backend would read all operators first, at each of a thousand
/// starts.
const HONEST: Settings = Settings {
    profile: Profile { bad: BadIndex::Error, negative: NegativeIndex::Reject },
    max_output: builtin::MAX_OUTPUT,
};

/// Is the backend that the environment names, if it names one.
pub(crate) fn be_one_if_told() {
    if let Some(mode) = std::env::var_os(MODE) {
        be(&mode.to_string_lossy());
    }
}

/// Answers the protocol as the backend of that name, until it ends.
fn be(mode: &str) -> ! {
    if mode.starts_with("is-a-") || mode.starts_with("is-an-") {
        be_a_daemon(mode);
    }
    if mode == "leaves-a-blank-orphan" {
        leave_a_daemon(mode);
    }
    if mode.starts_with("when-idle-") {
        be_asynchronous(mode);
    }
    let mut held: Option<String> = None;
    let mut last: Option<CallMessage> = None;
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        match Request::parse(line.as_bytes()) {
            Ok(Request::Start(_)) => start(mode),
            Ok(Request::Stop(_)) => break,
            Ok(Request::Call(message)) => {
                let asked = call(&message.operator, &message.operands, &message.attributes)
                    .expect("the runner sends valid calls");
                let honest = gather_reference::answer(&asked, HONEST);
                let honest = serde_json::to_string(&Reply::new(message.seq, &honest)).expect("plain data");
                if mode == "fails-everything" {
                    say(&format!(r#"{{"seq":{},"error":{{"message":"out of order"}}}}"#, message.seq));
                } else if mode == "takes-its-time-once" && first_time() {
                    note("now");
                    std::thread::sleep(Duration::from_millis(800));
                    say(&honest);
                } else if is_marked(mode, &asked) {
                    misbehave(mode, &message, honest, &mut held);
                } else {
                    say(&honest);
                    held.take().iter().for_each(|late| say(late));
                }
                last = Some(message);
            }
            _ => exit(9),
        }
    }
    stop(mode, last.as_ref())
}

/// Answers like the reference, but writes only when no call has come for a while, as runtimes do whose standard output
/// is asynchronous. The marked call finds replies unwritten.
fn be_asynchronous(mode: &str) -> ! {
    let needs_one_call = mode.starts_with("when-idle-takes-one-call");
    let idle = Duration::from_millis(match mode {
        _ if needs_one_call => 300,
        "when-idle-writes-but-changes-all-inputs" => 100,
        _ => 1,
    });
    let (found, lines) = mpsc::channel();
    std::thread::spawn(move || {
        io::stdin().lock().lines().map_while(Result::ok).try_for_each(|line| found.send(line))
    });
    let mut unwritten: Vec<String> = Vec::new();
    loop {
        let line = match lines.recv_timeout(idle) {
            Ok(line) => line,
            Err(ended) => {
                match unwritten.len() {
                    2.. if mode == "when-idle-takes-one-call-or-none" => {}
                    2.. if needs_one_call => say(r#"{"seq":null,"invalid":"two lines"}"#),
                    _ => unwritten.iter().for_each(|reply| say(reply)),
                }
                unwritten.clear();
                if ended == mpsc::RecvTimeoutError::Disconnected {
                    exit(0);
                }
                continue;
            }
        };
        match Request::parse(line.as_bytes()) {
            Ok(Request::Start(_)) => start(mode),
            Ok(Request::Call(message)) => {
                let asked = call(&message.operator, &message.operands, &message.attributes)
                    .expect("the runner sends valid calls");
                match mode {
                    _ if !is_marked(mode, &asked) => {}
                    "when-idle-writes-but-hangs" => hang(),
                    "when-idle-writes-but-changes-all-inputs" => {
                        change_all_inputs(&message).expect("files can be changed");
                    }
                    "when-idle-writes-but-dies" | "when-idle-writes-but-dies-at-strings" => exit(3),
                    "when-idle-or-dying-writes" => {
                        unwritten.iter().for_each(|reply| say(reply));
                        exit(3);
                    }
                    _ => {}
                }
                let honest = Reply::new(message.seq, &gather_reference::answer(&asked, HONEST));
                unwritten.push(serde_json::to_string(&honest).expect("plain data"));
            }
            // The end of input follows, and then what is unwritten is written.
            _ => {}
        }
    }
}

fn is_marked(mode: &str, call: &Call) -> bool {
    match mode {
        "dies-at-strings"
        | "when-idle-writes-but-dies-at-strings"
        | "dies-once"
        | "hangs-at-strings"
        | "hangs-when-started-again" => {
            call.operands.tensors().next().is_some_and(|params| params.dtype() == DType::String)
        }
        "does-nothing-that-it-declares" => true,
        _ if mode.ends_with("hangs-at-no-index") => {
            call.operands.get("indices").is_some_and(|indices| indices.shape().contains(&0))
        }
        _ => {
            call.operands.tensors().next().and_then(|params| params.iter().next())
                == Some(Element::Bits(MARK.into()))
        }
    }
}

fn say(line: &str) {
    let mut out = io::stdout().lock();
    // The reader may be gone, and then this process is about to be killed.
    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
        exit(0);
    }
}

fn say_bytes(bytes: &[u8]) {
    let mut out = io::stdout().lock();
    if out.write_all(bytes).and_then(|()| out.flush()).is_err() {
        exit(0);
    }
}

fn hang() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

fn devnull() -> std::fs::File {
    OpenOptions::new().read(true).write(true).open("/dev/null").expect("/dev/null can be opened")
}

fn note(text: &str) {
    let path = std::env::var_os(NOTE).expect("the test names a note");
    std::fs::write(path, text).expect("the note can be written");
}

/// Whether this is the first time that the test's note is taken.
fn first_time() -> bool {
    let path = std::env::var_os(NOTE).expect("the test names a note");
    OpenOptions::new().write(true).create_new(true).open(path).is_ok()
}

fn start(mode: &str) {
    let honest = format!(
        r#"{{"protocol":2,"backend":{{"name":"hostile","version":"1","language":"Rust"}},"operators":{OPERATORS}}}"#
    );
    match mode {
        "exits-at-once" => exit(4),
        "is-killed-at-start" => std::process::abort(),
        "hangs-at-start" => hang(),
        "notes-itself-and-hangs-at-start" => {
            note(&std::process::id().to_string());
            hang();
        }
        "closes-stdout-at-start" => {
            rustix::stdio::dup2_stdout(devnull()).expect("stdout can be replaced");
            hang();
        }
        "prints-a-banner-at-start" => say("Welcome to HostileFlow 3.1!"),
        "speaks-of-the-future" => return say(&honest.replace("\"protocol\":2", "\"protocol\":3")),
        "declares-an-unknown-dtype" => return say(&honest.replace("\"f64\"", "\"f8\"")),
        "declares-an-unknown-policy" => return say(&honest.replace("\"reject\"", "\"maybe\"")),
        "describes-itself-in-an-array" => {
            return say(&honest.replace(
                r#"{"name":"hostile","version":"1","language":"Rust"}"#,
                r#"["hostile","1","Rust"]"#,
            ));
        }
        "answers-before-being-asked" => {
            say(&honest);
            return say(r#"{"seq":1,"unsupported":"too eager"}"#);
        }
        "hangs-when-started-again" if !first_time() => hang(),
        "makes-the-terminal-raw" => {
            // Ignored, the signal does not stop a process of the background that changes the terminal.
            let script =
                format!("trap '' TTOU; stty raw -echo < /dev/tty && stty -a < /dev/tty > \"${NOTE}\"");
            let status = std::process::Command::new("sh").args(["-c", &script]).status();
            assert!(status.expect("there is a shell").success());
        }
        "reports-at-start" => eprintln!("==5==ERROR: AddressSanitizer: odr-violation"),
        "declares-nothing" => return say(&honest.replace(OPERATORS, "{}")),
        "declares-no-dtypes" => {
            return say(&honest.replace(r#"["i32","i64","f32","f64","string"]"#, "[]"));
        }
        "misspells-its-operator" => return say(&honest.replace("tf.gather_nd", "tf.gather_dn")),
        "misspells-an-operator" => {
            let more = OPERATORS.replace("tf.gather_nd", "tf.Gather");
            let both = format!("{},{}", &more[..more.len() - 1], &OPERATORS[1..]);
            return say(&honest.replace(OPERATORS, &both));
        }
        "changes-its-mind" if !first_time() => return say(&honest.replace("hostile", "other")),
        _ => {}
    }
    say(&honest);
}

fn stop(mode: &str, last: Option<&CallMessage>) -> ! {
    match (mode, last) {
        ("ignores-stop", _) => hang(),
        ("fails-at-stop", _) => {
            eprintln!("all is lost");
            exit(5);
        }
        ("talks-at-stop", Some(last)) => say(&format!(r#"{{"seq":{},"unsupported":"again"}}"#, last.seq)),
        _ => {}
    }
    exit(0)
}

/// The file that the indices of a call lie in.
fn file_of_indices(message: &CallMessage) -> Option<&str> {
    let (_, indices) = message.operands.0.iter().find(|(name, _)| name == "indices")?;
    indices.file.as_deref()
}

/// What a backend does with the marked call.
fn misbehave(mode: &str, message: &CallMessage, honest: String, held: &mut Option<String>) {
    let seq = message.seq;
    let output = |tensor: &str| say(&format!(r#"{{"seq":{seq},"output":{tensor}}}"#));
    let tensor = |dtype: &str, shape: &str, data: &str| {
        output(&format!(r#"{{"dtype":"{dtype}","shape":{shape},"data":{data}}}"#));
    };
    match mode {
        "exits" | "dies-at-strings" => exit(3),
        "exits-with-status-0" => exit(0),
        "aborts" => std::process::abort(),
        "is-killed" => {
            let own = rustix::process::getpid();
            let _ = rustix::process::kill_process(own, rustix::process::Signal::KILL);
        }
        "panics-with-words" => panic!("the kernel went away"),
        "hangs" | "hangs-at-no-index" | "hangs-at-strings" => hang(),
        "hangs-when-started-again" => exit(7),
        "does-nothing-that-it-declares" => {
            say(&format!(r#"{{"seq":{seq},"unsupported":"not today"}}"#));
        }
        "leaves-a-daemon-and-hangs-at-no-index" => {
            leave_a_daemon(mode);
            hang();
        }
        "writes-half-a-line-and-hangs" => {
            say_bytes(&honest.as_bytes()[..20]);
            hang();
        }
        "writes-half-a-line-and-exits" => {
            say_bytes(&honest.as_bytes()[..20]);
            exit(0);
        }
        "closes-stdout" => {
            rustix::stdio::dup2_stdout(devnull()).expect("stdout can be replaced");
            hang();
        }
        "closes-stdin" => {
            rustix::stdio::dup2_stdin(devnull()).expect("stdin can be replaced");
            hang();
        }
        "writes-a-line-of-1-gb" => {
            for _ in 0..1024 {
                say_bytes(&[b'x'; 1 << 20]);
            }
            hang();
        }
        "writes-no-utf-8" => say_bytes(b"{\"seq\":1,\"unsupported\":\"\xff\xfe\"}\n"),
        "writes-no-json" => say("{'seq': 1, 'output': None}"),
        "writes-an-array" => say(&format!("[{seq}, \"unsupported\", \"no\"]")),
        "writes-null" => say("null"),
        "leaves-out-the-answer" => say(&format!(r#"{{"seq":{seq}}}"#)),
        "leaves-out-seq" => say(r#"{"unsupported":"no"}"#),
        "adds-a-key" => say(&honest.replace("\"output\"", "\"elapsed\":3,\"output\"")),
        "answers-two-things-at-once" => {
            say(&honest.replace("\"output\"", "\"unsupported\":\"but\",\"output\""));
        }
        "answers-an-empty-line" => say(""),
        "answers-another-call" => say(&honest.replace(&seq.to_string(), &(seq + 1_000_000).to_string())),
        "answers-out-of-order" => *held = Some(honest),
        "answers-twice" => {
            say(&honest);
            say(&honest);
        }
        "prints-a-banner" => {
            say("warning: falling back to the slow path");
            say(&honest);
        }
        "floods-stderr" => {
            let line = [b'e'; 1023];
            (0..20_000)
                .for_each(|_| io::stderr().write_all(&[&line[..], b"\n"].concat()).expect("stderr is read"));
            say(&honest);
        }
        "reports-and-answers" => {
            eprintln!("=====\n==71==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x502");
            say(&honest);
        }
        "reports-undefined-behaviour-and-answers" => {
            eprintln!("take.c:12:9: runtime error: signed integer overflow");
            say(&honest);
        }
        "reports-early-in-a-flood-and-answers" => {
            eprintln!("==71== Invalid read of size 8");
            (0..2_000).for_each(|_| eprintln!("==71== and much more that is of no use"));
            say(&honest);
        }
        "refuses-only-once" if first_time() => say(&format!(r#"{{"seq":{seq},"error":{{"message":"no"}}}}"#)),
        "floods-stderr-and-exits" => {
            let line = [b'e'; 1023];
            (0..2_000)
                .for_each(|_| io::stderr().write_all(&[&line[..], b"\n"].concat()).expect("stderr is read"));
            eprintln!("out of luck");
            exit(1);
        }
        "claims-a-dtype-that-it-lacks" => say(&format!(r#"{{"seq":{seq},"unsupported":"no i32 here"}}"#)),
        "refuses" => say(&format!(r#"{{"seq":{seq},"error":{{"message":"no"}}}}"#)),
        "gives-an-unknown-code" => {
            say(&format!(r#"{{"seq":{seq},"error":{{"message":"no","code":"oops"}}}}"#));
        }
        "calls-the-message-invalid" => say(&format!(r#"{{"seq":{seq},"invalid":"I do not understand"}}"#)),
        "answers-other-bits" => tensor("i32", "[1]", "\"AAAAAA==\""),
        "answers-another-dtype" => output(
            &honest[honest.find("\"output\":").expect("an output") + 9..honest.len() - 1]
                .replace("i32", "u32"),
        ),
        "answers-another-shape" => tensor("i32", "[1,1]", "\"mwIAAA==\""),
        "disagrees-with-its-shape" => tensor("i32", "[2]", "\"mwIAAA==\""),
        "answers-negative-dims" => tensor("i32", "[-1]", "\"mwIAAA==\""),
        "answers-dims-of-2-to-the-63" => tensor("i32", "[9223372036854775808]", "\"\""),
        "answers-dims-that-overflow" => tensor("i32", "[4294967296,4294967296,0]", "\"\""),
        "answers-dims-that-overflow-with-elements" => {
            tensor("i32", "[4294967296,4294967296,0]", "\"mwIAAA==\"");
        }
        "answers-rank-65-without-elements" => {
            tensor("i32", &format!("{:?}", [vec![1u64 << 32; 64], vec![0]].concat()), "\"\"");
        }
        "answers-fractional-dims" => tensor("i32", "[1.0]", "\"mwIAAA==\""),
        "answers-rank-65" => tensor("i32", &format!("{:?}", [1; 65]), "\"mwIAAA==\""),
        "answers-rubbish-as-base64" => tensor("i32", "[1]", "\"!!!!AA==\""),
        "answers-base64-without-padding" => tensor("i32", "[1]", "\"mwIAAA\""),
        "answers-numbers-as-strings" => tensor("i32", "[1]", "[\"mwIAAA==\"]"),
        "answers-an-unknown-dtype" => tensor("int32", "[1]", "\"mwIAAA==\""),
        "answers-with-a-file" => output(r#"{"dtype":"i32","shape":[1],"file":"/etc/hostname","offset":0}"#),
        "allocates-without-end" => {
            let mut hoard: Vec<Vec<u8>> = Vec::new();
            loop {
                hoard.push(vec![1; 64 << 20]);
                std::hint::black_box(&hoard);
            }
        }
        "leaves-a-child" => {
            leave_a_child();
            say(&honest);
        }
        "leaves-a-child-and-exits" => {
            leave_a_child();
            exit(6);
        }
        "leaves-a-daemon" | "leaves-a-blank-daemon" | "leaves-an-orphan" => {
            leave_a_daemon(mode);
            say(&honest);
        }
        "mutters-and-changes-its-input" => {
            eprintln!("the file is mine");
            // The reader of standard error may be slower than the reader of the reply.
            std::thread::sleep(Duration::from_millis(200));
            let path = file_of_indices(message).expect("the indices lie in a file");
            do_to_an_input("changes-its-input", Path::new(path)).expect("files can be changed");
            say(&honest);
        }
        _ if mode.ends_with("-its-input") => {
            let path = file_of_indices(message).expect("the indices lie in a file");
            do_to_an_input(mode, Path::new(path)).expect("files can be changed");
            say(&honest);
        }
        "takes-the-folder-of-its-input-away" => {
            take_the_folder_away(message).expect("the folder can be removed");
            say(&honest);
        }
        "takes-the-folder-of-its-input-away-and-complains" => {
            take_the_folder_away(message).expect("the folder can be removed");
            say(&format!(r#"{{"seq":{seq},"invalid":"there is no such file"}}"#));
        }
        "prepares-pipes-for-later-inputs" => {
            let path = Path::new(file_of_indices(message).expect("the indices lie in a file"));
            for later in seq + 1..seq + 8 {
                let _ = make_pipe(&path.with_file_name(format!("{later}-indices.bin")));
            }
            say(&honest);
        }
        "says-too-much" => {
            say(&format!(r#"{{"seq":{seq},"error":{{"message":"{}"}}}}"#, "x".repeat(900_000)));
        }
        "gives-null-as-code" => {
            say(&format!(r#"{{"seq":{seq},"error":{{"message":"no","code":null}}}}"#));
        }
        "leaves-orphans-that-end" => {
            leave_orphans_that_end();
            say(&honest);
        }
        "answers-differently-the-second-time" if !first_time() => tensor("i32", "[1]", "\"AAAAAA==\""),
        "dies-once" if first_time() => exit(7),
        "dies-the-first-time" if first_time() => exit(7),
        "dies-the-second-time" if !first_time() => exit(7),
        "changes-its-mind" => exit(8),
        _ => say(&honest),
    }
}

/// The process whose id is noted has ended, or is about to be collected by its new parent.
pub(crate) fn assert_is_gone(note: &Path) {
    let id = std::fs::read_to_string(note).unwrap();
    let status = Path::new("/proc").join(&id).join("status");
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        let alive = match std::fs::read_to_string(&status) {
            Ok(status) => !status.contains("State:\tZ"),
            // Without /proc there is nothing to see; elsewhere it has gone.
            Err(_) => false,
        };
        if !alive {
            return;
        }
        assert!(Instant::now() < deadline, "process {id} outlives its backend");
        std::thread::sleep(Duration::from_millis(10));
    }
}
