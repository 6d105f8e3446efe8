//! A job: one planned call on real arrays, whose parts any number of threads take and run.

mod picked;
mod repeated;
mod scattered;
mod spread;

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::check::{BLOCK, BadIndexFound, Block, CheckedIndices, Indices};
use super::cursor::Cursor;
use super::moves::{self, MOST_AT_ONCE, is_one_move};
use super::pick::Pick;
use super::planes::Along;
use super::strided::Strided;
use crate::geometry::{Geometry, RowAxis};
use crate::index::Locate;
use crate::levels::Proof;
use crate::levels::bodies::CheckedRows;
use crate::policy::{Bad, Policies};
use crate::shapes::{Execution, Shapes};

pub(crate) use spread::SpreadJob;

/// One call on real arrays. Each part of the output belongs to the thread that took it, so all methods are
/// safe.
pub struct Job<'p, 'o, I> {
    geometry: &'p Geometry,
    /// The element of params at the multi-index of zeros.
    params: *const u8,
    indices: *const I,
    output: *mut u8,
    /// One element, for rows with a bad index.
    fill: &'p [MaybeUninit<u8>],
    /// The same, as often as a row that is moved at once may have it.
    bad_row: [MaybeUninit<u8>; MOST_AT_ONCE],
    policies: Policies,
    level: Proof,
    prefetch: bool,
    stream: bool,
    pick: Option<Pick>,
    /// Another, for calls of form elements.
    along: Option<Along>,
    /// The axis of a slice whose elements lie apart, if it is worth an order of its own; parts are whole slices then.
    scattered: Option<RowAxis>,
    /// Whether slices share their indices, which are then checked once.
    repeats: bool,
    part_rows: usize,
    /// The first row that no thread has taken.
    next: AtomicUsize,
    failed: AtomicBool,
    arrays: PhantomData<(&'p [u8], &'o mut [MaybeUninit<u8>])>,
}

// SAFETY: params, indices and the fill are only read, and `Job::new` asks for types that may be read from several
// threads; parts of the output are disjoint, since `next` hands out each row once, and its elements may be sent.
unsafe impl<I: Sync> Sync for Job<'_, '_, I> {}

/// What one thread does in a nanosecond with params that stay in its cache. Measured on servers of AMD and Intel, which
/// differ by less than two times.
const INDICES_PER_NS: usize = 2;
const BYTES_PER_NS: usize = 32;
/// Likewise, where each row is a miss.
const NS_PER_ROW_FROM_MEMORY: usize = 8;
const BYTES_PER_NS_FROM_MEMORY: usize = 8;

/// Parts per worker: enough that a thread which was held up leaves its share to the others.
const PARTS_PER_WORKER: usize = 4;

/// Params larger than this do not stay in a core's own cache, so rows are prefetched.
const CACHED_PARAMS: usize = 1 << 20;

impl<'p, 'o, I: Locate> Job<'p, 'o, I> {
    /// The job of gathering into `output`; `room` keeps its geometry.
    ///
    /// # Panics
    /// If params or the output are empty, the operands do not have these shapes, or the output is not as long as they say.
    #[inline(always)] // So that the job is made in its place.
    pub(crate) fn new<A: Copy + Send + Sync>(
        room: &'p mut Geometry,
        shapes: Shapes<'p>,
        (params, indices): (Strided<'p, A>, Strided<'p, I>),
        output: &'o mut [MaybeUninit<A>],
        fill: &'p A,
    ) -> Self {
        assert!(!params.is_empty() && !output.is_empty() && shapes.fit(params.shape(), indices.shape()));
        room.set(shapes, params.strides(), indices.strides(), size_of::<A>());
        assert!(room.output_bytes() == size_of_val(output));
        Self::on(room, shapes, (params, indices), output.as_mut_ptr().cast(), fill)
    }

    /// The job of this geometry, which must be that of these operands with rows cut at most, into an output that starts there.
    #[inline(always)] // So that the job is made in its place.
    fn on<A: Copy + Send + Sync>(
        geometry: &'p Geometry,
        shapes: Shapes<'p>,
        (params, indices): (Strided<'p, A>, Strided<'p, I>),
        output: *mut u8,
        fill: &'p A,
    ) -> Self {
        let Execution { policies, level, .. } = shapes.execution;
        let prefetch = params.len().saturating_mul(size_of::<A>()) > CACHED_PARAMS;
        Self {
            params: params.first().cast(),
            indices: indices.first(),
            output,
            fill: bytes_of(fill),
            bad_row: if policies.bad == Bad::Fill {
                repeated(bytes_of(fill))
            } else {
                [MaybeUninit::uninit(); _]
            },
            policies,
            level,
            prefetch,
            stream: moves::streams(geometry.output_bytes(), geometry.row_bytes),
            pick: Pick::of::<I>(geometry, policies),
            along: Along::of(geometry, policies, level, prefetch),
            scattered: geometry.scattered().filter(|_| is_one_move(geometry.row_bytes)),
            repeats: geometry.repeats(BLOCK),
            part_rows: geometry.row_count,
            next: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
            geometry,
            arrays: PhantomData,
        }
    }

