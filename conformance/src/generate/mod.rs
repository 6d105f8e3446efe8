//! Calls made to be hard: deterministic from a seed or from recorded draws, for differential tests and for fuzzing.
//!
//! - [`Choices`]: where randomness comes from; a shorter list of smaller draws gives a simpler call;
//! - [`any_call`]: calls of every operator, most of them right, some wrong in one way;
//! - [`grid`]: calls that are listed rather than drawn: all small shapes, and sizes around thresholds;
//! - [`paint`]: elements whose displacement shows.

mod calls;
mod choices;
pub mod grid;
pub mod paint;

pub use calls::any_call;
pub use choices::Choices;
