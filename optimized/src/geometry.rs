//! How a planned call lies in memory: strides and offsets of one pair of arrays, with mergeable dims merged.

use smallvec::SmallVec;

use crate::plan::{Family, Plan};

/// A dim of the rows: stepping along it moves the base within params and the place within indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowAxis {
    pub len: usize,
    /// In bytes.
    pub params: isize,
    /// In index elements.
    pub indices: isize,
}

/// One component of an index row: where it stands in the row, and the axis that it selects from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Component {
    pub bound: usize,
    /// Between neighbours along the axis, in bytes.
    pub stride: isize,
    /// From the start of the index row, in index elements.
    pub at: isize,
}

/// A call as the kernels see it: rows in the order of the output, each a contiguous run of `row_bytes` in params and
/// in the output. Whatever else the output has for dims (batch, the dims before the axis, index rows, and what of a
/// slice is not contiguous) is an axis of the rows.
///
/// Made only for outputs with at least one element and params with at least one element.
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    /// Outermost first; never empty.
    pub rows: SmallVec<[RowAxis; 4]>,
    pub components: SmallVec<[Component; 4]>,
    pub row_count: usize,
    pub row_bytes: usize,
}

/// Longer rows are cut into pieces, so that threads can share them and prefetching need not look far.
const LONGEST_PIECE: usize = 64 << 10;

impl Geometry {
    /// The geometry of `plan` on arrays with these strides, in elements of `element` bytes each.
    #[inline(always)] // So that it is made in its place.
    pub(crate) fn new(plan: &Plan, params: &[isize], indices: &[isize], element: usize) -> Self {
        let size = element.cast_signed();
        let mut rows = Rows(SmallVec::new());
        for axis in 0..plan.batch_dims {
            rows.push(plan.params[axis], params[axis].wrapping_mul(size), indices[axis]);
        }
        let between = plan.batch_dims..plan.axis;
        for (dim, stride) in plan.params[between.clone()].iter().zip(&params[between]) {
            rows.push(*dim, stride.wrapping_mul(size), 0);
        }
        let outer = match plan.family {
            Family::Nd => plan.batch_dims..plan.indices.len() - 1,
            Family::OneAxis => plan.batch_dims..plan.indices.len(),
        };
        for axis in outer {
            rows.push(plan.indices[axis], 0, indices[axis]);
        }
        let row_bytes = push_slice(&mut rows, plan, params, element);
        let (pieces, row_bytes) = cut(row_bytes);
        rows.push(pieces, row_bytes.cast_signed(), 0);
        if rows.0.is_empty() {
            rows.0.push(RowAxis { len: 1, params: 0, indices: 0 });
        }
        let row_count = rows.0.iter().map(|axis| axis.len).product();
        Self { rows: rows.0, components: components(plan, params, indices, size), row_count, row_bytes }
    }

    /// Bytes of the output.
    pub(crate) fn output_bytes(&self) -> usize {
        self.row_count * self.row_bytes
    }
}

/// Puts the dims of a slice that are not contiguous among the rows; gives the bytes of the contiguous run.
fn push_slice(rows: &mut Rows, plan: &Plan, params: &[isize], element: usize) -> usize {
    let inner = plan.axis + plan.depth..plan.params.len();
    let mut run = 1usize;
    let mut end = inner.end;
    while end > inner.start {
        let (dim, stride) = (plan.params[end - 1], params[end - 1]);
        if dim != 1 && stride != run.cast_signed() {
            break;
        }
        run *= dim;
        end -= 1;
    }
    let strided = inner.start..end;
    for (dim, stride) in plan.params[strided.clone()].iter().zip(&params[strided]) {
        rows.push(*dim, stride.wrapping_mul(element.cast_signed()), 0);
    }
    run * element
}

/// Cuts a row into equal pieces by halving while it is long and even.
fn cut(mut row_bytes: usize) -> (usize, usize) {
    let mut pieces = 1;
    while row_bytes > LONGEST_PIECE && row_bytes.is_multiple_of(128) {
        row_bytes /= 2;
        pieces *= 2;
    }
    (pieces, row_bytes)
}

#[inline(always)]
fn components(plan: &Plan, params: &[isize], indices: &[isize], size: isize) -> SmallVec<[Component; 4]> {
    let step = match (plan.family, indices.last()) {
        (Family::Nd, Some(step)) => *step,
        _ => 0,
    };
    let mut components = SmallVec::new();
    let axes = plan.params[plan.axis..].iter().zip(&params[plan.axis..]).take(plan.depth);
    for (component, (bound, stride)) in axes.enumerate() {
        // A dim of one element may have any stride.
        let (stride, at) = (stride.wrapping_mul(size), step.wrapping_mul(component.cast_signed()));
        components.push(Component { bound: *bound, stride, at });
    }
    components
}

struct Rows(SmallVec<[RowAxis; 4]>);

impl Rows {
    /// Adds an inner axis, merged with the one before it where one stride reaches both.
    #[inline]
    fn push(&mut self, len: usize, params: isize, indices: isize) {
        if len == 1 {
            return;
        }
        let steps = len.cast_signed();
        match self.0.last_mut() {
            Some(last)
                if last.params == params.wrapping_mul(steps)
                    && last.indices == indices.wrapping_mul(steps) =>
            {
                *last = RowAxis { len: last.len * len, params, indices };
            }
            _ => self.0.push(RowAxis { len, params, indices }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    #[test]
    fn contiguous_arrays_become_one_axis_of_rows() {
        let plan = Plan::gather_nd(&[7, 3, 4], &[5, 6, 1], &Options::new()).unwrap();
        let geometry = Geometry::new(&plan, &[12, 4, 1], &[6, 1, 1], 4);
        assert_eq!(geometry.rows.as_slice(), [RowAxis { len: 30, params: 0, indices: 1 }]);
        assert_eq!((geometry.row_count, geometry.row_bytes), (30, 48));
    }

    #[test]
    fn a_strided_slice_joins_the_rows() {
        let plan = Plan::gather(&[7, 3], &[5], &Options::new()).unwrap();
        let geometry = Geometry::new(&plan, &[1, 7], &[1], 2);
        let rows = [RowAxis { len: 5, params: 0, indices: 1 }, RowAxis { len: 3, params: 14, indices: 0 }];
        assert_eq!(geometry.rows.as_slice(), rows);
        assert_eq!(geometry.row_bytes, 2);
    }

    #[test]
    fn long_rows_are_cut_into_equal_pieces() {
        assert_eq!(cut(256 << 10), (4, 64 << 10));
        assert_eq!(cut(65_537), (1, 65_537));
    }
}
