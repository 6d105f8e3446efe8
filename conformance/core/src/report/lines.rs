//! Failures and endings of one backend, in lines for people.

use std::fmt::Write as _;

use anstyle::Style;

use crate::style;
use crate::words::{counted, cut};

use super::campaign::{FailureKind, PartReport};
use super::cause::Cause;
use super::failure;
use super::found::{BackendReport, Ending};
use super::label::{self, Label};
use super::page::{PageWidth, WHOLE, painted};
use crate::entry::Entry;

/// Writes every failure of a backend, cases first.
pub fn failures(text: &mut String, backend: &BackendReport, label: &Label, page: PageWidth) {
    failure::all(text, backend, label, page);
    failure::kinds(text, backend, label, page);
}

impl BackendReport {
    /// What is needed to fix a failure, in lines for people.
    pub fn failure_in_lines(&self, entry: &Entry, page: PageWidth) -> String {
        let mut text = String::new();
        failure::fields(&mut text, self, entry, page);
        text
    }

    /// The same without line breaks for width, and with the line that repeats the case.
    pub fn failure_in_text(&self, entry: &Entry) -> String {
        let mut text = String::new();
        failure::fields(&mut text, self, entry, PageWidth::ENDLESS);
        let _ = writeln!(text, "  {:<10} {}", "reproduce", self.reproduction().case(entry.run_id()));
        text
    }

    /// The same for all failures of a cause.
    pub fn cause_in_text(&self, cause: &Cause<'_>) -> String {
        let mut text = String::new();
        failure::cause(&mut text, self, cause, PageWidth::ENDLESS, usize::MAX);
        text
    }

    /// The same for a kind of failures of the campaign.
    pub fn kind_in_text(&self, campaign: &PartReport, kind: &FailureKind) -> String {
        let mut text = String::new();
        failure::kind(&mut text, self, campaign, kind, PageWidth::ENDLESS);
        text
    }

    /// How the run ended, in lines for people, with colours.
    pub fn ending(&self, page: PageWidth) -> String {
        let mut text = String::new();
        sentence(&mut text, self, &label::identity(self), page);
        gaps(&mut text, self, page, usize::MAX);
        text
    }
}

/// Writes problems and remarks below the name of the backend.
pub fn remarks(text: &mut String, backend: &BackendReport, label: &Label, page: PageWidth) {
    let mut is_first = true;
    let mut line = |style: Style, said: &str| {
        if std::mem::take(&mut is_first) {
            let _ = writeln!(text, "{}", painted(style::NAME, &label.short()));
        }
        let _ = writeln!(text, "  {}", painted(style, &page.lines(4, said).join("\n    ")));
    };
    backend.departures.iter().for_each(|departure| line(Style::new(), &departure.to_string()));
    backend.problems.iter().for_each(|problem| line(style::BAD, &problem.to_string()));
    backend.remarks.iter().for_each(|remark| line(Style::new(), remark));
    // One line for all known deviations with the same verdict and reason, and one for all equal notes.
    let known = backend.entries().filter_map(|entry| Some((entry.label(), entry.reason.as_deref()?)));
    let mut known: Vec<(String, &str)> = known.collect();
    known.sort_unstable();
    for same in known.chunk_by(|a, b| a == b) {
        line(Style::new(), &format!("{} {}: {}", same.len(), same[0].0, same[0].1));
    }
    let mut notes: Vec<&str> = backend.results.iter().filter_map(|entry| entry.note.as_deref()).collect();
    notes.sort_unstable();
    for same in notes.chunk_by(|a, b| a == b) {
        line(Style::new(), &format!("in {} {}", counted(same.len(), "case"), same[0]));
    }
}

/// Writes how a run ended.
pub fn sentence(text: &mut String, backend: &BackendReport, name: &str, page: PageWidth) {
    let summary = &backend.summary;
    let style = match summary.ending {
        Ending::Conforms => style::GOOD,
        Ending::ConformsBut | Ending::AskedInPart | Ending::NothingAsked => style::UNSURE,
        Ending::Fails | Ending::NotRun => style::BAD,
    };
    let lines = page.lines(2, &format!("{name}  {}", summary.sentence));
    let _ = writeln!(text, "{}", painted(style, &lines.join("\n  ")));
}

/// Writes what the backend was not asked, with at most `most` clauses in each list.
pub fn gaps(text: &mut String, backend: &BackendReport, page: PageWidth, most: usize) {
    let summary = &backend.summary;
    let mut line = |said: String| {
        let _ = writeln!(text, "  {}", page.lines(4, &said).join("\n    "));
    };
    summary.undeclared_in_words(most).into_iter().for_each(&mut line);
    if summary.declared.len() > 1 {
        summary.declared_lines().into_iter().for_each(|declared| line(format!("declares {declared}")));
    }
    let lists = [
        ("outside of what it declares", summary.outside.clone()),
        ("never tested", summary.untested.clone()),
        ("never rejected", summary.unrejected_lines()),
    ];
    for (what, clauses) in lists {
        if !clauses.is_empty() {
            let list = cut(&clauses, most, WHOLE);
            line(format!("{what}: {}: {list}", counted(clauses.len(), "clause")));
        }
    }
}
