//! Reads reports, and joins those of all shards of a campaign.

use std::collections::BTreeMap;
use std::path::Path;

use crate::files;

use super::consistency::contradiction;
use super::plan::Shard;
use super::report::{Report, SCHEMA};

/// The largest report that is read, in bytes.
const LARGEST: u64 = 256 << 20;

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
