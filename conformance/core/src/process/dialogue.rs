//! Sends the calls of campaigns, which are no cases, to one process after another. Calls are pipelined; those
//! in flight when a process failed are sent again one at a time.

use std::time::{Duration, Instant};

use gather_spec::{Call, Outcome, Variant};

use crate::backend::Description;
use crate::interrupt;
use crate::judge::Verdict;
use crate::plan::VariantsAsked;
use crate::words::counted;

use super::client::{Blame, Client, Doubt, Sending};
use super::inputs::EncodedCall;
use super::program::{Broken, ProcessBackend};
use super::session::{End, SURVIVES};
use crate::trouble::Trouble;

/// How long calls in flight at the deadline may still take. A backend that answers in time can be stopped;
/// otherwise it must be killed.
const LAST_ANSWERS: Duration = Duration::from_millis(250);

/// A process that answers calls, and is restarted when it fails.
#[derive(Debug)]
pub struct Dialogue {
    backend: ProcessBackend,
    client: Client,
    /// Why the last process ended.
    trouble: String,
    restarts: usize,
    restarts_count: bool,
    /// Whether pipelining has ended, because a failure did not recur when its calls were sent alone.
    one_at_a_time: bool,
    /// Whether a process is still running because it cannot be killed.
    survives: bool,
    /// When to stop sending calls.
    deadline: Option<Instant>,
}

/// Why not all calls were answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interrupted {
    /// The process has to be restarted, but cannot or must not be.
    Broken(Broken),
    /// The time is up, or the user interrupted the program.
    OutOfTime,
}

/// The answers to some calls.
#[derive(Clone, Debug)]
pub struct Answers {
    /// In the order of the calls, for all of them or for the first ones.
    pub answers: Vec<Result<Outcome, Trouble>>,
    /// Why the others have none.
    pub interrupted: Option<Interrupted>,
}

impl Dialogue {
    /// Starts the process.
    ///
    /// # Errors
    /// [`Broken`] if it cannot be started.
    pub fn start(backend: ProcessBackend) -> Result<Self, Broken> {
        let client = Client::start(&backend, 1)?;
        Ok(Self {
            backend,
            client,
            trouble: String::new(),
            restarts: 0,
            restarts_count: true,
            one_at_a_time: false,
            survives: false,
            deadline: None,
        })
    }

    /// The backend's self-description.
    #[must_use]
    pub const fn description(&self) -> &Description {
        self.client.description()
    }

    /// Which variants are asked, and the only one if one is chosen.
    #[must_use]
    pub const fn variants(&self) -> (VariantsAsked, Option<&Variant>) {
        (self.backend.variants, self.backend.variant.as_ref())
    }

    /// Sets whether restarts count towards the limit from now on.
    pub fn count_restarts(&mut self, counted: bool) {
        self.restarts_count = counted;
    }

    /// Sets when to stop sending calls. Calls in flight then have a short time to be answered.
    pub fn stop_at(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
    }

    /// Sends calls and returns their answers.
    #[must_use]
    pub fn ask(&mut self, calls: &[&Call]) -> Answers {
        let mut answers: Vec<Result<Outcome, Trouble>> = Vec::with_capacity(calls.len());
        self.client.clear();
        self.client.queue((0..calls.len()).map(|call| Sending { call, run: 0 }));
        let interrupted = self.ask_all(calls, &mut answers).err();
        if let Some(doubt) = self.client.unexplained() {
            // Which of the calls in flight caused the failure is still unknown.
            answers.truncate(doubt.due().call);
        }
        Answers { answers, interrupted }
    }

    fn ask_all(
        &mut self,
        calls: &[&Call],
        answers: &mut Vec<Result<Outcome, Trouble>>,
    ) -> Result<(), Interrupted> {
        while answers.len() < calls.len() {
            if self.client.is_quiet() && self.is_out_of_time() {
                return Err(Interrupted::OutOfTime);
            }
            if !self.client.is_up() {
                self.restart()?;
            }
            self.fill(calls);
            debug_assert_eq!(self.client.due().map(|due| due.call), Some(answers.len()));
            let answer = self.receive()?;
            if interrupt::requested() {
                return Err(Interrupted::OutOfTime);
            }
            answers.extend(answer);
            if self.client.doubt().is_some_and(|doubt| doubt.last().call + 1 == answers.len())
                && let Some(doubt) = self.client.unexplained()
            {
                self.settle(doubt, answers);
            }
        }
        Ok(())
    }

