//! `gatherspec check`: checks case files against the format, the clauses and the reference, clause files against the
//! documents, and a page against the text that its clauses were read from.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use gather_spec::clause::Document;
use gather_spec::load::{Ledger, Wanted, family_folder, operator_folder};
use gather_spec::{Case, Clause, Diagnostic, Outcome, Profile, Run, Signatures, Specification};
use sha2::{Digest, Sha256};

use gather_conformance::builtin;
use gather_conformance::internals::files::read_bytes;
use gather_conformance::internals::judge::{Strictness, Verdict};
use gather_conformance::internals::judged::{Judged, RunResult};
use gather_conformance::internals::words::counted;

use super::ending::{Failure, Status};
use super::output::{complain, print};

/// The largest output to ask the reference for, in bytes.
const MOST_OUTPUT: u64 = 256 << 20;

/// The largest page to read, in bytes.
const LARGEST_PAGE: u64 = 64 << 20;

#[derive(clap::Args)]
pub(super) struct CheckArgs {
    /// Files to lint: case files, or files called operator.yaml, clauses.yaml, errata.yaml, inventory.yaml or
    /// questions.yaml
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Compare FILE, the present text of this document, with the text that was read; name the clauses to read again
    #[arg(long, value_name = "ID")]
    document: Option<String>,
}

impl CheckArgs {
    /// The cases that say anything about the files.
    pub(super) fn wanted<'a>(&self, all: &'a Signatures) -> Wanted<'a> {
        let mut operators = Vec::new();
        for file in self.files.iter().filter(|_| self.document.is_none()) {
            match file.file_name().and_then(OsStr::to_str) {
                Some("questions.yaml") => return Wanted::Usual,
                Some("clauses.yaml") if family_folder(file).is_none() => {
                    match operator_folder(file).and_then(|operator| all.get(&operator)) {
                        Some(page) => operators.push(page.operator.as_str()),
                        None => return Wanted::Usual,
                    }
                }
                _ => {}
            }
        }
        if operators.is_empty() { Wanted::None } else { Wanted::Of(operators) }
    }

    pub(super) fn execute(&self, spec: &Specification) -> Result<Status, Failure> {
        match &self.document {
            None => self.spec_files(spec),
            Some(id) => self.page(spec, id),
        }
    }

    fn spec_files(&self, spec: &Specification) -> Result<Status, Failure> {
        let mut wrong: Vec<Diagnostic> = Vec::new();
        for file in &self.files {
            match lint(spec, file) {
                Ok(Linted { count, warnings }) => {
                    print(&format!("{}: {count}\n", file.display()))?;
                    warnings.iter().for_each(complain);
                }
                Err(diagnostics) => wrong.extend(diagnostics),
            }
        }
        if wrong.is_empty() { Ok(Status::Conforms) } else { Err(Failure::Files(wrong)) }
    }

    fn page(&self, spec: &Specification, id: &str) -> Result<Status, Failure> {
        let document = spec.documents.iter().find(|document| document.id == id).ok_or_else(|| {
            let known: Vec<&str> = spec.documents.iter().map(|document| document.id.as_str()).collect();
            Failure::Usage(format!("unknown document `{id}`\nhelp: name one of {}", known.join(" ")))
        })?;
        let [file] = self.files.as_slice() else {
            return Err(Failure::Usage("--document takes exactly one FILE".to_owned()));
        };
        let found = digest(file)?;
        if found == document.sha256 {
            print(&format!("{}: unchanged since its clauses were read\n", document.id))?;
            return Ok(Status::Conforms);
        }
        print(&to_read_again(spec, document, &found))?;
        Ok(Status::DoesNotConform)
    }
}

/// What a valid file contains, with warnings.
struct Linted {
    count: String,
    warnings: Vec<String>,
}

