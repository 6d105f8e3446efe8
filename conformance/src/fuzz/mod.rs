//! Campaigns: random calls by the million, deterministic from a seed, split into shards, interrupted and resumed.
//!
//! A [`Campaign`] says what is drawn, a [`Shard`] which part of it. Each case is a [`Check`]: it asks [`Question`]s of
//! a [`Subject`] and finds that all is well or what is [`Broken`]: [`Differential`] compares with the reference, and the
//! [laws](crate::laws) ask for relations between calls. [`drive()`] runs the cases in rounds and keeps a [`Report`],
//! whose groups each hold one example, made small by `shrink` and written as a case file by `example`. What was saved so
//! before is the [`Corpus`], which is asked first.

mod check;
mod consistency;
mod corpus;
mod differential;
mod drive;
mod example;
mod expect;
mod merge;
mod only;
mod plan;
mod report;
mod saved;
mod shrink;
mod subject;
mod tally;
mod worker;
mod yaml;

pub use check::{Answer, Broken, Check, Key, Question, Step, Way};
pub use corpus::{Corpus, Failing};
pub use differential::Differential;
pub use drive::{Pace, Shrinking, Stopped, drive, drive_with};
pub use example::{Named, Saver};
pub(crate) use expect::{allows, effective, tolerated, without_promise};
pub use merge::{MergeError, merge};
pub use only::OfOperators;
pub use plan::{Campaign, GENERATORS, MOST_CASES, SHORT, Shard, Short};
pub use report::{Example, Group, Report};
pub use saved::Saved;
pub use subject::{Subject, Subjects, silence_backends};
pub use tally::Tally;
pub(crate) use tally::{BROKEN, SKIPPED};
