//! Backends in processes of their own, over the protocol. A backend that crashes, hangs or breaks the protocol fails
//! only the call that it was answering; every other result stands.
//!
//! Calls are pipelined: up to [`Limits::window`] of them are in flight. When a process fails then, the failure need not
//! be that of the call whose reply was due: earlier replies may lie in the buffer of a process that is stuck in a later
//! call. So the calls that were in flight are asked again in a new process, in order, one at a time, and each is judged
//! by what happens then. A run goes on one call at a time, a campaign returns to pipelining. Where all of them are
//! answered alone, a crash or a breach of the protocol is that of the call that was due, since it must not go unseen,
//! and a timeout is only remarked.
//!
//! What that may cost is bounded: a run asks again once per worker, and that restart is not counted; a campaign asks
//! again once per failing call, and a failure that no call repeats alone counts as a restart and ends its pipelining.
//!
//! [`ProcessBackend`] says what to start and under which [`Limits`]; `child` is the process and its pipes,
//! `orphans` finds what it leaves behind,
//! `not_started` says why there is none, `session` the handshake and one pipe full of calls, `replies` reads what comes back, `inputs` writes calls and
//! large tensors, `batch` keeps the books of which call is where, and `worker` takes cases through sessions, one
//! after the other as they die. [`Dialogue`] asks calls that are no cases, for campaigns.

mod batch;
mod child;
mod dialogue;
mod inputs;
mod not_started;
mod orphans;
mod patience;
mod replies;
mod session;
mod worker;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use gather_spec::Case;

use crate::backend::Description;
use crate::interrupt;
use crate::judge::{Strictness, Verdict};
use crate::runner::{CaseResult, Judged};

pub use dialogue::{Answers, Dialogue, Interrupted};
pub use session::Trouble;
use worker::Worker;

/// A program that speaks the protocol, and how it is run.
#[derive(Clone, Debug)]
pub struct ProcessBackend {
    /// The program; found on the path if it has no folder.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// What is set in its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// What it may take.
    pub limits: Limits,
    /// How many processes run at a time.
    pub jobs: usize,
    /// How often each call is sent.
    pub repeat: usize,
}

/// What a process may take before it is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The time from its start until it has described itself.
    pub start: Duration,
    /// The time for one call: from when it is the next to be answered until it is.
    pub call: Duration,
    /// The same for a call of virtual size, which has an empty tensor and spans more than 2^32 positions: four times what
    /// the slowest call before took if that is more, and at most `call`. Once three of them have timed out, the others
    /// get a quarter of this, or twice what the slowest call took.
    pub virtual_call: Duration,
    /// The time from `stop` until it has ended.
    pub stop: Duration,
    /// The longest line that is read from it, in bytes.
    pub reply: usize,
    /// The address space of it and of each of its children, in bytes; kept on Linux only.
    pub memory: Option<u64>,
    /// How often it is started anew, all workers together. The one restart after which the calls that were in flight
    /// are asked again alone does not count.
    pub restarts: usize,
    /// How many calls are under way at a time, per process.
    pub window: usize,
    /// Tensors of at least this many bytes are sent as a file.
    pub file_above: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(120),
            call: Duration::from_secs(20),
            // An allocator that cannot serve an output waits up to 10 s for memory to be freed before it gives up.
            virtual_call: Duration::from_secs(12),
            stop: Duration::from_secs(5),
            reply: 256 << 20,
            memory: Some(16 << 30),
            restarts: 200,
            window: 64,
            file_above: 64 << 10,
        }
    }
}

/// What running cases on a process gave.
#[derive(Clone, Debug)]
pub struct Findings {
    /// What the backend says of itself.
    pub description: Description,
    /// The results, in the order of the cases. Where the user has ended the run, cases may lack theirs.
    pub results: Vec<CaseResult>,
    /// What else was noticed, such as a process that ignored `stop`.
    pub remarks: Vec<String>,
}

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

/// Why a backend is not run at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}{}", stderr.as_ref().map(|text| format!("\nit wrote to stderr:\n{text}")).unwrap_or_default())]
pub struct Broken {
    /// What it did: `crash`, `timeout` or `protocol-error` at its start, or the verdict of the first trivial call.
    pub verdict: Verdict,
    /// What happened, in words.
    pub why: String,
    /// What it wrote to its standard error meanwhile.
    pub stderr: Option<String>,
}

