//! Elements that each have an index and a position of their own, as in form elements, or share few indices with their
//! neighbours, as in batches of one index. Stretches of the innermost axis follow one another in a plane, so that short ones
//! cost no call each, and the bounds are tested in the same loop. There is one loop for all instruction sets.

use std::ptr::copy_nonoverlapping;

use super::cursor::PlaneSegment;
use super::moves::is_one_move;
use crate::geometry::Geometry;
use crate::index::Locate;
use crate::policy::{Policies, under};

/// How the jobs that this kernel fits pick: rows of the geometry that are as short as an element, one component.
#[derive(Clone, Copy)]
pub(super) struct Along {
    bound: usize,
    /// Between neighbours along the axis, in bytes.
    stride: isize,
    size: usize,
    policies: Policies,
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

/// Stretches of at least this many elements along the axis itself have kernels of their own.
const LONG: usize = 64;

/// An axis that spans no more than this stays in a core's own cache while it is picked from.
const CACHED_AXIS: usize = 512 << 10;

/// The hardware's own prefetcher follows this many streams through memory.
const FOLLOWED: usize = 64;

impl Along {
    /// The kernel, if it fits and no other fits better. `large` says that params do not stay in a core's own
    /// cache: then elements far apart are better prefetched, from checked offsets.
    pub(super) fn of(geometry: &Geometry, policies: Policies, large: bool) -> Option<Self> {
        let ([component], [_, .., inner]) = (geometry.components.as_slice(), geometry.rows.as_slice()) else {
            return None;
        };
        let (bound, stride) = (component.bound, component.stride);
        let has_own = inner.params == 0 && inner.len >= LONG;
        let near = bound <= FOLLOWED || stride.unsigned_abs().saturating_mul(bound) <= CACHED_AXIS;
        let size = geometry.row_bytes;
        let fits = is_one_move(size) && bound > 0 && inner.indices != 0 && !has_own && (near || !large);
        fits.then_some(Self { bound, stride, size, policies })
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
            1 => pick_plane::<I, 1>(along, plane),
            2 => pick_plane::<I, 2>(along, plane),
            4 => pick_plane::<I, 4>(along, plane),
            8 => pick_plane::<I, 8>(along, plane),
            _ => pick_plane::<I, 16>(along, plane),
        }
    }
}

/// # Safety
/// As [`pick`], with elements of `SIZE` bytes.
unsafe fn pick_plane<I: Locate, const SIZE: usize>(along: Along, plane: Plane<I>) -> bool {
    let PlaneSegment { rows, len, axis, rows_axis, .. } = plane.segment;
    let mut output = plane.output;
    for row in 0..rows {
        let row = row.cast_signed();
        let mut base = plane.params.wrapping_offset(rows_axis.params.wrapping_mul(row));
        let mut index = plane.indices.wrapping_offset(rows_axis.indices.wrapping_mul(row));
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
    }
    true
}
