//! Runs cases on a program. Each of its processes has a worker, and the workers share the cases.

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
use crate::judged::Judged;
use crate::plan::{VariantPlan, in_names_of};
use crate::select::Chosen;
use crate::words::counted;

use super::batch::{Event, Watch};
use super::program::{Broken, ProcessBackend};
use super::worker::{ProcessWorker, RunState};

/// The results of running cases on a program.
#[derive(Clone, Debug)]
pub struct Findings {
    /// The backend's self-description.
    pub description: Description,
    /// The results of the cases whose operators the backend declares, in the order of the cases. If the user
    /// interrupted the run, some are missing.
    pub results: Vec<Entry>,
    /// Observations that are no failure, such as a process that ignored `stop`.
    pub remarks: Vec<String>,
    /// Failures that belong to no case, such as an exit status other than 0 after `stop`.
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
    /// Runs cases, after a few calls of `trivial` cases. If the backend answers none of those, it gets no
    /// other call. `watch` receives the progress.
    ///
    /// Processes that a backend has started end with it if they are in its process group; with
    /// [`super::adopt_children`], those that have left the group end, too.
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

    /// Like [`ProcessBackend::run`], with the runs that `make` makes of a case.
    fn run_made(
        &self,
        trivial: Trivial<'_>,
        cases: &[&Arc<Case>],
        make: &(dyn Fn(&mut Maker, &Arc<Case>) -> Vec<Run> + Sync),
        watch: Watch<'_>,
    ) -> Result<Findings, Broken> {
        let shared = RunState::new(self);
        let mut first = ProcessWorker::start(&shared, watch)?;
        let description = first.description().clone();
        let declared = description.declared(cases);
        watch(Event::Described(cases.len() - declared.len()));
        let cases = declared;
        let probed = self.probe(&mut first, &description, trivial, watch);
        shared.forget_stderr();
        shared.probes.get_or_init(|| Probes::new(&description, cases.iter().copied()));
        let of_suite = if let Trivial::Cases(cases) = trivial { cases } else { &[] };
        shared.plan.get_or_init(|| VariantPlan::new(&description, self.variants, of_suite));

        let mut results: Vec<Option<Entry>> = vec![None; cases.len()];
        let jobs = if first.has_given_up() { 1 } else { self.jobs.min(cases.len()) };
        let counter = AtomicUsize::new(0);
        let next = |maker: &mut Maker| {
            let at = counter.fetch_add(1, Ordering::Relaxed);
            let mut runs = make(maker, cases.get(at)?);
            if let Some(variant) = &self.variant {
                let names = in_names_of(variant, cases[at]);
                runs.iter_mut().for_each(|run| run.call.variant = names.clone().into_owned());
            }
            Some((at, runs))
        };
        std::thread::scope(|scope| {
            let more = (1..jobs).map(|_| {
                let (shared, description, next) = (&shared, &description, &next);
                // If a worker does not start, or its backend describes itself differently, the others run its
                // cases.
                let work = move || match ProcessWorker::start(shared, watch) {
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
        // `probed` is empty unless the backend answered no trivial call. Its results say more than `not-run`
        // does.
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
        // If the user interrupted the run, some cases have no result.
        let results = results.into_iter().flatten().map(with_probe).collect();
        let [mut remarks, problems] = [shared.remarks, shared.problems].map(|said| {
            let mut said = said.into_inner().expect("no worker panics");
            // Workers make the same remarks independently and in any order.
            said.sort();
            said.dedup();
            said
        });
        for (operator, count) in shared.left_out.into_inner().expect("no worker panics") {
            let budget = shared.plan.get().and_then(|plan| plan.budget(&operator)).unwrap_or_default();
            let calls = counted(count, "call");
            remarks.push(format!(
                "{operator}: its budget of {budget} compilations left out {calls} in variants"
            ));
        }
        remarks.extend(shared.varied.into_inner().expect("no worker panics").remark());
        if let loud @ 1.. = shared.loud.into_inner() {
            remarks.push(format!("{} wrote to standard error", counted(loud, "passing call")));
        }
        Ok(Findings { description, results, remarks, problems })
    }

    /// Runs these runs, each of its own case, after a few `trivial` calls.
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

    /// Runs a few trivial calls. If the backend answers none of them, the worker gives up: one that hangs
    /// would take hours. Returns their results by id if the worker has given up.
    fn probe(
        &self,
        worker: &mut ProcessWorker<'_>,
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
            // Trivial calls are not part of the run.
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

/// Where to look for calls that every backend that declares their dtypes must answer.
#[derive(Clone, Copy, Debug)]
pub enum Trivial<'a> {
    /// Among the runs of cases.
    Cases(&'a [Arc<Case>]),
    /// Among runs.
    Runs(&'a [Run]),
}

/// How many cases of an operator to search for trivial calls.
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
            // Takes the operator with the fewest calls so far. The order of the cases breaks ties.
            let had = |run: &Run| chosen.iter().filter(|one| one.call.operator == run.call.operator).count();
            let next = (0..easy.len()).min_by_key(|at| had(&easy[*at])).expect("some call is left");
            chosen.push(easy.remove(next));
        }
        chosen
    }
}

/// The first cases of each operator that a backend declares, without large ones and those of many sizes.
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
