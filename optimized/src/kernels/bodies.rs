//! Loops that every instruction set shares: written once, compiled anew inside each level's functions. All are
//! `inline(always)`, so that they take on the instruction set of the function they stand in.

use std::array::from_fn;
use std::mem::MaybeUninit;
use std::ptr::copy_nonoverlapping;

use crate::index::Index;

/// Index rows of depth `D` and what they select from.
#[derive(Clone, Copy)]
pub(super) struct IndexRows<I, const D: usize> {
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
pub(super) unsafe fn check<I: Index, const WRAP: bool, const D: usize, const DENSE: bool>(
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

/// What a copy takes beside the offsets.
#[derive(Clone, Copy)]
pub(super) struct Copy {
    /// What offsets count from.
    pub params: *const u8,
    /// Where the first row goes; the others follow without gaps.
    pub output: *mut u8,
    pub row_bytes: usize,
    /// Whether rows are worth asking for before they are needed.
    pub prefetch: bool,
}

/// Bytes that should be on their way from memory while rows are copied.
const BYTES_AHEAD: usize = 8 << 10;
/// Beyond these lines of a row, the hardware's own prefetcher has noticed.
const LINES_AHEAD: usize = 8;

impl Copy {
    /// How many rows to ask for ahead; 0 for none.
    #[inline(always)]
    fn ahead(&self) -> usize {
        if self.prefetch { (BYTES_AHEAD / self.row_bytes).clamp(2, 48) } else { 0 }
    }
}

/// Calls `copy_row(source, destination)` for each row in order, asking for later rows meanwhile.
///
/// # Safety
/// For every offset, `params + offset` must be the start of `row_bytes` readable bytes, and `output` must have room
/// for all rows; `copy_row` may rely on both.
#[inline(always)]
pub(super) unsafe fn each_row(copy: Copy, offsets: &[isize], copy_row: impl Fn(*const u8, *mut u8)) {
    let ahead = copy.ahead();
    let mut output = copy.output;
    for (j, offset) in offsets.iter().enumerate() {
        if ahead > 0 {
            let next = offsets[(j + ahead).min(offsets.len() - 1)];
            prefetch_row(copy.params.wrapping_offset(next), copy.row_bytes);
        }
        // SAFETY: the offset lies within params and row j within the output, by the caller's promise.
        unsafe {
            copy_row(copy.params.offset(*offset), output);
            output = output.add(copy.row_bytes);
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
pub(super) fn prefetch_lines(start: *const u8, from: usize, to: usize) {
    for at in (from.next_multiple_of(64)..to).step_by(64) {
        prefetch(start.wrapping_add(at));
    }
}

/// Asks for a cache line. Any address will do: nothing is read that could fault.
#[inline(always)]
pub(super) fn prefetch(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64, and a prefetch never faults.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

// Runs of consecutive rows are not merged into one copy each. Tried: 32 neighbours of a block sampled, then the block's
// runs found without branches, fetched ahead and copied whole. On 32 MB of rows from 64 MB, one thread, medians of
// three alternating runs on a shared machine, in ms without -> with merging: 16-byte rows in runs of 16, 8.1 -> 6.7, and of 64, 9.0 -> 8.0; but in
// runs of 8, 8.6 -> 10.3; 32-byte rows in runs of 8, 5.1 -> 8.5, of 16, 5.0 -> 6.3, of 64, 3.8 -> 3.6; 64-byte rows in
// runs of 4 to 64, a third slower; 256-byte rows, at best the same; random rows of 16 bytes, 10.8 -> 11.1. Row by row,
// requests reach further ahead than whole runs do, and the hardware's own prefetcher follows a run anyway. Repeated
// rows come from the first cache and still have to be written once each: of 256 bytes, four of each, 1.5 ms against
// 2.2 ms at random.

/// Copies rows of any length: fixed sizes in straight lines, others up to 512 bytes in two overlapping moves or a loop
/// of 64 bytes, longer ones by the system's `memcpy`.
///
/// # Safety
/// As [`each_row`].
#[inline(always)]
pub(super) unsafe fn copy_rows(copy: Copy, offsets: &[isize]) {
    macro_rules! fixed {
        ($($bytes:literal)+) => {
            match copy.row_bytes {
                // SAFETY: each_row hands over rows of exactly this many bytes.
                $($bytes => return unsafe {
                    each_row(copy, offsets, |from, to| copy_nonoverlapping(from, to, $bytes));
                },)+
                _ => {}
            }
        };
    }
    fixed!(1 2 3 4 6 8 12 16 24 32 48 64 96 128 192 256);
    macro_rules! overlapping {
        ($bytes:literal) => {
            // SAFETY: a row has at least this many bytes and at most twice as many, so both moves stay inside it.
            return unsafe {
                each_row(copy, offsets, |from, to| {
                    let second = copy.row_bytes - $bytes;
                    copy_nonoverlapping(from, to, $bytes);
                    copy_nonoverlapping(from.add(second), to.add(second), $bytes);
                });
            }
        };
    }
    match copy.row_bytes {
        0 => {}
        1..4 => overlapping!(2),
        4..8 => overlapping!(4),
        8..16 => overlapping!(8),
        16..32 => overlapping!(16),
        32..64 => overlapping!(32),
        // SAFETY: as above, and copy_lines is given rows of at least 64 bytes.
        64..=512 => unsafe { each_row(copy, offsets, |from, to| copy_lines(from, to, copy.row_bytes)) },
        // SAFETY: rows of row_bytes bytes, by each_row.
        _ => unsafe {
            each_row(copy, offsets, |from, to| copy_nonoverlapping(from, to, copy.row_bytes));
        },
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
/// # Safety
/// As [`each_row`], with rows of `SIZE` bytes.
#[inline(always)]
pub(super) unsafe fn pick_elements<const SIZE: usize>(copy: Copy, offsets: &[isize]) {
    if copy.prefetch {
        // SAFETY: the caller's promise; a row is one element.
        return unsafe { each_row(copy, offsets, |from, to| copy_nonoverlapping(from, to, SIZE)) };
    }
    for (j, offset) in offsets.iter().enumerate() {
        // SAFETY: as above.
        unsafe { copy_nonoverlapping(copy.params.offset(*offset), copy.output.add(j * SIZE), SIZE) };
    }
}

/// Dense indices of depth 1 into an axis, one element per index.
#[derive(Clone, Copy)]
pub(super) struct Picks<I> {
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

// Indices are not partitioned by page range before they are followed, although scalars from DRAM are bound by the TLB.
// Tried: blocks of 32k to 128k indices (1 MiB of extra memory) counted and sorted by ranges of 0.5 to 8 MiB, then
// gathered range by range with requests ahead, results scattered within the block. 4 M i32 into 256 MB of f32, the
// shortest of 9 alternating rounds in ms, plain loop with requests ahead -> best partition: pages of 4 KiB, 1 thread
// 21.8 -> 19.4, 2 threads 21.5 -> 20.5; huge pages, 1 thread 16.5 -> 18.3, 2 threads 14.6 -> 15.5. The machine was
// shared and medians of the same loop spread by half, so the gain on small pages is within the noise and the loss on
// huge ones is what two more passes over the indices cost: in a block that small, a page is met only twice.

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
pub(super) unsafe fn side_by_side<I: Index>(
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

// Sorted and repeated indices have no kernel of their own. To know that indices are sorted takes a pass over all of
// them, and what it would buy is there already: sorted rows of 256 bytes run at 1.15 to 1.4 times the plain loop, sorted
// scalars at 1.2 to 1.3, by the same requests ahead. Repeated ones are found in the first cache, and each has to be
// written all the same; the requests ahead cost rows of 256 bytes a tenth there.

/// Elements to ask for ahead.
const PICKS_AHEAD: usize = 48;

/// Indices that are looked at together, in search of consecutive ones.
const GROUP: usize = 16;

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
