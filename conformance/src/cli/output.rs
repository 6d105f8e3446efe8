//! Printing: results on stdout, everything else on stderr. Control sequences other than colours are escaped, and a closed
//! pipe does not change the exit status.

use std::fmt::Display;
use std::io::{ErrorKind, Write};

use gather_conformance::internals::style::guarded;

use super::ending::Failure;

/// Prints to stdout, with colours only if that is a terminal.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    match out.write_all(guarded(text).as_bytes()).and_then(|()| out.flush()) {
        // The reader closed the pipe, as in `gatherspec list cases | head`. That is no error.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Usage(format!("stdout cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints a file's content to stdout as it is.
pub(super) fn print_raw(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Prints a line to stderr. Ignores errors, since there is nowhere to report them.
pub(super) fn complain(text: impl Display) {
    let _ = writeln!(anstream::stderr(), "{}", guarded(&text.to_string()));
}
