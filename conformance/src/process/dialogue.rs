//! Calls that are no cases, asked of one process after the other. They are pipelined; those that were in flight when a
//! process failed are asked again one at a time.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::{Duration, Instant};

use gather_spec::{Call, Outcome};

use crate::backend::Description;
use crate::interrupt;
use crate::judge::Verdict;

use super::inputs::{InputFolder, Request};
use super::orphans;
use super::patience::Patience;
use super::program::{Broken, ProcessBackend};
use super::replies;
use super::session::{End, SURVIVES, Session};
use super::trouble::Trouble;

/// How many bytes of calls are under way at a time, unless it is one call.
const BYTES_UNDER_WAY: usize = 4 << 20;

/// How long calls that are in flight when the time is up may still take: a backend that answers can then be stopped, one
/// that does not has to be killed.
const LAST_ANSWERS: Duration = Duration::from_millis(250);

/// A process that is asked calls, and started again when it fails.
#[derive(Debug)]
pub struct Dialogue {
    backend: ProcessBackend,
    session: Option<Session>,
    description: Description,
    folder: InputFolder,
    seq: u64,
    /// Why the last process ended.
    trouble: String,
    restarts: usize,
    restarts_count: bool,
    /// Whether the next restart is not counted.
    restart_is_free: bool,
    /// Whether pipelining has ended, since it failed where no call failed alone.
    one_at_a_time: bool,
    /// Whether a process goes on that cannot be killed.
    survives: bool,
    patience: Patience,
    /// When to ask no more.
    deadline: Option<Instant>,
}

/// Why calls were not asked to the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interrupted {
    /// The process has to be started again, and may or can not.
    Broken(Broken),
    /// The time is up, or the user has asked for the end.
    OutOfTime,
}

/// What came of calls.
#[derive(Clone, Debug)]
pub struct Answers {
    /// Of each, in order, or of the first of them.
    pub answers: Vec<Result<Outcome, Trouble>>,
    /// Why there are no more.
    pub interrupted: Option<Interrupted>,
}

/// Trouble while several calls were in flight, of which none has failed alone yet.
struct Doubt {
    trouble: Trouble,
    /// Their places; the first one was due.
    calls: Range<usize>,
}

/// A call that was sent and not answered yet.
struct Sent {
    place: usize,
    seq: u64,
    request: Request,
    mark: u64,
    at: Instant,
}

/// A failure that has ended the process.
enum Failed {
    /// The reply itself shows that it is that of the call that was due.
    Due(Trouble),
    /// It may be that of any call in flight.
    InFlight(Trouble),
    /// The time was up before the reply came.
    OutOfTime,
}

impl Dialogue {
    /// Starts the process.
    ///
    /// # Errors
    /// [`Broken`] if it cannot be started.
    pub fn start(backend: ProcessBackend) -> Result<Self, Broken> {
        let folder = InputFolder::new().map_err(|error| Broken {
            verdict: Verdict::Crash,
            why: format!("no folder for input files: {error}"),
            stderr: None,
        })?;
        orphans::adopt();
        let patience = Patience::new(&backend.limits);
        let session = Session::start(&backend)?;
        let description = session.description.clone();
        Ok(Self {
            backend,
            session: Some(session),
            description,
            folder,
            seq: 1,
            trouble: String::new(),
            restarts: 0,
            restarts_count: true,
            restart_is_free: false,
            one_at_a_time: false,
            survives: false,
            patience,
            deadline: None,
        })
    }

    /// What the backend says of itself.
    #[must_use]
    pub const fn description(&self) -> &Description {
        &self.description
    }

    /// Whether restarts are counted from now on, and limited.
    pub fn count_restarts(&mut self, counted: bool) {
        self.restarts_count = counted;
    }

    /// Sets when to ask no more; what is in flight then has a moment to be answered.
    pub fn stop_at(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
    }

    /// Asks calls, and says what came of each.
    #[must_use]
    pub fn ask(&mut self, calls: &[&Call]) -> Answers {
        let mut answers: Vec<Result<Outcome, Trouble>> = Vec::with_capacity(calls.len());
        let mut doubt: Option<Doubt> = None;
        let interrupted = self.ask_all(calls, &mut answers, &mut doubt).err();
        if let Some(doubt) = doubt {
            // Nobody knows yet whose fault the trouble was.
            answers.truncate(doubt.calls.start);
        }
        Answers { answers, interrupted }
    }

