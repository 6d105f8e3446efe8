//! The deviations files on a command line, and whether each applied to a backend.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gather_spec::{Case, Specification};

use gather_conformance::internals::deviations::Deviations;
use gather_conformance::internals::entry::Entry;

/// The deviations files.
pub(super) struct Known(Vec<DeviationFile>);

struct DeviationFile {
    path: PathBuf,
    deviations: Deviations,
    used: AtomicBool,
}

impl Known {
    /// Reads the files, those of schema 1 too if the run drafts one (`drafts`).
    ///
    /// # Errors
    /// The errors of the first invalid file.
    pub(super) fn read(
        files: &[PathBuf],
        spec: &Specification,
        cases: &[Arc<Case>],
        drafts: bool,
    ) -> Result<Self, String> {
        let reader = if drafts { Deviations::read_to_draft } else { Deviations::read };
        let read = |path: &PathBuf| {
            let deviations = reader(path, spec, cases)?;
            Ok(DeviationFile { path: path.clone(), deviations, used: AtomicBool::new(false) })
        };
        files.iter().map(read).collect::<Result<_, String>>().map(Self)
    }

    /// The files that apply to the backend with this declared name.
    fn about(&self, backend: &str) -> impl Iterator<Item = &DeviationFile> {
        self.0
            .iter()
            .filter(move |file| file.deviations.backend.as_deref().is_none_or(|name| name == backend))
    }

    /// Their paths.
    pub(super) fn files_of(&self, backend: &str) -> impl Iterator<Item = &Path> {
        self.about(backend).map(|file| file.path.as_path())
    }

    /// The deviations of the backend with this declared name.
    pub(super) fn of(&self, backend: &str) -> Option<Deviations> {
        let mut known = None;
        for file in self.about(backend) {
            file.used.store(true, Ordering::Relaxed);
            known.get_or_insert_with(Deviations::default).extend(&file.deviations);
        }
        known
    }

    /// Whether some file expects every failure of a case.
    pub(super) fn expect(&self, case: &Case, result: &Entry) -> bool {
        self.0.iter().any(|file| file.deviations.expect(case, result))
    }

    /// Checks that each file applied to some backend of the run.
    pub(super) fn all_used(&self) -> Result<(), String> {
        match self.0.iter().find(|file| !file.used.load(Ordering::Relaxed)) {
            None => Ok(()),
            Some(file) => Err(format!(
                "{} concerns the backend `{}`, which is not in this run",
                file.path.display(),
                file.deviations.backend.as_deref().unwrap_or_default()
            )),
        }
    }
}
