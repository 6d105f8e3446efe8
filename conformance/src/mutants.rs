//! Mutants: deliberately wrong implementations. A suite is worth what it catches, so every mutant must be caught.
//!
//! `model` is a correct gather in steps (`steps`, and `windowed` for form window); a [`Mutant`] replaces one of them.
//! [`all`] lists the mutants, one module per topic. `concern` finds out on which operators a mutant is wrong. [`strength`]
//! runs cases against all mutants, [`narrow`] does so behind declarations of one dtype pair, and [`smoke`] chooses few
//! cases that are nearly as strong as all. `memory` reads tensors, wrongly if need be; `places` serves `show`.

mod axis;
mod batch;
mod bounds;
mod broadcast;
mod concern;
mod elements;
mod errors;
mod fill;
mod layout;
mod memory;
mod model;
mod modes;
pub mod narrow;
mod payload;
pub(crate) mod places;
mod policy;
mod ranks;
mod rows;
mod slice_sizes;
pub mod smoke;
mod steps;
pub mod strength;
mod threads;
mod width;
mod window;
mod window_rules;
mod windowed;

use std::collections::BTreeSet;

use gather_spec::signature::OperandRole;
use gather_spec::{BadIndex, Call, DType, Form, NegativeIndex, Outcome, Profile, Signature, Signatures};

use rayon::prelude::*;

use crate::backend::{Backend, Capability, Description, Identity};
use crate::report::Dtypes;

use concern::Draws;
use model::{CORRECT, Model};

/// The most rounds of calls to draw for a mutant that has not been wrong on any.
const DRAW_ROUNDS: u64 = 20;

/// The profile of most mutants: a bad index is an error, and so is a negative one.
const ERROR: Profile = Profile { bad: BadIndex::Error, negative: NegativeIndex::Reject };
/// A bad index gives zeros.
const ZERO: Profile = Profile { bad: BadIndex::Zero, negative: NegativeIndex::Reject };
/// A bad index is clamped.
const CLAMP: Profile = Profile { bad: BadIndex::Clamp, negative: NegativeIndex::Reject };
/// Negative indices count from the end.
const WRAP: Profile = Profile { bad: BadIndex::Error, negative: NegativeIndex::Wrap };

/// A correct implementation except for one step.
pub struct Mutant {
    /// Its stable name.
    pub id: &'static str,
    /// What it does wrong.
    pub does: &'static str,
    /// The real bug that it stands for: a public thread, or a tool with its version, or the class of bugs.
    pub stands_for: &'static str,
    /// The profiles to run it under.
    pub profiles: &'static [Profile],
    /// Whether it lets the runner set the number of threads.
    threaded: bool,
    change: fn(&mut Model),
}

impl Mutant {
    const fn new(
        id: &'static str,
        does: &'static str,
        stands_for: &'static str,
        change: fn(&mut Model),
    ) -> Self {
        Self { id, does, stands_for, profiles: &[ERROR], threaded: false, change }
    }

    const fn under(mut self, profiles: &'static [Profile]) -> Self {
        self.profiles = profiles;
        self
    }

    const fn threaded(mut self) -> Self {
        self.threaded = true;
        self
    }

    /// The mutant as a backend for some operators, which declares a profile and every dtype that the pages list.
    #[must_use]
    pub fn backend(&self, signatures: &Signatures, profile: Profile) -> Box<dyn Backend> {
        self.declaring(signatures, profile, None)
    }

    /// The same, declaring only one dtype of params and one of indices.
    fn declaring(
        &self,
        signatures: &Signatures,
        profile: Profile,
        narrow: Option<Dtypes>,
    ) -> Box<dyn Backend> {
        let signatures = signatures.clone();
        let (name, threaded) = (self.id, self.threaded);
        Box::new(Modelled { name, model: self.model(), signatures, profile, narrow, threaded, threads: 1 })
    }

    /// Whether calls of a form take its wrong step.
    fn is_wrong_for(&self, form: Form) -> bool {
        self.model().is_wrong_for(form)
    }

    fn model(&self) -> Model {
        let mut model = CORRECT;
        (self.change)(&mut model);
        model
    }
}