    fn ask_all(
        &mut self,
        calls: &[&Call],
        answers: &mut Vec<Result<Outcome, Trouble>>,
        doubt: &mut Option<Doubt>,
    ) -> Result<(), Interrupted> {
        let mut under_way: VecDeque<Sent> = VecDeque::new();
        let mut next = 0;
        let mut heard = Instant::now();
        while answers.len() < calls.len() {
            if under_way.is_empty() && self.is_out_of_time() {
                return Err(Interrupted::OutOfTime);
            }
            if self.session.is_none() {
                self.restart()?;
                next = answers.len();
            }
            while next < calls.len() && self.has_room(&under_way, doubt.is_some()) {
                under_way.push_back(self.send(next, calls[next]));
                next += 1;
            }
            let sent = under_way.pop_front().expect("a call that is not answered is under way");
            debug_assert_eq!(sent.place, answers.len());
            let received = self.receive(&sent, heard.max(sent.at), under_way.is_empty());
            heard = Instant::now();
            if interrupt::requested() {
                return Err(Interrupted::OutOfTime);
            }
            match received {
                Err(Failed::OutOfTime) => return Err(Interrupted::OutOfTime),
                Err(Failed::InFlight(trouble)) if !under_way.is_empty() => {
                    *doubt = Some(Doubt { trouble, calls: sent.place..next });
                    self.restart_is_free = true;
                }
                Err(Failed::InFlight(trouble) | Failed::Due(trouble)) => {
                    *doubt = None;
                    answers.push(Err(trouble));
                }
                Ok(answer) => {
                    doubt.take_if(|_| answer.is_err());
                    answers.push(answer);
                }
            }
            if self.session.is_none() {
                under_way.clear();
            }
            if let Some(doubt) = doubt.take_if(|doubt| doubt.calls.end == answers.len()) {
                self.settle(doubt, answers);
            }
        }
        Ok(())
    }

