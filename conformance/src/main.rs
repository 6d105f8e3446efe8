//! The program `gatherspec`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    gatherspec::main()
}
