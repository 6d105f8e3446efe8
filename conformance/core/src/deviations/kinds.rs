//! Entries about the campaign: drawn calls and instances of laws. Each call is compared as soon as it is
//! judged, so an entry covers exactly the calls that it describes, even if other calls of the operator fail,
//! too. The campaign of a run is fixed, so an entry must occur exactly as often as it says.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use gather_spec::{Signature, Specification};
use serde::Deserialize;

use crate::check::{Key, LAWS};
use crate::facts::Facts;
use crate::judge::Verdict;
use crate::report::{BackendReport, FailureKind, Part, Problem};
use crate::select::Pattern;

use super::entry::{in_words, signatures, verdicts, wrong_verdicts};
use super::selector::{Selector, Span};

/// An entry: the operator, the verdict, which calls, and why.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KnownKind {
    /// The law, by name or glob; absent for drawn calls.
    #[serde(default)]
    law: Option<Pattern>,
    /// Operators, by name or glob. An entry for several is short for one entry each.
    pub(super) operator: Pattern,
    /// Which calls deviate; of a law, by the first call of an instance.
    #[serde(default, rename = "where")]
    selector: Selector,
    /// The observed verdict; with `pass` beside it if some of the calls pass.
    #[serde(default, deserialize_with = "verdicts")]
    verdict: BTreeSet<Verdict>,
    /// How many calls deviate, for each operator. At least one, unless some of the calls pass: then it must be given.
    #[serde(default)]
    calls: Option<Span>,
    /// The reason.
    #[serde(default)]
    pub(super) reason: String,
    /// A public thread or page.
    #[serde(default)]
    pub(super) link: Option<String>,
    /// The affected versions of the backend, as a glob; `None` for all.
    #[serde(default)]
    versions: Option<Pattern>,
    /// Schema 1 only, where schema 2 has `verdict` and `where`: the kind as reports then showed it, or a
    /// glob.
    #[serde(default)]
    kind: Option<Pattern>,
    /// Schema 1 only, where schema 2 has `calls`: whether the entry may be absent from a run.
    #[serde(default)]
    may: bool,
}

impl KnownKind {
    /// Everything that is wrong with it, as an entry about laws (`of_laws`) or about drawn calls.
    pub(super) fn wrong(&self, of_laws: bool, is_old: bool, spec: &Specification) -> Vec<String> {
        let mut wrong = Vec::new();
        match &self.law {
            None if of_laws => wrong.push("needs a `law`".to_owned()),
            Some(_) if !of_laws => wrong.push("has a `law`, which belongs under `laws`".to_owned()),
            Some(law) if !LAWS.iter().any(|known| law.fits(known)) => {
                wrong.push("matches no law".to_owned());
            }
            _ => {}
        }
        let operators: Vec<&Signature> = signatures(spec, |name| self.operator.fits(name)).collect();
        if operators.is_empty() {
            wrong.push("matches no operator".to_owned());
        } else {
            wrong.extend(self.selector.wrong(&operators));
        }
        if of_laws && self.selector.expected.is_some() {
            wrong.push("names what is `expected`, which no law has".to_owned());
        }
        if is_old {
            wrong.extend(self.kind.is_none().then(|| "needs a `kind`".to_owned()));
        } else {
            wrong.extend(self.wrong_calls());
        }
        wrong.extend(self.versions.iter().filter_map(Pattern::wrong_version));
        if self.reason.trim().is_empty() {
            wrong.push("has no reason".to_owned());
        }
        wrong
    }

    fn wrong_calls(&self) -> Vec<String> {
        let mut wrong = wrong_verdicts(&self.verdict);
        if self.kind.is_some() || self.may {
            wrong.push(
                "has a `kind` or `may`, for which schema 2 has `verdict`, `where` and `calls`".to_owned(),
            );
        } else if self.verdict.is_empty() {
            wrong.push("needs a `verdict`".to_owned());
        }
        if self.some_pass() && self.calls.is_none() && self.verdict.len() > 1 {
            wrong.push(
                "lists `pass`, and so needs `calls`: how many calls of the campaign deviate".to_owned(),
            );
        }
        wrong
    }

    /// The entry in words.
    pub(super) fn pattern(&self) -> String {
        let law = self.law.as_ref().map(|law| format!("law: {}", law.as_str()));
        let operator = format!("operator: {}", self.operator.as_str());
        let selector = (!self.selector.is_empty()).then(|| format!("where: {}", self.selector));
        let verdict = self.kind.as_ref().map_or_else(
            || format!("verdict: {}", in_words(&self.verdict)),
            |kind| format!("kind: {}", kind.as_str()),
        );
        let parts = law.into_iter().chain([operator]).chain(selector).chain([verdict]);
        parts.collect::<Vec<_>>().join(", ")
    }

    /// Whether it applies to this version of the backend.
    fn concerns(&self, version: &str) -> bool {
        self.versions.as_ref().is_none_or(|glob| glob.fits(version))
    }

    fn is_about(&self, law: Option<&str>, operator: &str) -> bool {
        let by_law = match (&self.law, law) {
            (None, None) => true,
            (Some(pattern), Some(law)) => pattern.fits(law),
            _ => false,
        };
        by_law && self.operator.fits(operator)
    }

    const fn part(&self) -> Part {
        if self.law.is_some() { Part::Laws } else { Part::Drawn }
    }

    /// Whether calls that it describes may pass.
    fn some_pass(&self) -> bool {
        self.kind.is_some() || self.verdict.contains(&Verdict::Pass)
    }

