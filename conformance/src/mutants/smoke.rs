//! Chooses the smoke suite: a small set of cases that catches every mutant, on an operator of each form, that the full suite
//! catches, and every break of real code whose results page names a case. What remains of [`MOST`] goes to clauses,
//! to mutants per operator, and to pairs of sizes.
//!
//! The choice is greedy: it takes the case that serves most of the unmet purposes, then drops cases that later ones made
//! redundant. It depends on the case files and the mutants only, so it is reproducible.

use std::collections::{BTreeSet, HashMap, HashSet};

use gather_spec::{Case, ErrorCode, Form, Specification};

use super::strength::Strength;

/// The largest number of cases to choose.
pub const MOST: usize = 400;
/// How many of them are reserved for pairs of sizes.
const FOR_SIZES: usize = 20;

/// A purpose that a case serves.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Use {
    /// It accepts under a clause, of a family or of an operator.
    Accepts(String),
    /// It rejects with a code under such a clause.
    Rejects(String, ErrorCode),
    /// It catches a mutant on an operator of a form.
    Catches(&'static str, Form),
    /// It catches a mutant on an operator.
    CatchesOn(&'static str, String),
    /// It is the first case that catches a break of real code.
    Finds(String),
}

impl Use {
    /// Whether it distinguishes a wrong implementation from a right one.
    const fn tells(&self) -> bool {
        matches!(self, Self::Catches(..) | Self::Finds(_))
    }

    /// Whether it is a clause that accepts or rejects.
    const fn is_of_clause(&self) -> bool {
        matches!(self, Self::Accepts(_) | Self::Rejects(..))
    }
}

/// A break of real code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Break {
    /// Its id.
    pub id: String,
    /// The first case that catches it.
    pub case: String,
}

/// The breaks that cases catch, according to a page `breaks-round-N.md`.
#[must_use]
pub fn breaks(page: &str) -> Vec<Break> {
    let of_row = |row: &str| {
        let mut columns = row.strip_prefix("| ")?.split(" | ");
        let (id, _) = columns.next()?.split_once("<br>")?;
        let fails = columns.nth(1)?;
        // The verdict is between the two. A first failure in a campaign has no case.
        let case = fails.rsplit_once("first ")?.1.split(' ').nth(1)?;
        case.contains('/').then(|| Break { id: id.to_owned(), case: case.to_owned() })
    };
    page.lines().filter_map(of_row).collect()
}

/// The ids of the chosen cases, in the order of the suite.
#[must_use]
pub fn choose(spec: &Specification, strength: &Strength, breaks: &[Break]) -> Vec<String> {
    let uses = uses(spec, strength, breaks);
    let mut chosen: Vec<&str> = Vec::new();
    cover(spec, &uses, Use::tells, usize::MAX, &mut chosen);
    drop_needless(&uses, &mut chosen);
    cover(spec, &uses, Use::is_of_clause, MOST - FOR_SIZES, &mut chosen);
    cover(spec, &uses, |_| true, MOST - FOR_SIZES, &mut chosen);
    add_pairs(&spec.cases, &mut chosen);
    let ids = spec.cases.iter().map(|case| &case.id);
    ids.filter(|id| chosen.contains(&id.as_str())).cloned().collect()
}

/// Adds cases until every wanted purpose is served, or there are `most`.
fn cover<'a>(
    spec: &'a Specification,
    uses: &HashMap<&'a str, BTreeSet<Use>>,
    wanted: fn(&Use) -> bool,
    most: usize,
    chosen: &mut Vec<&'a str>,
) {
    let mut missing: BTreeSet<&Use> = uses.values().flatten().filter(|one| wanted(one)).collect();
    let has = |id: &&str| uses.get(*id).into_iter().flatten();
    for one in chosen.iter().flat_map(has) {
        missing.remove(one);
    }
    while !missing.is_empty() && chosen.len() < most {
        let gain = |id: &str| uses[id].iter().filter(|one| missing.contains(one)).count();
        let ids = spec.cases.iter().map(|case| case.id.as_str()).filter(|id| uses.contains_key(id));
        // On a tie, the first one.
        let best = ids.rev().max_by_key(|id| gain(id)).expect("what is missing is some case's use");
        missing.retain(|one| !uses[best].contains(*one));
        chosen.push(best);
    }
}

/// What the full suite distinguishes and a set of cases does not, one line each.
#[must_use]
pub fn lacks(spec: &Specification, strength: &Strength, breaks: &[Break], chosen: &[&str]) -> Vec<String> {
    let uses = uses(spec, strength, breaks);
    let all: BTreeSet<&Use> = uses.values().flatten().filter(|one| one.tells()).collect();
    let has: BTreeSet<&Use> = chosen.iter().filter_map(|id| uses.get(*id)).flatten().collect();
    all.difference(&has).map(|one| format!("{one:?}")).collect()
}

