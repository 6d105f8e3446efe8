//! The forms in which a report is printed and written, and the badges beside them.

use std::io;
use std::path::{Path, PathBuf};

use std::sync::Arc;

use gather_spec::{Case, Specification};
use rayon::prelude::*;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use gather_conformance::internals::files::{write_whole, write_whole_with};

use super::badge::write_badges;
use super::human::Verbosity;
use super::{Report, SCHEMA};
use super::{html, human, junit, markdown};

/// The form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ReportFormat {
    /// A matrix, and every failure with a command that reproduces it.
    Human,
    /// One JSON object.
    Json,
    /// JUnit XML.
    Junit,
    /// Markdown, for a page or a pull request.
    Markdown,
}

/// The files of a report, with their formats.
pub(crate) const FILES: [(&str, ReportFormat); 3] = [
    ("report.json", ReportFormat::Json),
    ("report.xml", ReportFormat::Junit),
    ("report.md", ReportFormat::Markdown),
];

/// Renders the report in a format.
#[must_use]
pub fn render(report: &Report, format: ReportFormat) -> String {
    match format {
        ReportFormat::Human => render_human(report, Verbosity::Usual),
        ReportFormat::Json => serde_json::to_string_pretty(report).expect("a report is plain data") + "\n",
        ReportFormat::Junit => junit::render(report),
        ReportFormat::Markdown => markdown::render(report),
    }
}

/// Renders the report for people, for the width of the terminal.
pub(crate) fn render_human(report: &Report, verbosity: Verbosity) -> String {
    human::render(report, human::PageWidth::of_stdout(), verbosity)
}

/// Writes `report.html`, `report.json`, `report.xml`, `report.md` and a badge for each backend, each atomically, and
/// returns the folder. `cases` are those of the run, in order.
///
/// # Errors
/// If the folder or a file cannot be written. The other files are written nevertheless.
pub fn write(
    report: &Report,
    folder: &Path,
    spec: &Specification,
    cases: &[&Arc<Case>],
) -> io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let write = |(name, format)| write_form(report, &folder.join(name), format);
    let (written, page): (Vec<io::Result<()>>, _) = rayon::join(
        || FILES.into_par_iter().map(write).collect(),
        || html::write(report, &folder.join(html::PAGE), spec, cases),
    );
    let badges = write_badges(report, folder);
    written.into_iter().chain([page, badges]).collect::<io::Result<()>>()?;
    Ok(folder.to_owned())
}

fn write_form(report: &Report, path: &Path, format: ReportFormat) -> io::Result<()> {
    match format {
        ReportFormat::Json => write_whole_with(path, |file| {
            serde_json::to_writer_pretty(&mut *file, report)?;
            file.write_all(b"\n")
        }),
        ReportFormat::Junit => junit::write(report, path),
        ReportFormat::Human | ReportFormat::Markdown => write_whole(path, render(report, format).as_bytes()),
    }
}

/// The JSON Schema of `report.json`, derived from the types of a report. `conformance/schemas/report.schema.json` is generated
/// from it, and a test validates real reports against it.
#[must_use]
pub fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<Report>().to_value();
    schema["title"] = format!("The report of a run, version {SCHEMA}").into();
    schema
}
