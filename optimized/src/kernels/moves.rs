//! Which kernel moves the rows of a job: by row length, size and level. The decisions are measured ones.

use std::mem::MaybeUninit;

use super::caches;
use crate::levels::Proof;
use crate::levels::bodies::CheckedRows;

/// Moves rows to an output that is as long as they are, past the caches with `stream` if they are long enough.
#[inline]
pub(super) fn move_rows(level: Proof, rows: CheckedRows<'_>, output: &mut [MaybeUninit<u8>], stream: bool) {
    match rows.row_bytes() {
        1 => level.pick_elements::<1>(rows, output),
        2 => level.pick_elements::<2>(rows, output),
        4 => level.pick_elements::<4>(rows, output),
        8 => level.pick_elements::<8>(rows, output),
        16 => level.pick_elements::<16>(rows, output),
        CheckedRows::SHORTEST_STREAMED.. if stream => level.stream_rows(rows, output),
        _ => level.copy_rows(rows, output),
    }
}

/// Whether rows of an output are worth writing past the caches. Measured on a Zen 5: with 256-byte rows that is slower on one
/// thread, and with 128-byte rows on any number.
pub(super) fn streams(output_bytes: usize, row_bytes: usize) -> bool {
    (1024..=16384).contains(&row_bytes) && caches::outgrown_by_rows(output_bytes)
}

/// The longest row that is moved at once.
pub(super) const MOST_AT_ONCE: usize = 16;

/// Whether a row of this many bytes is moved at once, like an element.
pub(super) const fn is_one_move(row_bytes: usize) -> bool {
    matches!(row_bytes, 1 | 2 | 4 | 8 | 16)
}
