//! Generators of test calls. Every call follows from a seed or from recorded draws.
//!
//! - [`ChoiceSequence`]: the source of randomness; fewer and smaller draws give a simpler call;
//! - `parts`: the shapes of a valid call, in terms of roles; the other modules build on them;
//! - `right`: draws them from a signature, by form;
//! - `pieces`: a call by the meaning of its dims, from which `edges` and `far` assemble shapes;
//! - `sizes`, `edges`, `far`: how large a call is: usually tiny, sometimes at a threshold of kernels, or beyond;
//! - `values`: the elements of indices;
//! - `fills`: fill values that reveal a conversion;
//! - `windows`: shapes and dimension numbers of form window;
//! - `attribute_operands`: slice sizes and an axis as an operand;
//! - `stored`: integers as a tensor of any dtype and layout;
//! - `faults`: changes that put a call one step outside the signature;
//! - `shared`: elements of params, shared by many tensors;
//! - [`CallGenerator`]: combines all of these into calls that a backend declares;
//! - [`grid`]: calls that are enumerated: all small shapes, and sizes around thresholds;
//! - [`paint`]: elements that reveal where they came from.
//!
//! # A new kind of call
//!
//! `conformance/tests/library/draws.rs` lists the kinds of calls that campaigns must reach, and how often. If real kernels break
//! on a kind that is missing, add a line to that table and a draw to `edges`. Another order of draws makes other calls from the
//! same seed: raise `GENERATORS` in `fuzz/plan.rs`, and draft `drawn` and `laws` in the `deviations.yaml` of each adapter again.

mod attribute_operands;
mod edges;
mod far;
mod faults;
pub(crate) mod fills;
mod generator;
pub mod grid;
pub mod paint;
pub(crate) mod parts;
mod pieces;
pub(crate) mod right;
mod shared;
mod sizes;
mod stored;

pub(crate) mod values;
pub(crate) mod windows;

pub use gather_conformance::internals::choices::ChoiceSequence;
pub(crate) use gather_conformance::internals::choices::split_mix;
pub use generator::{CallGenerator, DrawError, EDGES_IN};
pub(crate) use sizes::SizeClass;
