//! The results of one backend: a verdict per case as runs, and everything known of what does not pass.

use std::collections::HashMap;
use std::sync::Arc;

use gather_spec::{Case, Specification};
use serde::Serialize;

use gather_conformance::internals::difference::Difference;
use gather_conformance::internals::judge::Verdict;

use super::super::BackendReport;
use super::super::Label;
use super::super::{FailureKind, PartReport};
use super::clauses::Clauses;
use super::pictures::Pictures;
use super::texts::TextTable;
use gather_conformance::internals::entry::Entry;

/// In place of a verdict: there is no result.
const NO_RESULT: i64 = -1;

/// In place of a verdict: the operator is not declared.
const UNDECLARED: i64 = -2;

/// A backend with its results.
#[derive(Serialize)]
pub(super) struct BackendRecord<'a> {
    /// Its name at the head of a column.
    name: String,
    /// The line that repeats a case, before the id and after it.
    repeat: (String, String),
    /// Verdicts in the order of the cases, each with how often it follows itself; [`NO_RESULT`] or [`UNDECLARED`] where
    /// there is none.
    verdicts: Vec<i64>,
    /// What is known of the results that do not pass, in the order of the cases.
    details: Vec<ResultRecord<'a>>,
    /// The failures by cause.
    causes: Vec<CauseRecord>,
    campaign: Vec<PartRecord<'a>>,
}

/// Failures that are most likely one bug.
#[derive(Serialize)]
struct CauseRecord {
    /// What they have in common beside the verdict.
    shared: &'static str,
    /// The numbers of their cases, the most telling one first.
    cases: Vec<usize>,
}

/// What is known of one result. Texts are numbers, and 0 is none.
#[derive(Default, Serialize)]
struct ResultRecord<'a> {
    /// The number of the case; of a kind of failures, 0.
    #[serde(skip_serializing_if = "is_zero")]
    case: usize,
    /// The run, if the case has several.
    #[serde(skip_serializing_if = "is_zero")]
    run: usize,
    /// The results of the runs, in words.
    #[serde(skip_serializing_if = "is_zero")]
    runs: usize,
    /// The number of elements of all operands.
    #[serde(skip_serializing_if = "is_zero")]
    size: usize,
    /// Whether some operand has no elements.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    empty: bool,
    /// The verdict without deviations, if they change it.
    #[serde(skip_serializing_if = "Option::is_none")]
    observed: Option<usize>,
    #[serde(skip_serializing_if = "is_zero")]
    profile: usize,
    #[serde(skip_serializing_if = "is_zero")]
    dtypes: usize,
    #[serde(skip_serializing_if = "is_zero")]
    call: usize,
    #[serde(skip_serializing_if = "is_zero")]
    expected: usize,
    #[serde(skip_serializing_if = "is_zero")]
    actual: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<&'a Difference>,
    /// The difference in words.
    #[serde(skip_serializing_if = "is_zero")]
    differs: usize,
    #[serde(skip_serializing_if = "is_zero")]
    at: usize,
    #[serde(skip_serializing_if = "is_zero")]
    note: usize,
    #[serde(skip_serializing_if = "is_zero")]
    stderr: usize,
    #[serde(skip_serializing_if = "is_zero")]
    reason: usize,
    #[serde(skip_serializing_if = "is_zero")]
    link: usize,
    /// An SVG image of the call.
    #[serde(skip_serializing_if = "is_zero")]
    picture: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The drawn calls, or the laws.
#[derive(Serialize)]
struct PartRecord<'a> {
    title: &'static str,
    said: String,
    repeat: &'a str,
    kinds: Vec<FailedKind<'a>>,
}

/// A kind of failures of a campaign.
#[derive(Serialize)]
struct FailedKind<'a> {
    id: &'a str,
    verdict: usize,
    set: usize,
    law: Option<String>,
    often: String,
    reproduce: &'a [String],
    detail: ResultRecord<'a>,
}

impl<'a> BackendRecord<'a> {
    pub(super) fn new(
        report: &'a BackendReport,
        label: &Label,
        cases: &[&Arc<Case>],
        spec: &'a Specification,
        (clauses, pictures, texts): (&mut Clauses<'a>, &mut Pictures, &mut TextTable<'a>),
    ) -> Self {
        let (verdicts, entries) = in_order(report, cases);
        pictures.draw(&entries, cases, texts);
        let causes = causes(report, &entries);
        let detail = |(case, entry)| ResultRecord {
            picture: pictures.number(entry),
            ..ResultRecord::new(case, entry, texts)
        };
        let details = entries.into_iter().map(detail).collect();
        Self {
            name: label.short(),
            repeat: report.reproduction().around_id(),
            verdicts,
            details,
            causes,
            campaign: report
                .campaign
                .iter()
                .map(|part| PartRecord::new(part, spec, clauses, texts))
                .collect(),
        }
    }
}

