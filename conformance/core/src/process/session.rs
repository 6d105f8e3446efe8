//! One process from start to end: the handshake, then lines that arrive in time, or the reason why one did
//! not.

use std::io;
use std::process::ExitStatus;
use std::thread;
use std::time::{Duration, Instant};

use crate::backend::Description;
use crate::interrupt;
use crate::judge::Verdict;
use crate::protocol::PROTOCOL;

use super::child::{Child, Incoming, how_it_ended};
use super::program::{Broken, ProcessBackend, ProcessLimits};
use super::{not_started, orphans, replies};
use crate::trouble::Trouble;

/// How often to look at the state of a silent process.
const LOOK: Duration = Duration::from_millis(25);

/// A wait that overruns by this much means that this process was suspended (SIGSTOP, sleep).
const STOPPED: Duration = Duration::from_millis(500);

/// Ctrl-C may reach the child first: how long to wait for our signal before calling its exit a crash.
const SAME_SIGNAL: Duration = Duration::from_millis(100);

/// How long a process that has closed a pipe may take to end. One of gigabytes took more than a second on a busy machine.
const GRACE: Duration = Duration::from_millis(3000);

/// The end of a process.
#[derive(Debug, Default)]
pub(super) struct End {
    /// Its last standard error.
    pub(super) stderr: Option<String>,
    /// Whether it is still running because it cannot be killed.
    pub(super) survives: bool,
    /// How many bytes of standard error had arrived when the first call in flight was sent.
    pub(super) mark: u64,
}

/// The standard error that came with a reply.
#[derive(Debug)]
pub(super) struct Said {
    /// How many bytes had arrived by then.
    pub(super) end: u64,
    pub(super) text: String,
}

/// Why no process replaces one that [survives](End).
pub(super) const SURVIVES: &str = "the process cannot be killed, so that none is started in its place";

/// A process that has described itself.
#[derive(Debug)]
pub(super) struct Session {
    child: Child,
    limits: ProcessLimits,
    pub(super) description: Description,
    /// How many bytes of standard error have been reported with some call.
    shown: u64,
    /// The members of its description that this version does not know.
    pub(super) ignored: Vec<String>,
    /// How many bytes of standard error had arrived with the last reply.
    heard: u64,
    /// What a sanitizer reported before the first call.
    pub(super) reported: Option<String>,
}

/// How a process that was asked to stop ended.
#[derive(Debug)]
pub(super) struct StopResult {
    /// The lines that answer no call.
    pub(super) lines: Vec<Vec<u8>>,
    /// What is worth a remark.
    pub(super) remark: Option<String>,
    /// What breaks the protocol and belongs to no call.
    pub(super) problem: Option<String>,
}

impl Session {
    /// Starts the process and asks what it can do.
    pub(super) fn start(backend: &ProcessBackend) -> Result<Self, Broken> {
        let cannot = |error: io::Error| Broken {
            verdict: Verdict::Crash,
            why: not_started::explain(&backend.program, &error),
            stderr: None,
        };
        let mut child = Child::start(backend).map_err(cannot)?;
        child.send(format!("{{\"cmd\":\"start\",\"protocol\":{PROTOCOL}}}\n").into_bytes());
        let line = next_line(&mut child, backend.limits.start, Instant::now(), "the answer to `start`");
        let description = line.and_then(|line| replies::started(&line).map_err(Trouble::protocol));
        match description {
            Ok((description, ignored)) => {
                child.stderr.catch_up();
                let (shown, reported) = (child.stderr.total(), child.stderr.take_report());
                Ok(Self {
                    child,
                    limits: backend.limits,
                    description,
                    ignored,
                    shown,
                    heard: shown,
                    reported,
                })
            }
            Err(trouble) => {
                child.kill();
                child.stderr.drain();
                let survives = if child.survives() { "; the process cannot be killed" } else { "" };
                let why = format!("it did not start ({}): {}{survives}", trouble.verdict, trouble.what);
                Err(Broken { verdict: trouble.verdict, why, stderr: child.stderr.since(0) })
            }
        }
    }

    /// Queues a line. Never blocks.
    pub(super) fn send(&self, line: Vec<u8>) {
        self.child.send(line);
    }

    /// The next line. The wait began at `since` and may last for `limit`.
    pub(super) fn receive(&mut self, since: Instant, limit: Duration) -> Result<Vec<u8>, Trouble> {
        next_line(&mut self.child, limit, since, "a reply")
    }

    /// How many bytes of standard error have arrived so far.
    pub(super) fn stderr_mark(&self) -> u64 {
        self.child.stderr.total()
    }

    /// Reads all that the process wrote to standard error before its last reply. Returns the first line of a
    /// sanitizer's report, if there is one.
    pub(super) fn report(&self) -> Option<String> {
        self.child.stderr.catch_up();
        self.child.stderr.take_report()
    }

    /// The standard error since the previous reply.
    pub(super) fn stderr_of_reply(&mut self) -> Option<Said> {
        let end = self.child.stderr.total();
        let before = std::mem::replace(&mut self.heard, end);
        let text = if end > before { self.child.stderr.since(before)? } else { return None };
        Some(Said { end, text })
    }

    /// The standard error since a call was sent, without what another call has reported. The texts of calls
    /// that were in flight together cannot be told apart.
    pub(super) fn stderr(&mut self, sent: u64) -> Option<String> {
        let from = sent.max(self.shown);
        self.shown = self.child.stderr.total();
        self.child.stderr.since(from)
    }

