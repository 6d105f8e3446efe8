//! The results of replaying the counterexamples that earlier campaigns saved.

use serde::{Deserialize, Serialize};

use gather_conformance::internals::judge::Verdict;

use super::plan::MOST_CASES;

/// The results of the saved cases.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Corpus {
    /// The number of saved cases.
    pub cases: u64,
    /// How many of them the backend does not support.
    pub unsupported: u64,
    /// How many of them were not replayed, or not with all settings, before the time was up.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unasked: u64,
    /// The cases that fail.
    pub failing: Vec<Failing>,
}

/// A saved case that fails.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failing {
    /// Its file.
    pub file: String,
    /// Its id.
    pub id: String,
    /// How it fails.
    pub verdict: Verdict,
    /// What was allowed, in words.
    pub expected: String,
    /// What the backend answered, in words.
    pub actual: String,
    /// A command line that repeats it.
    pub replay: String,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Corpus {
    /// Whether its numbers are consistent with each other.
    pub(super) fn adds_up(&self) -> bool {
        let parts = [self.unsupported, self.unasked, self.failing.len() as u64];
        let all = parts.into_iter().try_fold(0u64, u64::checked_add);
        self.cases <= MOST_CASES && all.is_some_and(|all| all <= self.cases)
    }

    /// How many of them have a verdict.
    #[must_use]
    pub const fn judged(&self) -> u64 {
        self.cases - self.unsupported - self.unasked
    }

    /// Adds the results of another shard.
    pub(super) fn join(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.cases, other.cases),
            (&mut self.unsupported, other.unsupported),
            (&mut self.unasked, other.unasked),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.failing.extend(other.failing.iter().cloned());
        self.failing.sort();
    }
}
