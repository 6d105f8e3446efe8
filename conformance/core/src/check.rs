//! The unit of a campaign: a [`Check`] turns draws into requests, and their answers into a finding or none.

mod tally;

use std::fmt;

use gather_optimized::Level;
use gather_spec::{Call, DType, ErrorCode, Outcome, Profile, Signatures};
use serde::{Deserialize, Serialize};

use crate::choices::ChoiceSequence;
use crate::difference::Difference;
use crate::judge::Verdict;
use crate::trouble::Trouble;

pub use tally::BROKEN;
pub use tally::NOT_CHOSEN;
pub use tally::NOT_SENT;
pub use tally::SKIPPED;
pub use tally::TOO_LARGE;
pub use tally::Tally;
pub use tally::UNSUPPORTED;
pub use tally::is_tested;

/// The names of the laws, which the campaign states and checks: known deviations name them.
pub const LAWS: [&str; 37] = [
    "slice-at-location",
    "batch-is-a-loop",
    "argsort-sorts",
    "batch-of-rows-is-a-loop",
    "defaults-are-what-they-stand-for",
    "negative-counts-from-the-end",
    "concatenated-indices",
    "permuted-indices",
    "repeated-indices",
    "reshaped-indices",
    "identity-indices",
    "composed-gathers",
    "scalars-are-flat-indexing",
    "depth-one-is-axis-zero",
    "axis-by-transposing",
    "null-axis-is-flattening",
    "argsort-sorts-along-the-axis",
    "elements-are-nd-on-coordinates",
    "axes-permuted",
    "smaller-indices-are-slices",
    "windows-of-one-element-are-nd",
    "windows-are-a-loop-of-slices",
    "batching-dims-are-a-loop",
    "offset-dims-moved",
    "components-permuted",
    "index-vector-moved",
    "starts-are-clamped",
    "bad-windows-are-filled",
    "payload-blind",
    "dtype-blind",
    "index-dtype-blind",
    "layout-blind",
    "filling-is-padding",
    "clamp-is-clamping",
    "wrap-is-adding",
    "modulo-is-the-remainder",
    "later-rows-do-not-matter",
];

/// A call, and how to run it.
#[derive(Clone, Debug)]
pub struct CallRequest {
    /// The call.
    pub call: Call,
    /// How to run it.
    pub settings: CallSettings,
}

/// How a built-in backend runs a call. Other backends ignore it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallSettings {
    /// The policies that the answer is judged under.
    pub profile: Profile,
    /// The level; `None` for the one that the backend chooses.
    pub level: Option<Level>,
    /// The number of threads.
    pub threads: usize,
    /// Whether the output buffer is left as allocated. Otherwise it is poisoned first, so that an element that the
    /// backend does not write shows, and shows again whenever the call is repeated.
    pub fresh: bool,
}

impl CallSettings {
    /// What the level is drawn from: the backend's own choice, and every level that there is.
    pub const LEVELS: [Option<Level>; 1 + Level::ALL.len()] = {
        let mut levels = [None; 1 + Level::ALL.len()];
        let mut count = 0;
        while count < Level::ALL.len() {
            levels[1 + count] = Some(Level::ALL[count]);
            count += 1;
        }
        levels
    };

    /// Draws how to run a call under `profile`: any level, mostly one thread, and mostly a poisoned output.
    pub fn draw(choices: &mut ChoiceSequence, profile: Profile) -> Self {
        let level = Self::LEVELS[choices.below(Self::LEVELS.len())];
        // Rare, because waking threads takes longer than a small call.
        let threads = match choices.below(128) {
            127 => 5,
            126 => 2,
            _ => 1,
        };
        Self { profile, level, threads, fresh: choices.once_in(8) }
    }
}

/// The result of a request.
pub type CallResult = Result<Outcome, Trouble>;

/// What a check does next.
#[derive(Debug)]
pub enum Step {
    /// Makes these requests, in addition to those asked so far.
    Ask(Vec<CallRequest>),
    /// The property does not apply.
    Done,
    /// The property holds.
    Held {
        /// The law, if it is one.
        law: Option<&'static str>,
        /// The error code that was expected of a drawn call; `None` if an output was.
        expected: Option<ErrorCode>,
    },
    /// The property is violated.
    Violated(Box<Violation>),
}

