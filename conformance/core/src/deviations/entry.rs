//! Entries about cases, and about profiles: which cases an entry names, which of their results it covers, and whether it
//! occurred.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gather_spec::{Case, Signature, Specification, Variant};
use serde::{Deserialize, Deserializer};

use crate::entry::Entry;
use crate::facts::Facts;
use crate::judge::Verdict;
use crate::report::Problem;
use crate::select::Pattern;

use super::selector::{Selector, one_or_several};

/// An entry: where, what, and why.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Deviation {
    /// Cases by id or glob.
    #[serde(default)]
    pub(super) case: Option<Pattern>,
    /// Cases by a clause that they test, or a glob of it. With `case`, those that match both.
    #[serde(default)]
    clause: Option<Pattern>,
    /// Operators, by name or glob, for which the backend declares policies that the documents do not permit.
    #[serde(default)]
    pub(super) profile: Option<Pattern>,
    /// Which of these cases deviate; all that are run, if it restricts nothing.
    #[serde(default, rename = "where")]
    selector: Selector,
    /// The observed verdict; several if the behaviour is random.
    #[serde(default, deserialize_with = "verdicts")]
    pub(super) verdict: BTreeSet<Verdict>,
    /// The reason.
    #[serde(default)]
    pub(super) reason: String,
    /// A public thread or page.
    #[serde(default)]
    link: Option<String>,
    /// Whether this is a bug that users of the backend should know of. If so, it is on the results page.
    #[serde(default)]
    finding: bool,
    /// The affected versions of the backend, as a glob; `None` for all.
    #[serde(default)]
    versions: Option<Pattern>,
    /// How many runs of each operator it names, whether they are made or not.
    #[serde(skip)]
    named: BTreeMap<String, usize>,
}

pub(super) fn verdicts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeSet<Verdict>, D::Error> {
    one_or_several(deserializer).map(Option::unwrap_or_default)
}

/// The verdicts of an entry, in words.
pub(super) fn in_words(verdicts: &BTreeSet<Verdict>) -> String {
    verdicts.iter().map(|verdict| verdict.name()).collect::<Vec<_>>().join(" or ")
}

/// What is wrong with the verdicts of an entry.
pub(super) fn wrong_verdicts(verdicts: &BTreeSet<Verdict>) -> Vec<String> {
    let says_nothing = |verdict: &&Verdict| {
        matches!(verdict, Verdict::KnownDeviation | Verdict::UnexpectedPass | Verdict::NotRun)
    };
    let foreign = verdicts.iter().filter(says_nothing);
    let mut wrong: Vec<String> = foreign
        .map(|verdict| format!("lists `{verdict}`, which says nothing about the backend's answer"))
        .collect();
    if *verdicts == BTreeSet::from([Verdict::Pass]) {
        wrong.push("lists `pass` alone, which is no deviation".to_owned());
    }
    wrong
}

impl Deviation {
    /// Whether it applies to this version of the backend.
    pub(super) fn concerns(&self, version: &str) -> bool {
        self.versions.as_ref().is_none_or(|glob| glob.fits(version))
    }

    /// Whether it covers the result of a run.
    pub(super) fn expects(&self, case: &Case, run: &Entry) -> bool {
        let fits = |facts: &Facts| self.selector.fits(facts);
        self.names_run(case, &run.id)
            && self.verdict.contains(&run.verdict)
            && run.facts.as_deref().is_some_and(fits)
    }

    /// Whether it names some run of a case.
    pub(super) fn names(&self, case: &Case) -> bool {
        let tests = |glob: &Pattern| case.clauses.iter().any(|clause| glob.fits(clause));
        (self.case.is_some() || self.clause.is_some())
            && self.clause.as_ref().is_none_or(tests)
            && self.case.as_ref().is_none_or(|pattern| pattern.matches(case))
    }

    /// Whether it names the run with this id of a case.
    fn names_run(&self, case: &Case, run: &str) -> bool {
        self.names(case) && self.case.as_ref().is_none_or(|pattern| pattern.matches_run(case, run))
    }

    /// Counts the runs that it names, of all that there are, and returns everything that is wrong with the entry.
    pub(super) fn settle(&mut self, spec: &Specification, cases: &[Arc<Case>]) -> Vec<String> {
        let of_cases = self.case.is_some() || self.clause.is_some();
        if let Some(pattern) = &mut self.case {
            pattern.settle(cases);
        }
        let mut named = BTreeMap::new();
        for case in cases.iter().filter(|case| of_cases && self.names(case)) {
            let pattern = self.case.as_ref();
            let is_named = |id: &&String| pattern.is_none_or(|pattern| pattern.matches_run(case, id));
            let count = case.run_ids().iter().filter(is_named).count();
            *named.entry(case.operator().to_string()).or_default() += count;
        }
        self.named = named;
        self.wrong(of_cases, spec)
    }

