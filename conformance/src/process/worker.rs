//! Takes cases through one process after the other. Several calls are in flight until a process fails; from then on it
//! is one at a time, so that each failure is that of the call which was asked.

use std::hash::{BuildHasher, RandomState};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use gather_spec::{Case, Outcome};

use crate::backend::Description;
use crate::interrupt;
use crate::judge::{Strictness, Verdict};
use crate::runner::{CaseResult, Judged};

use super::batch::{Batch, Blame, Doubt, Event, Ran, Sent, Watch};
use super::inputs::{InputFolder, Request};
use super::patience::Patience;
use super::program::{Broken, ProcessBackend};
use super::replies;
use super::session::{SURVIVES, Session};
use super::trouble::Trouble;

/// After how many failures in a row a process is not started again.
const START_FAILURES: usize = 3;

/// What the workers of one run share.
#[derive(Debug)]
pub(super) struct Shared<'a> {
    pub(super) backend: &'a ProcessBackend,
    /// The next case to take.
    pub(super) next: AtomicUsize,
    /// How many restarts have been used up.
    pub(super) restarts: AtomicUsize,
    pub(super) remarks: Mutex<Vec<String>>,
}

impl Shared<'_> {
    pub(super) fn run_worker(
        &self,
        worker: &mut Worker<'_>,
        cases: &[&Case],
        watch: Watch<'_>,
    ) -> Vec<(usize, CaseResult)> {
        worker.run(cases, &self.next, true, watch)
    }

    /// Takes one restart from the budget and gives its number, from 1 on; `None` if none is left.
    fn next_restart(&self) -> Option<usize> {
        let before = self.restarts.fetch_add(1, Ordering::Relaxed);
        (before < self.backend.limits.restarts).then_some(before + 1)
    }

    fn remark(&self, remark: String) {
        if let Ok(mut remarks) = self.remarks.lock() {
            remarks.push(remark);
        }
    }
}

/// Drives processes, one after the other.
#[derive(Debug)]
pub(super) struct Worker<'a> {
    shared: &'a Shared<'a>,
    session: Option<Session>,
    description: Description,
    folder: InputFolder,
    /// The next number for a call.
    seq: u64,
    patience: Patience,
    /// Whether calls are asked one at a time.
    one_at_a_time: bool,
    /// Whether the next restart is not counted.
    restart_is_free: bool,
    /// Why there will be no further process.
    given_up: Option<Trouble>,
}

impl<'a> Worker<'a> {
    /// Starts the first process.
    pub(super) fn start(shared: &'a Shared<'a>, watch: Watch<'_>) -> Result<Self, Broken> {
        watch(Event::Starting(0));
        let folder = InputFolder::new().map_err(|error| Broken {
            verdict: Verdict::Crash,
            why: format!("no folder for input files: {error}"),
            stderr: None,
        })?;
        let session = Session::start(shared.backend)?;
        let description = session.description.clone();
        // Where numbers start cannot be guessed, so that nobody answers before being asked.
        let seq = RandomState::new().hash_one(0) % (1 << 30);
        Ok(Self {
            shared,
            session: Some(session),
            description,
            folder,
            seq,
            patience: Patience::new(&shared.backend.limits),
            one_at_a_time: false,
            restart_is_free: false,
            given_up: None,
        })
    }

    /// What the backend says of itself.
    pub(super) const fn description(&self) -> &Description {
        &self.description
    }

    /// Runs the cases that `next` gives out, until there are no more, and if these are the `last`, asks the process
    /// to stop; gives their results by place.
    pub(super) fn run(
        &mut self,
        cases: &[&Case],
        next: &AtomicUsize,
        last: bool,
        watch: Watch<'_>,
    ) -> Vec<(usize, CaseResult)> {
        let mut batch = Batch::new(self.shared.backend.repeat, self.seq);
        while !interrupt::requested() {
            if self.given_up.is_none() && self.session.is_none() {
                self.restart(&mut batch, watch);
            }
            self.fill(&mut batch, cases, next, watch);
            if batch.is_quiet() {
                break;
            }
            self.take_one(&mut batch, watch);
        }
        if let Some(doubt) = batch.unexplained() {
            self.settle(&mut batch, doubt);
        }
        if last {
            self.stop(&mut batch);
        }
        batch.into_results()
    }

