//! How a planned call lies in memory: strides and offsets of one pair of arrays, with mergeable dims merged.

use std::ops::Range;

use smallvec::SmallVec;

use crate::shapes::{OutputShape, Selection, Shapes};
use crate::windows::{WindowAxis, Windows};

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

/// A call as the kernels see it: rows in the order of the output, each a contiguous run of `row_bytes` in
/// params and in the output. All other dims of the output (batch, the dims before the axis, index rows, and
/// the dims of a slice that are not contiguous) are axes of the rows.
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

/// Fewer elements than this, or fewer rows, are not worth an order of their own.
const LEAST_SCATTERED: usize = 16;

impl Geometry {
    /// Room for a geometry, so that it can be made where it stays: moving one costs a tenth of a tiny call.
    #[inline]
    pub(crate) fn room() -> Self {
        Self { rows: SmallVec::new(), components: SmallVec::new(), row_count: 0, row_bytes: 0 }
    }

    /// The geometry of these shapes on arrays with these strides, in elements of `element` bytes each.
    #[inline]
    pub(crate) fn set(&mut self, shapes: Shapes<'_>, params: &[isize], indices: &[isize], element: usize) {
        let size = element.cast_signed();
        let Selection { batch_dims, axis, depth, row_rank, output, .. } = shapes.selection;
        self.rows.clear();
        if output != OutputShape::Slices {
            return self.set_others(shapes, params, indices, element);
        }
        for dim in 0..batch_dims {
            self.push(shapes.params[dim], params[dim].wrapping_mul(size), indices[dim]);
        }
        for (dim, stride) in shapes.params[batch_dims..axis].iter().zip(&params[batch_dims..axis]) {
            self.push(*dim, stride.wrapping_mul(size), 0);
        }
        for (dim, stride) in shapes.indices[batch_dims..row_rank].iter().zip(&indices[batch_dims..row_rank]) {
            self.push(*dim, 0, *stride);
        }
        let row_bytes = self.push_slice(&shapes.params[axis + depth..], &params[axis + depth..], element);
        self.set_run(row_bytes, element);
        self.set_components(shapes, params, indices, size);
    }

    /// The geometry of outputs that are not made of slices.
    #[inline(never)] // So that the other forms stay short.
    fn set_others(&mut self, shapes: Shapes<'_>, params: &[isize], indices: &[isize], element: usize) {
        match shapes.windows {
            Some(windows) => self.set_windows(windows, params, indices, element),
            None => self.set_elements(shapes, params, indices, element),
        }
    }

    /// The geometry of form elements: each dim of the output steps along params, indices, or both. Inner dims along which
    /// the index stays the same are slices, as those of the other forms.
    fn set_elements(&mut self, shapes: Shapes<'_>, params: &[isize], indices: &[isize], element: usize) {
        let (size, axis) = (element.cast_signed(), shapes.selection.axis);
        // A dim of 1 stands for every position, and may have any stride.
        let step =
            |dims: &[usize], strides: &[isize], dim: usize| if dims[dim] == 1 { 0 } else { strides[dim] };
        let along = |dim| RowAxis {
            len: shapes.joined_dim(dim),
            params: if dim == axis { 0 } else { step(shapes.params, params, dim) },
            indices: step(shapes.indices, indices, dim),
        };
        self.set_axes(axis + 1..shapes.indices.len(), along, element);
        self.set_components(shapes, params, indices, size);
    }

    /// The geometry of windows. Each dim of the output steps along the dims of params and indices that it reads, and a
    /// component along the dim of params that it is a start on: the windows that start at neighbours overlap.
    ///
    /// Along a dim of params with `dim` elements and a window of `size`, an offset is at most `size - 1`. A
    /// start has the bound `dim - size + 1`, so it is at most `dim - size`: together they are at most `dim -
    /// 1`. A dim that params share with indices has as many elements there, and no start.
    fn set_windows(&mut self, windows: &Windows, params: &[isize], indices: &[isize], element: usize) {
        let step = |dim: Option<usize>, strides: &[isize]| dim.map_or(0, |dim| strides[dim]);
        let along = |dim: usize| {
            let WindowAxis { len, params: of_params, indices: of_indices } = windows.axes[dim];
            RowAxis { len, params: step(of_params, params), indices: step(of_indices, indices) }
        };
        self.set_axes(0..windows.axes.len(), along, element);
        let next = windows.component_step(indices);
        self.components.clear();
        self.components.extend(windows.starts.iter().enumerate().map(|(component, start)| Component {
            bound: start.bound,
            stride: params[start.dim].wrapping_mul(element.cast_signed()),
            at: next.wrapping_mul(component.cast_signed()),
        }));
    }

