//! Backends that do what backends should not: each costs its own call the exact verdict below, and the calls beside
//! it keep theirs. This program is both the tests and, told so by its environment, the backends.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

#[cfg(unix)]
mod miniatures;

use std::process::ExitCode;

#[cfg(not(unix))]
fn main() -> ExitCode {
    println!("skipped: the backends of these tests need unix");
    ExitCode::SUCCESS
}

#[cfg(unix)]
fn main() -> ExitCode {
    miniatures::or_else(tests::main)
}

#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::process::ExitCode;
    use std::time::{Duration, Instant};

    use gather_conformance::judge::Verdict::{self, *};
    use gather_conformance::process::{Answers, Broken, Dialogue, Findings, Limits, ProcessBackend};
    use gather_spec::any::OpenDtypes;
    use gather_spec::case::{Arm, Expectation, OperandNames, When};
    use gather_spec::{
        Allowed, Attributes, Basis, Call, Case, DType, ErrorCode, ErrorFields, Operator, Tensor,
    };
    use libtest_mimic::{Arguments, Trial};
    use rustix::process::{Pid, Signal, kill_process};

    use super::miniatures::{MARK, MODE, NOTE};

    /// The place of the marked call among [`CALLS`].
    const AT: usize = 2;
    const CALLS: usize = 6;

    /// What a backend does to one call, the verdict of that call, and words that its report holds.
    const AT_ONE_CALL: &[(&str, Verdict, &str)] = &[
        ("exits", Crash, "ended with exit status 3"),
        ("exits-with-status-0", Crash, "ended with exit status 0"),
        ("aborts", Crash, "killed by signal 6 (SIGABRT)"),
        ("is-killed", Crash, "killed by signal 9 (SIGKILL)"),
        ("panics-with-words", Crash, "the kernel went away"),
        ("hangs", Timeout, "did not come within 1s"),
        ("writes-half-a-line-and-hangs", Timeout, "did not come within 1s"),
        ("writes-half-a-line-and-exits", Crash, "after 20 bytes of an unfinished line"),
        ("closes-stdout", ProtocolError, "closed its stdout"),
        ("closes-stdin", ProtocolError, "closed its stdin"),
        ("writes-a-line-of-1-gb", ProtocolError, "longer than the limit"),
        ("writes-no-utf-8", ProtocolError, "byte 24 of the line is not UTF-8"),
        ("writes-no-json", ProtocolError, "key must be a string"),
        ("writes-an-array", ProtocolError, "expected an object"),
        ("writes-null", ProtocolError, "expected an object"),
        ("leaves-out-the-answer", ProtocolError, "none of `output`, `error` and `unsupported`"),
        ("leaves-out-seq", ProtocolError, "missing field `seq`"),
        ("adds-a-key", ProtocolError, "unknown field `elapsed`"),
        ("answers-two-things-at-once", ProtocolError, "unknown field `unsupported`"),
        ("answers-an-empty-line", ProtocolError, "EOF"),
        ("answers-another-call", ProtocolError, "which was not asked"),
        ("answers-out-of-order", ProtocolError, "when that to seq"),
        ("answers-twice", ProtocolError, "answered twice"),
        ("prints-a-banner", ProtocolError, "falling back to the slow path"),
        ("floods-stderr", Pass, ""),
        ("floods-stderr-and-exits", Crash, "out of luck"),
        ("claims-a-dtype-that-it-lacks", RejectedGoodInput, "no i32 here"),
        ("refuses", RejectedGoodInput, "error without a code"),
        ("says-too-much", RejectedGoodInput, " … 896000 characters left out … "),
        ("gives-null-as-code", ProtocolError, "null stands where a value is expected"),
        ("gives-an-unknown-code", ProtocolError, "unknown variant `oops`"),
        ("calls-the-message-invalid", ProtocolError, "I do not understand"),
        ("answers-other-bits", WrongOutput, "i32 [1] [0]"),
        ("answers-another-dtype", WrongOutput, "u32 [1] [667]"),
        ("answers-another-shape", WrongOutput, "i32 [1, 1] [[667]]"),
        ("disagrees-with-its-shape", ProtocolError, "the output: "),
        ("answers-negative-dims", ProtocolError, "`-1`"),
        ("answers-dims-of-2-to-the-63", ProtocolError, "too large"),
        ("answers-dims-that-overflow", WrongOutput, "i32 [4294967296, 4294967296, 0] without elements"),
        ("answers-dims-that-overflow-with-elements", ProtocolError, "too large"),
        ("answers-rank-65-without-elements", ProtocolError, "at most 64"),
        ("answers-fractional-dims", ProtocolError, "floating point `1.0`"),
        ("answers-rank-65", ProtocolError, "at most 64"),
        ("answers-rubbish-as-base64", ProtocolError, "not base64"),
        ("answers-base64-without-padding", ProtocolError, "not base64"),
        ("answers-numbers-as-strings", ProtocolError, "one base64 text"),
        ("answers-an-unknown-dtype", ProtocolError, "`int32`"),
        ("answers-with-a-file", ProtocolError, "only inputs lie in files"),
        ("allocates-without-end", Crash, "killed by signal 6"),
    ];

    /// What a backend does at its start, how that is called, and words of the explanation.
    const AT_THE_START: &[(&str, Verdict, &str)] = &[
        ("exits-at-once", Crash, "ended with exit status 4"),
        ("is-killed-at-start", Crash, "killed by signal 6"),
        ("hangs-at-start", Timeout, "the answer to `start` did not come within 1s"),
        ("closes-stdout-at-start", ProtocolError, "closed its stdout"),
        ("prints-a-banner-at-start", ProtocolError, "Welcome to HostileFlow 3.1!"),
        ("speaks-of-the-future", ProtocolError, "it speaks protocol 3, this program speaks 2"),
        ("declares-an-unknown-dtype", ProtocolError, "`f8`"),
        ("declares-an-unknown-policy", ProtocolError, "`maybe`"),
        ("describes-itself-in-an-array", ProtocolError, "expected an object"),
        ("fails-everything", RejectedGoodInput, "fails all of 3 trivial calls"),
        ("answers-before-being-asked", ProtocolError, "which was not asked"),
    ];

    pub(super) fn main() -> ExitCode {
        let mut trials = Vec::new();
        for (mode, verdict, words) in AT_ONE_CALL {
            trials.push(trial(&format!("call/{mode}"), || at_one_call(mode, *verdict, words)));
        }
        for (mode, verdict, words) in AT_THE_START {
            trials.push(trial(&format!("start/{mode}"), || at_the_start(mode, *verdict, words)));
        }
        let others: [(&str, fn()); 42] = [
            ("start/there-is-no-such-program", there_is_no_such_program),
            ("start/fails-one-of-the-trivial-calls", fails_one_of_the_trivial_calls),
            ("stop/ignores-stop", ignores_stop),
            ("stop/fails-at-stop", fails_at_stop),
            ("stop/talks-at-stop", talks_at_stop),
            ("call/leaves-a-child", leaves_a_child),
            ("call/leaves-a-child-and-exits", leaves_a_child_and_exits),
            ("call/leaves-a-child-in-a-session-of-its-own", || leaves_a_daemon("leaves-a-daemon")),
            ("call/leaves-an-orphan-in-a-session-of-its-own", || leaves_a_daemon("leaves-an-orphan")),
            ("call/leaves-a-child-without-an-environment", || leaves_a_daemon("leaves-a-blank-daemon")),
            ("run/leaves-nothing-at-all", leaves_nothing_at_all),
            ("call/accepts-what-is-too-large", accepts_what_is_too_large),
            ("call/changes-its-input", || {
                changes_its_input("changes-its-input", "file of indices differs from byte 67 on");
            }),
            ("call/mutters-and-changes-its-input", || {
                changes_its_input("mutters-and-changes-its-input", "the file is mine");
            }),
            ("call/deletes-its-input", || changes_its_input("deletes-its-input", "cannot be read any more")),
            ("call/puts-a-pipe-for-its-input", || {
                changes_its_input("puts-a-pipe-for-its-input", "file of indices is a named pipe now");
            }),
            ("call/puts-an-endless-device-for-its-input", || {
                changes_its_input("puts-an-endless-device-for-its-input", "file of indices is a link now");
            }),
            ("call/puts-a-link-for-its-input", || {
                changes_its_input("puts-a-link-for-its-input", "file of indices is a link now");
            }),
            ("call/puts-a-folder-for-its-input", || {
                changes_its_input("puts-a-folder-for-its-input", "file of indices is a folder now");
            }),
            ("call/grows-its-input", || {
                changes_its_input("grows-its-input", "has 1099511627776 bytes instead of 68");
            }),
            ("call/takes-the-folder-of-its-input-away", || {
                changes_its_input("takes-the-folder-of-its-input-away", "cannot be read any more");
            }),
            ("call/takes-the-folder-of-its-input-away-and-complains", || {
                changes_its_input(
                    "takes-the-folder-of-its-input-away-and-complains",
                    "cannot be read any more",
                );
            }),
            ("call/prepares-pipes-for-later-inputs", prepares_pipes),
            ("call/leaves-orphans-that-end", leaves_orphans_that_end),
            ("start/no-child-escapes-the-memory-limit", no_child_escapes_the_memory_limit),
            ("start/cannot-be-killed", cannot_be_killed),
            ("repeat/answers-differently-the-second-time", answers_differently),
            ("repeat/dies-the-second-time", dies_the_second_time),
            ("budget/is-stated-and-kept", the_budget_is_kept),
            ("budget/changes-its-mind", changes_its_mind),
            ("jobs/every-worker-pays-for-its-own", every_worker_pays_for_its_own),
            ("honest/everything-passes", everything_passes),
            ("pipeline/a-reply-that-was-not-written-is-no-timeout", || {
                an_unwritten_reply("when-idle-writes-but-hangs", Timeout, "did not come within 1s");
            }),
            ("pipeline/a-reply-that-was-not-written-is-no-crash", || {
                an_unwritten_reply("when-idle-writes-but-dies", Crash, "ended with exit status 3");
            }),
            ("pipeline/replies-that-were-written-before-the-end-count", || {
                an_unwritten_reply("when-idle-or-dying-writes", Crash, "ended with exit status 3");
            }),
            ("pipeline/the-second-of-two-calls-in-flight-pays-for-its-crash", the_second_of_two_crashes),
            ("pipeline/a-call-that-changes-the-inputs-of-those-before-pays", changes_all_inputs),
            ("pipeline/a-crash-that-no-call-repeats-is-seen", a_crash_that_no_call_repeats),
            ("pipeline/a-crash-that-no-call-of-a-campaign-repeats-is-seen", a_crash_of_a_dialogue),
            ("pipeline/a-backend-that-drops-calls-is-asked-one-at-a-time", drops_calls),
            ("pipeline/a-backend-that-breaks-the-protocol-is-not-excused", takes_two_calls_for_one),
            ("size/virtual-calls-have-a-limit-of-their-own", virtual_calls_have_a_limit_of_their_own),
        ];
        trials.extend(others.map(|(name, test)| trial(name, test)));
        let arguments = Arguments::from_args();
        let start = Instant::now();
        let conclusion = libtest_mimic::run(&arguments, trials);
        assert!(start.elapsed() < Duration::from_secs(60), "the hostile backends took {:?}", start.elapsed());
        conclusion.exit_code()
    }

    fn trial(name: &str, test: impl FnOnce() + Send + 'static) -> Trial {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    }

    fn backend(mode: &str) -> ProcessBackend {
        let mut backend = ProcessBackend::new(std::env::current_exe().unwrap());
        backend.environment.push((MODE.into(), mode.into()));
        backend.environment.push(("RUST_BACKTRACE".into(), "0".into()));
        backend.limits = Limits {
            start: Duration::from_secs(20),
            call: Duration::from_secs(20),
            virtual_call: Duration::from_secs(20),
            stop: Duration::from_secs(10),
            reply: 1 << 20,
            memory: Some(1 << 30),
            restarts: 10,
            window: 4,
            file_above: usize::MAX,
        };
        if mode.contains("hang") {
            backend.limits.call = Duration::from_secs(1);
        }
        if mode == "hangs-at-start" {
            backend.limits.start = Duration::from_secs(1);
        }
        backend
    }

    fn with_note(mut backend: ProcessBackend, note: &Path) -> ProcessBackend {
        backend.environment.push((NOTE.into(), note.into()));
        backend
    }

    /// `tf.gather_nd` of the second of three numbers.
    fn case(name: &str, first: u32) -> Case {
        let params = Tensor::new(DType::I32, [3], vec![first, first + 1, first + 2]).unwrap();
        let indices = Tensor::new(DType::I32, [1, 1], vec![1u32]).unwrap();
        let output = Tensor::new(DType::I32, [1], vec![first + 1]).unwrap();
        let call = Call {
            operator: Operator::new("tf.gather_nd"),
            operands: [("params", params), ("indices", indices)].into(),
            attributes: Attributes::new(),
        };
        let allowed = vec![Allowed::Output(output)];
        Case {
            family: None,
            id: name.to_owned(),
            written: name.to_owned(),
            documented: None,
            clauses: Vec::new(),
            basis: Basis::Documented,
            why: None,
            history: Vec::new(),
            provenance: None,
            open: OpenDtypes::default(),
            grid_point: None,
            large: false,
            sparse: None,
            call,
            names: OperandNames { params: "params".into(), indices: "indices".into() },
            expect: Expectation { arms: vec![Arm { when: When::default(), allowed }] },
        }
    }

    /// Calls of which the ones at the given places are marked.
    fn cases(marked: &[usize]) -> Vec<Case> {
        let first = |at| if marked.contains(&at) { MARK } else { 10 * u32::try_from(at).unwrap() };
        (0..CALLS).map(|at| case(&format!("call {at}"), first(at))).collect()
    }

    fn run(backend: &ProcessBackend, marked: &[usize]) -> Result<Findings, Broken> {
        let cases = cases(marked);
        let cases: Vec<&Case> = cases.iter().collect();
        let trivial = if marked.is_empty() { &cases[..3] } else { &[] };
        backend.run(trivial, &cases, &|_| ())
    }

    fn verdicts(findings: &Findings) -> Vec<Verdict> {
        findings.results.iter().map(|result| result.verdict).collect()
    }

    fn only(verdict: Verdict, marked: &[usize]) -> Vec<Verdict> {
        (0..CALLS).map(|at| if marked.contains(&at) { verdict } else { Pass }).collect()
    }

    /// The marked call gets the verdict, with these words; the others pass, and nothing else is remarked.
    fn assert_only(findings: &Findings, verdict: Verdict, words: &str) {
        assert_eq!(verdicts(findings), only(verdict, &[AT]), "{findings:#?}");
        let result = &findings.results[AT];
        let said = format!("{} {}", result.actual, result.stderr.as_deref().unwrap_or_default());
        assert!(said.contains(words), "{said:?} does not contain {words:?}");
        assert!(said.len() < 20_000, "{} bytes are shown", said.len());
        assert_eq!(findings.remarks, [""; 0], "{:?}", findings.remarks);
    }

    fn at_one_call(mode: &str, verdict: Verdict, words: &str) {
        assert_only(&run(&backend(mode), &[AT]).unwrap(), verdict, words);
    }

    fn at_the_start(mode: &str, verdict: Verdict, words: &str) {
        let broken = run(&backend(mode), &[]).unwrap_err();
        assert_eq!(broken.verdict, verdict, "{broken}");
        assert!(broken.why.contains(words), "{broken}");
    }

    fn there_is_no_such_program() {
        let broken = run(&ProcessBackend::new("/no/such/program"), &[]).unwrap_err();
        assert!(broken.why.contains("/no/such/program cannot be started"), "{broken}");
    }

    fn everything_passes() {
        let findings = run(&backend("honest"), &[]).unwrap();
        assert_eq!(verdicts(&findings), [Pass; CALLS]);
        assert_eq!(findings.remarks, [""; 0]);
    }

    /// It is wrong, and works.
    fn fails_one_of_the_trivial_calls() {
        let cases = cases(&[AT]);
        let cases: Vec<&Case> = cases.iter().collect();
        let findings = backend("refuses").run(&cases[..=AT], &cases, &|_| ()).unwrap();
        assert_only(&findings, RejectedGoodInput, "error without a code");
    }

    fn ignores_stop() {
        let mut backend = backend("ignores-stop");
        backend.limits.stop = Duration::from_millis(300);
        let findings = run(&backend, &[AT]).unwrap();
        assert_eq!(verdicts(&findings), [Pass; CALLS]);
        assert_eq!(findings.remarks, ["`stop` was ignored for 300ms: killed"]);
    }

    fn fails_at_stop() {
        let findings = run(&backend("fails-at-stop"), &[AT]).unwrap();
        assert_eq!(verdicts(&findings), [Pass; CALLS]);
        assert_eq!(findings.remarks, ["after `stop` the process ended with exit status 5"]);
    }

    fn talks_at_stop() {
        let findings = run(&backend("talks-at-stop"), &[AT]).unwrap();
        assert_eq!(verdicts(&findings), only(ProtocolError, &[CALLS - 1]), "{findings:#?}");
        assert_eq!(findings.results[CALLS - 1].actual, "the call was answered twice");
    }

    /// An output that no tensor can hold is an answer, and not a broken message.
    fn accepts_what_is_too_large() {
        let mut cases = cases(&[AT]);
        let too_large = Allowed::Error(ErrorCode::OutputTooLarge, ErrorFields::default());
        cases[AT].expect.arms[0].allowed = vec![too_large];
        let cases: Vec<&Case> = cases.iter().collect();
        let findings = backend("answers-dims-that-overflow").run(&[], &cases, &|_| ()).unwrap();
        assert_only(&findings, AcceptedBadInput, "i32 [4294967296, 4294967296, 0] without elements");
    }

    fn leaves_a_child() {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("child");
        assert_only(&run(&with_note(backend("leaves-a-child"), &note), &[AT]).unwrap(), Pass, "");
        assert_is_gone(&note);
    }

    /// Only Linux has a way to find such a process.
    fn leaves_a_daemon(mode: &str) {
        if cfg!(target_os = "linux") {
            let folder = tempfile::tempdir().unwrap();
            let note = folder.path().join("child");
            assert_only(&run(&with_note(backend(mode), &note), &[AT]).unwrap(), Pass, "");
            assert_is_gone(&note);
        }
    }

    /// An orphan in a session of its own which has thrown away all that tells whose it is lives until the run or the campaign
    /// ends.
    fn leaves_nothing_at_all() {
        if cfg!(target_os = "linux") {
            for options in [&["run", "--out", "."][..], &["fuzz", "--cases", "9", "--report", "fuzz.json"]] {
                let folder = tempfile::tempdir().unwrap();
                let note = folder.path().join("child");
                let mut gatherspec = std::process::Command::new(env!("CARGO_BIN_EXE_gatherspec"));
                gatherspec.current_dir(folder.path()).args(options).arg("--");
                gatherspec.arg(std::env::current_exe().unwrap());
                let output = gatherspec.env(MODE, "leaves-a-blank-orphan").env(NOTE, &note).output().unwrap();
                assert!(output.status.code().is_some(), "{output:?}");
                assert_is_gone(&note);
            }
        }
    }

    fn leaves_a_child_and_exits() {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("child");
        let findings = run(&with_note(backend("leaves-a-child-and-exits"), &note), &[AT]).unwrap();
        assert_only(&findings, Crash, "ended with exit status 6");
        assert_is_gone(&note);
    }

    /// The process whose id is noted has ended, or is about to be collected by its new parent.
    fn assert_is_gone(note: &Path) {
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

    fn changes_its_input(mode: &str, words: &str) {
        let mut backend = backend(mode);
        backend.limits.file_above = 0;
        assert_only(&run(&backend, &[AT]).unwrap(), InputChanged, words);
    }

    /// Pipes that lie where later files would are not written to, and nobody waits for a reader.
    fn prepares_pipes() {
        let mut backend = backend("prepares-pipes-for-later-inputs");
        (backend.limits.file_above, backend.limits.window) = (0, 1);
        assert_only(&run(&backend, &[AT]).unwrap(), Pass, "");
    }

    fn leaves_orphans_that_end() {
        if cfg!(target_os = "linux") {
            let folder = tempfile::tempdir().unwrap();
            let note = folder.path().join("left");
            assert_only(
                &run(&with_note(backend("leaves-orphans-that-end"), &note), &[AT]).unwrap(),
                Pass,
                "",
            );
            assert_eq!(std::fs::read_to_string(note).unwrap(), "0");
        }
    }

    /// A child that is started before anything else has its limit from the beginning.
    fn no_child_escapes_the_memory_limit() {
        if cfg!(target_os = "linux") {
            let folder = tempfile::tempdir().unwrap();
            let note = folder.path().join("limits");
            for _ in 0..40 {
                let mut backend = with_note(backend("honest"), &note);
                backend.program = "/bin/sh".into();
                let script = format!("ulimit -v >> \"${NOTE}\" & wait");
                backend.arguments = vec!["-c".into(), script.into()];
                run(&backend, &[]).unwrap_err();
            }
            let limits = std::fs::read_to_string(note).unwrap();
            assert_eq!(limits.lines().collect::<Vec<_>>(), ["1048576"; 40]);
        }
    }

    /// A backend that has become another user's hangs, and is not waited for. It takes root to make one.
    fn cannot_be_killed() {
        let folder = tempfile::tempdir().unwrap();
        let (setpriv, note) = (folder.path().join("setpriv"), folder.path().join("note"));
        let may = rustix::process::geteuid().is_root() && std::fs::copy("/usr/bin/setpriv", &setpriv).is_ok();
        if !may {
            eprintln!("skipped: a backend that cannot be killed needs root and /usr/bin/setpriv");
            return;
        }
        for (path, mode) in [(folder.path(), 0o777), (&setpriv, 0o4755)] {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let mut gatherspec = std::process::Command::new("setpriv");
        gatherspec.args(["--reuid=65534", "--clear-groups", env!("CARGO_BIN_EXE_gatherspec"), "run"]);
        gatherspec.args(["--start-limit", "1", "--out", "out", "--"]);
        gatherspec.arg(&setpriv).args(["--reuid=0", "--clear-groups"]).arg(std::env::current_exe().unwrap());
        gatherspec.env(MODE, "notes-itself-and-hangs-at-start").env(NOTE, &note).env("TMPDIR", folder.path());
        let start = Instant::now();
        let output = gatherspec.current_dir(folder.path()).output().unwrap();
        let took = start.elapsed();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        if let Ok(id) = std::fs::read_to_string(&note) {
            let _ = kill_process(Pid::from_raw(id.parse().unwrap()).unwrap(), Signal::KILL);
            assert!(said.contains("did not come within 1s; the process cannot be killed"), "{said}");
            assert!(took < Duration::from_secs(15), "{took:?}");
        } else {
            eprintln!("skipped: nobody may not run a program that becomes root's here: {said}");
        }
    }

    fn answers_differently() {
        let folder = tempfile::tempdir().unwrap();
        let mut backend =
            with_note(backend("answers-differently-the-second-time"), &folder.path().join("was here"));
        backend.repeat = 2;
        let findings = run(&backend, &[AT]).unwrap();
        assert_only(&findings, Nondeterministic, "first i32 [1] [667], then i32 [1] [0]");
    }

    fn dies_the_second_time() {
        let folder = tempfile::tempdir().unwrap();
        let mut backend = with_note(backend("dies-the-second-time"), &folder.path().join("was here"));
        backend.repeat = 2;
        let findings = run(&backend, &[AT]).unwrap();
        assert_only(&findings, Crash, "ended with exit status 7");
        assert_eq!(findings.results[AT].at.as_deref(), Some("run 2 of 2"));
    }

    fn the_budget_is_kept() {
        let mut backend = backend("exits");
        backend.limits.restarts = 1;
        let findings = run(&backend, &[1, 3]).unwrap();
        assert_eq!(verdicts(&findings), [Pass, Crash, Pass, Crash, Crash, Crash]);
        assert_eq!(findings.results[5].actual, "not sent: the budget of 1 restarts is used up");
    }

    fn changes_its_mind() {
        let folder = tempfile::tempdir().unwrap();
        let backend = with_note(backend("changes-its-mind"), &folder.path().join("was here"));
        let findings = run(&backend, &[AT]).unwrap();
        let rest = [Pass, Pass, Crash, ProtocolError, ProtocolError, ProtocolError];
        assert_eq!(verdicts(&findings), rest);
        assert!(findings.results[5].actual.contains("describes itself differently"));
    }

    /// Only the marked call fails. A single restart is enough: the one before calls are asked alone is not counted.
    fn an_unwritten_reply(mode: &str, verdict: Verdict, words: &str) {
        let mut backend = backend(mode);
        backend.limits.restarts = 1;
        assert_only(&run(&backend, &[AT]).unwrap(), verdict, words);
        // In each worker of several, and for each of several runs.
        (backend.jobs, backend.limits.restarts) = (2, 2);
        assert_eq!(verdicts(&run(&backend, &[0, 4]).unwrap()), only(verdict, &[0, 4]));
        (backend.jobs, backend.repeat) = (1, 3);
        assert_eq!(verdicts(&run(&backend, &[1, 3]).unwrap()), only(verdict, &[1, 3]));
    }

    /// The reply to the first one is lost with the process.
    fn the_second_of_two_crashes() {
        let mut backend = backend("when-idle-writes-but-dies");
        backend.limits.window = 2;
        assert_eq!(verdicts(&run(&backend, &[1]).unwrap()), only(Crash, &[1]));
    }

    /// The first reply finds the file of its call changed, which a later call in flight has done.
    fn changes_all_inputs() {
        let mut backend = backend("when-idle-writes-but-changes-all-inputs");
        backend.limits.file_above = 0;
        assert_only(&run(&backend, &[AT]).unwrap(), InputChanged, "the file of params differs from byte ");
    }

    /// The call that was due pays, since nobody else does.
    fn a_crash_that_no_call_repeats() {
        let folder = tempfile::tempdir().unwrap();
        let mut backend = with_note(backend("dies-the-first-time"), &folder.path().join("was here"));
        backend.limits.restarts = 0;
        let words =
            "exit status 7 before a reply came, with 4 calls in flight; alone, each of them was answered";
        assert_only(&run(&backend, &[AT]).unwrap(), Crash, words);
    }

    /// The same for calls that are no cases.
    fn a_crash_of_a_dialogue() {
        let folder = tempfile::tempdir().unwrap();
        let backend = with_note(backend("dies-the-first-time"), &folder.path().join("was here"));
        let cases = cases(&[AT]);
        let calls: Vec<&Call> = cases.iter().map(|case| &case.call).collect();
        let Answers { answers, interrupted } = Dialogue::start(backend).unwrap().ask(&calls);
        assert_eq!((answers.len(), interrupted), (CALLS, None));
        for (at, answer) in answers.iter().enumerate() {
            assert_eq!(answer.is_err(), at == AT, "{at}: {answer:?}");
        }
        let trouble = answers[AT].as_ref().unwrap_err();
        let words =
            "exit status 7 before a reply came, with 4 calls in flight; alone, each of them was answered";
        assert!(trouble.verdict == Crash && trouble.what.contains(words), "{trouble:?}");
    }

    /// Nothing comes if more than one call has been sent.
    fn drops_calls() {
        let mut backend = backend("when-idle-takes-one-call-or-none");
        (backend.limits.call, backend.limits.restarts) = (Duration::from_secs(1), 0);
        let findings = run(&backend, &[AT]).unwrap();
        assert_eq!(verdicts(&findings), [Pass; CALLS], "{findings:#?}");
        let [remark] = &findings.remarks[..] else { panic!("{:?}", findings.remarks) };
        assert_eq!(
            remark,
            "timeout: a reply did not come within 1s, with 4 calls in flight; alone, each of them was answered; from \
             then on calls were sent one at a time"
        );
    }

    fn takes_two_calls_for_one() {
        let mut backend = backend("when-idle-takes-one-call-or-complains");
        backend.limits.restarts = 0;
        let findings = run(&backend, &[AT]).unwrap();
        assert_eq!(verdicts(&findings), only(ProtocolError, &[0]), "{findings:#?}");
        let words = "two lines, with 4 calls in flight; alone, each of them was answered";
        assert!(findings.results[0].actual.contains(words), "{findings:#?}");
    }

    /// The marked call spans 2^40 rows without elements.
    fn virtual_calls_have_a_limit_of_their_own() {
        let mut cases = cases(&[]);
        let huge = Tensor::new(DType::I32, [1 << 40, 0], Vec::<u32>::new()).unwrap();
        cases[AT].call.operands.replace("indices", huge);
        let cases: Vec<&Case> = cases.iter().collect();
        let mut backend = backend("hangs-at-no-index");
        (backend.limits.call, backend.limits.virtual_call) =
            (Duration::from_secs(600), Duration::from_millis(500));
        let findings = backend.run(&[], &cases, &|_| ()).unwrap();
        assert_only(&findings, Timeout, "a reply did not come within");
    }

    fn every_worker_pays_for_its_own() {
        let mut backend = backend("aborts");
        backend.jobs = 3;
        backend.limits.window = 1;
        let findings = run(&backend, &[0, 2, 5]).unwrap();
        assert_eq!(verdicts(&findings), only(Crash, &[0, 2, 5]));
    }
}
