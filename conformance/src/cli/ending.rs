//! How a command ends: its status, and what stopped it.

use std::io;

use gather_spec::Diagnostic;

/// The exit status of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// Everything conforms.
    Conforms = 0,
    /// Something does not conform.
    DoesNotConform = 1,
    /// Wrong usage or a bad input file.
    Usage = 2,
    /// A backend could not be started.
    Broken = 3,
}

/// Why a command ended before it could judge anything.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// Invalid files.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n"))]
    Files(Vec<Diagnostic>),
    /// An invalid argument.
    #[error("error: {0}")]
    Usage(String),
    /// A backend that cannot be started.
    #[error("error: {0}")]
    Broken(String),
    /// Output that cannot be written.
    #[error("error: {0}")]
    Io(#[from] io::Error),
}
