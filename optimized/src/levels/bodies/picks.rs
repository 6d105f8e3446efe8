//! Elements straight from indices, the bounds tested in the same loop.

use std::mem::MaybeUninit;
use std::ptr::copy_nonoverlapping;

use super::prefetch::prefetch;
use crate::index::Locate;

/// Dense indices of depth 1 into an axis, one element per index.
#[derive(Clone, Copy)]
pub(crate) struct Picks<I> {
    /// The start of the axis.
    pub params: *const u8,
    /// Its elements, at least one.
    pub bound: usize,
    /// The element for a bad index; `None` if nothing will read it.
    pub bad: Option<*const u8>,
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
    /// The same picks by indices of another type with the same layout.
    #[inline(always)]
    pub(crate) const fn by<J>(self) -> Picks<J> {
        let Self { params, bound, bad, stride, indices, len, output, prefetch, stream } = self;
        Picks { params, bound, bad, stride, indices: indices.cast(), len, output, prefetch, stream }
    }

    /// Where an element lies, in bytes from the start of the axis; without gaps the stride is known to the compiler.
    #[inline(always)]
    fn offset<const SIZE: usize, const GAPS: bool>(&self, place: usize) -> isize {
        let stride = if GAPS { self.stride } else { SIZE.cast_signed() };
        place.cast_signed().wrapping_mul(stride)
    }

    /// Elements before the first that starts a line of the output, from which on wide stores touch one line each. None
    /// if elements straddle lines.
    #[inline(always)]
    pub(in crate::levels) fn head(&self, size: usize) -> usize {
        let skip = self.output.align_offset(64);
        if skip.is_multiple_of(size) { (skip / size).min(self.len) } else { 0 }
    }
}

/// Writes the same indices without gaps, in a type that loops are compiled for: cheaper than a kernel without vectors.
///
/// # Safety
/// For every place `j` of the copies, `first + j * step` must be readable.
#[inline]
pub(crate) unsafe fn side_by_side<I: Locate>(
    first: *const I,
    step: isize,
    copies: &mut [MaybeUninit<I::Wide>],
) {
    if step == 1 {
        // SAFETY: the caller's promise.
        let indices = unsafe { std::slice::from_raw_parts(first, copies.len()) };
        copies.iter_mut().zip(indices).for_each(|(copy, index)| _ = copy.write(index.widen()));
        return;
    }
    for (j, copy) in copies.iter_mut().enumerate() {
        // SAFETY: the caller's promise.
        copy.write(unsafe { *first.offset(step * j.cast_signed()) }.widen());
    }
}

/// Elements to ask for ahead.
pub(in crate::levels) const PICKS_AHEAD: usize = 48;

/// Indices that are looked at together, in search of consecutive ones.
const GROUP: usize = 16;

/// [`pick_checked`] for elements without gaps, or with some.
///
/// # Safety
/// As [`pick_checked`].
#[inline(always)]
pub(in crate::levels) unsafe fn pick_by_stride<I: Locate, const SIZE: usize>(picks: Picks<I>) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        if picks.stride == SIZE.cast_signed() {
            pick_checked::<I, SIZE, false>(picks)
        } else {
            pick_checked::<I, SIZE, true>(picks)
        }
    }
}

/// Copies elements straight from indices; `false` if any index was bad, and then what was written in its place is `bad` or,
/// without that, some element of the axis. `GAPS` says that the stride is not `SIZE`.
///
/// # Safety
/// `indices` must be `len` readable indices, `params` the start of `bound > 0` elements of `SIZE` bytes, `stride` bytes
/// apart, `output` of room for `len` elements, and `bad`, if there is one, must be an element.
#[inline(always)]
pub(in crate::levels) unsafe fn pick_checked<I: Locate, const SIZE: usize, const GAPS: bool>(
    picks: Picks<I>,
) -> bool {
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

/// Prefetches the elements of a group. An address from an unchecked index is only prefetched, never read.
///
/// # Safety
/// As [`pick_checked`], with `j + GROUP <= len`.
#[inline(always)]
unsafe fn request_group<I: Locate, const SIZE: usize, const GAPS: bool>(picks: Picks<I>, j: usize) {
    // SAFETY: the caller's promise.
    let index = |at| unsafe { *picks.indices.add(j + at) };
    let mut places = [0; GROUP];
    for (at, place) in places.iter_mut().enumerate() {
        *place = index(at).locate(picks.bound).0;
    }
    let address = |place: usize| picks.params.wrapping_offset(picks.offset::<SIZE, GAPS>(place));
    if !GAPS && places[GROUP - 1].wrapping_sub(places[0]) == GROUP - 1 {
        // As good as consecutive: their lines are neighbours, and two of them set the hardware on the track.
        prefetch(address(places[0]));
        prefetch(address(places[GROUP - 1]));
    } else {
        for place in places {
            prefetch(address(place));
        }
    }
}

/// Copies a group, in one move where its indices are consecutive; `false` if any index was bad.
///
/// # Safety
/// As [`pick_checked`], with `j + GROUP <= len`.
#[inline(always)]
unsafe fn pick_group<I: Locate, const SIZE: usize, const GAPS: bool>(picks: Picks<I>, j: usize) -> bool {
    let mut places = [0; GROUP];
    let (mut all_good, mut consecutive) = (true, true);
    for at in 0..GROUP {
        // SAFETY: the caller's promise.
        let (place, good) = unsafe { (*picks.indices.add(j + at)).locate(picks.bound) };
        places[at] = place;
        all_good &= good;
        consecutive &= place == places[0].wrapping_add(at);
    }
    let output = picks.output.wrapping_add(j * SIZE);
    // SAFETY: the output has room for the group; good places lie below the bound, consecutive ones next to each other.
    unsafe {
        if all_good && consecutive && !GAPS {
            copy_nonoverlapping(picks.params.add(places[0] * SIZE), output, GROUP * SIZE);
        } else if all_good {
            for (at, place) in places.into_iter().enumerate() {
                let from = picks.params.offset(picks.offset::<SIZE, GAPS>(place));
                copy_nonoverlapping(from, output.add(at * SIZE), SIZE);
            }
        } else {
            for at in 0..GROUP {
                pick_one::<I, SIZE, GAPS>(picks, j + at);
            }
        }
    }
    all_good
}

/// # Safety
/// As [`pick_checked`], with `j < len`.
#[inline(always)]
pub(in crate::levels) unsafe fn pick_one<I: Locate, const SIZE: usize, const GAPS: bool>(
    picks: Picks<I>,
    j: usize,
) -> bool {
    // SAFETY: j < len; a good place is below bound, and what is read in place of a bad one is an element.
    unsafe {
        let (place, good) = (*picks.indices.add(j)).locate(picks.bound);
        let offset = picks.offset::<SIZE, GAPS>(place);
        let from = if good { picks.params.offset(offset) } else { picks.bad.unwrap_or(picks.params) };
        copy_nonoverlapping(from, picks.output.add(j * SIZE), SIZE);
        good
    }
}
