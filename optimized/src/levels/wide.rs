//! Rows in moves of 32 bytes, for all levels that have AVX2: no wider move is better for rows.

use std::mem::MaybeUninit;

use super::bodies::{self, CheckedRows, Picks};
use crate::index::Locate;

/// [`Entries::copy_rows`](super::entries::Entries::copy_rows).
#[target_feature(enable = "avx2")]
pub(super) fn copy_rows(rows: CheckedRows<'_>, output: &mut [MaybeUninit<u8>]) {
    bodies::copy_rows::<true>(rows, output);
}

/// [`Entries::spread_rows`](super::entries::Entries::spread_rows).
///
/// # Safety
/// As [`bodies::spread_rows`].
#[target_feature(enable = "avx2")]
pub(super) unsafe fn spread_rows(rows: CheckedRows<'_>, output: *mut u8, places: &[isize]) {
    // SAFETY: the caller's promise.
    unsafe { bodies::spread_rows::<true>(rows, output, places) }
}

/// [`Entries::pick_rows`](super::entries::Entries::pick_rows).
///
/// # Safety
/// As [`bodies::pick_rows`].
#[target_feature(enable = "avx2")]
pub(super) unsafe fn pick_rows<I: Locate>(picks: Picks<I>, row_bytes: usize) -> bool {
    // SAFETY: the caller's promise.
    unsafe { bodies::pick_rows::<I, true>(picks, row_bytes) }
}
