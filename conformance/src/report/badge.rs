//! Badges: a file for each backend in the form that the endpoint badge of shields.io reads.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

use gather_conformance::internals::files::write_whole;

use super::{BackendReport, Ending, Report};
use super::{identity, shortened};

/// The most characters of a name in a file's name, and of a text on a badge.
const LONGEST: usize = 60;

/// Writes `badge-NAME.json` for each backend. A second one of the same name gets a number.
///
/// # Errors
/// If a file cannot be written.
pub(super) fn write_badges(report: &Report, folder: &Path) -> io::Result<()> {
    let mut names = BTreeSet::new();
    for backend in &report.backends {
        let path = folder.join(format!("badge-{}.json", unique(&file_name(backend), &mut names)));
        let text = serde_json::to_string_pretty(&badge(backend)).expect("a badge is plain data") + "\n";
        write_whole(&path, text.as_bytes())?;
    }
    Ok(())
}

/// The name of the backend, as part of a file's name. One that was not run has said no name but its argument.
fn file_name(backend: &BackendReport) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    backend.backend.name.chars().map(plain).take(LONGEST).collect()
}

/// The name, with a number if it is taken.
fn unique(name: &str, taken: &mut BTreeSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut free = std::iter::once(name.to_owned()).chain(numbered);
    free.find(|name| taken.insert(name.clone())).expect("numbers do not end")
}

/// The badge of a backend.
fn badge(backend: &BackendReport) -> Value {
    let asked = backend.summary.asked();
    let (message, color) = match backend.summary.ending {
        Ending::Conforms => match backend.summary.conforms_for() {
            None => (format!("{} cases pass", asked.asked), "brightgreen"),
            Some(declared) => (shortened(&format!("conforms for {declared}"), LONGEST), "brightgreen"),
        },
        Ending::ConformsBut => ("conforms but for known deviations".to_owned(), "green"),
        Ending::AskedInPart => ("not every clause tested".to_owned(), "yellow"),
        Ending::NothingAsked => ("nothing asked".to_owned(), "lightgrey"),
        Ending::Fails => (format!("{} failing", backend.summary.failures), "red"),
        Ending::NotRun => ("not run".to_owned(), "lightgrey"),
    };
    let label = format!("gatherspec: {}", identity(backend));
    json!({
        "schemaVersion": 1,
        "label": shortened(&label, LONGEST),
        "message": message,
        "color": color,
        "isError": matches!(backend.summary.ending, Ending::Fails | Ending::NotRun),
    })
}
