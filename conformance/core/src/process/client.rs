//! Sends a queue of calls to one process after another. Runs and campaigns share it.
//!
//! A failed process takes every call in flight with it. If there were several, none is blamed yet: the
//! failure is in doubt, and all are sent again, until one of them fails alone.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use gather_spec::Outcome;

use crate::backend::Description;
use crate::judge::Verdict;

use super::inputs::{EncodedCall, InputFolder};
use super::patience::Patience;
use super::program::{Broken, ProcessBackend};
use super::replies;
use super::session::{End, Said, Session};
use crate::trouble::Trouble;

/// No further call is sent while this many bytes of calls are in flight.
const BYTES_IN_FLIGHT: usize = 4 << 20;

/// One sending of a call: the number of the call, and which repetition this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sending {
    pub(super) call: usize,
    pub(super) run: usize,
}

/// A call in flight.
#[derive(Debug)]
struct Sent {
    sending: Sending,
    request: EncodedCall,
    /// How many bytes of standard error had arrived when it was sent.
    mark: u64,
    seq: u64,
    at: Instant,
}

/// Which call to blame for a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blame {
    /// The call whose reply was due: the reply itself is wrong.
    Due,
    /// One of the calls in flight: nothing tells which.
    InFlight,
    /// None of them: the reply names the seq of a call that was answered before, or was never sent.
    Stray(u64),
}

/// A call that was answered, or that is blamed for the end of its process.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) sending: Sending,
    /// The outcome, or what the process did wrong.
    pub(super) result: Result<Outcome, Trouble>,
    /// How many bytes of standard error had arrived when it was sent.
    pub(super) mark: u64,
    /// How long the client waited for it.
    pub(super) took: Duration,
    /// The standard error that came with the reply.
    pub(super) said: Option<Said>,
}

/// A failure with several calls in flight, none of which has failed alone yet.
#[derive(Debug)]
pub(super) struct Doubt {
    pub(super) trouble: Trouble,
    pub(super) stderr: Option<String>,
    /// The calls that were in flight. The first one was due.
    sendings: Vec<Sending>,
}

/// Drives one process after another.
#[derive(Debug)]
pub(super) struct Client {
    session: Option<Session>,
    description: Description,
    folder: InputFolder,
    /// The number of the next call.
    seq: u64,
    patience: Patience,
    waiting: VecDeque<Sending>,
    in_flight: VecDeque<Sent>,
    /// When the last reply came.
    heard: Instant,
    doubt: Option<Doubt>,
    /// Whether the next restart does not count.
    restart_is_free: bool,
}

impl Client {
    /// Starts the first process; calls are numbered from `seq`.
    ///
    /// # Errors
    /// [`Broken`] if it cannot be started.
    pub(super) fn start(backend: &ProcessBackend, seq: u64) -> Result<Self, Broken> {
        let folder = InputFolder::new().map_err(|error| Broken {
            verdict: Verdict::Crash,
            why: format!("no folder for input files: {error}"),
            stderr: None,
        })?;
        let session = Session::start(backend)?;
        Ok(Self {
            description: session.description.clone(),
            session: Some(session),
            folder,
            seq,
            patience: Patience::new(&backend.limits),
            waiting: VecDeque::new(),
            in_flight: VecDeque::new(),
            heard: Instant::now(),
            doubt: None,
            restart_is_free: false,
        })
    }

    /// Starts the next process, and kills it if it describes itself differently from the first. Returns
    /// whether it is the same.
    ///
    /// # Errors
    /// [`Broken`] if it cannot be started.
    pub(super) fn restart(&mut self, backend: &ProcessBackend) -> Result<bool, Broken> {
        let session = Session::start(backend)?;
        let is_same = session.description == self.description;
        self.session = Some(session).filter(|_| is_same);
        Ok(is_same)
    }

    /// Whether the next restart does not count. Resets that: the one after it counts.
    pub(super) const fn take_free_restart(&mut self) -> bool {
        std::mem::replace(&mut self.restart_is_free, false)
    }

    /// The backend's self-description.
    pub(super) const fn description(&self) -> &Description {
        &self.description
    }

    /// Whether a process is running.
    pub(super) const fn is_up(&self) -> bool {
        self.session.is_some()
    }

