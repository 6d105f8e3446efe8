//! What is common to all backends of a run.

use std::collections::BTreeSet;
use std::path::PathBuf;

use gather_spec::{Case, Specification};

use super::folders::Folders;
use super::known::Known;
use super::progress::Progress;

/// What is common to all backends of a run.
pub(super) struct Job<'a> {
    pub(super) spec: &'a Specification,
    pub(super) folders: &'a Folders,
    pub(super) cases: &'a [&'a Case],
    /// The operators of these cases.
    pub(super) operators: BTreeSet<&'a str>,
    /// The operators that `--operator` chooses; empty for all.
    pub(super) chosen: &'a [String],
    pub(super) progress: &'a Progress,
    pub(super) deviations: &'a Known,
    /// The folder for cases of failures of the campaign.
    pub(super) found: PathBuf,
}

impl<'a> Job<'a> {
    pub(super) fn new(
        spec: &'a Specification,
        folders: &'a Folders,
        cases: &'a [&'a Case],
        chosen: &'a [String],
        progress: &'a Progress,
        deviations: &'a Known,
        found: PathBuf,
    ) -> Self {
        let operators = cases.iter().map(|case| case.call.operator.as_str()).collect();
        Self { spec, folders, cases, operators, chosen, progress, deviations, found }
    }
}
