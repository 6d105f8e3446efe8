//! Computes the statement of a report.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::judge::Verdict;

use super::canonical::hex;
use super::found::BackendReport;
use super::statement::{CaseSet, Statement, Tested};

impl Statement {
    /// The statement on a report that is complete, about these cases.
    #[must_use]
    pub fn new(suite: &str, report: &BackendReport, cases: CaseSet) -> Self {
        let mut verdicts = BTreeMap::new();
        let mut profile = BTreeMap::new();
        let mut lines = Sha256::new();
        for entry in &report.results {
            *verdicts.entry(entry.verdict).or_default() += 1;
            if let Some(declared) = entry.profile {
                profile.insert(entry.operator.clone(), declared);
            }
            let observed = entry.observed.map_or("-", Verdict::name);
            lines.update(format!("{} {} {observed}\n", entry.id, entry.verdict));
        }
        let ran = report.campaign.iter().filter(|campaign| campaign.left_out.is_none());
        let campaign = ran.map(|campaign| Tested {
            part: campaign.part,
            seed: campaign.seed,
            compared: campaign.compared,
            digest: campaign.digest.clone(),
            verdicts: campaign.kinds.iter().fold(BTreeMap::new(), |mut counts, kind| {
                let count: &mut u64 = counts.entry(kind.entry.verdict).or_default();
                *count = count.saturating_add(kind.count);
                counts
            }),
        });
        Self {
            suite: suite.to_owned(),
            cases,
            backend: report.backend.clone(),
            profile,
            verdicts,
            results: hex(lines),
            campaign: campaign.collect(),
            failures: report.summary.failures,
        }
    }
}
