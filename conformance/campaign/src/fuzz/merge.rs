//! Reads reports, and joins those of all shards of a campaign.

use std::collections::BTreeMap;
use std::path::Path;

use gather_conformance::internals::files;

use super::consistency::contradiction;
use super::plan::Shard;
use super::report::{CampaignReport, FailureGroup, SCHEMA};
use gather_conformance::internals::check::Key;

/// The largest report that is read, in bytes.
const LARGEST: u64 = 256 << 20;

/// Why reports cannot be merged: a message that names the files or the shards.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MergeError(String);

impl CampaignReport {
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
        contradiction(&report).map_or(Ok(report), |what| Err(format!("{name} contradicts itself: {what}")))
    }
}

/// Merges the reports of all shards of a campaign. Each comes with the name of its file.
///
/// # Errors
/// [`MergeError`] unless they are exactly the shards of one campaign, all finished and consistent.
pub fn merge(reports: &[(String, CampaignReport)]) -> Result<CampaignReport, MergeError> {
    let Some((one, first)) = reports.first() else {
        return Err(MergeError("there is no report to merge".to_owned()));
    };
    let mut shards: BTreeMap<u64, &(String, CampaignReport)> = BTreeMap::new();
    for named in reports {
        let (name, report) = named;
        let wrong = if let Some(what) = difference(first, report) {
            format!("{one} and {name} are not shards of one campaign: their {what} differ")
        } else if let Some(what) = contradiction(report) {
            format!("{name} contradicts itself: {what}")
        } else if let Some((other, _)) = shards.insert(report.shard.number, named) {
            format!("{other} and {name} are both shard {}", report.shard)
        } else {
            continue;
        };
        return Err(MergeError(wrong));
    }
    let of = first.shard.of;
    let missing: Vec<u64> = (1..=of).filter(|number| !shards.contains_key(number)).collect();
    let unfinished = shards.values().filter(|(_, report)| !report.complete);
    let unfinished: Vec<u64> = unfinished.map(|(_, report)| report.shard.number).collect();
    let mut left = Vec::new();
    for (what, numbers) in [("missing", missing), ("unfinished (--resume continues them)", unfinished)] {
        if !numbers.is_empty() {
            left.push(format!("{} of {of} shards are {what}: {}", numbers.len(), ranges(&numbers)));
        }
    }
    if left.is_empty() { Ok(join(first, reports)) } else { Err(MergeError(left.join("\n"))) }
}

/// A property in which two reports differ although shards of one campaign share it.
fn difference(one: &CampaignReport, other: &CampaignReport) -> Option<&'static str> {
    let (a, b) = (&one.campaign, &other.campaign);
    let fields = [
        ("versions", (&a.suite, a.generators) != (&b.suite, b.generators)),
        ("backends", (&a.backend, &one.backend) != (&b.backend, &other.backend)),
        ("comparisons", a.against != b.against),
        ("operators", a.operators != b.operators),
        ("seeds", a.seed != b.seed),
        ("shares of edges", a.edges_in != b.edges_in),
        ("numbers of cases", a.cases != b.cases),
        ("numbers of shards", one.shard.of != other.shard.of),
    ];
    fields.into_iter().find(|(_, differs)| *differs).map(|(what, _)| what)
}

/// Formats ascending numbers as `sbatch --array` takes them: `1,4-7`.
fn ranges(numbers: &[u64]) -> String {
    let text = |run: &[u64]| match run {
        [first, .., last] => format!("{first}-{last}"),
        one => one.iter().map(u64::to_string).collect(),
    };
    numbers.chunk_by(|one, next| one + 1 == *next).map(text).collect::<Vec<_>>().join(",")
}

/// The report of the campaign that all these shards make up.
fn join(first: &CampaignReport, reports: &[(String, CampaignReport)]) -> CampaignReport {
    let mut whole = CampaignReport::new(first.campaign.clone(), Shard::WHOLE, first.backend.clone());
    whole.complete = true;
    for (_, part) in reports {
        whole.done += part.done;
        whole.seconds += part.seconds;
        whole.set_digest(whole.digest().wrapping_add(part.digest()));
        for (row, columns) in &part.counts {
            let into = whole.counts.entry(row.clone()).or_default();
            for (column, count) in columns {
                *into.entry(column.clone()).or_default() += count;
            }
        }
        if let Some(corpus) = &part.corpus {
            whole.corpus.get_or_insert_default().join(corpus);
        }
    }
    // As in a campaign without shards, the lowest failing case of a kind gives the example.
    let mut groups: Vec<&FailureGroup> = reports.iter().flat_map(|(_, part)| &part.groups).collect();
    groups.sort_by_key(|group| group.first);
    let mut kinds: BTreeMap<&Key, FailureGroup> = BTreeMap::new();
    for group in groups {
        let kind = kinds.entry(&group.key).and_modify(|known| known.count += group.count);
        kind.or_insert_with(|| group.clone());
    }
    whole.groups = kinds.into_values().collect();
    whole.sort();
    whole
}
