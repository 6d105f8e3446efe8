//! What a campaign draws, and which part of it a shard is.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::generate::split_mix;

/// The version of the generators: a case of a seed is the same call as long as this is the same.
pub const GENERATORS: u32 = 8;

/// The most cases of a campaign: more than anybody runs, and few enough that counts of them never overflow.
pub const MOST_CASES: u64 = 1 << 60;

/// The most shards of a campaign.
const MOST_SHARDS: u64 = 1 << 20;

/// The campaign that follows the cases of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short {
    /// What every case follows from.
    pub seed: u64,
    /// How many calls are drawn.
    pub drawn: u64,
    /// How many instances of laws.
    pub laws: u64,
    /// One call in so many is at a size at which kernels change their way: more than in a long campaign, which has enough
    /// of them anyway.
    pub edges_in: usize,
}

/// The campaign of a run, unless it is told otherwise.
pub const SHORT: Short = Short { seed: 1, drawn: 4000, laws: 2000, edges_in: 4 };

/// What is drawn and of whom it is asked. Two reports belong together if these agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Campaign {
    /// The version of the suite.
    pub suite: String,
    /// The version of the generators.
    pub generators: u32,
    /// The backend as the command line names it.
    pub backend: String,
    /// What it is compared with, or held to: `reference`, or `laws`, or some of them by name.
    pub against: String,
    /// What every case follows from, together with its number.
    pub seed: u64,
    /// One call in so many is at a size at which kernels change their way.
    pub edges_in: usize,
    /// How many cases there are; absent if only time is the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cases: Option<u64>,
}

impl Campaign {
    /// The seed of one case.
    #[must_use]
    pub fn case_seed(&self, case: u64) -> u64 {
        let mut state = self.seed ^ case.wrapping_mul(0xD6E8_FEB8_6659_FD93);
        split_mix(&mut state)
    }
}

/// Part `number` of `of` of a campaign: the cases whose number leaves `number - 1` when divided by `of`.
///
/// ```
/// use gather_conformance::fuzz::Shard;
/// let shard: Shard = "2/3".parse().unwrap();
/// assert_eq!((0..shard.len(Some(8))).map(|at| shard.case(at)).collect::<Vec<_>>(), [1, 4, 7]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// From 1.
    pub number: u64,
    /// How many there are.
    pub of: u64,
}

impl Shard {
    /// All of it.
    pub const WHOLE: Self = Self { number: 1, of: 1 };

    /// Whether there is such a shard.
    #[must_use]
    pub const fn exists(self) -> bool {
        1 <= self.number && self.number <= self.of && self.of <= MOST_SHARDS
    }

    /// The case at a place of this shard.
    #[must_use]
    pub const fn case(self, at: u64) -> u64 {
        at.wrapping_mul(self.of).wrapping_add(self.number - 1)
    }

    /// How many of that many cases are this shard's; without an end, its part of [`MOST_CASES`].
    #[must_use]
    pub const fn len(self, cases: Option<u64>) -> u64 {
        let cases = match cases {
            Some(cases) => cases,
            None => MOST_CASES,
        };
        cases / self.of + (self.number <= cases % self.of) as u64
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').map(|(number, of)| (number.parse(), of.parse()));
        match parts {
            Some((Ok(number), Ok(of))) if (Self { number, of }).exists() => Ok(Self { number, of }),
            _ => Err(format!("`{text}` is no shard: K/N with K from 1 to N is expected, such as 2/8")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shards_of_any_number_of_cases_are_all_of_them() {
        for cases in [0, 1, 6, 7, 8, 5000, MOST_CASES, u64::MAX] {
            let lens = (1..=7).map(|number| u128::from(Shard { number, of: 7 }.len(Some(cases))));
            assert_eq!(lens.sum::<u128>(), u128::from(cases));
            assert_eq!(Shard::WHOLE.len(Some(cases)), cases);
        }
        assert_eq!(Shard { number: 2, of: 2 }.len(None), MOST_CASES / 2);
    }
}
