//! What the documents say of a call: the outcome of the reference, the case that has this very call, and clauses.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use gather_spec::any::OpenDtypes;
use gather_spec::case::{Arm, Expectation, When};
use gather_spec::load::Maker;
use gather_spec::{
    Allowed, BadIndex, Basis, Call, Case, Clause, DType, ErrorCode, Outcome, Profile, Run, Specification,
    Tensor,
};

use crate::questions;
use gather_campaign::fuzz::expect;
use gather_campaign::model::places::moved;
use gather_conformance::builtin;

use super::call::TypedCall;

/// The id of a typed call, where a case has its own.
const ID: &str = "the call";

/// The most indices of a case to look at.
const SMALL: usize = 64;

/// The clauses of families that say which shape and which values the output has.
const FORMULAS: [&str; 5] =
    ["shape.formula", "shape.axis-replaced", "shape.of-indices", "value.formula", "value.slices"];

/// What the documents say of a call.
#[derive(Debug)]
pub struct DocumentedAnswer<'a> {
    /// The run that has this very call, if there is one.
    pub run: Option<Run>,
    /// The answers that the documents permit, those of the first profile that they permit first.
    pub permitted: Vec<Permitted<'a>>,
}

/// An answer that the documents permit.
#[derive(Debug)]
pub struct Permitted<'a> {
    /// The first profile with this answer.
    pub profile: Profile,
    /// What the reference answers or, without one, what follows from the signature.
    pub outcome: Outcome,
    /// The outcomes that are allowed. Empty if the reference cannot tell.
    pub allowed: Vec<Allowed>,
    /// The clauses that the answer rests on.
    pub clauses: Vec<&'a Clause>,
    /// The run that is most like the call, if none has it.
    pub alike: Option<Run>,
}

impl Permitted<'_> {
    /// How well the answer is supported.
    #[must_use]
    pub fn basis(&self) -> Basis {
        Basis::of(self.clauses.iter().copied())
    }
}

/// Looks up what the documents say of a call.
#[must_use]
pub fn answer<'a>(spec: &'a Specification, asked: &TypedCall) -> DocumentedAnswer<'a> {
    let page = spec.operator(asked.call.operator.as_str());
    let runs = runs_of(spec, asked);
    let run = runs.iter().find(|run| is_this(run, asked)).cloned();
    let mut answer = DocumentedAnswer { run, permitted: Vec::new() };
    for profile in page.map_or_else(Vec::new, questions::profiles) {
        let outcome = outcome(spec, &asked.call, profile);
        let expected =
            answer.run.as_ref().and_then(|run| in_dtypes(run, asked)).map(|run| run.expect.under(profile));
        let allowed =
            expected.unwrap_or_else(|| expect::allowed(&spec.signatures(), &asked.call, profile, &outcome));
        let is_new = |known: &Permitted<'_>| (&known.allowed, &known.outcome) != (&allowed, &outcome);
        if !answer.permitted.iter().all(is_new) {
            continue;
        }
        let alike = if answer.run.is_none() { alike(spec, asked, &runs, profile, &allowed) } else { None };
        let clauses = clauses(spec, asked, profile, answer.run.as_ref().or(alike), &outcome);
        let alike = alike.cloned();
        answer.permitted.push(Permitted { profile, outcome, allowed, clauses, alike });
    }
    answer
}

/// The runs of the operator's cases.
fn runs_of(spec: &Specification, asked: &TypedCall) -> Vec<Run> {
    let mut maker = Maker::default();
    let own = spec.cases.iter().filter(|case| *case.operator() == asked.call.operator);
    own.flat_map(|case| maker.runs(case)).collect()
}

/// What the reference answers or, for an operator that it lacks, what follows from the signature.
fn outcome(spec: &Specification, call: &Call, profile: Profile) -> Outcome {
    builtin::answerer(&spec.signatures(), call.operator.as_str(), profile, expect::MAX_OUTPUT).call(call)
}

impl<'a> DocumentedAnswer<'a> {
    /// The profile that the call is drawn under: the first that the pages of the operator permit.
    #[must_use]
    pub fn profile(&self) -> Profile {
        self.permitted.first().map_or_else(Profile::default, |first| first.profile)
    }

