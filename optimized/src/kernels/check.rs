//! From indices to [`CheckedIndices`]: a block of byte offsets, every component of which was tested on its own axis.

use std::mem::MaybeUninit;

use gather_spec::NegativeIndex;

use super::cursor::{Cursor, PlaneSegment, Segment};
use crate::geometry::{Component, Geometry};
use crate::index::{Locate, place};
use crate::levels::Proof;
use crate::levels::bodies::{self, IndexRows};
use crate::policy::{Bad, Policies, under};

/// Rows that are checked before they are copied: the offsets stay in the first cache.
pub(super) const BLOCK: usize = 1024;

/// Room for the offsets of a block, and which of its rows had a bad index.
pub struct Block {
    offsets: [MaybeUninit<isize>; BLOCK],
    bad: [u64; BLOCK / 64],
    len: usize,
    /// What [`Block::check_once`] has checked.
    kept: Option<Kept>,
}

/// Stretches that a block holds the offsets of.
#[derive(Clone, Copy)]
struct Kept {
    /// Where the indices of each start, in index elements.
    indices: isize,
    stretches: usize,
    /// The rows of a stretch.
    len: usize,
}

/// Byte offsets into the params of one job. Each is the start of a row of that job: every index behind it
/// lies within its own axis. [`Block::check`] counts them from the first element of params,
/// [`Block::check_once`] from where the first row would start if all its indices were 0. Nothing else creates
/// them.
#[derive(Clone, Copy)]
pub struct CheckedIndices<'a> {
    offsets: &'a [isize],
    bad: &'a [u64],
}

impl<'a> CheckedIndices<'a> {
    /// The offsets, in the order of the output.
    pub(super) const fn offsets(self) -> &'a [isize] {
        self.offsets
    }

    /// The rows that must be filled; their offsets are good ones all the same.
    pub(super) fn bad_rows(self) -> impl Iterator<Item = usize> + 'a {
        let rows = self.offsets.len();
        self.bad
            .iter()
            .enumerate()
            .filter(|(_, bits)| **bits != 0)
            .flat_map(|(word, bits)| {
                (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word * 64 + bit)
            })
            .take_while(move |row| *row < rows)
    }
}

/// A bad index where bad indices are errors. Where it stands is found out later, by `offender`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadIndexFound;

/// The indices of a job and how to read them.
#[derive(Clone, Copy)]
pub struct Indices<'a, I> {
    /// The element at the multi-index of zeros.
    pub(crate) first: *const I,
    pub(crate) geometry: &'a Geometry,
    pub(crate) policies: Policies,
    pub(crate) level: Proof,
}

impl Block {
    #[inline]
    pub(super) const fn new() -> Self {
        Self { offsets: [MaybeUninit::uninit(); BLOCK], bad: [0; BLOCK / 64], len: 0, kept: None }
    }

