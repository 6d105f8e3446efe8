//! Elements that each have an index and a position of their own, as in form elements, or share few indices with their
//! neighbours, as in batches of one index. Stretches of the innermost axis follow one another in a plane, so that short ones
//! cost no call each, and the bounds are tested in the same loop. There is one loop for all instruction sets.
//!
//! Long stretches of elements that lie side by side go in pieces, if a core's own cache does not hold params: the indices of a
//! piece are tested before its elements are read. Where the axis does not fit the last cache either, all stretches pick one piece
//! before the next.

use std::mem::MaybeUninit;
use std::ptr::copy_nonoverlapping;

use super::cursor::PlaneSegment;
use super::moves::is_one_move;
use crate::caches;
use crate::geometry::Geometry;
use crate::index::Locate;
use crate::levels::Proof;
use crate::levels::bodies::{IndexRows, LINE, prefetch};
use crate::policy::{Policies, under};

/// How the jobs that this kernel fits pick: rows of the geometry that are as short as an element, one component.
#[derive(Clone, Copy)]
pub(super) struct Along {
    bound: usize,
    /// Between neighbours along the axis, in bytes.
    stride: isize,
    size: usize,
    policies: Policies,
    pieces: Option<Pieces>,
}

/// Stretches are picked in pieces of [`PIECE`] elements.
#[derive(Clone, Copy)]
struct Pieces {
    /// Whether one piece of every stretch is picked before the next piece of any: lines of params that hold elements of several
    /// stretches are then read from memory once, and not once for each.
    across: bool,
    /// Whether elements are worth asking for before they are needed.
    ask: bool,
    /// The elements of a stretch.
    stretch: usize,
    level: Proof,
}

/// Where a plane lies.
#[derive(Clone, Copy)]
pub(super) struct Plane<I> {
    /// The element that the first index would select if it were 0.
    pub params: *const u8,
    /// The first index.
    pub indices: *const I,
    pub output: *mut u8,
    /// The element for a bad index; `None` if that is an error.
    pub bad: Option<*const u8>,
    pub segment: PlaneSegment,
}

impl<I> Plane<I> {
    /// The plane of a part of this one, which starts in stretch `row` with element `j`.
    #[inline]
    fn at<const SIZE: usize>(self, row: usize, j: usize, segment: PlaneSegment) -> Self {
        let PlaneSegment { len, axis, rows_axis, .. } = self.segment;
        let params = steps(rows_axis.params, row).wrapping_add(steps(axis.params, j));
        let indices = steps(rows_axis.indices, row).wrapping_add(steps(axis.indices, j));
        Self {
            params: self.params.wrapping_offset(params),
            indices: self.indices.wrapping_offset(indices),
            output: self.output.wrapping_add((row * len + j) * SIZE),
            segment,
            ..self
        }
    }
}

/// How far so many steps go.
fn steps(step: isize, count: usize) -> isize {
    step.wrapping_mul(count.cast_signed())
}

/// Stretches of at least this many elements along the axis itself have kernels of their own.
const LONG: usize = 64;

/// An axis that spans no more than this stays in a core's own cache while it is picked from.
const CACHED_AXIS: usize = 512 << 10;

/// The hardware's own prefetcher follows this many streams through memory.
const FOLLOWED: usize = 64;

/// Where the elements at one position of all stretches of params are no more bytes than this, it has their lines in time.
const EASY: usize = 128;

/// The elements of a piece: loads enough for a core to wait for together.
const PIECE: usize = 64;

/// Where the elements of a piece lie, in bytes, each from its own place on the axis.
type Offsets = [MaybeUninit<isize>; PIECE];

/// A piece of each element of the axis, together no more than this, stays in a cache until every stretch has picked from them.
const CACHED_PIECES: usize = 4 << 20;

