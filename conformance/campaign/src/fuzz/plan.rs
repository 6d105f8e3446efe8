//! What a campaign draws, and how it is split into shards.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::generate::split_mix;

/// The version of the generators. A case number of a seed means the same call for as long as this number stays.
pub const GENERATORS: u32 = 10;

/// The most cases of a campaign: more than any run needs, and few enough that sums of counts cannot overflow.
pub const MOST_CASES: u64 = 1 << 60;

/// The most shards of a campaign.
const MOST_SHARDS: u64 = 1 << 20;

/// The short campaign that `run` appends to its cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortCampaign {
    /// The seed that every case is derived from.
    pub seed: u64,
    /// The number of calls compared with the reference.
    pub drawn: u64,
    /// The number of instances of laws.
    pub laws: u64,
    /// One in this many calls has a size at which kernels switch between code paths. The share is larger than
    /// in a long campaign, which meets enough of them anyway.
    pub edges_in: usize,
}

/// The defaults.
pub const SHORT: ShortCampaign = ShortCampaign { seed: 1, drawn: 4000, laws: 2000, edges_in: 4 };

/// What is drawn, and for which backend. Reports can be merged only if these agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Campaign {
    /// The version of the suite.
    pub suite: String,
    /// The version of the generators.
    pub generators: u32,
    /// The backend, as the command line names it.
    pub backend: String,
    /// What the backend is checked against: `reference`, `laws`, or laws by name.
    pub against: String,
    /// The operators that are tested; empty for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operators: Vec<String>,
    /// The seed that every case is derived from, together with its number.
    pub seed: u64,
    /// One in this many calls has a size at which kernels switch between code paths.
    pub edges_in: usize,
    /// The number of cases; `None` if only time limits the campaign.
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

/// Part `number` of `of` of a campaign: the cases whose number modulo `of` is `number - 1`.
///
/// ```
/// use gather_campaign::fuzz::Shard;
/// let shard: Shard = "2/3".parse().unwrap();
/// assert_eq!((0..shard.len(Some(8))).map(|at| shard.case(at)).collect::<Vec<_>>(), [1, 4, 7]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// Counts from 1.
    pub number: u64,
    /// The number of shards.
    pub of: u64,
}

impl Shard {
    /// The whole campaign as one shard.
    pub const WHOLE: Self = Self { number: 1, of: 1 };

    /// Whether the numbers make sense.
    #[must_use]
    pub const fn exists(self) -> bool {
        1 <= self.number && self.number <= self.of && self.of <= MOST_SHARDS
    }

    /// The number of the `at`th case of this shard.
    #[must_use]
    pub const fn case(self, at: u64) -> u64 {
        at.wrapping_mul(self.of).wrapping_add(self.number - 1)
    }

    /// How many of `cases` belong to this shard; for `None`, its share of [`MOST_CASES`].
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
