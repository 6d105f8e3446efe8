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
//! # The way of one call
//!
//! [`gather`] of params 1000 x 64 by 10,000 indices, as an example, where a bad index gives zeros:
//!
//! 1. `api`: the function takes the shapes from the arrays, and the choices from [`Options`].
//! 2. `forms`: `take` checks ranks, `batch_dims` and `axis` (`bounds`), in the order of the error codes, and gives the `shapes`:
//!    which dims are batch, mid, gathered and inner. `dispatch` proves the level that runs: forced, or the best of the machine.
//! 3. `arrays`: holds these shapes to the arrays and computes the length of the output, checked. A [`Plan`] keeps the shapes and
//!    starts here at each call; [`Prepared`] keeps the checked indices too.
//! 4. `output`: reserves memory, fallibly, and lends it to the call unwritten. It becomes an array only when the call returns
//!    the proof (`Written`) that every element is written.
//! 5. `geometry`: dims and strides become loops: the axes along which rows lie, the bytes of a row (256 here), and for each
//!    component of an index its bound and its stride. Axes that lie one behind the other are joined.
//! 6. `kernels::job`: decides once how the job runs. Rows are taken straight from indices (`pick`) where each index is a row and
//!    a bad one is an error, and so are rows as short as an element, which may go in `planes`, too; slices whose elements lie
//!    apart go in `tiles`; all others, as here, in blocks.
//! 7. `kernels::workers`: a job of more than 50 microseconds for each thread is shared in parts; a smaller one never leaves the
//!    caller's thread. All threads are named in `parallel`.
//! 8. `kernels::check`: reads a block of indices (`cursor` says where), tests each component against its own bound, and gives
//!    byte offsets: `CheckedIndices`, the only type that reaches a loop which moves bytes.
//! 9. `kernels::moves`: chooses an entry of the level by row length and size of the output (`caches`): here `copy_rows`.
//! 10. `levels`: the entry in the file of the level runs a loop of `bodies`, compiled for its instructions, or its own. How a row
//!     is copied, by its length and by where it lies in the lines of the caches, is in `bodies::rows`.
//! 11. Where an index was bad and the policy is an error, `offender` looks for the first one again, slowly, and names it. Where
//!     the policy gives something (`policy`, `index`), the row was filled, or the index was read as another one, in step 8.
//!
//! Elements that are no plain bytes take another way from step 4 on: `kernels::clone_elements`, `kernels::copy_strings`.
//! `unsafe` stands in `kernels`, `levels` and `output` alone, and instruction sets are named in `levels` alone.

#![deny(unsafe_code)]

mod answer;
mod api;
mod arrays;
mod caches;
mod dispatch;
mod element;
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
pub use dispatch::LEVEL_VARIABLE;
pub use element::Element;
pub use kernels::compiled::Index;
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