    /// Sets the rows of an output with the dims up to the end of `inner`, which step as `along` says, in
    /// elements of params and of indices. Inner dims along which the index stays the same and params have no
    /// gaps are the contiguous run, if they are among `inner`.
    #[inline(always)]
    fn set_axes(&mut self, inner: Range<usize>, along: impl Fn(usize) -> RowAxis, element: usize) {
        let mut run = 1usize;
        let mut end = inner.end;
        while end > inner.start {
            let RowAxis { len, params, indices } = along(end - 1);
            if len != 1 && !(indices == 0 && params == run.cast_signed()) {
                break;
            }
            run *= len;
            end -= 1;
        }
        for dim in 0..end {
            let RowAxis { len, params, indices } = along(dim);
            self.push(len, params.wrapping_mul(element.cast_signed()), indices);
        }
        self.set_run(run * element, element);
    }

    /// Sets the rows' length, those of the slices being among the rows already.
    #[inline(always)]
    fn set_run(&mut self, row_bytes: usize, element: usize) {
        let (pieces, row_bytes) = cut(row_bytes, element);
        self.push(pieces, row_bytes.cast_signed(), 0);
        if self.rows.is_empty() {
            self.rows.push(RowAxis { len: 1, params: 0, indices: 0 });
        }
        self.row_count = self.rows.iter().map(|axis| axis.len).product();
        self.row_bytes = row_bytes;
    }

    #[inline]
    fn set_components(&mut self, shapes: Shapes<'_>, params: &[isize], indices: &[isize], size: isize) {
        let Selection { axis, depth, row_rank, .. } = shapes.selection;
        let step = indices.get(row_rank).copied().unwrap_or(0);
        self.components.clear();
        let axes = shapes.params[axis..axis + depth].iter().zip(&params[axis..axis + depth]);
        for (component, (bound, stride)) in axes.enumerate() {
            // A dim of one element may have any stride.
            let (stride, at) = (stride.wrapping_mul(size), step.wrapping_mul(component.cast_signed()));
            self.components.push(Component { bound: *bound, stride, at });
        }
    }

    /// Adds an inner axis, merged with the one before it where one stride reaches both.
    #[inline]
    fn push(&mut self, len: usize, params: isize, indices: isize) {
        if len == 1 {
            return;
        }
        let steps = len.cast_signed();
        match self.rows.last_mut() {
            Some(last)
                if last.params == params.wrapping_mul(steps)
                    && last.indices == indices.wrapping_mul(steps) =>
            {
                *last = RowAxis { len: last.len * len, params, indices };
            }
            _ => self.rows.push(RowAxis { len, params, indices }),
        }
    }

    /// Puts the dims of a slice that are not contiguous among the rows; gives the bytes of the contiguous run.
    #[inline]
    fn push_slice(&mut self, dims: &[usize], strides: &[isize], element: usize) -> usize {
        let (end, run) = Self::run(dims, strides);
        for (dim, stride) in dims[..end].iter().zip(strides) {
            self.push(*dim, stride.wrapping_mul(element.cast_signed()), 0);
        }
        run * element
    }

    /// The axis along which the elements of a slice lie apart, if that is worth an order of its own: it is long, and
    /// there are many index rows to share it.
    #[inline]
    pub(crate) fn scattered(&self) -> Option<RowAxis> {
        let inner = self.rows.last().filter(|axis| axis.indices == 0 && axis.len >= LEAST_SCATTERED)?;
        let worth = self.row_count / inner.len >= LEAST_SCATTERED && !self.components.is_empty();
        worth.then_some(*inner)
    }

    /// Whether neighbouring slices share their indices, at most `most` of them.
    pub(crate) fn repeats(&self, most: usize) -> bool {
        let [.., slices, indices] = self.rows.as_slice() else { return false };
        let shared = slices.indices == 0 && indices.indices != 0;
        shared && indices.len <= most && !self.components.is_empty()
    }

