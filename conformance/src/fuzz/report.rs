//! The result of a campaign, which is also its checkpoint, and the merging of reports of shards.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::backend::Identity;
use crate::difference::Difference;
use crate::files;
use crate::words::counted;

use super::check::Key;
use super::consistency::contradiction;
use super::corpus::Corpus;
use super::plan::{Campaign, Shard};
use super::tally::is_tested;

/// The largest report that is read, in bytes.
const LARGEST: u64 = 256 << 20;

/// The version of the JSON form.
const SCHEMA: u32 = 1;

/// The results of a campaign, or of one shard of it, so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
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
    /// The sum of the digests of all drawn cases, in hexadecimal. Two runs that drew the same cases have equal digests,
    /// in whatever shards they ran.
    pub digest: String,
    /// The time spent, without interruptions.
    pub seconds: f64,
    /// By operator, how often the reference gave an output and each error; by law, how often it held, was skipped or
    /// was broken.
    pub counts: BTreeMap<String, BTreeMap<String, u64>>,
    /// The failures, one group per kind.
    pub groups: Vec<Group>,
    /// The results of replaying saved cases, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corpus: Option<Corpus>,
}

/// All failures of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// What they have in common.
    pub key: Key,
    /// How many there are.
    pub count: u64,
    /// The number of the first failing case.
    pub first: u64,
    /// The first failing case, shrunk.
    pub example: Option<Example>,
}

/// A shrunk failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
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

/// Why reports cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the fields are named after what the message says of them")]
pub enum MergeError {
    #[error("nothing to join")]
    Nothing,
    #[error("{one} and {other} are of different campaigns: their {what} differ")]
    Campaigns { one: String, other: String, what: &'static str },
    #[error("{one} and {other} are both shard {shard}")]
    Twice { one: String, other: String, shard: Shard },
    #[error("{one} is one of {of} shards, {other} one of {others}")]
    Split { one: String, other: String, of: u64, others: u64 },
    #[error("{}", left(*of, missing, unfinished))]
    Incomplete { of: u64, missing: Vec<u64>, unfinished: Vec<u64> },
    #[error("{name} contradicts itself: {what}")]
    Contradiction { name: String, what: String },
}

impl Report {
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

    /// Reads a report.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn read(path: &Path) -> Result<Self, String> {
        let name = path.display();
        let text = files::read_text(path, LARGEST)?;
        let report: Self =
            serde_json::from_str(&text).map_err(|error| format!("{name} is no report of `fuzz`: {error}"))?;
        if report.schema != SCHEMA {
            return Err(format!("{name}: schema {} is not known to this program", report.schema));
        }
        match contradiction(&report) {
            None => Ok(report),
            Some(what) => Err(format!("{name} contradicts itself: {what}")),
        }
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
        crate::report::write_whole(path, text.as_bytes()).map_err(|error| cannot_write(path, &error))
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
            None => self.groups.push(Group { key, count, first, example: None }),
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

/// Merges the reports of all shards of a campaign. Each comes with the name of its file.
///
/// # Errors
/// [`MergeError`] unless they are exactly the shards of one campaign, all finished and consistent.
pub fn merge(reports: &[(String, Report)]) -> Result<Report, MergeError> {
    let ((name, first), others) = reports.split_first().ok_or(MergeError::Nothing)?;
    for (other_name, other) in others {
        let names = || (name.clone(), other_name.clone());
        if let Some(what) = difference(first, other) {
            let (one, other) = names();
            return Err(MergeError::Campaigns { one, other, what });
        }
        if first.shard.of != other.shard.of {
            let (of, others) = (first.shard.of, other.shard.of);
            let (one, other) = names();
            return Err(MergeError::Split { one, other, of, others });
        }
    }
    for (name, report) in reports {
        if let Some(what) = contradiction(report) {
            return Err(MergeError::Contradiction { name: name.clone(), what });
        }
    }
    check_that_all_are_there(reports, first.shard.of)?;
    let mut whole = Report::new(first.campaign.clone(), Shard::WHOLE, first.backend.clone());
    for (_, report) in reports {
        join(&mut whole, report);
    }
    whole.complete = true;
    whole.sort();
    Ok(whole)
}

fn difference(one: &Report, other: &Report) -> Option<&'static str> {
    let (a, b) = (&one.campaign, &other.campaign);
    let fields = [
        ("versions", a.suite != b.suite || a.generators != b.generators),
        ("backends", a.backend != b.backend || one.backend != other.backend),
        ("comparisons", a.against != b.against),
        ("seeds", a.seed != b.seed),
        ("shares of edges", a.edges_in != b.edges_in),
        ("numbers of cases", a.cases != b.cases),
    ];
    fields.into_iter().find(|(_, differs)| *differs).map(|(what, _)| what)
}

fn check_that_all_are_there(reports: &[(String, Report)], of: u64) -> Result<(), MergeError> {
    let mut seen: BTreeMap<u64, (&str, bool)> = BTreeMap::new();
    for (name, report) in reports {
        if let Some((one, _)) = seen.insert(report.shard.number, (name, report.complete)) {
            let (one, other) = (one.to_owned(), name.clone());
            return Err(MergeError::Twice { one, other, shard: report.shard });
        }
    }
    let missing: Vec<u64> = (1..=of).filter(|number| !seen.contains_key(number)).collect();
    let unfinished = seen.iter().filter(|(_, (_, complete))| !complete).map(|(number, _)| *number);
    let unfinished: Vec<u64> = unfinished.collect();
    if missing.is_empty() && unfinished.is_empty() {
        Ok(())
    } else {
        Err(MergeError::Incomplete { of, missing, unfinished })
    }
}

/// What remains to be done, with the shard numbers in the format of `sbatch --array=`.
fn left(of: u64, missing: &[u64], unfinished: &[u64]) -> String {
    let line = |what: &str, numbers: &[u64]| {
        let list = || format!("{} of {of} shards are {what}: {}", numbers.len(), ranges(numbers));
        (!numbers.is_empty()).then(list)
    };
    let lines = [line("missing", missing), line("unfinished, which --resume goes on with", unfinished)];
    lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// Formats ascending numbers as `1,4-7`.
fn ranges(numbers: &[u64]) -> String {
    let runs = numbers.chunk_by(|one, next| one + 1 == *next);
    let text = |run: &[u64]| match run {
        [first, .., last] => format!("{first}-{last}"),
        one => one.iter().map(u64::to_string).collect(),
    };
    runs.map(text).collect::<Vec<_>>().join(",")
}

fn join(whole: &mut Report, part: &Report) {
    whole.done += part.done;
    whole.set_digest(whole.digest().wrapping_add(part.digest()));
    whole.seconds += part.seconds;
    for (row, columns) in &part.counts {
        let into = whole.counts.entry(row.clone()).or_default();
        for (column, count) in columns {
            *into.entry(column.clone()).or_default() += count;
        }
    }
    if let Some(corpus) = &part.corpus {
        whole.corpus.get_or_insert_default().join(corpus);
    }
    for group in &part.groups {
        match whole.groups.iter_mut().find(|known| known.key == group.key) {
            None => whole.groups.push(group.clone()),
            Some(known) => {
                let count = known.count + group.count;
                if group.first < known.first {
                    *known = group.clone();
                }
                known.count = count;
            }
        }
    }
}
