//! Deliberately wrong implementations: a suite is worth what it catches, and this says what that is.
//!
//! [`all`] lists the mutants, [`strength`] runs cases against them, [`narrow`] does so behind
//! declarations of one dtype pair, [`smoke`] chooses the fewest cases that are as
//! strong. `model` is a correct gather taken apart into `steps`; each mutant replaces one of them. They stand by topic
//! in `axis`, `batch`, `bounds`, `errors`, `layout`, `payload`, `policy`, `ranks`, `rows`, `threads` and `width`;
//! `memory` is how tensors are misread.

mod axis;
mod batch;
mod bounds;
mod errors;
mod layout;
mod memory;
mod model;
pub mod narrow;
mod payload;
mod policy;
mod ranks;
mod rows;
pub mod smoke;
mod steps;
pub mod strength;
mod threads;
mod width;

use gather_spec::{BadIndex, Call, DType, NegativeIndex, Outcome, Profile};

use crate::backend::{Backend, Capability, Description, Identity};
use crate::report::Dtypes;

use model::{Model, RULES};

/// The policies under which most mutants are run: a bad index is an error, and a negative one is bad.
const ERROR: Profile = Profile { bad: BadIndex::Error, negative: NegativeIndex::Reject };
/// A bad index gives zeros.
const ZERO: Profile = Profile { bad: BadIndex::Zero, negative: NegativeIndex::Reject };
/// A bad index is clamped.
const CLAMP: Profile = Profile { bad: BadIndex::Clamp, negative: NegativeIndex::Reject };
/// Negative indices count from the end.
const WRAP: Profile = Profile { bad: BadIndex::Error, negative: NegativeIndex::Wrap };

const EVERY_OPERATOR: &[&str] = &["paddle.gather_nd", "tf.gather", "tf.gather_nd", "tf.raw_ops.GatherNd"];
const BY_ROWS: &[&str] = &["paddle.gather_nd", "tf.gather_nd", "tf.raw_ops.GatherNd"];
const BATCHED: &[&str] = &["tf.gather", "tf.gather_nd"];
const GATHER: &[&str] = &["tf.gather"];
const GATHER_ND: &[&str] = &["tf.gather_nd"];

/// A correct implementation but for one step.
pub struct Mutant {
    /// Its name, stable.
    pub id: &'static str,
    /// What it does, and should not.
    pub does: &'static str,
    /// The real bug that it stands for: a public thread, or a tool with its version, or the class of bugs.
    pub stands_for: &'static str,
    /// The operators that it is wrong on: the cases of each of them must catch it.
    pub operators: &'static [&'static str],
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
        Self { id, does, stands_for, operators: EVERY_OPERATOR, profiles: &[ERROR], threaded: false, change }
    }

    const fn on(mut self, operators: &'static [&'static str]) -> Self {
        self.operators = operators;
        self
    }

    const fn under(mut self, profiles: &'static [Profile]) -> Self {
        self.profiles = profiles;
        self
    }

    const fn threaded(mut self) -> Self {
        self.threaded = true;
        self
    }

    /// The mutant as a backend that declares a profile, and every dtype that the pages list.
    #[must_use]
    pub fn backend(&self, profile: Profile) -> Box<dyn Backend> {
        self.declaring(profile, None)
    }

    /// The same, declaring one dtype of params and one of indices only.
    fn declaring(&self, profile: Profile, narrow: Option<Dtypes>) -> Box<dyn Backend> {
        let mut model = Model::correct();
        (self.change)(&mut model);
        Box::new(Modelled { name: self.id, model, profile, narrow, threaded: self.threaded, threads: 1 })
    }
}

/// Every mutant, by topic.
#[must_use]
pub fn all() -> Vec<&'static Mutant> {
    let topics: [&[Mutant]; 11] = [
        batch::MUTANTS,
        axis::MUTANTS,
        bounds::MUTANTS,
        policy::MUTANTS,
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

/// The model that all mutants are made of, without a mutation: it must answer like the reference.
#[must_use]
pub fn correct(profile: Profile) -> Box<dyn Backend> {
    declaring(profile, None)
}

/// The same, declaring one dtype of params and one of indices only.
fn declaring(profile: Profile, narrow: Option<Dtypes>) -> Box<dyn Backend> {
    let model = Model::correct();
    Box::new(Modelled { name: "model", model, profile, narrow, threaded: false, threads: 1 })
}

/// A model as a backend.
struct Modelled {
    name: &'static str,
    model: Model,
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
        let capability = |rules: &model::Rules| {
            let dtypes = declared(rules.params_dtypes, self.narrow.map(|only| only.params));
            let index_dtypes = declared(rules.index_dtypes, self.narrow.map(|only| only.indices));
            (rules.name.to_owned(), Capability { profile: self.profile, dtypes, index_dtypes })
        };
        Description {
            backend: Identity {
                name: self.name.to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                language: "Rust".to_owned(),
            },
            operators: RULES.iter().map(capability).collect(),
        }
    }

    fn call(&mut self, call: &Call) -> Outcome {
        self.model.answer(call, self.profile, self.threads)
    }

    fn use_threads(&mut self, threads: usize) -> bool {
        self.threads = threads;
        self.threaded
    }
}
