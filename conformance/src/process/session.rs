//! One process from its start to its end: the handshake, and lines that come in time or trouble that does not.

use std::io;
use std::time::{Duration, Instant};

use crate::backend::Description;
use crate::judge::Verdict;
use crate::protocol::PROTOCOL;

use super::child::{Child, Incoming, how_it_ended};
use super::{Broken, Limits, ProcessBackend, not_started, replies};

/// How often the state of a silent process is looked at.
const LOOK: Duration = Duration::from_millis(25);

/// How long a process that has closed a pipe may take to end.
const GRACE: Duration = Duration::from_millis(1000);

/// What a process did instead of answering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// `crash`, `timeout`, `protocol-error` or `input-changed`.
    pub verdict: Verdict,
    /// What happened, in words.
    pub what: String,
}

impl Trouble {
    pub(super) fn protocol(what: impl Into<String>) -> Self {
        Self { verdict: Verdict::ProtocolError, what: what.into() }
    }
}

/// A process that has described itself.
#[derive(Debug)]
pub(super) struct Session {
    child: Child,
    limits: Limits,
    pub(super) description: Description,
    /// How much of standard error has been shown with some call.
    shown: u64,
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
            Ok(description) => {
                let shown = child.stderr_total();
                Ok(Self { child, limits: backend.limits, description, shown })
            }
            Err(trouble) => {
                child.kill();
                child.drain_stderr();
                let why = format!("it did not start ({}): {}", trouble.verdict, trouble.what);
                Err(Broken { verdict: trouble.verdict, why, stderr: child.stderr_since(0) })
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
        self.child.stderr_total()
    }

    /// What the process wrote to standard error since a call was sent, as far as no other call has shown it. Calls
    /// that were under way together share their texts: nobody can tell them apart.
    pub(super) fn stderr(&mut self, sent: u64) -> Option<String> {
        let from = sent.max(self.shown);
        self.shown = self.child.stderr_total();
        self.child.stderr_since(from)
    }

    /// Ends the process at once; gives what it wrote to standard error since a call was sent, also if another call
    /// has shown it: the cause of an end must not be missing.
    pub(super) fn kill(mut self, sent: u64) -> Option<String> {
        self.child.kill();
        self.child.drain_stderr();
        self.child.stderr_since(sent)
    }

    /// Asks the process to stop. Gives the lines that nobody asked for, and a remark if it does not end well.
    pub(super) fn stop(mut self) -> (Vec<Vec<u8>>, Option<String>) {
        self.child.look_at_family();
        self.child.send(b"{\"cmd\":\"stop\"}\n".to_vec());
        self.child.close_input();
        let deadline = Instant::now() + self.limits.stop;
        let mut lines = Vec::new();
        loop {
            match self.child.receive(LOOK) {
                Some(Incoming::Line(line)) if lines.len() < 100 => lines.push(line),
                Some(Incoming::Line(_) | Incoming::TooLong) => break,
                Some(Incoming::End(_)) => break,
                None if self.child.has_ended() || Instant::now() >= deadline => break,
                None => {}
            }
        }
        let in_time = self.child.ends_within(deadline.saturating_duration_since(Instant::now()));
        let status = self.child.kill();
        let remark = match (in_time, status) {
            (false, _) => Some(format!("`stop` was ignored for {:?}: killed", self.limits.stop)),
            (true, Some(status)) if status.success() => None,
            (true, status) => Some(format!("after `stop` {}", how_it_ended(status))),
        };
        (lines, remark)
    }
}

/// The next line of a process, or what happened instead.
fn next_line(child: &mut Child, limit: Duration, since: Instant, wanted: &str) -> Result<Vec<u8>, Trouble> {
    let deadline = since + limit;
    let mut closed: Option<Instant> = None;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match child.receive(left.min(LOOK)) {
            Some(Incoming::Line(line)) => return Ok(line),
            Some(Incoming::TooLong) => {
                return Err(Trouble::protocol(format!("{wanted} is longer than the limit on a line")));
            }
            Some(Incoming::End(unfinished)) => return Err(ended(child, unfinished, wanted)),
            None => {}
        }
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
        Trouble {
            verdict: Verdict::Crash,
            what: format!("{} before {wanted} came{part}", how_it_ended(status)),
        }
    } else {
        Trouble::protocol(format!("the process closed its stdout before {wanted} came{part}"))
    }
}