/// Checks a file according to its name.
fn lint(spec: &Specification, file: &Path) -> Result<Linted, Vec<Diagnostic>> {
    let one = |diagnostic| vec![diagnostic];
    Ok(match file.file_name().and_then(OsStr::to_str) {
        Some("clauses.yaml") if family_folder(file).is_some() => {
            let clauses = Specification::read_family_clauses(file).map_err(one)?;
            Linted { count: counted(clauses.len(), "clause"), warnings: Vec::new() }
        }
        Some("clauses.yaml") => {
            let clauses = spec.read_clause_file(file).map_err(one)?;
            let warnings = clauses_without_cases(spec, &clauses);
            Linted { count: counted(clauses.len(), "clause"), warnings }
        }
        Some("errata.yaml" | "inventory.yaml") => {
            let count = match Specification::read_ledger(file).map_err(one)? {
                Ledger::Examples(count) => counted(count, "example"),
                Ledger::Rulings(count) => counted(count, "ruling"),
            };
            Linted { count, warnings: Vec::new() }
        }
        Some("questions.yaml") => {
            let questions = spec.read_question_file(file).map_err(one)?;
            Linted { count: counted(questions.len(), "question"), warnings: Vec::new() }
        }
        Some("operator.yaml") => {
            spec.read_operator_file(file).map_err(one)?;
            Linted { count: counted(1usize, "operator"), warnings: Vec::new() }
        }
        _ => {
            let cases = spec.read_case_file(file)?;
            let warnings = cases.iter().flat_map(Case::runs).filter_map(|run| surprise(spec, &run)).collect();
            Linted { count: counted(cases.len(), "case"), warnings }
        }
    })
}

/// A warning if the reference disagrees with a case. It is no error, since the reference may be wrong.
fn surprise(spec: &Specification, run: &Run) -> Option<String> {
    let permitted = spec.operator(run.call.operator.as_str())?.permitted();
    // If the call chooses the policy, the declared one means nothing.
    let counts = |profile: &Profile| {
        permitted.map_or(*profile == Profile::default(), |permitted| permitted.permits(*profile))
    };
    Profile::all_specified().filter(counts).find_map(|profile| {
        let mut reference = builtin::backend("reference", profile, MOST_OUTPUT)?;
        let description = reference.describe();
        let judged = Judged::new(&description, run, Strictness::Strict).ok()?;
        // Without memory for sparse params, nothing can be compared.
        let judged = if run.sparse.is_some() { judged.spread().ok()? } else { judged };
        let outcome = reference.call(judged.call());
        let result = judged.answered(&outcome, None);
        let differs = result.verdict != Verdict::Pass && !matches!(outcome, Outcome::Unsupported(_));
        let RunResult { verdict, expected, actual, .. } = result;
        differs.then(|| {
            format!(
                "warning: {}: the reference does not answer this ({verdict})\n  profile    {profile}\n  \
                 expected   {expected}\n  reference  {actual}",
                run.id
            )
        })
    })
}

/// Warnings for the clauses of a file under which no case accepts, or no case rejects as the clause says.
fn clauses_without_cases(spec: &Specification, clauses: &[Clause]) -> Vec<String> {
    let mut warnings = Vec::new();
    for (clause, coverage) in clauses.iter().zip(spec.coverage_of(&clauses.iter().collect::<Vec<_>>())) {
        if coverage.accepting.is_empty() {
            warnings.push(format!("warning: no case accepts under {}", clause.id));
        }
        let idle = clause.rejects.iter().filter(|code| !coverage.rejecting.contains_key(code));
        warnings.extend(idle.map(|code| format!("warning: no case rejects under {} ({code})", clause.id)));
    }
    warnings
}

/// The SHA-256 of a file.
fn digest(path: &Path) -> Result<String, Failure> {
    let bytes = read_bytes(path, LARGEST_PAGE).map_err(Failure::Usage)?;
    Ok(Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// The clauses that rest on a page, by section, and the errata that quote it.
fn to_read_again(spec: &Specification, document: &Document, found: &str) -> String {
    let mut text = format!(
        "{} has changed: its SHA-256 is {found}, that of the text read is {}\nclauses to read again:\n",
        document.id, document.sha256
    );
    for section in &document.sections {
        let on_it = |clause: &&Clause| {
            clause.sources.iter().any(|source| source.document == document.id && source.section == *section)
        };
        let clauses: Vec<&str> = spec.clauses.iter().filter(on_it).map(|clause| clause.id.as_str()).collect();
        if !clauses.is_empty() {
            let _ = writeln!(text, "  {section}\n    {}", clauses.join("\n    "));
        }
    }
    let errata = spec.errata.iter().filter(|erratum| erratum.documents.contains(&document.id));
    let errata: Vec<&str> = errata.map(|erratum| erratum.id.as_str()).collect();
    let _ = writeln!(text, "rulings to read again:\n    {}", errata.join("\n    "));
    text
}
