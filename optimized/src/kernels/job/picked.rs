//! Rows taken straight from indices, without a block of offsets between: one at a time, or in planes.

use super::Job;
use crate::index::Locate;
use crate::kernels::check::BadIndexFound;
use crate::kernels::cursor::Cursor;
use crate::kernels::moves::is_one_move;
use crate::kernels::pick::{Pick, pick_checked};
use crate::kernels::planes::{self, Along, Plane};
use crate::levels::bodies::{self, Picks};
use crate::policy::Bad;

/// Picks between two requests for lines of the next axis: more lines at a time than a core can wait for are late.
const PICKS_PER_FETCH: usize = 32;

impl<I: Locate> Job<'_, '_, I> {
    /// # Safety
    /// As `run`: `output` must be the place of the next `left` rows of the cursor.
    pub(super) unsafe fn pick(
        &self,
        pick: Pick,
        mut cursor: Cursor<'_>,
        mut left: usize,
        mut output: *mut u8,
    ) -> Result<(), BadIndexFound> {
        // If nearly all cache lines of an axis get used, they are fetched in order during the picks from the
        // axis before.
        let axis_bytes = pick.bound.saturating_mul(pick.size);
        let dense = pick.stride == pick.size.cast_signed();
        let in_order = self.prefetch && dense && is_one_move(pick.size) && axis_bytes <= 64 << 10;
        while left > 0 {
            let segment = cursor.take(left);
            let fetches = in_order && segment.len * 64 >= axis_bytes;
            // SAFETY: the segment lies within indices, its base within params, and its rows within the output.
            let good = unsafe {
                let picks = Picks {
                    params: self.params.offset(segment.params),
                    bound: pick.bound,
                    bad: self.in_place_of_bad(),
                    stride: pick.stride,
                    indices: self.indices.offset(segment.indices),
                    len: segment.len,
                    output,
                    prefetch: self.prefetch && !fetches,
                    // Few picks at a time are too few to wait for the stores after each.
                    stream: pick.stream && !fetches,
                };
                if fetches {
                    self.pick_and_fetch(pick, picks, self.params.wrapping_offset(cursor.params()))
                } else {
                    pick_checked(self.level, pick, picks)
                }
            };
            if !good && self.policies.bad == Bad::Error {
                return Err(BadIndexFound);
            }
            // SAFETY: as above.
            output = unsafe { output.add(segment.len * pick.size) };
            left -= segment.len;
        }
        Ok(())
    }

    /// # Safety
    /// As `pick`.
    pub(super) unsafe fn pick_planes(
        &self,
        along: Along,
        mut cursor: Cursor<'_>,
        mut left: usize,
        mut output: *mut u8,
    ) -> Result<(), BadIndexFound> {
        while left > 0 {
            let segment = cursor.take_plane(left);
            let count = segment.rows * segment.len;
            // SAFETY: the cursor gives rows of the geometry, whose indices are readable and whose bases lie within params,
            // with the whole axis; the output has room for these rows.
            unsafe {
                let params = self.params.offset(segment.params);
                let indices = self.indices.offset(segment.indices);
                let bad = self.in_place_of_bad();
                if !planes::pick(along, Plane { params, indices, output, bad, segment }) {
                    return Err(BadIndexFound);
                }
                output = output.add(count * along.size());
            }
            left -= count;
        }
        Ok(())
    }

    /// Picks from one axis while the lines of the next are on their way; `false` if any index was bad.
    ///
    /// # Safety
    /// As [`pick_checked`]; `next_axis` may be any address.
    unsafe fn pick_and_fetch(&self, pick: Pick, picks: Picks<I>, next_axis: *const u8) -> bool {
        let axis_bytes = pick.bound * pick.size;
        let (mut done, mut all_good) = (0, true);
        while done < picks.len {
            let len = PICKS_PER_FETCH.min(picks.len - done);
            let (from, to) = (axis_bytes * done / picks.len, axis_bytes * (done + len) / picks.len);
            bodies::prefetch_lines(next_axis, from, to);
            // SAFETY: done + len <= picks.len, so these are some of the caller's picks.
            let good = unsafe {
                let indices = picks.indices.offset(pick.step * done.cast_signed());
                let output = picks.output.add(done * pick.size);
                pick_checked(self.level, pick, Picks { indices, len, output, ..picks })
            };
            all_good &= good;
            // A bad index is an error here, so nothing would read the rest.
            if !good && picks.bad.is_none() {
                break;
            }
            done += len;
        }
        all_good
    }
}