    fn is_out_of_time(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// A limit on what begins at some time, and whether it is what the deadline leaves of it.
    fn within_time(&self, since: Instant, limit: Duration) -> (Duration, bool) {
        let left = self.deadline.map(|deadline| (deadline + LAST_ANSWERS).saturating_duration_since(since));
        match left {
            Some(left) if left < limit => (left, true),
            _ => (limit, false),
        }
    }

    fn has_room(&self, under_way: &VecDeque<Sent>, doubt: bool) -> bool {
        if !under_way.is_empty() && self.is_out_of_time() {
            return false;
        }
        let bytes: usize = under_way.iter().map(|sent| sent.request.len()).sum();
        let window = if doubt || self.one_at_a_time { 1 } else { self.backend.limits.window };
        under_way.is_empty() || (under_way.len() < window && bytes < BYTES_UNDER_WAY)
    }

    /// Says what happened while several calls were in flight, none of which has failed alone: a crash or a breach of the
    /// protocol is the fault of the call that was due, since it must not go unseen.
    fn settle(&mut self, doubt: Doubt, answers: &mut [Result<Outcome, Trouble>]) {
        self.one_at_a_time = true;
        self.restarts += usize::from(self.restarts_count);
        let Doubt { trouble: Trouble { verdict, what }, calls } = doubt;
        if verdict != Verdict::Timeout {
            let count = calls.len();
            let what = format!("{what}, with {count} calls in flight; alone, each of them was answered");
            answers[calls.start] = Err(Trouble { verdict, what });
        }
    }

    fn send(&mut self, place: usize, call: &Call) -> Sent {
        let seq = self.seq;
        self.seq += 1;
        let mut request = Request::new(seq, call, self.backend.limits.file_above, &mut self.folder);
        let mark = self.session.as_ref().map_or(0, |session| {
            session.send(request.take_line());
            session.stderr_mark()
        });
        Sent { place, seq, request, mark, at: Instant::now() }
    }

    /// The answer to the call that is next; after a failure there is no session.
    fn receive(
        &mut self,
        sent: &Sent,
        since: Instant,
        alone: bool,
    ) -> Result<Result<Outcome, Trouble>, Failed> {
        let (limit, is_cut) = self.within_time(since, self.patience.limit(sent.request.is_virtual));
        let session = self.session.as_mut().expect("calls are sent to a process");
        let answered = session.receive(since, limit).map_err(Failed::InFlight).and_then(|line| {
            let answer = replies::answer(&line);
            match answer.seq {
                Some(seq) if seq == sent.seq => answer.outcome.map_err(Failed::Due),
                Some(seq) => Err(Failed::Due(Trouble::protocol(format!(
                    "a reply to seq {seq} came when that to {} was due",
                    sent.seq
                )))),
                None => {
                    let wrong = answer.outcome.err();
                    Err(Failed::InFlight(wrong.unwrap_or_else(|| Trouble::protocol("the reply has no seq"))))
                }
            }
        });
        match look_at_inputs(answered, sent, alone) {
            Ok(result) => {
                self.patience.answered(since.elapsed());
                Ok(result)
            }
            Err(Failed::InFlight(trouble)) if is_cut && trouble.verdict == Verdict::Timeout => {
                self.survives |= self.session.take().is_some_and(|session| session.kill(sent.mark).survives);
                Err(Failed::OutOfTime)
            }
            Err(Failed::OutOfTime) => Err(Failed::OutOfTime),
            Err(Failed::Due(trouble)) => Err(Failed::Due(self.end(sent, trouble))),
            Err(Failed::InFlight(trouble)) => Err(Failed::InFlight(self.end(sent, trouble))),
        }
    }

    /// Ends the process after a failure; adds what it said last.
    fn end(&mut self, sent: &Sent, trouble: Trouble) -> Trouble {
        let Trouble { verdict, what } = trouble;
        if verdict == Verdict::Timeout {
            self.patience.timed_out(sent.request.is_virtual);
        }
        let End { stderr: said, survives } =
            self.session.take().map(|session| session.kill(sent.mark)).unwrap_or_default();
        self.survives |= survives;
        let what = match said.as_deref().and_then(|said| said.trim().lines().next()) {
            Some(first) => format!("{what}: {first}"),
            None => what,
        };
        self.trouble.clone_from(&what);
        Trouble { verdict, what }
    }

    fn restart(&mut self) -> Result<(), Interrupted> {
        let most = self.backend.limits.restarts;
        let refuse = |why| Err(Interrupted::Broken(Broken { verdict: Verdict::Crash, why, stderr: None }));
        if self.survives {
            return refuse(SURVIVES.to_owned());
        }
        if !std::mem::take(&mut self.restart_is_free) && self.restarts_count {
            if self.restarts >= most {
                let last = &self.trouble;
                return refuse(format!("the budget of {most} restarts is used up; at last {last}"));
            }
            self.restarts += 1;
        }
        let (start, is_cut) = self.within_time(Instant::now(), self.backend.limits.start);
        let mut backend = self.backend.clone();
        backend.limits.start = start;
        let session = Session::start(&backend).map_err(|broken| match broken.verdict {
            Verdict::Timeout if is_cut => Interrupted::OutOfTime,
            _ => Interrupted::Broken(broken),
        })?;
        if session.description != self.description {
            return refuse("after a restart the backend describes itself differently".to_owned());
        }
        self.session = Some(session);
        Ok(())
    }
}

/// The same as for a run: an answer that breaks the protocol may follow from files that have changed, and with other
/// calls in flight any of these may have changed them.
fn look_at_inputs(
    answered: Result<Outcome, Failed>,
    sent: &Sent,
    alone: bool,
) -> Result<Result<Outcome, Trouble>, Failed> {
    let may_follow = match &answered {
        Ok(_) => true,
        Err(Failed::Due(trouble)) => trouble.verdict == Verdict::ProtocolError,
        Err(Failed::InFlight(_) | Failed::OutOfTime) => false,
    };
    let changed = if may_follow { sent.request.changed() } else { None };
    let trouble = changed.map(|what| Trouble { verdict: Verdict::InputChanged, what });
    match (answered, trouble) {
        (answered, None) => answered.map(Ok),
        (Ok(_), Some(trouble)) if alone => Ok(Err(trouble)),
        (_, Some(trouble)) => Err(Failed::InFlight(trouble)),
    }
}

impl Drop for Dialogue {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            session.stop();
        }
    }
}
