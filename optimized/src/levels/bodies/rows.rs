//! How a row is copied, by its length and by where the output begins in a line, and how far ahead rows are asked for.

use std::ptr::copy_nonoverlapping;

use super::prefetch::LINE;
use crate::caches;

/// The widest move. Twice as much at once is hardly faster in the first cache, and slower where moves straddle two lines.
const WIDTH: usize = 32;
const HALF: usize = WIDTH / 2;

/// Bytes that should be on their way from memory while rows are copied.
const BYTES_AHEAD: usize = 8 << 10;

/// Likewise, from a cache that many cores share: more would wait for one another.
const SHARED_BYTES_AHEAD: usize = BYTES_AHEAD / 2;

/// How many rows to ask for ahead.
#[inline(always)]
pub(super) fn rows_ahead(row_bytes: usize) -> usize {
    let bytes = if caches::are_shared_by_many() { SHARED_BYTES_AHEAD } else { BYTES_AHEAD };
    (bytes / row_bytes.max(1)).clamp(2, 48)
}

/// A way to copy rows of one length.
pub(in crate::levels) trait CopyRow: Copy {
    /// Copies one row.
    ///
    /// # Safety
    /// `from` and `to` must be the start of as many bytes as a row has, which do not overlap.
    unsafe fn copy(self, from: *const u8, to: *mut u8);
}

/// A loop over rows, compiled again for each way to copy them.
pub(super) trait EachRow {
    /// What the loop says in the end.
    type Output;

    /// The length of each row, in bytes.
    fn row_bytes(&self) -> usize;

    /// The start of a row in params, and strides from one to the next, in one number: only their last bits count.
    fn starts(&self) -> usize;

    /// Whether rows are asked for ahead, since caches do not hold them.
    fn is_far(&self) -> bool;

    /// Where the first row goes.
    fn output(&self) -> *const u8;

    /// Copies each row.
    ///
    /// # Safety
    /// The way must be one for rows of this length.
    unsafe fn run(self, way: impl CopyRow) -> Self::Output;
}

/// Runs the loop in the way that suits the length of its rows, which have at least one byte, and their places. All of this is
/// measured.
///
/// A move that straddles two lines takes about twice the time, above all a store. Rows of whole vectors all lie alike in their
/// lines, and allocators align memory to 16 bytes: so such rows have ways for params and outputs at multiples of 32 and of 16
/// bytes. `WIDE` says that the level moves [`WIDTH`] bytes at once. Without that, `memcpy` is better at rows that have no way of
/// their own here.
#[inline(always)]
pub(super) fn by_length<R: EachRow, const WIDE: bool>(rows: R) -> R::Output {
    let (row_bytes, output) = (rows.row_bytes(), rows.output());
    let (from, to) = (rows.starts() % WIDTH, output.addr() % WIDTH);
    // No half straddles a line there. In the caches, fewer moves are better all the same.
    let halves = rows.is_far();
    macro_rules! vectors {
        ($($bytes:literal)+) => {
            // SAFETY: these rows have exactly this many bytes.
            unsafe {
                match (row_bytes, from, to) {
                    $(($bytes, HALF, 0) | ($bytes, 0, HALF) if halves && $bytes <= 2 * LINE => {
                        return rows.run(Ascending::<$bytes, HALF>);
                    }
                    ($bytes, _, HALF) => return rows.run(Edged::<$bytes>),
                    ($bytes, _, begin) if begin == 0 || $bytes <= 2 * LINE => return rows.run(Straight::<$bytes>),)+
                    _ => {}
                }
            }
        };
    }
    vectors!(32 64 128 256);
    // SAFETY: rows have at least as many bytes as a move, and at most twice as many, or as many as their way says.
    unsafe {
        match row_bytes {
            0 | 1 => rows.run(Straight::<1>),
            2..4 => rows.run(Overlapping::<2>(row_bytes)),
            4..8 => rows.run(Overlapping::<4>(row_bytes)),
            8..16 => rows.run(Overlapping::<8>(row_bytes)),
            16..32 => rows.run(Overlapping::<16>(row_bytes)),
            32..64 => rows.run(Overlapping::<32>(row_bytes)),
            64..128 => rows.run(Overlapping::<64>(row_bytes)),
            _ if !WIDE => rows.run(Memcpy(row_bytes)),
            512 if to == 0 => rows.run(Ascending::<512, WIDTH>),
            ..=2048 => rows.run(Aligned(row_bytes)),
            _ => rows.run(Long(row_bytes)),
        }
    }
}

/// `BYTES` at once.
#[derive(Clone, Copy)]
pub(super) struct Straight<const BYTES: usize>;

impl<const BYTES: usize> CopyRow for Straight<BYTES> {
    #[inline(always)]
    unsafe fn copy(self, from: *const u8, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { copy_nonoverlapping(from, to, BYTES) };
    }
}

/// `BYTES`, whole vectors, to a place halfway between two multiples of [`WIDTH`].
#[derive(Clone, Copy)]
struct Edged<const BYTES: usize>;

