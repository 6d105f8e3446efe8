//! One worker of a campaign. It takes chunks of cases, runs them on its subject, and shrinks failures.
//!
//! The cases of a chunk advance together: all their open questions go to the subject as one batch, which keeps the
//! pipeline of a process full, and each case that has its answers takes its next step. A case is never stored: its draws
//! follow from its number, so each step reseeds and redraws it.
//!
//! A process may be interrupted in the middle of a chunk, and then only the cases before the first unfinished one may
//! count. So each case of a process gets a [`Part`] of its own; a backend in this process cannot be interrupted, and all
//! its cases share one.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::generate::Choices;
use gather_conformance::internals::interrupt;
use gather_conformance::internals::process::{self, Answers, Interrupted};

use super::Subject;
use super::plan::{Campaign, Shard};
use super::shrink::shrink;
use gather_conformance::internals::check::{Answer, Check, Key, Question, Step, Tally, Violation};

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
pub(super) struct Job<'a> {
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
    pub(super) parts: Vec<(u64, Part)>,
    /// The place of the first case that is not done, and the reason.
    pub(super) interrupted: Option<(u64, Interrupted)>,
}

/// The results of some cases.
#[derive(Default)]
pub(super) struct Part {
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
    pub(super) small: Small,
}

impl Part {
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
pub(super) struct Worker<'a> {
    subject: &'a mut Subject,
    check: &'a dyn Check,
    threads: Option<rayon::ThreadPool>,
    choices: Choices,
    /// Cases per chunk.
    chunk: u64,
}

/// A case in progress.
struct Run {
    /// Its position in the chunk.
    at: usize,
    number: u64,
    asked: Vec<Question>,
    answers: Vec<Answer>,
}

impl<'a> Worker<'a> {
    pub(super) fn new(subject: &'a mut Subject, check: &'a dyn Check) -> io::Result<Self> {
        // A pool per worker: the backend's threads must not steal the work of another worker.
        let (threads, chunk) = match subject {
            Subject::InProcess(_) => {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
                let cannot =
                    |error| io::Error::other(format!("a worker's threads cannot be started: {error}"));
                (Some(pool.map_err(cannot)?), CHUNK)
            }
            Subject::Process(_) => (None, FIRST_CHUNK_OF_A_PROCESS),
        };
        Ok(Self { subject, check, threads, choices: Choices::from_seed(0), chunk })
    }

    pub(super) fn round(&mut self, job: &Job<'_>) -> Round {
        let pool = self.threads.take();
        let round = match &pool {
            Some(pool) => pool.install(|| self.chunks(job)),
            None => self.chunks(job),
        };
        self.threads = pool;
        round
    }

    /// Does chunks until the round is over, at least one.
    fn chunks(&mut self, job: &Job<'_>) -> Round {
        let mut round = Round::default();
        loop {
            let start = job.next.fetch_add(self.chunk, Ordering::Relaxed);
            if start >= job.end {
                break;
            }
            let places = start..job.end.min(start + self.chunk);
            let (place, mut part) = match round.parts.pop() {
                Some(all) if self.threads_are_ours() => all,
                last => {
                    round.parts.extend(last);
                    (start, Part::default())
                }
            };
            let began = Instant::now();
            let interrupted = self.chunk(job, places, &mut part);
            round.parts.push((place, part));
            if interrupted.is_some() {
                job.stop.store(true, Ordering::Relaxed);
                round.interrupted = interrupted;
                break;
            }
            self.adapt(began.elapsed());
            let over = Instant::now() >= job.deadline || interrupt::requested();
            if over || job.stop.load(Ordering::Relaxed) {
                break;
            }
        }
        round
    }

