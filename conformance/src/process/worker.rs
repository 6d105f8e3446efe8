//! Takes cases through one process after the other: a window of calls is under way at a time, and the call at which
//! a process fails is the one that pays for it.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering};

use gather_spec::Case;

use crate::backend::Description;
use crate::judge::{Strictness, Verdict};
use crate::runner::{CaseResult, Judged};

use super::batch::{Batch, Blame, Ran};
use super::inputs::Request;
use super::replies;
use super::session::{Session, Trouble};
use super::{Broken, Shared};

/// After how many failures in a row a process is not started again.
const START_FAILURES: usize = 3;

/// Drives processes, one after the other.
#[derive(Debug)]
pub(super) struct Worker<'a> {
    shared: &'a Shared<'a>,
    session: Option<Session>,
    description: Description,
    folder: tempfile::TempDir,
    /// The next number for a call.
    seq: u64,
    /// Why there will be no further process.
    given_up: Option<Trouble>,
}

impl<'a> Worker<'a> {
    /// Starts the first process.
    pub(super) fn start(shared: &'a Shared<'a>) -> Result<Self, Broken> {
        let folder = tempfile::tempdir().map_err(|error| Broken {
            verdict: Verdict::Crash,
            why: format!("no folder for input files: {error}"),
            stderr: None,
        })?;
        let session = Session::start(shared.backend)?;
        let description = session.description.clone();
        // Where numbers start cannot be guessed, so that nobody answers before being asked.
        let seq = RandomState::new().hash_one(0) % (1 << 30);
        Ok(Self { shared, session: Some(session), description, folder, seq, given_up: None })
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
        tick: &(dyn Fn() + Sync),
    ) -> Vec<(usize, CaseResult)> {
        let mut batch = Batch::new(self.shared.backend.repeat, self.seq);
        loop {
            if self.given_up.is_none() && self.session.is_none() {
                self.restart(&mut batch);
            }
            self.fill(&mut batch, cases, next, tick);
            if batch.is_quiet() {
                break;
            }
            self.take_one(&mut batch, tick);
        }
        if last {
            self.stop(&mut batch);
        }
        batch.into_results()
    }

    /// Sends calls until the window is full or there are none.
    fn fill<'c>(
        &mut self,
        batch: &mut Batch<'c>,
        cases: &[&'c Case],
        next: &AtomicUsize,
        tick: &(dyn Fn() + Sync),
    ) {
        let limits = self.shared.backend.limits;
        while batch.has_room(limits.window) {
            let Some(job) = batch.next_job() else {
                let case = next.fetch_add(1, Ordering::Relaxed);
                if case >= cases.len() {
                    return;
                }
                match Judged::new(&self.description, cases[case], Strictness::Lenient) {
                    Ok(judged) => batch.take(case, judged),
                    Err(unsupported) => {
                        batch.not_sent(case, *unsupported);
                        tick();
                    }
                }
                continue;
            };
            let Some(session) = &self.session else {
                let trouble = self.given_up.clone().expect("there is a process or a reason why not");
                batch.finish(job, Ran { result: Err(trouble), stderr: None }, tick);
                continue;
            };
            let call = &batch.judged(job).case.call;
            let request = Request::new(self.seq, call, limits.file_above, self.folder.path());
            let mark = session.stderr_mark();
            session.send(request.line.clone());
            batch.sent(self.seq, job, request, mark);
            self.seq += 1;
        }
    }

    /// Takes one reply, or the trouble that there is instead.
    fn take_one(&mut self, batch: &mut Batch<'_>, tick: &(dyn Fn() + Sync)) {
        let Some(session) = &mut self.session else { return };
        let line = session.receive(batch.waiting_since()).map_err(|trouble| (Blame::Next, trouble));
        match line.and_then(|line| batch.match_reply(replies::answer(&line))) {
            Ok(outcome) => {
                let sent = batch.answered();
                let result = match sent.request.changed() {
                    Some(what) => Err(Trouble { verdict: Verdict::InputChanged, what }),
                    None => Ok(outcome),
                };
                let passes = |outcome| batch.judged(sent.job).judge(outcome).verdict == Verdict::Pass;
                let fine = result.as_ref().is_ok_and(passes);
                let stderr = if fine { None } else { session.stderr(sent.mark) };
                batch.finish(sent.job, Ran { result, stderr }, tick);
            }
            Err((blame, trouble)) => {
                let mark = batch.mark();
                let stderr = self.session.take().and_then(|session| session.kill(mark));
                match blame {
                    Blame::Next => {
                        let sent = batch.answered();
                        batch.finish(sent.job, Ran { result: Err(trouble), stderr }, tick);
                    }
                    Blame::Earlier(job) => batch.amend(job, &trouble, stderr),
                }
                batch.send_again();
            }
        }
    }

    /// Starts the next process, if the budget allows it.
    fn restart(&mut self, batch: &mut Batch<'_>) {
        batch.new_session(self.seq);
        let mut failures = 0;
        while self.given_up.is_none() {
            let restarts = self.shared.backend.limits.restarts;
            match self.shared.may_restart().then(|| Session::start(self.shared.backend)) {
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
                Ok(_) => (Blame::Next, Trouble::protocol("a line that nobody asked for")),
            };
            match (blame, batch.last_sent()) {
                (Blame::Earlier(job), _) | (Blame::Next, Some(job)) => batch.amend(job, &trouble, None),
                (Blame::Next, None) => self.shared.remark(trouble.what),
            }
        }
    }
}
