//! What the documents say of a call: the outcome of the reference, the case that has this very call, and clauses.

use std::collections::BTreeSet;

use gather_spec::any::OpenDtypes;
use gather_spec::case::{Arm, Expectation, When};
use gather_spec::{Basis, Call, Case, Clause, ErrorCode, Outcome, Profile, Specification, Tensor};

use crate::builtin::Policies;
use crate::fuzz::expect;
use crate::mutants::places::moved;

use super::call::Asked;

/// The id of a typed call, where a case has its own.
const ID: &str = "the call";

/// The most indices of a case to look at.
const SMALL: usize = 64;

/// The clauses of families that say which shape and which values the output has.
const FORMULAS: [&str; 5] =
    ["shape.formula", "shape.axis-replaced", "shape.of-indices", "value.formula", "value.slices"];

/// What the documents say of a call.
#[derive(Debug)]
pub struct Answer<'a> {
    /// The profile of the answer: the first that the pages of the operator permit.
    pub profile: Profile,
    /// What the reference answers.
    pub outcome: Outcome,
    /// The case that has this very call, if there is one.
    pub case: Option<&'a Case>,
    /// The clauses that the answer rests on.
    pub clauses: Vec<&'a Clause>,
    /// How these clauses were found.
    pub from: &'static str,
}

/// Looks up what the documents say of a call.
#[must_use]
pub fn answer<'a>(spec: &'a Specification, asked: &Asked) -> Answer<'a> {
    let call = &asked.call;
    let page = spec.operator(call.operator.as_str());
    let profile = page.map_or_else(Profile::default, |page| Policies::default().of(page));
    let outcome = expect::reference(call, profile);
    let own: Vec<&Clause> = spec.clauses.iter().filter(|clause| is_of(clause, call)).collect();
    let case = spec.cases.iter().find(|case| is_this(case, asked));
    let (clauses, from) = match (case, code(&outcome)) {
        (Some(case), _) => {
            (case.clauses.iter().filter_map(|id| spec.clause(id)).collect(), "the clauses of that case")
        }
        (None, Some(code)) => {
            let rejecting = own.iter().copied().filter(|clause| clause.rejects.contains(&code)).collect();
            // Only a call that is valid except for its index values can be looked at index by index.
            let cited = match code {
                ErrorCode::IndexOutOfRange => {
                    cited_of_moved(spec, asked, profile, |case| case.expect.rejects(code))
                }
                _ => BTreeSet::new(),
            };
            (only_cited(rejecting, &cited), "the clauses whose breach is this error")
        }
        (None, None) => (of_alike(spec, &own, asked, profile), "the clauses of calls like this one"),
    };
    Answer { profile, outcome, case, clauses, from }
}

impl Answer<'_> {
    /// The call as a case: that which has this very call, otherwise one that expects what the reference answers under each
    /// profile.
    #[must_use]
    pub fn as_case(&self, spec: &Specification, asked: &Asked) -> Case {
        let found = self.case.and_then(|case| in_dtypes(case, asked));
        found.unwrap_or_else(|| self.made(spec, asked))
    }

    fn made(&self, spec: &Specification, Asked { call, names }: &Asked) -> Case {
        let signatures = spec.signatures();
        let arm = |profile: Profile| {
            let outcome = expect::reference(call, profile);
            let when = When { bad: Some(profile.bad), negative: Some(profile.negative), ..When::default() };
            Arm { when, allowed: expect::allowed(&signatures, call, profile, &outcome) }
        };
        Case {
            id: ID.to_owned(),
            written: ID.to_owned(),
            family: None,
            documented: None,
            clauses: self.clauses.iter().map(|clause| clause.id.clone()).collect(),
            basis: self.clauses.iter().map(|clause| clause.basis).max().unwrap_or(Basis::Ruling),
            why: None,
            history: Vec::new(),
            provenance: None,
            open: OpenDtypes::default(),
            grid_point: None,
            large: false,
            sparse: None,
            call: call.clone(),
            names: names.clone(),
            expect: Expectation { arms: Profile::all_specified().map(arm).collect() },
        }
    }
}

/// The case in the dtypes of the call, which it no longer leaves open.
fn in_dtypes(case: &Case, Asked { call, names }: &Asked) -> Option<Case> {
    let (params, indices) = (call.operands.get(&names.params)?, call.operands.get(&names.indices)?);
    let mut case = case.within(&[params.dtype()], &[indices.dtype()]).ok()?.into_owned();
    case.open = OpenDtypes::default();
    Some(case)
}

