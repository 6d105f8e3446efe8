//! Runs cases on a program: as many workers as it has processes share them out.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gather_spec::load::Maker;
use gather_spec::{Case, Run};

use crate::backend::Description;
use crate::declared::Probes;
use crate::entry::Entry;
use crate::interrupt;
use crate::judge::{Strictness, Verdict};
use crate::runner::Judged;
use crate::select::Chosen;
use crate::words::counted;

use super::batch::{Event, Watch};
use super::program::{Broken, ProcessBackend};
use super::worker::{Shared, Worker};

/// What running cases on a process gave.
#[derive(Clone, Debug)]
pub struct Findings {
    /// What the backend says of itself.
    pub description: Description,
    /// The results of the cases whose operators the backend declares, in the order of the cases. Where the user has ended
    /// the run, cases may lack theirs.
    pub results: Vec<Entry>,
    /// What else was noticed, such as a process that ignored `stop`.
    pub remarks: Vec<String>,
    /// What is wrong and belongs to no case, such as an exit status other than 0 after `stop`.
    pub problems: Vec<String>,
}

impl Findings {
    /// Why calls were not sent, if some were not.
    #[must_use]
    pub fn not_run(&self) -> Option<&str> {
        let found = self.results.iter().find(|result| result.verdict == Verdict::NotRun);
        found.and_then(|result| result.actual.as_deref())
    }
}

impl ProcessBackend {
    /// Runs cases. First a few calls of `trivial` cases are asked: if none of them is answered, no other call is sent. `watch`
    /// is told what is being waited for, and of each case that has its result.
    ///
    /// What a backend has started ends with it as far as it is in its process group; with [`super::adopt_children`] also
    /// what has left that.
    ///
    /// # Errors
    /// [`Broken`] if the process cannot be started.
    pub fn run(
        &self,
        trivial: &[Arc<Case>],
        chosen: &Chosen<'_>,
        watch: Watch<'_>,
    ) -> Result<Findings, Broken> {
        self.run_made(Trivial::Cases(trivial), chosen.cases, &|maker, case| chosen.runs(maker, case), watch)
    }

    /// The same, with the runs that `make` makes of a case.
    fn run_made(
        &self,
        trivial: Trivial<'_>,
        cases: &[&Arc<Case>],
        make: &(dyn Fn(&mut Maker, &Arc<Case>) -> Vec<Run> + Sync),
        watch: Watch<'_>,
    ) -> Result<Findings, Broken> {
        let shared = Shared::new(self);
        let mut first = Worker::start(&shared, watch)?;
        let description = first.description().clone();
        let declared = description.declared(cases);
        watch(Event::Described(cases.len() - declared.len()));
        let cases = declared;
        let probed = self.probe(&mut first, &description, trivial, watch);
        shared.forget_stderr();
        shared.probes.get_or_init(|| Probes::new(&description, cases.iter().copied()));

        let mut results: Vec<Option<Entry>> = vec![None; cases.len()];
        let jobs = if first.has_given_up() { 1 } else { self.jobs.min(cases.len()) };
        let counter = AtomicUsize::new(0);
        let next = |maker: &mut Maker| {
            let at = counter.fetch_add(1, Ordering::Relaxed);
            Some((at, make(maker, cases.get(at)?)))
        };
        std::thread::scope(|scope| {
            let more = (1..jobs).map(|_| {
                let (shared, description, next) = (&shared, &description, &next);
                // A worker that does not come up leaves its cases to the others.
                let work = move || match Worker::start(shared, watch) {
                    Ok(mut worker) if worker.description() == description => worker.run(next, true, watch),
                    _ => Vec::new(),
                };
                std::thread::Builder::new().spawn_scoped(scope, work)
            });
            let more: Vec<_> = more.map_while(Result::ok).collect();
            let mut done = first.run(&next, true, watch);
            for worker in more {
                done.extend(worker.join().expect("a worker does not panic"));
            }
            for (at, result) in done {
                results[at] = Some(result);
            }
        });
        let with_probe = |mut result: Entry| {
            let mut changed = false;
            for run in result.all.iter_mut().filter(|run| run.verdict == Verdict::NotRun) {
                if let Some(probed) = probed.get(&run.id) {
                    (*run, changed) = (probed.clone(), true);
                    result.tested.extend(probed.tested.iter().cloned());
                }
            }
            if changed {
                result.settle();
            }
            result
        };
        // Where the user ended the run, cases may lack their results.
        let results = results.into_iter().flatten().map(with_probe).collect();
        let [mut remarks, problems] = [shared.remarks, shared.problems].map(|said| {
            let mut said = said.into_inner().expect("no worker panics");
            said.sort();
            said.dedup();
            said
        });
        if let loud @ 1.. = shared.loud.into_inner() {
            remarks.push(format!("{} wrote to standard error", counted(loud, "passing call")));
        }
        Ok(Findings { description, results, remarks, problems })
    }

