//! Deviations that cannot occur because the backend does not declare the operators of their cases.

use std::collections::BTreeSet;

use std::sync::Arc;

use gather_spec::Case;

use crate::report::{BackendReport, Problem};

use super::Deviations;

impl Deviations {
    /// Adds a problem for each entry that is about selected cases, but only about cases of operators that the backend does
    /// not declare.
    pub fn apply_to_undeclared(&self, report: &mut BackendReport, cases: &[&Arc<Case>]) {
        let concern = self.entries.iter().filter(|entry| entry.concerns(&report.backend.version));
        let about = concern.filter(|entry| entry.profile.is_none()).filter_map(|entry| {
            let named = cases.iter().filter(|case| entry.names(case));
            let operators: BTreeSet<&str> = named.map(|case| case.operator().as_str()).collect();
            let is_idle =
                !operators.is_empty() && !operators.iter().any(|operator| report.declares(operator));
            is_idle.then(|| Problem::Undeclared {
                entry: entry.pattern(),
                operators: operators.into_iter().map(str::to_owned).collect(),
            })
        });
        let problems: Vec<Problem> = about.collect();
        report.problems.extend(problems);
    }
}
