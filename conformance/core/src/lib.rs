//! Tests implementations of gather against GatherSpec.
//!
//! - Implement [`Backend`] to test a library in Rust: `harness` has the cases as tests of `cargo test`; the crate
//!   `gatherspec` has a `main` for a program that tests itself. [`builtin`] has the project's own two.
//! - Speak the protocol: [`protocol`] has the messages, [`serve`] answers them for a backend, [`schemas`] describes them.
//!
//! Calls, tensors, dtypes and outcomes are those of the crate `gather_spec`, which a backend needs as well, in the same version.
//!
//! The feature `harness` brings the function `harness`. The feature `internals` brings a module of that name, for the other crates of
//! this project: it may change in any release.

// A call goes to a backend: one in this process through `runner`, which repeats it over layouts (`layout`) and threads, or a
// program in a `process` of its own. `judge` turns the outcome into a verdict, and the verdict goes into a `report`, with the
// `difference` between outputs and the `deviations` that explain it. `select` selects cases, and `declared` leaves out what a
// backend does not declare.

#![deny(unsafe_code)]
#![cfg_attr(
    not(feature = "internals"),
    allow(
        dead_code,
        unreachable_pub,
        unused_imports,
        reason = "much is there for the other crates of this project"
    )
)]

pub mod backend;
pub mod builtin;
mod check;
mod choices;
mod declared;
mod deviations;
mod difference;
mod entry;
mod facts;
mod files;
#[cfg(feature = "harness")]
mod harness;
mod in_process;
mod interrupt;
mod judge;
mod judged;
mod layout;
mod limits;
mod plan;
mod process;
pub mod protocol;
mod report;
mod reproduction;
mod runner;
#[cfg(feature = "internals")]
mod schema_names;
pub mod schemas;
mod select;
pub mod serve;
mod shapes;
mod shell;
mod strict;
mod style;
mod trouble;
mod variants;
mod words;

pub use backend::Backend;
#[cfg(feature = "harness")]
pub use harness::{harness, harness_with};
pub use limits::{Extends, Limits};
pub use variants::Variants;

/// What the other crates of this project share with this one. Anything in here may change in any release.
#[cfg(feature = "internals")]
pub mod internals {
    /// The unit of a campaign: what turns draws into requests, and their answers into a finding or none.
    pub mod check {
        pub use crate::check::*;
    }
    /// The source of randomness.
    pub mod choices {
        pub use crate::choices::*;
    }
    /// Known deviations: verdicts other than `pass` that are expected of a backend.
    pub mod deviations {
        pub use crate::deviations::*;
    }
    /// The first difference between outputs.
    pub mod difference {
        pub use crate::difference::*;
    }
    /// The result of a case or of a run.
    pub mod entry {
        pub use crate::entry::*;
    }
    /// What selectors of deviations test of a call.
    pub mod facts {
        pub use crate::facts::*;
    }
    /// Files that appear whole or not at all, and reading without waiting.
    pub mod files {
        pub use crate::files::*;
    }
    /// Backends in this process.
    pub mod in_process {
        pub use crate::in_process::*;
    }
    /// Whether the user has asked for the end.
    pub mod interrupt {
        pub use crate::interrupt::*;
    }
    /// Verdicts.
    pub mod judge {
        pub use crate::judge::*;
    }
    /// A run for one backend, and its result.
    pub mod judged {
        pub use crate::judged::*;
    }
    /// Layouts of the operands of a call.
    pub mod layout {
        pub use crate::layout::*;
    }
    /// Which variants a run is made in.
    pub mod plan {
        pub use crate::plan::*;
    }
    /// Backends in processes of their own.
    pub mod process {
        pub use crate::process::*;
    }
    /// What a run found.
    pub mod report {
        pub use crate::report::*;
    }
    /// Command lines that repeat a part of a run.
    pub mod reproduction {
        pub use crate::reproduction::*;
    }
    /// Runs on a backend in this process.
    pub mod runner {
        pub use crate::runner::*;
    }
    /// The cases and runs that patterns choose.
    pub mod select {
        pub use crate::select::*;
    }
    /// The shape of the output of a call.
    pub mod shapes {
        pub use crate::shapes::*;
    }
    /// Words of a command line.
    pub mod shell {
        pub use crate::shell::*;
    }
    /// Colours.
    pub mod style {
        pub use crate::style::*;
    }
    /// What went wrong with a call that has no answer.
    pub mod trouble {
        pub use crate::trouble::*;
    }
    /// Texts that several forms have in common.
    pub mod words {
        pub use crate::words::*;
    }
}

/// The specification, read once for all unit tests.
#[cfg(test)]
fn embedded() -> &'static gather_spec::Specification {
    static SPEC: std::sync::LazyLock<gather_spec::Specification> = std::sync::LazyLock::new(|| {
        gather_spec::Specification::embedded().expect("the tests of spec read it")
    });
    &SPEC
}

/// All runs of the specification, made once for all unit tests.
#[cfg(test)]
fn embedded_runs() -> &'static [gather_spec::Run] {
    static RUNS: std::sync::LazyLock<Vec<gather_spec::Run>> = std::sync::LazyLock::new(|| embedded().runs());
    &RUNS
}
