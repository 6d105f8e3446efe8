//! What a run found, and its forms: a matrix for people, JSON, JUnit and Markdown.

mod human;
mod junit;
mod markdown;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use gather_spec::{Case, Profile};
use serde::Serialize;

use crate::backend::{Description, Identity};
use crate::judge::Verdict;
use crate::runner::CaseResult;

/// The version of the JSON form.
pub const SCHEMA: u32 = 1;

/// What a run found.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Version of this form.
    pub schema: u32,
    /// The version of the suite.
    pub suite: String,
    /// What each backend did, in the order in which they were named.
    pub backends: Vec<BackendReport>,
}

/// What one backend did.
#[derive(Clone, Debug, Serialize)]
pub struct BackendReport {
    /// What the command line calls it: `reference:bad_index=zero`.
    pub argument: String,
    /// The options that said where the cases come from, such as `--cases my.yaml`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// Who it is.
    pub backend: Identity,
    /// Policies that it declares and the documents do not permit.
    pub departures: Vec<String>,
    /// The cases, in order.
    pub results: Vec<Entry>,
}

/// What became of one case.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// The case.
    pub id: String,
    /// Its operator.
    pub operator: String,
    /// The clauses that it tests.
    pub clauses: Vec<String>,
    /// The profile that it was judged under; absent if the operator is not supported.
    pub profile: Option<Profile>,
    /// The verdict.
    pub verdict: Verdict,
    /// The call, in words; given for all but a pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// What was allowed, in words; likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What was answered, in words; likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<String>,
    /// The layout and number of threads at which the verdict fell, unless at the first run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// What was not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Entry {
    /// What is reported of a case and its result.
    #[must_use]
    pub fn new(case: &Case, result: CaseResult) -> Self {
        let shown = |text: String| (result.verdict != Verdict::Pass).then_some(text);
        Self {
            id: result.id,
            operator: case.call.operator.to_string(),
            clauses: case.clauses.clone(),
            profile: result.profile,
            verdict: result.verdict,
            call: shown(crate::show::call_line(&case.call)),
            expected: shown(result.expected),
            actual: shown(result.actual),
            at: result.at,
            note: result.note,
        }
    }
}

/// The form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// A matrix, and every failure with a line to reproduce it.
    Human,
    /// One JSON object.
    Json,
    /// JUnit XML.
    Junit,
    /// Markdown, for a page or a pull request.
    Markdown,
}

impl Report {
    /// An empty report of this version of the suite.
    #[must_use]
    pub fn new() -> Self {
        Self { schema: SCHEMA, suite: env!("CARGO_PKG_VERSION").to_owned(), backends: Vec::new() }
    }

    /// Whether every verdict is fine.
    #[must_use]
    pub fn conforms(&self) -> bool {
        self.backends.iter().all(|backend| backend.failures().next().is_none())
    }

    /// The report in a form.
    #[must_use]
    pub fn render(&self, format: Format) -> String {
        match format {
            Format::Human => human::render(self),
            Format::Json => serde_json::to_string_pretty(self).expect("a report is plain data") + "\n",
            Format::Junit => junit::render(self),
            Format::Markdown => markdown::render(self),
        }
    }

    /// Writes `report.json`, `report.xml` and `report.md`, each whole or not at all; gives the folder.
    ///
    /// # Errors
    /// If the folder or a file cannot be written.
    pub fn write(&self, folder: &Path) -> io::Result<PathBuf> {
        std::fs::create_dir_all(folder)?;
        let files =
            [("report.json", Format::Json), ("report.xml", Format::Junit), ("report.md", Format::Markdown)];
        for (name, format) in files {
            write_whole(&folder.join(name), self.render(format).as_bytes())?;
        }
        Ok(folder.to_owned())
    }

    /// The operators that occur, in order.
    fn operators(&self) -> Vec<&str> {
        let entries = self.backends.iter().flat_map(|backend| &backend.results);
        let mut operators: Vec<&str> = entries.map(|entry| entry.operator.as_str()).collect();
        operators.sort_unstable();
        operators.dedup();
        operators
    }
}

impl Default for Report {
    fn default() -> Self {
        Self::new()
    }
}

impl BackendReport {
    /// A report on a backend of which nothing is known but its description.
    #[must_use]
    pub fn new(argument: String, description: &Description, spec: &gather_spec::Specification) -> Self {
        Self {
            argument,
            sources: Vec::new(),
            backend: description.backend.clone(),
            departures: departures(description, spec),
            results: Vec::new(),
        }
    }

    /// The entries whose verdict makes the exit status 1.
    pub fn failures(&self) -> impl Iterator<Item = &Entry> {
        self.results.iter().filter(|entry| !entry.verdict.is_fine())
    }

    /// How often each verdict occurs, for one operator.
    fn counts(&self, operator: &str) -> BTreeMap<Verdict, usize> {
        let mut counts = BTreeMap::new();
        for entry in self.results.iter().filter(|entry| entry.operator == operator) {
            *counts.entry(entry.verdict).or_default() += 1;
        }
        counts
    }

    /// The line that repeats one case.
    fn reproduce(&self, entry: &Entry) -> String {
        let sources: String = self.sources.iter().map(|source| format!("{source} ")).collect();
        format!("gatherspec run {sources}--backend {} --case '{}'", self.argument, entry.id)
    }
}

/// Counts in words: `310 pass, 2 wrong-output`.
fn counts_in_words(counts: &BTreeMap<Verdict, usize>) -> String {
    let words: Vec<String> = counts.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect();
    if words.is_empty() { "-".to_owned() } else { words.join(", ") }
}

/// The policies of a backend that the documents do not permit.
fn departures(description: &Description, spec: &gather_spec::Specification) -> Vec<String> {
    let mut found = Vec::new();
    for (operator, capability) in &description.operators {
        let Some(page) = spec.operator(operator) else { continue };
        let Profile { bad_index, negative_index } = capability.profile;
        if !page.profile.bad_index.contains(&bad_index) {
            found.push(format!(
                "{operator} declares bad_index={bad_index}, which its documents do not permit"
            ));
        }
        if !page.profile.negative_index.contains(&negative_index) {
            found.push(format!(
                "{operator} declares negative_index={negative_index}, which its documents do not permit"
            ));
        }
    }
    found
}

/// Writes a file so that it appears whole or not at all.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    #[cfg(unix)]
    {
        // A temporary file is private; a report is not.
        use std::os::unix::fs::PermissionsExt;
        file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))?;
    }
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
