//! Runs cases on a program: as many workers as it has processes share them out.

use std::collections::HashMap;
use std::sync::atomic::AtomicUsize;

use gather_spec::Case;

use crate::backend::Description;
use crate::declared::Probes;
use crate::interrupt;
use crate::judge::{Strictness, Verdict};
use crate::runner::{CaseResult, Judged};
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
    pub results: Vec<CaseResult>,
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
        found.map(|result| result.actual.as_str())
    }
}

impl ProcessBackend {
    /// Runs cases. First a few `trivial` ones are asked: if none of them is answered, no other call is sent. `watch` is told
    /// what is being waited for, and of each case that has its result.
    ///
    /// What a backend has started ends with it as far as it is in its process group; with [`super::adopt_children`] also
    /// what has left that.
    ///
    /// # Errors
    /// [`Broken`] if the process cannot be started.
    pub fn run(&self, trivial: &[&Case], cases: &[&Case], watch: Watch<'_>) -> Result<Findings, Broken> {
        let shared = Shared::new(self);
        let mut first = Worker::start(&shared, watch)?;
        let description = first.description().clone();
        let declared = description.declared(cases);
        watch(Event::Described(cases.len() - declared.len()));
        let cases = declared.as_slice();
        let probed = self.probe(&mut first, &description, trivial, watch);
        shared.forget_stderr();
        shared.probes.get_or_init(|| Probes::new(&description, cases.iter().copied()));

        let mut results: Vec<Option<CaseResult>> = vec![None; cases.len()];
        let jobs = if first.has_given_up() { 1 } else { self.jobs.min(cases.len()) };
        std::thread::scope(|scope| {
            let more = (1..jobs).map(|_| {
                let (shared, description) = (&shared, &description);
                // A worker that does not come up leaves its cases to the others.
                let work = move || match Worker::start(shared, watch) {
                    Ok(mut worker) if worker.description() == description => {
                        worker.run(cases, &shared.next, true, watch)
                    }
                    _ => Vec::new(),
                };
                std::thread::Builder::new().spawn_scoped(scope, work)
            });
            let more: Vec<_> = more.map_while(Result::ok).collect();
            let mut done = first.run(cases, &shared.next, true, watch);
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
        let with_probe = |result: CaseResult| match probed.get(&result.id) {
            Some(probed) if result.verdict == Verdict::NotRun => probed.clone(),
            _ => result,
        };
        let results = results.map(with_probe).collect();
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

    /// Runs the trivial cases. If none of them is answered, the worker gives up: a backend that hangs would take hours. Gives
    /// their results by id where the worker sends no more calls.
    fn probe(
        &self,
        worker: &mut Worker<'_>,
        description: &Description,
        trivial: &[&Case],
        watch: Watch<'_>,
    ) -> HashMap<String, CaseResult> {
        let few = trivial_cases(description, trivial);
        let results = worker.run(&few, &AtomicUsize::new(0), false, &|event| {
            // Trivial cases are no cases of the run.
            if !matches!(event, Event::Settled(..)) {
                watch(event);
            }
        });
        let is_answer = |verdict| {
            !matches!(verdict, Verdict::Crash | Verdict::Timeout | Verdict::ProtocolError | Verdict::NotRun)
        };
        let answered = results.iter().any(|(_, result)| is_answer(result.verdict));
        if let Some((_, CaseResult { verdict, id, actual, .. })) = results.first()
            && !answered
            && !interrupt::requested()
        {
            let calls = counted(few.len(), "trivial call");
            worker.give_up(&format!("the backend answers none of {calls}: {verdict} at {id}: {actual}"));
        }
        if worker.has_given_up() {
            results.into_iter().map(|(_, result)| (result.id.clone(), result)).collect()
        } else {
            HashMap::new()
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
