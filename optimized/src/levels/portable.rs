//! The level of every processor: the loops of `bodies` as they are.

use std::mem::MaybeUninit;

use super::bodies::{self, CheckedRows, IndexRows, Picks};
use super::entries::Entries;
use crate::index::Locate;

/// Proof of what needs none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable(());

impl Portable {
    /// The proof.
    #[allow(clippy::unnecessary_wraps, reason = "other levels may be missing")]
    pub(super) const fn detect() -> Option<Self> {
        Some(Self(()))
    }
}

impl Entries for Portable {
    unsafe fn check_dense<I: Locate, const D: usize>(
        self,
        rows: IndexRows<I, D>,
        offsets: &mut [MaybeUninit<isize>],
    ) -> bool {
        // SAFETY: the caller's promise.
        unsafe { bodies::check::<I, D, true>(rows, offsets) }
    }

    unsafe fn copy_rows(self, rows: CheckedRows<'_>, output: &mut [MaybeUninit<u8>]) {
        bodies::copy_rows::<false>(rows, output);
    }

    unsafe fn spread_rows(self, rows: CheckedRows<'_>, output: *mut u8, places: &[isize]) {
        // SAFETY: the caller's promise.
        unsafe { bodies::spread_rows::<false>(rows, output, places) }
    }

    /// Stores past the caches need instructions of their own.
    unsafe fn stream_rows(self, rows: CheckedRows<'_>, output: &mut [MaybeUninit<u8>]) {
        bodies::copy_rows::<false>(rows, output);
    }

    unsafe fn pick_elements<const SIZE: usize>(self, rows: CheckedRows<'_>, output: &mut [MaybeUninit<u8>]) {
        bodies::pick_elements::<SIZE>(rows, output);
    }

    unsafe fn pick_rows<I: Locate>(self, picks: Picks<I>, row_bytes: usize) -> bool {
        // SAFETY: the caller's promise.
        unsafe { bodies::pick_rows::<I, false>(picks, row_bytes) }
    }

    unsafe fn look_up(self, _: Picks<u8>, _: usize) -> Option<bool> {
        None
    }

    unsafe fn pick_checked<I: Locate, const SIZE: usize>(self, picks: Picks<I>) -> bool {
        // SAFETY: the caller's promise.
        unsafe { bodies::pick_by_stride::<I, SIZE>(picks) }
    }
}