    const fn threads_are_ours(&self) -> bool {
        matches!(*self.subject, Subject::InProcess(_))
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
    fn chunk(&mut self, job: &Job<'_>, places: Range<u64>, part: &mut Part) -> Option<(u64, Interrupted)> {
        let start = places.start;
        // Separate parts, so that those behind an interruption can be dropped.
        let mut parts = vec![std::mem::take(part)];
        if !self.threads_are_ours() {
            parts.extend(places.clone().skip(1).map(|_| Part::default()));
        }
        let mut under_way = Vec::with_capacity(64);
        for (at, place) in places.enumerate() {
            let case = Run { at, number: job.shard.case(place), asked: Vec::new(), answers: Vec::new() };
            self.go_on(job.campaign, case, &mut parts, &mut under_way);
        }
        let mut interrupted = None;
        while !under_way.is_empty() && interrupted.is_none() {
            interrupted = self.ask(&mut under_way);
            for case in std::mem::take(&mut under_way) {
                if case.is_answered() {
                    self.go_on(job.campaign, case, &mut parts, &mut under_way);
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

    /// Takes the next step of a case whose questions are all answered.
    fn go_on(&mut self, campaign: &Campaign, mut case: Run, parts: &mut [Part], under_way: &mut Vec<Run>) {
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
            Step::Ask(questions) => {
                if case.asked.is_empty() {
                    case.asked = questions;
                } else {
                    case.asked.extend(questions);
                }
                under_way.push(case);
            }
            Step::Violated(broken) => {
                let (key, number) = (broken.key.clone(), case.number);
                let draws = self.choices.drawn().to_vec();
                let small = Small { draws, broken: Some(*broken), questions: case.asked };
                part.add_failures(key, Failures { count: 1, first: Found { number, small } });
            }
        }
    }

    /// Asks the open questions of all cases in one batch. Returns a reason if some remain unanswered.
    fn ask(&mut self, cases: &mut [Run]) -> Option<Interrupted> {
        let questions: Vec<&Question> =
            cases.iter().flat_map(|case| &case.asked[case.answers.len()..]).collect();
        let Answers { answers, interrupted } = self.subject.ask(&questions);
        let mut answers = answers.into_iter();
        for case in cases {
            let count = case.asked.len() - case.answers.len();
            case.answers.extend(answers.by_ref().take(count));
        }
        interrupted
    }

    /// Runs one case from given draws.
    fn replay(&mut self, draws: &[u64]) -> Result<Small, Interrupted> {
        let mut case = Run { at: 0, number: 0, asked: Vec::new(), answers: Vec::new() };
        loop {
            let mut choices = Choices::from_draws(draws.to_vec());
            let (so_far, tally) = ((&case.asked[..], &case.answers[..]), &mut Tally::default());
            let broken = match step(self.check, self.subject, &mut choices, so_far, tally) {
                Step::Done | Step::Held { .. } => None,
                Step::Violated(broken) => Some(*broken),
                Step::Ask(questions) => {
                    case.asked.extend(questions);
                    self.ask(std::slice::from_mut(&mut case)).map_or(Ok(()), Err)?;
                    continue;
                }
            };
            return Ok(Small { draws: draws.to_vec(), broken, questions: case.asked });
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
        mut best: Option<Small>,
        limit: Option<Duration>,
    ) -> (Option<Small>, Option<process::Broken>) {
        self.subject.count_restarts(false);
        let small = self.small(campaign, key, first, &mut best, limit);
        self.subject.count_restarts(true);
        match small {
            Ok(small) => (Some(small), None),
            Err(Interrupted::OutOfTime) => (best, None),
            Err(Interrupted::Broken(broken)) => (best, Some(broken)),
        }
    }

    /// Shrinks a failure. `best` always holds the smallest one so far.
    fn small(
        &mut self,
        campaign: &Campaign,
        key: &Key,
        first: u64,
        best: &mut Option<Small>,
        limit: Option<Duration>,
    ) -> Result<Small, Interrupted> {
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

/// A shrunk failure.
#[derive(Debug)]
pub(super) struct Small {
    pub(super) draws: Vec<u64>,
    /// `None` if the failure did not occur again, so it does not occur every time.
    pub(super) broken: Option<Violation>,
    pub(super) questions: Vec<Question>,
}

impl Run {
    fn is_answered(&self) -> bool {
        self.asked.len() == self.answers.len()
    }
}

/// The next step of a case. The calls that it asks are in variants, if the backend declares any, drawn after all else, so that
/// each step of a case draws the same.
fn step(
    check: &dyn Check,
    subject: &Subject,
    choices: &mut Choices,
    (asked, answers): (&[Question], &[Answer]),
    tally: &mut Tally,
) -> Step {
    let mut step = check.step(choices, asked, answers, tally);
    if let Step::Ask(questions) = &mut step {
        subject.vary(questions, choices);
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
