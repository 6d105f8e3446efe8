//! Everything between arrays and the entries of a level. A [`Job`](job::Job) is made from real arrays, or slices
//! ([`strided`]), and a [`SpreadJob`](job::SpreadJob) where the output is not row-major without gaps ([`places`]). Its parts
//! check blocks of indices ([`check`]), and only offsets so checked ([`CheckedIndices`](check::CheckedIndices)) reach the
//! loops that move bytes. Generic code of the caller's crate enters by the methods of [`Index`](compiled::Index), which are
//! compiled here.
//!
//! `moves` and `pick` choose among the entries that each [level](crate::levels) has, which are named by access pattern:
//! - `check_dense`: indices to byte offsets, bounds tested per component;
//! - `copy_rows` and `stream_rows`: rows of several bytes, through the caches or past them;
//! - `spread_rows`: the same to places of their own;
//! - `pick_elements`: rows of one element, from checked offsets;
//! - `pick_checked`: rows of one element straight from indices, the bounds tested in the same loop;
//! - `pick_rows`: the same for rows of any length.
//!
//! Of slices that share their indices, those of the first are checked, and their offsets serve the others (`job::repeated`).
//!
//! Two loops serve all levels: `tiles`, slices whose elements lie apart, and `planes`, elements that each have an index and
//! a position of their own. [`workers`] share a job.

#![allow(unsafe_code, reason = "kernels work on pointers; each block says why it may")]

use ndarray::{ArrayView, Dimension};

pub(crate) mod check;
pub(crate) mod clone_elements;
pub(crate) mod compiled;
pub(crate) mod copy_strings;
mod cursor;
pub(crate) mod job;
mod moves;
mod pick;
pub(crate) mod placed_rows;
pub(crate) mod places;
mod planes;
pub(crate) mod strided;
mod tiles;
pub(crate) mod workers;

/// Integers of the same width that differ in sign only.
pub(crate) trait SameBits<T> {}
impl SameBits<i8> for u8 {}
impl SameBits<i16> for u16 {}
impl SameBits<i32> for u32 {}
impl SameBits<i64> for u64 {}

/// The same elements, as the signed integers that their bits mean.
pub(crate) fn signed<'a, T: SameBits<I>, I, D: Dimension>(view: &ArrayView<'a, T, D>) -> ArrayView<'a, I, D> {
    // SAFETY: same width, same alignment, and every bit pattern is an integer of either type; the array is that which
    // the view borrows.
    unsafe { view.raw_view().cast::<I>().deref_into_view() }
}
