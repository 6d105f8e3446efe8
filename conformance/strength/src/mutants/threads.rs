//! Right on one thread, wrong on several.

use super::mutant::Mutant;
use super::rows::UNWRITTEN;
use gather_campaign::model::{self, ModelCall};

pub(super) static MUTANTS: &[Mutant] = &[
    Mutant::new(
        "offender-of-the-last-thread",
        "names the first bad index of the last thread that meets one",
        "tensorflow 2.21.0, tf.gather_nd with several bad rows: whichever was stored last is named",
        |model| {
            model.offender = |call, dims, indices| {
                let part = part(call, indices.len());
                let starts = (0..indices.len()).step_by(part).rev();
                let first_of = |start: usize| {
                    let end = (start + part).min(indices.len());
                    (start..end).find(|at| call.within(indices[*at], model::bound_of(dims, *at)).is_none())
                };
                starts.filter_map(first_of).next()
            };
        },
    )
    .threaded(),
    Mutant::new(
        "rest-of-the-threads-unwritten",
        "gives each thread as many rows as the others and leaves the rest unwritten",
        "class: a division that rounds down",
        |model| {
            model.arrange = |call, _, mut picks| {
                let shared = picks.len() / call.threads * call.threads;
                if shared > 0 {
                    picks[shared..].fill(UNWRITTEN);
                }
                picks
            };
        },
    )
    .threaded(),
    Mutant::new(
        "only-the-first-thread-checks",
        "checks the indices of the first thread only",
        "class: a check that is not part of the parallel loop",
        |model| {
            model.offender = |call, dims, indices| {
                let part = part(call, indices.len());
                model::offender(call, dims, &indices[..part.min(indices.len())])
            };
        },
    )
    .threaded(),
    Mutant::new(
        "threads-in-the-order-they-end",
        "appends the rows of a thread when it ends, the last first",
        "class: results gathered as they come",
        |model| {
            model.arrange = |call, _, picks| {
                let parts: Vec<_> = picks.chunks(part(call, picks.len())).collect();
                parts.into_iter().rev().flatten().copied().collect()
            };
        },
    )
    .threaded(),
];

/// How many of the items each thread gets.
fn part(call: &ModelCall<'_>, items: usize) -> usize {
    items.div_ceil(call.threads).max(1)
}
