//! Runs the cases of GatherSpec against gather implementations and judges what they answer.
//!
//! A case travels one way: its call goes to a [`backend`] (a [`builtin`] one, say) through the [`runner`], which
//! repeats it over [`layout`]s and threads, or to a [`process`] of its own, such as one of the [`adapters`] or a
//! [`native`] library; the outcome goes to the [`judge`]; and the verdict goes into a [`report`], with the
//! [`difference`] between two outputs and what [`deviations`] explain. [`results`] keep what is worth it.
//! [`harness()`] makes tests of a backend in Rust out of all that, [`standalone()`] a program. [`protocol`] and [`serve`] put a backend behind a
//! pipe, [`schemas`] says so in JSON Schema, [`show`] draws a case by a [`trace`], [`questions`] compare operators, [`book`]
//! writes the specification as one text, [`select`] chooses cases, and [`cli`] is the binary `gatherspec`.
//!
//! Beside the cases there are calls without end: [`generate`] makes them, [`fuzz`] runs campaigns of them against the
//! reference, and [`laws`] are relations between calls that need no reference.
//!
//! The feature `cli` brings the binary, [`standalone()`], adapters and the forms of whole reports; the feature `harness`
//! brings [`harness()`]. Both are on by default. Without them this crate knows no command line and no test runner.

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
mod standalone;
mod style;
pub mod trace;
mod words;

pub use backend::Backend;
#[cfg(feature = "harness")]
pub use harness::{harness, harness_with};
#[cfg(feature = "cli")]
pub use standalone::standalone;