    /// How long the job takes on one thread, roughly: what decides how many threads pay.
    #[inline]
    pub(crate) fn nanoseconds(&self) -> usize {
        let (rows, bytes) = (self.geometry.row_count, self.geometry.output_bytes());
        if self.prefetch {
            rows.saturating_mul(NS_PER_ROW_FROM_MEMORY).saturating_add(bytes / BYTES_PER_NS_FROM_MEMORY)
        } else {
            let indices = rows.saturating_mul(self.geometry.components.len().max(1));
            (indices / INDICES_PER_NS).saturating_add(bytes / BYTES_PER_NS)
        }
    }

    /// Sets parts of equal size for this many workers, in whole blocks where there are enough. If the
    /// elements of a slice lie apart, or each stretch picks one piece before the next, each worker gets one part, because a line
    /// that two slices or stretches share is read once per part.
    pub(crate) fn split(&mut self, workers: usize) {
        let rows = self.geometry.row_count;
        let part = rows.div_ceil(workers * PARTS_PER_WORKER);
        let whole = self.scattered.map(|axis| axis.len).or(self.along.and_then(Along::whole_stretches));
        self.part_rows = match whole {
            Some(len) => rows.div_ceil(workers).next_multiple_of(len),
            None if part > 4 * BLOCK => part.next_multiple_of(BLOCK),
            None => part,
        };
    }

