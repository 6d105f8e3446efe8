//! The failures of a backend: what is needed to mend each and to reproduce it.

use std::fmt::Write as _;

use crate::style;

use super::super::label::Label;
use super::super::{BackendReport, Entry};
use super::{Page, painted};

/// Writes every failure of a backend.
pub(super) fn all(text: &mut String, backend: &BackendReport, label: &Label, page: Page) {
    for entry in backend.failures() {
        failure(text, backend, label, entry, page);
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

fn failure(text: &mut String, backend: &BackendReport, label: &Label, entry: &Entry, _page: Page) {
    let _ = writeln!(text, "{} {} on {}", painted(style::BAD, entry.verdict.name()), entry.id, label.short());
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