    /// Sends calls until the window is full or there are none.
    fn fill<'c>(&mut self, batch: &mut Batch<'c>, cases: &[&'c Case], next: &AtomicUsize, watch: Watch<'_>) {
        let limits = self.shared.backend.limits;
        let window = if self.one_at_a_time { 1 } else { limits.window };
        while batch.has_room(window) {
            let Some(job) = batch.next_job() else {
                let case = next.fetch_add(1, Ordering::Relaxed);
                if case >= cases.len() {
                    return;
                }
                match Judged::new(&self.description, cases[case], Strictness::Lenient) {
                    Ok(judged) => batch.take(case, judged),
                    Err(unsupported) => {
                        batch.not_sent(case, *unsupported);
                        watch(Event::Settled);
                    }
                }
                continue;
            };
            let Some(session) = &self.session else {
                let trouble = self.given_up.clone().expect("there is a process or a reason why not");
                batch.finish(job, Ran { result: Err(trouble), stderr: None }, watch);
                continue;
            };
            let case = &batch.judged(job).case;
            let request = match Request::of_case(self.seq, case, limits.file_above, &mut self.folder) {
                Ok(request) => request,
                Err(why) => {
                    batch.not_sent_after_all(job, &why);
                    watch(Event::Settled);
                    continue;
                }
            };
            let mark = session.stderr_mark();
            session.send(request.line.clone());
            batch.sent(self.seq, job, request, mark);
            self.seq += 1;
        }
    }

    /// Takes one reply, or the trouble that there is instead.
    fn take_one(&mut self, batch: &mut Batch<'_>, watch: Watch<'_>) {
        let (Some(session), Some(due)) = (&mut self.session, batch.due()) else { return };
        watch(Event::Waiting(&batch.judged(due.job).case.id));
        let (since, is_virtual) = (batch.waiting_since(), due.request.is_virtual);
        let limit = self.patience.limit(is_virtual);
        let line = session.receive(since, limit).map_err(|trouble| (Blame::InFlight, trouble));
        let answered = line.and_then(|line| batch.match_reply(replies::answer(&line)));
        match look_at_inputs(answered, due, batch.in_flight()) {
            Ok(result) => {
                self.patience.answered(since.elapsed());
                let sent = batch.answered();
                let passes = |outcome| batch.judged(sent.job).judge(outcome).verdict == Verdict::Pass;
                let fine = result.as_ref().is_ok_and(passes);
                let stderr = if fine { None } else { session.stderr(sent.mark) };
                if result.is_err() {
                    batch.explain(sent.job);
                }
                batch.finish(sent.job, Ran { result, stderr }, watch);
            }
            // The calls in flight have no result.
            Err(_) if interrupt::requested() => {}
            Err((blame, trouble)) => {
                if trouble.verdict == Verdict::Timeout {
                    self.patience.timed_out(is_virtual);
                }
                let mark = batch.mark();
                let end = self.session.take().map(|session| session.kill(mark)).unwrap_or_default();
                self.blame(batch, blame, trouble, end.stderr, watch);
                batch.send_again();
                if end.survives {
                    let what = format!("not sent: {SURVIVES}");
                    self.given_up = Some(Trouble { verdict: Verdict::Crash, what });
                }
            }
        }
    }

    /// Finds the call that pays for trouble. Of several in flight none does until it has failed alone.
    fn blame(
        &mut self,
        batch: &mut Batch<'_>,
        blame: Blame,
        trouble: Trouble,
        stderr: Option<String>,
        watch: Watch<'_>,
    ) {
        match blame {
            Blame::Earlier(job) => batch.amend(job, &trouble, stderr),
            Blame::InFlight if batch.in_flight() > 1 => {
                batch.doubt(trouble, stderr);
                (self.one_at_a_time, self.restart_is_free) = (true, true);
            }
            Blame::Due | Blame::InFlight => {
                let sent = batch.answered();
                batch.explain(sent.job);
                batch.finish(sent.job, Ran { result: Err(trouble), stderr }, watch);
            }
        }
    }

