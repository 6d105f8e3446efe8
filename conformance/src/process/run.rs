//! Runs cases on a program: as many workers as it has processes share them out.

use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;

use gather_spec::Case;

use crate::backend::Description;
use crate::interrupt;
use crate::judge::{Strictness, Verdict};
use crate::runner::{CaseResult, Judged};

use super::batch::{Event, Watch};
use super::orphans;
use super::program::{Broken, ProcessBackend};
use super::worker::{Shared, Worker};

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

impl ProcessBackend {
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
            if !matches!(event, Event::Settled(..)) {
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
