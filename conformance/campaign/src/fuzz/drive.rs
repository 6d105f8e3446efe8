//! Runs the cases of a shard on several workers, in rounds.
//!
//! One atomic counter hands out the places of the shard in order. In a round each worker takes chunks from it until the
//! deadline, and finishes the chunk that it has begun. After the round the results are merged: **all cases before
//! `report.done` are counted, and none after it**, so the report is a checkpoint. If a worker is interrupted in the middle
//! of a chunk, the lowest interrupted place becomes `done`, and what other workers did beyond it is discarded and done
//! again on resumption. Then each new kind of failure is shrunk, and `note` saves the report. Rounds double in length up
//! to `Pace::checkpoint`.
//!
//! The order in which workers finish does not show: tallies and digests are sums, and of the failures of a kind the one
//! with the lowest case number is kept.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

use gather_conformance::internals::interrupt;
use gather_conformance::internals::process::{self, Interrupted};

use super::example::Saver;
use super::report::{CampaignReport, FailureGroup};
use super::subject::{CampaignSubject, Subjects};
use super::worker::{CaseResults, FailingCase, Found, FuzzWorker, Round, RoundContext};
use gather_conformance::internals::check::{Check, Key};

/// Short, so that a backend that fails at once is reported at once.
const FIRST_ROUND: Duration = Duration::from_millis(500);

/// How long a campaign runs, and how often it saves a checkpoint.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// When to stop; a campaign without a number of cases is complete then. The limit covers everything: calls that
    /// are unanswered by then count as not asked, and failures are no longer shrunk.
    pub end: Option<Instant>,
    /// The time between checkpoints. A round does at least one chunk of cases, however long that takes.
    pub checkpoint: Duration,
}

impl Pace {
    /// Whether the time is up. Completes a campaign without a number of cases.
    fn is_up(self) -> bool {
        // An interrupt must not complete a campaign: it can be resumed.
        self.end.is_some_and(|end| Instant::now() >= end) && !interrupt::requested()
    }

    /// Whether to stop: the time is up, or the user interrupted the program.
    fn is_over(self) -> bool {
        interrupt::requested() || self.is_up()
    }
}

/// Which kinds of failures to shrink, and for how long.
#[derive(Clone, Copy)]
pub struct Shrinking<'a> {
    /// Whether this kind needs an example.
    pub wants: &'a dyn Fn(&Key) -> bool,
    /// The time for all kinds together. Kinds that are left over keep their example as found.
    pub time: Option<Duration>,
}

impl Shrinking<'_> {
    /// Shrinks every kind, without a limit.
    pub const ALL: Self = Self { wants: &|_| true, time: None };
}

/// If the campaign has a time limit, one example may use up one part in this many of the time that is left.
const PART_TO_SHRINK: u32 = 4;

