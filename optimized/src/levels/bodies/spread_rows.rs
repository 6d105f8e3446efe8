//! Rows at checked offsets, copied to places of their own.

use super::checked_rows::CheckedRows;
use super::rows::{self, CopyRow, EachRow};

/// Rows, what places count from, and the places.
struct Spread<'a> {
    rows: CheckedRows<'a>,
    output: *mut u8,
    places: &'a [isize],
}

/// Copies each row to its place in the output, in bytes from its start, in the way of [`rows::by_length`], with its `WIDE`.
///
/// # Safety
/// For each row, `output + place` must be the start of as many bytes as a row has, which nothing else
/// accesses meanwhile.
///
/// # Panics
/// If there is not one place for each row.
#[inline(always)]
pub(in crate::levels) unsafe fn spread_rows<const WIDE: bool>(
    rows: CheckedRows<'_>,
    output: *mut u8,
    places: &[isize],
) {
    assert!(rows.offsets().len() == places.len(), "one place for each row");
    if rows.row_bytes() > 0 {
        rows::by_length::<_, WIDE>(Spread { rows, output, places });
    }
}

impl EachRow for Spread<'_> {
    type Output = ();

    fn row_bytes(&self) -> usize {
        self.rows.row_bytes()
    }

    fn starts(&self) -> usize {
        self.rows.starts()
    }

    fn is_far(&self) -> bool {
        self.rows.ahead() > 0
    }

    fn output(&self) -> *const u8 {
        self.output.wrapping_offset(self.places.first().map_or(0, |place| *place))
    }

    #[inline(always)]
    unsafe fn run(self, way: impl CopyRow) {
        let Self { rows, output, places } = self;
        let (offsets, ahead, requests) = (rows.offsets(), rows.ahead(), rows.requests());
        for (j, (offset, place)) in offsets.iter().zip(places).enumerate() {
            if ahead > 0 {
                requests.row(rows.start(offsets[(j + ahead).min(offsets.len() - 1)]));
            }
            // SAFETY: the offset was checked for params, by the promise to `spread_rows` the place has room for a row, and the way
            // is one for these rows.
            unsafe { way.copy(rows.start(*offset), output.offset(*place)) };
        }
    }
}
