//! Reports of a run that the user interrupted: which cases have results, and which backends were not run.

use std::sync::Arc;

use gather_spec::Case;

use crate::interrupt;
use crate::report::{BackendReport, Problem, Report};

/// The cases that have a result: all of them, unless the user interrupted the run. `ids` has the order of the cases.
pub(super) fn with_results<'a>(cases: &[&'a Arc<Case>], ids: &[&str]) -> Vec<&'a Arc<Case>> {
    let mut ids = ids.iter().peekable();
    cases.iter().copied().filter(|case| ids.next_if(|id| **id == case.id).is_some()).collect()
}

/// The report on a backend that was not run, or was just starting, when the user interrupted the run.
pub(super) fn not_run(argument: &str) -> Option<BackendReport> {
    let signal = interrupt::signal()?;
    Some(BackendReport::broken(argument.to_owned(), &format!("interrupted by {signal}")))
}

/// Notes for each backend how many cases lack results because the user interrupted the run.
pub(super) fn note_missing(report: &mut Report, cases: &[&Arc<Case>]) {
    let Some(signal) = &report.interrupted else { return };
    for backend in report.backends.iter_mut().filter(|backend| backend.broken.is_none()) {
        let (done, cases) = (backend.results.len(), backend.declared_of(cases));
        if done < cases {
            backend.problems.push(Problem::Interrupted { signal: signal.clone(), done, cases });
        }
    }
}
