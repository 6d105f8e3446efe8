//! Known deviations: verdicts other than `pass` that are expected of a backend, each with a reason. The check is strict
//! both ways: an entry that does not occur, matches no case or gives no reason is an error.

mod kinds;
#[cfg(test)]
mod tests;
mod undeclared;

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use gather_spec::{Case, Specification};
use serde::{Deserialize, Deserializer};

use crate::backend::Description;
use crate::files;
use crate::fuzz::Key;
use crate::judge::Verdict;
use crate::report::{BackendReport, Departure, Dtypes, Entry, Problem, departures};
use crate::select::{Names, Pattern};
use crate::words::quoted;

use kinds::KnownKind;

/// The version of the file format.
const SCHEMA: u32 = 1;

/// The largest file to read, in bytes.
const LARGEST: u64 = 8 << 20;

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
struct File {
    schema: u32,
    #[serde(default)]
    backend: Option<String>,
    deviations: Option<Vec<Deviation>>,
    /// Kinds of drawn calls that fail.
    drawn: Option<Vec<KnownKind>>,
    /// Laws that are violated.
    laws: Option<Vec<KnownKind>>,
}

/// An entry: where, what, and why.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Deviation {
    /// Cases by id or glob.
    #[serde(default)]
    case: Option<Pattern>,
    /// Cases by a clause that they test, or a glob of it. With `case`, those that match both.
    #[serde(default)]
    clause: Option<Pattern>,
    /// Operators, by name or glob, for which the backend declares policies that the documents do not permit.
    #[serde(default)]
    profile: Option<Pattern>,
    /// The observed verdict; several if the behaviour is random.
    #[serde(default, deserialize_with = "one_or_several")]
    verdict: BTreeSet<Verdict>,
    /// The reason.
    #[serde(default)]
    reason: String,
    /// A public thread or page.
    #[serde(default)]
    link: Option<String>,
    /// Whether this is a bug that users of the backend should know of. If so, it is on the results page.
    #[serde(default)]
    finding: bool,
    /// The affected versions of the backend, as a glob; `None` for all.
    #[serde(default)]
    versions: Option<Pattern>,
}

fn one_or_several<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeSet<Verdict>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrSeveral {
        One(Verdict),
        Several(BTreeSet<Verdict>),
    }
    Ok(match OneOrSeveral::deserialize(deserializer)? {
        OneOrSeveral::One(verdict) => BTreeSet::from([verdict]),
        OneOrSeveral::Several(verdicts) => verdicts,
    })
}

impl Deviations {
    /// Reads a file.
    ///
    /// # Errors
    /// Everything that is wrong with it, one line each.
    pub fn read(path: &Path, spec: &Specification, cases: &[Case]) -> Result<Self, String> {
        let text = files::read_text(path, LARGEST)?;
        Self::parse(&path.display().to_string(), &text, spec, cases)
    }

