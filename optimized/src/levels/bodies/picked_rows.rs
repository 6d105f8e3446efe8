//! Rows straight from indices, the bounds tested in the same loop.

use super::picks::Picks;
use super::prefetch::Requests;
use super::rows::{self, CopyRow, EachRow};
use crate::index::Locate;

/// Rows by an index each.
struct Picked<I> {
    picks: Picks<I>,
    row_bytes: usize,
}

/// Copies one row of `row_bytes > 0` bytes per index; `false` as soon as an index is bad, and then what the output holds means
/// nothing. `WIDE` is that of [`rows::by_length`].
///
/// # Safety
/// `indices` must be `len` readable indices, `params` the start of `bound > 0` rows of `row_bytes` bytes, `stride` bytes apart,
/// and `output` of room for `len` rows.
#[inline(always)]
pub(in crate::levels) unsafe fn pick_rows<I: Locate, const WIDE: bool>(
    picks: Picks<I>,
    row_bytes: usize,
) -> bool {
    rows::by_length::<_, WIDE>(Picked { picks, row_bytes })
}

impl<I: Locate> EachRow for Picked<I> {
    /// Whether all indices were good.
    type Output = bool;

    fn row_bytes(&self) -> usize {
        self.row_bytes
    }

    fn starts(&self) -> usize {
        self.picks.params.addr() | self.picks.stride.unsigned_abs()
    }

    fn is_far(&self) -> bool {
        self.picks.prefetch
    }

    fn output(&self) -> *const u8 {
        self.picks.output
    }

    #[inline(always)]
    unsafe fn run(self, way: impl CopyRow) -> bool {
        let requests = Requests::new(self.row_bytes, self.starts(), self.is_far());
        let Self { picks: Picks { params, bound, stride, indices, len, output, prefetch, .. }, row_bytes } =
            self;
        let ahead = if prefetch { rows::rows_ahead(row_bytes) } else { len };
        // SAFETY: j < len.
        let located = |j: usize| unsafe { *indices.add(j) }.locate(bound);
        let row = |place: usize| params.wrapping_offset(place.cast_signed().wrapping_mul(stride));
        for j in 0..len {
            if j + ahead < len {
                // An address from an unchecked index is only asked for, never read.
                requests.row(row(located(j + ahead).0));
            }
            let (place, good) = located(j);
            if !good {
                return false;
            }
            // SAFETY: by the promise to `pick_rows`, a good place has a row of params, and the output has room for each row.
            unsafe { way.copy(row(place), output.wrapping_add(j * row_bytes)) };
        }
        true
    }
}
