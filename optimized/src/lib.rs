//! The fastest correct gather in Rust, on `ndarray` arrays.
//!
//! - The documented functions: [`gather_nd`], [`gather`], [`take_along_axis`], [`gather_windows`], and `*_into` for the
//!   caller's output. What may be chosen is in [`Options`]; reasons to refuse are `gather_spec`'s
//!   [`GatherError`](gather_spec::GatherError)s.
//! - Validated once, used often: [`Plan`], and with its indices [`Prepared`]. Memory used often: [`Pool`], and [`Retaining`]
//!   for arrays that calls return.
//! - The same without `ndarray`: [`slices`]. Strings in one buffer: [`strings`].
//! - Calls on tensors of any dtype, as a backend answers them: [`answer()`], by the signature of any operator.
//!
//! `forms` validates a call: its shapes and attributes become `shapes` that fit each other. The functions of `api` run them
//! at once, and a `plan` keeps them. `arrays` runs them on arrays of these shapes, whose strides `geometry` knows, as a job
//! of `kernels`: its parts check indices block by block and hand the checked offsets to the entries of a level. Instruction sets are named in
//! `levels` alone and threads in `parallel` alone; `unsafe` stands in `kernels`, `levels` and `output` alone.

#![deny(unsafe_code)]

mod answer;
mod api;
mod arrays;
mod dispatch;
mod forms;
mod geometry;
mod index;
mod kernels;
mod levels;
mod offender;
mod offset;
mod options;
mod output;
mod parallel;
mod plan;
mod policy;
mod prepare;
mod prepared;
mod shapes;
pub mod slices;
pub mod strings;
mod windows;

pub use answer::{Settings, answer};
pub use api::{
    gather, gather_into, gather_nd, gather_nd_into, gather_windows, gather_windows_into, take_along_axis,
    take_along_axis_into,
};
pub use arrays::Element;
pub use dispatch::LEVEL_VARIABLE;
pub use index::Index;
#[doc(hidden)]
pub use kernels::placed_rows::PlacedRows;
pub use levels::Level;
pub use options::Options;
pub use output::{Pool, Pooled, Retaining};
pub use plan::Plan;
pub use policy::{Fill, Filled, Zeros};
pub use prepare::{Memory, Run, prepare};
pub use prepared::Prepared;

/// The examples of the page are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Page;
