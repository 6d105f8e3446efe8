//! Backends that do what backends should not: each costs its own call the exact verdict below, and the calls beside
//! it keep theirs.

mod calls;
mod inputs;
mod left_behind;
mod pipeline;
mod starts;
mod support;

use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    let topics =
        [calls::trials(), inputs::trials(), starts::trials(), left_behind::trials(), pipeline::trials()];
    topics.into_iter().flatten().collect()
}