    /// Parses the text of a file, which messages call `name`, and checks it against these cases.
    ///
    /// # Errors
    /// Everything that is wrong with it, one line each.
    ///
    /// ```
    /// use gather_conformance::deviations::Deviations;
    /// let spec = gather_spec::Specification::embedded().unwrap();
    /// let text = "
    /// schema: 1
    /// deviations:
    ///   - case: tf.gather_nd/no-such-file/*
    ///     verdict: crash
    /// ";
    /// let wrong = Deviations::parse("deviations.yaml", text, &spec, &spec.cases).unwrap_err();
    /// assert!(wrong.contains("matches no case") && wrong.contains("has no reason"));
    /// ```
    pub fn parse(name: &str, text: &str, spec: &Specification, cases: &[Case]) -> Result<Self, String> {
        let file: File = serde_yaml::from_str(text).map_err(|error| format!("{name}: {error}"))?;
        let mut wrong = Vec::new();
        if file.schema != SCHEMA {
            wrong.push(format!("schema {} is unknown, {SCHEMA} is expected", file.schema));
        }
        if file.deviations.is_none() && file.drawn.is_none() && file.laws.is_none() {
            wrong.push("has none of `deviations`, `drawn` and `laws`".to_owned());
        }
        let (mut entries, names) = (file.deviations.unwrap_or_default(), Names::new(cases));
        let (drawn, laws) = (file.drawn.unwrap_or_default(), file.laws.unwrap_or_default());
        for (number, entry) in (1..).zip(&entries) {
            let what = entry.wrong(spec, cases, &names);
            wrong.extend(what.into_iter().map(|what| format!("entry {number} ({}) {what}", entry.pattern())));
        }
        for (section, kinds) in [("drawn", &drawn), ("laws", &laws)] {
            for (number, entry) in (1..).zip(kinds) {
                let what = entry.wrong(section == "laws", spec).into_iter();
                wrong.extend(what.map(|what| format!("{section} {number} ({}) {what}", entry.pattern())));
            }
        }
        for pattern in entries.iter_mut().filter_map(|entry| entry.case.as_mut()) {
            names.settle(pattern, cases);
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

    /// Whether a kind of failure is known for this version of the backend.
    #[must_use]
    pub fn knows(&self, key: &Key, version: &str) -> bool {
        kinds::knows(&self.kinds, key, version)
    }

    /// Gives known kinds of failures the verdict `known-deviation`. If the report covers the `whole` campaign of a run,
    /// an entry that did not occur is a problem.
    pub fn apply_to_campaign(&self, report: &mut BackendReport, whole: bool) {
        kinds::apply(&self.kinds, report, whole);
    }

    /// Whether a verdict on a case is known, in some version of the backend.
    #[must_use]
    pub fn expect(&self, case: &Case, verdict: Verdict) -> bool {
        self.entries.iter().any(|entry| entry.covers(case) && entry.verdict.contains(&verdict))
    }

    /// Gives known failures the verdict `known-deviation`, and passes of known failures `unexpected-pass`.
    pub fn apply(&self, report: &mut BackendReport, cases: &[&Case]) {
        let version = report.backend.version.clone();
        let names = Names::new(cases.iter().copied());
        let mut about: Vec<Vec<&Deviation>> = vec![Vec::new(); cases.len()];
        for deviation in self.entries.iter().filter(|entry| entry.concerns(&version)) {
            for number in deviation.covered(cases, &names) {
                about[number].push(deviation);
            }
        }
        for ((entry, case), about) in report.results.iter_mut().zip(cases).zip(&about) {
            apply_to(entry, case, about);
        }
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
    pub(crate) fn lost_by_a_draft(path: &Path) -> Option<&'static str> {
        if std::fs::metadata(path).map_or(0, |file| file.len()) == 0 {
            return None;
        }
        let text = files::read_text(path, LARGEST).unwrap_or_default();
        match serde_yaml::from_str::<File>(&text) {
            Err(_) => Some("something other than deviations"),
            Ok(file) => {
                let kinds = file.drawn.iter().chain(&file.laws).flatten().map(|entry| &entry.reason);
                let mut reasons = file.deviations.iter().flatten().map(|entry| &entry.reason).chain(kinds);
                reasons.any(|reason| !reason.trim().is_empty()).then_some("reasons")
            }
        }
    }
}

fn apply_to(entry: &mut Entry, case: &Case, about: &[&Deviation]) {
    let observed = entry.verdict;
    let Some(first) = about.first() else { return };
    match about.iter().find(|deviation| deviation.verdict.contains(&observed)) {
        Some(_) if observed == Verdict::Pass => {}
        Some(deviation) => {
            entry.verdict = Verdict::KnownDeviation;
            entry.observed = Some(observed);
            entry.reason = Some(deviation.reason.trim().to_owned());
            entry.link.clone_from(&deviation.link);
            entry.finding = deviation.finding;
        }
        None if !observed.is_failure() => {
            entry.verdict = Verdict::UnexpectedPass;
            entry.observed = Some(observed);
            entry.call.get_or_insert_with(|| call_as_sent(case, entry.dtypes));
            entry.expected = Some(format!("the deviation {} ({})", first.pattern(), first.verdicts()));
            entry.actual.get_or_insert_with(|| observed.to_string());
        }
        None => {}
    }
}

/// The call of a case in words, in the dtypes in which it was sent.
fn call_as_sent(case: &Case, dtypes: Option<Dtypes>) -> String {
    let sent = dtypes.and_then(|sent| case.within(&[sent.params], &[sent.indices]).ok());
    crate::show::call_line(sent.as_ref().map_or(&case.call, |case| &case.call))
}

impl Deviation {
    /// Whether it applies to this version of the backend.
    fn concerns(&self, version: &str) -> bool {
        self.versions.as_ref().is_none_or(|glob| glob.fits(version))
    }

    fn covers(&self, case: &Case) -> bool {
        let by_case = self.case.as_ref().is_none_or(|pattern| pattern.matches(case));
        let by_clause =
            self.clause.as_ref().is_none_or(|glob| case.clauses.iter().any(|clause| glob.fits(clause)));
        (self.case.is_some() || self.clause.is_some()) && by_case && by_clause
    }

    /// The numbers of the cases that it covers.
    fn covered(&self, cases: &[impl Borrow<Case>], names: &Names<'_>) -> Vec<usize> {
        let mut found =
            self.case.as_ref().map_or_else(|| (0..cases.len()).collect(), |pattern| names.matching(pattern));
        found.retain(|number| self.covers(cases[*number].borrow()));
        found
    }

    /// Everything that is wrong with the entry.
    fn wrong(&self, spec: &Specification, cases: &[Case], names: &Names<'_>) -> Vec<String> {
        let mut wrong = Vec::new();
        let of_cases = self.case.is_some() || self.clause.is_some();
        if of_cases == self.profile.is_some() {
            wrong.push("needs either `case` or `clause`, or else `profile`".to_owned());
        } else if of_cases && self.covered(cases, names).is_empty() {
            let globs = self.case.iter().chain(&self.clause);
            wrong.push(format!("matches no case{}", globs.map(Pattern::not_a_glob).collect::<String>()));
        }
        wrong.extend(self.versions.iter().filter_map(Pattern::wrong_version));
        if let Some(glob) = &self.profile
            && !spec.operators.iter().any(|page| glob.fits(page.operator.as_str()))
        {
            wrong.push("matches no operator".to_owned());
        }
        if of_cases == self.verdict.is_empty() {
            wrong.push("needs a `verdict` if it is about cases, and none if about a profile".to_owned());
        }
        for verdict in &self.verdict {
            if matches!(verdict, Verdict::KnownDeviation | Verdict::UnexpectedPass | Verdict::NotRun) {
                wrong.push(format!("lists `{verdict}`, which says nothing about the backend's answer"));
            }
        }
        if self.verdict == BTreeSet::from([Verdict::Pass]) {
            wrong.push("lists `pass` alone, which is no deviation".to_owned());
        }
        if self.reason.trim().is_empty() {
            wrong.push("has no reason".to_owned());
        }
        wrong
    }

    /// The patterns of the entry, in words.
    fn pattern(&self) -> String {
        let parts = [("case", &self.case), ("clause", &self.clause), ("profile", &self.profile)];
        let parts =
            parts.iter().filter_map(|(key, value)| Some(format!("{key}: {}", value.as_ref()?.as_str())));
        parts.collect::<Vec<_>>().join(", ")
    }

    fn verdicts(&self) -> String {
        self.verdict.iter().map(|verdict| verdict.name()).collect::<Vec<_>>().join(" or ")
    }
}

/// A deviations file that covers every failure of a report, with the reasons left for people to fill in.
#[must_use]
pub fn draft(report: &BackendReport) -> String {
    let mut text = format!(
        "# Drafted by gatherspec {}: look at each one. A mistake of the suite is mended there, one of the backend gets\n\
         # its reason here; without a reason the file is refused.\n\
         schema: {SCHEMA}\nbackend: {}\n",
        env!("CARGO_PKG_VERSION"),
        quoted(&report.backend.name)
    );
    let mut written: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    let failed = report.results.iter().filter(|entry| {
        entry.verdict.is_failure() && !matches!(entry.verdict, Verdict::UnexpectedPass | Verdict::NotRun)
            || entry.verdict == Verdict::KnownDeviation
    });
    for entry in failed {
        written.entry(entry.id.split('[').next().unwrap_or_default()).or_default().push(entry);
    }
    let profiles = profiles(report);
    text.push_str(if written.is_empty() && profiles.is_empty() {
        "deviations: []\n"
    } else {
        "deviations:\n"
    });
    text.push_str(&profiles);
    for (id, entries) in written {
        let of_id = report.results.iter().filter(|entry| entry.id.split('[').next() == Some(id)).count();
        let observed = |entry: &Entry| entry.observed.unwrap_or(entry.verdict);
        let alike = entries.iter().all(|entry| observed(entry) == observed(entries[0]));
        let shown: &[&Entry] = if alike && entries.len() == of_id { &entries[..1] } else { &entries };
        for entry in shown {
            let id = if shown.len() == 1 && entries.len() == of_id { id } else { &entry.id };
            let actual: String = entry
                .actual
                .as_deref()
                .unwrap_or_default()
                .chars()
                .take(160)
                .map(|c| if c.is_control() { ' ' } else { c })
                .collect();
            let _ = write!(
                text,
                "  # {actual}\n  - case: {}\n    verdict: {}\n    reason: {}\n",
                quoted(id),
                observed(entry),
                quoted(entry.reason.as_deref().unwrap_or_default())
            );
            if let Some(link) = &entry.link {
                let _ = writeln!(text, "    link: {}", quoted(link));
            }
            if entry.finding {
                text.push_str("    finding: true\n");
            }
        }
    }
    text.push_str(&kinds::draft(report));
    text
}

/// Entries for departures of the declared policies, with the reasons that are known.
fn profiles(report: &BackendReport) -> String {
    let unexplained = report.problems.iter().filter_map(|problem| match problem {
        Problem::Unexplained(departure) => Some(departure),
        _ => None,
    });
    let explained = report.departures.iter().filter(|departure| departure.reason.is_some());
    let mut all: Vec<&Departure> = unexplained.chain(explained).collect();
    all.sort_by_key(|departure| departure.operator.as_str());
    let entry = |of_one: &[&Departure]| {
        let Departure { operator, reason, .. } = of_one[0];
        let said: String =
            of_one.iter().map(|departure| format!("  # it declares {}\n", departure.policy)).collect();
        let reason = quoted(reason.as_deref().unwrap_or_default());
        format!("{said}  - profile: {}\n    reason: {reason}\n", quoted(operator))
    };
    all.chunk_by(|one, other| one.operator == other.operator).map(entry).collect()
}
