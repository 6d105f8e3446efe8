//! A judged case of a campaign, as a report keeps it for a draft.

use crate::judge::Verdict;

use super::selector::Facts;

/// A case of a campaign that was judged, for a draft.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    pub(super) law: Option<String>,
    pub(super) operator: String,
    /// `pass`, or what is wrong.
    pub(super) verdict: Verdict,
    pub(super) facts: Facts,
    /// The entry that covers it.
    pub(super) known: Option<usize>,
    /// The call and what was answered, if that is wrong.
    pub(super) shown: String,
}
