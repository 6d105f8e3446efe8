//! The result of a run, and its formats: a matrix for people, JSON, JUnit and Markdown.

mod campaign;
mod departure;
mod entry;
mod human;
mod junit;
mod label;
mod markdown;
mod summary;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use gather_spec::{Case, Specification};
use rayon::prelude::*;
use serde::Serialize;

use crate::backend::{Description, Identity};
use crate::judge::Verdict;
use crate::words::shown;

pub(crate) use crate::files::write_whole;
use crate::files::write_whole_with;
pub use campaign::{Campaign, Kind, Part};
pub(crate) use departure::departures;
pub use departure::{Departure, Problem};
pub use entry::{Dtypes, Entry};
pub use summary::{Asked, Ending, Summary};

/// The version of the JSON form.
pub const SCHEMA: u32 = 1;

/// The result of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The version of this format.
    pub schema: u32,
    /// The version of the suite.
    pub suite: String,
    /// The signal with which the user ended the run, if so. Some cases may lack results then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interrupted: Option<String>,
    /// The result of each backend, in the order in which they were named.
    pub backends: Vec<BackendReport>,
}

/// The result of one backend.
#[derive(Clone, Debug, Serialize)]
pub struct BackendReport {
    /// Its name on the command line: `reference:bad=zero`.
    pub argument: String,
    /// Other options that a command line needs to repeat a case, such as `--cases my.yaml`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// Its identity.
    pub backend: Identity,
    /// How its run ended, and what it was not asked.
    pub summary: Summary,
    /// The texts of the clauses for which some case does not pass, by id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub clauses: BTreeMap<String, String>,
    /// Why it was not run: it could not be started, or fails on every call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
    /// The policies that it declares and the documents do not permit.
    pub departures: Vec<Departure>,
    /// Problems that belong to no case, such as a departure without a reason, or a reason without a departure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
    /// Further remarks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// The cases, in order.
    pub results: Vec<Entry>,
    /// The campaign after the cases: drawn calls, then laws.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub campaign: Vec<Campaign>,
    /// How a command line names it.
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

/// The files of a report, with their formats.
pub(crate) const FILES: [(&str, Format); 3] =
    [("report.json", Format::Json), ("report.xml", Format::Junit), ("report.md", Format::Markdown)];

impl Report {
    /// An empty report.
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

    /// Renders the report in a format.
    #[must_use]
    pub fn render(&self, format: Format) -> String {
        match format {
            Format::Human => human::render(self, human::Page::of_stdout()),
            Format::Json => serde_json::to_string_pretty(self).expect("a report is plain data") + "\n",
            Format::Junit => junit::render(self),
            Format::Markdown => markdown::render(self),
        }
    }

    /// Writes `report.json`, `report.xml` and `report.md`, each atomically, and returns the folder.
    ///
    /// # Errors
    /// If the folder or a file cannot be written. The other files are written nevertheless.
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