    /// Cuts every row into pieces of this many bytes, which divide it.
    pub(crate) fn cut_rows(&mut self, bytes: usize) {
        let pieces = self.row_bytes / bytes;
        self.push(pieces, bytes.cast_signed(), 0);
        self.row_count *= pieces;
        self.row_bytes = bytes;
    }

    /// The rows of an output of this shape that lies in memory as its strides say, in elements of `element` bytes: what an axis
    /// says of params is said of the output. Rows of `row_bytes` bytes must divide the run without gaps.
    pub(crate) fn of_output(shape: &[usize], strides: &[isize], element: usize, row_bytes: usize) -> Self {
        let mut rows = Self::room();
        let (outer, run) = Self::run(shape, strides);
        for (dim, stride) in shape[..outer].iter().zip(strides) {
            rows.push(*dim, stride.wrapping_mul(element.cast_signed()), 0);
        }
        rows.push(run * element / row_bytes, row_bytes.cast_signed(), 0);
        if rows.rows.is_empty() {
            rows.rows.push(RowAxis { len: 1, params: 0, indices: 0 });
        }
        rows.row_count = rows.rows.iter().map(|axis| axis.len).product();
        rows.row_bytes = row_bytes;
        rows
    }

    /// The inner dims that have no gaps: how many dims are outside them, and their elements.
    #[inline]
    pub(crate) fn run(dims: &[usize], strides: &[isize]) -> (usize, usize) {
        let mut run = 1usize;
        let mut end = dims.len();
        while end > 0 && (dims[end - 1] == 1 || strides[end - 1] == run.cast_signed()) {
            run *= dims[end - 1];
            end -= 1;
        }
        (end, run)
    }

    /// The same call with one row for all of the innermost axis.
    pub(crate) fn without_innermost(&self) -> Self {
        let mut outer = self.clone();
        let Some(inner) = outer.rows.pop() else { return outer };
        outer.row_count /= inner.len;
        outer.row_bytes *= inner.len;
        if outer.rows.is_empty() {
            outer.rows.push(RowAxis { len: 1, params: 0, indices: 0 });
        }
        outer
    }

    /// Bytes of the output.
    #[inline]
    pub(crate) fn output_bytes(&self) -> usize {
        self.row_count * self.row_bytes
    }
}

/// Cuts a row into equal pieces of whole elements by halving while it is long and even.
#[inline]
fn cut(mut row_bytes: usize, element: usize) -> (usize, usize) {
    let mut pieces = 1;
    while row_bytes > LONGEST_PIECE
        && row_bytes.is_multiple_of(128)
        && (row_bytes / 2).is_multiple_of(element)
    {
        row_bytes /= 2;
        pieces *= 2;
    }
    (pieces, row_bytes)
}

#[cfg(test)]
mod tests {
    use gather_spec::DimensionNumbers;

    use super::*;
    use crate::{Options, Plan};

    fn geometry(plan: &Plan, params: &[isize], indices: &[isize], element: usize) -> Geometry {
        let mut geometry = Geometry::room();
        geometry.set(plan.shapes(), params, indices, element);
        geometry
    }

    #[test]
    fn contiguous_arrays_become_one_axis_of_rows() {
        let plan = Plan::gather_nd(&[7, 3, 4], &[5, 6, 1], &Options::new()).unwrap();
        let geometry = geometry(&plan, &[12, 4, 1], &[6, 1, 1], 4);
        assert_eq!(geometry.rows.as_slice(), [RowAxis { len: 30, params: 0, indices: 1 }]);
        assert_eq!((geometry.row_count, geometry.row_bytes), (30, 48));
    }

    #[test]
    fn a_strided_slice_joins_the_rows() {
        let plan = Plan::gather(&[7, 3], &[5], &Options::new()).unwrap();
        let geometry = geometry(&plan, &[1, 7], &[1], 2);
        let rows = [RowAxis { len: 5, params: 0, indices: 1 }, RowAxis { len: 3, params: 14, indices: 0 }];
        assert_eq!(geometry.rows.as_slice(), rows);
        assert_eq!(geometry.row_bytes, 2);
    }

