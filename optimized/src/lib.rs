//! The fastest correct gather in Rust, on `ndarray` arrays.
//!
//! - The documented functions: [`gather_nd`], [`gather`], [`take_along_axis`], [`gather_windows`], and `*_into` for the
//!   caller's output. What may be chosen is in [`Options`]; reasons to refuse are `gather_spec`'s
//!   [`GatherError`](gather_spec::GatherError)s.
//! - Validated once, used often: [`Plan`]. Memory used often: [`Pool`].
//! - Calls on tensors of any dtype, as a backend answers them: [`answer()`], by the signature of any operator.
//!
//! What a form says of a call is in `forms`: it makes `shapes` that fit each other, which a `plan` keeps. They are tied
//! to their arrays (`arrays`) and strides (`geometry`); `run` makes a job of them, whose parts check indices block by
//! block and hand the checked offsets to `kernels`. Instruction sets are chosen in `dispatch` alone, threads are named
//! in `parallel` alone, and `unsafe` stands in `kernels` and `output` alone.

#![deny(unsafe_code)]

mod answer;
mod api;
mod arrays;
mod dispatch;
mod forms;
mod geometry;
mod index;
mod kernels;
mod offender;
mod options;
mod output;
mod parallel;
mod plan;
mod policy;
mod run;
mod shapes;
mod windows;

pub use answer::{Settings, answer};
pub use api::{
    gather, gather_into, gather_nd, gather_nd_into, gather_windows, gather_windows_into, take_along_axis,
    take_along_axis_into,
};
pub use dispatch::{LEVEL_VARIABLE, Level};
pub use index::Index;
#[doc(hidden)]
pub use kernels::floor;
pub use options::Options;
pub use output::{Pool, Pooled};
pub use plan::Plan;
pub use policy::{Fill, Filled, Zeros};
pub use run::Element;

/// The examples of the page are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Page;
