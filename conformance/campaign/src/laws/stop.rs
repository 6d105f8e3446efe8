//! Why a law returns early: for answers that it needs, because it does not apply, or because it is violated.

use gather_spec::TensorError;

use gather_conformance::internals::check::CallRequest;
use gather_conformance::internals::difference::Difference;
use gather_conformance::internals::judge::Verdict;

/// Why a law returns early.
#[derive(Debug)]
pub(super) enum Stop {
    /// It needs answers to these requests, and then runs again from the start.
    Ask(Vec<CallRequest>),
    /// The law does not apply, for this reason.
    Skip(&'static str),
    /// The law is violated.
    Broken { verdict: Verdict, expected: String, actual: String, difference: Option<Box<Difference>> },
}

impl From<TensorError> for Stop {
    fn from(_: TensorError) -> Self {
        Self::Skip("skipped: no memory")
    }
}

impl From<gather_spec::ShapeTooLarge> for Stop {
    fn from(_: gather_spec::ShapeTooLarge) -> Self {
        Self::Skip("skipped: too large")
    }
}
