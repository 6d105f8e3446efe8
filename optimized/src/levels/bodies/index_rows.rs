//! Index rows: bounds tested per component, and the byte offset that each row selects.

use std::mem::MaybeUninit;

use crate::index::Locate;

/// Index rows of depth `D` and what they select from.
#[derive(Clone, Copy)]
pub(crate) struct IndexRows<I, const D: usize> {
    /// The first component of the first row.
    pub first: *const I,
    /// From row to row, in elements.
    pub step: isize,
    /// From the start of a row to each component, in elements.
    pub at: [isize; D],
    pub bounds: [usize; D],
    /// Per component, in bytes.
    pub strides: [isize; D],
    /// The offset of the first row's slice if all indices were 0, and how it moves from row to row.
    pub base: isize,
    pub base_step: isize,
}

/// Writes the byte offset of every row's slice; `false` if any component was bad. With `DENSE`, components
/// and rows follow each other without gaps and the base does not move: the fields for those are ignored.
///
/// # Safety
/// For every row `j < offsets.len()` and component `c`, `first + j * step + at[c]` must be readable.
#[inline(always)]
pub(crate) unsafe fn check<I: Locate, const D: usize, const DENSE: bool>(
    rows: IndexRows<I, D>,
    offsets: &mut [MaybeUninit<isize>],
) -> bool {
    let mut all_good = true;
    for (j, offset) in offsets.iter_mut().enumerate() {
        let j = j.cast_signed();
        let mut sum = if DENSE { rows.base } else { rows.base.wrapping_add(j.wrapping_mul(rows.base_step)) };
        for c in 0..D {
            let at = if DENSE {
                j * D.cast_signed() + c.cast_signed()
            } else {
                j.wrapping_mul(rows.step).wrapping_add(rows.at[c])
            };
            // SAFETY: the caller's promise; a dense row is the case step = D, at[c] = c.
            let index = unsafe { *rows.first.offset(at) };
            let (place, good) = index.locate(rows.bounds[c]);
            all_good &= good;
            sum = sum.wrapping_add(place.cast_signed().wrapping_mul(rows.strides[c]));
        }
        offset.write(sum);
    }
    all_good
}
