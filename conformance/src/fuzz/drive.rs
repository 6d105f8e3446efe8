//! Runs the cases of a shard: workers take chunks of them in order, round by round; after a round all cases before
//! some place are done, so that a report is a checkpoint.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::generate::Choices;
use crate::{interrupt, process};

use super::check::{Answer, Broken, Check, Key, Question, Step};
use super::example::Saver;
use super::plan::{Campaign, Shard};
use super::report::Report;
use super::shrink::shrink;
use super::{Subject, Tally};

/// How many cases a worker takes at a time: few in this process, where they stay in the caches, and more for a
/// process, whose pipe they fill; in the first round few of it, too, so that some are done before the budget of
/// restarts of one that keeps dying is used up.
const CHUNK: u64 = 64;
const CHUNK_OF_A_PROCESS: u64 = 256;
/// The first round is short, so that what fails at once is seen at once.
const FIRST_ROUND: Duration = Duration::from_millis(500);
/// How many simpler cases are tried to make an example small, and of a process how long.
const TRIES: usize = 4000;
const TRIES_OF_A_PROCESS: usize = 400;
const TIME_TO_SHRINK: Duration = Duration::from_secs(30);

/// How long a campaign goes on, and how often it is noted how far it is.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Stop after this time, as if all cases were done if there is no other limit.
    pub time: Option<Duration>,
    /// The time between checkpoints.
    pub checkpoint: Duration,
}

/// Why a campaign was given up. What was done until the last checkpoint is not lost.
#[derive(Debug, thiserror::Error)]
pub enum Stopped {
    /// A process cannot be started again.
    #[error("{0}")]
    Broken(process::Broken),
    /// A report or a case file cannot be written.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Does what is left of a report, with one worker per subject. `note` is told of every checkpoint. Where the user ends
/// the process meanwhile, the report is not complete.
///
/// # Errors
/// [`Stopped`].
pub fn drive(
    mut report: Report,
    check: &dyn Check,
    subjects: Vec<Subject>,
    pace: Pace,
    saver: &Saver<'_>,
    note: &mut dyn FnMut(&Report) -> io::Result<()>,
) -> Result<Report, Stopped> {
    let start = Instant::now();
    let before = report.seconds;
    let end = report.len();
    let mut workers: Vec<Worker<'_>> =
        subjects.into_iter().map(|subject| Worker::new(subject, check)).collect::<io::Result<_>>()?;
    // Those of an earlier run that ended while it made them.
    add_examples(&mut report, &mut workers[0], saver, note)?;
    let mut round = FIRST_ROUND.min(pace.checkpoint);
    let mut first = true;
    let over = |now: Instant| pace.time.is_some_and(|time| now >= start + time);
    while report.done < end && !over(Instant::now()) && !interrupt::requested() {
        let mut deadline = Instant::now() + round;
        if let Some(time) = pace.time {
            deadline = deadline.min(start + time);
        }
        let gave_up = run_round(&mut report, &mut workers, end, deadline, first);
        first = false;
        report.seconds = before + start.elapsed().as_secs_f64();
        add_examples(&mut report, &mut workers[0], saver, note)?;
        report.seconds = before + start.elapsed().as_secs_f64();
        let in_time = report.campaign.cases.is_none() && over(Instant::now()) && !interrupt::requested();
        report.complete = report.done == end || in_time;
        note(&report)?;
        if let Some(broken) = gave_up.filter(|_| !interrupt::requested()) {
            return Err(Stopped::Broken(broken));
        }
        round = (round * 2).min(pace.checkpoint);
    }
    if !(report.complete || interrupt::requested()) && (report.done == end || report.campaign.cases.is_none())
    {
        report.complete = true;
        note(&report)?;
    }
    Ok(report)
}

/// Makes an example of each kind of failure that has none. That may take long, so each is noted.
fn add_examples(
    report: &mut Report,
    worker: &mut Worker<'_>,
    saver: &Saver<'_>,
    note: &mut dyn FnMut(&Report) -> io::Result<()>,
) -> Result<(), Stopped> {
    for at in 0..report.groups.len() {
        if report.groups[at].example.is_none() {
            note(report)?;
            let (key, first) = (report.groups[at].key.clone(), report.groups[at].first);
            let small = worker.example(&report.campaign, &key, first);
            if interrupt::requested() {
                // It may not be small yet; a campaign that is resumed makes it.
                return Ok(());
            }
            let small = small.map_err(Stopped::Broken)?;
            report.groups[at].example = Some(saver.save(&small, &key, report.campaign.seed, first)?);
        }
    }
    Ok(())
}

/// One round of all workers. If one of them gives up, the cases before that place count, and why is returned.
fn run_round(
    report: &mut Report,
    workers: &mut [Worker<'_>],
    end: u64,
    deadline: Instant,
    first: bool,
) -> Option<process::Broken> {
    let next = AtomicU64::new(report.done);
    let stop = AtomicBool::new(false);
    let job = Job {
        campaign: &report.campaign,
        shard: report.shard,
        next: &next,
        end,
        deadline,
        first,
        stop: &stop,
    };
    let mut rounds: Vec<Round> = std::thread::scope(|scope| {
        let threads: Vec<_> = workers.iter_mut().map(|worker| scope.spawn(|| worker.round(&job))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a worker does not panic")).collect()
    });
    let gave_up = rounds.iter_mut().filter_map(|round| round.gave_up.take()).min_by_key(|(place, _)| *place);
    report.done = gave_up.as_ref().map_or_else(|| next.into_inner().min(end), |(place, _)| *place);
    let parts = rounds.into_iter().flat_map(|round| round.parts);
    let mut digest = report.digest();
    let mut groups: HashMap<Key, (u64, u64)> = HashMap::new();
    for (_, part) in parts.filter(|(place, _)| *place < report.done) {
        digest = digest.wrapping_add(part.digest);
        part.tally.add_to(&mut report.counts);
        for (key, (count, first)) in part.groups {
            let group = groups.entry(key).or_insert((0, first));
            *group = (group.0 + count, group.1.min(first));
        }
    }
    for (key, (count, first)) in groups {
        report.add_group(key, count, first);
    }
    report.sort();
    report.set_digest(digest);
    gave_up.map(|(_, broken)| broken)
}

/// What the workers of a round share.
struct Job<'a> {
    campaign: &'a Campaign,
    shard: Shard,
    next: &'a AtomicU64,
    end: u64,
    deadline: Instant,
    /// Whether it is the first round.
    first: bool,
    stop: &'a AtomicBool,
}

/// What a worker did in a round.
#[derive(Default)]
struct Round {
    /// With the place of their first case: each chunk, or all of them together if none can fail.
    parts: Vec<(u64, Part)>,
    /// The first place of the chunk at which it gave up, and why.
    gave_up: Option<(u64, process::Broken)>,
}

/// What came of some cases.
#[derive(Default)]
struct Part {
    tally: Tally,
    digest: u64,
    /// How often, and the first case.
    groups: HashMap<Key, (u64, u64)>,
}

/// A subject and the threads that it may use.
struct Worker<'a> {
    subject: Subject,
    check: &'a dyn Check,
    threads: Option<rayon::ThreadPool>,
    choices: Choices,
}

/// A case under way.
struct Case {
    number: u64,
    asked: Vec<Question>,
    answers: Vec<Answer>,
}

impl<'a> Worker<'a> {
    fn new(subject: Subject, check: &'a dyn Check) -> io::Result<Self> {
        // A pool of its own: threads of a backend must not pick up the work of another worker.
        let threads = match subject {
            Subject::InProcess(_) => {
                Some(rayon::ThreadPoolBuilder::new().num_threads(2).build().map_err(io::Error::other)?)
            }
            Subject::Process(_) => None,
        };
        Ok(Self { subject, check, threads, choices: Choices::from_seed(0) })
    }

