//! What is said of a run that the user has ended: which cases have results, and which backends were not run.

use gather_spec::Case;

use crate::interrupt;
use crate::report::{BackendReport, Problem, Report};

/// The cases that have a result: all, unless the user has ended the run. Both are in the same order.
pub(super) fn with_results<'a>(cases: &[&'a Case], ids: &[&str]) -> Vec<&'a Case> {
    let mut ids = ids.iter().peekable();
    cases.iter().copied().filter(|case| ids.next_if(|id| **id == case.id).is_some()).collect()
}

/// The report on a backend whose turn comes after the user has ended the run, or that was just starting then.
pub(super) fn not_run(argument: &str) -> Option<BackendReport> {
    let signal = interrupt::signal()?;
    Some(BackendReport::broken(argument.to_owned(), &format!("interrupted by {signal}")))
}

/// Says of each backend how many cases lack their results because the user has ended the run.
pub(super) fn note_missing(report: &mut Report, cases: usize) {
    let Some(signal) = &report.interrupted else { return };
    for backend in report.backends.iter_mut().filter(|backend| backend.broken.is_none()) {
        let done = backend.results.len();
        if done < cases {
            backend.problems.push(Problem::Interrupted { signal: signal.clone(), done, cases });
        }
    }
}
