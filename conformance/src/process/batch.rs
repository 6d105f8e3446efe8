//! The state of a run: the cases of the calls that are asked, and their results.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use gather_spec::Outcome;

use crate::judge::{Judgement, Verdict};
use crate::runner::{CaseResult, Judged};

use super::client::Job;
use crate::trouble::Trouble;

/// What a run is doing, for whoever shows how far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A process is being started: for the first time, or again for the time of this number.
    Starting(usize),
    /// The backend has described itself: so many cases are of operators that it does not declare. They have no other event.
    Described(usize),
    /// The reply to the case of this id is due.
    Waiting(&'a str),
    /// A case has its result.
    Settled(&'a CaseResult),
}

/// What is told of a run's events, by the thread of the worker that they concern.
pub type Watch<'a> = &'a (dyn Fn(Event<'_>) + Sync);

/// What became of one sending.
#[derive(Clone, Debug)]
pub(super) struct Ran {
    pub(super) result: Result<(Outcome, Judgement), Trouble>,
    pub(super) stderr: Option<String>,
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
    /// The jobs of this session, by seq less the first seq.
    numbered: Vec<Job>,
    first_seq: u64,
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
            numbered: Vec::new(),
            first_seq,
        }
    }

    /// The results by place.
    pub(super) fn into_results(self) -> Vec<(usize, CaseResult)> {
        self.results.into_iter().collect()
    }

    /// Takes a case that is to be sent; gives its runs.
    pub(super) fn take(&mut self, case: usize, judged: Judged<'c>) -> impl Iterator<Item = Job> + use<> {
        self.judged.insert(case, judged);
        (0..self.repeat).map(move |run| Job { call: case, run })
    }

    /// Whether the case of a job has its result: then it is not sent again.
    pub(super) fn is_settled(&self, job: Job) -> bool {
        self.results.contains_key(&job.call)
    }

    /// Notes that a call was sent.
    pub(super) fn sent(&mut self, job: Job) {
        self.numbered.push(job);
    }

    /// The job that had this number in this session.
    pub(super) fn numbered(&self, seq: u64) -> Option<Job> {
        let place = usize::try_from(seq.checked_sub(self.first_seq)?).ok()?;
        self.numbered.get(place).copied()
    }

    /// Adds the time that a call was waited for.
    pub(super) fn waited(&mut self, job: Job, took: Duration) {
        *self.took.entry(job.call).or_default() += took;
    }

    /// Takes a case that is not.
    pub(super) fn not_sent(&mut self, case: usize, result: CaseResult) {
        self.results.insert(case, result);
    }

    /// Notes that a case cannot be sent, none of its runs.
    pub(super) fn not_sent_after_all(&mut self, job: Job, why: &str, watch: Watch<'_>) {
        let result = self.judged(job).not_sent(why);
        watch(Event::Settled(&result));
        self.results.insert(job.call, result);
    }

    /// The case of a job.
    pub(super) fn judged(&self, job: Job) -> &Judged<'c> {
        &self.judged[&job.call]
    }

    /// Notes what became of one sending; `watch` is told when that settles its case.
    pub(super) fn finish(&mut self, job: Job, ran: Ran, watch: Watch<'_>) {
        if self.results.contains_key(&job.call) {
            return;
        }
        let failed = ran.result.is_err();
        let runs = self.ran.entry(job.call).or_insert_with(|| vec![None; self.repeat]);
        runs[job.run] = Some(ran);
        if failed || runs.iter().all(Option::is_some) {
            let runs: Vec<Ran> =
                self.ran.remove(&job.call).unwrap_or_default().into_iter().flatten().collect();
            let result = settle(self.judged(job), &runs, job.run, self.repeat);
            let duration = self.took.remove(&job.call);
            watch(Event::Settled(&result));
            self.results.insert(job.call, CaseResult { duration, ..result });
        }
    }

    /// Overrules what was found for a call that seemed to be fine.
    pub(super) fn amend(&mut self, job: Job, trouble: &Trouble, stderr: Option<String>) {
        let judgement = Judgement { verdict: trouble.verdict, note: None };
        let result = self.judged(job).result(judgement, trouble.what.clone(), None);
        self.results.insert(job.call, CaseResult { stderr, ..result });
    }

    /// Adds what a call wrote to standard error.
    pub(super) fn add_stderr(&mut self, job: Job, text: String) {
        if let Some(result) = self.results.get_mut(&job.call).filter(|_| !text.is_empty()) {
            result.stderr.get_or_insert(text);
        }
    }

    /// The call that was sent last in this session.
    pub(super) fn last_sent(&self) -> Option<Job> {
        self.numbered.last().copied()
    }

    /// Whether a case has passed.
    pub(super) fn has_passed(&self, job: Job) -> bool {
        self.results.get(&job.call).is_some_and(|result| result.verdict == Verdict::Pass)
    }

    /// Forgets the numbers of the process before.
    pub(super) fn new_session(&mut self, first_seq: u64) {
        self.numbered.clear();
        self.first_seq = first_seq;
    }
}

/// The result of the runs of a case, of which number `run` came last. As in this process, any failing run decides.
fn settle(judged: &Judged<'_>, runs: &[Ran], run: usize, repeat: usize) -> CaseResult {
    let stderr = runs.iter().find_map(|ran| ran.stderr.clone());
    let at = (run > 0).then(|| format!("run {} of {repeat}", run + 1));
    let fail = |trouble: &Trouble, at| {
        let judgement = Judgement { verdict: trouble.verdict, note: None };
        judged.result(judgement, trouble.what.clone(), at)
    };
    let answers: Vec<_> = runs.iter().filter_map(|ran| ran.result.as_ref().ok()).collect();
    let wrong = answers.iter().position(|(_, judgement)| judgement.verdict != Verdict::Pass);
    let trouble = runs.iter().find_map(|ran| ran.result.as_ref().err());
    let result = match trouble.filter(|trouble| trouble.verdict != Verdict::NotRun || wrong.is_none()) {
        Some(trouble) => fail(trouble, at),
        None => {
            let (first, _) = answers[0];
            let other = answers.iter().position(|(outcome, _)| !first.agrees(outcome));
            match other.filter(|_| !judged.may_vary()) {
                Some(other) => {
                    judged.varies(first, &answers[other].0, format!("run {} of {repeat}", other + 1))
                }
                None => {
                    let decides = wrong.unwrap_or(0);
                    let at = (decides > 0).then(|| format!("run {} of {repeat}", decides + 1));
                    judged.result_of(&answers[decides].0, answers[decides].1, at)
                }
            }
        }
    };
    CaseResult { stderr, ..result }
}
