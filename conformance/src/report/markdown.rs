//! Markdown: the matrix as a table, then a section per backend: how its run ended, what it was not asked, its failures.

use std::fmt::Write as _;

use super::Label;
use super::{BackendReport, Report};
use gather_conformance::internals::words::counted;

/// The most bytes of a report, apart from its matrix: the summary of a job on GitHub may have 1 MiB.
const MOST: usize = 1_000_000;

pub(super) fn render(report: &Report) -> String {
    let labels = Label::of_all(&report.backends);
    let mut text = format!("# GatherSpec {}\n\n| operator |", report.suite);
    for label in &labels {
        let _ = write!(text, " {} |", escaped(&label.full()));
    }
    text.push_str("\n| --- |");
    text.push_str(&" --- |".repeat(report.backends.len()));
    text.push('\n');
    for operator in report.operators() {
        let _ = write!(text, "| {} |", escaped(operator));
        for backend in &report.backends {
            let _ = write!(text, " {} |", backend.outcome_in_words(operator).join(" "));
        }
        text.push('\n');
    }
    for part in report.parts() {
        let _ = write!(text, "| {} |", part.title());
        for backend in &report.backends {
            let _ = write!(text, " {} |", backend.campaign_in_words(part).join(" "));
        }
        text.push('\n');
    }
    let mut left = report.backends.len();
    for (backend, label) in report.backends.iter().zip(&labels) {
        // Backends share what is left.
        let end = text.len() + MOST.saturating_sub(text.len()) / left;
        section(&mut text, backend, label, end);
        left -= 1;
    }
    text
}

/// The section of one backend, which may reach to byte `end`.
fn section(text: &mut String, backend: &BackendReport, label: &Label, end: usize) {
    let _ = writeln!(text, "\n## {}\n\n**{}**", escaped(&label.full()), escaped(&backend.summary.sentence));
    if !backend.backend.language.is_empty() {
        let _ = writeln!(text, "\nWritten in {}.", escaped(&backend.backend.language));
    }
    let known = backend.entries().filter_map(|entry| {
        let reason = entry.reason.as_ref()?;
        Some(format!("{} {}: {reason}", entry.label(), entry.id))
    });
    let said: Vec<String> = backend
        .departures
        .iter()
        .map(ToString::to_string)
        .chain(backend.remarks.iter().cloned())
        .chain(known)
        .collect();
    list(text, &said, end);
    not_asked(text, backend, end);
    if let Some(why) = &backend.broken {
        let _ = writeln!(text, "\n### not run\n\n- {}", escaped(why));
    }
    for problem in &backend.problems {
        let _ = writeln!(text, "\n### profile\n\n- {}", escaped(&problem.to_string()));
    }
    let cases = backend.causes().into_iter().map(|cause| {
        let (said, first) = (fenced(&backend.cause_in_text(&cause)), cause.first);
        let section = format!("\n### {}: {}\n\n{said}\n", first.verdict, escaped(first.run_id()));
        (section, 1 + cause.others.len())
    });
    let kinds = backend.campaign.iter().flat_map(|campaign| {
        campaign.failures().map(|kind| {
            let said = fenced(&backend.kind_in_text(campaign, kind));
            (format!("\n### {}\n\n{said}\n", escaped(&kind.entry.id)), 1)
        })
    });
    // Kinds stand for many failures each, so cases make room for them.
    let kinds: Vec<(String, usize)> = kinds.collect();
    let room = kinds.iter().map(|(section, _)| section.len()).sum();
    let left_out = write_all(text, cases, end.saturating_sub(room)) + write_all(text, kinds.into_iter(), end);
    if left_out > 0 {
        let _ = writeln!(text, "\n{} left out here; report.json has all.", counted(left_out, "more failure"));
    }
}

/// Writes the parts that end before byte `end`. Each part comes with the number of things in it. Returns how
/// many things are left out.
fn write_all(text: &mut String, parts: impl Iterator<Item = (String, usize)>, end: usize) -> usize {
    let mut parts = parts.peekable();
    while let Some((part, _)) = parts.next_if(|(part, _)| text.len() + part.len() <= end) {
        text.push_str(&part);
    }
    parts.map(|(_, count)| count).sum()
}

/// A text as a code block, with a fence that no backquotes in it can close.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{text}{fence}")
}

/// What the backend was not asked, in full.
fn not_asked(text: &mut String, backend: &BackendReport, end: usize) {
    let summary = &backend.summary;
    if let Some(said) = summary.undeclared_in_words(usize::MAX) {
        let _ = writeln!(text, "\nIt {}.", escaped(&said));
    }
    let lists = [
        ("What it declares", summary.declared_lines()),
        ("Clauses that are outside of that", summary.outside.clone()),
        ("Clauses that no case tested", summary.untested.clone()),
        ("Clauses that no case rejected under", summary.unrejected_lines()),
    ];
    for (what, names) in lists.iter().filter(|(_, names)| !names.is_empty()) {
        let _ = writeln!(text, "\n{what}:");
        list(text, names, end);
    }
}

fn list(text: &mut String, lines: &[String], end: usize) {
    if !lines.is_empty() {
        text.push('\n');
    }
    let left_out = write_all(text, lines.iter().map(|line| (format!("- {}\n", escaped(line)), 1)), end);
    if left_out > 0 {
        let _ = writeln!(text, "- and {left_out} more, in report.json");
    }
}

/// A text on one line, escaped so that it is neither Markdown nor HTML.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => escaped.push(' '),
            '<' => escaped.push_str("&lt;"),
            '&' => escaped.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' => escaped.extend(['\\', c]),
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_counted_by_the_failures_that_it_stands_for() {
        let mut text = "12345".to_owned();
        let parts = [("abc", 1), ("defg", 7), ("h", 2)].map(|(part, count)| (part.to_owned(), count));
        assert_eq!(write_all(&mut text, parts.into_iter(), 10), 9);
        assert_eq!(text, "12345abc");
    }
}
