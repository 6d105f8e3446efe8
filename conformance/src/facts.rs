//! What deviations may tell calls apart by, and the judged cases of a campaign, as a report keeps them for a draft.

use std::collections::BTreeSet;

use gather_spec::{Attribute, DType, ErrorCode, Profile};
use serde::Deserialize;

use crate::judge::Verdict;

/// What a call is expected to give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(from = "OutputOrCode")]
pub(crate) enum Expected {
    /// An output.
    Output,
    /// An error with this code.
    Code(ErrorCode),
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum OutputOrCode {
    Output,
    #[serde(untagged)]
    Code(ErrorCode),
}

impl From<OutputOrCode> for Expected {
    fn from(text: OutputOrCode) -> Self {
        match text {
            OutputOrCode::Output => Self::Output,
            OutputOrCode::Code(code) => Self::Code(code),
        }
    }
}

/// What a selector tests of a call.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) expected: BTreeSet<Expected>,
    pub(crate) params: DType,
    pub(crate) indices: DType,
    pub(crate) rank: u64,
    pub(crate) size: u64,
    pub(crate) empty: bool,
    pub(crate) attributes: Vec<(String, Attribute)>,
    pub(crate) mode: Option<String>,
    pub(crate) profile: Profile,
    pub(crate) message: Option<String>,
}

/// A case of a campaign that was judged, for a draft.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    pub(crate) law: Option<String>,
    pub(crate) operator: String,
    /// `pass`, or what is wrong.
    pub(crate) verdict: Verdict,
    pub(crate) facts: Facts,
    /// The entry that covers it.
    pub(crate) known: Option<usize>,
    /// The call and what was answered, if that is wrong.
    pub(crate) shown: String,
}
