//! Markdown: the matrix as a table, then a section per backend: how its run ended, what it was not asked, its failures.

use std::fmt::Write as _;

use super::found::{BackendReport, Report};
use super::label::Label;

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
    for (backend, label) in report.backends.iter().zip(&labels) {
        section(&mut text, backend, label);
    }
    text
}

/// The section of one backend.
fn section(text: &mut String, backend: &BackendReport, label: &Label) {
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
    list(text, &said);
    not_asked(text, backend);
    if let Some(why) = &backend.broken {
        let _ = writeln!(text, "\n### not run\n\n- {}", escaped(why));
    }
    for problem in &backend.problems {
        let _ = writeln!(text, "\n### profile\n\n- {}", escaped(&problem.to_string()));
    }
    for entry in backend.failures() {
        let _ = writeln!(text, "\n### {}: {}\n", entry.verdict, escaped(&entry.id));
        let _ = writeln!(text, "{}", fenced(&backend.failure_in_text(entry)));
    }
    for campaign in &backend.campaign {
        for kind in campaign.failures() {
            let _ = writeln!(text, "\n### {}\n", escaped(&kind.entry.id));
            let _ = writeln!(text, "{}", fenced(&backend.kind_in_text(campaign, kind)));
        }
    }
}

/// A text as a code block, with a fence that no backquotes in it can close.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{text}{fence}")
}

/// What the backend was not asked, in full.
fn not_asked(text: &mut String, backend: &BackendReport) {
    let summary = &backend.summary;
    let lists = [
        ("Operators that it does not declare", summary.undeclared.clone()),
        ("Clauses that no case tested", summary.untested.clone()),
        ("Clauses that no case rejected under", summary.unrejected_lines()),
    ];
    for (what, names) in lists.iter().filter(|(_, names)| !names.is_empty()) {
        let _ = writeln!(text, "\n{what}:");
        list(text, names);
    }
}

fn list(text: &mut String, lines: &[String]) {
    if !lines.is_empty() {
        text.push('\n');
    }
    for line in lines {
        let _ = writeln!(text, "- {}", escaped(line));
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
