//! Rows straight from indices, the bounds tested in the same loop: for which jobs, and by which entry of a level.
//!
//! Entries are compiled for few types of index, since each takes seconds: `i32` and `i64`, and `u32` and `u64` only where a bad index is
//! moved to a place. Narrower indices are copied into `i32`s, a block at a time, unless they look up elements in a table.

use std::mem::MaybeUninit;

use gather_spec::NegativeIndex;

use super::check::BLOCK;
use super::moves::{is_one_move, streams};
use crate::caches;
use crate::geometry::Geometry;
use crate::index::{FromEitherEnd, Locate, Nearest, Remainder};
use crate::levels::Proof;
use crate::levels::bodies::{Picks, side_by_side};
use crate::policy::{Bad, Policies};

/// The kernel that takes rows straight from indices, for the jobs that it fits: indices of depth 1, good or bad as if they were
/// [signed](like_signed), and rows as short as an element, whether or not they are one. Longer rows fit too where a bad index is an
/// error, they go through the caches, and slices do not share their indices, which are then better checked once.
#[derive(Clone, Copy)]
pub(super) struct Pick {
    pub bound: usize,
    /// The bytes of a row.
    pub size: usize,
    /// Between neighbours along the axis, in bytes.
    pub stride: isize,
    /// From index to index, in elements.
    pub step: isize,
    /// Whether registers may hold the axis, which indices of one byte look elements up in.
    table: bool,
    pub policies: Policies,
    pub stream: bool,
}

impl Pick {
    /// The kernel, if it fits.
    #[inline]
    pub(super) fn of<I: Locate>(geometry: &Geometry, policies: Policies) -> Option<Self> {
        let ([component], Some(axis)) = (geometry.components.as_slice(), geometry.rows.last()) else {
            return None;
        };
        let (size, bound, stride) = (geometry.row_bytes, component.bound, component.stride);
        let copied = || {
            let fits = size > 0 && policies.bad == Bad::Error;
            fits && !streams(geometry.output_bytes(), size) && !geometry.repeats(BLOCK)
        };
        let stays = matches!(policies.bad, Bad::Error | Bad::Fill);
        let fits = (is_one_move(size) || copied()) && (!stays || like_signed::<I::Wide>(bound));
        let fits = fits && bound > 0 && axis.indices != 0 && axis.params == 0;
        let table =
            size_of::<I>() == 1 && axis.indices == 1 && bound <= 1 << 8 && stride == size.cast_signed();
        let table = table && stays && !from_either_end::<I>(policies);
        let stream = caches::outgrown_by_elements(geometry.output_bytes());
        fits.then_some(Self { bound, size, stride, step: axis.indices, table, policies, stream })
    }
}

/// Whether negative indices count from the end.
fn from_either_end<I: Locate>(policies: Policies) -> bool {
    I::SIGNED && policies.negative == NegativeIndex::Wrap
}

/// Whether indices of 32 or 64 bits into an axis of this many elements are good or bad as if they were signed.
const fn like_signed<I: Locate>(bound: usize) -> bool {
    size_of::<I>() == 8 || I::SIGNED || bound <= i32::MAX as usize
}

/// Moves rows straight from indices; `false` if any index was bad.
///
/// # Safety
/// As [`crate::levels::bodies::pick_checked`], with elements of `pick.size` bytes, or as [`crate::levels::bodies::pick_rows`]; the
/// indices lie `pick.step` apart.
#[inline]
pub(super) unsafe fn pick_checked<I: Locate>(level: Proof, pick: Pick, picks: Picks<I>) -> bool {
    // SAFETY: the caller's promise. A negative index of one byte is at least 128 as an unsigned one.
    unsafe {
        if pick.table {
            let bound = picks.bound.min(if I::SIGNED { 1 << 7 } else { 1 << 8 });
            if let Some(good) = level.look_up(Picks { bound, ..picks.by() }, pick.size) {
                return good;
            }
        }
        if pick.step == 1 && size_of::<I>() == size_of::<I::Wide>() {
            pick_dense::<I::Wide>(level, pick, picks.by())
        } else {
            pick_copies(level, pick, picks)
        }
    }
}

/// [`pick_checked`] by copies of the indices.
///
/// # Safety
/// As [`pick_checked`].
unsafe fn pick_copies<I: Locate>(level: Proof, pick: Pick, picks: Picks<I>) -> bool {
    let mut room = [MaybeUninit::<I::Wide>::uninit(); BLOCK];
    let mut all_good = true;
    for done in (0..picks.len).step_by(BLOCK) {
        let len = BLOCK.min(picks.len - done);
        // SAFETY: the caller's promise; these are some of the caller's picks.
        all_good &= unsafe {
            side_by_side(picks.indices.offset(pick.step * done.cast_signed()), pick.step, &mut room[..len]);
            let (indices, output) = (room.as_ptr().cast::<I::Wide>(), picks.output.add(done * pick.size));
            pick_dense(level, pick, Picks { indices, len, output, ..picks.by() })
        };
        if !all_good && picks.bad.is_none() {
            break;
        }
    }
    all_good
}

