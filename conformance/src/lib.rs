//! Runs the cases of GatherSpec against gather implementations and judges what they answer.

#![forbid(unsafe_code)]

pub mod backend;
pub mod builtin;
pub mod generate;
pub mod judge;
pub mod layout;
pub mod runner;

pub use backend::Backend;
