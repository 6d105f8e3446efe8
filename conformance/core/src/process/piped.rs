//! A backend at the other end of a pipe, in a program that started this one: a test framework that runs the backend itself,
//! so that its debugger and its coverage reach it. The framework limits time and memory, and says why a call has no
//! answer.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::io::{self, BufRead, Write};
use std::sync::Arc;

use gather_spec::{Case, Outcome, Run};

use crate::backend::Description;
use crate::declared::Probes;
use crate::entry::Entry;
use crate::judge::{Strictness, Verdict};
use crate::judged::Judged;
use crate::plan::{VariantPlan, VariantsAsked};
use crate::protocol::{Command, PROTOCOL, StartMessage};
use crate::trouble::Trouble;

use super::batch::{Batch, SendResult};
use super::client::Sending;
use super::inputs::{EncodedCall, InputFolder};
use super::program::ProcessLimits;
use super::replies;

/// A backend that reads calls from one end of a pipe and writes replies to the other.
#[derive(Debug)]
pub struct Piped<R, W> {
    replies: R,
    calls: W,
    description: Description,
    folder: InputFolder,
    /// The number of the next call.
    seq: u64,
    probes: Probes,
    plan: VariantPlan,
}

impl<R: BufRead, W: Write> Piped<R, W> {
    /// Has the backend describe itself. `cases` are those that it may be asked, in these variants.
    ///
    /// # Errors
    /// If the pipe breaks, or the description is invalid.
    pub fn start(
        mut replies: R,
        mut calls: W,
        cases: &[Arc<Case>],
        asked: VariantsAsked,
    ) -> io::Result<Self> {
        let start = StartMessage { cmd: Command::Start, protocol: PROTOCOL };
        send(&mut calls, &serde_json::to_vec(&start)?)?;
        let line = line(&mut replies)?;
        let invalid = |wrong: String| io::Error::new(io::ErrorKind::InvalidData, wrong);
        let (description, _) = replies::started(&line).map_err(invalid)?;
        Ok(Self {
            replies,
            calls,
            folder: InputFolder::new()?,
            seq: RandomState::new().hash_one(0) % (1 << 30),
            probes: Probes::new(&description, cases),
            plan: VariantPlan::new(&description, asked, cases),
            description,
        })
    }

    /// The backend's self-description.
    pub const fn description(&self) -> &Description {
        &self.description
    }

    /// Whether some of these runs would be sent.
    pub fn asks(&self, runs: &[Run]) -> bool {
        let judged = |run| Judged::or_probe(&self.description, run, Strictness::Lenient, Some(&self.probes));
        runs.iter().any(|run| judged(run).is_ok())
    }

    /// The next line that the other end writes; `None` at its end.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        match line(&mut self.replies) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            line => line.map(Some),
        }
    }

    /// Writes a line to the other end.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn say(&mut self, line: &[u8]) -> io::Result<()> {
        send(&mut self.calls, line)
    }

    /// Asks the runs of a case, in their variants.
    ///
    /// # Errors
    /// If the pipe breaks.
    pub fn ask(&mut self, case: &Arc<Case>, runs: Vec<Run>) -> io::Result<Entry> {
        let description = self.description.clone();
        let mut batch = Batch::new(1, self.seq, description, Some(&self.probes), Some(&self.plan));
        for sending in batch.take(0, runs, &|_| ()) {
            let run = batch.judged(sending).map(|judged| judged.run.clone().into_owned());
            let Some(run) = run else { continue };
            let limit = ProcessLimits::default().file_above;
            match EncodedCall::of_run(self.seq, &run, limit, &mut self.folder) {
                Err(why) => batch.not_sent(sending, &why, &|_| ()),
                Ok(mut request) => {
                    send(&mut self.calls, request.take_line().trim_ascii_end())?;
                    batch.sent(sending);
                    let line = line(&mut self.replies)?;
                    let changed = request.changed();
                    let answer = outcome(&line, self.seq, changed);
                    self.seq += 1;
                    finish(&mut batch, sending, answer);
                }
            }
        }
        let result = batch.into_results().pop().map(|(_, result)| result);
        Ok(result.unwrap_or_else(|| Entry::of_case(case, Vec::new())))
    }
}

/// What a line answers to the call with this number, if it did not change an input.
fn outcome(line: &[u8], seq: u64, changed: Option<String>) -> Result<Outcome, Trouble> {
    let answer = replies::answer(line);
    let outcome = answer.outcome?;
    match (answer.seq, changed) {
        (_, Some(what)) => Err(Trouble { verdict: Verdict::InputChanged, what }),
        (Some(of), None) if of == seq => Ok(outcome),
        (of, None) => {
            let of = of.map_or_else(|| "none".to_owned(), |of| of.to_string());
            Err(Trouble::protocol(format!("the reply names seq {of} when that to seq {seq} was due")))
        }
    }
}

fn finish(batch: &mut Batch<'_>, sending: Sending, answer: Result<Outcome, Trouble>) {
    let Some(judged) = batch.judged(sending) else { return };
    let result = answer.map(|outcome| {
        let judgement = judged.judge(&outcome);
        (outcome, judgement)
    });
    batch.finish(sending, SendResult { result, stderr: None }, &|_| ());
}

/// Reads a line, without its end.
fn line(from: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let most = ProcessLimits::default().reply as u64;
    let mut line = Vec::new();
    io::Read::take(&mut *from, most).read_until(b'\n', &mut line)?;
    match line.pop() {
        Some(b'\n') => Ok(line),
        Some(_) if line.len() as u64 + 1 == most => {
            Err(io::Error::new(io::ErrorKind::InvalidData, format!("a line has more than {most} bytes")))
        }
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn send(to: &mut impl Write, line: &[u8]) -> io::Result<()> {
    to.write_all(line)?;
    to.write_all(b"\n")?;
    to.flush()
}
