//! The `main` of a backend in Rust that tests itself, as the crates under `conformance/backends/` do.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use crate::cli;
use gather_conformance::backend::Backend;
use gather_conformance::serve;

/// The `main` of a backend, with the file of its known deviations.
///
/// The program runs the suite on itself in a separate process, so that a crash fails only one call. It takes the options of
/// `gatherspec run`. With the single argument `serve` it answers the backend protocol.
///
/// ```no_run
/// use std::process::ExitCode;
/// # use gather_conformance::{Backend, backend::Description, builtin};
/// # use gather_spec::{Call, Outcome, Profile};
/// # struct MyBackend(Box<dyn Backend>);
/// # impl MyBackend {
/// #     fn new() -> Self { Self(builtin::backend("reference", Profile::default(), 1 << 20).unwrap()) }
/// # }
/// # impl Backend for MyBackend {
/// #     fn describe(&self) -> Description { self.0.describe() }
/// #     fn call(&mut self, call: &Call) -> Outcome { self.0.call(call) }
/// # }
///
/// fn main() -> ExitCode {
///     gatherspec::standalone(MyBackend::new, concat!(env!("CARGO_MANIFEST_DIR"), "/deviations.yaml"))
/// }
/// ```
#[must_use]
pub fn standalone<B: Backend>(make: impl FnOnce() -> B, deviations: impl AsRef<Path>) -> ExitCode {
    if std::env::args_os().skip(1).eq(["serve"]) {
        return match serve::serve(&mut make(), io::stdin().lock(), io::stdout().lock()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failed(&error),
        };
    }
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return failed(&error),
    };
    cli::validate(vec![program.into(), "serve".into()], deviations.as_ref())
}

fn failed(error: &io::Error) -> ExitCode {
    drop(writeln!(anstream::stderr(), "error: {error}"));
    ExitCode::FAILURE
}
