//! Cases as users read them.
#![cfg(feature = "cases")]
#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

#[macro_use]
#[path = "../../../conformance/tests/tiers/mod.rs"]
mod tiers;

mod closed_forms;
mod large;
