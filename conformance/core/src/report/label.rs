//! How a report names backends: by the declared name and version, plus the command-line argument where that says more.

use crate::words::printable;

use super::found::BackendReport;

/// The most characters of a name or an argument to show.
const LONGEST: usize = 48;

/// The names of one backend in a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The declared name and version: `cpp-kernel 0.1`.
    pub identity: String,
    /// The argument, if it differs from the name: `./libmine.so`.
    pub argument: Option<String>,
    /// The declared name alone.
    name: String,
    /// Whether another backend of the report has the same identity.
    ambiguous: bool,
}

impl Label {
    /// The name at the start of a line. Includes the argument only if two backends would otherwise look the same.
    pub fn short(&self) -> String {
        match &self.argument {
            Some(argument) if self.ambiguous => format!("{} ({argument})", self.identity),
            _ => self.identity.clone(),
        }
    }

    /// The name alone, or the argument if two backends have the same identity.
    pub fn name(&self) -> &str {
        self.argument.as_deref().filter(|_| self.ambiguous).unwrap_or(&self.name)
    }

    /// The name in a heading. Always includes the argument if it differs.
    pub fn full(&self) -> String {
        match &self.argument {
            Some(argument) => format!("{} ({argument})", self.identity),
            None => self.identity.clone(),
        }
    }
}

impl Label {
    /// The label of each backend of a report, in order.
    pub fn of_all(backends: &[BackendReport]) -> Vec<Self> {
        let identities: Vec<String> = backends.iter().map(identity).collect();
        let label = |(backend, identity): (&BackendReport, &String)| Self {
            identity: identity.clone(),
            name: plain(&backend.backend.name),
            argument: (backend.argument != backend.backend.name).then(|| plain(&backend.argument)),
            ambiguous: identities.iter().filter(|other| *other == identity).count() > 1,
        };
        backends.iter().zip(&identities).map(label).collect()
    }
}

/// The declared name and version.
pub fn identity(backend: &BackendReport) -> String {
    let parts = [&backend.backend.name, &backend.backend.version].map(|part| plain(part));
    parts.join(" ").trim().to_owned()
}

/// A text from outside as one line, with its middle cut out if it is long.
fn plain(text: &str) -> String {
    shortened(&printable(&text.replace(['\n', '\t'], " ")), LONGEST)
}

/// A text of at most `longest` characters. A longer one loses its middle.
pub fn shortened(text: &str, longest: usize) -> String {
    let count = text.chars().count();
    if count <= longest {
        return text.to_owned();
    }
    let half = longest / 2;
    let start: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(count + half + 1 - longest).collect();
    format!("{start}…{end}")
}
