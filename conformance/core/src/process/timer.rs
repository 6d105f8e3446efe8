//! One process that times calls, one message at a time.

use std::time::{Duration, Instant};

use gather_spec::Outcome;
use serde::Serialize;

use crate::backend::Description;
use crate::protocol::{CallMessage, TimeMessage, TimedReply};
use crate::strict::from_object;

use super::program::{Broken, ProcessBackend};
use super::replies;
use super::session::Session;
use crate::trouble::Trouble;

/// A process that times calls.
#[derive(Debug)]
pub struct Timer {
    session: Session,
    limit: Duration,
}

/// The result of a timing.
#[derive(Debug)]
pub enum Timing {
    /// The durations, and how long the reply took.
    Timed(TimedReply, Duration),
    /// An outcome that cannot be timed: an error, or `unsupported`.
    Instead(Outcome),
}

impl Timer {
    /// Starts the process.
    ///
    /// # Errors
    /// [`Broken`] if it cannot be started.
    pub fn start(backend: &ProcessBackend) -> Result<Self, Broken> {
        Ok(Self { session: Session::start(backend)?, limit: backend.limits.call })
    }

    /// The backend's self-description.
    pub const fn description(&self) -> &Description {
        &self.session.description
    }

    /// Sends a call once.
    ///
    /// # Errors
    /// What the process did instead of answering.
    pub fn call(&mut self, message: &CallMessage) -> Result<Outcome, Trouble> {
        let line = self.ask(message, self.limit)?;
        outcome(&line, message.seq)
    }

    /// Times a call. Each round may take the limit on a call beyond its own length.
    ///
    /// # Errors
    /// What the process did instead of answering.
    pub fn time(&mut self, message: &TimeMessage) -> Result<Timing, Trouble> {
        let rounds = Duration::from_nanos(message.min_round_ns).saturating_mul(message.rounds);
        let limit = self.limit.saturating_mul(message.rounds).saturating_add(rounds);
        let start = Instant::now();
        let line = self.ask(message, limit)?;
        let took = start.elapsed();
        match from_object::<TimedReply>(&line) {
            Ok(reply) if reply.seq == message.seq && is_complete(&reply, message.rounds) => {
                Ok(Timing::Timed(reply, took))
            }
            Ok(_) => Err(Trouble::protocol("the durations are not those that were asked for")),
            Err(_) => outcome(&line, message.seq).map(Timing::Instead),
        }
    }

    fn ask(&mut self, message: &impl Serialize, limit: Duration) -> Result<Vec<u8>, Trouble> {
        let mut line = serde_json::to_vec(message).expect("a message is plain data");
        line.push(b'\n');
        self.session.send(line);
        self.session.receive(Instant::now(), limit)
    }

    /// Kills the process, so that it disturbs no other. It must not be asked any more.
    pub fn end(&mut self) {
        self.session.end();
    }

    /// Asks the process to stop.
    pub fn stop(self) {
        self.session.stop();
    }
}

/// Whether there is a duration above 0 for each round.
fn is_complete(reply: &TimedReply, rounds: u32) -> bool {
    let is_duration = |nanoseconds: &f64| nanoseconds.is_finite() && *nanoseconds > 0.0;
    reply.nanoseconds.len() == rounds as usize && reply.nanoseconds.iter().all(is_duration)
}

fn outcome(line: &[u8], seq: u64) -> Result<Outcome, Trouble> {
    let answer = replies::answer(line);
    match answer.seq {
        Some(named) if named != seq => {
            Err(Trouble::protocol(format!("the reply names the call {named}, not {seq}")))
        }
        _ => answer.outcome,
    }
}