/// Every mutant, by topic.
#[must_use]
pub fn all() -> Vec<&'static Mutant> {
    let topics: [&[Mutant]; 18] = [
        batch::MUTANTS,
        axis::MUTANTS,
        bounds::MUTANTS,
        elements::MUTANTS,
        window::MUTANTS,
        window_rules::MUTANTS,
        slice_sizes::MUTANTS,
        broadcast::MUTANTS,
        policy::MUTANTS,
        modes::MUTANTS,
        fill::MUTANTS,
        ranks::MUTANTS,
        rows::MUTANTS,
        width::MUTANTS,
        payload::MUTANTS,
        layout::MUTANTS,
        errors::MUTANTS,
        threads::MUTANTS,
    ];
    topics.into_iter().flatten().collect()
}

/// The model without a mutation, as a backend for some operators. It must answer like the reference.
#[must_use]
pub fn correct(signatures: &Signatures, profile: Profile) -> Box<dyn Backend> {
    declaring(signatures, profile, None)
}

/// The same, declaring only one dtype of params and one of indices.
fn declaring(signatures: &Signatures, profile: Profile, narrow: Option<Dtypes>) -> Box<dyn Backend> {
    let (name, model, signatures) = ("model", CORRECT, signatures.clone());
    Box::new(Modelled { name, model, signatures, profile, narrow, threaded: false, threads: 1 })
}

/// The names of the mutants that are wrong on one of 9,000 usual calls of an operator.
#[must_use]
pub fn concerns(signature: &Signature) -> Vec<&'static str> {
    wrong_on(&Draws::usual(signature, None), |_| true)
}

/// Those of `mutants` that are wrong on a usual or far call of an operator. Draws 10,000 calls, and for mutants that are
/// right on all of them as many more in each of a few further rounds.
#[must_use]
pub fn wrong_on_draws(signature: &Signature, mutants: &BTreeSet<&str>) -> BTreeSet<&'static str> {
    let mut seen = BTreeSet::new();
    for round in 0..DRAW_ROUNDS {
        if seen.len() == mutants.len() {
            break;
        }
        let missing = |mutant: &str| mutants.contains(mutant) && !seen.contains(mutant);
        let wrong = wrong_on(&Draws::all(signature, round), missing);
        seen.extend(wrong);
    }
    seen
}

fn wrong_on(draws: &Draws, wanted: impl Fn(&str) -> bool + Sync) -> Vec<&'static str> {
    let chosen = all().into_par_iter().filter(|mutant| wanted(mutant.id));
    chosen.filter(|mutant| draws.are_wrong_for(mutant)).map(|mutant| mutant.id).collect()
}

/// The answer of the model without a mutation.
pub(crate) fn answer(signature: &Signature, call: &Call, profile: Profile) -> Outcome {
    CORRECT.answer(signature, call, profile, 1)
}

/// A model as a backend.
struct Modelled {
    name: &'static str,
    model: Model,
    signatures: Signatures,
    profile: Profile,
    /// The only dtypes to declare, if not all.
    narrow: Option<Dtypes>,
    threaded: bool,
    threads: usize,
}

impl Backend for Modelled {
    fn describe(&self) -> Description {
        let declared = |listed: &[DType], only: Option<DType>| -> Vec<DType> {
            listed.iter().copied().filter(|dtype| only.is_none_or(|only| only == *dtype)).collect()
        };
        let capability = |signature: &Signature| {
            let listed = |role| &*signature.operand(role).dtypes;
            let dtypes = declared(listed(OperandRole::Params), self.narrow.map(|only| only.params));
            let index_dtypes = declared(listed(OperandRole::Indices), self.narrow.map(|only| only.indices));
            let capability = Capability { profile: self.profile, dtypes, index_dtypes };
            (signature.operator.to_string(), capability)
        };
        Description {
            backend: Identity {
                name: self.name.to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                language: "Rust".to_owned(),
            },
            operators: self.signatures.iter().map(capability).collect(),
        }
    }

    fn call(&mut self, call: &Call) -> Outcome {
        match self.signatures.get(call.operator.as_str()) {
            Some(signature) => self.model.answer(signature, call, self.profile, self.threads),
            None => Outcome::Unsupported(format!("the operator `{}` is not modelled", call.operator)),
        }
    }

    fn use_threads(&mut self, threads: usize) -> bool {
        self.threads = threads;
        self.threaded
    }
}
