//! Tests implementations of gather against GatherSpec.
//!
//! - Implement [`Backend`] to test a library in Rust: [`harness()`] for `cargo test`, [`standalone()`] for a program.
//!   [`builtin`] has the project's own two.
//! - Speak the protocol: [`protocol`] has the messages, [`serve`] answers them for a backend, [`schemas`] describes them.
//!
//! Every other module is hidden: it is public for the tests and programs of this project only, and may change at any time.
//! A call goes to a backend: a built-in one through `runner`, which repeats it over layouts (`layout`) and threads, or a
//! program in a `process` of its own, such as an adapter (`adapters`) or a library (`native`). `judge` turns the outcome
//! into a verdict, and the verdict goes into a `report`, with the `difference` between outputs and the `deviations` that
//! explain it. `results` stores reports. `picture` draws a call by means of a `trace`, `show` prints
//! a case, a clause or an operator, `questions` compares operators, `book`
//! renders everything as one text, `select` selects cases,
//! `ask` reads typed calls. Beyond the cases, `generate` makes calls, `fuzz` runs campaigns
//! against the reference, `laws` need no reference, and `mutants` measure the strength of the suite. `cli` is the binary.
//!
//! The feature `cli` brings the binary, [`standalone()`], adapters and the forms of whole reports; the feature `harness`
//! brings [`harness()`]. Both are on by default. Without them this crate has no command line and no test runner.

#![deny(unsafe_code)]
#![cfg_attr(
    not(feature = "cli"),
    allow(dead_code, reason = "much that is private is there for the command line")
)]

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod adapters;
#[cfg(feature = "cli")]
mod answers;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod ask;
pub mod backend;
#[cfg(feature = "cli")]
mod bench;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod book;
pub mod builtin;
#[doc(hidden)]
pub mod check;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
mod declared;
#[doc(hidden)]
pub mod deviations;
#[doc(hidden)]
pub mod difference;
mod entry;
mod facts;
mod files;
#[doc(hidden)]
pub mod fuzz;
#[doc(hidden)]
pub mod generate;
#[cfg(feature = "harness")]
mod harness;
mod interrupt;
#[doc(hidden)]
pub mod judge;
#[doc(hidden)]
pub mod laws;
#[doc(hidden)]
pub mod layout;
mod limits;
mod model;
#[doc(hidden)]
pub mod mutants;
#[doc(hidden)]
pub mod native;
#[doc(hidden)]
pub mod picture;
#[doc(hidden)]
pub mod process;
pub mod protocol;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod questions;
#[doc(hidden)]
pub mod report;
#[doc(hidden)]
pub mod reproduction;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod results;
#[doc(hidden)]
pub mod runner;
#[cfg(feature = "cli")]
mod schema_names;
pub mod schemas;
#[doc(hidden)]
pub mod select;
pub mod serve;
mod shell;
#[doc(hidden)]
pub mod show;
#[cfg(feature = "cli")]
mod signals;
#[cfg(feature = "cli")]
mod standalone;
mod strict;
mod style;
#[cfg(feature = "cli")]
mod terminal;
#[doc(hidden)]
pub mod trace;
mod trouble;
mod words;

pub use backend::Backend;
#[cfg(feature = "harness")]
pub use harness::{harness, harness_with};
pub use limits::{Extends, Limits};
#[cfg(feature = "cli")]
pub use standalone::standalone;

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
