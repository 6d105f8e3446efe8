//! Calls made to be hard: deterministic from a seed or from recorded draws, for differential tests and for fuzzing.
//!
//! - [`Choices`]: where randomness comes from; a shorter list of smaller draws gives a simpler call;
//! - [`any_call`]: calls of every operator, most of them right, some wrong in one way;
//! - [`Maker`]: the same for campaigns, fast, and of what a backend declares;
//! - [`grid`]: calls that are listed rather than drawn: all small shapes, and sizes around thresholds;
//! - [`paint`]: elements whose displacement shows.

mod calls;
mod choices;
pub mod grid;
mod maker;
pub mod paint;
mod palette;
mod sizes;

pub use calls::any_call;
pub use choices::Choices;
pub(crate) use choices::split_mix;
pub use maker::{Maker, Unmade};
