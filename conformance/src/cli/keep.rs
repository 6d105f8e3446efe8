//! The files that a run writes: the report, results, a draft of deviations. All paths are checked before the run starts.
//! Afterwards, a file that cannot be written does not prevent the others.

use std::io;
use std::path::{Path, PathBuf};

use std::sync::Arc;

use gather_spec::{Case, Specification};

use crate::report::{self, BackendReport, FILES, PAGE, Report};
use crate::results::Results;
use gather_conformance::internals::deviations::{self, Deviations};
use gather_conformance::internals::files::{check_writable, write_whole};
use gather_conformance::internals::reproduction::BackendNaming;

use super::output::complain;

/// Where to write the files of a run.
pub(super) struct RunFiles {
    /// The folder of the report as given, and as an absolute path, since the working folder may change.
    folder: PathBuf,
    anchored: PathBuf,
    results: Option<PathBuf>,
    draft: Option<PathBuf>,
}

impl RunFiles {
    /// Checks that everything can be written.
    ///
    /// # Errors
    /// What cannot be written, and why.
    pub(super) fn new(folder: PathBuf, results: Option<&Path>, draft: Option<&Path>) -> Result<Self, String> {
        let kept = Self {
            anchored: anchored(&folder),
            results: results.map(anchored),
            draft: draft.map(anchored),
            folder,
        };
        for folder in std::iter::once(&kept.anchored).chain(&kept.results) {
            std::fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
        }
        let names = FILES.iter().map(|(name, _)| *name).chain([PAGE]);
        let files: Vec<PathBuf> = names.map(|name| kept.anchored.join(name)).collect();
        for file in files.iter().chain(&kept.draft) {
            check_writable(file).map_err(|error| cannot_write(file, &error))?;
        }
        let lost = draft.and_then(|path| Some((path, Deviations::lost_by_a_draft(path)?)));
        match lost {
            Some((path, what)) => Err(format!(
                "{} holds {what}, which a draft in its place would lose\nhelp: name another file",
                path.display()
            )),
            None => Ok(kept),
        }
    }

    /// Writes everything on a run of these cases. Returns the path of the report, and errors.
    pub(super) fn write(
        &self,
        report: &Report,
        spec: &Specification,
        cases: &[&Arc<Case>],
    ) -> (Option<PathBuf>, Vec<String>) {
        let mut wrong = Vec::new();
        let is_whole = report.interrupted.is_none();
        if let (Some(path), [backend], true) = (&self.draft, report.backends.as_slice(), is_whole) {
            // The folder existed when the run started, but may be gone.
            let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            let written =
                folder.and_then(|()| write_whole(path, deviations::draft(backend, cases).as_bytes()));
            wrong.extend(written.err().map(|error| cannot_write(path, &error)));
        }
        if let (Some(folder), true) = (&self.results, is_whole) {
            wrong.extend(write_results(folder, report, spec));
        }
        let folder = match report::write(report, &self.anchored, spec, cases) {
            Ok(_) => Some(self.folder.clone()),
            Err(error) => {
                wrong.push(format!("the report {}", cannot_write(&self.folder, &error)));
                elsewhere(report, spec, cases)
            }
        };
        (folder, wrong)
    }
}

/// Writes the results of each backend that is a program. Returns errors.
fn write_results(folder: &Path, report: &Report, spec: &Specification) -> Vec<String> {
    let (mut written, mut wrong) = (Vec::new(), Vec::new());
    let programs = report.backends.iter().filter(|backend| backend.broken.is_none() && !is_built_in(backend));
    for backend in programs {
        match Results::new(backend, spec).write(folder) {
            Err(error) => wrong.push(cannot_write(folder, &error)),
            Ok(path) => {
                if written.contains(&path) {
                    let (name, path) = (&backend.argument, path.display());
                    complain(format_args!(
                        "warning: {path} holds what {name} did, in place of a backend of the same name"
                    ));
                }
                written.push(path);
            }
        }
    }
    wrong
}

/// The absolute form of a path.
fn anchored(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Writes the report to a new temporary folder, if its own cannot be written.
fn elsewhere(report: &Report, spec: &Specification, cases: &[&Arc<Case>]) -> Option<PathBuf> {
    let folder = tempfile::Builder::new().prefix("gatherspec-report-").tempdir().ok()?;
    report::write(report, folder.path(), spec, cases).ok()?;
    Some(folder.keep())
}

fn cannot_write(path: &Path, error: &io::Error) -> String {
    format!("{} cannot be written: {error}", path.display())
}

/// Whether a backend is built in. The name that a program gives itself proves nothing, so this asks the command line.
fn is_built_in(backend: &BackendReport) -> bool {
    backend.named == BackendNaming::BuiltIn
}

/// `target/gatherspec` of the Cargo workspace around the current folder, else `gatherspec-report`.
pub(super) fn default_folder() -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let workspace = here.ancestors().filter(|folder| folder.join("Cargo.toml").is_file()).last();
    match (std::env::var_os("CARGO_TARGET_DIR"), workspace) {
        (Some(target), Some(_)) => PathBuf::from(target).join("gatherspec"),
        (None, Some(workspace)) => {
            let folder = workspace.join("target").join("gatherspec");
            folder.strip_prefix(&here).map(Path::to_owned).unwrap_or(folder)
        }
        (_, None) => PathBuf::from("gatherspec-report"),
    }
}