impl ProcessBackend {
    /// A program under the usual limits, as one process.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            limits: Limits::default(),
            jobs: 1,
            repeat: 1,
        }
    }

    /// Runs cases. First a few `trivial` ones are asked for: a backend that fails them all is broken, not wrong.
    /// `watch` is told what is being waited for, and of each case that has its result.
    ///
    /// On Linux, the process that calls this becomes the parent of processes that lose theirs below it, so that a
    /// backend cannot leave any behind; those that are a backend's are ended with it.
    ///
    /// # Errors
    /// [`Broken`] if the process cannot be started, or fails every trivial call.
    pub fn run(&self, trivial: &[&Case], cases: &[&Case], watch: Watch<'_>) -> Result<Findings, Broken> {
        let shared = Shared {
            backend: self,
            next: AtomicUsize::new(0),
            restarts: AtomicUsize::new(0),
            remarks: Mutex::new(Vec::new()),
        };
        orphans::adopt();
        let mut first = Worker::start(&shared, watch)?;
        let description = first.description().clone();
        self.check_that_it_works(&mut first, &description, trivial, watch)?;

        let mut results: Vec<Option<CaseResult>> = vec![None; cases.len()];
        std::thread::scope(|scope| {
            let more = (1..self.jobs.min(cases.len())).map(|_| {
                let (shared, description) = (&shared, &description);
                // A worker that does not come up leaves its cases to the others.
                let work = move || match Worker::start(shared, watch) {
                    Ok(mut worker) if worker.description() == description => {
                        shared.run_worker(&mut worker, cases, watch)
                    }
                    _ => Vec::new(),
                };
                std::thread::Builder::new().spawn_scoped(scope, work)
            });
            let more: Vec<_> = more.map_while(Result::ok).collect();
            let mut done = shared.run_worker(&mut first, cases, watch);
            for worker in more {
                done.extend(worker.join().expect("a worker does not panic"));
            }
            for (at, result) in done {
                results[at] = Some(result);
            }
        });
        let interrupted = interrupt::requested();
        let results = results.into_iter().filter(|result| result.is_some() || !interrupted);
        let results = results.map(|result| result.expect("every case was taken by a worker"));
        let mut remarks = shared.remarks.into_inner().expect("no worker panics");
        remarks.sort();
        remarks.dedup();
        Ok(Findings { description, results: results.collect(), remarks })
    }

    /// Runs the trivial cases; an error if all of them fail.
    fn check_that_it_works(
        &self,
        worker: &mut Worker<'_>,
        description: &Description,
        trivial: &[&Case],
        watch: Watch<'_>,
    ) -> Result<(), Broken> {
        let few = trivial_cases(description, trivial);
        let results = worker.run(&few, &AtomicUsize::new(0), false, &|event| {
            // Trivial cases are no cases of the run.
            if !matches!(event, Event::Settled) {
                watch(event);
            }
        });
        let failed = results.iter().all(|(_, result)| result.verdict != Verdict::Pass);
        match results.into_iter().next() {
            Some((_, first)) if failed && !interrupt::requested() => Err(Broken {
                verdict: first.verdict,
                why: format!(
                    "the backend is broken: it fails all of {} trivial calls\n  {} {}\n  expected {}\n  actual   {}",
                    few.len(),
                    first.verdict,
                    first.id,
                    first.expected,
                    first.actual
                ),
                stderr: first.stderr,
            }),
            _ => Ok(()),
        }
    }
}

/// Ends every child of this process that was not there before the first backend, on Linux: whatever backends have left,
/// even without a trace of whose it was. For a program that starts nothing but backends.
pub fn end_children() {
    orphans::end_all();
}

/// Kills them without waiting for them, for whoever has started them does.
pub(crate) fn kill_children() {
    orphans::kill_all();
}

/// Makes this process the parent of those below it that lose theirs, and counts what it starts from now on as its
/// backends' or their helpers'.
pub(crate) fn adopt_children() {
    orphans::adopt();
}

/// Removes the folders that hold inputs, of whichever runs there are; none of them may go on.
pub(crate) fn remove_folders() {
    inputs::remove_folders();
}

/// What the workers of one run share.
#[derive(Debug)]
struct Shared<'a> {
    backend: &'a ProcessBackend,
    /// The next case to take.
    next: AtomicUsize,
    /// How many restarts have been used up.
    restarts: AtomicUsize,
    remarks: Mutex<Vec<String>>,
}

impl Shared<'_> {
    fn run_worker(
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

/// A handful of calls that whoever declares their dtypes must answer: small ones with one right output and few
/// attributes, of different operators where possible.
fn trivial_cases<'a>(description: &Description, cases: &[&'a Case]) -> Vec<&'a Case> {
    const HANDFUL: usize = 5;
    let easy = |case: &Case| {
        let judged = Judged::new(description, case, Strictness::Lenient);
        judged.is_ok_and(|judged| judged.has_one_output())
    };
    let mut easy: Vec<&Case> = cases.iter().copied().filter(|case| easy(case)).collect();
    easy.sort_by_key(|case| case.call.attributes.len());
    let mut chosen: Vec<&Case> = Vec::new();
    while chosen.len() < HANDFUL && !easy.is_empty() {
        // The operator that has had the fewest calls is next; the order of the cases decides the rest.
        let had = |case: &Case| chosen.iter().filter(|one| one.call.operator == case.call.operator).count();
        let next = (0..easy.len()).min_by_key(|at| had(easy[*at])).expect("some case is left");
        chosen.push(easy.remove(next));
    }
    chosen
}
