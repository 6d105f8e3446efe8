//! What is common to all backends of a run.

use std::collections::BTreeSet;
use std::path::PathBuf;

use std::sync::Arc;

use gather_spec::{Case, Specification};

use crate::select::Chosen;

use super::folders::Folders;
use super::known::Known;
use super::progress::Progress;

/// What is common to all backends of a run.
pub(super) struct Job<'a> {
    pub(super) spec: &'a Specification,
    pub(super) folders: &'a Folders,
    /// The cases to run, and which of their runs.
    pub(super) cases: Chosen<'a>,
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
        cases: Chosen<'a>,
        chosen: &'a [String],
        progress: &'a Progress,
        deviations: &'a Known,
        found: PathBuf,
    ) -> Self {
        let of = |case: &&'a Arc<Case>| case.operator().as_str();
        let operators = cases.cases.iter().map(of).collect();
        Self { spec, folders, cases, operators, chosen, progress, deviations, found }
    }
}