    /// The rows of 5 windows of these sizes in a matrix of 16 x 11, and the bytes of each.
    fn windows(sizes: [i64; 2], offset_dims: [i64; 2]) -> (Vec<RowAxis>, usize) {
        let numbers = DimensionNumbers {
            offset_dims: offset_dims.to_vec(),
            start_index_map: vec![1, 0],
            index_vector_dim: 1,
            ..DimensionNumbers::default()
        };
        let plan = Plan::gather_windows(&[16, 11], &[5, 2], &numbers, &sizes, &Options::new()).unwrap();
        let geometry = geometry(&plan, &[11, 1], &[2, 1], 4);
        let bound = |dim: usize, size: i64| dim - usize::try_from(size).unwrap() + 1;
        let components = [
            Component { bound: bound(11, sizes[1]), stride: 4, at: 0 },
            Component { bound: bound(16, sizes[0]), stride: 44, at: 1 },
        ];
        assert_eq!(geometry.components.as_slice(), components);
        (geometry.rows.to_vec(), geometry.row_bytes)
    }

    #[test]
    fn windows_are_rows_as_long_as_they_have_no_gaps() {
        let starts = RowAxis { len: 5, params: 0, indices: 2 };
        let [down, across] = [44, 4].map(|params| move |len| RowAxis { len, params, indices: 0 });
        assert_eq!(windows([8, 11], [1, 2]), (vec![starts], 8 * 11 * 4), "as wide as params");
        assert_eq!(windows([1, 6], [1, 2]), (vec![starts], 6 * 4));
        assert_eq!(windows([8, 6], [1, 2]), (vec![starts, down(8)], 6 * 4));
        assert_eq!(windows([8, 6], [0, 2]), (vec![down(8), starts], 6 * 4));
        assert_eq!(windows([8, 6], [0, 1]), (vec![down(8), across(6), starts], 4));
        assert_eq!(windows([8, 11], [0, 1]), (vec![across(88), starts], 4), "two dims of one stride");
    }

    /// `rows` slices of `len` elements of 4 bytes, which lie 28 bytes apart.
    fn columns(rows: usize, len: usize) -> Geometry {
        let plan = Plan::gather(&[7, len], &[rows], &Options::new()).unwrap();
        geometry(&plan, &[1, 7], &[1], 4)
    }

    #[test]
    fn many_long_slices_of_elements_apart_have_an_order_of_their_own() {
        let inner = RowAxis { len: 16, params: 28, indices: 0 };
        assert_eq!(columns(16, 16).scattered(), Some(inner));
        assert_eq!(columns(16, 15).scattered(), None, "the slices are short");
        assert_eq!(columns(15, 16).scattered(), None, "the slices are few");
    }

    #[test]
    fn axes_along_which_indices_change_have_no_order_of_their_own() {
        let batched = Plan::gather(&[16, 7], &[16, 16], &Options::new().batch_dims(1)).unwrap();
        assert_eq!(geometry(&batched, &[7, 1], &[16, 1], 4).scattered(), None);
        // Without components there is nothing to check: each slice is the whole of params.
        let copies = Plan::gather_nd(&[16], &[16, 0], &Options::new()).unwrap();
        assert_eq!(geometry(&copies, &[3], &[1, 1], 4).scattered(), None);
    }

    #[test]
    fn without_the_innermost_axis_a_row_is_a_whole_slice() {
        let slices = columns(20, 16).without_innermost();
        assert_eq!(slices.rows.as_slice(), [RowAxis { len: 20, params: 0, indices: 1 }]);
        assert_eq!((slices.row_count, slices.row_bytes), (20, 64));
        let one = columns(1, 16).without_innermost();
        assert_eq!(one.rows.as_slice(), [RowAxis { len: 1, params: 0, indices: 0 }]);
        assert_eq!((one.row_count, one.row_bytes), (1, 64));
    }

    #[test]
    fn long_rows_are_cut_into_equal_pieces() {
        assert_eq!(cut(256 << 10, 4), (4, 64 << 10));
        assert_eq!(cut(64 << 10, 4), (1, 64 << 10));
        assert_eq!(cut(65_537, 1), (1, 65_537));
        assert_eq!(cut(384 * 171, 384), (1, 384 * 171), "an element would be cut");
        assert_eq!(cut(384 * 342, 384), (2, 384 * 171));
    }
}
