//! Failures by cause, alike in every form for people.
//!
//! Failures with the same verdict under the same clauses are most likely one bug. So are calls that a backend does not
//! support for the same reason, and those that were not sent for one. Of such a group, a form shows the most telling failure in full
//! and names the others.

use std::collections::{BTreeSet, HashMap};

use crate::judge::{UNSUPPORTED, Verdict};

use super::found::BackendReport;
use crate::entry::Entry;

/// Failures that are most likely one bug.
pub struct Cause<'a> {
    /// What they have in common beside the verdict: `these clauses`, or `this answer`.
    pub shared: &'static str,
    /// The most telling failure.
    pub first: &'a Entry,
    /// The other failures, in the same order.
    pub others: Vec<&'a Entry>,
}

/// What failures with the same verdict share if they are most likely one bug.
#[derive(PartialEq, Eq, Hash)]
enum CauseKey<'a> {
    Clauses(BTreeSet<&'a str>),
    /// The reason for which the backend does not support the call, or was not asked.
    Answer(&'a str),
}

impl<'a> CauseKey<'a> {
    fn of(entry: &'a Entry) -> Self {
        match entry.actual.as_deref() {
            Some(answer) if answer.starts_with(UNSUPPORTED) || entry.verdict == Verdict::NotRun => {
                Self::Answer(answer)
            }
            _ => Self::Clauses(entry.clauses.iter().map(String::as_str).collect()),
        }
    }

    const fn shared(&self) -> &'static str {
        match self {
            Self::Clauses(_) => "these clauses",
            Self::Answer(_) => "this answer",
        }
    }
}

impl BackendReport {
    /// The failures by cause, each with the most telling one first: that with the smallest call, where calls without
    /// elements come last. Causes are in the order of their first failures, and those that only such calls show come last.
    pub fn causes(&self) -> Vec<Cause<'_>> {
        let mut numbers: HashMap<(Verdict, CauseKey<'_>), usize> = HashMap::new();
        let mut groups: Vec<(&'static str, Vec<&Entry>)> = Vec::new();
        for entry in self.failures() {
            let kind = CauseKey::of(entry);
            let shared = kind.shared();
            let number = *numbers.entry((entry.verdict, kind)).or_insert(groups.len());
            if number == groups.len() {
                groups.push((shared, Vec::new()));
            }
            groups[number].1.push(entry);
        }
        let causes = groups.into_iter().map(|(shared, mut failures)| {
            failures.sort_by_key(|entry| entry.size);
            let first = failures.remove(0);
            Cause { shared, first, others: failures }
        });
        let mut causes: Vec<Cause<'_>> = causes.collect();
        causes.sort_by_key(|cause| cause.first.size.is_empty);
        causes
    }
}
