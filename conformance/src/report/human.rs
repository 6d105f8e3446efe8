//! The report for people: every failure with a line to reproduce it, the matrix, and how the run ended.

mod failure;
mod matrix;
mod page;

use std::fmt::Write as _;

use anstyle::Style;

use crate::style;
use crate::words::{counted, cut};

use super::label::{self, Label};
use super::{BackendReport, Ending, Entry, Report};

pub(super) use page::Page;

/// The most clauses that are named in one list.
const CLAUSES: usize = 5;

/// Where a list that is cut is whole.
const WHOLE: &str = "report.md";

/// Renders the report with colours; whoever prints it to something that is not a terminal strips them.
pub(super) fn render(report: &Report, page: Page) -> String {
    let labels = report.labels();
    let mut text = String::new();
    for (backend, label) in report.backends.iter().zip(&labels) {
        if let Some(why) = &backend.broken {
            let _ = writeln!(text, "{}: {}: {why}\n", painted(style::BAD, "not run"), label.short());
        }
        failure::all(&mut text, backend, label, page);
    }
    let _ = writeln!(text, "{}", matrix::matrix(report, &labels, page));
    for (backend, label) in report.backends.iter().zip(&labels) {
        remarks(&mut text, backend, label, page);
    }
    let widest = labels.iter().map(|label| label.short().chars().count()).max().unwrap_or_default();
    for (backend, label) in report.backends.iter().zip(&labels) {
        ending(&mut text, backend, &format!("{:widest$}", label.short()), page, CLAUSES);
    }
    text
}

/// How a run of one backend ended, for a program that shows its failures elsewhere and writes no report.
pub(super) fn ending_of(backend: &BackendReport) -> String {
    let mut text = String::new();
    ending(&mut text, backend, &label::identity(backend), Page::of_stdout(), usize::MAX);
    text
}

/// Writes what is known of a failure, without colours.
pub(super) fn failure(text: &mut String, backend: &BackendReport, entry: &Entry, page: Page) {
    failure::fields(text, backend, entry, page);
}

/// What there is to say of a backend beside its cases.
fn remarks(text: &mut String, backend: &BackendReport, label: &Label, page: Page) {
    let mut line = |style: Style, said: &str| {
        let lines = page.lines(2, &format!("{}: {said}", label.short()));
        let _ = writeln!(text, "{}", painted(style, &lines.join("\n  ")));
    };
    backend.departures.iter().for_each(|departure| line(Style::new(), departure));
    backend.problems.iter().for_each(|problem| line(style::BAD, problem));
    backend.remarks.iter().for_each(|remark| line(Style::new(), remark));
    // A line for all known deviations that have the same verdict and reason, and for all notes that are the same.
    let known = backend.results.iter().filter_map(|entry| Some((entry.label(), entry.reason.as_deref()?)));
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

/// The last words on a backend: the sentence, and what it was not asked, at most so many clauses of each list.
fn ending(text: &mut String, backend: &BackendReport, name: &str, page: Page, most: usize) {
    let summary = &backend.summary;
    let style = match summary.ending {
        Ending::Conforms => style::GOOD,
        Ending::ConformsBut | Ending::AskedInPart | Ending::NothingAsked => style::UNSURE,
        Ending::Fails | Ending::NotRun => style::BAD,
    };
    let lines = page.lines(2, &format!("{name}  {}", summary.sentence));
    let _ = writeln!(text, "{}", painted(style, &lines.join("\n  ")));
    let mut line = |said: String| {
        let _ = writeln!(text, "  {}", page.lines(4, &said).join("\n    "));
    };
    if !summary.undeclared.is_empty() {
        line(format!("does not declare {}", summary.undeclared.join(", ")));
    }
    let lists = [("never tested", summary.untested.clone()), ("never rejected", summary.unrejected_lines())];
    for (what, clauses) in lists {
        if !clauses.is_empty() {
            let list = cut(&clauses, most, WHOLE);
            line(format!("{what}: {}: {list}", counted(clauses.len(), "clause")));
        }
    }
}

fn painted(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}