    /// Kills the process. Returns its standard error since a call was sent, even if another call has reported
    /// it: the cause of the end must not be missing.
    pub(super) fn kill(mut self, sent: u64) -> End {
        self.child.kill();
        self.child.stderr.drain();
        End { stderr: self.child.stderr.since(sent), survives: self.child.survives(), mark: sent }
    }

    /// Kills the process. It answers nothing more.
    pub(super) fn end(&mut self) {
        self.child.kill();
    }

    /// Asks the process to stop. No call may be in flight.
    pub(super) fn stop(mut self) -> StopResult {
        // The process may end before `kill`, and its children have another parent then.
        self.child.look_at_family();
        self.child.send(b"{\"cmd\":\"stop\"}\n".to_vec());
        self.child.close_input();
        let deadline = Instant::now() + self.limits.stop;
        let over = || Instant::now() >= deadline || interrupt::requested();
        let mut lines = Vec::new();
        loop {
            match self.child.receive(LOOK) {
                // A process that never stops writing must not hold up the end.
                Some(Incoming::Line(line)) if lines.len() < 100 => lines.push(line),
                Some(Incoming::Line(_) | Incoming::TooLong) => break,
                Some(Incoming::End(_)) => break,
                None if self.child.has_ended() || over() => break,
                None => {}
            }
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let in_time = !over() && self.child.ends_within(left);
        let status = self.child.kill();
        let remark = match (in_time, status) {
            (_, None) => Some("`stop` was ignored, and the process cannot be killed".to_owned()),
            // An interrupt leaves the process no time to stop.
            (false, _) if interrupt::requested() => None,
            (false, _) => Some(format!("`stop` was ignored for {:?}: killed", self.limits.stop)),
            (true, _) => None,
        };
        self.child.stderr.drain();
        let report = self.child.stderr.take_report();
        let ended = status.filter(|status| in_time && (!status.success() || report.is_some()));
        let problem = ended.map(|status| {
            let report = report.map(|report| format!("; a sanitizer's report: {report}"));
            format!("after `stop` {}{}", how_it_ended(Some(status)), report.unwrap_or_default())
        });
        // Not part of the problem, which is compared with those of other processes and other runs.
        let said = problem.as_ref().and_then(|_| self.child.stderr.since(self.heard));
        let said = said.map(|said| format!("after `stop` it wrote to stderr:\n{said}"));
        StopResult { lines, remark: remark.or(said), problem }
    }
}

/// The next line of a process, or what happened instead.
fn next_line(child: &mut Child, limit: Duration, since: Instant, wanted: &str) -> Result<Vec<u8>, Trouble> {
    let mut deadline = since + limit;
    let mut closed: Option<Instant> = None;
    orphans::reap();
    loop {
        let now = Instant::now();
        let wait = deadline.saturating_duration_since(now).min(LOOK);
        match child.receive(wait) {
            Some(Incoming::Line(line)) => return Ok(line),
            Some(Incoming::TooLong) => {
                return Err(Trouble::protocol(format!("{wanted} is longer than the limit on a line")));
            }
            Some(Incoming::End(unfinished)) => return Err(ended(child, unfinished, wanted)),
            None => {}
        }
        // While this process was suspended, as by Ctrl-Z, it could not receive: that time does not count.
        let missed = now.elapsed().saturating_sub(wait);
        if missed >= STOPPED {
            deadline += missed;
        }
        if interrupt::requested() {
            return Err(Trouble { verdict: Verdict::Crash, what: "interrupted".to_owned() });
        }
        orphans::reap();
        // A child of the process may hold standard output open.
        if child.has_ended() {
            return match child.receive(LOOK) {
                Some(Incoming::Line(line)) => Ok(line),
                _ => Err(ended(child, 0, wanted)),
            };
        }
        if closed.is_none() && child.input_is_closed() {
            closed = Some(Instant::now());
        }
        if closed.is_some_and(|at| at.elapsed() >= GRACE) {
            return Err(Trouble::protocol(format!("the process closed its stdin before {wanted}")));
        }
        if Instant::now() >= deadline {
            return Err(Trouble {
                verdict: Verdict::Timeout,
                what: format!("{wanted} did not come within {limit:?}"),
            });
        }
    }
}

/// What the end of standard output means.
fn ended(child: &mut Child, unfinished: usize, wanted: &str) -> Trouble {
    let part = match unfinished {
        0 => String::new(),
        bytes => format!(", after {bytes} bytes of an unfinished line"),
    };
    if child.ends_within(GRACE) {
        let status = child.kill();
        if was_asked_to_end(status) {
            let start = Instant::now();
            while !interrupt::requested() && start.elapsed() < SAME_SIGNAL {
                thread::sleep(Duration::from_millis(1));
            }
        }
        Trouble {
            verdict: Verdict::Crash,
            what: format!("{} before {wanted} came{part}", how_it_ended(status)),
        }
    } else {
        Trouble::protocol(format!("the process closed its stdout before {wanted} came{part}"))
    }
}

/// Whether a process died from a signal that users end programs with. The same signal may be on its way to
/// this process.
fn was_asked_to_end(status: Option<ExitStatus>) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        let signal = status.and_then(|status| status.signal());
        signal.is_some_and(|signal| matches!(interrupt::name(signal), Some("SIGHUP" | "SIGINT" | "SIGTERM")))
    }
    #[cfg(not(unix))]
    {
        let _ = status;
        false
    }
}