    /// Runs the job as one part, without the counters that parts are shared by.
    ///
    /// # Errors
    /// [`BadIndexFound`] if some index was bad.
    #[inline]
    pub(crate) fn work_alone(&mut self) -> Result<Written<'o>, BadIndexFound> {
        // SAFETY: nothing else has the job, so nothing else writes any of its rows.
        unsafe { self.run(0..self.geometry.row_count)? };
        Ok(Written(PhantomData))
    }

    /// Takes parts and runs them until none is left, or some thread found a bad index.
    pub(crate) fn work(&self) {
        // SAFETY: each row is given to one caller only.
        self.each_part(|rows| unsafe { self.run(rows) });
    }

    /// Hands out parts until none is left, or some thread found a bad index. No two callers are given the
    /// same row.
    fn each_part(&self, run: impl Fn(Range<usize>) -> Result<(), BadIndexFound>) {
        while let Some(rows) = self.take() {
            if run(rows).is_err() {
                self.failed.store(true, Ordering::Relaxed);
            }
        }
    }

    fn take(&self) -> Option<Range<usize>> {
        if self.failed.load(Ordering::Relaxed) {
            return None;
        }
        let rows = self.geometry.row_count;
        // The counter cannot overflow: it passes `rows` at most once per thread, by one part each.
        let start = self.next.fetch_add(self.part_rows, Ordering::Relaxed);
        (start < rows).then(|| start..rows.min(start.saturating_add(self.part_rows)))
    }

    /// Whether the whole output has been written, all indices being good.
    ///
    /// # Errors
    /// [`BadIndexFound`] if some index was bad.
    pub(crate) fn finish(self) -> Result<Written<'o>, BadIndexFound> {
        let complete = self.next.load(Ordering::Relaxed) >= self.geometry.row_count;
        if self.failed.load(Ordering::Relaxed) || !complete {
            return Err(BadIndexFound);
        }
        Ok(Written(PhantomData))
    }

    /// # Safety
    /// Nothing else may write these rows meanwhile.
    #[inline]
    unsafe fn run(&self, rows: Range<usize>) -> Result<(), BadIndexFound> {
        // SAFETY: these rows are ours.
        unsafe { self.run_to(rows.clone(), self.output(&rows)) }
    }

    /// Runs these rows into an output of their own.
    ///
    /// # Safety
    /// `output` must be as long as the rows, which must be whole slices if slices have an order of their own.
    #[inline]
    unsafe fn run_to(
        &self,
        rows: Range<usize>,
        mut output: &mut [MaybeUninit<u8>],
    ) -> Result<(), BadIndexFound> {
        let row_bytes = self.geometry.row_bytes;
        let mut cursor = Cursor::new(self.geometry, rows.start);
        let mut left = rows.len();
        if let Some(along) = self.along {
            // SAFETY: the output is that of `left` rows from here on.
            return unsafe { self.pick_planes(along, cursor, left, output.as_mut_ptr().cast()) };
        }
        if let Some(pick) = self.pick {
            // SAFETY: the output is that of `left` rows from here on.
            return unsafe { self.pick(pick, cursor, left, output.as_mut_ptr().cast()) };
        }
        if let Some(axis) = self.scattered {
            // SAFETY: the output is that of these rows, and parts are whole slices.
            return unsafe { self.run_scattered(axis, rows, output) };
        }
        if self.repeats {
            // SAFETY: the output is that of `left` rows from here on.
            return unsafe { self.run_repeated(cursor, left, output) };
        }
        let mut block = Block::new();
        let indices = self.indices(self.geometry);
        while left > 0 {
            // SAFETY: the geometry is that of these arrays, and `left` rows are left.
            let checked = unsafe { block.check(indices, &mut cursor, left)? };
            let done = checked.offsets().len();
            let block_of_output = output.split_off_mut(..done * row_bytes).unwrap_or_default();
            // SAFETY: the indices are checked for the geometry of this job, from the start of params.
            unsafe { self.move_rows_from(self.params, checked, block_of_output) };
            left -= done;
        }
        Ok(())
    }

    /// The output of these rows.
    ///
    /// # Safety
    /// The caller must have exclusive access to it.
    #[inline]
    unsafe fn output(&self, rows: &Range<usize>) -> &'o mut [MaybeUninit<u8>] {
        let row_bytes = self.geometry.row_bytes;
        // SAFETY: `new` made sure that the output has room for all rows of the geometry, and the caller has
        // exclusive access to these.
        unsafe {
            let start = self.output.add(rows.start * row_bytes);
            std::slice::from_raw_parts_mut(start.cast(), rows.len() * row_bytes)
        }
    }

    const fn indices<'g>(&self, geometry: &'g Geometry) -> Indices<'g, I> {
        Indices { first: self.indices, geometry, policies: self.policies, level: self.level }
    }

    /// The replacement for a row with a bad index, if that is no error and rows are moved at once.
    fn in_place_of_bad(&self) -> Option<*const u8> {
        (self.policies.bad == Bad::Fill).then_some(self.bad_row.as_ptr().cast())
    }

    /// # Safety
    /// The indices must be checked for the geometry of this job, and their offsets count from `base`.
    #[inline]
    unsafe fn move_rows_from(
        &self,
        base: *const u8,
        checked: CheckedIndices<'_>,
        output: &mut [MaybeUninit<u8>],
    ) {
        let row_bytes = self.geometry.row_bytes;
        // SAFETY: checked indices are the starts of rows of the geometry, which are that many bytes of params.
        let rows = unsafe { CheckedRows::new(base, checked.offsets(), row_bytes, self.prefetch) };
        moves::move_rows(self.level, rows, output, self.stream);
        self.fill_bad(checked, output, row_bytes);
    }

    /// Fills the rows with a bad index, of `row_bytes` bytes each, where that is the policy.
    #[inline]
    fn fill_bad(&self, checked: CheckedIndices<'_>, output: &mut [MaybeUninit<u8>], row_bytes: usize) {
        if self.policies.bad == Bad::Fill {
            for row in checked.bad_rows() {
                self.fill_row(&mut output[row * row_bytes..][..row_bytes]);
            }
        }
    }

    /// Writes the replacement for a row with a bad index.
    #[inline]
    fn fill_row(&self, row: &mut [MaybeUninit<u8>]) {
        row.chunks_exact_mut(self.fill.len()).for_each(|element| element.copy_from_slice(self.fill));
    }
}

/// The bytes of an element, padding included.
const fn bytes_of<A: Copy>(element: &A) -> &[MaybeUninit<u8>] {
    // SAFETY: any bytes are `MaybeUninit<u8>`s, and the element has that many.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(element).cast(), size_of::<A>()) }
}

/// An element again and again, as far as it fits.
fn repeated(element: &[MaybeUninit<u8>]) -> [MaybeUninit<u8>; MOST_AT_ONCE] {
    let mut row = [MaybeUninit::zeroed(); MOST_AT_ONCE];
    for place in row.chunks_exact_mut(element.len()) {
        place.copy_from_slice(element);
    }
    row
}

/// Proof that every element of a job's output has been written.
pub struct Written<'a>(PhantomData<&'a mut [MaybeUninit<u8>]>);

impl<'o> Written<'o> {
    /// For kernels that have written all of an output without a job.
    pub(super) const fn all() -> Self {
        Self(PhantomData)
    }

    /// Writes new elements everywhere. Those before one that panics are leaked.
    pub(crate) fn filled_with<A>(output: &'o mut [MaybeUninit<A>], element: impl Fn() -> A) -> Self {
        output.iter_mut().for_each(|place| _ = place.write(element()));
        Self(PhantomData)
    }

    /// Writes the same element everywhere.
    pub(crate) fn filled<A: Copy>(output: &'o mut [MaybeUninit<A>], element: A) -> Self {
        output.fill(MaybeUninit::new(element));
        Self(PhantomData)
    }
}
