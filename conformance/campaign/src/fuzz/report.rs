//! The result of a campaign, which is also its checkpoint, and the merging of reports of shards.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use gather_conformance::backend::Identity;
use gather_conformance::internals::difference::Difference;
use gather_conformance::internals::files;
use gather_conformance::internals::words::counted;

use super::corpus::Corpus;
use super::plan::{Campaign, Shard};
use gather_conformance::internals::check::Key;
use gather_conformance::internals::check::is_tested;

/// The version of the JSON form.
pub(super) const SCHEMA: u32 = 1;

/// The results of a campaign, or of one shard of it, so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CampaignReport {
    /// The version of this format.
    pub schema: u32,
    /// What is drawn.
    pub campaign: Campaign,
    /// The part of it that this report covers.
    pub shard: Shard,
    /// The backend that answered.
    pub backend: Identity,
    /// How many cases of the shard are done. These are always the first ones.
    pub done: u64,
    /// Whether the shard is finished.
    pub complete: bool,
    /// The sum of the digests of all drawn cases, in hexadecimal. Two runs that drew the same cases have
    /// equal digests, however they were split into shards.
    pub digest: String,
    /// The time spent, without interruptions.
    pub seconds: f64,
    /// By operator, how often the reference gave an output and each error; by law, how often it held, was skipped or
    /// was broken.
    pub counts: BTreeMap<String, BTreeMap<String, u64>>,
    /// The failures, one group per kind.
    pub groups: Vec<FailureGroup>,
    /// The results of replaying saved cases, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corpus: Option<Corpus>,
}

/// All failures of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailureGroup {
    /// What they have in common.
    pub key: Key,
    /// How many there are.
    pub count: u64,
    /// The number of the first failing case.
    pub first: u64,
    /// The first failing case, shrunk.
    pub example: Option<ShrunkExample>,
}

/// A shrunk failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShrunkExample {
    /// The draws that reproduce it.
    pub draws: Vec<u64>,
    /// The calls, in words.
    pub calls: Vec<String>,
    /// What was allowed, in words.
    pub expected: String,
    /// What the backend did, in words.
    pub actual: String,
    /// Where an output differs from one that was allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Box<Difference>>,
    /// Suggested clauses for the first call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clauses: Vec<String>,
    /// The names of the case files that hold the calls; empty if they were not saved.
    pub files: Vec<String>,
    /// Command lines that repeat it.
    pub replay: Vec<String>,
}

impl CampaignReport {
    /// An empty report of a shard.
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

    /// How many cases the shard has.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.shard.len(self.campaign.cases)
    }

    /// Whether the shard has no cases.
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

    /// Why an absence of failures says nothing about the backend; `None` if it does say something.
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
            // The campaign has fewer cases than shards.
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

    /// Whether a report may be written to this path. Refuses to overwrite anything that is not a report, such as a case
    /// file.
    ///
    /// # Errors
    /// A message that says what is there.
    pub fn may_replace(path: &Path) -> Result<(), String> {
        let mut first = [0];
        match files::open_regular(path).and_then(|mut file| file.read(&mut first)) {
            Ok(1) if first != *b"{" => {
                Err(format!("{} is no report and would be lost; help: name another file", path.display()))
            }
            _ => Ok(()),
        }
    }

    /// Writes the report atomically.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let text = serde_json::to_string_pretty(self).map_err(io::Error::other)? + "\n";
        files::write_whole(path, text.as_bytes()).map_err(|error| cannot_write(path, &error))
    }

    pub(super) fn digest(&self) -> u64 {
        u64::from_str_radix(&self.digest, 16).unwrap_or_default()
    }

    pub(super) fn set_digest(&mut self, digest: u64) {
        self.digest = format!("{digest:016x}");
    }

    /// Adds failures of one kind.
    pub(super) fn add_group(&mut self, key: Key, count: u64, first: u64) {
        match self.groups.iter_mut().find(|group| group.key == key) {
            Some(group) => group.count += count,
            None => self.groups.push(FailureGroup { key, count, first, example: None }),
        }
    }

    /// Orders the groups by their first case.
    pub(super) fn sort(&mut self) {
        self.groups.sort_by(|one, other| (one.first, &one.key).cmp(&(other.first, &other.key)));
    }
}

/// Adds the file name to an I/O error, since a campaign writes several files.
pub(super) fn cannot_write(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{} cannot be written: {error}", path.display()))
}