fn code(outcome: &Outcome) -> Option<ErrorCode> {
    match outcome {
        Outcome::Error(error) => error.code,
        _ => None,
    }
}

fn is_of(clause: &Clause, call: &Call) -> bool {
    clause.id.strip_prefix(call.operator.as_str()).is_some_and(|rest| rest.starts_with('.'))
}

/// Whether a case has this very call, in dtypes that it leaves open.
fn is_this(case: &Case, asked: &Asked) -> bool {
    case.sparse.is_none()
        && is_alike(case, asked)
        && in_dtypes(case, asked).is_some_and(|case| case.call == asked.call)
}

/// The clauses with the formulas of shape and values, and those that cases of the same shapes and attributes test. Where an
/// index does not select its own value, those of such indices as well.
fn of_alike<'a>(
    spec: &'a Specification,
    own: &[&'a Clause],
    asked: &Asked,
    profile: Profile,
) -> Vec<&'a Clause> {
    let accepting = |case: &Case| case.expect.accepts();
    let alike = spec.cases.iter().filter(|case| is_alike(case, asked) && accepting(case));
    let cited: BTreeSet<&str> = alike.flat_map(|case| case.clauses.iter().map(String::as_str)).collect();
    let of_moved = cited_of_moved(spec, asked, profile, accepting);
    let is_in = |clause: &Clause, area: &str| area_of(clause, &asked.call) == Some(area);
    let has_formula = own.iter().any(|clause| is_formula(clause));
    let is_wanted = |clause: &Clause| {
        let instead = !has_formula && (is_in(clause, "value") || is_in(clause, "shape"));
        is_formula(clause) || instead || cited.contains(clause.id.as_str())
    };
    let is_of_moved = |clause: &Clause| is_in(clause, "index") && of_moved.contains(clause.id.as_str());
    own.iter().copied().filter(|one| is_wanted(one) || is_of_moved(one)).collect()
}

/// Whether a clause is that of its form for the shape or for the values of the output.
fn is_formula(clause: &Clause) -> bool {
    let of_family = clause.stands_for.iter().filter_map(|id| id.split_once('/'));
    let mut of_family = of_family.map(|(_, clause)| clause);
    of_family.any(|clause| FORMULAS.contains(&clause))
}

/// The clauses of a list that are cited; all of them if none is.
fn only_cited<'a>(clauses: Vec<&'a Clause>, cited: &BTreeSet<&str>) -> Vec<&'a Clause> {
    let is_cited = |clause: &&&Clause| cited.contains(clause.id.as_str());
    let found: Vec<&Clause> = clauses.iter().filter(is_cited).copied().collect();
    if found.is_empty() { clauses } else { found }
}

/// The clauses that are cited by wanted cases with an index to which the same happens as to one of this call: it is
/// negative or too large, and selects something or nothing.
fn cited_of_moved<'a>(
    spec: &'a Specification,
    asked: &Asked,
    profile: Profile,
    is_wanted: impl Fn(&Case) -> bool,
) -> BTreeSet<&'a str> {
    let operator = &asked.call.operator;
    let Some(page) = spec.operator(operator.as_str()) else { return BTreeSet::new() };
    let kinds = |call: &Call| -> BTreeSet<(bool, bool)> {
        moved(page, call, profile).iter().map(|moved| (moved.index < 0, moved.to.is_some())).collect()
    };
    let here = kinds(&asked.call);
    let is_small = |case: &&Case| case.indices().shape().element_count() <= SMALL;
    let cases = spec.cases.iter().filter(|case| case.call.operator == *operator && is_wanted(case));
    let alike = cases.filter(is_small).filter(|case| {
        let mode = |call: &Call| page.mode_sent(&call.attributes).map(|mode| mode.mode.clone());
        !here.is_empty() && mode(&case.call) == mode(&asked.call) && kinds(&case.call) == here
    });
    alike.flat_map(|case| case.clauses.iter().map(String::as_str)).collect()
}

/// Whether a case is a call of the same operator with the same shapes and attributes.
fn is_alike(case: &Case, Asked { call, names }: &Asked) -> bool {
    let shape = |name| call.operands.get(name).map(Tensor::shape);
    case.call.operator == call.operator
        && Some(case.params().shape()) == shape(&names.params)
        && Some(case.indices().shape()) == shape(&names.indices)
        && case.call.attributes == call.attributes
}

/// The area of a clause of the call's operator: the part of the id behind the operator.
fn area_of<'c>(clause: &'c Clause, call: &Call) -> Option<&'c str> {
    clause.id.strip_prefix(call.operator.as_str())?.strip_prefix('.')?.split('.').next()
}
