//! Walks rows in the order of the output, a segment of the innermost axis at a time.

use smallvec::SmallVec;

use crate::geometry::{Geometry, RowAxis};

/// Consecutive rows along the innermost axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// Rows in it.
    pub len: usize,
    /// Where the first row's slice would start in params if all its indices were 0, in bytes.
    pub params: isize,
    /// Where the first row's indices start, in index elements.
    pub indices: isize,
    /// Steps from row to row.
    pub axis: RowAxis,
}

/// Whole rows along the axis outside the innermost, or part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlaneSegment {
    /// How many stretches of the innermost axis, and the rows in each.
    pub rows: usize,
    pub len: usize,
    /// As in [`Segment`].
    pub params: isize,
    pub indices: isize,
    /// Steps along the innermost axis.
    pub axis: RowAxis,
    /// Steps along the axis outside it.
    pub rows_axis: RowAxis,
}

/// The place of the next row.
pub struct Cursor<'a> {
    inner: RowAxis,
    /// Rows taken along the innermost axis.
    at: usize,
    outer: &'a [RowAxis],
    outer_at: SmallVec<[usize; 4]>,
    params: isize,
    indices: isize,
}

impl<'a> Cursor<'a> {
    /// A cursor before row `row`, which must not lie beyond the last row.
    #[inline]
    pub(super) fn new(geometry: &'a Geometry, row: usize) -> Self {
        let (inner, outer) = match geometry.rows.split_last() {
            Some((inner, outer)) => (*inner, outer),
            None => (RowAxis { len: 1, params: 0, indices: 0 }, &[][..]),
        };
        let mut cursor = Self { inner, at: 0, outer, outer_at: SmallVec::new(), params: 0, indices: 0 };
        if !outer.is_empty() {
            cursor.outer_at.resize(outer.len(), 0);
        }
        if row > 0 {
            cursor.seek(row);
        }
        cursor
    }

    /// Moves from the first row to another.
    fn seek(&mut self, row: usize) {
        let mut rest = row / self.inner.len;
        self.at = row % self.inner.len;
        self.move_by(self.inner, self.at);
        for axis in (0..self.outer.len()).rev() {
            let RowAxis { len, .. } = self.outer[axis];
            self.outer_at[axis] = rest % len;
            self.move_by(self.outer[axis], rest % len);
            rest /= len;
        }
    }

    /// Where the next row's slice would start if all its indices were 0, in bytes.
    #[inline]
    pub(super) const fn params(&self) -> isize {
        self.params
    }

    /// Takes at most `most` rows.
    #[inline]
    pub(super) fn take(&mut self, most: usize) -> Segment {
        let len = most.min(self.inner.len - self.at);
        let segment = Segment { len, params: self.params, indices: self.indices, axis: self.inner };
        self.at += len;
        self.move_by(self.inner, len);
        if self.at == self.inner.len && !self.outer.is_empty() {
            self.carry();
        }
        segment
    }

    /// Takes at most `most` rows: several stretches of the innermost axis, or part of one.
    #[inline]
    pub(super) fn take_plane(&mut self, most: usize) -> PlaneSegment {
        let (params, indices, axis) = (self.params, self.indices, self.inner);
        match self.outer.last() {
            Some(rows_axis) if self.at == 0 && most >= axis.len => {
                let left = rows_axis.len - self.outer_at[self.outer.len() - 1];
                let rows = left.min(most / axis.len);
                self.advance(rows);
                PlaneSegment { rows, len: axis.len, params, indices, axis, rows_axis: *rows_axis }
            }
            _ => {
                let Segment { len, .. } = self.take(most);
                PlaneSegment { rows: 1, len, params, indices, axis, rows_axis: axis }
            }
        }
    }

    /// Steps over whole stretches of the innermost axis, at most as many as are left on the axis outside it.
    fn advance(&mut self, stretches: usize) {
        let last = self.outer.len() - 1;
        self.outer_at[last] += stretches;
        self.move_by(self.outer[last], stretches);
        if self.outer_at[last] == self.outer[last].len {
            self.outer_at[last] = 0;
            self.start_again(self.outer[last]);
            self.carry_outside(last);
        }
    }

    #[inline]
    fn move_by(&mut self, RowAxis { params, indices, .. }: RowAxis, steps: usize) {
        self.params = self.params.wrapping_add(params.wrapping_mul(steps.cast_signed()));
        self.indices = self.indices.wrapping_add(indices.wrapping_mul(steps.cast_signed()));
    }

    /// Starts the full innermost axis again and steps along the ones outside it.
    fn carry(&mut self) {
        self.at = 0;
        self.start_again(self.inner);
        self.carry_outside(self.outer.len());
    }

    /// Steps along the axes before `inner`, the last first.
    #[inline]
    fn carry_outside(&mut self, inner: usize) {
        for axis in (0..inner).rev() {
            self.outer_at[axis] += 1;
            self.move_by(self.outer[axis], 1);
            if self.outer_at[axis] < self.outer[axis].len {
                return;
            }
            self.outer_at[axis] = 0;
            self.start_again(self.outer[axis]);
        }
    }

    /// From the end of an axis back to its start.
    #[inline]
    fn start_again(&mut self, RowAxis { len, params, indices }: RowAxis) {
        self.params = self.params.wrapping_sub(params.wrapping_mul(len.cast_signed()));
        self.indices = self.indices.wrapping_sub(indices.wrapping_mul(len.cast_signed()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Plan};

    /// Planes of any size, from any row on, are the rows that are taken one by one.
    #[test]
    fn planes_are_the_same_rows() {
        let plan = Plan::take_along_axis(&[3, 2, 5], &[3, 4, 5], &Options::new().axis(1)).unwrap();
        let mut geometry = Geometry::room();
        geometry.set(plan.shapes(), &[100, 20, 3], &[40, 7, 1], 4);
        assert_eq!(geometry.rows.len(), 3);
        for start in 0..60 {
            for most in 1..=60 {
                let (mut single, mut planes) = (Cursor::new(&geometry, start), Cursor::new(&geometry, start));
                let mut left = 60 - start;
                while left > 0 {
                    let plane = planes.take_plane(most.min(left));
                    assert!(plane.rows * plane.len <= most.min(left));
                    for at in 0..plane.rows * plane.len {
                        let (row, at) = (at / plane.len, at % plane.len);
                        let steps = |row_step: isize, step: isize| {
                            row_step * row.cast_signed() + step * at.cast_signed()
                        };
                        let expected = single.take(1);
                        let PlaneSegment { axis, rows_axis, .. } = plane;
                        assert_eq!(plane.params + steps(rows_axis.params, axis.params), expected.params);
                        assert_eq!(plane.indices + steps(rows_axis.indices, axis.indices), expected.indices);
                    }
                    left -= plane.rows * plane.len;
                }
            }
        }
    }

    #[test]
    fn starting_anywhere_gives_the_same_rows() {
        let plan = Plan::gather(&[3, 5, 2], &[4, 3], &Options::new().axis(1)).unwrap();
        let mut geometry = Geometry::room();
        geometry.set(plan.shapes(), &[10, -2, 7], &[1, 4], 4);
        let mut whole = Cursor::new(&geometry, 0);
        for row in 0..geometry.row_count {
            let expected = whole.take(1);
            let found = Cursor::new(&geometry, row).take(1);
            assert_eq!(found, expected, "row {row}");
        }
    }
}
