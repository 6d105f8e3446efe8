//! Mutants: deliberately wrong implementations. A suite is worth what it catches, so every mutant must be caught.
//!
//! `gather_campaign::model` is a correct gather in steps; a [`Mutant`] replaces one of them. [`all`] lists the mutants, one module per
//! topic. `concern` finds out on which operators a mutant is wrong. [`strength`] runs cases against all mutants, [`pairs`]
//! finds the mutants that no case catches, also behind declarations of one dtype pair, and what each case catches in programs.
//!
//! # A new mutant
//!
//! 1. Add an entry to the module of its topic: a name, what it does wrong, the real bug that it stands for, and the one step of
//!    the model that it replaces. Random calls find out on which operators it is wrong. `.under(…)` names the profiles that it
//!    runs under. A new topic needs its `mod` line and its place in [`all`].
//! 2. `cargo run --release -- mutants` lists the cases that catch it. If no case does, you have found a gap: write the missing
//!    case by hand, for each operator that is named. Do not weaken the mutant.
//!
//! `GATHERSPEC_TIER=full cargo test --test library mutants` runs every mutant again behind declarations of a single dtype
//! pair, such as f32 by i64. A mutant that survives there needs a case with `dtype: any`.

mod axis;
mod batch;
mod bounds;
mod broadcast;
mod concern;
mod elements;
mod errors;
mod fill;
mod layout;
mod modes;
mod mutant;
pub mod pairs;
mod payload;
mod policy;
mod ranks;
mod rows;
mod slice_sizes;
pub mod strength;
mod threads;
mod width;
mod window;
mod window_rows;
mod window_rules;

use std::collections::BTreeSet;

use gather_spec::Signature;
use rayon::prelude::*;

use concern::AnsweredCalls;
pub use mutant::{Mutant, correct};

/// The most rounds of calls to draw for a mutant that has not been wrong on any.
const DRAW_ROUNDS: u64 = 20;

/// Every mutant, by topic.
#[must_use]
pub fn all() -> Vec<&'static Mutant> {
    let topics: [&[Mutant]; 19] = [
        batch::MUTANTS,
        axis::MUTANTS,
        bounds::MUTANTS,
        elements::MUTANTS,
        window::MUTANTS,
        window_rows::MUTANTS,
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

/// The names of the mutants that are wrong on one of 9,000 usual calls of an operator.
#[must_use]
pub fn concerns(signature: &Signature) -> Vec<&'static str> {
    wrong_on(&AnsweredCalls::usual(signature, None), |_| true)
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
        let wrong = wrong_on(&AnsweredCalls::all(signature, round), missing);
        seen.extend(wrong);
    }
    seen
}

fn wrong_on(draws: &AnsweredCalls, wanted: impl Fn(&str) -> bool + Sync) -> Vec<&'static str> {
    let chosen = all().into_par_iter().filter(|mutant| wanted(mutant.id));
    chosen.filter(|mutant| draws.are_wrong_for(mutant)).map(|mutant| mutant.id).collect()
}
