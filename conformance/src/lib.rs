//! Runs the cases of GatherSpec against implementations of gather and judges the answers.
//!
//! A call goes to a [`backend`]: a [`builtin`] one through the [`runner`], which repeats it over [`layout`]s and threads,
//! or a program in a [`process`] of its own, such as one of the [`adapters`] or a [`native`] library. The [`judge`] turns
//! the outcome into a verdict, and the verdict goes into a [`report`], with the [`difference`] between outputs and the
//! [`deviations`] that explain it. [`results`] stores reports.
//!
//! - Test a backend in Rust: [`harness()`] for `cargo test`, [`standalone()`] for a program.
//! - Speak the protocol: [`protocol`] has the messages, [`serve`] answers them for a backend, [`schemas`] describes them.
//! - Read the specification: [`show`] draws a case by means of a [`trace`], [`questions`] compares operators, [`book`]
//!   renders everything as one text, [`select`] selects cases.
//! - Beyond the cases: [`generate`] makes calls, [`fuzz`] runs campaigns against the reference, [`laws`] need no
//!   reference, and [`mutants`] measure the strength of the suite.
//! - [`cli`] is the binary `gatherspec`.
//!
//! The feature `cli` brings the binary, [`standalone()`], adapters and the forms of whole reports; the feature `harness`
//! brings [`harness()`]. Both are on by default. Without them this crate has no command line and no test runner.

#![deny(unsafe_code)]
#![cfg_attr(
    not(feature = "cli"),
    allow(dead_code, reason = "much that is private is there for the command line")
)]

#[cfg(feature = "cli")]
pub mod adapters;
pub mod backend;
#[cfg(feature = "cli")]
pub mod book;
pub mod builtin;
#[cfg(feature = "cli")]
pub mod cli;
pub mod deviations;
pub mod difference;
mod files;
pub mod fuzz;
pub mod generate;
#[cfg(feature = "harness")]
mod harness;
mod interrupt;
pub mod judge;
pub mod laws;
pub mod layout;
pub mod mutants;
pub mod native;
pub mod process;
pub mod protocol;
#[cfg(feature = "cli")]
pub mod questions;
pub mod report;
#[cfg(feature = "cli")]
pub mod results;
pub mod runner;
pub mod schemas;
pub mod select;
pub mod serve;
mod shell;
pub mod show;
#[cfg(feature = "cli")]
mod signals;
#[cfg(feature = "cli")]
mod standalone;
mod style;
pub mod trace;
mod words;

pub use backend::Backend;
#[cfg(feature = "harness")]
pub use harness::{harness, harness_with};
#[cfg(feature = "cli")]
pub use standalone::standalone;
