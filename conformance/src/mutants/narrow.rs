//! How strong the suite is for a backend that declares a single dtype of params and a single dtype of indices, as most
//! kernels do: every mutant once more behind such a declaration.

use gather_spec::{Case, DType, Profile, Signatures};
use rayon::prelude::*;

use super::strength::{Caught, LaidOut, Trial};
use super::{all, declaring};
use crate::backend::Description;
use crate::report::Dtypes;

/// The declarations that are tried.
pub const DECLARATIONS: [Dtypes; 4] = [
    Dtypes { params: DType::F32, indices: DType::I64 },
    Dtypes { params: DType::I32, indices: DType::I32 },
    Dtypes { params: DType::U8, indices: DType::I64 },
    Dtypes { params: DType::String, indices: DType::I32 },
];

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
pub fn measure(signatures: &Signatures, cases: &[&Case], declared: Dtypes) -> Narrow {
    let correct = declaring(signatures, Profile::default(), Some(declared)).describe();
    let cases = cases.iter().filter(|case| case.grid_point.is_none());
    let asked: Vec<Case> = cases.filter_map(|case| within(&correct, case)).collect();
    let trial = Trial::new(signatures, asked.par_iter().map(LaidOut::new).collect(), Some(declared));
    let results: Vec<Caught> = all().into_par_iter().map(|mutant| trial.caught(mutant, false)).collect();
    let line = |caught: &Caught, operator: &str| format!("{} on {operator}: {}", caught.mutant, caught.does);
    Narrow {
        declared,
        cases: asked.len(),
        caught: results.iter().map(Caught::operators).sum(),
        survivors: results
            .iter()
            .flat_map(|caught| caught.survives.iter().map(|on| line(caught, on)))
            .collect(),
    }
}

/// The case in the declared dtypes, if it can have them.
fn within(description: &Description, case: &Case) -> Option<Case> {
    let capability = description.operators.get(case.call.operator.as_str())?;
    let case = case.within(&capability.dtypes, &capability.index_dtypes).ok()?;
    capability.covers(&case.roles()).then(|| case.into_owned())
}