    /// The clauses that some answer rests on.
    #[must_use]
    pub fn clauses(&self) -> Vec<&'a Clause> {
        let mut clauses: Vec<&Clause> = Vec::new();
        for clause in self.permitted.iter().flat_map(|one| &one.clauses) {
            if !clauses.iter().any(|known| known.id == clause.id) {
                clauses.push(clause);
            }
        }
        clauses
    }

    /// The call as a run: that which has this very call, otherwise one that expects what the reference answers under each
    /// profile.
    #[must_use]
    pub fn as_run(&self, spec: &Specification, asked: &TypedCall) -> Run {
        let found = self.run.as_ref().and_then(|run| in_dtypes(run, asked));
        found.unwrap_or_else(|| self.made(spec, asked))
    }

    fn made(&self, spec: &Specification, TypedCall { call, names }: &TypedCall) -> Run {
        let signatures = spec.signatures();
        let arm = |profile: Profile| {
            let outcome = outcome(spec, call, profile);
            let when = When { bad: Some(profile.bad), negative: Some(profile.negative), ..When::default() };
            let allowed = expect::allowed(&signatures, call, profile, &outcome);
            Arm { when, clause: None, allowed }
        };
        let clauses = self.clauses();
        let signature = signatures.get(call.operator.as_str()).expect("the call was read by it").clone();
        let ids: Arc<[String]> = clauses.iter().map(|clause| clause.id.clone()).collect();
        let mut case = Case::new(ID.to_owned(), Arc::new(signature));
        case.clauses = Arc::clone(&ids);
        case.basis = Basis::of(clauses);
        case.names = names.clone();
        Run {
            id: ID.to_owned(),
            case: Arc::new(case),
            clauses: ids,
            open: OpenDtypes::default(),
            sparse: None,
            call: call.clone(),
            expect: Expectation { arms: Profile::all_specified().map(arm).collect() },
        }
    }
}

/// The case in the dtypes of the call, which it no longer leaves open.
fn in_dtypes(case: &Run, TypedCall { call, names }: &TypedCall) -> Option<Run> {
    let (params, indices) = (call.operands.get(&names.params)?, call.operands.get(&names.indices)?);
    let mut case = case.within(&[params.dtype()], &[indices.dtype()]).ok()?.into_owned();
    case.open = OpenDtypes::default();
    Some(case)
}

fn is_of(clause: &Clause, call: &Call) -> bool {
    clause.id.strip_prefix(call.operator.as_str()).is_some_and(|rest| rest.starts_with('.'))
}

/// Whether a case has this very call, in dtypes that it leaves open.
fn is_this(case: &Run, asked: &TypedCall) -> bool {
    case.sparse.is_none()
        && is_alike(case, asked)
        && in_dtypes(case, asked).is_some_and(|case| case.call == asked.call)
}

/// The clauses that an answer rests on: those of the case that has the call or is most like it, those with the formulas of an
/// output, and that of a negative index.
fn clauses<'a>(
    spec: &'a Specification,
    asked: &TypedCall,
    profile: Profile,
    case: Option<&Run>,
    outcome: &Outcome,
) -> Vec<&'a Clause> {
    let cited = case.map(|case| spec.clauses_under(case, profile)).unwrap_or_default();
    if case.is_some_and(|case| is_this(case, asked)) {
        return cited;
    }
    let own = spec.clauses.iter().filter(|clause| is_of(clause, &asked.call));
    let has_output = matches!(outcome, Outcome::Output(_));
    let is_rejecting = |clause: &Clause| code(outcome).is_some_and(|code| clause.rejects.contains(&code));
    let is_negative = moves_a_negative(spec, asked, profile);
    let is_wanted = |clause: &&Clause| {
        cited.iter().any(|one| one.id == clause.id)
            || cited.is_empty() && is_rejecting(clause)
            || has_output && is_formula(clause)
            || is_negative && stands_for(clause, &["index.negative"])
    };
    own.filter(is_wanted).collect()
}

/// Whether some index is negative and does not select its own value, for which the operator has a rule other than a remainder.
fn moves_a_negative(spec: &Specification, asked: &TypedCall, declared: Profile) -> bool {
    let Some(page) = spec.operator(asked.call.operator.as_str()) else { return false };
    let profile = expect::effective(page, &asked.call, declared);
    let is_valid =
        matches!(code(&outcome(spec, &asked.call, declared)), None | Some(ErrorCode::IndexOutOfRange));
    is_valid
        && profile.bad != BadIndex::Modulo
        && moved(page, &asked.call, profile).iter().any(|moved| moved.index < 0)
}