/// [`pick_checked`] by indices without gaps, of 32 or 64 bits.
///
/// # Safety
/// As [`pick_checked`].
#[inline]
unsafe fn pick_dense<I: Locate>(level: Proof, pick: Pick, picks: Picks<I>) -> bool {
    let from_either_end = from_either_end::<I>(pick.policies);
    // SAFETY: the caller's promise; an index under policies has the layout of an index, and so has a signed one.
    unsafe {
        match pick.policies.bad {
            Bad::Clamp if I::SIGNED && from_either_end => {
                pick_sized::<Nearest<FromEitherEnd<I>>>(level, pick.size, picks.by())
            }
            Bad::Clamp => pick_sized::<Nearest<I>>(level, pick.size, picks.by()),
            Bad::Modulo => pick_sized::<Remainder<I>>(level, pick.size, picks.by()),
            _ if const { size_of::<I>() == 4 } && from_either_end => {
                pick_or_copy::<FromEitherEnd<i32>>(level, pick.size, picks.by())
            }
            _ if const { size_of::<I>() == 4 } => pick_or_copy::<i32>(level, pick.size, picks.by()),
            _ if from_either_end => pick_or_copy::<FromEitherEnd<i64>>(level, pick.size, picks.by()),
            _ => pick_or_copy::<i64>(level, pick.size, picks.by()),
        }
    }
}

/// # Safety
/// As [`crate::levels::bodies::pick_checked`], with elements of `size` bytes, or as [`crate::levels::bodies::pick_rows`].
#[inline]
unsafe fn pick_or_copy<I: Locate>(level: Proof, size: usize, picks: Picks<I>) -> bool {
    // SAFETY: the caller's promise.
    unsafe { if is_one_move(size) { pick_sized(level, size, picks) } else { level.pick_rows(picks, size) } }
}

/// # Safety
/// As [`crate::levels::bodies::pick_checked`], with elements of `size` bytes, one of 1, 2, 4, 8, 16.
#[inline]
unsafe fn pick_sized<I: Locate>(level: Proof, size: usize, picks: Picks<I>) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        match size {
            1 => level.pick_checked::<I, 1>(picks),
            2 => level.pick_checked::<I, 2>(picks),
            4 => level.pick_checked::<I, 4>(picks),
            8 => level.pick_checked::<I, 8>(picks),
            _ => level.pick_checked::<I, 16>(picks),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::levels::Level;

    /// The elements of the axis.
    const BOUND: usize = 100;

    /// A byte of the axis; none is [`UNWRITTEN`].
    fn byte_of_axis(at: usize) -> u8 {
        u8::try_from(at * 7 % 251).unwrap()
    }

    const UNWRITTEN: u8 = 0xff;

    /// How an output lies and is written.
    #[derive(Clone, Copy, Debug)]
    struct How {
        level: Proof,
        size: usize,
        /// The byte of a line that the output begins at.
        begin: usize,
        stream: bool,
        prefetch: bool,
    }

    /// Picks the elements at these places, and holds the output and 64 bytes on either side to what must be there.
    fn pick<I: Locate + From<u8>>(places: &[u8], how: How) {
        let How { level, size, begin, stream, prefetch } = how;
        let indices: Vec<I> = places.iter().map(|place| I::from(*place)).collect();
        let params: Vec<u8> = (0..BOUND * size).map(byte_of_axis).collect();
        let elements = places.iter().map(|place| &params[usize::from(*place) * size..][..size]);
        let elements: Vec<u8> = elements.flatten().copied().collect();
        let mut room = vec![UNWRITTEN; 64 + 64 + 64 + elements.len() + 64];
        let start = 64 + room.as_ptr().align_offset(64) + begin;
        // SAFETY: the params have BOUND elements of the size, and the room holds the output from its start on.
        let good = unsafe {
            let output = room.as_mut_ptr().add(start);
            let (params, indices, len) = (params.as_ptr(), indices.as_ptr(), indices.len());
            let (bound, bad, stride) = (BOUND, None, size.cast_signed());
            pick_sized(
                level,
                size,
                Picks { params, bound, bad, stride, indices, len, output, prefetch, stream },
            )
        };
        let (before, output) = room.split_at(start);
        let (output, behind) = output.split_at(elements.len());
        let call = || format!("{} by {}, {how:?}", places.len(), std::any::type_name::<I>());
        assert!(good && output == elements, "{}", call());
        assert!(before.iter().chain(behind).all(|byte| *byte == UNWRITTEN), "outside: {}", call());
    }

    /// A store past the caches is for outputs of many megabytes; here it is asked for at every byte of a line.
    #[test]
    fn every_element_is_written_wherever_the_output_begins_in_a_line() {
        let two = [false, true];
        // Miri takes hours for all of them.
        let (every_nth, each_nth_place) = if cfg!(miri) { (3, 21) } else { (1, 1) };
        for len in [1, 15, 16, 17, 33, 63, 64, 100, 300].into_iter().step_by(every_nth) {
            let places: Vec<u8> = (0..len).map(|at| u8::try_from(at * 37 % BOUND).unwrap()).collect();
            for level in Level::available().filter_map(Proof::of) {
                let begins = (0..64).step_by(each_nth_place);
                for (size, begin) in
                    [1, 2, 4, 8, 16].iter().flat_map(|size| begins.clone().map(|begin| (*size, begin)))
                {
                    for (stream, prefetch) in
                        two.iter().flat_map(|stream| two.map(|prefetch| (*stream, prefetch)))
                    {
                        let how = How { level, size, begin, stream, prefetch };
                        pick::<i32>(&places, how);
                        pick::<i64>(&places, how);
                    }
                }
            }
        }
    }
}
