//! What a case is: questions, and what the answers come to.

use std::fmt;

use gather_optimized::Level;
use gather_spec::{Call, DType, Outcome, Profile, Signatures};
use serde::{Deserialize, Serialize};

use crate::difference::Difference;
use crate::generate::Choices;
use crate::judge::Verdict;
use crate::process::Trouble;

use super::Tally;

/// A call, and how it is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// The call.
    pub call: Call,
    /// How it is asked.
    pub way: Way,
}

/// How a call is asked of a built-in backend; others take no notice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// The policies that the answer is held to.
    pub profile: Profile,
    /// The level; `None` for the one that the backend chooses.
    pub level: Option<Level>,
    /// The number of threads.
    pub threads: usize,
    /// Whether the output lies in memory as it comes, rather than in memory full of garbage.
    pub fresh: bool,
}

impl Way {
    /// What the level of a way is drawn from: the backend's own choice, and every level that there is.
    pub(super) const LEVELS: [Option<Level>; 1 + Level::ALL.len()] = {
        let mut levels = [None; 1 + Level::ALL.len()];
        let mut count = 0;
        while count < Level::ALL.len() {
            levels[1 + count] = Some(Level::ALL[count]);
            count += 1;
        }
        levels
    };

    /// A way under these policies that follows from the choices: any level, now and then more threads, and mostly an
    /// output that was poisoned before, so that what is left unwritten is found again when the call is made small.
    pub fn draw(choices: &mut Choices, profile: Profile) -> Self {
        let level = Self::LEVELS[choices.below(Self::LEVELS.len())];
        // Waking threads takes longer than a small call.
        let threads = match choices.below(128) {
            127 => 5,
            126 => 2,
            _ => 1,
        };
        Self { profile, level, threads, fresh: choices.once_in(8) }
    }
}

/// What came of a question.
pub type Answer = Result<Outcome, Trouble>;

/// What a case does next.
#[derive(Debug)]
pub enum Step {
    /// It asks these, too.
    Ask(Vec<Question>),
    /// All is well, or nothing can be said.
    Well,
    /// Something is not as it must be.
    Broken(Box<Broken>),
}

/// Something that is not as it must be.
#[derive(Clone, Debug)]
pub struct Broken {
    /// What it is counted with.
    pub key: Key,
    /// What was allowed, in words.
    pub expected: String,
    /// What was found, in words.
    pub actual: String,
    /// Where an output differs from one that was allowed.
    pub difference: Option<Box<Difference>>,
}

/// What is taken for the same failure: one of them is kept and shown.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// The law that is broken, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub law: Option<String>,
    /// The operator that was asked.
    pub operator: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The dtype of indices, if some are neither i32 nor i64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_dtype: Option<DType>,
    /// Whether params are strings.
    pub strings: bool,
    /// What was expected, if not an output: an error code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
}

impl Key {
    /// The key of a failure of some calls, of which there is at least one.
    #[must_use]
    pub fn new(
        law: Option<&str>,
        signatures: &Signatures,
        asked: &[Question],
        verdict: Verdict,
        expected: Option<String>,
    ) -> Self {
        let roles = |question: &Question| {
            signatures.roles(&question.call).map(|roles| (roles.params.dtype(), roles.indices.dtype()))
        };
        let index_dtypes = asked.iter().filter_map(roles).map(|(_, indices)| indices);
        let mut unusual = index_dtypes.filter(|dtype| ![DType::I32, DType::I64].contains(dtype));
        let first = asked.first().map(|question| &question.call);
        Self {
            law: law.map(str::to_owned),
            operator: first.map_or_else(String::new, |call| call.operator.to_string()),
            verdict,
            index_dtype: unusual.next(),
            strings: asked.first().and_then(roles).is_some_and(|(params, _)| params == DType::String),
            expected,
        }
    }
}

impl Key {
    /// What the failures share beside law and operator: `accepted-bad-input, index-dtype expected, u8 indices`.
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

/// What each case of a campaign does. It is asked again with more answers until it ends; the same choices lead to the
/// same questions.
pub trait Check: Sync {
    /// The next step of a case. `asked` and `answers` are those of the steps before; a case that has ended is counted
    /// in the tally.
    fn step(&self, choices: &mut Choices, asked: &[Question], answers: &[Answer], tally: &mut Tally) -> Step;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_campaign_draws_every_level_that_there_is() {
        let drawn = |seed| Way::draw(&mut Choices::from_seed(seed), Profile::default()).level;
        let drawn: Vec<Option<Level>> = (0..1000).map(drawn).collect();
        assert!(drawn.contains(&None), "the level that the backend chooses");
        for level in Level::ALL {
            assert!(drawn.contains(&Some(level)), "{level}");
        }
    }
}
