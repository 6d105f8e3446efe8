//! The part of a report about the campaign after the cases: how many drawn calls were compared, how many laws were
//! checked, and an entry for each kind of failure, like that of a case.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::entry::Entry;
use crate::facts::JudgedCase;
use crate::judge::Verdict;

/// The result of drawn calls, or of laws.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct PartReport {
    /// Which of the two.
    pub part: Part,
    /// Why there was nothing to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
    /// The seed that every case is derived from, together with its number.
    pub seed: u64,
    /// The number of cases of the campaign.
    pub cases: u64,
    /// How many of them are done. These are always the first ones.
    pub done: u64,
    /// How many of those compared an answer with something.
    pub compared: u64,
    /// The sum of the digests of all drawn cases.
    pub digest: String,
    /// By operator, how often the reference gave an output and each error; by law, its results.
    pub counts: BTreeMap<String, BTreeMap<String, u64>>,
    /// The failures, by kind.
    pub kinds: Vec<FailureKind>,
    /// The command line that repeats the campaign.
    pub repeat: String,
    /// The cases of a campaign of usual length that were judged, for a draft of deviations.
    #[serde(skip)]
    pub drawn: Vec<JudgedCase>,
    /// Whether all cases of a campaign of usual length are done.
    #[serde(skip)]
    pub is_usual: bool,
}

/// One of the two parts of a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Drawn calls, compared with the reference.
    Drawn,
    /// Laws: relations between calls.
    Laws,
}

/// All failures of one kind. The first one is shrunk.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(schemars::JsonSchema), schemars(rename = "Kind"))]
pub struct FailureKind {
    /// The first failure, in the format of a case's entry.
    #[serde(flatten)]
    pub entry: Entry,
    /// The violated law.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub law: Option<String>,
    /// What that law says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<String>,
    /// The rest of the key and, for known failures, the selector of the deviation that covers them.
    pub kind: String,
    /// How many there are.
    pub count: u64,
    /// The number of the first failing case.
    pub first: u64,
    /// The case files that hold the calls; empty if none were written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Command lines that repeat it.
    pub reproduce: Vec<String>,
    /// The number of the deviation that is about them.
    #[serde(skip)]
    pub known: Option<usize>,
}

impl Part {
    /// The title of its row in the matrix.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Drawn => "drawn calls",
            Self::Laws => "laws",
        }
    }

    /// What a count of compared cases counts.
    pub const fn compared(self) -> &'static str {
        match self {
            Self::Drawn => "drawn calls compared",
            Self::Laws => "laws checked",
        }
    }

    /// Its name at the start of an id.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Drawn => "drawn",
            Self::Laws => "law",
        }
    }

    const fn fine(self) -> &'static str {
        match self {
            Self::Drawn => "agree",
            Self::Laws => "hold",
        }
    }
}

impl PartReport {
    /// A part that does not apply to a backend, and why.
    #[must_use]
    pub fn left_out(part: Part, seed: u64, cases: u64, why: &str) -> Self {
        Self {
            part,
            left_out: Some(why.to_owned()),
            seed,
            cases,
            done: 0,
            compared: 0,
            digest: String::new(),
            counts: BTreeMap::new(),
            kinds: Vec::new(),
            repeat: String::new(),
            drawn: Vec::new(),
            is_usual: false,
        }
    }

    /// The kinds whose verdict makes the exit status 1.
    pub fn failures(&self) -> impl Iterator<Item = &FailureKind> {
        self.kinds.iter().filter(|kind| kind.entry.verdict.is_failure())
    }

    /// The results in words, as units that are never broken: `compared 3,980 of 4,000:`, `all agree`.
    pub fn in_words(&self) -> Vec<String> {
        if let Some(why) = &self.left_out {
            return why.split_inclusive(": ").map(|unit| unit.trim_end().to_owned()).collect();
        }
        let verb = if self.part == Part::Drawn { "compared" } else { "checked" };
        let mut units = vec![format!("{verb} {} of {}:", self.compared, self.cases)];
        let failed: u64 = self.kinds.iter().map(|kind| kind.count).sum();
        let mut counts: BTreeMap<(Verdict, Option<Verdict>), u64> = BTreeMap::new();
        for FailureKind { entry, count, .. } in &self.kinds {
            *counts.entry((entry.verdict, entry.observed)).or_default() += count;
        }
        units.push(match failed {
            0 if self.compared == 0 => "nothing".to_owned(),
            0 => format!("all {}", self.part.fine()),
            _ => format!("{} {}", self.compared.saturating_sub(failed), self.part.fine()),
        });
        for ((verdict, observed), count) in counts {
            units.last_mut().expect("it holds a unit").push(',');
            units.push(format!("{count} {verdict}"));
            units.extend(observed.map(|observed| format!("({observed})")));
        }
        units
    }
}

impl FailureKind {
    /// The name and the statement of the violated law.
    pub fn statement(&self) -> Option<String> {
        let (law, statement) = (self.law.as_deref()?, self.statement.as_deref()?);
        Some(format!("{law}: {statement}"))
    }

    /// How often the failure occurred, in words.
    pub fn often(&self, of: &PartReport) -> String {
        let times = if self.count == 1 { "once".to_owned() } else { format!("{} times", self.count) };
        format!("{times} in {}, first in case {} of seed {}", of.compared, self.first, of.seed)
    }
}
