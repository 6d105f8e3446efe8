//! Pairs of a mutant and an operator that it is wrong on, and which of them no case catches: where a backend declares all
//! dtypes, and where it declares one of params and one of indices, as most kernels do.

use std::collections::{BTreeMap, BTreeSet};

use gather_spec::{DType, Profile, Run, Signature, Signatures};
use rayon::prelude::*;

use super::all;
use super::concern::AnsweredCalls;
use super::mutant::{Mutant, declaring};
use super::strength::{CaughtUnder, LaidOut, Trial};
use gather_conformance::backend::Description;
use gather_conformance::backend::Dtypes;

/// Declarations of one dtype pair.
pub const NARROW: [Dtypes; 4] = [
    Dtypes { params: DType::F32, indices: DType::I64 },
    Dtypes { params: DType::I32, indices: DType::I32 },
    Dtypes { params: DType::U8, indices: DType::I64 },
    Dtypes { params: DType::String, indices: DType::I32 },
];

/// A mutant and an operator that it is wrong on.
pub type MutantOnOperator<'a> = (&'static Mutant, &'a str);

/// The pairs that `draws` drawn calls of each operator show, of which all beyond 9,000 are far ones.
#[must_use]
pub fn wrong(signatures: &Signatures, draws: u64) -> Vec<MutantOnOperator<'_>> {
    let signatures: Vec<&Signature> = signatures.iter().collect();
    let of_operator = |signature: &'_ Signature| {
        let draws = AnsweredCalls::some(signature, draws);
        all().into_par_iter().filter(|mutant| draws.are_wrong_for(mutant)).collect::<Vec<_>>()
    };
    let pairs = signatures.into_par_iter().flat_map_iter(|signature| {
        of_operator(signature).into_iter().map(|mutant| (mutant, signature.operator.as_str()))
    });
    pairs.collect()
}

/// The pairs that no case catches, where the mutants declare all dtypes or those of `declared`. Runs of cases with many sizes are
/// left out.
#[must_use]
pub fn open<'a>(
    signatures: &Signatures,
    cases: &[&Run],
    pairs: &[MutantOnOperator<'a>],
    declared: Option<Dtypes>,
) -> Vec<MutantOnOperator<'a>> {
    let asked = asked(signatures, cases, declared);
    let trial = Trial::new(signatures, asked.par_iter().map(LaidOut::new).collect(), declared);
    pairs.par_iter().filter(|(mutant, operator)| !trial.catches(mutant, operator)).copied().collect()
}

/// The mutants under each profile that each run catches where a program is asked that declares all dtypes or those of
/// `declared`, by the id of the run. Runs of cases with many sizes are left out, and so is what catches nothing; a large case
/// counts for what no small one catches, and only where all dtypes are declared, since its mutants are those of sizes. Without codes, any error is as good as another.
#[must_use]
pub fn caught_in_programs(
    signatures: &Signatures,
    cases: &[&Run],
    declared: Option<Dtypes>,
    has_codes: bool,
) -> BTreeMap<String, BTreeSet<CaughtUnder>> {
    let asked = asked(signatures, cases, declared);
    let laid_out = asked.par_iter().map(LaidOut::new).filter(|laid| declared.is_none() || !laid.is_large());
    let trial = Trial::new(signatures, laid_out.collect(), declared);
    let caught = trial.caught_in_programs(has_codes).into_iter().filter(|(_, caught)| !caught.is_empty());
    caught.map(|(id, caught)| (id.to_owned(), caught)).collect()
}

/// The runs that such a backend is asked, but those of cases with many sizes.
fn asked(signatures: &Signatures, cases: &[&Run], declared: Option<Dtypes>) -> Vec<Run> {
    let description = declaring(signatures, Profile::default(), declared).describe();
    let cases = cases.par_iter().filter(|case| !case.case.axes.has_sizes());
    let asked = cases.filter_map(|case| {
        if declared.is_some() { within(&description, case) } else { Some((**case).clone()) }
    });
    asked.collect()
}

/// The pairs that are also wrong on some call in the declared dtypes.
#[must_use]
pub fn wrong_within<'a>(
    signatures: &Signatures,
    pairs: &[MutantOnOperator<'a>],
    declared: Dtypes,
) -> Vec<MutantOnOperator<'a>> {
    let operators: BTreeSet<&str> = pairs.iter().map(|(_, operator)| *operator).collect();
    let signatures = signatures.iter().filter(|signature| operators.contains(signature.operator.as_str()));
    let signatures: Vec<&Signature> = signatures.collect();
    let draws: Vec<AnsweredCalls> =
        signatures.into_par_iter().map(|signature| AnsweredCalls::usual(signature, Some(declared))).collect();
    let is_wrong = |(mutant, operator): &&MutantOnOperator<'_>| {
        draws.iter().any(|draws| draws.operator() == *operator && draws.are_wrong_for(mutant))
    };
    pairs.par_iter().filter(is_wrong).copied().collect()
}

/// The case in the declared dtypes, if its dtypes allow that.
fn within(description: &Description, case: &Run) -> Option<Run> {
    let capability = description.operators.get(case.call.operator.as_str())?;
    let case = case.within(&capability.dtypes, &capability.index_dtypes).ok()?;
    capability.covers(&case.roles()).then(|| case.into_owned())
}
