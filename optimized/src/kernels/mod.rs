//! Everything that touches memory through pointers. A [`Job`](job::Job) is made from real arrays; its parts check
//! blocks of indices ([`check`]), and only offsets so checked ([`CheckedIndices`](check::CheckedIndices)) reach the kernels that move bytes.
//!
//! Kernels are named by access pattern; every instruction set has the same files:
//! - `check_indices`: indices to byte offsets, bounds tested per component;
//! - `copy_rows`: rows of several bytes, short, long, and long without passing through the caches;
//! - `pick_elements`: rows of one element, from checked offsets;
//! - `pick_checked`: rows of one element straight from indices, the bounds tested in the same loop.
//!
//! Two have one loop for all of them: `tiles`, slices whose elements lie apart, and `planes`, elements that each have an
//! index and a position of their own.

#![allow(unsafe_code, reason = "kernels work on pointers; each block says why it may")]

use ndarray::{ArrayView, Dimension};

mod bodies;
pub(crate) mod check;
pub(crate) mod clone_elements;
mod cursor;
pub mod floor;
pub(crate) mod job;
mod moves;
mod planes;
mod portable;
mod tiles;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

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
