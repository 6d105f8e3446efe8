//! What starts the program `gatherspec`, or looks at what it shows.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

#[macro_use]
#[path = "../tiers/mod.rs"]
mod tiers;

mod in_step;

mod action;
mod adapters;
mod ask;
mod bench;
mod browser;
mod cli;
mod documented;
mod examples;
mod exports;
mod extreme_pictures;
mod generated;
mod hostile;
mod hostile_arguments;
mod init;
mod isolation;
mod large;
mod later;
mod looking_up;
mod native;
mod operators_are_data;
mod page;
mod page_lines;
mod pictures;
mod protocol_page;
mod published;
mod pytest;
mod readme;
mod scale;
mod serve;
mod spec_add;
mod tutorial;

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
