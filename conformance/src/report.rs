//! What a run found, and its forms: a matrix for people, JSON, JUnit and Markdown.

mod human;
mod junit;
mod markdown;

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use gather_spec::{Call, Case, DType, Profile};
use serde::Serialize;

use crate::backend::{Description, Identity};
use crate::interrupt;
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
    /// The signal by which the user has ended the run, if so: cases may lack their results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interrupted: Option<String>,
    /// What each backend did, in the order in which they were named.
    pub backends: Vec<BackendReport>,
}

/// What one backend did.
#[derive(Clone, Debug, Serialize)]
pub struct BackendReport {
    /// What the command line calls it: `reference:bad_index=zero`.
    pub argument: String,
    /// The options that a line which repeats a case needs besides the backend, such as `--cases my.yaml`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// Who it is.
    pub backend: Identity,
    /// Why it was not run: it could not be started, or fails whatever it is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
    /// Policies that it declares and the documents do not permit.
    pub departures: Vec<String>,
    /// What does not conform and is no case's: a departure without a reason, a reason without a departure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// What else was noticed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// The cases, in order.
    pub results: Vec<Entry>,
    /// What names it on a command line.
    #[serde(skip)]
    pub named: Named,
}

/// How a command line names a backend.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Named {
    /// By `--backend` and the argument.
    #[default]
    Option,
    /// By `--library` and the argument, which is a file.
    Library,
    /// By `--` and the argument, which is a command.
    Command,
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
    /// The dtypes that the call was sent in, where the case leaves some open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dtypes: Option<Dtypes>,
    /// The profile that it was judged under; absent if the operator is not supported.
    pub profile: Option<Profile>,
    /// The verdict.
    pub verdict: Verdict,
    /// What the verdict would be without deviations, where they make a difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<Verdict>,
    /// Why the deviation is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Where the deviation is talked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Whether users of the backend should know the deviation.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub finding: bool,
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
    /// What the backend wrote to its standard error meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
}

/// The dtypes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Dtypes {
    /// Of params.
    pub params: DType,
    /// Of indices.
    pub indices: DType,
}

impl fmt::Display for Dtypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {}", self.params, self.indices)
    }
}

impl Dtypes {
    fn of(call: &Call) -> Self {
        Self { params: call.params.dtype(), indices: call.indices.dtype() }
    }
}

impl Entry {
    /// What is reported of a case and its result.
    #[must_use]
    pub fn new(case: &Case, result: CaseResult) -> Self {
        let shown = |text: String| (result.verdict != Verdict::Pass).then_some(text);
        let sent = result.call.as_ref().filter(|_| case.open.is_open());
        Self {
            dtypes: sent.map(Dtypes::of),
            id: result.id,
            operator: case.call.operator.to_string(),
            clauses: case.clauses.clone(),
            profile: result.profile,
            verdict: result.verdict,
            observed: None,
            reason: None,
            link: None,
            finding: false,
            call: shown(crate::show::call_line(result.call.as_ref().unwrap_or(&case.call))),
            expected: shown(result.expected),
            actual: shown(result.actual),
            at: result.at,
            note: result.note,
            stderr: result.stderr,
        }
    }

    /// The verdict as it is shown: `crash`, or `known-deviation (crash)`.
    #[must_use]
    pub fn label(&self) -> String {
        match (self.verdict, self.observed) {
            (Verdict::KnownDeviation, Some(observed)) => format!("{} ({observed})", self.verdict),
            (verdict, _) => verdict.to_string(),
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
        Self {
            schema: SCHEMA,
            suite: env!("CARGO_PKG_VERSION").to_owned(),
            interrupted: None,
            backends: Vec::new(),
        }
    }

    /// Whether every backend was run, every verdict is fine and there are no other problems.
    #[must_use]
    pub fn conforms(&self) -> bool {
        let fine = |backend: &BackendReport| {
            backend.broken.is_none() && backend.problems.is_empty() && backend.failures().next().is_none()
        };
        self.backends.iter().all(fine)
    }

    /// Whether some backend was not run.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.backends.iter().any(|backend| backend.broken.is_some())
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
            broken: None,
            departures: departures(description, spec).into_iter().map(|(_, departure)| departure).collect(),
            problems: Vec::new(),
            remarks: Vec::new(),
            results: Vec::new(),
            named: Named::Option,
        }
    }

    /// A report on a backend that was not run.
    #[must_use]
    pub fn broken(argument: String, why: String) -> Self {
        let backend = Identity { name: argument.clone(), version: String::new(), language: String::new() };
        let description = Description { backend, operators: BTreeMap::new() };
        let nothing = gather_spec::Specification::default();
        Self { broken: Some(why), ..Self::new(argument, &description, &nothing) }
    }

    /// The entries whose verdict makes the exit status 1.
    pub fn failures(&self) -> impl Iterator<Item = &Entry> {
        self.results.iter().filter(|entry| !entry.verdict.is_fine())
    }

    /// How often each verdict occurs, for one operator.
    fn counts(&self, operator: &str) -> BTreeMap<(Verdict, Option<Verdict>), usize> {
        let mut counts = BTreeMap::new();
        for entry in self.results.iter().filter(|entry| entry.operator == operator) {
            let observed = entry.observed.filter(|_| entry.verdict == Verdict::KnownDeviation);
            *counts.entry((entry.verdict, observed)).or_default() += 1;
        }
        counts
    }

    /// The line that repeats one case.
    fn reproduce(&self, entry: &Entry) -> String {
        let sources: String = self.sources.iter().map(|source| format!("{source} ")).collect();
        let (argument, id) = (&self.argument, &entry.id);
        match self.named {
            Named::Option => format!("gatherspec run {sources}--backend {argument} --case '{id}'"),
            Named::Library => format!("gatherspec run {sources}--library {argument} --case '{id}'"),
            Named::Command => format!("gatherspec run {sources}--case '{id}' -- {argument}"),
        }
    }
}

/// Counts in words: `310 pass, 2 known-deviation (crash)`.
fn counts_in_words(counts: &BTreeMap<(Verdict, Option<Verdict>), usize>) -> String {
    let word = |((verdict, observed), count): (&(Verdict, Option<Verdict>), &usize)| match observed {
        Some(observed) => format!("{count} {verdict} ({observed})"),
        None => format!("{count} {verdict}"),
    };
    let words: Vec<String> = counts.iter().map(word).collect();
    if words.is_empty() { "-".to_owned() } else { words.join(", ") }
}

/// The operators of which a backend declares policies that the documents do not permit, and which.
pub(crate) fn departures(
    description: &Description,
    spec: &gather_spec::Specification,
) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (operator, capability) in &description.operators {
        let Some(page) = spec.operator(operator) else { continue };
        let Profile { bad_index, negative_index } = capability.profile;
        let mut depart = |policy: String| {
            let departure = format!("{operator} declares {policy}, which its documents do not permit");
            found.push((operator.clone(), departure));
        };
        if !page.profile.bad_index.contains(&bad_index) {
            depart(format!("bad_index={bad_index}"));
        }
        if !page.profile.negative_index.contains(&negative_index) {
            depart(format!("negative_index={negative_index}"));
        }
    }
    found
}

/// Writes a file so that it appears whole or not at all.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let _until_then = interrupt::writing();
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
