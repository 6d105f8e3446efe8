//! What a run found of all its backends, and the forms in which it is printed and written.

use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::Serialize;

use crate::files::{write_whole, write_whole_with};

use super::{BackendReport, Part, human, junit, markdown};

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

/// The files of a report, and their forms.
pub(crate) const FILES: [(&str, Format); 3] =
    [("report.json", Format::Json), ("report.xml", Format::Junit), ("report.md", Format::Markdown)];

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
            backend.broken.is_none() && backend.problems.is_empty() && backend.failed() == 0
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
            Format::Human => human::render(self, human::Page::of_stdout()),
            Format::Json => serde_json::to_string_pretty(self).expect("a report is plain data") + "\n",
            Format::Junit => junit::render(self),
            Format::Markdown => markdown::render(self),
        }
    }

    /// Writes `report.json`, `report.xml` and `report.md`, each whole or not at all; gives the folder.
    ///
    /// # Errors
    /// If the folder or a file cannot be written. The other files are written all the same.
    pub fn write(&self, folder: &Path) -> io::Result<PathBuf> {
        std::fs::create_dir_all(folder)?;
        let write = |(name, format)| self.write_form(&folder.join(name), format);
        let written: Vec<io::Result<()>> = FILES.into_par_iter().map(write).collect();
        written.into_iter().collect::<io::Result<()>>()?;
        Ok(folder.to_owned())
    }

    fn write_form(&self, path: &Path, format: Format) -> io::Result<()> {
        match format {
            Format::Json => write_whole_with(path, |file| {
                serde_json::to_writer_pretty(&mut *file, self)?;
                file.write_all(b"\n")
            }),
            Format::Junit => junit::write(self, path),
            Format::Human | Format::Markdown => write_whole(path, self.render(format).as_bytes()),
        }
    }

    /// The parts of the campaign that some backend had.
    pub(super) fn parts(&self) -> impl Iterator<Item = Part> {
        let has =
            |part: &Part| self.backends.iter().any(|backend| !backend.campaign_in_words(*part).is_empty());
        [Part::Drawn, Part::Laws].into_iter().filter(has)
    }

    /// The operators that occur, in order.
    pub(super) fn operators(&self) -> Vec<&str> {
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
