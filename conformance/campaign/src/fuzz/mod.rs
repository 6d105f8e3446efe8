//! Campaigns: millions of random calls that follow from a seed, in shards that can be interrupted and resumed.
//!
//! A failure takes this way:
//!
//! 1. **Draw.** A [`Campaign`] gives each case number a seed, and a [`Shard`] selects case numbers. The [`Check`](gather_conformance::internals::check::Check) draws
//!    [requests](gather_conformance::internals::check::CallRequest) from the seed: [`Differential`] compares with the reference, [laws](crate::laws) relate calls.
//! 2. **Ask.** A worker asks a [`CampaignSubject`], a built-in backend or a process, in chunks; [`drive()`] runs the workers.
//! 3. **Judge.** The check finds nothing, or a [violation](gather_conformance::internals::check::Violation). Failures with equal
//!    [keys](gather_conformance::internals::check::Key) form one group.
//! 4. **Shrink.** `shrink` makes the draws of a group's first failure fewer and smaller while the key stays the same.
//! 5. **Save.** `example` writes a case file. Later campaigns replay the saved files first, as the [`Corpus`].
//!
//! The [`CampaignReport`] holds the result and is also the checkpoint.

mod consistency;
mod corpus;
mod differential;
mod drive;
mod example;
pub mod expect;
mod merge;
mod only;
mod part;
mod plan;
mod report;
mod saved;
mod shrink;
mod subject;
mod worker;
mod yaml;

pub use corpus::{Corpus, Failing};
pub use differential::Differential;
pub use drive::{Aborted, Pace, Shrinking, drive, drive_with};
pub use example::Saver;
pub use example::remove_examples;
pub use expect::{allows, effective, tolerated, without_promise};
pub use merge::{MergeError, merge};
pub use only::OfOperators;
pub use plan::{Campaign, GENERATORS, MOST_CASES, SHORT, Shard, ShortCampaign};
pub use report::{CampaignReport, FailureGroup, ShrunkExample};
pub use saved::Saved;
pub use subject::{CampaignSubject, Subjects, silence_backends};
