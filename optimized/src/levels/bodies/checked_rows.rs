//! Rows at checked offsets: copied in the order of the output, several bytes or one element each.

use std::mem::MaybeUninit;
use std::ptr::copy_nonoverlapping;

use super::prefetch::Requests;
use super::rows::{self, CopyRow, EachRow, Straight};

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

    /// The starts of rows: the bits that one of them has, or that strides between them should have.
    #[inline(always)]
    pub(super) fn starts(&self) -> usize {
        let first = self.offsets.first().map_or(self.params, |offset| self.start(*offset));
        first.addr() | self.row_bytes
    }

    /// How rows are asked for.
    #[inline(always)]
    pub(super) fn requests(&self) -> Requests {
        Requests::new(self.row_bytes, self.starts(), self.prefetch)
    }

    /// How many rows to ask for ahead; 0 for none.
    #[inline(always)]
    pub(super) fn ahead(&self) -> usize {
        if self.prefetch { rows::rows_ahead(self.row_bytes) } else { 0 }
    }
}

/// Copies each row in order, asking for later rows meanwhile.
///
/// # Safety
/// The way must be one for these rows.
///
/// # Panics
/// If the output is not as long as the rows.
#[inline(always)]
pub(in crate::levels) unsafe fn each_row(
    rows: CheckedRows<'_>,
    output: &mut [MaybeUninit<u8>],
    way: impl CopyRow,
) {
    assert!(rows.fill(output.len()), "one row of output for each row");
    let (ahead, requests, offsets) = (rows.ahead(), rows.requests(), rows.offsets);
    let mut output = output.as_mut_ptr().cast::<u8>();
    for (j, offset) in offsets.iter().enumerate() {
        if ahead > 0 {
            let next = offsets[(j + ahead).min(offsets.len() - 1)];
            requests.row(rows.start(next));
        }
        // SAFETY: the offset was checked for params, and the output has room for as many rows as there are offsets.
        unsafe {
            way.copy(rows.params.offset(*offset), output);
            output = output.add(rows.row_bytes);
        }
    }
}

/// Copies rows of any length, in the way of [`rows::by_length`].
///
/// # Panics
/// If the output is not as long as the rows.
#[inline(always)]
pub(in crate::levels) fn copy_rows<const WIDE: bool>(rows: CheckedRows<'_>, output: &mut [MaybeUninit<u8>]) {
    if rows.row_bytes > 0 {
        rows::by_length::<_, WIDE>(Copied { rows, output });
    }
}

/// Rows and their output.
struct Copied<'a, 'o> {
    rows: CheckedRows<'a>,
    output: &'o mut [MaybeUninit<u8>],
}

impl EachRow for Copied<'_, '_> {
    type Output = ();

    fn row_bytes(&self) -> usize {
        self.rows.row_bytes
    }

    fn starts(&self) -> usize {
        self.rows.starts()
    }

    fn is_far(&self) -> bool {
        self.rows.prefetch
    }

    fn output(&self) -> *const u8 {
        self.output.as_ptr().cast()
    }

    #[inline(always)]
    unsafe fn run(self, way: impl CopyRow) {
        // SAFETY: the caller's promise.
        unsafe { each_row(self.rows, self.output, way) };
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
        // SAFETY: rows have SIZE bytes.
        return unsafe { each_row(rows, output, Straight::<SIZE>) };
    }
    let output = output.as_mut_ptr().cast::<u8>();
    for (j, offset) in rows.offsets.iter().enumerate() {
        // SAFETY: the offset was checked for params, and the output has room for as many elements as there are offsets.
        unsafe { copy_nonoverlapping(rows.params.offset(*offset), output.add(j * SIZE), SIZE) };
    }
}
