//! The signals by which users end programs, at each stage of a run or a campaign: no process and no folder is left, and
//! what was obtained is kept and marked. This program is both the tests and, told so by its environment, the backends.

use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::miniatures::{MODE, NOTE, assert_is_gone};

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("a-terminal-that-a-backend-leaves-raw-is-set-back", a_raw_terminal_is_set_back),
    ("a-run-ends-cleanly-and-keeps-what-it-has", a_run_ends_cleanly),
    ("a-run-that-starts-a-backend-ends-cleanly", a_start_ends_cleanly),
    ("a-campaign-ends-cleanly-and-goes-on", a_campaign_ends_cleanly),
    ("what-is-ignored-stays-ignored", what_is_ignored_stays_ignored),
    ("a-run-that-was-stopped-is-no-timeout", a_run_that_was_stopped),
];

fn a_raw_terminal_is_set_back() {
    let folder = tempfile::tempdir().unwrap();
    let run = "stty -a < /dev/tty > before; \"$GATHERSPEC\" run --case 'tf.gather_nd/documented/*' --out out -- \
               \"$BACKEND\"; stty -a < /dev/tty > after";
    let mut script = std::process::Command::new("script");
    script.args(["-qec", run, "/dev/null"]).current_dir(folder.path());
    script.env("GATHERSPEC", env!("CARGO_BIN_EXE_gatherspec"));
    script.env("BACKEND", std::env::current_exe().unwrap());
    script.env(MODE, "makes-the-terminal-raw").env(NOTE, folder.path().join("raw"));
    let Ok(output) = script.stdin(std::process::Stdio::null()).output() else {
        eprintln!("skipped: there is no `script`");
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let [before, raw, after] = ["before", "raw", "after"]
        .map(|name| std::fs::read_to_string(folder.path().join(name)).unwrap_or_else(|_| panic!("{said}")));
    assert!(raw.contains("-icanon") && before.contains(" icanon"), "{before}\n{raw}");
    assert_eq!(before, after, "{said}");
}

/// `gatherspec` on the backend of a mode, in a folder of its own, where temporary files go, too.
struct Gatherspec {
    folder: tempfile::TempDir,
    child: std::process::Child,
}

impl Gatherspec {
    fn start(mode: &str, options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let here = |name| folder.path().join(name);
        std::fs::create_dir(here("temporary")).unwrap();
        // A shell takes the place of a harness that ignores signals, if it may.
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "exec \"$0\" \"$@\""]).arg(env!("CARGO_BIN_EXE_gatherspec")).args(options);
        shell.arg("--").arg(std::env::current_exe().unwrap()).current_dir(folder.path());
        shell.env(MODE, mode).env(NOTE, here("note")).env("TMPDIR", here("temporary"));
        shell.stdout(std::fs::File::create(here("stdout")).unwrap());
        shell.stderr(std::fs::File::create(here("stderr")).unwrap());
        let child = shell.spawn().unwrap();
        Self { folder, child }
    }

    /// Waits until a file holds something.
    fn wait_for(&self, name: &str) {
        let path = self.folder.path().join(name);
        let deadline = Instant::now() + Duration::from_secs(20);
        while std::fs::metadata(&path).map_or(0, |file| file.len()) == 0 {
            assert!(Instant::now() < deadline, "no {name}: {}", self.said());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn said(&self) -> String {
        let read = |name| std::fs::read_to_string(self.folder.path().join(name)).unwrap();
        read("stdout") + &read("stderr")
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Sends a signal, which ends it soon and leaves nothing behind.
    fn end(mut self, signal: Signal) -> tempfile::TempDir {
        self.signal(signal);
        let deadline = Instant::now() + Duration::from_secs(9);
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None => assert!(Instant::now() < deadline, "{signal:?} does not end it: {}", self.said()),
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        assert_eq!(status.signal(), Some(signal.as_raw()), "{status:?}: {}", self.said());
        let left = std::fs::read_dir(self.folder.path().join("temporary")).unwrap().count();
        assert_eq!(left, 0, "{left} folders are left");
        self.folder
    }
}

/// The signals by which users end programs, but for those that this program was started to ignore.
fn endings() -> impl Iterator<Item = Signal> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).map(str::trim);
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask, 16).ok()).unwrap_or(0);
    let all = [Signal::INT, Signal::TERM, Signal::HUP].into_iter();
    all.filter(move |signal| ignored >> (signal.as_raw() - 1) & 1 == 0)
}

