//! What the page shows without JavaScript: how the run of each backend ended, and the matrix of operators and backends.

use std::collections::HashMap;
use std::fmt;

use gather_spec::Specification;

use gather_conformance::internals::judge::Verdict;
use gather_conformance::internals::words::counted;

use super::super::Label;
use super::super::{BackendReport, Ending, Report};
use gather_conformance::internals::entry::Entry;

/// How the run of one backend ended.
pub(super) struct Overview<'a> {
    /// Its name, with the argument if that says more; and its name at the head of a column.
    pub(super) name: String,
    pub(super) short: String,
    pub(super) language: &'a str,
    pub(super) sentence: &'a str,
    pub(super) state: &'static str,
    pub(super) mark: &'static str,
    pub(super) ending: &'static str,
    /// What there is to say of the backend as a whole, in lists with a title.
    pub(super) lists: Vec<(&'static str, Vec<String>)>,
    /// The operators that it does not declare.
    pub(super) undeclared: &'a [String],
}

/// One operator with a cell per backend.
pub(super) struct OverviewRow<'a> {
    pub(super) operator: &'a str,
    pub(super) form: &'static str,
    pub(super) cells: Vec<OverviewCell>,
}

/// The results of one backend for one operator.
pub(super) struct OverviewCell {
    pub(super) state: &'static str,
    pub(super) mark: &'static str,
    /// What matters most: `3 fail`.
    pub(super) said: String,
    /// The rest: `290 pass, 4 not asked`.
    pub(super) rest: String,
}

/// The overview of each backend, in order.
pub(super) fn sentences<'a>(report: &'a Report, labels: &[Label]) -> Vec<Overview<'a>> {
    let overview = |(backend, label): (&'a BackendReport, &Label)| {
        let (state, ending) = ending(backend.summary.ending);
        Overview {
            name: label.full(),
            short: label.short(),
            language: &backend.backend.language,
            sentence: &backend.summary.sentence,
            state,
            mark: mark(state),
            ending,
            lists: lists(backend),
            undeclared: &backend.summary.undeclared,
        }
    };
    report.backends.iter().zip(labels).map(overview).collect()
}

/// The state and the short form of an ending.
fn ending(ending: Ending) -> (&'static str, &'static str) {
    match ending {
        Ending::Conforms => ("pass", "conforms"),
        Ending::ConformsBut => ("known", "known deviations"),
        Ending::AskedInPart => ("part", "clauses untested"),
        Ending::NothingAsked => ("unasked", "nothing asked"),
        Ending::Fails => ("fail", "fails"),
        Ending::NotRun => ("fail", "not run"),
    }
}

/// How a verdict counts: it is fine, known, not asked, or a failure.
pub(super) fn state(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::KnownDeviation => "known",
        Verdict::Unsupported => "unasked",
        _ => "fail",
    }
}

/// The sign beside the colour of a state.
fn mark(state: &str) -> &'static str {
    match state {
        "pass" => "✓",
        "known" => "△",
        "part" => "◐",
        "fail" => "✗",
        _ => "–",
    }
}

fn lists(backend: &BackendReport) -> Vec<(&'static str, Vec<String>)> {
    let summary = &backend.summary;
    let lists = [
        ("Why it was not run", backend.broken.iter().cloned().collect()),
        ("Problems", backend.problems.iter().map(ToString::to_string).collect()),
        (
            "Policies that its documents do not permit",
            backend.departures.iter().map(ToString::to_string).collect(),
        ),
        ("Remarks", backend.remarks.clone()),
        ("What it declares", summary.declared_lines()),
        ("Clauses that are outside of that", summary.outside.clone()),
        ("Clauses that no case tested", summary.untested.clone()),
        ("Clauses that no case rejected under", summary.unrejected_lines()),
    ];
    lists.into_iter().filter(|(_, lines): &(_, Vec<String>)| !lines.is_empty()).collect()
}

/// The rows of the matrix, in order.
pub(super) fn rows<'a>(report: &'a Report, spec: &Specification) -> Vec<OverviewRow<'a>> {
    let counts: Vec<HashMap<&str, Counts>> = report.backends.iter().map(count).collect();
    let row = |operator: &'a str| OverviewRow {
        operator,
        form: spec.operator(operator).map_or("", |signature| signature.form.name()),
        cells: report
            .backends
            .iter()
            .zip(&counts)
            .map(|(one, counts)| cell(one, operator, counts.get(operator)))
            .collect(),
    };
    report.operators().into_iter().map(row).collect()
}

/// How many results of an operator there are of each state.
#[derive(Default)]
struct Counts {
    pass: usize,
    known: usize,
    fail: usize,
    unasked: usize,
}

fn count(backend: &BackendReport) -> HashMap<&str, Counts> {
    let mut counts: HashMap<&str, Counts> = HashMap::new();
    for entries in backend.results.chunk_by(|one, next| one.operator == next.operator) {
        let of = counts.entry(&entries[0].operator).or_default();
        entries.iter().for_each(|entry| of.add(entry));
    }
    counts
}

impl Counts {
    fn add(&mut self, entry: &Entry) {
        match state(entry.verdict) {
            "pass" => self.pass += 1,
            "known" if entry.observed == Some(Verdict::Unsupported) => self.unasked += 1,
            "known" => self.known += 1,
            "unasked" => self.unasked += 1,
            _ => self.fail += 1,
        }
    }
}

fn cell(backend: &BackendReport, operator: &str, counts: Option<&Counts>) -> OverviewCell {
    let plain = |state, said: &str| OverviewCell {
        state,
        mark: mark(state),
        said: said.to_owned(),
        rest: String::new(),
    };
    let counts = match counts {
        _ if backend.broken.is_some() => return plain("unasked", "not run"),
        _ if !backend.declares(operator) => return plain("unasked", "not declared"),
        Some(counts) => counts,
        None => return plain("unasked", "no result"),
    };
    let said = [
        ("fail", counts.fail, format!("{} fail", Thousands(counts.fail))),
        ("known", counts.known, counted(counts.known, "known deviation")),
        ("pass", counts.pass, format!("{} pass", Thousands(counts.pass))),
        ("part", counts.unasked, format!("{} not asked", Thousands(counts.unasked))),
    ];
    let mut said = said.into_iter().filter(|(_, count, _)| *count > 0);
    let Some((state, _, first)) = said.next() else { return plain("unasked", "no result") };
    let state = if state == "pass" && counts.unasked > 0 { "part" } else { state };
    let rest: Vec<String> = said.map(|(_, _, text)| text).collect();
    OverviewCell { state, mark: mark(state), said: first, rest: rest.join(", ") }
}

/// A count with its thousands set apart: `58,353`.
struct Thousands(usize);

impl fmt::Display for Thousands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (at, digit) in digits.char_indices() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                f.write_str(",")?;
            }
            write!(f, "{digit}")?;
        }
        Ok(())
    }
}
