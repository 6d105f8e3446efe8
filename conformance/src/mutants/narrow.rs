//! The strength of the suite for a backend that declares one dtype of params and one of indices, as most kernels do:
//! every mutant runs once more behind such a declaration.

use std::collections::BTreeSet;

use gather_spec::{Case, DType, Profile, Signature, Signatures};
use rayon::prelude::*;

use super::all;
use super::concern::Draws;
use super::mutant::{Mutant, declaring};
use super::strength::{Caught, LaidOut, Strength, Trial};
use crate::backend::Description;
use crate::report::Dtypes;

/// The declarations to try.
pub const DECLARATIONS: [Dtypes; 4] = [
    Dtypes { params: DType::F32, indices: DType::I64 },
    Dtypes { params: DType::I32, indices: DType::I32 },
    Dtypes { params: DType::U8, indices: DType::I64 },
    Dtypes { params: DType::String, indices: DType::I32 },
];

/// The result for one declaration.
#[derive(Clone, Debug)]
pub struct Narrow {
    /// The declaration.
    pub declared: Dtypes,
    /// How many cases have these dtypes or leave them open.
    pub cases: usize,
    /// How many pairs of mutant and operator are caught.
    pub caught: usize,
    /// The pairs of mutant and operator that are wrong on some call in these dtypes, but that no case catches.
    pub survivors: Vec<String>,
}

/// Runs the cases against every mutant behind one declaration, on the operators that it is wrong on according to `wide`.
/// Other operators cannot matter: a mutant that is right in every dtype is right in two of them.
#[must_use]
pub fn measure(signatures: &Signatures, cases: &[&Case], declared: Dtypes, wide: &Strength) -> Narrow {
    let correct = declaring(signatures, Profile::default(), Some(declared)).describe();
    let cases = cases.iter().filter(|case| case.grid_point.is_none());
    let asked: Vec<Case> = cases.filter_map(|case| within(&correct, case)).collect();
    let trial = Trial::new(signatures, asked.par_iter().map(LaidOut::new).collect(), Some(declared));
    let pairs: Vec<(&Mutant, &str)> = all().into_iter().flat_map(|mutant| concerned(mutant, wide)).collect();
    let count = pairs.len();
    let open: Vec<(&Mutant, &str)> =
        pairs.into_par_iter().filter(|(mutant, operator)| !trial.catches(mutant, operator)).collect();
    let caught = count - open.len();
    Narrow { declared, cases: asked.len(), caught, survivors: survivors(signatures, declared, &open) }
}

/// A mutant with each operator that it is wrong on.
fn concerned<'a>(mutant: &'static Mutant, wide: &'a Strength) -> Vec<(&'static Mutant, &'a str)> {
    let results = wide.results.iter().filter(|caught| caught.mutant == mutant.id);
    results.flat_map(Caught::operators).map(|operator| (mutant, operator)).collect()
}

/// The pairs among `open` that are wrong on some call in the declared dtypes.
fn survivors(signatures: &Signatures, declared: Dtypes, open: &[(&Mutant, &str)]) -> Vec<String> {
    let operators: BTreeSet<&str> = open.iter().map(|(_, operator)| *operator).collect();
    let signatures = signatures.iter().filter(|signature| operators.contains(signature.operator.as_str()));
    let signatures: Vec<&Signature> = signatures.collect();
    let draws: Vec<Draws> =
        signatures.into_par_iter().map(|signature| Draws::usual(signature, Some(declared))).collect();
    let is_wrong = |(mutant, operator): &&(&Mutant, &str)| {
        draws.iter().any(|draws| draws.operator() == *operator && draws.are_wrong_for(mutant))
    };
    let line = |(mutant, operator): &(&Mutant, &str)| format!("{} on {operator}: {}", mutant.id, mutant.does);
    open.par_iter().filter(is_wrong).map(line).collect()
}

/// The case in the declared dtypes, if its dtypes allow that.
fn within(description: &Description, case: &Case) -> Option<Case> {
    let capability = description.operators.get(case.call.operator.as_str())?;
    let case = case.within(&capability.dtypes, &capability.index_dtypes).ok()?;
    capability.covers(&case.roles()).then(|| case.into_owned())
}