fn a_run_ends_cleanly() {
    for signal in endings() {
        let options = ["run", "--out", ".", "--file-above", "0", "--write-deviations", "draft.yaml"];
        let running = Gatherspec::start("leaves-a-daemon-and-hangs-at-no-index", &options);
        running.wait_for("note");
        let folder = running.end(signal);
        assert_is_gone(&folder.path().join("note"));
        let report = std::fs::read_to_string(folder.path().join("report.json")).unwrap();
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        let name = match signal {
            Signal::INT => "SIGINT",
            Signal::TERM => "SIGTERM",
            _ => "SIGHUP",
        };
        assert_eq!(report["interrupted"], name);
        let backend = &report["backends"][0];
        let results = backend["results"].as_array().unwrap();
        assert!(results.iter().any(|result| result["verdict"] == "pass"), "{report}");
        // A call that hangs has no result, and is no failure of the backend.
        assert!(results.iter().all(|result| result["verdict"] != "crash"), "{report}");
        let problem = backend["problems"][0].as_str().unwrap();
        let words = format!("interrupted by {name}: {} of ", results.len());
        assert!(problem.starts_with(&words), "{problem}");
        // A draft of part of the cases would pass for one of all.
        assert!(!folder.path().join("draft.yaml").exists());
    }
}

fn a_start_ends_cleanly() {
    let running = Gatherspec::start("notes-itself-and-hangs-at-start", &["run", "--out", "."]);
    running.wait_for("note");
    let folder = running.end(Signal::TERM);
    assert_is_gone(&folder.path().join("note"));
    let report = std::fs::read_to_string(folder.path().join("report.json")).unwrap();
    assert!(report.contains("\"broken\": \"interrupted by SIGTERM\""), "{report}");
}

fn a_campaign_ends_cleanly() {
    let options = ["fuzz", "--report", "fuzz.json", "--cases", "1000000", "--file-above", "0"];
    let running = Gatherspec::start("honest", &options);
    running.wait_for("fuzz.json");
    let folder = running.end(Signal::TERM);
    let report = std::fs::read_to_string(folder.path().join("fuzz.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["complete"], false);
    assert!(report["done"].as_u64().unwrap() > 0, "{report}");
}

/// As under `nohup`.
fn what_is_ignored_stays_ignored() {
    if cfg!(target_os = "linux") {
        let folder = tempfile::tempdir().unwrap();
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "trap '' HUP; exec \"$0\" run --out . -- \"$1\""]);
        shell.arg(env!("CARGO_BIN_EXE_gatherspec")).arg(std::env::current_exe().unwrap());
        shell.current_dir(folder.path()).env(MODE, "leaves-a-daemon-and-hangs-at-no-index");
        shell.env(NOTE, folder.path().join("note"));
        shell.stdout(std::fs::File::create(folder.path().join("stdout")).unwrap());
        shell.stderr(std::fs::File::create(folder.path().join("stderr")).unwrap());
        let mut running = Gatherspec { folder, child: shell.spawn().unwrap() };
        running.wait_for("note");
        running.signal(Signal::HUP);
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(running.child.try_wait().unwrap(), None);
        running.signal(Signal::TERM);
        assert_eq!(running.child.wait().unwrap().signal(), Some(Signal::TERM.as_raw()));
    }
}

/// While a run is stopped, as by Ctrl-Z, its backend goes on, and no time limit does.
fn a_run_that_was_stopped() {
    let options = ["run", "--out", ".", "--call-limit", "1", "--restarts", "0"];
    let mut running = Gatherspec::start("takes-its-time-once", &options);
    running.wait_for("note");
    running.signal(Signal::STOP);
    std::thread::sleep(Duration::from_millis(1500));
    running.signal(Signal::CONT);
    let status = running.child.wait().unwrap();
    let said = running.said();
    // Nor is there a remark on one that the call passed when it was asked again.
    assert!(status.code() == Some(0) && !said.contains("timeout"), "{said}");
}