    /// The parts of the campaign that some backend has.
    fn parts(&self) -> impl Iterator<Item = Part> {
        let has =
            |part: &Part| self.backends.iter().any(|backend| !backend.campaign_in_words(*part).is_empty());
        [Part::Drawn, Part::Laws].into_iter().filter(has)
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
    /// An empty report on a backend, from its description.
    #[must_use]
    pub fn new(argument: String, description: &Description, spec: &Specification) -> Self {
        Self {
            argument,
            sources: Vec::new(),
            backend: description.backend.shown(),
            summary: Summary::default(),
            clauses: BTreeMap::new(),
            broken: None,
            departures: departures(description, spec),
            problems: Vec::new(),
            remarks: Vec::new(),
            results: Vec::new(),
            campaign: Vec::new(),
            named: Named::Option,
        }
    }

    /// A report on a backend that was not run.
    #[must_use]
    pub fn broken(argument: String, why: &str) -> Self {
        let backend = Identity { name: argument.clone(), version: String::new(), language: String::new() };
        let description = Description { backend, operators: BTreeMap::new() };
        let nothing = Specification::default();
        let mut report = Self { broken: Some(shown(why)), ..Self::new(argument, &description, &nothing) };
        report.conclude(&[], &nothing);
        report
    }

    /// Completes the report once every result, deviation and problem is in: sets [`BackendReport::summary`] and the texts of
    /// clauses. `cases` are those of the results, in the same order.
    pub fn conclude(&mut self, cases: &[&Case], spec: &Specification) {
        self.summary = Summary::new(self, cases, spec);
        let unusual = self.entries().filter(|entry| entry.was_asked() && entry.verdict != Verdict::Pass);
        let said = unusual.flat_map(|entry| entry.clauses.iter()).filter_map(|id| spec.clause(id));
        self.clauses = said.map(|clause| (clause.id.clone(), clause.text.trim().to_owned())).collect();
    }

    /// What is needed to fix a failure, in lines for people.
    pub(crate) fn failure_in_lines(&self, entry: &Entry) -> String {
        let mut text = String::new();
        human::failure(&mut text, self, entry, human::Page::of_stdout());
        text
    }

    /// The same without line breaks for width, and with the line that repeats the case.
    fn failure_in_text(&self, entry: &Entry) -> String {
        let mut text = String::new();
        human::failure(&mut text, self, entry, human::Page::ENDLESS);
        let _ = writeln!(text, "  {:<10} {}", "reproduce", self.reproduce(entry));
        text
    }

    /// The same for a kind of failures of the campaign.
    fn kind_in_text(&self, campaign: &Campaign, kind: &Kind) -> String {
        let mut text = String::new();
        human::kind(&mut text, self, campaign, kind, human::Page::ENDLESS);
        text
    }

    /// The clauses of an entry with their texts.
    fn clauses_in_words<'a>(&'a self, entry: &'a Entry) -> impl Iterator<Item = String> + 'a {
        entry.clauses.iter().map(|id| match self.clauses.get(id) {
            Some(said) => format!("{id}: {}", said.replace('\n', " ")),
            None => id.clone(),
        })
    }

    /// How the run ended, in lines for people, with colours.
    pub(crate) fn ending(&self) -> String {
        human::ending_of(self)
    }

    /// The entries whose verdict makes the exit status 1.
    pub fn failures(&self) -> impl Iterator<Item = &Entry> {
        self.results.iter().filter(|entry| !entry.verdict.is_fine())
    }

    /// How many entries make the exit status 1: cases, and kinds of failures of the campaign.
    fn failed(&self) -> usize {
        self.failures().count() + self.campaign.iter().flat_map(Campaign::failures).count()
    }

    /// Everything that has a verdict: cases, and kinds of failures of the campaign.
    fn entries(&self) -> impl Iterator<Item = &Entry> {
        let kinds = self.campaign.iter().flat_map(|campaign| &campaign.kinds);
        self.results.iter().chain(kinds.map(|kind| &kind.entry))
    }

    /// The results of a part of the campaign, as units that are never broken; empty if there was no campaign.
    fn campaign_in_words(&self, part: Part) -> Vec<String> {
        let of_part = self.campaign.iter().find(|campaign| campaign.part == part);
        of_part.map(Campaign::in_words).unwrap_or_default()
    }

    /// The results for an operator, as units that are never broken: `asked 30 of 299:`, `29 pass,`, `1 crash`.
    fn outcome_in_words(&self, operator: &str) -> Vec<String> {
        let mut units = vec![self.asked_in_words(operator)];
        let mut counts: BTreeMap<(Verdict, Option<Verdict>), usize> = BTreeMap::new();
        for entry in self.of_operator(operator).filter(|entry| entry.was_asked()) {
            let observed = entry.observed.filter(|_| entry.verdict == Verdict::KnownDeviation);
            *counts.entry((entry.verdict, observed)).or_default() += 1;
        }
        for ((verdict, observed), count) in counts {
            let mark = if units.len() == 1 { ':' } else { ',' };
            units.last_mut().expect("it holds a unit").push(mark);
            units.push(format!("{count} {verdict}"));
            units.extend(observed.map(|observed| format!("({observed})")));
        }
        units
    }

    /// How many cases of an operator were asked: `asked 30 of 299`, or `not declared`.
    fn asked_in_words(&self, operator: &str) -> String {
        let cases = self.of_operator(operator).count();
        if self.broken.is_some() {
            "not run".to_owned()
        } else if self.of_operator(operator).all(|entry| entry.profile.is_none()) {
            "not declared".to_owned()
        } else {
            let asked = self.of_operator(operator).filter(|entry| entry.was_asked()).count();
            format!("asked {asked} of {cases}")
        }
    }

    /// The entries of an operator.
    fn of_operator<'a>(&'a self, operator: &'a str) -> impl Iterator<Item = &'a Entry> {
        self.results.iter().filter(move |entry| entry.operator == operator)
    }

    /// The command line that repeats a case.
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
