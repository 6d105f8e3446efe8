//! One worker of a campaign. It takes chunks of cases, runs them on its subject, and shrinks failures.
//!
//! The cases of a chunk advance together: all their open requests go to the subject as one batch, which keeps the
//! pipeline of a process full, and each case that has its answers takes its next step. A case is never stored: its draws
//! follow from its number, so each step reseeds and redraws it.
//!
//! A process may be interrupted in the middle of a chunk, and then only the cases before the first unfinished one may
//! count. So each case of a process gets a [`CaseResults`] of its own; a backend in this process cannot be interrupted, and all
//! its cases share one.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::generate::ChoiceSequence;
use gather_conformance::internals::interrupt;
use gather_conformance::internals::process::{self, Answers, Interrupted};

use super::CampaignSubject;
use super::plan::{Campaign, Shard};
use super::shrink::shrink;
use gather_conformance::internals::check::{CallRequest, CallResult, Check, Key, Step, Tally, Violation};

/// Cases per chunk in this process: few, so that they stay in the caches.
const CHUNK: u64 = 64;
/// The duration of a chunk that the chunk size for a process adapts to: short enough for checkpoints to be punctual and
/// for several workers to do neighbouring cases. The size starts at the first of these two and never exceeds the second.
const CHUNK_TIME: Duration = Duration::from_millis(250);
const FIRST_CHUNK_OF_A_PROCESS: u64 = 1;
const MOST_OF_A_PROCESS: u64 = 256;

/// How many candidates to try when shrinking, and for how long on a process.
const TRIES: usize = 20_000;
const TRIES_OF_A_PROCESS: usize = 400;
const TIME_TO_SHRINK: Duration = Duration::from_secs(30);

/// What the workers of a round share.
pub(super) struct RoundContext<'a> {
    pub(super) campaign: &'a Campaign,
    pub(super) shard: Shard,
    /// The place of the next case to take.
    pub(super) next: &'a AtomicU64,
    pub(super) end: u64,
    pub(super) deadline: Instant,
    pub(super) stop: &'a AtomicBool,
}

/// The result of one worker's round.
#[derive(Default)]
pub(super) struct Round {
    /// Results with the place of their first case: one per chunk, or a single one if the subject cannot be interrupted.
    pub(super) parts: Vec<(u64, CaseResults)>,
    /// The place of the first case that is not done, and the reason.
    pub(super) interrupted: Option<(u64, Interrupted)>,
}

/// The results of some cases.
#[derive(Default)]
pub(super) struct CaseResults {
    pub(super) tally: Tally,
    pub(super) digest: u64,
    pub(super) groups: HashMap<Key, Failures>,
}

/// The failures of one kind.
pub(super) struct Failures {
    pub(super) count: u64,
    pub(super) first: Found,
}

/// A failure as found, not shrunk yet.
pub(super) struct Found {
    /// Its case number.
    pub(super) number: u64,
    pub(super) failing: FailingCase,
}

impl CaseResults {
    /// Adds the results of other cases.
    pub(super) fn add(&mut self, other: Self) {
        self.tally.add(&other.tally);
        self.digest = self.digest.wrapping_add(other.digest);
        for (key, failures) in other.groups {
            self.add_failures(key, failures);
        }
    }

    fn add_failures(&mut self, key: Key, failures: Failures) {
        match self.groups.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(failures);
            }
            Entry::Occupied(mut entry) => {
                let known = entry.get_mut();
                known.count += failures.count;
                if failures.first.number < known.first.number {
                    known.first = failures.first;
                }
            }
        }
    }
}

/// A subject, and the thread pool that it may use.
pub(super) struct FuzzWorker<'a> {
    subject: &'a mut CampaignSubject,
    check: &'a dyn Check,
    threads: Option<rayon::ThreadPool>,
    choices: ChoiceSequence,
    /// Cases per chunk.
    chunk: u64,
}

/// A case in progress.
struct OpenCase {
    /// Its position in the chunk.
    at: usize,
    number: u64,
    asked: Vec<CallRequest>,
    answers: Vec<CallResult>,
}

impl<'a> FuzzWorker<'a> {
    pub(super) fn new(subject: &'a mut CampaignSubject, check: &'a dyn Check) -> io::Result<Self> {
        // A pool per worker: the backend's threads must not steal the work of another worker.
        let (threads, chunk) = match subject {
            CampaignSubject::InProcess(_) => {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
                let cannot =
                    |error| io::Error::other(format!("a worker's threads cannot be started: {error}"));
                (Some(pool.map_err(cannot)?), CHUNK)
            }
            CampaignSubject::Process(_) => (None, FIRST_CHUNK_OF_A_PROCESS),
        };
        Ok(Self { subject, check, threads, choices: ChoiceSequence::from_seed(0), chunk })
    }

