//! `gatherspec check`: case files against the format and the clauses, a page against the text that was read.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use gather_spec::clause::Document;
use gather_spec::{Diagnostic, Specification};
use sha2::{Digest, Sha256};

use crate::words::counted;

use super::{Failure, Status, print};

#[derive(clap::Args)]
pub(super) struct Check {
    /// Case files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// FILE is the present text of this document; say which clauses to read again if it has changed
    #[arg(long, value_name = "ID")]
    document: Option<String>,
}

impl Check {
    /// Checks the files; of a broken specification only the rest is of interest, so it is loaded here.
    pub(super) fn execute(
        &self,
        load: impl FnOnce() -> Result<Specification, Failure>,
    ) -> Result<Status, Failure> {
        let spec = load()?;
        match &self.document {
            None => self.case_files(&spec),
            Some(id) => self.page(&spec, id),
        }
    }

    fn case_files(&self, spec: &Specification) -> Result<Status, Failure> {
        let mut wrong: Vec<Diagnostic> = Vec::new();
        for file in &self.files {
            match spec.read_case_file(file) {
                Ok(cases) => print(&format!("{}: {}\n", file.display(), counted(cases.len(), "case")))?,
                Err(diagnostics) => wrong.extend(diagnostics),
            }
        }
        if wrong.is_empty() { Ok(Status::Conforms) } else { Err(Failure::Files(wrong)) }
    }

    fn page(&self, spec: &Specification, id: &str) -> Result<Status, Failure> {
        let document = spec.documents.iter().find(|document| document.id == id).ok_or_else(|| {
            let known: Vec<&str> = spec.documents.iter().map(|document| document.id.as_str()).collect();
            Failure::Usage(format!("unknown document `{id}`: one of {} is expected", known.join(" ")))
        })?;
        let [file] = self.files.as_slice() else {
            return Err(Failure::Usage("--document compares exactly one FILE".to_owned()));
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

/// The SHA-256 of a file, read piece by piece.
fn digest(path: &Path) -> Result<String, Failure> {
    let cannot = |error: std::io::Error| Failure::Usage(format!("{}: {error}", path.display()));
    let mut file = std::fs::File::open(path).map_err(cannot)?;
    let mut hasher = Hasher(Sha256::new());
    std::io::copy(&mut file, &mut hasher).map_err(cannot)?;
    Ok(hasher.0.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

struct Hasher(Sha256);

impl std::io::Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The clauses that rest on a page, section by section, and the errata that quote it.
fn to_read_again(spec: &Specification, document: &Document, found: &str) -> String {
    let mut text = format!(
        "{} has changed: its SHA-256 is {found}, that of the text read is {}\nclauses to read again:\n",
        document.id, document.sha256
    );
    for section in &document.sections {
        let on_it = |clause: &&gather_spec::Clause| {
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
