//! What a run found, and its forms: a matrix for people, JSON, JUnit and Markdown.

mod campaign;
mod departure;
mod entry;
mod human;
#[cfg(feature = "cli")]
mod junit;
mod label;
#[cfg(feature = "cli")]
mod markdown;
mod summary;
#[cfg(feature = "cli")]
mod whole;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gather_spec::{Case, Specification};
use serde::Serialize;

use crate::backend::{Description, Identity};
use crate::judge::Verdict;
use crate::words::shown;

pub(crate) use crate::files::write_whole;
pub use campaign::{Campaign, Kind, Part};
pub(crate) use departure::departures;
pub use departure::{Departure, Problem};
pub use entry::{Dtypes, Entry};
pub use summary::{Asked, Ending, Summary};
#[cfg(feature = "cli")]
pub(crate) use whole::FILES;
#[cfg(feature = "cli")]
pub use whole::{Format, Report, SCHEMA};

/// What one backend did.
#[derive(Clone, Debug, Serialize)]
pub struct BackendReport {
    /// What the command line calls it: `reference:bad=zero`.
    pub argument: String,
    /// The options that a line which repeats a case needs besides the backend, such as `--cases my.yaml`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// Who it is.
    pub backend: Identity,
    /// How the run ended for it, and what it was not asked.
    pub summary: Summary,
    /// What the clauses say of which some case does not pass, by id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub clauses: BTreeMap<String, String>,
    /// Why it was not run: it could not be started, or fails whatever it is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
    /// Policies that it declares and the documents do not permit.
    pub departures: Vec<Departure>,
    /// What does not conform and is no case's: a departure without a reason, a reason without a departure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
    /// What else was noticed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// The cases, in order.
    pub results: Vec<Entry>,
    /// The campaign that followed them: drawn calls, then laws.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub campaign: Vec<Campaign>,
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

impl BackendReport {
    /// A report on a backend of which nothing is known but its description.
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

    /// Sums up the run once every result, deviation and problem is in: [`BackendReport::summary`] and what the clauses
    /// say. `cases` are those of the results, in their order.
    pub fn conclude(&mut self, cases: &[&Case], spec: &Specification) {
        self.summary = Summary::new(self, cases, spec);
        let unusual = self.entries().filter(|entry| entry.was_asked() && entry.verdict != Verdict::Pass);
        let said = unusual.flat_map(|entry| entry.clauses.iter()).filter_map(|id| spec.clause(id));
        self.clauses = said.map(|clause| (clause.id.clone(), clause.text.trim().to_owned())).collect();
    }

    /// What is needed to mend a failure, in lines for people.
    pub(crate) fn failure_in_lines(&self, entry: &Entry) -> String {
        let mut text = String::new();
        human::failure(&mut text, self, entry, human::Page::of_stdout());
        text
    }

    /// The same in lines that nothing breaks, with the line that repeats the case.
    fn failure_in_text(&self, entry: &Entry) -> String {
        let mut text = String::new();
        human::failure(&mut text, self, entry, human::Page::ENDLESS);
        let _ = writeln!(text, "  {:<10} {}", "reproduce", self.reproduce(entry));
        text
    }

    /// What is needed to mend a kind of failures of the campaign, likewise.
    fn kind_in_text(&self, campaign: &Campaign, kind: &Kind) -> String {
        let mut text = String::new();
        human::kind(&mut text, self, campaign, kind, human::Page::ENDLESS);
        text
    }

    /// The clauses of an entry, each with what it says.
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
        self.results.iter().filter(|entry| entry.verdict.is_failure())
    }

    /// How many entries make the exit status 1: cases, and kinds of failures of the campaign.
    fn failed(&self) -> usize {
        self.failures().count() + self.campaign.iter().flat_map(Campaign::failures).count()
    }

    /// Everything with a verdict: cases, and kinds of failures of the campaign.
    fn entries(&self) -> impl Iterator<Item = &Entry> {
        let kinds = self.campaign.iter().flat_map(|campaign| &campaign.kinds);
        self.results.iter().chain(kinds.map(|kind| &kind.entry))
    }

    /// The results of a part of the campaign, as units that stay whole; none if there was no campaign.
    fn campaign_in_words(&self, part: Part) -> Vec<String> {
        let of_part = self.campaign.iter().find(|campaign| campaign.part == part);
        of_part.map(Campaign::in_words).unwrap_or_default()
    }

    /// What became of an operator, as units that stay whole: `asked 30 of 299:`, `29 pass,`, `1 crash`.
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

    /// How much of an operator was asked: `asked 30 of 299`, or `not declared`.
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
