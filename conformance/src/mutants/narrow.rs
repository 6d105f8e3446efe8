//! How strong the suite is for a backend that declares a single dtype of params and a single dtype of indices, as most
//! kernels do: every mutant once more behind such a declaration.

use std::collections::BTreeSet;

use gather_spec::{Call, Case, DType, Outcome, Profile, ReportedError};
use rayon::prelude::*;

use super::strength::{Caught, LaidOut, caught};
use super::{Mutant, all, declaring};
use crate::backend::{Backend, Description};
use crate::generate::{Choices, Maker};
use crate::report::Dtypes;

/// The declarations that are tried.
pub const DECLARATIONS: [Dtypes; 4] = [
    Dtypes { params: DType::F32, indices: DType::I64 },
    Dtypes { params: DType::I32, indices: DType::I32 },
    Dtypes { params: DType::U8, indices: DType::I64 },
    Dtypes { params: DType::String, indices: DType::I32 },
];

/// How many calls are drawn before a mutant counts as right in the declared dtypes.
const DRAWS: u64 = 20_000;

/// What the cases do to the mutants behind one declaration.
#[derive(Clone, Debug)]
pub struct Narrow {
    /// The declaration.
    pub declared: Dtypes,
    /// How many cases have these dtypes, or leave them open.
    pub cases: usize,
    /// How many pairs of mutant and operator are caught.
    pub caught: usize,
    /// Pairs of mutant and operator that are wrong on some call in the declared dtypes, and that no case catches.
    pub survivors: Vec<String>,
}

/// Runs the cases against every mutant behind one declaration.
#[must_use]
pub fn measure(cases: &[&Case], declared: Dtypes) -> Narrow {
    let correct = declaring(Profile::default(), Some(declared)).describe();
    let asked: Vec<Case> = cases.iter().filter_map(|case| within(&correct, case)).collect();
    let laid_out: Vec<LaidOut<'_>> = asked.par_iter().map(LaidOut::new).collect();
    let results: Vec<(usize, Vec<String>)> =
        all().into_par_iter().map(|mutant| on_operators(mutant, &laid_out, &correct, declared)).collect();
    Narrow {
        declared,
        cases: asked.len(),
        caught: results.iter().map(|(caught, _)| caught).sum(),
        survivors: results.into_iter().flat_map(|(_, survivors)| survivors).collect(),
    }
}

/// The case in the declared dtypes, if it can have them.
fn within(description: &Description, case: &Case) -> Option<Case> {
    let capability = description.operators.get(case.call.operator.as_str())?;
    let case = case.within(&capability.dtypes, &capability.index_dtypes).ok()?;
    capability.covers(&case.call).then(|| case.into_owned())
}

/// On how many operators a mutant is caught, and on which it is wrong without being caught.
fn on_operators(
    mutant: &'static Mutant,
    laid_out: &[LaidOut<'_>],
    correct: &Description,
    declared: Dtypes,
) -> (usize, Vec<String>) {
    let Caught { kills, survives, .. } = caught(mutant, laid_out, false, Some(declared));
    let killed: BTreeSet<&str> = kills.iter().map(|kill| kill.operator.as_str()).collect();
    let survivors = survives.iter().filter(|operator| is_wrong(mutant, operator, correct, declared));
    let line = |operator: &&str| format!("{} on {operator}: {}", mutant.id, mutant.does);
    (killed.len(), survivors.map(line).collect())
}

/// Whether a mutant differs from the right model on some drawn call of an operator in the declared dtypes.
fn is_wrong(mutant: &Mutant, operator: &str, correct: &Description, declared: Dtypes) -> bool {
    let mut one = correct.clone();
    one.operators.retain(|name, _| name == operator);
    let Some(capability) = one.operators.get(operator).cloned() else { return false };
    let maker = Maker::new(&one);
    mutant.profiles.iter().any(|profile| {
        let (mut right, mut wrong) =
            (declaring(*profile, Some(declared)), mutant.declaring(*profile, Some(declared)));
        wrong.use_threads(2);
        let mut choices = Choices::from_seed(0);
        (0..DRAWS).any(|seed| {
            choices.reseed(seed);
            let call = maker.call(&mut choices).ok().flatten().filter(|call| capability.covers(call));
            call.is_some_and(|call| answer(&mut *right, &call) != answer(&mut *wrong, &call))
        })
    })
}

/// What a backend answers, without texts.
fn answer(backend: &mut dyn Backend, call: &Call) -> Outcome {
    match backend.call(call) {
        Outcome::Error(error) => Outcome::Error(ReportedError { message: String::new(), ..error }),
        outcome => outcome,
    }
}
