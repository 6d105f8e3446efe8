//! What the counterexamples that were saved before come to.

use serde::{Deserialize, Serialize};

use crate::judge::Verdict;

use super::plan::MOST_CASES;

/// What the cases that were saved before come to today.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Corpus {
    /// How many there are.
    pub cases: u64,
    /// How many of them the backend does not support.
    pub unsupported: u64,
    /// How many of them were not asked, or not in every way, before the time was up.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unasked: u64,
    /// Those that fail.
    pub failing: Vec<Failing>,
}

/// A case that was saved before, and fails.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failing {
    /// The file that holds it.
    pub file: String,
    /// Its id.
    pub id: String,
    /// How it fails.
    pub verdict: Verdict,
    /// What was allowed, in words.
    pub expected: String,
    /// What was answered, in words.
    pub actual: String,
    /// A line that repeats it.
    pub replay: String,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Corpus {
    /// Whether its numbers can be true together.
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

    /// Takes in what another shard found.
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
