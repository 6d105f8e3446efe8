//! Native libraries that implement `conformance/include/gatherspec.h`, loaded into a process of their own: `gatherspec
//! run --library` starts this program once more with the hidden command [`COMMAND`], which puts the library behind the
//! backend protocol. What it breaks there is judged like what any other program breaks.
//!
//! `abi` has the structures of the header, `operand` and `arguments` lay out what goes in, `read` looks through what
//! comes out, and `library` calls; `limits` has nothing to do with libraries but that it needs unsafe code, which the
//! crate has here only.

#![allow(unsafe_code, reason = "calling a library cannot be proven safe; each block says what it rests on")]

mod abi;
mod arguments;
mod library;
mod limits;
mod operand;
mod read;

use std::ffi::OsString;
use std::io;
use std::path::Path;

use gather_spec::Signatures;

use crate::serve::{Files, answer_all};

use library::Library;
pub(crate) use library::{BROKEN, CHANGED};
pub(crate) use limits::limit_memory;

/// The hidden command that loads a library and answers the protocol.
pub const COMMAND: &str = "serve-library";

/// The program and arguments that put a library behind the protocol, for the operators of the specification in a folder,
/// if it is not the one built in.
///
/// # Errors
/// If this program cannot find itself, or the current folder.
pub fn command(library: &Path, specification: Option<&Path>) -> io::Result<Vec<OsString>> {
    // A name without a folder would be looked for among the system's libraries.
    let library = std::path::absolute(library)?;
    let mut command = vec![std::env::current_exe()?.into(), COMMAND.into(), library.into()];
    if let Some(folder) = specification {
        command.extend(["--spec".into(), folder.into()]);
    }
    Ok(command)
}

/// Why a library is not served.
#[derive(Debug, thiserror::Error)]
pub enum NotServed {
    /// It cannot be loaded, is of another version, or says nonsense about itself.
    #[error("{library}: {why}")]
    Library {
        /// The file.
        library: String,
        /// What is wrong.
        why: String,
    },
    /// Reading or writing fails.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Loads a library and answers the protocol on stdin and stdout on its behalf. What the library itself prints goes to
/// stderr.
///
/// # Errors
/// [`NotServed`].
pub fn serve(path: &Path, signatures: &Signatures) -> Result<(), NotServed> {
    let output = take_stdout()?;
    let mut library =
        Library::load(path).map_err(|why| NotServed::Library { library: path.display().to_string(), why })?;
    Ok(answer_all(&mut library, signatures, Files::Allowed, io::stdin().lock(), output)?)
}

/// Standard output for this program alone: its number leads to stderr from now on.
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
