//! Rows at checked offsets: copied in the order of the output, several bytes or one element each.

use std::mem::MaybeUninit;
use std::ptr::copy_nonoverlapping;

use super::prefetch::prefetch;

/// Rows of params at checked offsets: the proof that kernels may read them.
#[derive(Clone, Copy)]
pub(crate) struct CheckedRows<'a> {
    /// What offsets count from.
    params: *const u8,
    offsets: &'a [isize],
    row_bytes: usize,
    /// Whether rows are worth asking for before they are needed.
    prefetch: bool,
}

impl<'a> CheckedRows<'a> {
    /// Rows shorter than this share lines with their neighbours and are never written past the caches.
    pub(crate) const SHORTEST_STREAMED: usize = 128;

    /// The rows of `row_bytes` bytes at these offsets.
    ///
    /// # Safety
    /// For every offset, `params + offset` must be the start of `row_bytes` bytes that are readable during `'a`.
    #[inline]
    pub(crate) const unsafe fn new(
        params: *const u8,
        offsets: &'a [isize],
        row_bytes: usize,
        prefetch: bool,
    ) -> Self {
        Self { params, offsets, row_bytes, prefetch }
    }

    /// The length of each row.
    #[inline]
    pub(crate) const fn row_bytes(&self) -> usize {
        self.row_bytes
    }

    /// The start of each row, for [`CheckedRows::start`].
    #[inline(always)]
    pub(super) const fn offsets(&self) -> &'a [isize] {
        self.offsets
    }

    /// Where the row of an offset starts.
    #[inline(always)]
    pub(super) const fn start(&self, offset: isize) -> *const u8 {
        self.params.wrapping_offset(offset)
    }

    /// Whether the rows fill an output of this many bytes, one after the other.
    #[inline(always)]
    fn fill(&self, output_bytes: usize) -> bool {
        self.offsets.len().checked_mul(self.row_bytes) == Some(output_bytes)
    }

    /// How many rows to ask for ahead; 0 for none.
    #[inline(always)]
    pub(super) fn ahead(&self) -> usize {
        if self.prefetch { (BYTES_AHEAD / self.row_bytes).clamp(2, 48) } else { 0 }
    }
}

/// Bytes that should be on their way from memory while rows are copied.
const BYTES_AHEAD: usize = 8 << 10;
/// Beyond these lines of a row, the hardware's own prefetcher has noticed.
const LINES_AHEAD: usize = 8;

/// Calls `copy_row(source, destination)` for each row in order, asking for later rows meanwhile. The source is a row of
/// `row_bytes` bytes, and the destination has room for it.
///
/// # Panics
/// If the output is not as long as the rows.
#[inline(always)]
pub(in crate::levels) fn each_row(
    rows: CheckedRows<'_>,
    output: &mut [MaybeUninit<u8>],
    copy_row: impl Fn(*const u8, *mut u8),
) {
    assert!(rows.fill(output.len()), "one row of output for each row");
    let (ahead, offsets) = (rows.ahead(), rows.offsets);
    let mut output = output.as_mut_ptr().cast::<u8>();
    for (j, offset) in offsets.iter().enumerate() {
        if ahead > 0 {
            let next = offsets[(j + ahead).min(offsets.len() - 1)];
            prefetch_row(rows.params.wrapping_offset(next), rows.row_bytes);
        }
        // SAFETY: the offset was checked for params, and the output has room for as many rows as there are offsets.
        unsafe {
            copy_row(rows.params.offset(*offset), output);
            output = output.add(rows.row_bytes);
        }
    }
}

#[inline(always)]
pub(super) fn prefetch_row(row: *const u8, row_bytes: usize) {
    let lines = row_bytes.div_ceil(64).min(LINES_AHEAD);
    for line in 0..lines {
        prefetch(row.wrapping_add(line * 64));
    }
}

/// Copies rows of any length: fixed sizes in straight lines, others up to 512 bytes in two overlapping moves or a loop
/// of 64 bytes, longer ones by the system's `memcpy`.
///
/// # Panics
/// If the output is not as long as the rows.
#[inline(always)]
pub(in crate::levels) fn copy_rows(rows: CheckedRows<'_>, output: &mut [MaybeUninit<u8>]) {
    let row_bytes = rows.row_bytes;
    macro_rules! fixed {
        ($($bytes:literal)+) => {
            match row_bytes {
                $($bytes => return each_row(rows, output, |from, to| {
                    // SAFETY: each_row hands over rows of exactly this many bytes.
                    unsafe { copy_nonoverlapping(from, to, $bytes) }
                }),)+
                _ => {}
            }
        };
    }
    fixed!(1 2 3 4 6 8 12 16 24 32 48 64 96 128 192 256);
    macro_rules! overlapping {
        ($bytes:literal) => {
            each_row(rows, output, |from, to| {
                let second = row_bytes - $bytes;
                // SAFETY: a row has at least this many bytes and at most twice as many, so both moves stay inside it.
                unsafe {
                    copy_nonoverlapping(from, to, $bytes);
                    copy_nonoverlapping(from.add(second), to.add(second), $bytes);
                }
            })
        };
    }
    match row_bytes {
        0 => {}
        1..4 => overlapping!(2),
        4..8 => overlapping!(4),
        8..16 => overlapping!(8),
        16..32 => overlapping!(16),
        32..64 => overlapping!(32),
        // SAFETY: each_row hands over rows of row_bytes bytes, here at least 64.
        64..=512 => each_row(rows, output, |from, to| unsafe { copy_lines(from, to, row_bytes) }),
        // SAFETY: each_row hands over rows of row_bytes bytes.
        _ => each_row(rows, output, |from, to| unsafe { copy_nonoverlapping(from, to, row_bytes) }),
    }
}

/// Copies at least 64 bytes, the last 64 perhaps twice.
///
/// # Safety
/// `from` and `to` must be the start of `bytes >= 64` bytes each.
#[inline(always)]
unsafe fn copy_lines(from: *const u8, to: *mut u8, bytes: usize) {
    let last = bytes - 64;
    let mut at = 0;
    // SAFETY: at <= last, so at + 64 <= bytes.
    unsafe {
        while at < last {
            copy_nonoverlapping(from.add(at), to.add(at), 64);
            at += 64;
        }
        copy_nonoverlapping(from.add(last), to.add(last), 64);
    }
}

/// Copies rows of one element of `SIZE` bytes.
///
/// # Panics
/// If rows have another size, or the output is not as long as the rows.
#[inline(always)]
pub(in crate::levels) fn pick_elements<const SIZE: usize>(
    rows: CheckedRows<'_>,
    output: &mut [MaybeUninit<u8>],
) {
    assert!(rows.row_bytes == SIZE && rows.fill(output.len()), "one element of output for each row");
    if rows.prefetch {
        // SAFETY: each_row hands over rows of SIZE bytes.
        return each_row(rows, output, |from, to| unsafe { copy_nonoverlapping(from, to, SIZE) });
    }
    let output = output.as_mut_ptr().cast::<u8>();
    for (j, offset) in rows.offsets.iter().enumerate() {
        // SAFETY: the offset was checked for params, and the output has room for as many elements as there are offsets.
        unsafe { copy_nonoverlapping(rows.params.offset(*offset), output.add(j * SIZE), SIZE) };
    }
}