/// Why a campaign was aborted. Everything up to the last checkpoint is saved.
#[derive(Debug, thiserror::Error)]
pub enum Aborted {
    /// A process cannot be started again.
    #[error("{0}")]
    Broken(process::Broken),
    /// A report or a case file cannot be written.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Does the remaining cases of a report, with one worker per subject. `note` is called at every checkpoint. If the user
/// interrupts the program, the returned report is incomplete.
///
/// # Errors
/// [`Aborted`].
pub fn drive(
    report: CampaignReport,
    check: &dyn Check,
    subjects: Vec<CampaignSubject>,
    pace: Pace,
    saver: &Saver<'_>,
    note: &mut dyn FnMut(&CampaignReport) -> io::Result<()>,
) -> Result<CampaignReport, Aborted> {
    drive_with(report, check, &mut Subjects(subjects), pace, Shrinking::ALL, saver, note)
}

/// Like [`drive`], with subjects that another campaign uses afterwards, and with limits on shrinking.
///
/// # Errors
/// [`Aborted`].
pub fn drive_with(
    mut report: CampaignReport,
    check: &dyn Check,
    subjects: &mut Subjects,
    pace: Pace,
    mut shrinking: Shrinking<'_>,
    saver: &Saver<'_>,
    note: &mut dyn FnMut(&CampaignReport) -> io::Result<()>,
) -> Result<CampaignReport, Aborted> {
    let start = Instant::now();
    let before = report.seconds;
    let end = report.len();
    subjects.0.iter_mut().for_each(|subject| subject.stop_at(pace.end));
    let workers = subjects.0.iter_mut().map(|subject| FuzzWorker::new(subject, check));
    let mut workers: Vec<FuzzWorker<'_>> = workers.collect::<io::Result<_>>()?;
    let mut found = HashMap::new();
    // Kinds that an earlier run found but did not finish shrinking.
    add_examples(&mut report, &mut found, &mut workers[0], pace, &mut shrinking, saver, note)?;
    let mut round = FIRST_ROUND.min(pace.checkpoint);
    while report.done < end && !pace.is_over() {
        let deadline = Instant::now() + round;
        let deadline = pace.end.map_or(deadline, |end| deadline.min(end));
        let interrupted = run_round(&mut report, &mut found, &mut workers, end, deadline);
        report.seconds = before + start.elapsed().as_secs_f64();
        add_examples(&mut report, &mut found, &mut workers[0], pace, &mut shrinking, saver, note)?;
        report.seconds = before + start.elapsed().as_secs_f64();
        report.complete = report.done == end || (report.campaign.cases.is_none() && pace.is_up());
        note(&report)?;
        if let Some(Interrupted::Broken(broken)) = interrupted.filter(|_| !interrupt::requested()) {
            return Err(Aborted::Broken(broken));
        }
        round = (round * 2).min(pace.checkpoint);
    }
    let in_time = report.campaign.cases.is_none() && !interrupt::requested();
    if !report.complete && (report.done == end || in_time) {
        report.complete = true;
        note(&report)?;
    }
    Ok(report)
}

/// Makes an example of each kind of failure that lacks one. Shrinking may take long, so the report is saved before each.
fn add_examples(
    report: &mut CampaignReport,
    found: &mut HashMap<Key, Found>,
    worker: &mut FuzzWorker<'_>,
    pace: Pace,
    shrinking: &mut Shrinking<'_>,
    saver: &Saver<'_>,
    note: &mut dyn FnMut(&CampaignReport) -> io::Result<()>,
) -> Result<(), Aborted> {
    for at in 0..report.groups.len() {
        if report.groups[at].example.is_none() && (shrinking.wants)(&report.groups[at].key) {
            note(report)?;
            let start = Instant::now();
            let part = pace.end.map(|end| end.saturating_duration_since(start) / PART_TO_SHRINK);
            let limit = part.into_iter().chain(shrinking.time).min();
            let (key, first) = (report.groups[at].key.clone(), report.groups[at].first);
            let (seed, found) = (report.campaign.seed, found.remove(&key).map(|found| found.failing));
            let (small, broken) = worker.example(&report.campaign, &key, first, found, limit);
            shrinking.time = shrinking.time.map(|time| time.saturating_sub(start.elapsed()));
            if interrupt::requested() {
                // The example may not be small yet. Resuming the campaign makes it again.
                return Ok(());
            }
            let saved = small.map_or(Ok(()), |small| keep(&mut report.groups[at], &small, saver, seed));
            let stopped = saved.err().map(Aborted::Io).or(broken.map(Aborted::Broken));
            if let Some(stopped) = stopped {
                note(report)?;
                return Err(stopped);
            }
        }
    }
    found.clear();
    Ok(())
}

/// Attaches an example to its group. If its case files cannot be written, attaches it without them and returns the error.
fn keep(group: &mut FailureGroup, small: &FailingCase, saver: &Saver<'_>, seed: u64) -> io::Result<()> {
    let (key, first) = (&group.key, group.first);
    let (example, failed) = match saver.save(small, key, seed, first) {
        Ok(example) => (example, Ok(())),
        Err(error) => (Saver { folder: None, ..*saver }.save(small, key, seed, first)?, Err(error)),
    };
    group.example = Some(example);
    failed
}

/// Runs one round of all workers and merges the results. If a worker is interrupted, only the cases before the lowest
/// interrupted place count, and the reason is returned.
fn run_round(
    report: &mut CampaignReport,
    found: &mut HashMap<Key, Found>,
    workers: &mut [FuzzWorker<'_>],
    end: u64,
    deadline: Instant,
) -> Option<Interrupted> {
    let next = AtomicU64::new(report.done);
    let stop = AtomicBool::new(false);
    let context = RoundContext {
        campaign: &report.campaign,
        shard: report.shard,
        next: &next,
        end,
        deadline,
        stop: &stop,
    };
    let mut rounds: Vec<Round> = std::thread::scope(|scope| {
        let mut workers = workers.iter_mut();
        let first = workers.next();
        // If the system has no threads left, fewer workers do the same work.
        let spawn = |worker| {
            std::thread::Builder::new().spawn_scoped(scope, || FuzzWorker::round(worker, &context)).ok()
        };
        let threads: Vec<_> = workers.map_while(spawn).collect();
        let first = first.map(|worker| worker.round(&context));
        let others = threads.into_iter().map(|thread| thread.join().expect("a worker does not panic"));
        first.into_iter().chain(others).collect()
    });
    let interrupted =
        rounds.iter_mut().filter_map(|round| round.interrupted.take()).min_by_key(|(place, _)| *place);
    report.done = interrupted.as_ref().map_or_else(|| next.into_inner().min(end), |(place, _)| *place);
    let mut all = CaseResults::default();
    let parts = rounds.into_iter().flat_map(|round| round.parts);
    parts.filter(|(place, _)| *place < report.done).for_each(|(_, part)| all.add(part));
    all.tally.add_to(&mut report.counts);
    for (key, group) in all.groups {
        report.add_group(key.clone(), group.count, group.first.number);
        found.entry(key).or_insert(group.first);
    }
    report.sort();
    report.set_digest(report.digest().wrapping_add(all.digest));
    interrupted.map(|(_, why)| why)
}