    fn wrong(&self, of_cases: bool, spec: &Specification) -> Vec<String> {
        let mut wrong = Vec::new();
        if of_cases == self.profile.is_some() {
            wrong.push("needs either `case` or `clause`, or else `profile`".to_owned());
        } else if of_cases && self.named.is_empty() {
            let globs = self.case.iter().chain(&self.clause);
            wrong.push(format!("matches no case{}", globs.map(Pattern::not_a_glob).collect::<String>()));
        } else if of_cases {
            let operators: Vec<&Signature> = signatures(spec, |name| self.named.contains_key(name)).collect();
            wrong.extend(self.selector.wrong(&operators));
        } else if !self.selector.is_empty() {
            wrong.push("has a `where`, which is about cases, and a `profile`".to_owned());
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
        wrong.extend(wrong_verdicts(&self.verdict));
        if self.reason.trim().is_empty() {
            wrong.push("has no reason".to_owned());
        }
        wrong
    }

    /// The patterns of the entry, in words.
    pub(super) fn pattern(&self) -> String {
        let parts = [("case", &self.case), ("clause", &self.clause), ("profile", &self.profile)];
        let parts =
            parts.iter().filter_map(|(key, value)| Some(format!("{key}: {}", value.as_ref()?.as_str())));
        let selector = (!self.selector.is_empty()).then(|| format!("where: {}", self.selector));
        parts.chain(selector).collect::<Vec<_>>().join(", ")
    }
}

/// The signatures of some operators.
pub(super) fn signatures(
    spec: &Specification,
    wanted: impl Fn(&str) -> bool,
) -> impl Iterator<Item = &Signature> {
    spec.operators.iter().filter(move |page| wanted(page.operator.as_str()))
}

/// What a run shows about one entry and one operator.
#[derive(Default)]
struct EntryUse {
    /// How many of the runs that it names have a result.
    runs: usize,
    /// Whether it covers some result, expectedly or not.
    covers: bool,
}

/// Gives known failures the verdict `known-deviation`, and passes of known failures `unexpected-pass`, run by
/// run. Returns a problem for each entry that did not occur although the results include all runs of an
/// operator that it names.
pub(super) fn apply(entries: &[&Deviation], results: &mut [Entry], cases: &[&Arc<Case>]) -> Vec<Problem> {
    let mut seen: BTreeMap<(usize, &str), EntryUse> = BTreeMap::new();
    for (result, case) in results.iter_mut().zip(cases) {
        let about: Vec<usize> = (0..entries.len()).filter(|at| entries[*at].names(case)).collect();
        if about.is_empty() {
            continue;
        }
        let operator = case.operator().as_str();
        let mut made = String::new();
        // A run that was not sent says nothing about an entry.
        for run in result.all.iter_mut().filter(|run| run.verdict != Verdict::NotRun) {
            let mut fitting = about.clone();
            fitting.retain(|number| entries[*number].names_run(case, &run.id));
            // A run in several variants is one run; they follow each other.
            let (usual, _) = Variant::split_id(&run.id);
            for number in fitting.iter().filter(|_| made != usual) {
                seen.entry((*number, operator)).or_default().runs += 1;
            }
            made = usual;
            // Taken out and put back below, because `judge` changes the run.
            let facts = run.facts.take_if(|_| run.verdict != Verdict::Unsupported);
            let Some(facts) = facts else { continue };
            fitting.retain(|number| entries[*number].selector.fits(&facts));
            for number in judge(entries, &fitting, run) {
                seen.entry((number, operator)).or_default().covers = true;
            }
            run.facts = Some(facts);
        }
        result.settle();
    }
    // An entry that lists `pass` is about random behaviour, which need not occur; nor need one about variants, since a budget may
    // leave them out.
    let missing = seen.into_iter().filter(|((number, operator), seen)| {
        let entry = entries[*number];
        let is_whole = entry.named.get(*operator) == Some(&seen.runs);
        let may_be_absent = entry.verdict.contains(&Verdict::Pass) || entry.selector.variant.is_some();
        !seen.covers && is_whole && !may_be_absent
    });
    let problem = |((number, operator), _): ((usize, &str), EntryUse)| Problem::CaseDidNotOccur {
        entry: entries[number].pattern(),
        operator: operator.to_owned(),
    };
    missing.map(problem).collect()
}

/// Judges a result by the entries that fit it. Returns the numbers of those that cover it.
fn judge(entries: &[&Deviation], fitting: &[usize], result: &mut Entry) -> Vec<usize> {
    let observed = result.verdict;
    let lists = |number: &&usize| entries[**number].verdict.contains(&observed);
    let covering: Vec<usize> = fitting.iter().filter(lists).copied().collect();
    match (covering.first(), fitting.first()) {
        (Some(first), _) if observed != Verdict::Pass => {
            let deviation = entries[*first];
            result.verdict = Verdict::KnownDeviation;
            result.observed = Some(observed);
            result.reason = Some(deviation.reason.trim().to_owned());
            result.link.clone_from(&deviation.link);
            result.finding = deviation.finding;
            covering
        }
        (None, Some(first)) if !observed.is_failure() => {
            let deviation = entries[*first];
            result.verdict = Verdict::UnexpectedPass;
            result.observed = Some(observed);
            let said = format!("the deviation {} ({})", deviation.pattern(), in_words(&deviation.verdict));
            result.expected = Some(said);
            result.actual.get_or_insert_with(|| observed.to_string());
            fitting.to_vec()
        }
        _ => Vec::new(),
    }
}