    /// Sends calls until the window is full, the time is up, or there are none.
    fn fill(&mut self, calls: &[&Call]) {
        let limits = self.backend.limits;
        let window = if self.one_at_a_time { 1 } else { limits.window };
        while self.client.has_room(window) && (self.client.is_quiet() || !self.is_out_of_time()) {
            let Some(sending) = self.client.next_sending() else { return };
            let (seq, folder) = self.client.next_request();
            let request = EncodedCall::new(seq, calls[sending.call], limits.file_above, folder);
            self.client.send(sending, request);
        }
    }

    fn is_out_of_time(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// The limit on a step that begins at `since`, and whether the deadline has shortened it.
    fn within_time(&self, since: Instant, limit: Duration) -> (Duration, bool) {
        let left = self.deadline.map(|deadline| (deadline + LAST_ANSWERS).saturating_duration_since(since));
        match left {
            Some(left) if left < limit => (left, true),
            _ => (limit, false),
        }
    }

    /// The answer to the next call; `None` if the process failed with several calls in flight.
    fn receive(&mut self) -> Result<Option<Result<Outcome, Trouble>>, Interrupted> {
        let (limit, is_cut) = self.within_time(self.client.waiting_since(), self.client.limit());
        let (blame, trouble) = match self.client.receive(limit) {
            Ok(answered) => return Ok(Some(answered.result)),
            Err(failed) => failed,
        };
        if is_cut && blame == Blame::InFlight && trouble.verdict == Verdict::Timeout {
            self.survives |= self.client.kill().survives;
            return Err(Interrupted::OutOfTime);
        }
        // A campaign cannot change earlier answers, so a stray reply is blamed on the call that was due.
        let blame = if blame == Blame::InFlight { blame } else { Blame::Due };
        let (payer, End { stderr, survives, .. }) = self.client.fail(blame, &trouble);
        self.survives |= survives;
        let trouble = with_last_words(trouble, stderr.as_deref());
        self.trouble.clone_from(&trouble.what);
        Ok(payer.map(|_| Err(trouble)))
    }

    /// Reports a failure with several calls in flight that none of them repeated alone. A crash or a protocol
    /// error is charged to the call that was due, because it must not go unseen.
    fn settle(&mut self, mut doubt: Doubt, answers: &mut [Result<Outcome, Trouble>]) {
        self.one_at_a_time = true;
        self.restarts += usize::from(self.restarts_count);
        doubt.trouble = with_last_words(doubt.trouble, doubt.stderr.as_deref());
        if doubt.trouble.verdict != Verdict::Timeout {
            let what = doubt.in_words("; alone, each of them was answered");
            answers[doubt.due().call] = Err(Trouble { what, ..doubt.trouble });
        }
    }

    fn restart(&mut self) -> Result<(), Interrupted> {
        let most = self.backend.limits.restarts;
        let refuse = |why| Err(Interrupted::Broken(Broken { verdict: Verdict::Crash, why, stderr: None }));
        if self.survives {
            return refuse(SURVIVES.to_owned());
        }
        if !self.client.take_free_restart() && self.restarts_count {
            if self.restarts >= most {
                let last = &self.trouble;
                return refuse(format!(
                    "the budget of {} is used up; at last {last}",
                    counted(most, "restart")
                ));
            }
            self.restarts += 1;
        }
        let (start, is_cut) = self.within_time(Instant::now(), self.backend.limits.start);
        let mut backend = self.backend.clone();
        backend.limits.start = start;
        let is_same = self.client.restart(&backend).map_err(|broken| match broken.verdict {
            Verdict::Timeout if is_cut => Interrupted::OutOfTime,
            _ => Interrupted::Broken(broken),
        })?;
        if is_same {
            Ok(())
        } else {
            refuse("after a restart the backend describes itself differently".to_owned())
        }
    }
}

/// Adds the first line that the process wrote before its end.
fn with_last_words(trouble: Trouble, said: Option<&str>) -> Trouble {
    match said.and_then(|said| said.trim().lines().next()) {
        Some(first) => Trouble { what: format!("{}: {first}", trouble.what), ..trouble },
        None => trouble,
    }
}

impl Drop for Dialogue {
    fn drop(&mut self) {
        if let Some(session) = self.client.take_session() {
            session.stop();
        }
    }
}
