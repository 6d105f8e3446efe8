//! What needs no command line: cases, draws, laws, mutants and the rules of the repository, in this process.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

#[macro_use]
#[path = "../tiers/mod.rs"]
mod tiers;

#[path = "../program/in_step.rs"]
mod in_step;

mod campaigns;
mod differential;
mod draws;
mod enforcement;
mod mutants;
mod open_dtypes;
mod perturbed_signatures;
mod schemas;
mod smoke;

/// All runs of the embedded specification, made once for all tests.
fn embedded_runs() -> &'static [gather_spec::Run] {
    static RUNS: std::sync::LazyLock<Vec<gather_spec::Run>> = std::sync::LazyLock::new(|| embedded().runs());
    &RUNS
}

/// The embedded specification, read once for all tests.
fn embedded() -> &'static gather_spec::Specification {
    static SPEC: std::sync::LazyLock<gather_spec::Specification> = std::sync::LazyLock::new(|| {
        gather_spec::Specification::embedded().unwrap_or_else(|wrong| panic!("{}", wrong[0]))
    });
    &SPEC
}
