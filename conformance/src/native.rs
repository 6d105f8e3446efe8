//! Native libraries that implement `conformance/include/gatherspec.h`. Each is loaded into a process of its own:
//! `gatherspec run --library` starts this program again with the hidden command [`COMMAND`], which serves the library over
//! the backend protocol. A library that crashes thus crashes only that process, like any other program.
//!
//! `abi` mirrors the header. `operand` and `arguments` lay out inputs in the read-only memory of `guarded`, `read`
//! validates outputs, and `library` makes the calls.

#![allow(unsafe_code, reason = "calling a library cannot be proven safe; each block says what it rests on")]

mod abi;
mod arguments;
#[cfg_attr(not(unix), path = "native/copied.rs")]
mod guarded;
mod library;
mod operand;
mod read;

use std::ffi::OsString;
use std::io;
use std::path::Path;

use gather_spec::Signatures;

use gather_conformance::serve::{Files, answer_all};

use library::Library;

/// The hidden command that loads a library and answers the protocol.
pub const COMMAND: &str = "serve-library";

/// The header of the C interface.
pub const HEADER: &str = include_str!("../include/gatherspec.h");

/// The command that serves a library over the protocol. `specification` are the options that say where the operators are read
/// from, unless they are the embedded ones.
///
/// # Errors
/// If the path of this program or the current folder cannot be determined.
pub fn command(library: &Path, specification: Vec<OsString>) -> io::Result<Vec<OsString>> {
    // The dynamic loader would search the system's folders for a name without a folder.
    let library = std::path::absolute(library)?;
    let mut command = vec![std::env::current_exe()?.into(), COMMAND.into(), library.into()];
    command.extend(specification);
    Ok(command)
}

/// Why a library cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum NotServed {
    /// It cannot be loaded, has another ABI version, or describes itself wrongly.
    #[error("{library}: {why}")]
    Library {
        /// The file.
        library: String,
        /// What is wrong.
        why: String,
    },
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Loads a library and answers the protocol for it on stdin and stdout. What the library itself prints goes to stderr.
///
/// # Errors
/// [`NotServed`].
pub fn serve(path: &Path, signatures: &Signatures) -> Result<(), NotServed> {
    let output = take_stdout()?;
    let mut library =
        Library::load(path).map_err(|why| NotServed::Library { library: path.display().to_string(), why })?;
    Ok(answer_all(&mut library, signatures, Files::Allowed, io::stdin().lock(), output)?)
}

/// Reserves standard output for the protocol: the descriptor that the library sees leads to stderr.
#[cfg(unix)]
fn take_stdout() -> io::Result<impl io::Write> {
    let own = rustix::io::dup(rustix::stdio::stdout())?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    Ok(io::BufWriter::new(std::fs::File::from(own)))
}

#[cfg(not(unix))]
fn take_stdout() -> io::Result<impl io::Write> {
    Ok(io::stdout().lock())
}
