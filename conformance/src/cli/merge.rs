//! `gatherspec merge`: merges the reports of all shards of a campaign.

use std::path::PathBuf;

use gather_campaign::fuzz::{CampaignReport, merge};

use super::ending::{Failure, Status};
use super::findings::conclude;

#[derive(clap::Args)]
pub(super) struct MergeArgs {
    /// Reports of all shards, one each
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write the report of the whole campaign to this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl MergeArgs {
    pub(super) fn execute(&self) -> Result<Status, Failure> {
        let read = |file: &PathBuf| Ok((file.display().to_string(), CampaignReport::read(file)?));
        let reports: Result<Vec<(String, CampaignReport)>, String> = self.files.iter().map(read).collect();
        let reports = reports.map_err(Failure::Usage)?;
        self.out.as_deref().map_or(Ok(()), CampaignReport::may_replace).map_err(Failure::Usage)?;
        let whole = merge(&reports).map_err(|error| Failure::Usage(error.to_string()))?;
        let written = self.out.as_deref().map_or(Ok(()), |out| whole.write(out));
        let status = conclude(&whole, "")?;
        written?;
        Ok(status)
    }
}