/// How many pairs of clause and outcome a set of cases covers, and how many there are. A clause of a family counts once,
/// not once per operator.
#[must_use]
pub fn share_of_clauses(spec: &Specification, chosen: &[&str]) -> (usize, usize) {
    let uses = of_clauses(spec);
    let all: BTreeSet<&Use> = uses.values().flatten().collect();
    let has: BTreeSet<&Use> = chosen.iter().filter_map(|id| uses.get(*id)).flatten().collect();
    (has.len(), all.len())
}

/// How many pairs of sizes a set of cases covers, and how many there are.
#[must_use]
pub fn share_of_pairs(spec: &Specification, chosen: &[&str]) -> (usize, usize) {
    let all: HashSet<Pair<'_>> = spec.cases.iter().flat_map(pairs).collect();
    let cases = spec.cases.iter().filter(|case| chosen.contains(&case.id.as_str()));
    (cases.flat_map(pairs).collect::<HashSet<_>>().len(), all.len())
}

/// Two sizes that occur together in a case of a form, such as `n=2` and `element-bytes=8`.
type Pair<'a> = (&'a str, &'a str, &'a str);

/// The pairs of sizes of a grid case.
fn pairs<'c>(case: &'c Case) -> Vec<Pair<'c>> {
    let Some((_, sizes)) = case.id.split_once('[').filter(|_| case.grid_point.is_some()) else {
        return Vec::new();
    };
    let written = case.family.as_deref().unwrap_or(&case.written);
    let sizes: Vec<&'c str> =
        sizes.trim_end_matches(']').split(',').filter(|size| size.contains('=')).collect();
    let of_one = |(at, one): (usize, &&'c str)| {
        let one = *one;
        sizes[at + 1..].iter().map(|other| (written, one, *other)).collect::<Vec<_>>()
    };
    sizes.iter().enumerate().flat_map(of_one).collect()
}

/// Adds the cases with the most new pairs, one at a time, until there are [`MOST`].
fn add_pairs<'a>(cases: &'a [Case], chosen: &mut Vec<&'a str>) {
    let has = |chosen: &[&str], case: &Case| chosen.contains(&case.id.as_str());
    let mut covered: HashSet<Pair<'_>> =
        cases.iter().filter(|case| has(chosen, case)).flat_map(pairs).collect();
    let of_all: Vec<(&Case, Vec<Pair<'_>>)> = cases.iter().map(|case| (case, pairs(case))).collect();
    while chosen.len() < MOST {
        let gain = |pairs: &[Pair<'_>]| pairs.iter().filter(|pair| !covered.contains(*pair)).count();
        // On a tie, the first one.
        let Some((case, pairs)) = of_all.iter().rev().max_by_key(|(_, pairs)| gain(pairs)) else { return };
        if gain(pairs) == 0 {
            return;
        }
        covered.extend(pairs);
        chosen.push(&case.id);
    }
}

/// The clauses that each case covers, by id.
fn of_clauses(spec: &Specification) -> HashMap<&str, BTreeSet<Use>> {
    let mut uses: HashMap<&str, BTreeSet<Use>> = HashMap::new();
    for (clause, coverage) in spec.clauses.iter().zip(spec.coverage()) {
        let own = [clause.id.clone()];
        for name in if clause.stands_for.is_empty() { &own[..] } else { &clause.stands_for } {
            for id in &coverage.accepting {
                uses.entry(id).or_default().insert(Use::Accepts(name.clone()));
            }
            for (code, ids) in &coverage.rejecting {
                for id in ids {
                    uses.entry(id).or_default().insert(Use::Rejects(name.clone(), *code));
                }
            }
        }
    }
    uses
}

/// The purposes that each case serves, by id.
fn uses<'a>(
    spec: &'a Specification,
    strength: &'a Strength,
    breaks: &'a [Break],
) -> HashMap<&'a str, BTreeSet<Use>> {
    let mut uses = of_clauses(spec);
    for caught in &strength.results {
        for kill in &caught.kills {
            let uses = uses.entry(&kill.case).or_default();
            uses.extend(
                spec.signatures().get(&kill.operator).map(|one| Use::Catches(caught.mutant, one.form)),
            );
            uses.insert(Use::CatchesOn(caught.mutant, kill.operator.clone()));
        }
    }
    for Break { id, case } in breaks.iter().filter(|one| spec.case(&one.case).is_some()) {
        uses.entry(case).or_default().insert(Use::Finds(id.clone()));
    }
    uses
}

/// Drops cases that serve no purpose of their own, last chosen first.
fn drop_needless(uses: &HashMap<&str, BTreeSet<Use>>, chosen: &mut Vec<&str>) {
    for at in (0..chosen.len()).rev() {
        let others = chosen.iter().enumerate().filter(|(other, _)| *other != at);
        let covered: BTreeSet<&Use> = others.flat_map(|(_, id)| &uses[id]).collect();
        if uses[chosen[at]].iter().filter(|one| one.tells()).all(|one| covered.contains(one)) {
            chosen.remove(at);
        }
    }
}
