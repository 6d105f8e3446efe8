//! What a run found, as data, and what can be asked of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use gather_spec::{Case, ErrorCode, Specification};
use serde::{Deserialize, Serialize};

use crate::backend::{Capability, Description, Identity};
use crate::judge::Verdict;
use crate::reproduction::{BackendNaming, Reproduction};
use crate::words::{counted, cut};

use super::campaign::{Part, PartReport};
use super::departure::{Departure, Problem, departures};
use super::page::WHOLE;
use crate::entry::Entry;

/// The version of the JSON form.
pub const SCHEMA: u32 = 2;

/// The result of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
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
#[cfg_attr(feature = "internals", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
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
    /// Why it was not run: it could not be started, or declares nothing that can be tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
    /// The policies that it declares and the documents do not permit.
    #[cfg_attr(feature = "internals", schemars(with = "Vec<String>"))]
    pub departures: Vec<Departure>,
    /// Problems that belong to no case, such as a departure without a reason, or a reason without a departure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "internals", schemars(with = "Vec<String>"))]
    pub problems: Vec<Problem>,
    /// Further remarks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// The cases of operators that it declares, in order.
    pub results: Vec<Entry>,
    /// The campaign after the cases: drawn calls, then laws.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub campaign: Vec<PartReport>,
    /// How a command line names it.
    #[serde(skip)]
    pub named: BackendNaming,
    /// What it declares, by operator. The results hold no other operators.
    #[serde(skip)]
    pub declared: BTreeMap<String, Capability>,
}

/// How a run ended for one backend.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Summary {
    /// How the run ended, in one sentence.
    pub sentence: String,
    /// What that sentence claims.
    pub ending: Ending,
    /// What makes the exit status other than 0: verdicts, problems, and a backend that was not run.
    pub failures: usize,
    /// By operator that the backend declares, how many of the selected cases it was asked.
    pub operators: BTreeMap<String, CaseCounts>,
    /// The operators of selected cases that the backend does not declare. These cases have no results.
    pub undeclared: Vec<String>,
    /// What the backend declares, in words, with the operators of which some cases are outside of that.
    #[serde(default)]
    pub declared: BTreeMap<String, Vec<String>>,
    /// Clauses of declared operators that are tested outside of the declared dtypes and limits only, with the error codes
    /// where only a breach with these is.
    #[serde(default)]
    pub outside: Vec<String>,
    /// Operators of which the declared dtypes and limits leave fewer than half of the clauses.
    #[serde(default)]
    pub thin: Vec<String>,
    /// Clauses of declared operators that selected cases test within the declaration, but none that was asked.
    pub untested: Vec<String>,
    /// Clauses that were tested, with the error codes that selected cases expect for a breach, but none that was asked.
    #[cfg_attr(feature = "internals", schemars(with = "BTreeMap<String, Vec<crate::schema_names::Code>>"))]
    pub unrejected: BTreeMap<String, Vec<ErrorCode>>,
}

/// What a run says about a backend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// Every case within the declared dtypes and limits passes, and they leave no clause untested but those that are about
    /// something outside.
    Conforms,
    /// Nothing fails apart from known deviations.
    ConformsBut,
    /// Nothing that was asked fails, but clauses were not tested, or fewer than half of an operator's are within the declaration.
    AskedInPart,
    /// No case was asked.
    #[default]
    NothingAsked,
    /// Something fails.
    Fails,
    /// The backend was not run.
    NotRun,
}

