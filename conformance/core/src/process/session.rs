//! One process from its start to its end: the handshake, and lines that come in time or trouble that does not.

use std::io;
use std::process::ExitStatus;
use std::thread;
use std::time::{Duration, Instant};

use crate::backend::Description;
use crate::interrupt;
use crate::judge::Verdict;
use crate::protocol::PROTOCOL;

use super::child::{Child, Incoming, how_it_ended};
use super::program::{Broken, Limits, ProcessBackend};
use super::{not_started, orphans, replies};
use crate::trouble::Trouble;

/// How often the state of a silent process is looked at.
const LOOK: Duration = Duration::from_millis(25);

/// A wait that takes this much longer than it was to take is one during which this process was stopped.
const STOPPED: Duration = Duration::from_millis(500);

/// How long the user's signal is waited for that the process may have had before this one.
const SAME_SIGNAL: Duration = Duration::from_millis(100);

/// How long a process that has closed a pipe may take to end.
const GRACE: Duration = Duration::from_millis(1000);

/// The end of a process.
#[derive(Debug, Default)]
pub(super) struct End {
    /// What it said last.
    pub(super) stderr: Option<String>,
    /// Whether it goes on, since it cannot be killed.
    pub(super) survives: bool,
    /// How much had come from standard error when the first of the calls in flight was sent.
    pub(super) mark: u64,
}

/// What came from standard error with a reply.
#[derive(Debug)]
pub(super) struct Said {
    /// How much had come by then.
    pub(super) end: u64,
    pub(super) text: String,
}

/// Why there is no further process after one that [survives](End).
pub(super) const SURVIVES: &str = "the process cannot be killed, so that none is started in its place";

/// A process that has described itself.
#[derive(Debug)]
pub(super) struct Session {
    child: Child,
    limits: Limits,
    pub(super) description: Description,
    /// How much of standard error has been shown with some call.
    shown: u64,
    /// The members of its description that this version does not know.
    pub(super) ignored: Vec<String>,
    /// How much had come from standard error with the last reply.
    heard: u64,
    /// What a sanitizer reported before the first call.
    pub(super) reported: Option<String>,
}

/// How a process that was asked to stop ended.
#[derive(Debug)]
pub(super) struct Stopped {
    /// The lines that nobody asked for.
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

    /// Has a line written; never waits.
    pub(super) fn send(&self, line: Vec<u8>) {
        self.child.send(line);
    }

    /// The next line, which has been waited for since `since` and may take this long.
    pub(super) fn receive(&mut self, since: Instant, limit: Duration) -> Result<Vec<u8>, Trouble> {
        next_line(&mut self.child, limit, since, "a reply")
    }

    /// How much has come from standard error so far.
    pub(super) fn stderr_mark(&self) -> u64 {
        self.child.stderr.total()
    }

    /// Reads all that the process wrote to standard error before its last reply. Gives the first line of the report of a
    /// sanitizer, if there is one.
    pub(super) fn report(&self) -> Option<String> {
        self.child.stderr.catch_up();
        self.child.stderr.take_report()
    }

    /// What came from standard error since the reply before.
    pub(super) fn stderr_of_reply(&mut self) -> Option<Said> {
        let end = self.child.stderr.total();
        let before = std::mem::replace(&mut self.heard, end);
        let text = if end > before { self.child.stderr.since(before)? } else { return None };
        Some(Said { end, text })
    }

    /// What the process wrote to standard error since a call was sent, as far as no other call has shown it. Calls
    /// that were under way together share their texts: nobody can tell them apart.
    pub(super) fn stderr(&mut self, sent: u64) -> Option<String> {
        let from = sent.max(self.shown);
        self.shown = self.child.stderr.total();
        self.child.stderr.since(from)
    }

    /// Ends the process at once; gives what it wrote to standard error since a call was sent, also if another call
    /// has shown it: the cause of an end must not be missing.
    pub(super) fn kill(mut self, sent: u64) -> End {
        self.child.kill();
        self.child.stderr.drain();
        End { stderr: self.child.stderr.since(sent), survives: self.child.survives(), mark: sent }
    }

    /// Ends the process at once, which answers nothing any more.
    pub(super) fn end(&mut self) {
        self.child.kill();
    }

    /// Asks the process to stop, no call being in flight.
    pub(super) fn stop(mut self) -> Stopped {
        self.child.look_at_family();
        self.child.send(b"{\"cmd\":\"stop\"}\n".to_vec());
        self.child.close_input();
        let deadline = Instant::now() + self.limits.stop;
        let over = || Instant::now() >= deadline || interrupt::requested();
        let mut lines = Vec::new();
        loop {
            match self.child.receive(LOOK) {
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
            // Whoever ends the run early gives the process no time.
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
        // No part of the problem, which is compared with that of other processes and of other runs.
        let said = problem.as_ref().and_then(|_| self.child.stderr.since(self.heard));
        let said = said.map(|said| format!("after `stop` it wrote to stderr:\n{said}"));
        Stopped { lines, remark: remark.or(said), problem }
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
        // While this process was stopped, as by Ctrl-Z, nobody could hear the other.
        let missed = now.elapsed().saturating_sub(wait);
        if missed >= STOPPED {
            deadline += missed;
        }
        if interrupt::requested() {
            return Err(Trouble { verdict: Verdict::Crash, what: "interrupted".to_owned() });
        }
        orphans::reap();
        // Standard output may be held open by a child of the process.
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

/// Whether a process was killed as a user ends programs, who may have ended this one at the same time.
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
