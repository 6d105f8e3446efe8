//! Floors: the same rows or elements as in a gather, in the same order, moved by the best plain loop of safe Rust.
//!
//! A floor does not validate indices. Safe Rust cannot index a slice without a comparison, so each loop has one per
//! row, but no other check. Short row lengths have loops compiled for them; longer rows are one `memcpy` each. For rows of
//! at least 128 bytes there is a second floor: gather-optimized's own stores past the caches, with positions validated
//! beforehand.

use gather_optimized::PlacedRows;

use crate::geometry::{WorkloadGeometry, offsets};
use crate::threads::share;

/// An index type. Workloads have no negative indices.
pub trait FloorIndex: Copy + Send + Sync {
    /// The index as a position. A negative index would wrap around.
    fn position(self) -> usize;
}

macro_rules! places {
    ($($type:ty)+) => {$(
        impl FloorIndex for $type {
            #[allow(
                clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_lossless,
                reason = "no index is negative, and no axis longer than a usize"
            )]
            fn position(self) -> usize {
                self as usize
            }
        }
    )+};
}

places!(i8 i16 i32 i64 u8 u16 u32 u64);

/// The positions of a workload's rows. All distances are in units of the storage: bytes, or strings.
#[derive(Clone, Debug)]
pub struct Floor {
    /// The number of index rows per batch.
    rows: usize,
    /// How many times in a row each batch of index rows is used.
    mids: usize,
    /// For each use of a batch, the offset in params for a multi-index of zeros.
    bases: Vec<usize>,
    /// The strides of the gathered axes. Negative strides wrap around.
    strides: Vec<usize>,
    /// The number of index values per row.
    indices_per_row: usize,
    /// Whether each element of a slice has its own index.
    each: bool,
    /// The length in units of the slice that an index row selects.
    row_len: usize,
    /// The distances of the slice's elements from its first one; `None` if they are contiguous and share an index.
    scattered: Option<Vec<usize>>,
    /// Units per element.
    element: usize,
}

impl Floor {
    /// The floor of a loop nest over params that start `offset` elements into their storage. An element has `element` units
    /// of the storage.
    #[must_use]
    pub fn new(geometry: &WorkloadGeometry, strides: &[isize], offset: usize, element: usize) -> Self {
        let strides: Vec<isize> = strides.iter().map(|stride| stride * element.cast_signed()).collect();
        let [batch, mid, indexed, inner] = geometry.split(&strides);
        let outer = [batch, mid].concat();
        let outer_dims = [&*geometry.batch, &*geometry.mid].concat();
        let bases = offsets(&outer_dims, &outer).iter().map(|at| at.wrapping_add(offset * element)).collect();
        let inner = offsets(&geometry.inner, inner);
        let side_by_side = inner.iter().enumerate().all(|(at, distance)| *distance == at * element);
        Self {
            rows: geometry.rows,
            mids: geometry.mids(),
            bases,
            strides: indexed.iter().map(|stride| stride.cast_unsigned()).collect(),
            row_len: geometry.row_len() * element,
            indices_per_row: geometry.indices_per_row(),
            each: geometry.each,
            scattered: (geometry.each || !side_by_side).then_some(inner),
            element,
        }
    }

    /// Moves elements as bytes. Indices are contiguous.
    ///
    /// # Panics
    /// If an index is so far out of range that it leaves the storage, or the lengths do not fit the shapes.
    pub fn copy<I: FloorIndex>(&self, params: &[u8], indices: &[I], output: &mut [u8], threads: usize) {
        share(output, self.row_len, threads, |first, part| {
            self.segments(first, indices, part, |base, rows, out| self.copy_rows(params, base, rows, out));
        });
    }