    pub(super) fn round(&mut self, context: &RoundContext<'_>) -> Round {
        let pool = self.threads.take();
        let round = match &pool {
            Some(pool) => pool.install(|| self.chunks(context)),
            None => self.chunks(context),
        };
        self.threads = pool;
        round
    }

    /// Does chunks until the round is over, at least one.
    fn chunks(&mut self, context: &RoundContext<'_>) -> Round {
        let mut round = Round::default();
        loop {
            let start = context.next.fetch_add(self.chunk, Ordering::Relaxed);
            if start >= context.end {
                break;
            }
            let places = start..context.end.min(start + self.chunk);
            let (place, mut part) = match round.parts.pop() {
                Some(all) if self.threads_are_ours() => all,
                last => {
                    round.parts.extend(last);
                    (start, CaseResults::default())
                }
            };
            let began = Instant::now();
            let interrupted = self.chunk(context, places, &mut part);
            round.parts.push((place, part));
            if interrupted.is_some() {
                context.stop.store(true, Ordering::Relaxed);
                round.interrupted = interrupted;
                break;
            }
            self.adapt(began.elapsed());
            let over = Instant::now() >= context.deadline || interrupt::requested();
            if over || context.stop.load(Ordering::Relaxed) {
                break;
            }
        }
        round
    }

    const fn threads_are_ours(&self) -> bool {
        matches!(*self.subject, CampaignSubject::InProcess(_))
    }

    /// Adapts the chunk size for a process to the time that the last chunk took.
    fn adapt(&mut self, took: Duration) {
        if !self.threads_are_ours() {
            self.chunk = match took {
                _ if took > CHUNK_TIME => (self.chunk / 2).max(1),
                _ if took < CHUNK_TIME / 2 => (self.chunk * 2).min(MOST_OF_A_PROCESS),
                _ => self.chunk,
            };
        }
    }

    /// Does the cases of a chunk. If interrupted, adds only the results of the cases before the first unfinished one, and
    /// returns its place and the reason.
    fn chunk(
        &mut self,
        context: &RoundContext<'_>,
        places: Range<u64>,
        part: &mut CaseResults,
    ) -> Option<(u64, Interrupted)> {
        let start = places.start;
        // Separate parts, so that those behind an interruption can be dropped.
        let mut parts = vec![std::mem::take(part)];
        if !self.threads_are_ours() {
            parts.extend(places.clone().skip(1).map(|_| CaseResults::default()));
        }
        let mut under_way = Vec::with_capacity(64);
        for (at, place) in places.enumerate() {
            let case =
                OpenCase { at, number: context.shard.case(place), asked: Vec::new(), answers: Vec::new() };
            self.go_on(context.campaign, case, &mut parts, &mut under_way);
        }
        let mut interrupted = None;
        while !under_way.is_empty() && interrupted.is_none() {
            interrupted = self.ask(&mut under_way);
            for case in std::mem::take(&mut under_way) {
                if case.is_answered() {
                    self.go_on(context.campaign, case, &mut parts, &mut under_way);
                } else {
                    under_way.push(case);
                }
            }
        }
        let unfinished = under_way.iter().map(|case| case.at).min();
        parts.truncate(unfinished.unwrap_or(usize::MAX));
        parts.into_iter().for_each(|one| part.add(one));
        Some((start + unfinished? as u64, interrupted?))
    }

    /// Takes the next step of a case whose requests are all answered.
    fn go_on(
        &mut self,
        campaign: &Campaign,
        mut case: OpenCase,
        parts: &mut [CaseResults],
        under_way: &mut Vec<OpenCase>,
    ) {
        let part = if parts.len() == 1 { &mut parts[0] } else { &mut parts[case.at] };
        self.choices.reseed(campaign.case_seed(case.number));
        let choices = &mut self.choices;
        let step = step(self.check, self.subject, choices, (&case.asked, &case.answers), &mut part.tally);
        if case.asked.is_empty() {
            // At the first step only: later steps draw the same case again.
            part.digest = part.digest.wrapping_add(digest(case.number, self.choices.drawn()));
        }
        if !matches!(step, Step::Ask(_)) {
            self.check.settled(case.number, &case.asked, &step);
        }
        match step {
            Step::Done | Step::Held { .. } => {}
            Step::Ask(requests) => {
                if case.asked.is_empty() {
                    case.asked = requests;
                } else {
                    case.asked.extend(requests);
                }
                under_way.push(case);
            }
            Step::Violated(broken) => {
                let (key, number) = (broken.key.clone(), case.number);
                let draws = self.choices.drawn().to_vec();
                let failing = FailingCase { draws, broken: Some(*broken), requests: case.asked };
                part.add_failures(key, Failures { count: 1, first: Found { number, failing } });
            }
        }
    }

