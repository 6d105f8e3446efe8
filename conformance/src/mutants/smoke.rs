//! The fewest cases that are as strong as all of them: they cover what all cover, and catch every mutant that all catch.

use std::collections::{BTreeSet, HashMap};

use gather_spec::{ErrorCode, Specification};

use super::strength::Strength;

/// What a case is good for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Use {
    /// It accepts under a clause.
    Accepts(String),
    /// It rejects under a clause, with a code.
    Rejects(String, ErrorCode),
    /// It catches a mutant on an operator.
    Catches(&'static str, String),
}

/// The ids of a smallest set of cases, in the order of the suite: always the case that is good for most of what is
/// still missing, and in the end none that the others make needless.
#[must_use]
pub fn choose(spec: &Specification, strength: &Strength) -> Vec<String> {
    let uses = uses(spec, strength);
    let mut missing: BTreeSet<&Use> = uses.values().flatten().collect();
    let mut chosen: Vec<&str> = Vec::new();
    while !missing.is_empty() {
        let gain = |id: &str| uses[id].iter().filter(|one| missing.contains(one)).count();
        let ids = spec.cases.iter().map(|case| case.id.as_str()).filter(|id| uses.contains_key(id));
        // The first of several that are as good.
        let best = ids.rev().max_by_key(|id| gain(id)).expect("what is missing is some case's use");
        missing.retain(|one| !uses[best].contains(*one));
        chosen.push(best);
    }
    drop_needless(&uses, &mut chosen);
    let ids = spec.cases.iter().map(|case| &case.id);
    ids.filter(|id| chosen.contains(&id.as_str())).cloned().collect()
}

/// What a set of cases lacks of what all cases are good for, a line each.
#[must_use]
pub fn lacks(spec: &Specification, strength: &Strength, chosen: &[&str]) -> Vec<String> {
    let uses = uses(spec, strength);
    let all: BTreeSet<&Use> = uses.values().flatten().collect();
    let has: BTreeSet<&Use> = chosen.iter().filter_map(|id| uses.get(*id)).flatten().collect();
    all.difference(&has).map(|one| format!("{one:?}")).collect()
}

/// What each case is good for, by id.
fn uses<'a>(spec: &'a Specification, strength: &'a Strength) -> HashMap<&'a str, BTreeSet<Use>> {
    let mut uses: HashMap<&str, BTreeSet<Use>> = HashMap::new();
    for (clause, coverage) in spec.clauses.iter().zip(spec.coverage()) {
        for id in coverage.accepting {
            uses.entry(id).or_default().insert(Use::Accepts(clause.id.clone()));
        }
        for (code, ids) in coverage.rejecting {
            for id in ids {
                uses.entry(id).or_default().insert(Use::Rejects(clause.id.clone(), code));
            }
        }
    }
    for caught in &strength.results {
        for kill in &caught.kills {
            let one = Use::Catches(caught.mutant, kill.operator.clone());
            uses.entry(&kill.case).or_default().insert(one);
        }
    }
    uses
}

/// Leaves out cases of which every use is another one's too, the last chosen first.
fn drop_needless(uses: &HashMap<&str, BTreeSet<Use>>, chosen: &mut Vec<&str>) {
    for at in (0..chosen.len()).rev() {
        let others = chosen.iter().enumerate().filter(|(other, _)| *other != at);
        let covered: BTreeSet<&Use> = others.flat_map(|(_, id)| &uses[id]).collect();
        if uses[chosen[at]].iter().all(|one| covered.contains(one)) {
            chosen.remove(at);
        }
    }
}
