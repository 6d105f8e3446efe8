//! What measures the strength of GatherSpec's suite: a part of the program `gatherspec`, which may change in any release.
//!
//! `mutants` are deliberately wrong gathers, each of which some case must catch.

#![forbid(unsafe_code)]

pub mod mutants;
