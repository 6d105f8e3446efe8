//! Calls made to be hard: deterministic from a seed or from recorded draws, for differential tests and for fuzzing.
//!
//! - [`Choices`]: where randomness comes from; a shorter list of smaller draws gives a simpler call;
//! - `parts`: the shapes of a right call in role terms; all that follows builds on them;
//! - `right`: draws them from a signature, form by form;
//! - `edges`: the shapes of one at a size at which kernels change their way;
//! - `values`: the elements of its indices;
//! - `windows`: the same of form window, with its dimension numbers;
//! - `slice_sizes`: of an operator that has them as an operand, in other dtypes;
//! - `stored`: integers as a tensor of any dtype and layout;
//! - `faults`: what puts it one step outside the signature;
//! - [`Maker`]: all of these together, fast, and of what a backend declares;
//! - [`grid`]: calls that are listed rather than drawn: all small shapes, and sizes around thresholds;
//! - [`paint`]: elements whose displacement shows.

mod choices;
mod edges;
mod far;
mod faults;
pub mod grid;
mod maker;
pub mod paint;
mod palette;
pub(crate) mod parts;
mod pieces;
pub(crate) mod right;
mod sizes;
mod slice_sizes;
mod stored;

pub(crate) mod values;
pub(crate) mod windows;

pub use choices::Choices;
pub(crate) use choices::split_mix;
pub use maker::{EDGES_IN, Maker, Unmade};
pub(crate) use sizes::Size;