/// How many cases of an operator were asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "internals",
    derive(schemars::JsonSchema),
    schemars(rename = "Asked", deny_unknown_fields)
)]
pub struct CaseCounts {
    /// The cases that were sent to the backend, because it declares their dtypes or they expect a dtype error.
    pub asked: usize,
    /// The cases that the run selected.
    pub cases: usize,
    /// The runs that were sent: the calls of these cases.
    #[serde(default)]
    pub runs: usize,
}

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

    /// The parts of the campaign that some backend has.
    pub fn parts(&self) -> impl Iterator<Item = Part> {
        let has =
            |part: &Part| self.backends.iter().any(|backend| !backend.campaign_in_words(*part).is_empty());
        [Part::Drawn, Part::Laws].into_iter().filter(has)
    }

    /// The operators that occur, in order.
    pub fn operators(&self) -> Vec<&str> {
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

impl Summary {
    /// How many cases of declared operators were asked.
    #[must_use]
    pub fn asked(&self) -> CaseCounts {
        let add = |sum: CaseCounts, one: &CaseCounts| CaseCounts {
            asked: sum.asked + one.asked,
            cases: sum.cases + one.cases,
            runs: sum.runs + one.runs,
        };
        self.operators.values().fold(CaseCounts::default(), add)
    }

    /// What the backend declares of operators that have cases outside of that, one line each: `f32 by i64: tf.gather`.
    pub fn declared_lines(&self) -> Vec<String> {
        self.declared.iter().map(|(words, operators)| format!("{words}: {}", operators.join(", "))).collect()
    }

    /// The operators that the backend does not declare, in one line with at most `most` names: `does not declare 2 operators: a, b`.
    pub fn undeclared_in_words(&self, most: usize) -> Option<String> {
        let names = &self.undeclared;
        let said =
            || format!("does not declare {}: {}", counted(names.len(), "operator"), cut(names, most, WHOLE));
        (!names.is_empty()).then(said)
    }

    /// The clauses that were tested but never rejected under, one line each.
    pub fn unrejected_lines(&self) -> Vec<String> {
        let line = |(id, codes): (&String, &Vec<ErrorCode>)| {
            let codes: Vec<&str> = codes.iter().map(|code| code.name()).collect();
            format!("{id} ({})", codes.join(", "))
        };
        self.unrejected.iter().map(line).collect()
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
            named: BackendNaming::Option,
            declared: description.operators.clone(),
        }
    }

    /// Whether it declares an operator.
    pub fn declares(&self, operator: &str) -> bool {
        self.declared.contains_key(operator)
    }

    /// How many of the selected cases are of operators that it declares.
    pub fn declared_of(&self, cases: &[&Arc<Case>]) -> usize {
        cases.iter().filter(|case| self.declares(case.operator().as_str())).count()
    }

    /// The clauses of an entry with their texts.
    pub fn clauses_in_words<'a>(&'a self, entry: &'a Entry) -> impl Iterator<Item = String> + 'a {
        entry.clauses.iter().map(|id| match self.clauses.get(id) {
            Some(said) => format!("{id}: {}", said.replace('\n', " ")),
            None => id.clone(),
        })
    }

    /// The entries whose verdict makes the exit status 1.
    pub fn failures(&self) -> impl Iterator<Item = &Entry> {
        self.results.iter().filter(|entry| entry.verdict.is_failure())
    }

    /// How many entries make the exit status 1: cases, and kinds of failures of the campaign.
    pub fn failed(&self) -> usize {
        self.failures().count() + self.campaign.iter().flat_map(PartReport::failures).count()
    }

    /// Everything that has a verdict: cases, and kinds of failures of the campaign.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        let kinds = self.campaign.iter().flat_map(|campaign| &campaign.kinds);
        self.results.iter().chain(kinds.map(|kind| &kind.entry))
    }

    /// The results of a part of the campaign, as units that are never broken; empty if there was no campaign.
    pub fn campaign_in_words(&self, part: Part) -> Vec<String> {
        let of_part = self.campaign.iter().find(|campaign| campaign.part == part);
        of_part.map(PartReport::in_words).unwrap_or_default()
    }

    /// The results for an operator, as units that are never broken: `asked 30 of 299:`, `29 pass,`, `1 crash`.
    pub fn outcome_in_words(&self, operator: &str) -> Vec<String> {
        let mut units = vec![self.asked_in_words(operator)];
        let mut counts: BTreeMap<(Verdict, Option<Verdict>), usize> = BTreeMap::new();
        let counts_here = |entry: &&Entry| entry.was_asked() || entry.verdict == Verdict::NotRun;
        for entry in self.of_operator(operator).filter(counts_here) {
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
    pub fn asked_in_words(&self, operator: &str) -> String {
        let cases = self.of_operator(operator).count();
        if self.broken.is_some() {
            "not run".to_owned()
        } else if !self.declares(operator) {
            "not declared".to_owned()
        } else if cases == 0 {
            "no result".to_owned()
        } else {
            let asked = self.of_operator(operator).filter(|entry| entry.was_asked()).count();
            format!("asked {asked} of {cases}")
        }
    }

    /// The entries of an operator.
    pub fn of_operator<'a>(&'a self, operator: &'a str) -> impl Iterator<Item = &'a Entry> {
        self.results.iter().filter(move |entry| entry.operator == operator)
    }

    /// What the command lines that repeat parts of the run have in common.
    pub fn reproduction(&self) -> Reproduction {
        Reproduction::new(self.named, &self.argument, &self.sources)
    }
}