    /// The rows with their positions, if they are long enough for stores past the caches. Indices are contiguous.
    pub fn placed<'p, I: FloorIndex>(&self, params: &'p [u8], indices: &[I]) -> Option<PlacedRows<'p>> {
        if self.scattered.is_some() || self.row_len < PlacedRows::SHORTEST_STREAMED {
            return None;
        }
        let batches = indices.chunks_exact(self.rows * self.strides.len());
        let uses = batches.flat_map(|batch| std::iter::repeat_n(batch, self.mids)).zip(&self.bases);
        let rows = uses.flat_map(|(batch, base)| {
            let rows = batch.chunks_exact(self.strides.len());
            rows.map(|row| base.wrapping_add(self.distance(row)))
        });
        PlacedRows::new(params, rows.collect(), self.row_len)
    }

    /// Like [`Floor::copy`], with stores past the caches.
    ///
    /// # Panics
    /// If the rows are not from this floor, or the output has another length.
    pub fn copy_past_caches(&self, rows: &PlacedRows<'_>, output: &mut [u8], threads: usize) {
        share(output, self.row_len, threads, |first, part| rows.copy(first, part, true));
    }

    /// Copies as many bytes as the output has from params, in order, from the start again at their end.
    ///
    /// # Panics
    /// If there are no params.
    pub fn copy_in_order(&self, params: &[u8], output: &mut [u8], threads: usize) {
        share(output, self.row_len, threads, |first, mut part| {
            let mut at = first * self.row_len % params.len();
            while !part.is_empty() {
                let len = part.len().min(params.len() - at);
                part.split_off_mut(..len).expect("no longer").copy_from_slice(&params[at..at + len]);
                at = 0;
            }
        });
    }

    /// Clones elements one by one on one thread. Indices are contiguous.
    ///
    /// # Panics
    /// As [`Floor::copy`].
    pub fn clone_elements<T: Clone, I: FloorIndex>(&self, params: &[T], indices: &[I], output: &mut [T]) {
        self.segments(0, indices, output, |base, rows, out| {
            let (rows, outs) = (rows.chunks_exact(self.indices_per_row), out.chunks_exact_mut(self.row_len));
            for (row, out) in rows.zip(outs) {
                let at = base.wrapping_add(self.distance(row));
                match &self.scattered {
                    Some(inner) if self.each => {
                        let own = row.iter().map(|index| base.wrapping_add(self.distance(&[*index])));
                        let places =
                            own.zip(inner).map(|(own, distance)| &params[own.wrapping_add(*distance)]);
                        out.iter_mut().zip(places).for_each(|(out, element)| out.clone_from(element));
                    }
                    None => out.clone_from_slice(&params[at..][..out.len()]),
                    Some(inner) => {
                        let places = inner.iter().map(|distance| &params[at.wrapping_add(*distance)]);
                        out.iter_mut().zip(places).for_each(|(out, element)| out.clone_from(element));
                    }
                }
            }
        });
    }

    /// Splits a part of the output, which starts at row `first`, where a batch of index rows starts again.
    fn segments<T, I>(
        &self,
        mut first: usize,
        indices: &[I],
        mut part: &mut [T],
        mut each: impl FnMut(usize, &[I], &mut [T]),
    ) {
        let depth = self.indices_per_row;
        while !part.is_empty() {
            let (segment, row) = (first / self.rows, first % self.rows);
            let take = (self.rows - row).min(part.len() / self.row_len);
            let (out, rest) = part.split_at_mut(take * self.row_len);
            let start = segment / self.mids * self.rows + row;
            each(self.bases[segment], &indices[start * depth..][..take * depth], out);
            part = rest;
            first += take;
        }
    }

    fn distance<I: FloorIndex>(&self, row: &[I]) -> usize {
        let steps =
            row.iter().zip(&self.strides).map(|(index, stride)| index.position().wrapping_mul(*stride));
        steps.fold(0, usize::wrapping_add)
    }

    fn copy_rows<I: FloorIndex>(&self, params: &[u8], base: usize, rows: &[I], out: &mut [u8]) {
        if self.scattered.is_some() {
            return self.copy_scattered(params, base, rows, out);
        }
        macro_rules! by_width {
            ($($width:literal)+) => {
                match self.row_len {
                    $($width if self.is_grid(base, $width) => {
                        self.copy_grid::<$width, I>(params.as_chunks().0, base / $width, rows, out.as_chunks_mut().0);
                    })+
                    _ => self.copy_long(params, base, rows, out),
                }
            };
        }
        by_width!(1 2 4 8 16 32 64 128 256);
    }

    /// Whether every row starts at a multiple of `width` in the storage.
    fn is_grid(&self, base: usize, width: usize) -> bool {
        base.is_multiple_of(width)
            && self.strides.iter().all(|stride| stride.cast_signed() % width.cast_signed() == 0)
    }

    fn copy_grid<const W: usize, I: FloorIndex>(
        &self,
        params: &[[u8; W]],
        base: usize,
        rows: &[I],
        out: &mut [[u8; W]],
    ) {
        let stride = |c: usize| (self.strides[c].cast_signed() / W.cast_signed()).cast_unsigned();
        match self.strides.len() {
            1 if stride(0) == 1 => pick::<W, 1, I>(params, rows, out, |[i]| base.wrapping_add(i)),
            1 => dot(params, base, [stride(0)], rows, out),
            2 => dot(params, base, [stride(0), stride(1)], rows, out),
            3 => dot(params, base, [stride(0), stride(1), stride(2)], rows, out),
            _ => self.copy_long(params.as_flattened(), base * W, rows, out.as_flattened_mut()),
        }
    }

    fn copy_long<I: FloorIndex>(&self, params: &[u8], base: usize, rows: &[I], out: &mut [u8]) {
        let rows = rows.chunks_exact(self.strides.len());
        for (row, out) in rows.zip(out.chunks_exact_mut(self.row_len)) {
            let at = base.wrapping_add(self.distance(row));
            out.copy_from_slice(&params[at..][..out.len()]);
        }
    }

    fn copy_scattered<I: FloorIndex>(&self, params: &[u8], base: usize, rows: &[I], out: &mut [u8]) {
        match self.element {
            1 => self.scatter::<1, I>(params, base, rows, out),
            2 => self.scatter::<2, I>(params, base, rows, out),
            4 => self.scatter::<4, I>(params, base, rows, out),
            8 => self.scatter::<8, I>(params, base, rows, out),
            _ => self.scatter::<16, I>(params, base, rows, out),
        }
    }

    fn scatter<const E: usize, I: FloorIndex>(&self, params: &[u8], base: usize, rows: &[I], out: &mut [u8]) {
        let params = params.as_chunks::<E>().0;
        let inner = self.scattered.as_deref().unwrap_or_default();
        let outs = out.as_chunks_mut::<E>().0.chunks_exact_mut(inner.len());
        if self.each {
            let stride = self.strides[0];
            for (row, out) in rows.chunks_exact(inner.len()).zip(outs) {
                for ((out, distance), index) in out.iter_mut().zip(inner).zip(row) {
                    let own = base.wrapping_add(index.position().wrapping_mul(stride));
                    *out = params[own.wrapping_add(*distance) / E];
                }
            }
            return;
        }
        for (row, out) in rows.chunks_exact(self.strides.len()).zip(outs) {
            let at = base.wrapping_add(self.distance(row));
            for (out, distance) in out.iter_mut().zip(inner) {
                *out = params[at.wrapping_add(*distance) / E];
            }
        }
    }
}

/// Copies rows whose position is the dot product of index row and strides.
fn dot<const W: usize, const K: usize, I: FloorIndex>(
    params: &[[u8; W]],
    base: usize,
    strides: [usize; K],
    rows: &[I],
    out: &mut [[u8; W]],
) {
    pick::<W, K, I>(params, rows, out, |row| {
        let steps = row.iter().zip(&strides).map(|(at, stride)| at.wrapping_mul(*stride));
        steps.fold(base, usize::wrapping_add)
    });
}

#[inline(always)]
fn pick<const W: usize, const K: usize, I: FloorIndex>(
    params: &[[u8; W]],
    rows: &[I],
    out: &mut [[u8; W]],
    at: impl Fn([usize; K]) -> usize,
) {
    for (row, out) in rows.as_chunks::<K>().0.iter().zip(out) {
        *out = params[at(row.map(I::position))];
    }
}