    /// Whether it covers a failure with this key.
    fn covers(&self, key: &Key, facts: &Facts) -> bool {
        let by_verdict = match &self.kind {
            Some(kind) => kind.fits(&key.kind()),
            None => self.verdict.contains(&key.verdict),
        };
        by_verdict && self.is_about(key.law.as_deref(), &key.operator) && self.selector.fits(facts)
    }

    /// How many calls of an operator must deviate.
    fn calls(&self) -> Span {
        // An entry of schema 1 is read for its reason only, so any number is right.
        self.calls.unwrap_or(Span::from(u64::from(self.kind.is_none())))
    }
}

/// The number of the first entry that covers a failure of this version of a backend.
pub(super) fn covering(entries: &[KnownKind], key: &Key, facts: &Facts, version: &str) -> Option<usize> {
    entries.iter().position(|entry| entry.concerns(version) && entry.covers(key, facts))
}

/// Whether an entry is about calls of this operator, or instances of this law.
pub(super) fn concern(entries: &[KnownKind], law: Option<&str>, operator: &str) -> bool {
    entries.iter().any(|entry| entry.is_about(law, operator))
}

/// The number of the first entry that expects a passing call to fail, with the entry in words.
pub(super) fn unexpected(
    entries: &[KnownKind],
    law: Option<&str>,
    operator: &str,
    facts: &Facts,
    version: &str,
) -> Option<(usize, String)> {
    let fits = |entry: &KnownKind| {
        entry.concerns(version) && entry.is_about(law, operator) && entry.selector.fits(facts)
    };
    let fitting = || entries.iter().enumerate().filter(|(_, entry)| fits(entry));
    // Where passes are expected, one pass proves nothing: `calls` counts the failures instead.
    if fitting().any(|(_, entry)| entry.some_pass()) {
        return None;
    }
    fitting().next().map(|(number, entry)| (number, entry.pattern()))
}

/// The part of the usual campaign that a run had.
pub struct CampaignExtent {
    /// The operators that the run chose.
    pub chosen: BTreeSet<String>,
    /// The operators that the backend declares.
    pub declared: BTreeSet<String>,
    /// How many calls were drawn, against those of a run without options.
    pub drawn: Ordering,
    /// Whether no part ended early.
    pub complete: bool,
}

/// Gives known kinds the verdict `known-deviation`. If an entry did not occur as often as it says for an
/// operator that was run, that is a problem. So is an entry that only names operators that the backend does
/// not declare.
pub(super) fn apply(entries: &[KnownKind], report: &mut BackendReport, extent: &CampaignExtent) {
    let mut counts: BTreeMap<(usize, String), u64> = BTreeMap::new();
    let mut passing = BTreeSet::new();
    for kind in report.campaign.iter_mut().flat_map(|campaign| &mut campaign.kinds) {
        let Some((number, entry)) = kind.known.and_then(|number| Some((number, entries.get(number)?))) else {
            continue;
        };
        let place = (number, kind.entry.operator.clone());
        if kind.entry.verdict == Verdict::UnexpectedPass {
            passing.insert(place);
        } else {
            *counts.entry(place).or_default() += kind.count;
            cover(kind, entry);
        }
    }
    // A campaign that is shorter than usual says nothing about the calls that it lacks.
    if !extent.complete || extent.drawn == Ordering::Less {
        return;
    }
    let version = report.backend.version.clone();
    let parts = report.campaign.iter().filter(|campaign| campaign.left_out.is_none());
    let parts: Vec<Part> = parts.map(|campaign| campaign.part).collect();
    let had = entries.iter().enumerate().filter(|(_, entry)| parts.contains(&entry.part()));
    for (number, entry) in had.filter(|(_, entry)| entry.concerns(&version)) {
        let about = |operators: &BTreeSet<String>| -> Vec<String> {
            operators.iter().filter(|name| entry.operator.fits(name)).cloned().collect()
        };
        if about(&extent.declared).is_empty() && !about(&extent.chosen).is_empty() {
            let (entry, operators) = (entry.pattern(), about(&extent.chosen));
            report.problems.push(Problem::Undeclared { entry, operators });
            continue;
        }
        for operator in about(&extent.chosen).into_iter().filter(|name| extent.declared.contains(name)) {
            let place = (number, operator);
            let count = counts.get(&place).copied().unwrap_or(0);
            // A longer campaign draws more calls after the usual ones, so the count of each kind may be
            // higher.
            let more = extent.drawn == Ordering::Greater && count > 0;
            // An unexpected pass is a failure already, so its entry needs no further problem.
            if !entry.calls().holds(count) && !more && !passing.contains(&place) {
                let (entry, calls) = (entry.pattern(), entry.calls().to_string());
                report.problems.push(Problem::Calls { entry, operator: place.1, calls, count });
            }
        }
    }
}

/// Marks the failures of a kind as those of an entry.
fn cover(kind: &mut FailureKind, entry: &KnownKind) {
    let found = &mut kind.entry;
    found.observed = Some(found.verdict);
    found.verdict = Verdict::KnownDeviation;
    found.reason = Some(entry.reason.trim().to_owned());
    found.link.clone_from(&entry.link);
    if !entry.selector.is_empty() {
        // Other failures of the same kind, which it does not cover, have an entry of their own in the report.
        let selector = format!(", where {}", entry.selector);
        found.id.push_str(&selector);
        kind.kind.push_str(&selector);
    }
}
