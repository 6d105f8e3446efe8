//! `gatherspec list`: what there is, for people and for programs.

use std::path::PathBuf;

use clap::ValueEnum as _;
use gather_spec::load::Wanted;
use gather_spec::{Basis, Case, Clause, Coverage, Profile, Signatures, Specification};
use serde_json::{Value, json};

use crate::adapters::{ADAPTERS, Adapter, Runtime};
use gather_conformance::builtin;
use gather_conformance::internals::select::Suite;
use gather_conformance::internals::words::counted;

use super::cases::{chosen_operators, read_files, selection, suites, wanted};
use super::ending::{Failure, Status};
use super::output::print;

#[derive(clap::Args)]
pub(super) struct ListArgs {
    /// What to list
    #[arg(value_enum)]
    what: What,
    /// List only cases or clauses of this operator, or of the operators that match this glob
    #[arg(long = "operator", value_name = "OPERATOR|GLOB")]
    operators: Vec<String>,
    /// List only the case with this id, or the cases that match this glob
    #[arg(long = "case", value_name = "ID|GLOB")]
    patterns: Vec<String>,
    /// List the cases of this file, of the .yaml files in this folder, or of stdin (`-`) instead of the built-in ones
    #[arg(long = "cases", value_name = "FILE|DIR|-")]
    files: Vec<PathBuf>,
    /// List only cases that test this clause, or the clauses that match this glob
    #[arg(long = "clause", value_name = "CLAUSE|GLOB")]
    clauses: Vec<String>,
    /// List only cases or clauses with this basis or a firmer one
    #[arg(long)]
    basis: Option<Basis>,
    /// List only cases of this suite
    #[arg(long, value_parser = suites())]
    suite: Option<Suite>,
    /// Format of the output: a line each, or a JSON array of objects
    #[arg(long, value_enum, default_value = "human")]
    format: ListFormat,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum What {
    Cases,
    Clauses,
    Operators,
    Questions,
    Backends,
    Documents,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum ListFormat {
    Human,
    Json,
}

/// A row, as text or as JSON.
enum ListRow {
    Line(String),
    Json(Value),
}

impl ListFormat {
    fn row(self, line: impl FnOnce() -> String, json: impl FnOnce() -> Value) -> ListRow {
        match self {
            Self::Human => ListRow::Line(line()),
            Self::Json => ListRow::Json(json()),
        }
    }
}

impl ListArgs {
    /// The cases that the list has or counts.
    pub(super) fn wanted<'a>(&'a self, all: &'a Signatures) -> Wanted<'a> {
        match self.what {
            What::Backends | What::Documents | What::Questions => Wanted::None,
            What::Cases if !self.files.is_empty() => Wanted::None,
            What::Cases if self.suite == Some(Suite::Large) => Wanted::Large,
            What::Cases if !self.clauses.is_empty() => Wanted::Usual,
            What::Cases | What::Clauses => wanted(all, &self.operators, &self.patterns),
            What::Operators => Wanted::Usual,
        }
    }

    pub(super) fn execute(&self, spec: &Specification) -> Result<Status, Failure> {
        self.check_filters()?;
        let of = chosen_operators(spec, &self.operators)?;
        let rows = match self.what {
            What::Cases => self.cases(spec, &of)?,
            What::Clauses => self.clauses(spec, &of),
            What::Operators => operators(spec, self.format),
            What::Questions => questions(spec, self.format),
            What::Backends => backends(&spec.signatures(), self.format),
            What::Documents => documents(spec, self.format),
        };
        let (mut lines, mut values) = (String::new(), Vec::new());
        for row in rows {
            match row {
                ListRow::Line(line) => lines.extend([&line, "\n"]),
                ListRow::Json(value) => values.push(value),
            }
        }
        print(&match self.format {
            ListFormat::Human => lines,
            ListFormat::Json => serde_json::to_string_pretty(&values).expect("plain data") + "\n",
        })?;
        Ok(Status::Conforms)
    }

    /// Rejects filters that do not apply to this list.
    fn check_filters(&self) -> Result<(), Failure> {
        let (cases, clauses) = (self.what == What::Cases, self.what == What::Clauses);
        let filters: [(&str, bool, bool); 6] = [
            ("--operator", !self.operators.is_empty(), cases || clauses),
            ("--case", !self.patterns.is_empty(), cases),
            ("--basis", self.basis.is_some(), cases || clauses),
            ("--suite", self.suite.is_some(), cases),
            ("--cases", !self.files.is_empty(), cases),
            ("--clause", !self.clauses.is_empty(), cases),
        ];
        if let Some((filter, ..)) = filters.iter().find(|(_, given, fits)| *given && !fits) {
            let what = self.what.to_possible_value().map(|value| value.get_name().to_owned());
            return Err(Failure::Usage(format!("`list {}` has no {filter}", what.unwrap_or_default())));
        }
        Ok(())
    }

    fn cases(&self, spec: &Specification, of: &[String]) -> Result<Vec<ListRow>, Failure> {
        let own = if self.files.is_empty() { None } else { Some(read_files(&self.files, spec)?) };
        let cases = own.as_ref().unwrap_or(&spec.cases);
        let selection = selection(cases, &self.patterns, of, self.basis)?.of_suite(self.suite);
        let selection = selection.of_clauses(&self.clauses, spec).map_err(Failure::Usage)?;
        Ok(cases
            .iter()
            .filter(|case| selection.wants(case))
            .map(|case| case_row(case, selection.count_runs(case), self.format))
            .collect())
    }

    fn clauses(&self, spec: &Specification, of: &[String]) -> Vec<ListRow> {
        let wanted = |id: &str| {
            let own = |name: &String| id.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
            of.is_empty() || of.iter().any(own)
        };
        let clauses = spec
            .clauses
            .iter()
            .filter(|clause| wanted(&clause.id) && self.basis.is_none_or(|weakest| clause.basis <= weakest));
        let clauses: Vec<&Clause> = clauses.collect();
        if self.format == ListFormat::Human {
            let line = |clause: &&Clause| {
                ListRow::Line(format!("{}  {}  {}", clause.id, clause.basis, clause.text.trim()))
            };
            return clauses.iter().map(line).collect();
        }
        let object = |(clause, coverage): (&&Clause, Coverage<'_>)| {
            let rejecting: Vec<&str> = coverage.rejecting.values().flatten().copied().collect();
            ListRow::Json(json!({
                "id": clause.id, "basis": clause.basis, "text": clause.text.trim(),
                "accepting": coverage.accepting, "rejecting": rejecting,
            }))
        };
        clauses.iter().zip(spec.coverage_of(&clauses)).map(object).collect()
    }
}

fn case_row(case: &Case, runs: usize, format: ListFormat) -> ListRow {
    let documented = || case.documented.as_ref().map(|id| format!("  documented {id}")).unwrap_or_default();
    let said = || if runs > 1 { format!("  {runs} runs") } else { String::new() };
    format.row(|| format!("{}  {}{}{}", case.id, case.basis, documented(), said()), || json!({
            "id": case.id, "operator": case.operator(), "runs": runs, "clauses": case.clauses, "documented": case.documented,
            "family": case.family, "basis": case.basis, "provenance": case.provenance, "history": case.history,
    }))
}

fn operators(spec: &Specification, format: ListFormat) -> Vec<ListRow> {
    let row = |page: &gather_spec::Signature| {
        let cases = spec.cases.iter().filter(|case| *case.operator() == page.operator).count();
        format.row(|| format!("{}  {}  {}", page.operator, counted(cases, "case"), page.summary.trim()), || json!({
                "id": page.operator, "summary": page.summary.trim(), "documents": page.documents, "cases": cases,
                "signature": page,
        }))
    };
    spec.operators.iter().map(row).collect()
}

fn questions(spec: &Specification, format: ListFormat) -> Vec<ListRow> {
    let row = |question: &gather_spec::question::Question| {
        format.row(|| format!("{}  {}", question.id, question.question), || json!(question))
    };
    spec.questions.iter().map(row).collect()
}

fn backends(signatures: &Signatures, format: ListFormat) -> Vec<ListRow> {
    let row = |name: &&str| {
        let backend = builtin::backend_of(signatures, name, Profile::default(), builtin::MAX_OUTPUT)?;
        let description = backend.describe();
        let operators: Vec<&str> = description.operators.keys().map(String::as_str).collect();
        let levels = builtin::levels(name);
        let words = if levels.is_empty() { String::new() } else { format!("  levels {}", levels.join(" ")) };
        Some(format.row(|| format!("{name}  {}  {}{words}", description.backend.version, operators.join(" ")), || json!({
                "id": name, "version": description.backend.version, "language": description.backend.language,
                "operators": operators, "levels": levels,
        })))
    };
    let adapter = |adapter: &Adapter| {
        let manifest = adapter.manifest();
        let language = match manifest.runtime() {
            Runtime::Python => "Python",
            Runtime::Node => "JavaScript",
        };
        format.row(
            || format!("{}  adapter: {}", manifest.name, manifest.summary),
            || {
                json!({
                        "id": manifest.name, "language": language, "summary": manifest.summary,
                        "download": manifest.download,
                })
            },
        )
    };
    builtin::NAMES.iter().filter_map(row).chain(ADAPTERS.iter().map(adapter)).collect()
}

fn documents(spec: &Specification, format: ListFormat) -> Vec<ListRow> {
    let row = |document: &gather_spec::clause::Document| {
        format
            .row(|| format!("{}  {}  {}", document.id, document.title, document.address), || json!(document))
    };
    spec.documents.iter().map(row).collect()
}
