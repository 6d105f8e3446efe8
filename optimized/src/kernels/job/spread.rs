//! A job whose output is not row-major without gaps: one that is spread over a larger array, transposed, or backwards. Where
//! many rows in a row have no gaps, the job runs as any other on each such run. Else rows are moved one by one from their
//! checked offsets to their own places. Nothing else in memory is touched, not even the gaps.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::Job;
use crate::geometry::Geometry;
use crate::index::Locate;
use crate::kernels::check::{BLOCK, BadIndexFound, Block, evenly};
use crate::kernels::cursor::Cursor;
use crate::kernels::places::Places;
use crate::kernels::strided::Strided;
use crate::levels::bodies::CheckedRows;
use crate::policy::Bad;
use crate::shapes::Shapes;

/// One call on real arrays, whose output has any layout.
pub struct SpreadJob<'p, 'o, I> {
    job: Job<'p, 'o, I>,
    /// The rows of the job as they lie in the output: what a row axis says of params is said of the output here.
    places: Geometry,
    /// Whether each run without gaps is worth a job of its own.
    by_runs: bool,
}

/// This many rows without a gap are worth the start of a kernel, with the rows that are not prefetched at its
/// start.
const LONG_RUN: usize = 256;

impl<'p, 'o, I: Locate> SpreadJob<'p, 'o, I> {
    /// The job of gathering into `output`; `room` keeps its geometry.
    ///
    /// # Panics
    /// If params or the output are empty, or the operands or the output do not have these shapes.
    pub(crate) fn new<A: Copy + Send + Sync>(
        room: &'p mut Geometry,
        shapes: Shapes<'p>,
        (params, indices): (Strided<'p, A>, Strided<'p, I>),
        output: &Places<'o, A>,
        fill: &'p A,
    ) -> Self {
        assert!(!params.is_empty() && !shapes.is_empty() && shapes.fit(params.shape(), indices.shape()));
        assert!(shapes.is_output(output.shape()));
        room.set(shapes, params.strides(), indices.strides(), size_of::<A>());
        // Both are whole elements, and so is what divides both: a row has no gap in params nor in the output.
        room.cut_rows(greatest_common_divisor(room.row_bytes, output.run_bytes()));
        let places = output.rows(room.row_bytes);
        assert!(places.row_count == room.row_count);
        let mut job = Job::on(room, shapes, (params, indices), output.first().cast(), fill);
        let by_runs = places
            .rows
            .last()
            .filter(|inner| inner.len >= LONG_RUN && inner.params == places.row_bytes.cast_signed());
        // Slices whose elements lie apart have an order of their own only where parts are whole slices.
        job.scattered =
            job.scattered.filter(|slice| by_runs.is_some_and(|run| run.len.is_multiple_of(slice.len)));
        // A piece of each stretch is picked before the next only from runs of several stretches.
        job.along = job.along.filter(|along| {
            let stretch = along.whole_stretches();
            stretch.is_none_or(|stretch| {
                by_runs.is_some_and(|run| run.len.is_multiple_of(stretch) && run.len > stretch)
            })
        });
        let by_runs = by_runs.is_some();
        if let Some(pick) = job.pick.as_mut().filter(|_| by_runs) {
            // Each run would wait for its own stores.
            pick.stream = false;
        }
        Self { job, places, by_runs }
    }

    /// How long the job takes on one thread, roughly.
    pub(crate) fn nanoseconds(&self) -> usize {
        self.job.nanoseconds()
    }

    /// Sets parts for this many workers.
    pub(crate) fn split(&mut self, workers: usize) {
        self.job.split(workers);
    }

    /// Takes parts and runs them until none is left, or some thread found a bad index.
    pub(crate) fn work(&self) {
        // SAFETY: the job gives each row to one caller only.
        self.job.each_part(|rows| unsafe { self.run(rows) });
    }

    /// Whether the whole output has been written, all indices being good.
    ///
    /// # Errors
    /// [`BadIndexFound`] if some index was bad.
    pub(crate) fn finish(self) -> Result<(), BadIndexFound> {
        self.job.finish().map(drop)
    }

    /// # Safety
    /// Nothing else may write these rows meanwhile.
    unsafe fn run(&self, rows: Range<usize>) -> Result<(), BadIndexFound> {
        // SAFETY: the caller's promise.
        unsafe { if self.by_runs { self.run_runs(rows) } else { self.run_rows(rows) } }
    }

    /// # Safety
    /// As `run`; rows along the innermost axis of the output must have no gaps.
    unsafe fn run_runs(&self, rows: Range<usize>) -> Result<(), BadIndexFound> {
        let mut cursor = Cursor::new(&self.places, rows.start);
        let mut start = rows.start;
        while start < rows.end {
            let run = cursor.take(rows.end - start);
            let end = start + run.len;
            // SAFETY: the run is some of these rows, which follow one another from there and are ours.
            unsafe { self.job.run_to(start..end, self.output(run.params, run.len))? };
            start = end;
        }
        Ok(())
    }

    /// # Safety
    /// As `run`.
    unsafe fn run_rows(&self, rows: Range<usize>) -> Result<(), BadIndexFound> {
        let mut left = rows.len();
        let mut from = Cursor::new(self.job.geometry, rows.start);
        let mut to = Cursor::new(&self.places, rows.start);
        let (mut block, mut room) = (Block::new(), [MaybeUninit::uninit(); BLOCK]);
        while left > 0 {
            // SAFETY: the geometry is that of these arrays, and `left` rows are left.
            let checked = unsafe { block.check(self.job.indices(self.job.geometry), &mut from, left)? };
            let places = next_places(&mut to, &mut room[..checked.offsets().len()]);
            let (params, row_bytes) = (self.job.params, self.places.row_bytes);
            // SAFETY: each offset was checked for rows of the geometry in params, each place is that of the same row in the
            // output, and these rows are ours.
            unsafe {
                let rows = CheckedRows::new(params, checked.offsets(), row_bytes, self.job.prefetch);
                self.job.level.spread_rows(rows, self.job.output, places);
                if self.job.policies.bad == Bad::Fill {
                    checked.bad_rows().for_each(|row| self.job.fill_row(self.output(places[row], 1)));
                }
            }
            left -= places.len();
        }
        Ok(())
    }

    /// The output of rows that follow one another without gaps from there.
    ///
    /// # Safety
    /// The caller must have exclusive access to it.
    unsafe fn output(&self, place: isize, rows: usize) -> &'o mut [MaybeUninit<u8>] {
        // SAFETY: the rows are places of the output, and the caller promises exclusive access to them.
        unsafe {
            let start = self.job.output.offset(place).cast();
            std::slice::from_raw_parts_mut(start, rows * self.places.row_bytes)
        }
    }
}

/// The places of the next rows of the cursor, as many as there is room for.
fn next_places<'a>(cursor: &mut Cursor<'_>, room: &'a mut [MaybeUninit<isize>]) -> &'a [isize] {
    let mut done = 0;
    while done < room.len() {
        let segment = cursor.take(room.len() - done);
        evenly(&mut room[done..done + segment.len], segment.params, segment.axis.params);
        done += segment.len;
    }
    // SAFETY: segments have filled all of the room.
    unsafe { room.assume_init_ref() }
}

fn greatest_common_divisor(one: usize, other: usize) -> usize {
    let (mut large, mut small) = (one, other);
    while small > 0 {
        (large, small) = (small, large % small);
    }
    large
}
