//! The campaign of GatherSpec, beyond its cases: a part of the program `gatherspec`, which may change in any release.
//!
//! `generate` makes calls, `fuzz` runs campaigns of them against the reference, `laws` are relations between calls that need
//! no reference, and `model` is a right gather that each mutant makes wrong in one place.

#![forbid(unsafe_code)]

pub mod fuzz;
pub mod generate;
pub mod laws;
pub mod model;

/// The specification, read once for all unit tests.
#[cfg(test)]
fn embedded() -> &'static gather_spec::Specification {
    static SPEC: std::sync::LazyLock<gather_spec::Specification> = std::sync::LazyLock::new(|| {
        gather_spec::Specification::embedded().expect("the tests of spec read it")
    });
    &SPEC
}

/// All runs of the specification, made once for all unit tests.
#[cfg(test)]
fn embedded_runs() -> &'static [gather_spec::Run] {
    static RUNS: std::sync::LazyLock<Vec<gather_spec::Run>> = std::sync::LazyLock::new(|| embedded().runs());
    &RUNS
}
