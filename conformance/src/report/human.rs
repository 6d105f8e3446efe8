//! The matrix for people: operators by backends, then every failure with a line to reproduce it.

use std::fmt::Write as _;

use anstyle::Style;
use comfy_table::{Table, presets};

use crate::judge::Verdict;
use crate::style;

use super::{BackendReport, Entry, Report, counts_in_words};

/// Renders the report with colours; whoever prints it to something that is not a terminal strips them.
pub(super) fn render(report: &Report) -> String {
    let mut text = String::new();
    for backend in &report.backends {
        if let Some(why) = &backend.broken {
            let _ = writeln!(text, "{}not run{:#}: {}: {why}\n", style::BAD, style::BAD, backend.argument);
        }
        for entry in backend.failures() {
            failure(&mut text, backend, entry);
        }
    }
    let _ = writeln!(text, "{}", matrix(report));
    for backend in &report.backends {
        for departure in &backend.departures {
            let _ = writeln!(text, "{}: {departure}", backend.argument);
        }
        for problem in &backend.problems {
            let _ = writeln!(text, "{}: {}{problem}{:#}", backend.argument, style::BAD, style::BAD);
        }
        for remark in &backend.remarks {
            let _ = writeln!(text, "{}: {remark}", backend.argument);
        }
        known(&mut text, backend);
        let notes = backend.results.iter().filter_map(|entry| entry.note.as_deref());
        let mut notes: Vec<&str> = notes.collect();
        notes.sort_unstable();
        for same in notes.chunk_by(|a, b| a == b) {
            let _ = writeln!(text, "{}: in {} cases {}", backend.argument, same.len(), same[0]);
        }
    }
    let cases = report.backends.iter().map(|backend| backend.results.len()).max().unwrap_or(0);
    let failures = |backend: &BackendReport| {
        backend.failures().count() + backend.problems.len() + usize::from(backend.broken.is_some())
    };
    let failed: usize = report.backends.iter().map(failures).sum();
    let backends = report.backends.len();
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let (cases, backends) = (plural(cases, "case"), plural(backends, "backend"));
    let _ = match failed {
        0 => writeln!(text, "{}{cases} on {backends}: everything conforms{:#}", style::GOOD, style::GOOD),
        _ => writeln!(
            text,
            "{}{cases} on {backends}: {} not conform{:#}",
            style::BAD,
            plural(failed, "verdict") + if failed == 1 { " does" } else { " do" },
            style::BAD
        ),
    };
    text
}

/// The known deviations of a backend: a line for all that have the same verdict and reason.
fn known(text: &mut String, backend: &BackendReport) {
    let known = backend.results.iter().filter_map(|entry| Some((entry.label(), entry.reason.as_deref()?)));
    let mut known: Vec<(String, &str)> = known.collect();
    known.sort_unstable();
    for same in known.chunk_by(|a, b| a == b) {
        let (label, reason) = &same[0];
        let _ = writeln!(text, "{}: {} {label}: {reason}", backend.argument, same.len());
    }
}

/// The beginning and the end of a text, if it is long: the cause stands first, or last.
fn ends_of(text: &str) -> impl Iterator<Item = &str> {
    const SHOWN: usize = 8;
    let lines = text.lines().count();
    let beyond = lines > 2 * SHOWN;
    let first = text.lines().take(if beyond { SHOWN } else { lines });
    let last = text.lines().skip(if beyond { lines - SHOWN } else { lines });
    first.chain(beyond.then_some("…")).chain(last)
}

fn matrix(report: &Report) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    let mut header = vec!["operator".to_owned()];
    header.extend(report.backends.iter().map(|backend| backend.argument.clone()));
    table.set_header(header);
    for operator in report.operators() {
        let mut row = vec![operator.to_owned()];
        row.extend(report.backends.iter().map(|backend| match backend.broken {
            Some(_) => "not run".to_owned(),
            None => counts_in_words(&backend.counts(operator)),
        }));
        table.add_row(row);
    }
    table
}

fn failure(text: &mut String, backend: &BackendReport, entry: &Entry) {
    let painted = |style: Style, part: &str| format!("{style}{part}{style:#}");
    let verdict = match entry.verdict {
        Verdict::Pass | Verdict::Unsupported => style::GOOD,
        _ => style::BAD,
    };
    let _ = writeln!(text, "{} {} on {}", painted(verdict, entry.verdict.name()), entry.id, backend.argument);
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:<10} {value}");
    };
    line("clauses", &entry.clauses.join(" "));
    if let Some(profile) = entry.profile {
        line("profile", &profile.to_string());
    }
    line("call", entry.call.as_deref().unwrap_or_default());
    line("expected", entry.expected.as_deref().unwrap_or_default());
    line("actual", entry.actual.as_deref().unwrap_or_default());
    if let Some(at) = &entry.at {
        line("at", at);
    }
    for (number, said) in entry.stderr.iter().flat_map(|text| ends_of(text)).enumerate() {
        line(if number == 0 { "stderr" } else { "" }, said);
    }
    line("reproduce", &backend.reproduce(entry));
    text.push('\n');
}
