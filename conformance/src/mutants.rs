//! Deliberately wrong implementations: a suite is worth what it catches, and this says what that is.
//!
//! [`all`] lists the mutants, `concern` finds out on which operators each is wrong, [`strength`] runs cases against them, [`narrow`] does so behind
//! declarations of one dtype pair, [`smoke`] chooses the fewest cases that are as
//! strong. `model` is a correct gather taken apart into `steps`, and for windows `windowed`; what they work on is in `asked` and `positions`. Each mutant
//! replaces one of them, see `mutant`. They stand by topic
//! in `axis`, `batch`, `bounds`, `broadcast`, `elements`, `errors`, `fill`, `layout`, `modes`, `payload`, `policy`, `ranks`, `rows`, `slice_sizes`, `threads`, `width`, `window` and `window_rules`;
//! `memory` is how tensors are misread, and `places` what the right model makes of each index, for pictures.

mod asked;
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
mod mutant;
pub mod narrow;
mod payload;
pub(crate) mod places;
mod policy;
mod positions;
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

use gather_spec::Signature;
use rayon::prelude::*;

use concern::Draws;
pub(crate) use model::answer;
pub use mutant::{Mutant, correct};

/// How many rounds of calls are drawn at most for a mutant that was wrong on none before.
const DRAW_ROUNDS: u64 = 20;

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