impl<const BYTES: usize> CopyRow for Edged<BYTES> {
    #[inline(always)]
    unsafe fn copy(self, from: *const u8, to: *mut u8) {
        let last = BYTES - HALF;
        // SAFETY: the caller's promise; the three moves lie one behind the other.
        unsafe {
            copy_nonoverlapping(from, to, HALF);
            copy_nonoverlapping(from.add(HALF), to.add(HALF), BYTES - WIDTH);
            copy_nonoverlapping(from.add(last), to.add(last), HALF);
        }
    }
}

/// `BYTES`, whole moves of `MOVE` bytes, one after the other. The compiler would write the later ones of several first, which takes
/// up to a tenth more time where moves straddle lines of params.
#[derive(Clone, Copy)]
struct Ascending<const BYTES: usize, const MOVE: usize>;

impl<const BYTES: usize, const MOVE: usize> CopyRow for Ascending<BYTES, MOVE> {
    #[inline(always)]
    unsafe fn copy(self, from: *const u8, to: *mut u8) {
        for at in (0..BYTES).step_by(MOVE) {
            // SAFETY: the caller's promise.
            unsafe { copy_nonoverlapping(from.add(at), to.add(at), MOVE) };
        }
    }
}

/// A number of bytes from `MOVE` to twice that, in two moves.
#[derive(Clone, Copy)]
struct Overlapping<const MOVE: usize>(usize);

impl<const MOVE: usize> CopyRow for Overlapping<MOVE> {
    #[inline(always)]
    unsafe fn copy(self, from: *const u8, to: *mut u8) {
        let second = self.0 - MOVE;
        // SAFETY: the caller's promise; both moves lie within the row.
        unsafe {
            copy_nonoverlapping(from, to, MOVE);
            copy_nonoverlapping(from.add(second), to.add(second), MOVE);
        }
    }
}

/// A number of bytes, at least [`WIDTH`]. No move straddles two lines of the output, but perhaps the first and the last.
#[derive(Clone, Copy)]
struct Aligned(usize);

impl CopyRow for Aligned {
    #[inline(always)]
    unsafe fn copy(self, from: *const u8, to: *mut u8) {
        let bytes = self.0;
        let head = to.addr().wrapping_neg() % WIDTH;
        // SAFETY: head < WIDTH <= bytes, and each move begins at most its own length before the end of the row.
        unsafe {
            if head > HALF {
                copy_nonoverlapping(from, to, WIDTH);
            } else if head > 0 {
                copy_nonoverlapping(from, to, HALF);
            }
            let mut at = head;
            while at + 4 * WIDTH <= bytes {
                Ascending::<{ 4 * WIDTH }, WIDTH>.copy(from.add(at), to.add(at));
                at += 4 * WIDTH;
            }
            while at + WIDTH <= bytes {
                copy_nonoverlapping(from.add(at), to.add(at), WIDTH);
                at += WIDTH;
            }
            if bytes - at > HALF {
                copy_nonoverlapping(from.add(bytes - WIDTH), to.add(bytes - WIDTH), WIDTH);
            } else if at < bytes {
                copy_nonoverlapping(from.add(bytes - HALF), to.add(bytes - HALF), HALF);
            }
        }
    }
}

/// A number of bytes of several kilobytes. `memcpy` leaves those to the processor, which is good at it where source and
/// destination lie alike in their lines, and may take six times as long where they do not.
#[derive(Clone, Copy)]
struct Long(usize);

impl CopyRow for Long {
    #[inline(always)]
    unsafe fn copy(self, from: *const u8, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe {
            if (from.addr() ^ to.addr()).is_multiple_of(LINE) {
                copy_nonoverlapping(from, to, self.0);
            } else {
                Aligned(self.0).copy(from, to);
            }
        }
    }
}

/// A number of bytes, by the system's `memcpy`.
#[derive(Clone, Copy)]
struct Memcpy(usize);

impl CopyRow for Memcpy {
    #[inline(always)]
    unsafe fn copy(self, from: *const u8, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { copy_nonoverlapping(from, to, self.0) };
    }
}

/// Copies less than a line, and writes no other byte.
///
/// # Safety
/// `from` and `to` must be the start of `bytes < 64` bytes each, which do not overlap.
#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(dead_code, reason = "no other processor has a level that writes past the caches")
)]
#[inline(always)]
pub(in crate::levels) unsafe fn copy_edge(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise; each way fits the number of bytes.
    unsafe {
        match bytes {
            0 => {}
            1 => Straight::<1>.copy(from, to),
            2..4 => Overlapping::<2>(bytes).copy(from, to),
            4..8 => Overlapping::<4>(bytes).copy(from, to),
            8..16 => Overlapping::<8>(bytes).copy(from, to),
            16..32 => Overlapping::<16>(bytes).copy(from, to),
            _ => Overlapping::<32>(bytes).copy(from, to),
        }
    }
}
