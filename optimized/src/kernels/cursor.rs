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
    geometry: &'a Geometry,
    at: SmallVec<[usize; 4]>,
    params: isize,
    indices: isize,
}

impl<'a> Cursor<'a> {
    /// A cursor before row `row`, which must not lie beyond the last row.
    #[inline]
    pub(super) fn new(geometry: &'a Geometry, row: usize) -> Self {
        let mut cursor = Self { geometry, at: SmallVec::new(), params: 0, indices: 0 };
        geometry.rows.iter().for_each(|_| cursor.at.push(0));
        if row == 0 {
            return cursor;
        }
        let mut rest = row;
        for (place, axis) in cursor.at.iter_mut().zip(&geometry.rows).rev() {
            *place = rest % axis.len;
            rest /= axis.len;
            cursor.params = cursor.params.wrapping_add(axis.params.wrapping_mul(place.cast_signed()));
            cursor.indices = cursor.indices.wrapping_add(axis.indices.wrapping_mul(place.cast_signed()));
        }
        cursor
    }

    /// Where the next row's slice would start if all its indices were 0, in bytes.
    pub(super) const fn params(&self) -> isize {
        self.params
    }

    /// Takes at most `most` rows.
    #[inline]
    pub(super) fn take(&mut self, most: usize) -> Segment {
        let last = self.geometry.rows.len() - 1;
        let axis = self.geometry.rows[last];
        let len = most.min(axis.len - self.at[last]);
        let segment = Segment { len, params: self.params, indices: self.indices, axis };
        self.step(last, len);
        if self.at[last] == axis.len {
            self.carry(last);
        }
        segment
    }

    #[inline]
    fn step(&mut self, axis: usize, steps: usize) {
        let RowAxis { params, indices, .. } = self.geometry.rows[axis];
        self.at[axis] += steps;
        self.params = self.params.wrapping_add(params.wrapping_mul(steps.cast_signed()));
        self.indices = self.indices.wrapping_add(indices.wrapping_mul(steps.cast_signed()));
    }

    /// Starts the full axis again and steps along the one outside it.
    #[inline]
    fn carry(&mut self, mut full: usize) {
        while full > 0 && self.at[full] == self.geometry.rows[full].len {
            let RowAxis { len, params, indices } = self.geometry.rows[full];
            self.at[full] = 0;
            self.params = self.params.wrapping_sub(params.wrapping_mul(len.cast_signed()));
            self.indices = self.indices.wrapping_sub(indices.wrapping_mul(len.cast_signed()));
            full -= 1;
            self.step(full, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Plan};

    #[test]
    fn starting_anywhere_gives_the_same_rows() {
        let plan = Plan::gather(&[3, 5, 2], &[4, 3], &Options::new().axis(1)).unwrap();
        let geometry = Geometry::new(&plan, &[10, -2, 7], &[1, 4], 4);
        let mut whole = Cursor::new(&geometry, 0);
        for row in 0..geometry.row_count {
            let expected = whole.take(1);
            let found = Cursor::new(&geometry, row).take(1);
            assert_eq!(found, expected, "row {row}");
        }
    }
}
