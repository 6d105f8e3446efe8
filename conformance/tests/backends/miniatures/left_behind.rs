//! What backends leave behind: children, daemons and orphans.

use std::process::{Command, Stdio, exit};
use std::time::Duration;

use super::{MODE, NOTE, hang, note};

/// Starts this program as a process in a session of its own, and waits for its note; an orphan at once, or blank, that
/// is without what it could have inherited.
#[allow(clippy::zombie_processes, reason = "that it is left alone is the point")]
pub(super) fn leave_a_daemon(mode: &str) {
    let note = std::env::var_os(NOTE).expect("the test names a note");
    let mut command = Command::new(std::env::current_exe().expect("this program is somewhere"));
    if mode.contains("blank") {
        command.env_clear();
    }
    let next = if mode.contains("orphan") { "is-an-orphans-parent" } else { "is-a-daemon" };
    command.env(MODE, next).env(NOTE, &note).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("this program can be started");
    while std::fs::read(&note).map_or(0, |text| text.len()) == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// What [`leave_a_daemon`] starts.
pub(super) fn be_a_daemon(mode: &str) -> ! {
    if mode == "is-an-orphans-parent" {
        leave_a_daemon("daemon");
        exit(0);
    }
    rustix::process::setsid().expect("a new process leads no group");
    note(&std::process::id().to_string());
    hang();
}

/// Starts a process that holds this one's pipes and never ends by itself, and notes its id.
#[allow(clippy::zombie_processes, reason = "that it is left alone is the point")]
pub(super) fn leave_a_child() {
    let child = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().expect("sleep can be started");
    note(&child.id().to_string());
}

/// Leaves orphans that end at once. Waits some seconds for all of them to be reaped, and notes how many were
/// not.
pub(super) fn leave_orphans_that_end() {
    const ORPHANS: usize = 20;
    for _ in 0..ORPHANS {
        let mut shell = Command::new("sh");
        shell.args(["-c", "setsid true & exit"]).stdin(Stdio::null()).status().expect("sh can be started");
    }
    let parent = rustix::process::getppid().expect("the runner is there").as_raw_pid().to_string();
    let left = || {
        let stats = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let stats = stats.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
        stats.filter(|stat| stat.contains("(true) Z") && stat.split(' ').nth(3) == Some(&parent)).count()
    };
    for _ in 0..50 {
        std::thread::sleep(Duration::from_millis(100));
        if left() == 0 {
            break;
        }
    }
    note(&left().to_string());
}