    /// The members of the description that this version does not know.
    pub(super) fn ignored(&self) -> &[String] {
        self.session.as_ref().map_or(&[], |session| &session.ignored)
    }

    /// Takes the report of a sanitizer from the start of the process.
    pub(super) fn take_report_at_start(&mut self) -> Option<String> {
        self.session.as_mut()?.reported.take()
    }

    /// Takes the process away from this client.
    pub(super) fn take_session(&mut self) -> Option<Session> {
        self.session.take()
    }

    /// Appends calls to the queue.
    pub(super) fn queue(&mut self, sendings: impl IntoIterator<Item = Sending>) {
        self.waiting.extend(sendings);
    }

    /// Drops the queue and the calls in flight.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
        self.in_flight.clear();
    }

    /// Takes the next call off the queue.
    pub(super) fn next_sending(&mut self) -> Option<Sending> {
        self.waiting.pop_front()
    }

    /// Whether no call is in flight.
    pub(super) fn is_quiet(&self) -> bool {
        self.in_flight.is_empty()
    }

    /// Whether another call may be sent under this window. While a failure is in doubt, the window is 1.
    pub(super) fn has_room(&self, window: usize) -> bool {
        let bytes = self.in_flight.iter().map(|sent| sent.request.held()).fold(0, usize::saturating_add);
        let window = if self.doubt.is_some() { 1 } else { window };
        self.is_quiet() || (self.in_flight.len() < window && bytes < BYTES_IN_FLIGHT)
    }

    /// The number of the next call, and the folder for its files.
    pub(super) const fn next_request(&mut self) -> (u64, &mut InputFolder) {
        (self.seq, &mut self.folder)
    }

    /// Sends the request with the next number.
    pub(super) fn send(&mut self, sending: Sending, mut request: EncodedCall) {
        let Some(session) = &self.session else { return };
        let mark = session.stderr_mark();
        session.send(request.take_line());
        self.in_flight.push_back(Sent { sending, request, mark, seq: self.seq, at: Instant::now() });
        self.seq += 1;
    }

    /// The call whose reply is due.
    pub(super) fn due(&self) -> Option<Sending> {
        self.in_flight.front().map(|sent| sent.sending)
    }

    /// When the wait for the next reply began.
    pub(super) fn waiting_since(&self) -> Instant {
        self.in_flight.front().map_or(self.heard, |sent| sent.at.max(self.heard))
    }

    /// How long the next reply may take.
    pub(super) fn limit(&self) -> Duration {
        self.patience.limit(self.in_flight.front().is_some_and(|sent| sent.request.is_virtual))
    }

    /// Receives the reply that is due. After an error the calls stay in flight until [`Client::fail`].
    pub(super) fn receive(&mut self, limit: Duration) -> Result<Answered, (Blame, Trouble)> {
        let since = self.waiting_since();
        let session = self.session.as_mut().expect("calls are sent to a process");
        let line = session.receive(since, limit).map_err(|trouble| (Blame::InFlight, trouble))?;
        // `report` catches up with standard error, so it comes before `stderr_of_reply`.
        let report = session.report();
        let said = session.stderr_of_reply();
        if let Some(report) = report {
            let what = format!("a sanitizer's report: {report}");
            return Err((Blame::InFlight, Trouble { verdict: Verdict::Crash, what }));
        }
        let result = self.with_inputs_looked_at(self.read(&line))?;
        self.patience.answered(since.elapsed());
        Ok(Answered { said, ..self.answered(result) })
    }

    /// The outcome in a line that answers the call that is due; otherwise which call to blame, and for what.
    pub(super) fn read(&self, line: &[u8]) -> Result<Outcome, (Blame, Trouble)> {
        let answer = replies::answer(line);
        let due = self.in_flight.front().map(|sent| sent.seq);
        let Some(seq) = answer.seq else {
            let wrong = answer.outcome.err();
            return Err((
                Blame::InFlight,
                wrong.unwrap_or_else(|| Trouble::protocol("the reply has no seq")),
            ));
        };
        if Some(seq) == due {
            return answer.outcome.map_err(|trouble| (Blame::Due, trouble));
        }
        let due = due.map_or_else(|| "none".to_owned(), |due| due.to_string());
        Err(if self.in_flight.iter().any(|sent| sent.seq == seq) {
            let what = format!("the reply to seq {seq} came when that to seq {due} was due");
            (Blame::Due, Trouble::protocol(what))
        } else {
            let what = format!("a reply to seq {seq} came, which was not asked; due was {due}");
            (Blame::Stray(seq), Trouble::protocol(what))
        })
    }

    /// Replaces the answer if the call's input files have changed. If other calls were in flight, any of them
    /// may have changed the files. A protocol error in the answer is then only a consequence.
    fn with_inputs_looked_at(
        &self,
        answered: Result<Outcome, (Blame, Trouble)>,
    ) -> Result<Result<Outcome, Trouble>, (Blame, Trouble)> {
        let may_follow = match &answered {
            Ok(_) => true,
            Err((blame, trouble)) => *blame == Blame::Due && trouble.verdict == Verdict::ProtocolError,
        };
        let due = self.in_flight.front().filter(|_| may_follow);
        let trouble = due
            .and_then(|sent| sent.request.changed())
            .map(|what| Trouble { verdict: Verdict::InputChanged, what });
        match (answered, trouble) {
            (answered, None) => answered.map(Ok),
            (Ok(_), Some(trouble)) if self.in_flight.len() == 1 => Ok(Err(trouble)),
            (_, Some(trouble)) => Err((Blame::InFlight, trouble)),
        }
    }

    /// Removes the call that is due from those in flight. If it failed, it explains the failure in doubt.
    fn answered(&mut self, result: Result<Outcome, Trouble>) -> Answered {
        let took = self.waiting_since().elapsed();
        self.heard = Instant::now();
        let sent = self.in_flight.pop_front().expect("a reply is waited for only if a call is in flight");
        if result.is_err() {
            let was_there =
                |doubt: &mut Doubt| doubt.sendings.iter().any(|sending| sending.call == sent.sending.call);
            self.doubt.take_if(was_there);
        }
        Answered { sending: sent.sending, result, mark: sent.mark, took, said: None }
    }

    /// The standard error since a call was sent, without what another call has reported.
    pub(super) fn stderr(&mut self, mark: u64) -> Option<String> {
        self.session.as_mut()?.stderr(mark)
    }

    /// Kills the process after a failure, puts the calls in flight back into the queue, and returns the call
    /// to blame. If it may be any of several, none is blamed before it fails alone, and the restart does not
    /// count.
    pub(super) fn fail(&mut self, blame: Blame, trouble: &Trouble) -> (Option<Answered>, End) {
        if trouble.verdict == Verdict::Timeout {
            self.patience.timed_out(self.in_flight.front().is_some_and(|sent| sent.request.is_virtual));
        }
        let end = self.kill();
        let payer = match blame {
            Blame::Stray(_) => None,
            Blame::InFlight if self.in_flight.len() > 1 => {
                let sendings = self.in_flight.iter().map(|sent| sent.sending).collect();
                self.doubt = Some(Doubt { trouble: trouble.clone(), stderr: end.stderr.clone(), sendings });
                self.restart_is_free = true;
                None
            }
            Blame::Due | Blame::InFlight => Some(self.answered(Err(trouble.clone()))),
        };
        while let Some(sent) = self.in_flight.pop_back() {
            self.waiting.push_front(sent.sending);
        }
        (payer, end)
    }

    /// Kills the process.
    pub(super) fn kill(&mut self) -> End {
        let mark = self.in_flight.front().map_or(0, |sent| sent.mark);
        self.session.take().map(|session| session.kill(mark)).unwrap_or_default()
    }

    /// The failure that no call has explained.
    pub(super) const fn doubt(&self) -> Option<&Doubt> {
        self.doubt.as_ref()
    }

    /// Takes the failure that no call has explained.
    pub(super) const fn unexplained(&mut self) -> Option<Doubt> {
        self.doubt.take()
    }
}

impl Doubt {
    /// The call that was due.
    pub(super) fn due(&self) -> Sending {
        self.sendings[0]
    }

    /// The call that was sent last.
    pub(super) fn last(&self) -> Sending {
        self.sendings[self.sendings.len() - 1]
    }

    /// What happened, in words.
    pub(super) fn in_words(&self, alone: &str) -> String {
        format!("{}, with {} calls in flight{alone}", self.trouble.what, self.sendings.len())
    }
}
