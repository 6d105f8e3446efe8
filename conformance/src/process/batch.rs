//! The state of a run: which calls wait, which are in flight, and the results. Replies are matched here, in order.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::{Duration, Instant};

use gather_spec::Outcome;

use crate::judge::{Judgement, Verdict};
use crate::runner::{CaseResult, Judged};

use super::inputs::Request;
use super::replies::Answer;
use super::trouble::Trouble;

/// How many bytes of calls are under way at a time, unless it is one call.
const BYTES_UNDER_WAY: usize = 4 << 20;

/// What a run is doing, for whoever shows how far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A process is being started: for the first time, or again for the time of this number.
    Starting(usize),
    /// The reply to the case of this id is due.
    Waiting(&'a str),
    /// One more case has its result.
    Settled,
}

/// What is told of a run's events, by the thread of the worker that they concern.
pub type Watch<'a> = &'a (dyn Fn(Event<'_>) + Sync);

/// One sending of a call: the place of its case, and which of its runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Job {
    case: usize,
    run: usize,
}

/// A call that was sent and not answered yet.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) job: Job,
    pub(super) request: Request,
    /// How much had come from standard error.
    pub(super) mark: u64,
    seq: u64,
    at: Instant,
}

/// What became of one sending.
#[derive(Clone, Debug)]
pub(super) struct Ran {
    pub(super) result: Result<Outcome, Trouble>,
    pub(super) stderr: Option<String>,
}

/// Which call trouble is the fault of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blame {
    /// The one whose reply was due: the reply itself shows it.
    Due,
    /// One of those in flight: nothing says which.
    InFlight,
    /// One that had been answered before.
    Earlier(Job),
}

/// Trouble of several calls in flight, of which none has failed alone yet.
#[derive(Debug)]
pub(super) struct Doubt {
    pub(super) trouble: Trouble,
    pub(super) stderr: Option<String>,
    /// What was in flight; the first one was due.
    jobs: Vec<Job>,
}

/// The books of one run.
#[derive(Debug)]
pub(super) struct Batch<'c> {
    repeat: usize,
    judged: HashMap<usize, Judged<'c>>,
    ran: HashMap<usize, Vec<Option<Ran>>>,
    /// How long the answers to a case were waited for, all runs together.
    took: HashMap<usize, Duration>,
    results: BTreeMap<usize, CaseResult>,
    waiting: VecDeque<Job>,
    under_way: VecDeque<Sent>,
    /// The jobs of this session, by seq less the first seq.
    numbered: Vec<Job>,
    first_seq: u64,
    /// When the last reply came.
    heard: Instant,
    doubt: Option<Doubt>,
}

impl<'c> Batch<'c> {
    /// Books in which nothing is written; calls are numbered from `first_seq`.
    pub(super) fn new(repeat: usize, first_seq: u64) -> Self {
        Self {
            repeat,
            judged: HashMap::new(),
            ran: HashMap::new(),
            took: HashMap::new(),
            results: BTreeMap::new(),
            waiting: VecDeque::new(),
            under_way: VecDeque::new(),
            numbered: Vec::new(),
            first_seq,
            heard: Instant::now(),
            doubt: None,
        }
    }

    /// The results by place.
    pub(super) fn into_results(self) -> Vec<(usize, CaseResult)> {
        self.results.into_iter().collect()
    }

    /// Takes a case that is to be sent.
    pub(super) fn take(&mut self, case: usize, judged: Judged<'c>) {
        self.judged.insert(case, judged);
        self.waiting.extend((0..self.repeat).map(|run| Job { case, run }));
    }

    /// Takes a case that is not.
    pub(super) fn not_sent(&mut self, case: usize, result: CaseResult) {
        self.results.insert(case, result);
    }

    /// Notes that a case cannot be sent, none of its runs.
    pub(super) fn not_sent_after_all(&mut self, job: Job, why: &str) {
        let result = self.judged(job).not_sent(why);
        self.results.insert(job.case, result);
    }

    /// What to send next. A case that has failed is not sent again.
    pub(super) fn next_job(&mut self) -> Option<Job> {
        loop {
            let job = self.waiting.pop_front()?;
            if !self.results.contains_key(&job.case) {
                return Some(job);
            }
        }
    }