    /// Checks the next rows of the cursor, `most` at most.
    ///
    /// # Safety
    /// `indices.first` and `indices.geometry` must describe an array that is readable, and the cursor must be on that
    /// geometry with `most` rows left.
    #[inline]
    pub(super) unsafe fn check<I: Locate>(
        &mut self,
        indices: Indices<'_, I>,
        cursor: &mut Cursor<'_>,
        most: usize,
    ) -> Result<CheckedIndices<'_>, BadIndexFound> {
        let most = most.min(BLOCK);
        (self.len, self.kept) = (0, None);
        if indices.policies.bad == Bad::Fill {
            self.bad = [0; BLOCK / 64];
        }
        while self.len < most {
            let segment = cursor.take(most - self.len);
            // SAFETY: the cursor gives rows of the geometry, whose indices are readable.
            unsafe { self.push(indices, segment)? };
            self.len += segment.len;
        }
        // SAFETY: push has written the offsets of `len` rows.
        let offsets = unsafe { self.offsets[..self.len].assume_init_ref() };
        Ok(CheckedIndices { offsets, bad: &self.bad })
    }

    /// Checks stretches of rows whose indices are the same: those of the first stretch, unless they are the ones that were
    /// checked before.
    ///
    /// # Safety
    /// As [`Block::check`], for a segment of the cursor with at most [`BLOCK`] rows. The geometry must be the same in each call,
    /// with an axis outside the innermost along which indices stay the same.
    #[inline]
    pub(super) unsafe fn check_once<I: Locate>(
        &mut self,
        indices: Indices<'_, I>,
        segment: PlaneSegment,
    ) -> Result<CheckedIndices<'_>, BadIndexFound> {
        let PlaneSegment { rows: stretches, len, indices: place, .. } = segment;
        let is_kept = |kept: Kept| kept.indices == place && kept.len == len && kept.stretches >= stretches;
        if !self.kept.is_some_and(is_kept) {
            // SAFETY: the caller's promise.
            unsafe { self.check_stretches(indices, segment)? };
            self.kept = Some(Kept { indices: place, stretches, len });
        }
        // SAFETY: check_stretches has written the offsets of at least this many rows.
        let offsets = unsafe { self.offsets[..stretches * len].assume_init_ref() };
        Ok(CheckedIndices { offsets, bad: &self.bad })
    }

    /// Writes the offsets of the rows of a segment, from its base: those of the first stretch, and what they are in the others.
    ///
    /// # Safety
    /// As [`Block::check_once`].
    #[inline(never)] // So that what runs for every slice stays short.
    unsafe fn check_stretches<I: Locate>(
        &mut self,
        indices: Indices<'_, I>,
        segment: PlaneSegment,
    ) -> Result<(), BadIndexFound> {
        let PlaneSegment { rows: stretches, len, axis, rows_axis, .. } = segment;
        (self.len, self.kept, self.bad) = (0, None, [0; BLOCK / 64]);
        let first = Segment { len, params: 0, indices: segment.indices, axis };
        // SAFETY: the first stretch has these indices, and a block has room for it.
        unsafe { self.push(indices, first)? };
        for row in len..stretches * len {
            // SAFETY: the rows before this one have been written.
            let above = unsafe { self.offsets[row - len].assume_init() };
            self.offsets[row].write(above.wrapping_add(rows_axis.params));
            let bad = self.bad[(row - len) / 64] >> ((row - len) % 64) & 1;
            self.bad[row / 64] |= bad << (row % 64);
        }
        Ok(())
    }

    /// # Safety
    /// The segment's index rows must be readable, and `segment.len` rows must have room after `self.len`.
    #[inline]
    unsafe fn push<I: Locate>(
        &mut self,
        indices: Indices<'_, I>,
        segment: Segment,
    ) -> Result<(), BadIndexFound> {
        let offsets = &mut self.offsets[self.len..self.len + segment.len];
        let first = indices.first.wrapping_offset(segment.indices);
        let components = indices.geometry.components.as_slice();
        if components.is_empty() {
            evenly(offsets, segment.params, segment.axis.params);
            return Ok(());
        }
        let policies = indices.policies;
        // SAFETY: the caller's promise is that of each of these.
        unsafe {
            if segment.axis.indices == 0 && policies.bad == Bad::Error {
                let base = one_row(first, components, segment.params, policies.negative)?;
                evenly(offsets, base, segment.axis.params);
                return Ok(());
            }
            let by_row = segment.axis.indices == 0 || components.len() > 3;
            let good = !by_row
                && under!(
                    policies,
                    I,
                    located(first.cast(), indices.geometry, indices.level, segment, offsets)
                );
            match policies.bad {
                _ if good => {}
                Bad::Error if by_row => return deep(first, indices, segment, offsets),
                Bad::Error => return Err(BadIndexFound),
                _ => Self::push_forgiving(offsets, &mut self.bad, self.len, indices, segment),
            }
        }
        Ok(())
    }

    /// Policies under which a bad index is no error: rows are marked, or components moved.
    ///
    /// # Safety
    /// As `push`.
    unsafe fn push_forgiving<I: Locate>(
        offsets: &mut [MaybeUninit<isize>],
        bad: &mut [u64],
        start: usize,
        indices: Indices<'_, I>,
        segment: Segment,
    ) {
        let mut mark = |row: usize| bad[(start + row) / 64] |= 1 << ((start + row) % 64);
        let components = indices.geometry.components.as_slice();
        // SAFETY: a row of the segment.
        let forgiven = |row_at: isize, base| unsafe {
            forgiven_row(indices.first.wrapping_offset(row_at), components, base, indices.policies)
        };
        if segment.axis.indices == 0 {
            let (base, good) = forgiven(segment.indices, segment.params);
            if !good {
                (0..segment.len).for_each(mark);
            }
            return evenly(offsets, base, segment.axis.params);
        }
        let (mut row_at, mut base) = (segment.indices, segment.params);
        for (row, offset) in offsets.iter_mut().enumerate() {
            let (sum, good) = forgiven(row_at, base);
            if !good {
                mark(row);
            }
            offset.write(sum);
            row_at = row_at.wrapping_add(segment.axis.indices);
            base = base.wrapping_add(segment.axis.params);
        }
    }
}

/// The offset that one index row selects under policies that forgive, and whether they moved or found all its components;
/// those that they did not are taken for 0.
///
/// # Safety
/// The row's components must be readable.
#[inline(always)]
unsafe fn forgiven_row<I: Locate>(
    first: *const I,
    components: &[Component],
    base: isize,
    policies: Policies,
) -> (isize, bool) {
    let (mut sum, mut good) = (base, true);
    for component in components {
        // SAFETY: the caller's promise.
        let index = unsafe { *first.wrapping_offset(component.at) };
        let place = policies.place(index, component.bound);
        good &= place.is_some();
        sum = sum.wrapping_add(place.unwrap_or(0).cast_signed().wrapping_mul(component.stride));
    }
    (sum, good)
}