impl Along {
    /// The kernel, if it fits and no other fits better. `large` says that params do not stay in a core's own
    /// cache: then elements far apart are better prefetched, from checked offsets, or picked in pieces.
    pub(super) fn of(geometry: &Geometry, policies: Policies, level: Proof, large: bool) -> Option<Self> {
        let ([component], [_, .., inner]) = (geometry.components.as_slice(), geometry.rows.as_slice()) else {
            return None;
        };
        let (bound, stride) = (component.bound, component.stride);
        let has_own = inner.params == 0 && inner.len >= LONG;
        let size = geometry.row_bytes;
        if !is_one_move(size) || bound == 0 || inner.indices == 0 || has_own {
            return None;
        }
        let along = Self { bound, stride, size, policies, pieces: None };
        let near = bound <= FOLLOWED || along.span() <= CACHED_AXIS;
        let pieces = if large { along.pieces(geometry, level, near) } else { None };
        (near || !large || pieces.is_some()).then_some(Self { pieces, ..along })
    }

    /// The bytes from the start of the axis to its end.
    const fn span(self) -> usize {
        self.stride.unsigned_abs().saturating_mul(self.bound)
    }

    /// The pieces of stretches whose elements lie side by side in params, with their indices, if pieces pay.
    fn pieces(self, geometry: &Geometry, level: Proof, near: bool) -> Option<Pieces> {
        let [.., rows, inner] = geometry.rows.as_slice() else { return None };
        let dense = inner.params == self.size.cast_signed() && inner.indices == 1 && inner.len >= PIECE;
        let many = self.bound.saturating_mul(self.size) > EASY;
        let same_axis = rows.params == 0 && self.stride.unsigned_abs() >= PIECE * self.size;
        let shared = rows.len.saturating_mul(LINE / self.size) >= self.bound;
        let cached = self.bound.saturating_mul(PIECE * self.size) <= CACHED_PIECES;
        let pays = near || caches::outgrown_by_axis(self.span()) && same_axis && shared && cached;
        let ask = self.span() > CACHED_AXIS;
        (dense && many && pays).then_some(Pieces { across: !near, ask, stretch: inner.len, level })
    }

    /// The elements of a stretch, if parts must be whole stretches, as many as there are for a thread.
    pub(super) fn whole_stretches(self) -> Option<usize> {
        self.pieces.filter(|pieces| pieces.across).map(|pieces| pieces.stretch)
    }

    /// The bytes of an element.
    pub(super) const fn size(self) -> usize {
        self.size
    }
}

/// Picks a plane; `false` if an index was bad where that is an error.
///
/// # Safety
/// For every row `r < rows` and element `j < len` of the segment, the index at `r * rows_axis.indices + j * axis.indices`
/// must be readable; from `params`, moved by `r * rows_axis.params + j * axis.params`, all `bound > 0` elements of the axis
/// must be readable; `output` must have room for `rows * len` elements; and `bad`, if there is one, must be an element.
#[inline]
pub(super) unsafe fn pick<I: Locate>(along: Along, plane: Plane<I>) -> bool {
    let Plane { params, indices, output, bad, segment } = plane;
    // SAFETY: the caller's promise; an index under policies has the layout of an index.
    unsafe {
        under!(
            along.policies,
            I,
            pick_sized(along, Plane { params, indices: indices.cast(), output, bad, segment })
        )
    }
}

/// # Safety
/// As [`pick`].
#[inline]
unsafe fn pick_sized<I: Locate>(along: Along, plane: Plane<I>) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        match along.size {
            1 => pick_whole::<I, 1>(along, plane),
            2 => pick_whole::<I, 2>(along, plane),
            4 => pick_whole::<I, 4>(along, plane),
            8 => pick_whole::<I, 8>(along, plane),
            _ => pick_whole::<I, 16>(along, plane),
        }
    }
}

/// # Safety
/// As [`pick`], with elements of `SIZE` bytes.
#[inline]
unsafe fn pick_whole<I: Locate, const SIZE: usize>(along: Along, plane: Plane<I>) -> bool {
    let PlaneSegment { len, .. } = plane.segment;
    let Some(pieces) = along.pieces else {
        // SAFETY: the caller's promise.
        return unsafe { pick_plane::<I, SIZE>(along, plane, 0) };
    };
    let whole = len / PIECE * PIECE;
    let rest = PlaneSegment { len: len - whole, ..plane.segment };
    // SAFETY: elements and indices of the caller's plane have no gaps, and the rest are the last elements of its stretches.
    unsafe {
        pick_pieces::<I, SIZE>((along, pieces), plane)
            && pick_plane::<I, SIZE>(along, plane.at::<SIZE>(0, whole, rest), whole * SIZE)
    }
}

