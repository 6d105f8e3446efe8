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

/// The place of the next row.
pub(super) struct Cursor<'a> {
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

    #[inline]
    fn move_by(&mut self, RowAxis { params, indices, .. }: RowAxis, steps: usize) {
        self.params = self.params.wrapping_add(params.wrapping_mul(steps.cast_signed()));
        self.indices = self.indices.wrapping_add(indices.wrapping_mul(steps.cast_signed()));
    }

    /// Starts the full innermost axis again and steps along the ones outside it.
    fn carry(&mut self) {
        self.at = 0;
        self.start_again(self.inner);
        for axis in (0..self.outer.len()).rev() {
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