/// A violated property.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The group of failures that it belongs to.
    pub key: Key,
    /// What was allowed, in words.
    pub expected: String,
    /// What the backend did, in words.
    pub actual: String,
    /// Where an output differs from one that was allowed.
    pub difference: Option<Box<Difference>>,
}

/// What identifies a kind of failure: a campaign counts every failure, but keeps and shrinks one example per key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// The violated law; `None` for a difference from the reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub law: Option<String>,
    /// The operator of the first call.
    pub operator: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The dtype of the indices, if it is neither i32 nor i64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_dtype: Option<DType>,
    /// Whether params are strings.
    pub strings: bool,
    /// The error code that was expected; `None` if an output was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The number of the known deviation that is about these failures. Reports on disk leave it out.
    #[serde(skip)]
    pub known: Option<usize>,
}

impl Key {
    /// The key of a failure of `asked`, which holds at least one request.
    #[must_use]
    pub fn new(
        law: Option<&str>,
        signatures: &Signatures,
        asked: &[CallRequest],
        verdict: Verdict,
        expected: Option<String>,
    ) -> Self {
        let roles = |request: &CallRequest| {
            signatures.roles(&request.call).map(|roles| (roles.params.dtype(), roles.indices.dtype()))
        };
        let index_dtypes = asked.iter().filter_map(roles).map(|(_, indices)| indices);
        let mut unusual = index_dtypes.filter(|dtype| ![DType::I32, DType::I64].contains(dtype));
        let first = asked.first().map(|request| &request.call);
        Self {
            law: law.map(str::to_owned),
            operator: first.map_or_else(String::new, |call| call.operator.to_string()),
            verdict,
            index_dtype: unusual.next(),
            strings: asked.first().and_then(roles).is_some_and(|(params, _)| params == DType::String),
            expected,
            known: None,
        }
    }
}

impl Key {
    /// The part of the key after law and operator: `accepted-bad-input, index-dtype expected, u8 indices`.
    #[must_use]
    pub fn kind(&self) -> String {
        format!("{}{}", self.verdict, self.circumstances())
    }

    fn circumstances(&self) -> String {
        let expected = self.expected.as_ref().map(|expected| format!(", {expected} expected"));
        let dtype = self.index_dtype.map(|dtype| format!(", {dtype} indices"));
        let strings = self.strings.then(|| ", strings".to_owned());
        expected.into_iter().chain(dtype).chain(strings).collect()
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(law) = &self.law {
            write!(f, "{law}: ")?;
        }
        write!(f, "{} {}{}", self.verdict, self.operator, self.circumstances())
    }
}

/// The property that a campaign tests, as a step function.
///
/// A case calls [`step`](Self::step) again after each batch of answers, from the same draws, until it returns something
/// other than [`Step::Ask`]. Implementations are therefore deterministic: equal draws give equal requests.
pub trait Check: Sync {
    /// The next step of a case, given the requests of all earlier steps and their answers. The step that ends the
    /// case adds it to `tally`.
    fn step(
        &self,
        choices: &mut ChoiceSequence,
        asked: &[CallRequest],
        answers: &[CallResult],
        tally: &mut Tally,
    ) -> Step;

    /// Takes note of the step that ended a case, with all its requests. Cases that shrinking tries are not settled, and a
    /// case that is done again after an interruption is settled again.
    fn settled(&self, _number: u64, _asked: &[CallRequest], _step: &Step) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_campaign_draws_every_level_that_there_is() {
        let drawn = |seed| CallSettings::draw(&mut ChoiceSequence::from_seed(seed), Profile::default()).level;
        let drawn: Vec<Option<Level>> = (0..1000).map(drawn).collect();
        assert!(drawn.contains(&None), "the level that the backend chooses");
        for level in Level::ALL {
            assert!(drawn.contains(&Some(level)), "{level}");
        }
    }
}
