//! What a process did instead of answering.

use crate::judge::Verdict;

/// What a process did instead of answering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// `crash`, `timeout`, `protocol-error` or `input-changed`.
    pub verdict: Verdict,
    /// What happened, in words.
    pub what: String,
}

impl Trouble {
    pub(crate) fn protocol(what: impl Into<String>) -> Self {
        Self { verdict: Verdict::ProtocolError, what: what.into() }
    }
}