    /// The case of a job.
    pub(super) fn judged(&self, job: Job) -> &Judged<'c> {
        &self.judged[&job.case]
    }

    /// Whether another call may be sent.
    pub(super) fn has_room(&self, window: usize) -> bool {
        let bytes = self.under_way.iter().map(|sent| sent.request.held()).fold(0, usize::saturating_add);
        self.under_way.is_empty() || (self.under_way.len() < window && bytes < BYTES_UNDER_WAY)
    }

    /// Notes that a call was sent.
    pub(super) fn sent(&mut self, seq: u64, job: Job, request: Request, mark: u64) {
        self.numbered.push(job);
        self.under_way.push_back(Sent { job, request, mark, seq, at: Instant::now() });
    }

    /// Whether no call waits for its reply.
    pub(super) fn is_quiet(&self) -> bool {
        self.under_way.is_empty()
    }

    /// The call that is next, in flight.
    pub(super) fn due(&self) -> Option<&Sent> {
        self.under_way.front()
    }

    /// Since when the next reply has been waited for.
    pub(super) fn waiting_since(&self) -> Instant {
        self.under_way.front().map_or(self.heard, |sent| sent.at.max(self.heard))
    }

    /// How much had come from standard error when the call that is next was sent.
    pub(super) fn mark(&self) -> u64 {
        self.under_way.front().map_or(0, |sent| sent.mark)
    }

    /// Whether a line answers the call that is next, and what it says; else who pays, and for what.
    pub(super) fn match_reply(&self, answer: Answer) -> Result<Outcome, (Blame, Trouble)> {
        let next = self.under_way.front().map(|sent| sent.seq);
        let Some(seq) = answer.seq else {
            let wrong = answer.outcome.err();
            return Err((
                Blame::InFlight,
                wrong.unwrap_or_else(|| Trouble::protocol("the reply has no seq")),
            ));
        };
        if Some(seq) == next {
            return answer.outcome.map_err(|trouble| (Blame::Due, trouble));
        }
        let place = seq.checked_sub(self.first_seq).and_then(|place| usize::try_from(place).ok());
        let known = place.and_then(|place| self.numbered.get(place).copied());
        let next = next.map_or_else(|| "none".to_owned(), |next| next.to_string());
        Err(match known {
            Some(_) if self.under_way.iter().any(|sent| sent.seq == seq) => (
                Blame::Due,
                Trouble::protocol(format!("the reply to seq {seq} came when that to seq {next} was due")),
            ),
            Some(job) => (Blame::Earlier(job), Trouble::protocol("the call was answered twice")),
            None => {
                let what = format!("a reply to seq {seq} came, which was not asked; due was {next}");
                (Blame::InFlight, Trouble::protocol(what))
            }
        })
    }

    /// Takes the call that is next off the list of those under way.
    pub(super) fn answered(&mut self) -> Sent {
        let took = self.waiting_since().elapsed();
        self.heard = Instant::now();
        let sent = self.under_way.pop_front().expect("a reply is waited for only if a call is under way");
        *self.took.entry(sent.job.case).or_default() += took;
        sent
    }

    /// Notes what became of one sending; `watch` is told when that settles its case.
    pub(super) fn finish(&mut self, job: Job, ran: Ran, watch: Watch<'_>) {
        if self.results.contains_key(&job.case) {
            return;
        }
        let failed = ran.result.is_err();
        let runs = self.ran.entry(job.case).or_insert_with(|| vec![None; self.repeat]);
        runs[job.run] = Some(ran);
        if failed || runs.iter().all(Option::is_some) {
            let runs: Vec<Ran> =
                self.ran.remove(&job.case).unwrap_or_default().into_iter().flatten().collect();
            let result = settle(self.judged(job), &runs, job.run, self.repeat);
            let duration = self.took.remove(&job.case);
            self.results.insert(job.case, CaseResult { duration, ..result });
            watch(Event::Settled);
        }
    }

    /// Overrules what was found for a call that seemed to be fine.
    pub(super) fn amend(&mut self, job: Job, trouble: &Trouble, stderr: Option<String>) {
        let judgement = Judgement { verdict: trouble.verdict, note: None };
        let result = self.judged(job).result(judgement, trouble.what.clone(), None);
        self.results.insert(job.case, CaseResult { stderr, ..result });
    }

    /// The call that was sent last in this session.
    pub(super) fn last_sent(&self) -> Option<Job> {
        self.numbered.last().copied()
    }

    /// How many calls are in flight.
    pub(super) fn in_flight(&self) -> usize {
        self.under_way.len()
    }

    /// Keeps trouble in mind until one of the calls in flight has failed alone.
    pub(super) fn doubt(&mut self, trouble: Trouble, stderr: Option<String>) {
        let jobs = self.under_way.iter().map(|sent| sent.job).collect();
        self.doubt = Some(Doubt { trouble, stderr, jobs });
    }

    /// Notes that a call has failed alone: if it was in flight before, that explains what happened there.
    pub(super) fn explain(&mut self, by: Job) {
        let was_there = |doubt: &mut Doubt| doubt.jobs.iter().any(|job| job.case == by.case);
        self.doubt.take_if(was_there);
    }

    /// The trouble that no call has explained.
    pub(super) fn unexplained(&mut self) -> Option<Doubt> {
        self.doubt.take()
    }

    /// Whether a case has passed.
    pub(super) fn has_passed(&self, job: Job) -> bool {
        self.results.get(&job.case).is_some_and(|result| result.verdict == Verdict::Pass)
    }

    /// Puts what is under way back in line: its process is gone.
    pub(super) fn send_again(&mut self) {
        while let Some(sent) = self.under_way.pop_back() {
            self.waiting.push_front(sent.job);
        }
    }

    /// Forgets the numbers of the process before.
    pub(super) fn new_session(&mut self, first_seq: u64) {
        self.numbered.clear();
        self.first_seq = first_seq;
    }
}

impl Doubt {
    /// The call that was due, and how many were in flight.
    pub(super) fn due(&self) -> (Job, usize) {
        (self.jobs[0], self.jobs.len())
    }
}

/// What the runs of a case come to; the last of them is number `run`.
fn settle(judged: &Judged<'_>, runs: &[Ran], run: usize, repeat: usize) -> CaseResult {
    let stderr = runs.iter().find_map(|ran| ran.stderr.clone());
    let at = (run > 0).then(|| format!("run {} of {repeat}", run + 1));
    let fail = |trouble: &Trouble, at| {
        let judgement = Judgement { verdict: trouble.verdict, note: None };
        judged.result(judgement, trouble.what.clone(), at)
    };
    let result = match runs.iter().find_map(|ran| ran.result.as_ref().err()) {
        Some(trouble) => fail(trouble, at),
        None => {
            let outcomes: Vec<&Outcome> = runs.iter().filter_map(|ran| ran.result.as_ref().ok()).collect();
            let first = outcomes[0];
            let other = outcomes.iter().position(|outcome| !first.agrees(outcome));
            match other.filter(|_| !judged.may_vary()) {
                Some(other) => {
                    judged.varies(first, outcomes[other], format!("run {} of {repeat}", other + 1))
                }
                None => judged.answered(first, None),
            }
        }
    };
    CaseResult { stderr, ..result }
}
