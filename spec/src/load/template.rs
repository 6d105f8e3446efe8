//! What the runs of a case are made from: an entry of a file that is kept as it was read, and the axes.

use std::fmt;
use std::sync::Arc;

use crate::signature::Signature;
use crate::yaml::Text;

use super::case_reader::NamingScheme;
use super::dtypes::choices;
use super::families::ClauseMap;
use super::raw::CaseEntry;
use super::sizes::GridPoint;
use super::written::OperandDtypes;

/// A case file as it was read.
pub(super) struct Source {
    pub(super) file: String,
    pub(super) text: String,
    pub(super) entries: Vec<CaseEntry>,
}

impl Source {
    pub(super) fn text(&self) -> Text<'_> {
        Text { file: &self.file, text: &self.text }
    }
}

/// An entry of a case file, to be read for one operator.
#[derive(Clone)]
pub(crate) struct Template {
    pub(super) source: Arc<Source>,
    /// The place of the entry in its file.
    pub(super) at: usize,
    pub(super) names: NamingScheme,
    pub(super) map: Arc<ClauseMap>,
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.source.file, self.entry().name.value)
    }
}

impl Template {
    pub(super) fn entry(&self) -> &CaseEntry {
        &self.source.entries[self.at]
    }
}

/// The axes along which the runs of a case vary: dtypes, sizes and modes.
#[derive(Clone, Debug, Default)]
pub struct Axes {
    pub(super) dtypes: OperandDtypes,
    pub(super) sizes: Arc<[GridPoint]>,
    /// The modes of a family case, by their places in the signature; `None` if the call says the mode itself or there are none.
    pub(super) modes: Option<Vec<usize>>,
}

impl Axes {
    /// Whether the runs differ in sizes.
    #[must_use]
    pub fn has_sizes(&self) -> bool {
        self.sizes.iter().any(|point| !point.suffix.is_empty())
    }

    /// What follows the id of the case in the ids of the runs that have these sizes, in their order.
    pub(super) fn suffixes<'a>(
        &'a self,
        page: &'a Signature,
        entry: &'a CaseEntry,
        point: &'a GridPoint,
    ) -> impl Iterator<Item = String> + 'a {
        // An id does not say the default mode, which is the first.
        let named = |at: &usize| (*at > 0).then(|| page.modes()[*at].mode.as_str());
        let modes = self.modes.as_ref().map_or_else(|| vec![None], |all| all.iter().map(named).collect());
        let each = entry.for_each.as_ref().map(|each| &each.value);
        let choices = modes.into_iter().flat_map(move |mode| choices(each, &self.dtypes, point, mode));
        choices.map(|choice| choice.suffix)
    }

    /// The number of combinations, which is that of runs.
    #[must_use]
    pub fn combinations(&self) -> usize {
        let modes = self.modes.as_ref().map_or(1, Vec::len);
        [self.dtypes.params.len(), self.dtypes.indices.len(), self.sizes.len(), modes]
            .into_iter()
            .fold(1, usize::saturating_mul)
    }
}