/// The failures by cause, with the numbers of their cases.
fn causes(report: &BackendReport, entries: &[(usize, &Entry)]) -> Vec<CauseRecord> {
    let numbers: HashMap<&str, usize> = entries.iter().map(|(case, entry)| (&*entry.id, *case)).collect();
    let causes = report.causes().into_iter().map(|cause| {
        let failures = std::iter::once(&cause.first).chain(&cause.others);
        CauseRecord { shared: cause.shared, cases: failures.map(|entry| numbers[&*entry.id]).collect() }
    });
    causes.collect()
}

/// The verdicts as runs, and the entries that have details, with the numbers of their cases.
fn in_order<'a>(report: &'a BackendReport, cases: &[&Arc<Case>]) -> (Vec<i64>, Vec<(usize, &'a Entry)>) {
    let (mut runs, mut entries): (Vec<i64>, _) = (Vec::new(), Vec::new());
    let mut results = report.results.iter().peekable();
    for (number, case) in cases.iter().enumerate() {
        let entry = results.next_if(|entry| entry.id == case.id);
        let declared = report.declares(case.operator().as_str());
        let none = if declared { NO_RESULT } else { UNDECLARED };
        let verdict = entry.map_or(none, |entry| entry.verdict as i64);
        match runs.as_mut_slice() {
            [.., last, count] if *last == verdict => *count += 1,
            _ => runs.extend([verdict, 1]),
        }
        let said = entry.filter(|entry| entry.verdict != Verdict::Pass);
        entries.extend(said.map(|entry| (number, entry)));
    }
    (runs, entries)
}

impl<'a> ResultRecord<'a> {
    fn new(case: usize, entry: &'a Entry, texts: &mut TextTable<'a>) -> Self {
        let mut said = |text: Option<String>| text.map_or(0, |text| texts.number(text));
        let profile = said(entry.profile.map(|profile| profile.to_string()));
        let dtypes = said(entry.dtypes.map(|dtypes| dtypes.to_string()));
        let run = said(
            entry.run.as_ref().map(|run| run[entry.id.len()..].to_owned()).filter(|run| !run.is_empty()),
        );
        let runs = said(entry.runs.as_ref().map(ToString::to_string));
        let differs = said(entry.difference_in_words().map(|(said, _)| said));
        let mut text = |text: &'a Option<String>| texts.optional(text.as_deref());
        let actual = text(&entry.actual);
        if entry.verdict == Verdict::Unsupported {
            return Self { case, runs, profile, actual, note: text(&entry.note), ..Self::default() };
        }
        Self {
            case,
            run,
            runs,
            size: entry.size.elements,
            empty: entry.size.is_empty,
            observed: entry.observed.map(|verdict| verdict as usize),
            profile,
            dtypes,
            call: text(&entry.call),
            expected: text(&entry.expected),
            actual,
            difference: entry.difference.as_deref(),
            differs,
            at: text(&entry.at),
            note: text(&entry.note),
            stderr: text(&entry.stderr),
            reason: text(&entry.reason),
            link: text(&entry.link),
            ..Self::default()
        }
    }
}

impl<'a> PartRecord<'a> {
    fn new(
        campaign: &'a PartReport,
        spec: &'a Specification,
        clauses: &mut Clauses<'a>,
        texts: &mut TextTable<'a>,
    ) -> Self {
        let kind = |kind: &'a FailureKind| FailedKind {
            id: &kind.entry.id,
            verdict: kind.entry.verdict as usize,
            set: clauses.set(clauses_of(kind), spec),
            law: kind.statement(),
            often: kind.often(campaign),
            reproduce: &kind.reproduce,
            detail: ResultRecord::new(0, &kind.entry, texts),
        };
        Self {
            title: campaign.part.title(),
            said: campaign.in_words().join(" "),
            repeat: &campaign.repeat,
            kinds: campaign.kinds.iter().map(kind).collect(),
        }
    }
}

fn clauses_of(kind: &FailureKind) -> &Arc<[String]> {
    &kind.entry.clauses
}
