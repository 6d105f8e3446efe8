//! Which kernel moves the rows of a job: by row length, size and level. The decisions are measured ones.

use std::mem::MaybeUninit;

use super::caches;
use super::under::under;
use crate::geometry::Geometry;
use crate::index::Index;
use crate::levels::Proof;
use crate::levels::bodies::{CheckedRows, Picks};
use crate::policy::Policies;

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

/// Whether a row of so many bytes is moved at once, as an element is.
pub(super) const fn is_one_move(row_bytes: usize) -> bool {
    matches!(row_bytes, 1 | 2 | 4 | 8 | 16)
}

/// The kernel that takes elements straight from indices, for the jobs that it fits: rows as short as an element, whether or
/// not they are one, and indices of depth 1.
#[derive(Clone, Copy)]
pub(super) struct Pick {
    pub bound: usize,
    /// The bytes of a row.
    pub size: usize,
    /// Between neighbours along the axis, in bytes.
    pub stride: isize,
    /// From index to index, in elements.
    pub step: isize,
    pub policies: Policies,
    pub stream: bool,
}

impl Pick {
    /// The kernel, if it fits.
    #[inline]
    pub(super) fn of(geometry: &Geometry, policies: Policies) -> Option<Self> {
        let ([component], Some(axis)) = (geometry.components.as_slice(), geometry.rows.last()) else {
            return None;
        };
        let size = geometry.row_bytes;
        let fits = is_one_move(size) && component.bound > 0 && axis.indices != 0 && axis.params == 0;
        let stream = caches::outgrown_by_elements(geometry.output_bytes());
        let (bound, stride) = (component.bound, component.stride);
        fits.then_some(Self { bound, size, stride, step: axis.indices, policies, stream })
    }
}

/// Moves elements straight from indices; `false` if any index was bad.
///
/// # Safety
/// As [`crate::levels::bodies::pick_checked`], with elements of `pick.size` bytes.
#[inline]
pub(super) unsafe fn pick_checked<I: Index>(level: Proof, pick: Pick, picks: Picks<I>) -> bool {
    // SAFETY: the caller's promise; an index under policies has the layout of an index.
    unsafe { under!(pick.policies, I, pick_sized(level, pick.size, picks.by())) }
}

/// # Safety
/// As [`crate::levels::bodies::pick_checked`], with elements of `size` bytes, one of 1, 2, 4, 8, 16.
#[inline]
unsafe fn pick_sized<I: Index>(level: Proof, size: usize, picks: Picks<I>) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        match size {
            1 => level.pick_checked::<I, 1>(picks),
            2 => level.pick_checked::<I, 2>(picks),
            4 => level.pick_checked::<I, 4>(picks),
            8 => level.pick_checked::<I, 8>(picks),
            _ => level.pick_checked::<I, 16>(picks),
        }
    }
}