    /// Asks runs, each of a case of its own, after a few `trivial` calls.
    ///
    /// # Errors
    /// As [`ProcessBackend::run`].
    pub fn run_each(&self, trivial: Trivial<'_>, runs: &[Run], watch: Watch<'_>) -> Result<Findings, Broken> {
        let cases: Vec<&Arc<Case>> = runs.iter().map(|run| &run.case).collect();
        let make = |_: &mut Maker, case: &Arc<Case>| {
            runs.iter().filter(|run| Arc::ptr_eq(&run.case, case)).cloned().collect()
        };
        self.run_made(trivial, &cases, &make, watch)
    }

    /// Runs a few trivial calls. If none of them is answered, the worker gives up: a backend that hangs would take hours.
    /// Returns their results by id where the worker sends no more calls.
    fn probe(
        &self,
        worker: &mut Worker<'_>,
        description: &Description,
        trivial: Trivial<'_>,
        watch: Watch<'_>,
    ) -> HashMap<String, Entry> {
        let few = trivial.handful(description);
        let counter = AtomicUsize::new(0);
        let next = |_: &mut Maker| {
            let at = counter.fetch_add(1, Ordering::Relaxed);
            Some((at, vec![few.get(at)?.clone()]))
        };
        let results = worker.run(&next, false, &|event| {
            // Trivial calls are none of the run.
            if !matches!(event, Event::Settled(..)) {
                watch(event);
            }
        });
        let of_run = |(_, Entry { all, tested, .. }): (usize, Entry)| {
            all.into_iter().map(move |run| Entry { tested: tested.clone(), ..run })
        };
        let results: Vec<Entry> = results.into_iter().flat_map(of_run).collect();
        let is_answer = |verdict| {
            !matches!(verdict, Verdict::Crash | Verdict::Timeout | Verdict::ProtocolError | Verdict::NotRun)
        };
        let answered = results.iter().any(|result| is_answer(result.verdict));
        if let Some(Entry { verdict, id, actual, .. }) = results.first()
            && !answered
            && !interrupt::requested()
        {
            let (calls, actual) = (counted(few.len(), "trivial call"), actual.as_deref().unwrap_or_default());
            worker.give_up(&format!("the backend answers none of {calls}: {verdict} at {id}: {actual}"));
        }
        if worker.has_given_up() {
            results.into_iter().map(|result| (result.id.clone(), result)).collect()
        } else {
            HashMap::new()
        }
    }
}

/// Where to look for calls that whoever declares their dtypes must answer.
#[derive(Clone, Copy, Debug)]
pub enum Trivial<'a> {
    /// Among the runs of cases.
    Cases(&'a [Arc<Case>]),
    /// Among runs.
    Runs(&'a [Run]),
}

/// The most cases of an operator among which trivial calls are looked for.
const LOOKED_AT: usize = 60;

impl Trivial<'_> {
    /// A handful of small calls with one right output and few attributes, of different operators where possible.
    fn handful(self, description: &Description) -> Vec<Run> {
        const HANDFUL: usize = 5;
        let is_easy = |run: &Run| {
            Judged::new(description, run, Strictness::Lenient).is_ok_and(|judged| judged.has_one_output())
        };
        let mut easy: Vec<Run> = match self {
            Self::Runs(runs) => runs.iter().filter(|run| is_easy(run)).cloned().collect(),
            Self::Cases(cases) => {
                let mut maker = Maker::default();
                looked_at(description, cases).flat_map(|case| maker.runs(case)).filter(is_easy).collect()
            }
        };
        easy.sort_by_key(|run| run.call.attributes.len());
        let mut chosen: Vec<Run> = Vec::new();
        while chosen.len() < HANDFUL && !easy.is_empty() {
            // The operator that has had the fewest calls is next; the order of the cases decides the rest.
            let had = |run: &Run| chosen.iter().filter(|one| one.call.operator == run.call.operator).count();
            let next = (0..easy.len()).min_by_key(|at| had(&easy[*at])).expect("some call is left");
            chosen.push(easy.remove(next));
        }
        chosen
    }
}

/// The first cases of each operator that a backend declares, but those of many sizes.
fn looked_at<'a>(description: &Description, cases: &'a [Arc<Case>]) -> impl Iterator<Item = &'a Arc<Case>> {
    let mut looked_at: HashMap<&str, usize> = HashMap::new();
    cases.iter().filter(move |case| {
        let operator = case.operator().as_str();
        if case.large || case.axes.has_sizes() || !description.operators.contains_key(operator) {
            return false;
        }
        let looked = looked_at.entry(operator).or_default();
        *looked += 1;
        *looked <= LOOKED_AT
    })
}
