//! Loops that all levels share, written once. All are `inline(always)`: each is compiled anew inside the entries of each
//! level, for the instructions of that level. What they work on is defined here too.

use std::array::from_fn;
use std::mem::MaybeUninit;
use std::ptr::copy_nonoverlapping;

use crate::index::Index;

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

/// Writes the byte offset of every row's slice; `false` if any component was bad. `DENSE` says that components and
/// rows follow each other without gaps and the base stays, whatever the fields say.
///
/// # Safety
/// For every row `j < offsets.len()` and component `c`, `first + j * step + at[c]` must be readable.
#[inline(always)]
pub(crate) unsafe fn check<I: Index, const WRAP: bool, const D: usize, const DENSE: bool>(
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
            let (place, good) = index.locate::<WRAP>(rows.bounds[c]);
            all_good &= good;
            sum = sum.wrapping_add(place.cast_signed().wrapping_mul(rows.strides[c]));
        }
        offset.write(sum);
    }
    all_good
}

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

    /// Whether the rows fill an output of so many bytes, one after the other.
    #[inline(always)]
    fn fill(&self, output_bytes: usize) -> bool {
        self.offsets.len().checked_mul(self.row_bytes) == Some(output_bytes)
    }

    /// How many rows to ask for ahead; 0 for none.
    #[inline(always)]
    fn ahead(&self) -> usize {
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
pub(super) fn each_row(
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
fn prefetch_row(row: *const u8, row_bytes: usize) {
    let lines = row_bytes.div_ceil(64).min(LINES_AHEAD);
    for line in 0..lines {
        prefetch(row.wrapping_add(line * 64));
    }
}

/// Asks for the lines of bytes `from..to` after `start`.
#[inline]
pub(crate) fn prefetch_lines(start: *const u8, from: usize, to: usize) {
    for at in (from.next_multiple_of(64)..to).step_by(64) {
        prefetch(start.wrapping_add(at));
    }
}

/// Asks for a cache line. Any address will do: nothing is read that could fault.
#[inline(always)]
fn prefetch(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64, and a prefetch never faults.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Copies rows of any length: fixed sizes in straight lines, others up to 512 bytes in two overlapping moves or a loop
/// of 64 bytes, longer ones by the system's `memcpy`.
///
/// # Panics
/// If the output is not as long as the rows.
#[inline(always)]
pub(super) fn copy_rows(rows: CheckedRows<'_>, output: &mut [MaybeUninit<u8>]) {
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
pub(super) fn pick_elements<const SIZE: usize>(rows: CheckedRows<'_>, output: &mut [MaybeUninit<u8>]) {
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

/// Dense indices of depth 1 into an axis, one element per index.
#[derive(Clone, Copy)]
pub(crate) struct Picks<I> {
    /// The start of the axis.
    pub params: *const u8,
    /// Its elements, at least one.
    pub bound: usize,
    /// Between neighbours along the axis, in bytes.
    pub stride: isize,
    pub indices: *const I,
    pub len: usize,
    pub output: *mut u8,
    /// Whether elements are worth asking for before they are needed.
    pub prefetch: bool,
    /// Whether the output is worth writing past the caches, where a level can.
    pub stream: bool,
}

impl<I> Picks<I> {
    /// Where an element lies, in bytes from the start of the axis; without gaps the stride is known to the compiler.
    #[inline(always)]
    fn offset<const SIZE: usize, const GAPS: bool>(&self, place: usize) -> isize {
        let stride = if GAPS { self.stride } else { SIZE.cast_signed() };
        place.cast_signed().wrapping_mul(stride)
    }

    /// Elements before the first that starts a line of the output, from which on wide stores touch one line each. None
    /// if elements straddle lines.
    #[inline(always)]
    pub(super) fn head(&self, size: usize) -> usize {
        let skip = self.output.align_offset(64);
        if skip.is_multiple_of(size) { (skip / size).min(self.len) } else { 0 }
    }
}

/// Indices without gaps: the given ones where they have none, else copies in `room`, which is cheaper than a kernel
/// without vectors.
///
/// # Safety
/// For every `j < len`, `first + j * step` must be readable.
///
/// # Panics
/// If there is no room for `len` copies.
#[inline(always)]
pub(crate) unsafe fn side_by_side<I: Index>(
    first: *const I,
    step: isize,
    room: &mut [MaybeUninit<I>],
    len: usize,
) -> *const I {
    if step == 1 {
        return first;
    }
    let copies = &mut room[..len];
    for (j, copy) in copies.iter_mut().enumerate() {
        // SAFETY: the caller's promise.
        copy.write(unsafe { *first.offset(step * j.cast_signed()) });
    }
    copies.as_ptr().cast()
}

/// Elements to ask for ahead.
const PICKS_AHEAD: usize = 48;

/// Indices that are looked at together, in search of consecutive ones.
const GROUP: usize = 16;

/// [`pick_checked`] for elements without gaps, or with some.
///
/// # Safety
/// As [`pick_checked`].
#[inline(always)]
pub(super) unsafe fn pick_by_stride<I: Index, const SIZE: usize>(picks: Picks<I>) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        if picks.stride == SIZE.cast_signed() {
            pick_checked::<I, SIZE, false>(picks)
        } else {
            pick_checked::<I, SIZE, true>(picks)
        }
    }
}

/// Copies elements straight from indices; `false` if any index was bad, and then what was written in its place is some
/// element of the axis. `GAPS` says that the stride is not `SIZE`.
///
/// # Safety
/// `indices` must be `len` readable indices, `params` the start of `bound > 0` elements of `SIZE` bytes, `stride` bytes
/// apart, `output` of room for `len` elements.
#[inline(always)]
pub(super) unsafe fn pick_checked<I: Index, const SIZE: usize, const GAPS: bool>(picks: Picks<I>) -> bool {
    let mut all_good = true;
    let head = if picks.prefetch { picks.head(SIZE) } else { picks.len };
    let grouped = head + (picks.len - head) / GROUP * GROUP;
    // SAFETY: every j is below len, and groups lie between head and grouped.
    unsafe {
        // One range after the other: a chain of both asks at every step which it is in.
        for j in 0..head {
            all_good &= pick_one::<I, SIZE, GAPS>(picks, j);
        }
        for j in grouped..picks.len {
            all_good &= pick_one::<I, SIZE, GAPS>(picks, j);
        }
        for j in (head..grouped).step_by(GROUP) {
            if j + PICKS_AHEAD < grouped {
                request_group::<I, SIZE, GAPS>(picks, j + PICKS_AHEAD);
            }
            all_good &= pick_group::<I, SIZE, GAPS>(picks, j);
        }
    }
    all_good
}

/// Asks for the elements of a group. An unchecked index gives an address that is only asked for, never read.
///
/// # Safety
/// As [`pick_checked`], with `j + GROUP <= len`.
#[inline(always)]
unsafe fn request_group<I: Index, const SIZE: usize, const GAPS: bool>(picks: Picks<I>, j: usize) {
    // SAFETY: the caller's promise.
    let index = |at| unsafe { *picks.indices.add(j + at) };
    let places: [usize; GROUP] = from_fn(|at| index(at).locate::<false>(picks.bound).0);
    let address = |place: usize| picks.params.wrapping_offset(picks.offset::<SIZE, GAPS>(place));
    if !GAPS && places[GROUP - 1].wrapping_sub(places[0]) == GROUP - 1 {
        // As good as consecutive: their lines are neighbours, and two of them set the hardware on the track.
        prefetch(address(places[0]));
        prefetch(address(places[GROUP - 1]));
    } else {
        places.iter().for_each(|place| prefetch(address(*place)));
    }
}

/// Copies a group, in one move where its indices are consecutive; `false` if any index was bad.
///
/// # Safety
/// As [`pick_checked`], with `j + GROUP <= len`.
#[inline(always)]
unsafe fn pick_group<I: Index, const SIZE: usize, const GAPS: bool>(picks: Picks<I>, j: usize) -> bool {
    // SAFETY: the caller's promise.
    let located: [(usize, bool); GROUP] =
        from_fn(|at| unsafe { (*picks.indices.add(j + at)).locate::<false>(picks.bound) });
    let (first, _) = located[0];
    let (mut all_good, mut consecutive) = (true, true);
    for (at, (place, good)) in located.into_iter().enumerate() {
        all_good &= good;
        consecutive &= place == first.wrapping_add(at);
    }
    let output = picks.output.wrapping_add(j * SIZE);
    // SAFETY: the output has room for the group; good places lie below the bound, consecutive ones next to each other.
    unsafe {
        if all_good && consecutive && !GAPS {
            copy_nonoverlapping(picks.params.add(first * SIZE), output, GROUP * SIZE);
        } else if all_good {
            for (at, (place, _)) in located.into_iter().enumerate() {
                let from = picks.params.offset(picks.offset::<SIZE, GAPS>(place));
                copy_nonoverlapping(from, output.add(at * SIZE), SIZE);
            }
        } else {
            (0..GROUP).for_each(|at| _ = pick_one::<I, SIZE, GAPS>(picks, j + at));
        }
    }
    all_good
}

/// # Safety
/// As [`pick_checked`], with `j < len`.
#[inline(always)]
pub(super) unsafe fn pick_one<I: Index, const SIZE: usize, const GAPS: bool>(
    picks: Picks<I>,
    j: usize,
) -> bool {
    // SAFETY: j < len; the place is below bound, being 0 where the index was bad.
    unsafe {
        let (place, good) = (*picks.indices.add(j)).locate::<false>(picks.bound);
        let place = if good { place } else { 0 };
        let from = picks.params.offset(picks.offset::<SIZE, GAPS>(place));
        copy_nonoverlapping(from, picks.output.add(j * SIZE), SIZE);
        good
    }
}
