//! The failures of a backend, with what is needed to fix and to reproduce each.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr as _;

use crate::difference::{DifferingElements, Sides};
use crate::style;
use crate::words::cut;

use super::campaign::{FailureKind, PartReport};
use super::cause::Cause;
use super::found::BackendReport;
use super::label::Label;
use super::page::{PageWidth, WHOLE, filled, painted};
use crate::entry::Entry;

/// The most ids to name in a group.
const IDS: usize = 8;

/// The name of the field that says what is allowed.
const EXPECTED: &str = "expected";

/// The column where values of fields start.
const INDENT: usize = 13;

/// Writes every failure of a backend, by cause.
pub(super) fn all(text: &mut String, backend: &BackendReport, label: &Label, page: PageWidth) {
    for one in backend.causes() {
        let verdict = painted(style::BAD, one.first.verdict.name());
        let rest = format!("{} on {}", one.first.run_id(), label.short());
        let lines = page.lines(one.first.verdict.name().width() + 1, &rest);
        let _ = writeln!(text, "{verdict} {}", lines.join("\n  "));
        cause(text, backend, &one, page, IDS);
        text.push('\n');
    }
}

/// Writes the first failure of a cause, with the line that repeats it, and at most `most` of the other ids.
pub(super) fn cause(
    text: &mut String,
    backend: &BackendReport,
    cause: &Cause<'_>,
    page: PageWidth,
    most: usize,
) {
    fields(text, backend, cause.first, page);
    let reproduce = backend.reproduction().case(cause.first.run_id());
    field(text, "reproduce", &command(&reproduce, page));
    if !cause.others.is_empty() {
        let ids: Vec<&str> = cause.others.iter().map(|entry| entry.id.as_str()).collect();
        let list = cut(&ids, most, WHOLE);
        let said = format!("{} more of this verdict and {}: {list}", ids.len(), cause.shared);
        field(text, "also", &page.lines(INDENT, &said));
    }
}

/// Writes every kind of failures of a backend's campaign.
pub(super) fn kinds(text: &mut String, backend: &BackendReport, label: &Label, page: PageWidth) {
    for campaign in &backend.campaign {
        for one in campaign.failures() {
            let rest = format!("{} on {}", one.entry.id, label.short());
            let _ = writeln!(text, "{}", painted(style::BAD, &page.lines(2, &rest).join("\n  ")));
            kind(text, backend, campaign, one, page);
            text.push('\n');
        }
    }
}

/// Writes a kind of failures, with the lines that repeat it.
pub(super) fn kind(
    text: &mut String,
    backend: &BackendReport,
    campaign: &PartReport,
    kind: &FailureKind,
    page: PageWidth,
) {
    if let Some(statement) = kind.statement() {
        field(text, "law", &page.lines(INDENT, &statement));
    }
    fields(text, backend, &kind.entry, page);
    field(text, "found", &page.lines(INDENT, &kind.often(campaign)));
    let repeat = std::slice::from_ref(&campaign.repeat);
    let lines = if kind.reproduce.is_empty() { repeat } else { &kind.reproduce[..] };
    for (number, line) in lines.iter().enumerate() {
        field(text, if number == 0 { "reproduce" } else { "" }, &command(line, page));
    }
}

/// Writes a failure.
pub(super) fn fields(text: &mut String, backend: &BackendReport, entry: &Entry, page: PageWidth) {
    let mut line = |name: &str, value: &str| field(text, name, &page.lines(INDENT, value));
    for clause in backend.clauses_in_words(entry) {
        line("clause", &clause);
    }
    if let Some(profile) = entry.profile {
        line("profile", &profile.to_string());
    }
    if let Some(runs) = &entry.runs {
        line("runs", &runs.to_string());
    }
    line("call", entry.call.as_deref().unwrap_or_default());
    let difference = entry.difference_in_words();
    if let Some((said, _)) = &difference {
        line("difference", said);
    }
    let elements = entry.difference.as_ref().and_then(|difference| difference.elements.as_ref());
    if let (Some(elements), Some((_, sides))) = (elements, difference) {
        // If answers differ from each other, either may be the right one.
        if sides.expected != EXPECTED {
            line(EXPECTED, entry.expected.as_deref().unwrap_or_default());
        }
        rows(text, elements, sides, page);
    } else {
        line(EXPECTED, entry.expected.as_deref().unwrap_or_default());
        line("actual", entry.actual.as_deref().unwrap_or_default());
    }
    let mut line = |name: &str, value: &str| field(text, name, &page.lines(INDENT, value));
    for other in entry.difference.iter().flat_map(|difference| &difference.alternatives) {
        if elements.is_some() {
            line("or", other);
        }
    }
    if let Some(at) = &entry.at {
        line("at", at);
    }
    for (number, said) in entry.stderr.iter().flat_map(|text| ends_of(text)).enumerate() {
        line(if number == 0 { "stderr" } else { "" }, said);
    }
}

/// Writes two outputs, one below the other.
fn rows(text: &mut String, elements: &DifferingElements, sides: Sides, page: PageWidth) {
    let head = elements.head();
    let width = page.behind(INDENT + head.width() + 1);
    let rows = elements.rows(width);
    field(text, sides.expected, &[format!("{head} {}", rows.expected)]);
    field(text, sides.actual, &[format!("{head} {}", rows.actual)]);
    field(text, "", &[format!("{:width$} {}", "", rows.marks, width = head.width())]);
}

/// Writes the name of a field and the lines of its value.
fn field(text: &mut String, name: &str, lines: &[String]) {
    for (number, line) in lines.iter().enumerate() {
        let name = if number == 0 { name } else { "" };
        let _ = writeln!(text, "{}", format!("  {name:<10} {line}").trim_end());
    }
}

/// Breaks a command line such that it still runs if copied.
fn command(line: &str, page: PageWidth) -> Vec<String> {
    const CONTINUED: &str = " \\";
    let Some(width) = page.behind(INDENT) else { return vec![line.to_owned()] };
    if line.width() <= width {
        return vec![line.to_owned()];
    }
    let mut lines = filled(shell_words(line), width.saturating_sub(CONTINUED.len()));
    let last = lines.len().saturating_sub(1);
    lines[..last].iter_mut().for_each(|line| line.push_str(CONTINUED));
    lines
}

/// The words of a shell command. Text in single quotes is one word.
fn shell_words(line: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    line.split(move |c| {
        quoted ^= c == '\'';
        c == ' ' && !quoted
    })
}

/// The beginning and the end of a long text, since the cause tends to be in the first or the last lines.
fn ends_of(text: &str) -> impl Iterator<Item = &str> {
    const SHOWN: usize = 8;
    let lines = text.lines().count();
    let beyond = lines > 2 * SHOWN;
    let first = text.lines().take(if beyond { SHOWN } else { lines });
    let last = text.lines().skip(if beyond { lines - SHOWN } else { lines });
    first.chain(beyond.then_some("…")).chain(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_continued_between_words_and_never_inside_quotes() {
        let line = "gatherspec run --case 'a b c d e f g' -- ./mine --fast";
        assert_eq!(
            command(line, PageWidth::wide(40)),
            ["gatherspec run --case \\", "'a b c d e f g' -- ./mine \\", "--fast"]
        );
        assert_eq!(command(line, PageWidth::wide(80)), [line]);
    }
}
