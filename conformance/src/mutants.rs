//! Deliberately wrong implementations: a suite is worth what it catches, and this says what that is.
//!
//! [`all`] lists the mutants, `concern` finds out on which operators each is wrong, [`strength`] runs cases against them, [`narrow`] does so behind
//! declarations of one dtype pair, [`smoke`] chooses the fewest cases that are as
//! strong. `model` is a correct gather taken apart into `steps`, and for windows `windowed`; each mutant replaces one of them. They stand by topic
//! in `axis`, `batch`, `bounds`, `broadcast`, `elements`, `errors`, `fill`, `layout`, `modes`, `payload`, `policy`, `ranks`, `rows`, `slice_sizes`, `threads`, `width`, `window` and `window_rules`;
//! `memory` is how tensors are misread, and `places` what the right model makes of each index, for pictures.

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

/// How many rounds of calls are drawn at most for a mutant that was wrong on none before.
const DRAW_ROUNDS: u64 = 20;

/// The policies under which most mutants are run: a bad index is an error, and a negative one is bad.
const ERROR: Profile = Profile { bad: BadIndex::Error, negative: NegativeIndex::Reject };
/// A bad index gives zeros.
const ZERO: Profile = Profile { bad: BadIndex::Zero, negative: NegativeIndex::Reject };
/// A bad index is clamped.
const CLAMP: Profile = Profile { bad: BadIndex::Clamp, negative: NegativeIndex::Reject };
/// Negative indices count from the end.
const WRAP: Profile = Profile { bad: BadIndex::Error, negative: NegativeIndex::Wrap };

/// A correct implementation but for one step.
pub struct Mutant {
    /// Its name, stable.
    pub id: &'static str,
    /// What it does, and should not.
    pub does: &'static str,
    /// The real bug that it stands for: a public thread, or a tool with its version, or the class of bugs.
    pub stands_for: &'static str,
    /// The profiles that it is run under.
    pub profiles: &'static [Profile],
    /// Whether it has a setting for the number of threads.
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

    /// The mutant as a backend of some operators that declares a profile, and every dtype that the pages list.
    #[must_use]
    pub fn backend(&self, signatures: &Signatures, profile: Profile) -> Box<dyn Backend> {
        self.declaring(signatures, profile, None)
    }

    /// The same, declaring one dtype of params and one of indices only.
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

    /// Whether it takes a wrong step in calls of a form.
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

/// The model that all mutants are made of, without a mutation, as a backend of some operators: it must answer like the
/// reference.
#[must_use]
pub fn correct(signatures: &Signatures, profile: Profile) -> Box<dyn Backend> {
    declaring(signatures, profile, None)
}

/// The same, declaring one dtype of params and one of indices only.
fn declaring(signatures: &Signatures, profile: Profile, narrow: Option<Dtypes>) -> Box<dyn Backend> {
    let (name, model, signatures) = ("model", CORRECT, signatures.clone());
    Box::new(Modelled { name, model, signatures, profile, narrow, threaded: false, threads: 1 })
}

/// The mutants that are wrong on some of 9,000 usual calls of an operator, by name.
#[must_use]
pub fn concerns(signature: &Signature) -> Vec<&'static str> {
    wrong_on(&Draws::usual(signature, None), |_| true)
}

/// Those of these mutants that are wrong on some call of an operator, usual or far: 10,000 calls, and for a mutant that is
/// wrong on none of them as many more in each of a few rounds.
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

/// What the model without a mutation answers by a signature.
pub(crate) fn answer(signature: &Signature, call: &Call, profile: Profile) -> Outcome {
    CORRECT.answer(signature, call, profile, 1)
}

/// A model as a backend.
struct Modelled {
    name: &'static str,
    model: Model,
    signatures: Signatures,
    profile: Profile,
    /// The only dtypes that it declares.
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
