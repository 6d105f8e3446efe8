//! The binary `gatherspec`; see `gather_conformance::cli`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    gather_conformance::cli::main()
}