/// Picks stretches of the output that are `gap` bytes apart.
///
/// # Safety
/// As [`pick`], with elements of `SIZE` bytes.
unsafe fn pick_plane<I: Locate, const SIZE: usize>(along: Along, plane: Plane<I>, gap: usize) -> bool {
    let PlaneSegment { rows, len, axis, rows_axis, .. } = plane.segment;
    let mut output = plane.output;
    for row in 0..rows {
        let mut base = plane.params.wrapping_offset(steps(rows_axis.params, row));
        let mut index = plane.indices.wrapping_offset(steps(rows_axis.indices, row));
        for _ in 0..len {
            // SAFETY: this element is one of the segment's, so its index is readable.
            let (place, good) = unsafe { (*index).locate(along.bound) };
            // A branch that is hardly ever taken keeps the test out of the address, unlike the kernels with vectors.
            let from = if good {
                base.wrapping_offset(place.cast_signed().wrapping_mul(along.stride))
            } else if let Some(bad) = plane.bad {
                bad
            } else {
                return false;
            };
            // SAFETY: a good place is below the bound, so this is an element; the output has room for it.
            unsafe { copy_nonoverlapping(from, output, SIZE) };
            base = base.wrapping_offset(axis.params);
            index = index.wrapping_offset(axis.indices);
            output = output.wrapping_add(SIZE);
        }
        output = output.wrapping_add(gap);
    }
    true
}

/// Picks all whole pieces of stretches: the indices of a piece are tested before the first of its elements is read, so that loads
/// follow one another closely, and the elements of the next piece are asked for.
///
/// # Safety
/// As [`pick`], with elements of `SIZE` bytes side by side in params, and indices without gaps.
unsafe fn pick_pieces<I: Locate, const SIZE: usize>(
    (along, pieces): (Along, Pieces),
    plane: Plane<I>,
) -> bool {
    let PlaneSegment { rows, len, .. } = plane.segment;
    let in_stretch = len / PIECE;
    let piece = |at: usize| {
        let (row, place) =
            if pieces.across { (at % rows, at / rows) } else { (at / in_stretch, at % in_stretch) };
        plane.at::<SIZE>(row, place * PIECE, PlaneSegment { rows: 1, len: PIECE, ..plane.segment })
    };
    let (bounds, strides) = ([along.bound], [along.stride]);
    let locate = |first: *const I, offsets: &mut Offsets| {
        let rows = IndexRows { first, step: 1, at: [0], bounds, strides, base: 0, base_step: 0 };
        // SAFETY: these indices are those of a piece.
        unsafe { pieces.level.check_dense(rows, offsets) }
    };
    let count = in_stretch * rows;
    if count == 0 {
        return true;
    }
    let mut this = piece(0);
    let (mut offsets, mut next_offsets) = ([MaybeUninit::uninit(); PIECE], [MaybeUninit::uninit(); PIECE]);
    let mut good = locate(this.indices, &mut offsets);
    for at in 0..count {
        let (mut next, mut next_good) = (this, true);
        if at + 1 < count {
            next = piece(at + 1);
            next_good = locate(next.indices, &mut next_offsets);
        }
        if pieces.ask && at + 1 < count {
            for (j, offset) in next_offsets.iter().enumerate() {
                // SAFETY: `locate` has written all of them.
                let offset = unsafe { offset.assume_init() };
                prefetch(next.params.wrapping_offset(offset).wrapping_add(j * SIZE));
            }
        }
        if good {
            for (j, offset) in offsets.iter().enumerate() {
                // SAFETY: `locate` has written all of them; a good place is below the bound, so this is an element, and the output
                // has room for it.
                unsafe {
                    let from = this.params.offset(offset.assume_init()).add(j * SIZE);
                    copy_nonoverlapping(from, this.output.add(j * SIZE), SIZE);
                }
            }
        // SAFETY: this is one piece of the caller's plane.
        } else if !unsafe { pick_plane::<I, SIZE>(along, this, 0) } {
            return false;
        }
        (this, good, offsets) = (next, next_good, next_offsets);
    }
    true
}