    /// Makes the open requests of all cases in one batch. Returns a reason if some remain unanswered.
    fn ask(&mut self, cases: &mut [OpenCase]) -> Option<Interrupted> {
        let requests: Vec<&CallRequest> =
            cases.iter().flat_map(|case| &case.asked[case.answers.len()..]).collect();
        let Answers { answers, interrupted } = self.subject.ask(&requests);
        let mut answers = answers.into_iter();
        for case in cases {
            let count = case.asked.len() - case.answers.len();
            case.answers.extend(answers.by_ref().take(count));
        }
        interrupted
    }

    /// Runs one case from given draws.
    fn replay(&mut self, draws: &[u64]) -> Result<FailingCase, Interrupted> {
        let mut case = OpenCase { at: 0, number: 0, asked: Vec::new(), answers: Vec::new() };
        loop {
            let mut choices = ChoiceSequence::from_draws(draws.to_vec());
            let (so_far, tally) = ((&case.asked[..], &case.answers[..]), &mut Tally::default());
            let broken = match step(self.check, self.subject, &mut choices, so_far, tally) {
                Step::Done | Step::Held { .. } => None,
                Step::Violated(broken) => Some(*broken),
                Step::Ask(requests) => {
                    case.asked.extend(requests);
                    self.ask(std::slice::from_mut(&mut case)).map_or(Ok(()), Err)?;
                    continue;
                }
            };
            return Ok(FailingCase { draws: draws.to_vec(), broken, requests: case.asked });
        }
    }

    /// Shrinks the first failure of a kind for at most `limit`. `best` is the failure as found, and is returned if
    /// shrinking finds nothing. Also returns why shrinking ended early if the process broke down. Restarts do not count
    /// towards the campaign's limit here.
    pub(super) fn example(
        &mut self,
        campaign: &Campaign,
        key: &Key,
        first: u64,
        mut best: Option<FailingCase>,
        limit: Option<Duration>,
    ) -> (Option<FailingCase>, Option<process::Broken>) {
        self.subject.count_restarts(false);
        let shrunk = self.shrunk(campaign, key, first, &mut best, limit);
        self.subject.count_restarts(true);
        match shrunk {
            Ok(small) => (Some(small), None),
            Err(Interrupted::OutOfTime) => (best, None),
            Err(Interrupted::Broken(broken)) => (best, Some(broken)),
        }
    }

    /// Shrinks a failure. `best` always holds the smallest one so far.
    fn shrunk(
        &mut self,
        campaign: &Campaign,
        key: &Key,
        first: u64,
        best: &mut Option<FailingCase>,
        limit: Option<Duration>,
    ) -> Result<FailingCase, Interrupted> {
        // The first step yields the draws.
        self.choices.reseed(campaign.case_seed(first));
        step(self.check, self.subject, &mut self.choices, (&[], &[]), &mut Tally::default());
        let mut draws = self.choices.drawn().to_vec();
        let most = if self.threads_are_ours() { TRIES } else { TRIES_OF_A_PROCESS };
        let usual = if self.threads_are_ours() { None } else { Some(TIME_TO_SHRINK) };
        let limit = limit.into_iter().chain(usual).min();
        let start = Instant::now();
        let mut interrupted = None;
        draws = shrink(draws, most, |candidate| {
            if interrupted.is_some()
                || interrupt::requested()
                || limit.is_some_and(|limit| start.elapsed() >= limit)
            {
                return false;
            }
            match self.replay(candidate) {
                Ok(small) if small.broken.as_ref().is_some_and(|broken| broken.key == *key) => {
                    *best = Some(small);
                    true
                }
                Ok(_) => false,
                Err(why) => {
                    interrupted = Some(why);
                    false
                }
            }
        });
        match interrupted {
            Some(why) => Err(why),
            None => self.replay(&draws),
        }
    }
}

/// A case that fails, as found or shrunk.
#[derive(Debug)]
pub(super) struct FailingCase {
    pub(super) draws: Vec<u64>,
    /// `None` if the failure did not occur again, so it does not occur every time.
    pub(super) broken: Option<Violation>,
    pub(super) requests: Vec<CallRequest>,
}

impl OpenCase {
    fn is_answered(&self) -> bool {
        self.asked.len() == self.answers.len()
    }
}

/// The next step of a case. The calls that it asks are in variants, if the backend declares any, drawn after all else, so that
/// each step of a case draws the same.
fn step(
    check: &dyn Check,
    subject: &CampaignSubject,
    choices: &mut ChoiceSequence,
    (asked, answers): (&[CallRequest], &[CallResult]),
    tally: &mut Tally,
) -> Step {
    let mut step = check.step(choices, asked, answers, tally);
    if let Step::Ask(requests) = &mut step {
        subject.vary(requests, choices);
    }
    step
}

/// Identifies the draws of a case.
fn digest(number: u64, draws: &[u64]) -> u64 {
    let start = number ^ 0x9E37_79B9_7F4A_7C15;
    draws
        .iter()
        .fold(start, |digest, draw| (digest ^ draw).wrapping_mul(0xFF51_AFD7_ED55_8CCD).rotate_left(29))
}
