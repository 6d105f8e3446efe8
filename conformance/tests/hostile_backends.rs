//! Backends that do what backends should not: each costs its own call the exact verdict below, and the calls beside
//! it keep theirs. This program is both the tests and, told so by its environment, the backends.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

#[cfg(unix)]
mod miniatures;
#[cfg(unix)]
#[path = "hostile_backends/mod.rs"]
mod tests;

use std::process::ExitCode;

#[cfg(not(unix))]
fn main() -> ExitCode {
    println!("skipped: the backends of these tests need unix");
    ExitCode::SUCCESS
}

#[cfg(unix)]
fn main() -> ExitCode {
    miniatures::or_else(tests::main)
}
