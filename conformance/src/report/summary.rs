//! What a backend was asked of the chosen cases and what not, and the sentence in which a run ends.
//!
//! Everything here is counted over the cases that the run chose: with `--case`, `--operator`, `--basis` or `--suite`
//! nothing is said of the others. What is written once as a sentence stands in every form of the report.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use gather_spec::{Allowed, Case, ErrorCode, Specification};
use serde::Serialize;

use crate::judge::Verdict;
use crate::words::counted;

use super::{BackendReport, Entry};

/// Where at least one case in this many was not asked, nothing is said to conform.
const TENTH: usize = 10;

/// How a run ended for one backend.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The end of the run in one sentence, the same in every form of the report.
    pub sentence: String,
    /// How sure that sentence is.
    pub ending: Ending,
    /// What makes the exit status other than 0: verdicts, problems, and a backend that was not run.
    pub failures: usize,
    /// How many of the chosen cases the backend was asked, by operator that it declares.
    pub operators: BTreeMap<String, Asked>,
    /// The operators of chosen cases that the backend does not declare.
    pub undeclared: Vec<String>,
    /// Clauses of declared operators that chosen cases test, but none that was asked.
    pub untested: Vec<String>,
    /// Clauses that were tested, with the error codes that chosen cases expect of a breach, but none that was asked.
    pub unrejected: BTreeMap<String, Vec<ErrorCode>>,
}

/// What the end of a run says of a backend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// More than nine tenths of the cases were asked, and all of them pass.
    Conforms,
    /// Nothing fails, but deviations are known.
    ConformsBut,
    /// Nothing that was asked fails, but a tenth or more was not asked.
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Asked {
    /// The cases that were sent to the backend, because it declares their dtypes or they expect a dtype error.
    pub asked: usize,
    /// The cases that the run chose.
    pub cases: usize,
}

impl Summary {
    /// Counts the results of `cases`, which stand in the same order as the entries of the report.
    pub(super) fn new(report: &BackendReport, cases: &[&Case], spec: &Specification) -> Self {
        let mut summary = Self {
            failures: report.failures().count()
                + report.problems.len()
                + usize::from(report.broken.is_some()),
            ..Self::default()
        };
        let mut undeclared = BTreeSet::new();
        for entry in &report.results {
            if entry.profile.is_none() {
                undeclared.insert(entry.operator.clone());
                continue;
            }
            let counts = summary.operators.entry(entry.operator.clone()).or_default();
            counts.cases += 1;
            counts.asked += usize::from(entry.was_asked());
        }
        summary.undeclared = undeclared.into_iter().collect();
        summary.count_clauses(report, cases, spec);
        summary.ending = summary.ending(report);
        summary.sentence = summary.sentence(report);
        summary
    }

    /// How many cases of declared operators were asked.
    #[must_use]
    pub fn asked(&self) -> Asked {
        let add =
            |sum: Asked, one: &Asked| Asked { asked: sum.asked + one.asked, cases: sum.cases + one.cases };
        self.operators.values().fold(Asked::default(), add)
    }

    /// What was never tested, and what never rejected under.
    fn count_clauses(&mut self, report: &BackendReport, cases: &[&Case], spec: &Specification) {
        let mut tested: BTreeMap<&str, bool> = BTreeMap::new();
        let mut rejected: BTreeMap<(&str, ErrorCode), bool> = BTreeMap::new();
        for (entry, case) in report.results.iter().zip(cases) {
            let Some(profile) = entry.profile else { continue };
            let asked = entry.was_asked();
            let codes: Vec<ErrorCode> = case.expect.under(profile).iter().filter_map(error_code).collect();
            for id in &case.clauses {
                *tested.entry(id).or_default() |= asked;
                let clause = spec.clause(id);
                for code in codes.iter().filter(|code| clause.is_some_and(|one| one.rejects.contains(code))) {
                    *rejected.entry((id, *code)).or_default() |= asked;
                }
            }
        }
        let missing = tested.iter().filter(|(_, tested)| !**tested);
        self.untested = missing.map(|(id, _)| (*id).to_owned()).collect();
        for ((id, code), _) in rejected.iter().filter(|(_, rejected)| !**rejected) {
            // What was not tested at all is named once.
            if tested.get(id) == Some(&true) {
                self.unrejected.entry((*id).to_owned()).or_default().push(*code);
            }
        }
    }

    fn ending(&self, report: &BackendReport) -> Ending {
        let Asked { asked, cases } = self.asked();
        match () {
            () if report.broken.is_some() => Ending::NotRun,
            () if self.failures > 0 => Ending::Fails,
            () if asked == 0 => Ending::NothingAsked,
            () if (cases - asked) * TENTH >= cases => Ending::AskedInPart,
            () if known(report).next().is_some() => Ending::ConformsBut,
            () => Ending::Conforms,
        }
    }

    fn sentence(&self, report: &BackendReport) -> String {
        let Asked { asked, cases } = self.asked();
        let share = match asked {
            0 => "nothing was asked".to_owned(),
            _ => format!("{asked} of {} asked", counted(cases, "case")),
        };
        let known = known_in_words(report);
        let but = known.as_ref().map(|known| format!(" but for {known}")).unwrap_or_default();
        match self.ending {
            Ending::NotRun => "the backend was not run".to_owned(),
            Ending::NothingAsked => {
                let chosen = counted(report.results.len(), "chosen case");
                format!("nothing was asked: of {chosen} the backend declares none")
            }
            Ending::Fails => {
                let beside = known.map(|known| format!(", beside {known}")).unwrap_or_default();
                let verb = if self.failures == 1 { "does" } else { "do" };
                format!("{share}: {} {verb} not conform{beside}", counted(self.failures, "verdict"))
            }
            Ending::AskedInPart => format!("{share}: nothing that was asked fails{but}"),
            Ending::ConformsBut => format!("{share}: conforms{but}"),
            Ending::Conforms => format!("{share}: everything conforms"),
        }
    }

    /// The clauses that were tested but never rejected under, a line each.
    pub(super) fn unrejected_lines(&self) -> Vec<String> {
        let line = |(id, codes): (&String, &Vec<ErrorCode>)| {
            let codes: Vec<&str> = codes.iter().map(|code| code.name()).collect();
            format!("{id} ({})", codes.join(", "))
        };
        self.unrejected.iter().map(line).collect()
    }
}

impl Entry {
    /// Whether the backend was asked: its call was sent, or could not be because the backend had died.
    #[must_use]
    pub fn was_asked(&self) -> bool {
        self.observed.unwrap_or(self.verdict) != Verdict::Unsupported
    }
}

fn error_code(allowed: &Allowed) -> Option<ErrorCode> {
    if let Allowed::Error(code, _) = allowed { Some(*code) } else { None }
}

fn known(report: &BackendReport) -> impl Iterator<Item = Verdict> {
    let known = report.results.iter().filter(|entry| entry.verdict == Verdict::KnownDeviation);
    known.map(|entry| entry.observed.unwrap_or(entry.verdict))
}

/// The known deviations, the worst of them named: `40 known deviations, 3 of them crashes`.
fn known_in_words(report: &BackendReport) -> Option<String> {
    let all = known(report).count();
    let mut words = counted(all, "known deviation");
    for (verdict, one, many) in
        [(Verdict::Crash, "a crash", "crashes"), (Verdict::Timeout, "a timeout", "timeouts")]
    {
        let count = known(report).filter(|observed| *observed == verdict).count();
        if count > 0 {
            let _ = write!(words, ", {count} of them {}", if count == 1 { one } else { many });
        }
    }
    (all > 0).then_some(words)
}
