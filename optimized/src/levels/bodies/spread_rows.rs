//! Rows at checked offsets, copied to places of their own.

use std::ptr::copy_nonoverlapping;

use super::checked_rows::CheckedRows;

/// Copies each row to its place in the output, in bytes from its start.
///
/// # Safety
/// For each row, `output + place` must be the start of as many bytes as a row has, which nothing else
/// accesses meanwhile.
///
/// # Panics
/// If there is not one place for each row.
pub(crate) unsafe fn spread_rows(rows: CheckedRows<'_>, output: *mut u8, places: &[isize]) {
    macro_rules! fixed {
        ($($bytes:literal)+) => {
            match rows.row_bytes() {
                // SAFETY: each_place gives a row and its place, of exactly this many bytes.
                $($bytes => each_place(rows, places, |from, to| unsafe {
                    copy_nonoverlapping(from, output.offset(to), $bytes);
                }),)+
                // SAFETY: each_place gives a row and its place, of row_bytes bytes.
                bytes => each_place(rows, places, |from, to| unsafe {
                    copy_nonoverlapping(from, output.offset(to), bytes);
                }),
            }
        };
    }
    fixed!(1 2 4 8 16 32 64 128 256);
}

/// Calls `copy_row` with each row and its place, asking for later rows meanwhile.
#[inline(always)]
fn each_place(rows: CheckedRows<'_>, places: &[isize], copy_row: impl Fn(*const u8, isize)) {
    let (offsets, ahead, requests) = (rows.offsets(), rows.ahead(), rows.requests());
    assert!(offsets.len() == places.len(), "one place for each row");
    for (j, (offset, place)) in offsets.iter().zip(places).enumerate() {
        if ahead > 0 {
            let next = offsets[(j + ahead).min(offsets.len() - 1)];
            requests.row(rows.start(next));
        }
        copy_row(rows.start(*offset), *place);
    }
}
