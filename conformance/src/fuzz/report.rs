//! What a campaign found: the report, which is also the checkpoint, and how the reports of shards are joined.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::backend::Identity;
use crate::difference::Difference;
use crate::files;
use crate::words::counted;

use super::check::Key;
use super::corpus::Corpus;
use super::plan::{Campaign, Shard};
use super::tally::is_tested;

/// The version of the JSON form.
pub(super) const SCHEMA: u32 = 1;

/// What a shard of a campaign, or all of it, has found so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// Version of this form.
    pub schema: u32,
    /// What was drawn.
    pub campaign: Campaign,
    /// Which part of it.
    pub shard: Shard,
    /// Who answered.
    pub backend: Identity,
    /// How many cases of the shard are done: the first ones.
    pub done: u64,
    /// Whether that is all.
    pub complete: bool,
    /// The sum of the digests of the calls of all cases, in hexadecimal: that of a campaign is the sum of its shards'.
    pub digest: String,
    /// How long it took, interruptions left out.
    pub seconds: f64,
    /// How often the reference gave an output or an error, by operator; or what came of a law.
    pub counts: BTreeMap<String, BTreeMap<String, u64>>,
    /// What failed, in groups of the same kind.
    pub groups: Vec<Group>,
    /// What the counterexamples that had been saved before came to, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corpus: Option<Corpus>,
}

/// Failures of the same kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// What they share.
    pub key: Key,
    /// How many there are.
    pub count: u64,
    /// The number of the first case.
    pub first: u64,
    /// The first case, made as small as it can be and still fail.
    pub example: Option<Example>,
}

/// A failure made small.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// The draws that it follows from.
    pub draws: Vec<u64>,
    /// The calls, in words.
    pub calls: Vec<String>,
    /// What was allowed, in words.
    pub expected: String,
    /// What was found, in words.
    pub actual: String,
    /// Where an output differs from one that was allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Box<Difference>>,
    /// The clauses that the first call is likely to rest on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clauses: Vec<String>,
    /// The case files that hold the calls, by name; none if they were not saved.
    pub files: Vec<String>,
    /// Lines that repeat it.
    pub replay: Vec<String>,
}

impl Report {
    /// A report of a shard of which nothing is done.
    #[must_use]
    pub fn new(campaign: Campaign, shard: Shard, backend: Identity) -> Self {
        Self {
            schema: SCHEMA,
            campaign,
            shard,
            backend,
            done: 0,
            complete: false,
            digest: format!("{:016x}", 0),
            seconds: 0.0,
            counts: BTreeMap::new(),
            groups: Vec::new(),
            corpus: None,
        }
    }

    /// How many cases there are to do.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.shard.len(self.campaign.cases)
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether nothing failed.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.groups.is_empty() && self.corpus.as_ref().is_none_or(|corpus| corpus.failing.is_empty())
    }

    /// How many cases compared an answer with something.
    #[must_use]
    pub fn tested(&self) -> u64 {
        let columns = self.counts.values().flatten();
        columns.filter(|(column, _)| is_tested(column)).map(|(_, count)| count).sum()
    }

    /// Why it says nothing about the backend that nothing failed; `None` if it does.
    #[must_use]
    pub fn gap(&self) -> Option<String> {
        let saved = self.corpus.as_ref();
        if let Some(corpus) = saved.filter(|corpus| corpus.unasked > 0) {
            let (unasked, cases) = (corpus.unasked, counted(corpus.cases, "saved case"));
            return Some(format!("{unasked} of {cases} were not asked before the time was up"));
        }
        let judged = saved.map_or(0, Corpus::judged);
        match (self.tested() + judged, self.done) {
            (1.., _) => None,
            (0, 0) if self.campaign.cases == Some(0) => {
                Some("nothing was tested: the campaign has no case".to_owned())
            }
            // A campaign of fewer cases than shards.
            (0, 0) if self.is_empty() => None,
            (0, 0) => Some("nothing was tested: no case was done before the time was up".to_owned()),
            (0, done) => {
                let cases = counted(done, "case");
                Some(format!("nothing was tested: of {cases} none has an answer that can be compared"))
            }
        }
    }

    /// How many cases failed.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.groups.iter().map(|group| group.count).sum()
    }

    /// Whether a report may be written here: what is there is none that it would replace by mistake, such as a case file.
    ///
    /// # Errors
    /// What is there, in words.
    pub fn may_replace(path: &Path) -> Result<(), String> {
        let mut first = [0];
        match files::open_regular(path).and_then(|mut file| file.read(&mut first)) {
            Ok(1) if first != *b"{" => {
                Err(format!("{} is no report and would be lost; help: name another file", path.display()))
            }
            _ => Ok(()),
        }
    }

    /// Writes it whole or not at all.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let text = serde_json::to_string_pretty(self).map_err(io::Error::other)? + "\n";
        crate::report::write_whole(path, text.as_bytes()).map_err(|error| cannot_write(path, &error))
    }

    pub(super) fn digest(&self) -> u64 {
        u64::from_str_radix(&self.digest, 16).unwrap_or_default()
    }

    pub(super) fn set_digest(&mut self, digest: u64) {
        self.digest = format!("{digest:016x}");
    }

    /// Takes in failures of a kind.
    pub(super) fn add_group(&mut self, key: Key, count: u64, first: u64) {
        match self.groups.iter_mut().find(|group| group.key == key) {
            Some(group) => group.count += count,
            None => self.groups.push(Group { key, count, first, example: None }),
        }
    }

    /// Orders the groups by their first case.
    pub(super) fn sort(&mut self) {
        self.groups.sort_by(|one, other| (one.first, &one.key).cmp(&(other.first, &other.key)));
    }
}

/// An error of writing a file that names the file: a campaign writes several.
pub(super) fn cannot_write(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{} cannot be written: {error}", path.display()))
}