    fn round(&mut self, job: &Job<'_>) -> Round {
        let pool = self.threads.take();
        let round = match &pool {
            Some(pool) => pool.install(|| self.chunks(job)),
            None => self.chunks(job),
        };
        self.threads = pool;
        round
    }

    fn chunks(&mut self, job: &Job<'_>) -> Round {
        let mut round = Round::default();
        let size = if self.threads_are_ours() || job.first { CHUNK } else { CHUNK_OF_A_PROCESS };
        while Instant::now() < job.deadline && !job.stop.load(Ordering::Relaxed) && !interrupt::requested() {
            let start = job.next.fetch_add(size, Ordering::Relaxed);
            if start >= job.end {
                break;
            }
            let cases = (start..job.end.min(start.saturating_add(size))).map(|at| job.shard.case(at));
            let (place, mut part) = match round.parts.pop() {
                Some(all) if self.threads_are_ours() => all,
                last => {
                    round.parts.extend(last);
                    (start, Part::default())
                }
            };
            if let Err(broken) = self.chunk(job.campaign, cases, &mut part) {
                job.stop.store(true, Ordering::Relaxed);
                round.gave_up = Some((start, broken));
                break;
            }
            round.parts.push((place, part));
        }
        round
    }

    const fn threads_are_ours(&self) -> bool {
        matches!(self.subject, Subject::InProcess(_))
    }

