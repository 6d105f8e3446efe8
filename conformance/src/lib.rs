//! Runs the cases of GatherSpec against gather implementations and judges what they answer.
//!
//! A case travels one way: its call goes to a [`backend`] (a [`builtin`] one, say) through the [`runner`], which
//! repeats it over [`layout`]s and threads, or to a [`process`] of its own, such as one of the [`adapters`]; the
//! outcome goes to the [`judge`] and the verdict, if need be explained by [`deviations`], into a [`report`], of which
//! [`results`] keep what is worth it.
//! [`harness()`] makes tests of a backend in Rust out of all that. [`protocol`] and [`serve`] put a backend behind a
//! pipe, [`schemas`] says so in JSON Schema, [`show`] draws a case by a [`trace`], [`book`] writes the specification
//! as one text, [`generate`] makes calls for differential tests, [`select`] chooses cases, and [`cli`] is the binary
//! `gatherspec`.

#![forbid(unsafe_code)]

pub mod adapters;
pub mod backend;
pub mod book;
pub mod builtin;
pub mod cli;
pub mod deviations;
pub mod generate;
mod harness;
pub mod judge;
pub mod layout;
pub mod process;
pub mod protocol;
pub mod report;
pub mod results;
pub mod runner;
pub mod schemas;
pub mod select;
pub mod serve;
pub mod show;
mod style;
pub mod trace;

pub use backend::Backend;
pub use harness::{harness, harness_with};