    /// Starts the next process, if the budget allows it.
    fn restart(&mut self, batch: &mut Batch<'_>, watch: Watch<'_>) {
        batch.new_session(self.seq);
        let mut failures = 0;
        while self.given_up.is_none() {
            let restarts = self.shared.backend.limits.restarts;
            let restart = std::mem::take(&mut self.restart_is_free).then_some(0);
            let restart = restart.or_else(|| self.shared.next_restart());
            match restart.map(|number| {
                watch(Event::Starting(number));
                Session::start(self.shared.backend)
            }) {
                Some(Ok(session)) if session.description == self.description => {
                    self.session = Some(session);
                    return;
                }
                Some(Ok(_)) => {
                    let what = "not sent: after a restart the backend describes itself differently";
                    self.given_up = Some(Trouble::protocol(what));
                }
                Some(Err(broken)) => {
                    failures += 1;
                    if failures == START_FAILURES {
                        let what = format!("not sent: {failures} restarts failed: {}", broken.why);
                        self.given_up = Some(Trouble { verdict: broken.verdict, what });
                    }
                }
                None => {
                    let what = format!("not sent: the budget of {restarts} restarts is used up");
                    self.given_up = Some(Trouble { verdict: Verdict::Crash, what });
                }
            }
        }
    }

    /// Says what happened while several calls were in flight, none of which has failed alone. A crash or a breach of the
    /// protocol must not go unseen; a call that was only late is no failure.
    fn settle(&self, batch: &mut Batch<'_>, doubt: Doubt) {
        let (due, count) = doubt.due();
        let alone = if self.given_up.is_none() { "; alone, each of them was answered" } else { "" };
        let what = format!("{}, with {count} calls in flight{alone}", doubt.trouble.what);
        if doubt.trouble.verdict == Verdict::Timeout || !(batch.has_passed(due) || self.given_up.is_some()) {
            let from_then_on = "from then on calls were sent one at a time";
            self.shared.remark(format!("{}: {what}; {from_then_on}", doubt.trouble.verdict));
        } else {
            batch.amend(due, &Trouble { what, ..doubt.trouble }, doubt.stderr);
        }
    }

    /// Ends the session. Its last words may still concern a call.
    fn stop(&mut self, batch: &mut Batch<'_>) {
        let Some(session) = self.session.take() else { return };
        let (lines, remark) = session.stop();
        if let Some(remark) = remark {
            self.shared.remark(remark);
        }
        if let Some(line) = lines.first() {
            let (blame, trouble) = match batch.match_reply(replies::answer(line)) {
                Err(blamed) => blamed,
                Ok(_) => (Blame::Due, Trouble::protocol("a line that nobody asked for")),
            };
            match (blame, batch.last_sent()) {
                (Blame::Earlier(job), _) | (Blame::Due | Blame::InFlight, Some(job)) => {
                    batch.amend(job, &trouble, None);
                }
                (Blame::Due | Blame::InFlight, None) => self.shared.remark(trouble.what),
            }
        }
    }
}

/// What an answer comes to when the files of its call are looked at. If they have changed while other calls were in
/// flight, any of these may have done it. An answer that breaks the protocol is then no more than what follows from it.
fn look_at_inputs(
    answered: Result<Outcome, (Blame, Trouble)>,
    due: &Sent,
    in_flight: usize,
) -> Result<Result<Outcome, Trouble>, (Blame, Trouble)> {
    let may_follow = match &answered {
        Ok(_) => true,
        Err((blame, trouble)) => *blame == Blame::Due && trouble.verdict == Verdict::ProtocolError,
    };
    let changed = if may_follow { due.request.changed() } else { None };
    let trouble = changed.map(|what| Trouble { verdict: Verdict::InputChanged, what });
    match (answered, trouble) {
        (answered, None) => answered.map(Ok),
        (Ok(_), Some(trouble)) if in_flight == 1 => Ok(Err(trouble)),
        (_, Some(trouble)) => Err((Blame::InFlight, trouble)),
    }
}