    fn chunk(
        &mut self,
        campaign: &Campaign,
        numbers: impl Iterator<Item = u64>,
        part: &mut Part,
    ) -> Result<(), process::Broken> {
        let mut under_way = Vec::with_capacity(64);
        for number in numbers {
            self.choices.reseed(campaign.case_seed(number));
            let step = self.check.step(&mut self.choices, &[], &[], &mut part.tally);
            part.digest = part.digest.wrapping_add(digest(number, self.choices.drawn()));
            let case = Case { number, asked: Vec::new(), answers: Vec::new() };
            take(step, case, &mut under_way, part);
        }
        while !under_way.is_empty() {
            self.ask(&mut under_way)?;
            for case in std::mem::take(&mut under_way) {
                self.choices.reseed(campaign.case_seed(case.number));
                let step = self.check.step(&mut self.choices, &case.asked, &case.answers, &mut part.tally);
                take(step, case, &mut under_way, part);
            }
        }
        Ok(())
    }

    /// Asks what has not been asked yet, of all cases together.
    fn ask(&mut self, cases: &mut [Case]) -> Result<(), process::Broken> {
        let questions: Vec<&Question> =
            cases.iter().flat_map(|case| &case.asked[case.answers.len()..]).collect();
        let mut answers = self.subject.ask(&questions)?.into_iter();
        for case in cases {
            let count = case.asked.len() - case.answers.len();
            case.answers.extend(answers.by_ref().take(count));
        }
        Ok(())
    }

    /// One case from draws: what is broken, if something is, and what was asked.
    fn replay(&mut self, draws: &[u64]) -> Result<(Option<Broken>, Vec<Question>), process::Broken> {
        let mut case = Case { number: 0, asked: Vec::new(), answers: Vec::new() };
        loop {
            let mut choices = Choices::from_draws(draws.to_vec());
            match self.check.step(&mut choices, &case.asked, &case.answers, &mut Tally::default()) {
                Step::Well => return Ok((None, case.asked)),
                Step::Broken(broken) => return Ok((Some(*broken), case.asked)),
                Step::Ask(questions) => case.asked.extend(questions),
            }
            self.ask(std::slice::from_mut(&mut case))?;
        }
    }

    /// The first failure of a kind, made small. Whatever that takes is not on the campaign's budget of restarts.
    fn example(&mut self, campaign: &Campaign, key: &Key, first: u64) -> Result<Small, process::Broken> {
        self.subject.count_restarts(false);
        let small = self.small(campaign, key, first);
        self.subject.count_restarts(true);
        small
    }

    fn small(&mut self, campaign: &Campaign, key: &Key, first: u64) -> Result<Small, process::Broken> {
        // A first run finds out what is drawn.
        let mut choices = Choices::from_seed(campaign.case_seed(first));
        self.check.step(&mut choices, &[], &[], &mut Tally::default());
        let mut draws = choices.drawn().to_vec();
        let most = if self.threads_are_ours() { TRIES } else { TRIES_OF_A_PROCESS };
        let start = Instant::now();
        let mut trouble = None;
        draws = shrink(draws, most, |candidate| {
            let in_time = self.threads_are_ours() || start.elapsed() < TIME_TO_SHRINK;
            if trouble.is_some() || !in_time || interrupt::requested() {
                return false;
            }
            match self.replay(candidate) {
                Ok((broken, _)) => broken.is_some_and(|broken| broken.key == *key),
                Err(broken) => {
                    trouble = Some(broken);
                    false
                }
            }
        });
        if let Some(broken) = trouble {
            return Err(broken);
        }
        let (broken, questions) = self.replay(&draws)?;
        Ok(Small { draws, broken, questions })
    }
}

/// A failure made small.
#[derive(Debug)]
pub(super) struct Small {
    pub(super) draws: Vec<u64>,
    /// Absent if it did not fail again: it does not fail every time.
    pub(super) broken: Option<Broken>,
    pub(super) questions: Vec<Question>,
}

fn take(step: Step, mut case: Case, under_way: &mut Vec<Case>, part: &mut Part) {
    match step {
        Step::Well => {}
        Step::Ask(questions) => {
            if case.asked.is_empty() {
                case.asked = questions;
            } else {
                case.asked.extend(questions);
            }
            under_way.push(case);
        }
        Step::Broken(broken) => {
            let group = part.groups.entry(broken.key).or_insert((0, case.number));
            *group = (group.0 + 1, group.1.min(case.number));
        }
    }
}

/// What says which case was drawn.
fn digest(number: u64, draws: &[u64]) -> u64 {
    let start = number ^ 0x9E37_79B9_7F4A_7C15;
    draws
        .iter()
        .fold(start, |digest, draw| (digest ^ draw).wrapping_mul(0xFF51_AFD7_ED55_8CCD).rotate_left(29))
}
