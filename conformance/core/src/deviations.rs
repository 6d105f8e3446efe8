//! Known deviations: verdicts other than `pass` that are expected of a backend, each with a reason. The check is strict
//! both ways: what an entry covers must deviate, and an entry that does not occur, matches no case or gives no reason is an
//! error.
//!
//! `entry` holds the entries about cases, `kinds` those about drawn calls and laws, and `selector` what both share: which
//! of the calls that an entry names deviate. `watched` compares a campaign with them call by call, and `draft` writes a
//! file that covers a run.

mod draft;
mod entry;
mod kinds;
mod selector;
#[cfg(test)]
mod tests;
mod watched;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use gather_spec::{Case, Specification};
use serde::Deserialize;

use crate::backend::Description;
use crate::entry::Entry;
use crate::files;
use crate::report::{BackendReport, Problem, departures};
use crate::select::Pattern;

pub use draft::draft;
use entry::Deviation;
pub use kinds::CampaignExtent;
use kinds::KnownKind;
pub use watched::Watched;

/// The version of the file format.
const SCHEMA: u32 = 2;

/// The version before selectors, which is read only to be drafted again.
const OLD_SCHEMA: u32 = 1;

/// The largest file to read, in bytes.
const LARGEST: u64 = 8 << 20;

/// What to do with a file of the old schema.
fn renew(name: &str) -> String {
    format!(
        "help: `gatherspec run --deviations {name} --write-deviations NEW`, followed by the backend, drafts it again with its \
         reasons; without `drawn` and `laws`, `schema: 2` reads it as it is"
    )
}

/// A file of deviations, checked against the cases.
#[derive(Clone, Debug, Default)]
pub struct Deviations {
    /// The backend that the file is for, by its declared name; `None` for any.
    pub backend: Option<String>,
    entries: Vec<Deviation>,
    /// Those of drawn calls, and of laws.
    kinds: Vec<KnownKind>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DeviationList {
    schema: u32,
    #[serde(default)]
    backend: Option<String>,
    deviations: Option<Vec<Deviation>>,
    /// Drawn calls that fail.
    drawn: Option<Vec<KnownKind>>,
    /// Laws that are violated.
    laws: Option<Vec<KnownKind>>,
}

impl Deviations {
    /// Reads a file.
    ///
    /// # Errors
    /// Everything that is wrong with it, one line each.
    pub fn read(path: &Path, spec: &Specification, cases: &[Arc<Case>]) -> Result<Self, String> {
        Self::parse(&path.display().to_string(), &files::read_text(path, LARGEST)?, spec, cases)
    }

    /// Like [`Deviations::read`], for a run that drafts such a file: then one of schema 1 is read, too.
    ///
    /// # Errors
    /// As [`Deviations::read`].
    pub fn read_to_draft(path: &Path, spec: &Specification, cases: &[Arc<Case>]) -> Result<Self, String> {
        let text = files::read_text(path, LARGEST)?;
        Self::parse_schema(&path.display().to_string(), &text, spec, cases, &[OLD_SCHEMA, SCHEMA])
    }

    /// Parses the text of a file, which messages call `name`, and checks it against these cases.
    ///
    /// # Errors
    /// Everything that is wrong with it, one line each.
    ///
    /// ```
    /// use gather_conformance::internals::deviations::Deviations;
    /// let spec = gather_spec::Specification::embedded().unwrap();
    /// let text = "
    /// schema: 2
    /// deviations:
    ///   - case: tf.gather_nd/no-such-file/*
    ///     verdict: crash
    /// ";
    /// let wrong = Deviations::parse("deviations.yaml", text, &spec, &spec.cases).unwrap_err();
    /// assert!(wrong.contains("matches no case") && wrong.contains("has no reason"));
    /// ```
    pub fn parse(name: &str, text: &str, spec: &Specification, cases: &[Arc<Case>]) -> Result<Self, String> {
        Self::parse_schema(name, text, spec, cases, &[SCHEMA])
    }

    fn parse_schema(
        name: &str,
        text: &str,
        spec: &Specification,
        cases: &[Arc<Case>],
        schemas: &[u32],
    ) -> Result<Self, String> {
        let file: DeviationList = serde_yaml::from_str(text).map_err(|error| format!("{name}: {error}"))?;
        let mut wrong = Vec::new();
        if !schemas.contains(&file.schema) {
            let schema = file.schema;
            let help = if schema == OLD_SCHEMA { format!("\n{}", renew(name)) } else { String::new() };
            return Err(format!("{name}: schema {schema} is unknown, {SCHEMA} is expected{help}"));
        }
        if file.deviations.is_none() && file.drawn.is_none() && file.laws.is_none() {
            wrong.push("has none of `deviations`, `drawn` and `laws`".to_owned());
        }
        let mut entries = file.deviations.unwrap_or_default();
        let (drawn, laws) = (file.drawn.unwrap_or_default(), file.laws.unwrap_or_default());
        for (number, entry) in (1..).zip(&mut entries) {
            let what = entry.settle(spec, cases);
            wrong.extend(what.into_iter().map(|what| format!("entry {number} ({}) {what}", entry.pattern())));
        }
        let is_old = file.schema == OLD_SCHEMA;
        for (section, kinds) in [("drawn", &drawn), ("laws", &laws)] {
            for (number, entry) in (1..).zip(kinds) {
                let what = entry.wrong(section == "laws", is_old, spec).into_iter();
                wrong.extend(what.map(|what| format!("{section} {number} ({}) {what}", entry.pattern())));
            }
        }
        if wrong.is_empty() {
            let kinds = [drawn, laws].concat();
            Ok(Self { backend: file.backend, entries, kinds })
        } else {
            Err(wrong.iter().map(|what| format!("{name}: {what}")).collect::<Vec<_>>().join("\n"))
        }
    }

