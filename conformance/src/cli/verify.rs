//! `gatherspec verify`: computes the conformance statements of a report again, offline.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use gather_spec::load::Wanted;
use gather_spec::{Case, Specification};

use crate::report::{BackendReport, CaseSet, Saved, Statement, digests};
use crate::words::{counted, name};

use super::cases::read_files;
use super::ending::{Failure, Status};
use super::output::{complain, print};

#[derive(clap::Args)]
pub(super) struct Verify {
    /// Report of a run: its report.json
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Case files of the run, if it had --cases
    #[arg(long = "cases", value_name = "FILE|DIR")]
    files: Vec<PathBuf>,
    /// Format of the statements: for people, or a JSON array of objects
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Format {
    Human,
    Json,
}

impl Verify {
    /// Reads the report, loads the cases that it needs, and verifies it.
    pub(super) fn execute(
        &self,
        load: impl FnOnce(&Wanted<'_>) -> Result<Specification, Failure>,
    ) -> Result<Status, Failure> {
        let saved = Saved::read(&self.file).map_err(Failure::Usage)?;
        let own = env!("CARGO_PKG_VERSION");
        if saved.suite != own {
            return Err(Failure::Usage(format!(
                "{}: this report is of suite {}, and this program holds the cases of suite {own}\nhelp: verify it with \
                 gatherspec {}",
                self.file.display(),
                name(&saved.suite),
                name(&saved.suite)
            )));
        }
        let is_large = saved.backends.iter().flat_map(|one| &one.sources).any(|one| one == "--suite large");
        let spec = load(match (self.files.is_empty(), is_large) {
            (false, _) => &Wanted::None,
            (true, true) => &Wanted::Large,
            (true, false) => &Wanted::Usual,
        })?;
        let own = if self.files.is_empty() { None } else { Some(read_files(&self.files, &spec)?) };
        let cases = own.as_ref().unwrap_or(&spec.cases);
        self.conclude(saved, &spec, cases)
    }

    fn conclude(&self, saved: Saved, spec: &Specification, cases: &[Case]) -> Result<Status, Failure> {
        let by_id: HashMap<&str, &Case> = cases.iter().map(|case| (case.id.as_str(), case)).collect();
        let (mut text, mut statements, mut fine) = (String::new(), Vec::new(), true);
        for backend in saved.backends {
            let who = format!("{} {}", backend.backend.name, backend.backend.version);
            match verified(backend, &saved.suite, spec, &by_id) {
                Ok(Some(statement)) => {
                    text.push_str(&in_words(&statement, cases.len()));
                    statements.push(statement);
                }
                Ok(None) => text.push_str(&format!("{}: not run, so there is no statement\n", who.trim())),
                Err(what) => {
                    fine = false;
                    complain(format_args!(
                        "error: {}: the statement on {} does not hold: {what}",
                        self.file.display(),
                        name(who.trim())
                    ));
                }
            }
        }
        print(&match self.format {
            Format::Human => text,
            Format::Json => serde_json::to_string_pretty(&statements).expect("plain data") + "\n",
        })?;
        Ok(if fine { Status::Conforms } else { Status::DoesNotConform })
    }
}

/// The statement of a report, if its results and these cases give the same; `None` if the backend was not run.
fn verified(
    mut backend: BackendReport,
    suite: &str,
    spec: &Specification,
    by_id: &HashMap<&str, &Case>,
) -> Result<Option<Statement>, String> {
    let Some(stated) = backend.statement.take() else {
        return if backend.broken.is_some() { Ok(None) } else { Err("the report has none".to_owned()) };
    };
    let mut seen = BTreeSet::new();
    let mut cases = Vec::with_capacity(backend.results.len());
    for entry in &backend.results {
        let case = by_id.get(entry.id.as_str()).copied().ok_or_else(|| {
            format!(
                "this suite has no case `{}`\nhelp: name the case files of the run by --cases, or its specification by --spec",
                name(&entry.id)
            )
        })?;
        if !seen.insert(case.id.as_str()) {
            return Err(format!("the case `{}` occurs twice", case.id));
        }
        if entry.operator != case.call.operator.as_str() || entry.clauses != case.clauses {
            return Err(format!("the operator or the clauses of the case `{}` were altered", case.id));
        }
        cases.push(case);
    }
    let summary = std::mem::take(&mut backend.summary);
    backend.conclude(&cases, spec);
    let digests = digests(&cases);
    let set = CaseSet::new(cases.iter().map(|case| case.id.as_str()).zip(digests.iter().map(String::as_str)));
    let computed = Statement::new(suite, &backend, set);
    let [stated_json, computed_json] = [&stated, &computed].map(fields);
    for (field, said) in &stated_json {
        let found = computed_json.get(field).cloned().unwrap_or_default();
        if *said != found {
            return Err(format!("`{field}` is {said}, but the report and this suite give {found}"));
        }
    }
    if as_json(&summary) != as_json(&backend.summary) {
        return Err(format!(
            "the summary says `{}`, but the results give `{}`",
            name(&summary.sentence),
            backend.summary.sentence
        ));
    }
    Ok(Some(stated))
}

fn as_json(value: &impl serde::Serialize) -> serde_json::Value {
    serde_json::to_value(value).expect("plain data")
}

/// The fields of a statement as texts, those within a field by path.
fn fields(statement: &Statement) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let value = as_json(statement);
    for (key, value) in value.as_object().into_iter().flatten() {
        match value.as_object() {
            Some(inner) if matches!(key.as_str(), "cases" | "backend") => {
                found.extend(inner.iter().map(|(name, value)| (format!("{key}.{name}"), value.to_string())));
            }
            _ => _ = found.insert(key.clone(), value.to_string()),
        }
    }
    found
}

/// A statement for people.
fn in_words(statement: &Statement, all: usize) -> String {
    let Statement { suite, cases, backend, profile, verdicts, campaign, failures, .. } = statement;
    let share = if cases.count == all { "all".to_owned() } else { format!("{} of", cases.count) };
    let counts = |counts: &BTreeMap<crate::judge::Verdict, String>| {
        let words: Vec<String> = counts.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect();
        words.join(", ")
    };
    let mut lines = vec![
        format!("{} {}: the statement holds", backend.name, backend.version),
        format!("  suite     {suite}, {share} {}", counted(all, "case")),
        format!("  digest    sha256 {}", cases.sha256),
    ];
    let mut policies: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (operator, declared) in profile {
        policies.entry(declared.to_string()).or_default().push(operator);
    }
    for (declared, operators) in policies {
        lines.push(format!("  profile   {declared}: {}", operators.join(", ")));
    }
    lines.push(format!(
        "  verdicts  {}",
        counts(&verdicts.iter().map(|(one, count)| (*one, count.to_string())).collect())
    ));
    for part in campaign {
        let failed = counts(&part.verdicts.iter().map(|(one, count)| (*one, count.to_string())).collect());
        let failed = if failed.is_empty() { String::new() } else { format!(": {failed}") };
        lines.push(format!(
            "  campaign  {} {} of seed {}{failed}",
            part.compared,
            part.part.title(),
            part.seed
        ));
    }
    lines.push(format!("  failures  {failures}\n"));
    lines.join("\n")
}