fn code(outcome: &Outcome) -> Option<ErrorCode> {
    match outcome {
        Outcome::Error(error) => error.code,
        _ => None,
    }
}

/// The case that is most like a call: one of the same mode with the same kinds of outcome and, if they decide, of indices. The
/// dtypes count first, then a firm basis, then shapes and attributes.
fn alike<'r>(
    spec: &Specification,
    asked: &TypedCall,
    runs: &'r [Run],
    profile: Profile,
    allowed: &[Allowed],
) -> Option<&'r Run> {
    let call = &asked.call;
    let page = spec.operator(call.operator.as_str())?;
    let mode = |call: &Call| page.mode_sent(&call.attributes).map(|mode| mode.mode.as_str());
    let by_index = allowed.iter().all(|one| match one {
        Allowed::Error(code, _) => *code == ErrorCode::IndexOutOfRange,
        _ => true,
    });
    let kinds = |call: &Call| -> BTreeSet<(bool, bool)> {
        moved(page, call, profile).iter().map(|moved| (moved.index < 0, moved.to.is_some())).collect()
    };
    let here = if by_index { kinds(call) } else { BTreeSet::new() };
    let is_small = |case: &&Run| case.sparse.is_none() && case.indices().shape().element_count() <= SMALL;
    let is_like = |case: &&Run| {
        outcomes(&case.expect.under(profile)) == outcomes(allowed)
            && mode(&case.call) == mode(call)
            && (!by_index || kinds(&case.call) == here)
    };
    runs.iter().filter(is_small).filter(is_like).min_by_key(|case| {
        let (dtypes, basis) = (has_dtypes(case, asked), Basis::of(spec.clauses_under(case, profile)));
        (Reverse(dtypes), basis, Reverse(likeness(case, asked)))
    })
}

/// What kinds of outcomes these are.
fn outcomes(allowed: &[Allowed]) -> Vec<Option<ErrorCode>> {
    let kind = |one: &Allowed| match one {
        Allowed::Error(code, _) => Some(*code),
        _ => None,
    };
    allowed.iter().map(kind).collect()
}

/// How many operands of a case may have the dtypes of the call.
fn has_dtypes(case: &Run, TypedCall { call, names }: &TypedCall) -> usize {
    let is = |name: &str, own: &Tensor, open: &[DType]| {
        call.operands.get(name).is_some_and(|one| own.dtype() == one.dtype() || open.contains(&one.dtype()))
    };
    usize::from(is(&names.params, case.params(), &case.open.params))
        + usize::from(is(&names.indices, case.indices(), &case.open.indices))
}

/// How many shapes and attributes a case has in common with the call.
fn likeness(case: &Run, TypedCall { call, names }: &TypedCall) -> usize {
    let shape = |name: &str| call.operands.get(name).map(Tensor::shape);
    let shapes = [(&names.params, case.params()), (&names.indices, case.indices())];
    let shapes = shapes.iter().filter(|(name, own)| shape(name) == Some(own.shape())).count();
    let attributes = case.call.attributes.iter();
    shapes + attributes.filter(|(name, value)| call.attributes.get(*name) == Some(value)).count()
}

/// Whether a clause is that of its form for the shape or for the values of the output.
fn is_formula(clause: &Clause) -> bool {
    stands_for(clause, &FORMULAS)
}

/// Whether a clause stands for one of these clauses of its family.
fn stands_for(clause: &Clause, family: &[&str]) -> bool {
    let mut of_family = clause.stands_for.iter().filter_map(|id| id.split_once('/'));
    of_family.any(|(_, clause)| family.contains(&clause))
}

/// Whether a case is a call of the same operator with the same shapes and attributes.
fn is_alike(case: &Run, TypedCall { call, names }: &TypedCall) -> bool {
    let shape = |name| call.operands.get(name).map(Tensor::shape);
    case.call.operator == call.operator
        && Some(case.params().shape()) == shape(&names.params)
        && Some(case.indices().shape()) == shape(&names.indices)
        && case.call.attributes == call.attributes
}