    /// Adds the entries of another file.
    pub fn extend(&mut self, other: &Self) {
        self.entries.extend(other.entries.iter().cloned());
        self.kinds.extend(other.kinds.iter().cloned());
    }

    /// Gives known kinds the verdict `known-deviation`. An entry about operators that were run must have
    /// occurred.
    pub fn apply_to_campaign(&self, report: &mut BackendReport, extent: &CampaignExtent) {
        kinds::apply(&self.kinds, report, extent);
    }

    /// Whether every failure of a case is known, in some version of the backend.
    #[must_use]
    pub fn expect(&self, case: &Case, result: &Entry) -> bool {
        let mut failures = result.all.iter().filter(|run| run.verdict.is_failure());
        failures.all(|run| self.entries.iter().any(|one| one.expects(case, run)))
    }

    /// Gives known failures the verdict `known-deviation`, and passes of known failures `unexpected-pass`. An
    /// entry that did not occur is a problem if the report has all cases of an operator that it names.
    ///
    /// `cases` are those of the results, in their order.
    pub fn apply(&self, report: &mut BackendReport, cases: &[&Arc<Case>]) {
        let version = &report.backend.version;
        let entries: Vec<&Deviation> = self.entries.iter().filter(|entry| entry.concerns(version)).collect();
        let problems = entry::apply(&entries, &mut report.results, cases);
        report.problems.extend(problems);
    }

    /// Matches departures of the declared policies with entries. Each departure needs an entry, and each entry a
    /// departure.
    pub fn apply_to_profile(
        &self,
        report: &mut BackendReport,
        description: &Description,
        spec: &Specification,
        operators: &BTreeSet<&str>,
    ) {
        let version = &report.backend.version;
        let about: Vec<(&Pattern, &Deviation)> = self
            .entries
            .iter()
            .filter(|entry| entry.concerns(version))
            .filter_map(|entry| Some((entry.profile.as_ref()?, entry)))
            .filter(|(profile, _)| operators.iter().any(|operator| profile.fits(operator)))
            .collect();
        // A pattern may match operators of this run whose policies are permitted, and depart for others.
        let all = departures(description, spec);
        let occurs = |profile: &Pattern| all.iter().any(|departure| profile.fits(&departure.operator));
        let missing = about.iter().filter(|(profile, _)| !occurs(profile));
        let missing: Vec<Problem> =
            missing.map(|(profile, _)| Problem::DidNotOccur(profile.as_str().to_owned())).collect();
        let departures = all.into_iter().filter(|departure| operators.contains(departure.operator.as_str()));
        report.departures.clear();
        for mut departure in departures {
            match about.iter().find(|(profile, _)| profile.fits(&departure.operator)) {
                Some((_, entry)) => {
                    departure.reason = Some(entry.reason.trim().to_owned());
                    report.departures.push(departure);
                }
                None => report.problems.push(Problem::Unexplained(departure)),
            }
        }
        report.problems.extend(missing);
    }

    /// What a draft that replaced this file would lose, if anything.
    pub fn lost_by_a_draft(path: &Path) -> Option<&'static str> {
        // A missing or empty file has nothing to lose.
        if std::fs::metadata(path).map_or(0, |file| file.len()) == 0 {
            return None;
        }
        let text = files::read_text(path, LARGEST).unwrap_or_default();
        match serde_yaml::from_str::<DeviationList>(&text) {
            Err(_) => Some("something other than deviations"),
            Ok(file) => {
                let kinds = file.drawn.iter().chain(&file.laws).flatten().map(|entry| &entry.reason);
                let mut reasons = file.deviations.iter().flatten().map(|entry| &entry.reason).chain(kinds);
                reasons.any(|reason| !reason.trim().is_empty()).then_some("reasons")
            }
        }
    }

    /// Adds a problem for each entry that is about selected cases, but only about cases of operators that the backend does
    /// not declare.
    pub fn apply_to_undeclared(&self, report: &mut BackendReport, cases: &[&Arc<Case>]) {
        let concern = self.entries.iter().filter(|entry| entry.concerns(&report.backend.version));
        let about = concern.filter(|entry| entry.profile.is_none()).filter_map(|entry| {
            let named = cases.iter().filter(|case| entry.names(case));
            let operators: BTreeSet<&str> = named.map(|case| case.operator().as_str()).collect();
            let is_idle =
                !operators.is_empty() && !operators.iter().any(|operator| report.declares(operator));
            is_idle.then(|| Problem::Undeclared {
                entry: entry.pattern(),
                operators: operators.into_iter().map(str::to_owned).collect(),
            })
        });
        let problems: Vec<Problem> = about.collect();
        report.problems.extend(problems);
    }
}
