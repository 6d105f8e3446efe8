//! What the program says: results on stdout, all else on stderr. A terminal obeys nothing of it but colours, and whoever
//! stops reading changes no status.

use std::fmt::Display;
use std::io::{ErrorKind, Write};

use crate::style::guarded;

use super::ending::Failure;

/// Prints a text to stdout, with its colours only if that is a terminal.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    match out.write_all(guarded(text).as_bytes()).and_then(|()| out.flush()) {
        // Whoever reads has had enough, as `gatherspec list cases | head` has. What was found is found all the same.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Usage(format!("stdout cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints a line to stderr. Where nobody reads it, there is nobody to be told.
pub(super) fn complain(text: impl Display) {
    let _ = writeln!(anstream::stderr(), "{}", guarded(&text.to_string()));
}
