//! Markdown: the matrix as a table, and the failures below it.

use std::fmt::Write as _;

use super::{Report, counts_in_words};

pub(super) fn render(report: &Report) -> String {
    let mut text = format!("# GatherSpec {}\n\n| operator |", report.suite);
    for backend in &report.backends {
        let _ = write!(text, " {} |", escaped(&backend.argument));
    }
    text.push_str("\n| --- |");
    text.push_str(&" --- |".repeat(report.backends.len()));
    text.push('\n');
    for operator in report.operators() {
        let _ = write!(text, "| {} |", escaped(operator));
        for backend in &report.backends {
            let _ = write!(text, " {} |", counts_in_words(&backend.counts(operator)));
        }
        text.push('\n');
    }
    for backend in &report.backends {
        let identity = &backend.backend;
        let _ = writeln!(
            text,
            "\n## {}\n\n{} {} ({})",
            escaped(&backend.argument),
            identity.name,
            identity.version,
            identity.language
        );
        let broken = backend.broken.iter().map(|why| format!("not run: {}", why.replace('\n', " ")));
        let said = backend.departures.iter().chain(&backend.problems).chain(&backend.remarks).cloned();
        for line in broken.chain(said) {
            let _ = writeln!(text, "- {}", escaped(&line));
        }
        for entry in &backend.results {
            if let Some(reason) = &entry.reason {
                let _ = writeln!(text, "- {} {}: {}", entry.label(), escaped(&entry.id), escaped(reason));
            }
        }
        for entry in backend.failures() {
            let _ = writeln!(text, "\n### {}: {}\n", entry.verdict, escaped(&entry.id));
            let mut line = |name: &str, value: &Option<String>| {
                let _ =
                    writeln!(text, "- {name}: `{}`", value.as_deref().unwrap_or_default().replace('`', "'"));
            };
            line("call", &entry.call);
            line("expected", &entry.expected);
            line("actual", &entry.actual);
            let _ = writeln!(text, "- reproduce: `{}`", backend.reproduce(entry));
        }
    }
    text
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('|', "\\|").replace('_', "\\_").replace('*', "\\*").replace('[', "\\[")
}
