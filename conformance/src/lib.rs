//! The program `gatherspec`, and [`standalone()`], the `main` of a backend in Rust that tests itself.
//!
//! `cli` is the command line. `report` gives the result of a run its forms, and `results` stores it; `finding` has the texts for what they show. `adapters` starts the
//! libraries that the program brings adapters for, and `native` a shared library. `picture` draws a call by means of a `trace`, `show` prints a case, a clause
//! or an operator, `questions` compares operators, `book` renders everything as one text, and `ask` reads typed calls. `bench`
//! times backends. The crates below judge backends (`gather-conformance`), draw calls (`gather-campaign`) and measure the suite
//! (`gather-strength`).

#![deny(unsafe_code)]
#![cfg_attr(
    not(feature = "internals"),
    allow(
        dead_code,
        unreachable_pub,
        unused_imports,
        reason = "some of it is there for the tests of this project"
    )
)]

mod adapters;
mod answers;
mod ask;
mod bench;
mod book;
mod cli;
mod export;
mod finding;
mod native;
mod picture;
mod published;
mod questions;
mod report;
mod results;
mod results_page;
mod show;
mod signals;
mod standalone;
mod terminal;
mod trace;

pub use cli::main;
pub use standalone::standalone;

/// What the tests of this project look into. Anything in here may change in any release.
#[cfg(feature = "internals")]
pub mod internals {
    /// Typed calls.
    pub mod ask {
        pub use crate::ask::*;
    }
    /// Everything as one text.
    pub mod book {
        pub use crate::book::*;
    }
    /// Findings, and their texts for issues.
    pub mod finding {
        pub use crate::finding::*;
    }
    /// Shared libraries as backends.
    pub mod native {
        pub use crate::native::*;
    }
    /// Calls as pictures.
    pub mod picture {
        pub use crate::picture::*;
    }
    /// Whether the packages are published.
    pub mod published {
        pub use crate::published::*;
    }
    /// Questions, with the answer of every operator.
    pub mod questions {
        pub use crate::questions::*;
    }
    /// The forms of a report.
    pub mod report {
        pub use crate::report::*;
    }
    /// Kept results of libraries.
    pub mod results {
        pub use crate::results::*;
        pub use crate::results_page::page;
    }
    /// Cases, clauses and operators as text.
    pub mod show {
        pub use crate::show::*;
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