/// Offsets of rows that share their indices.
pub(super) fn evenly(offsets: &mut [MaybeUninit<isize>], base: isize, step: isize) {
    for (j, offset) in offsets.iter_mut().enumerate() {
        offset.write(base.wrapping_add(step.wrapping_mul(j.cast_signed())));
    }
}

/// The offset that one index row selects.
///
/// # Safety
/// The row's components must be readable.
unsafe fn one_row<I: Locate>(
    first: *const I,
    components: &[Component],
    base: isize,
    negative: NegativeIndex,
) -> Result<isize, BadIndexFound> {
    let mut sum = base;
    for component in components {
        // SAFETY: the caller's promise.
        let index = unsafe { *first.wrapping_offset(component.at) };
        let at = place(index, component.bound, negative).ok_or(BadIndexFound)?;
        sum = sum.wrapping_add(at.cast_signed().wrapping_mul(component.stride));
    }
    Ok(sum)
}

/// Rows of any depth.
///
/// # Safety
/// As [`Block::push`].
unsafe fn deep<I: Locate>(
    first: *const I,
    indices: Indices<'_, I>,
    segment: Segment,
    offsets: &mut [MaybeUninit<isize>],
) -> Result<(), BadIndexFound> {
    let (mut row, mut base) = (first, segment.params);
    for offset in offsets {
        let components = &indices.geometry.components;
        // SAFETY: a row of the segment.
        offset.write(unsafe { one_row(row, components, base, indices.policies.negative)? });
        row = row.wrapping_offset(segment.axis.indices);
        base = base.wrapping_add(segment.axis.params);
    }
    Ok(())
}

/// Rows of depth 1 to 3; `false` if any index was bad.
///
/// # Safety
/// As [`Block::push`], with as many components.
#[inline]
unsafe fn located<I: Locate>(
    first: *const I,
    geometry: &Geometry,
    level: Proof,
    segment: Segment,
    offsets: &mut [MaybeUninit<isize>],
) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        match geometry.components.len() {
            1 => located_at_depth::<I, 1>(first, geometry, level, segment, offsets),
            2 => located_at_depth::<I, 2>(first, geometry, level, segment, offsets),
            _ => located_at_depth::<I, 3>(first, geometry, level, segment, offsets),
        }
    }
}

/// Rows of depth `D`, in the loop that fits how they lie.
///
/// # Safety
/// As [`Block::push`], with `D` components.
#[inline]
unsafe fn located_at_depth<I: Locate, const D: usize>(
    first: *const I,
    geometry: &Geometry,
    level: Proof,
    segment: Segment,
    offsets: &mut [MaybeUninit<isize>],
) -> bool {
    let (mut at, mut bounds, mut strides) = ([0; D], [0; D], [0; D]);
    for (c, component) in geometry.components[..D].iter().enumerate() {
        (at[c], bounds[c], strides[c]) = (component.at, component.bound, component.stride);
    }
    let (step, base, base_step) = (segment.axis.indices, segment.params, segment.axis.params);
    let rows = IndexRows::<I, D> { first, step, at, bounds, strides, base, base_step };
    let dense =
        rows.step == D.cast_signed() && rows.base_step == 0 && (0..D).all(|c| rows.at[c] == c.cast_signed());
    // SAFETY: the rows are readable by the caller's promise, and dense where that is what is called.
    unsafe {
        if dense { level.check_dense(rows, offsets) } else { bodies::check::<I, D, false>(rows, offsets) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::Execution;
    use crate::{Options, Plan};

    /// Each stretch gets its own offsets, regardless of what was checked before and what the block held.
    #[test]
    fn more_stretches_than_were_checked_are_checked_again() {
        let plan = Plan::gather(&[4, 3, 2], &[2], &Options::new().axis(1)).unwrap();
        let mut geometry = Geometry::room();
        geometry.set(plan.shapes(), &[6, 2, 1], &[1], 1);
        assert_eq!((geometry.rows.len(), geometry.row_bytes), (2, 2));
        let places = [2, 0];
        let Execution { policies, level, .. } = plan.shapes().execution;
        let indices = Indices { first: places.as_ptr(), geometry: &geometry, policies, level };
        let mut block = Block::new();
        block.offsets = [MaybeUninit::new(isize::MAX); BLOCK];
        for (row, rows, offsets) in
            [(6, 2, &[4, 0][..]), (0, 8, &[4, 0, 10, 6, 16, 12, 22, 18]), (2, 4, &[4, 0, 10, 6])]
        {
            let segment = Cursor::new(&geometry, row).take_plane(rows);
            assert_eq!((segment.rows * segment.len, segment.params), (rows, 3 * row.cast_signed()));
            // SAFETY: the geometry is that of the two places, and the segment one of its own.
            let checked = unsafe { block.check_once(indices, segment) };
            assert_eq!(checked.map(CheckedIndices::offsets), Ok(offsets));
        }
    }
}
