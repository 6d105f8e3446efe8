//! Elements that are cloned rather than moved, such as strings: parts of the output, which any number of threads take.
//!
//! A clone may panic, and an element of a new output must be dropped if the call fails. So the thread that
//! clones a part owns it ([`Cloned`]) until the whole output is there. A panic is passed on to the caller,
//! because a panic in a thread of the pool would end the program.

use std::any::Any;
use std::mem::{MaybeUninit, forget};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::check::{BadIndexFound, Block, Indices};
use super::compiled::Index;
use super::cursor::Cursor;
use super::job::Written;
use super::strided::Strided;
use super::workers;
use crate::geometry::Geometry;
use crate::levels::bodies::{prefetch_lines, prefetch_pointees};
use crate::policy::Bad;
use crate::shapes::{Execution, Shapes};

/// One call that clones. Each part of the output belongs to the thread that took it.
pub(crate) struct Cloning<'a, A, I> {
    params: Strided<'a, A>,
    indices: Indices<'a, I>,
    /// What elements with a bad index are, if not the default value of their type.
    fill: Option<&'a A>,
    output: *mut A,
    part_rows: usize,
    /// The first row that no thread has taken.
    next: AtomicUsize,
    failed: AtomicBool,
    /// Parts of a new output that are done.
    done: Mutex<Vec<Cloned<A>>>,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: params, indices and the fill are only read, by references that `Sync` allows; parts of the output are disjoint, since
// `next` hands out each row once, and their elements may be sent.
unsafe impl<A: Send + Sync, I: Sync> Sync for Cloning<'_, A, I> {}

/// Elements of a new output, which are dropped unless all of it is there.
struct Cloned<A> {
    start: *mut A,
    len: usize,
}

// SAFETY: it owns its elements.
unsafe impl<A: Send> Send for Cloned<A> {}

impl<A> Drop for Cloned<A> {
    fn drop(&mut self) {
        // SAFETY: this many elements have been written there, and nothing else owns them.
        unsafe { std::ptr::slice_from_raw_parts_mut(self.start, self.len).drop_in_place() };
    }
}

/// Parts per worker: enough that a thread which was held up leaves its share to the others.
const PARTS_PER_WORKER: usize = 4;

/// Elements between a request and its use: for what an element owns, and twice as many for the element.
const AHEAD: usize = 16;

/// Clones into new memory, on this many threads.
///
/// # Errors
/// [`BadIndexFound`] if a bad index is an error; then no element is left.
pub(crate) fn clone_new<'o, A: Clone + Default + Send + Sync, I: Index>(
    shapes: Shapes<'_>,
    operands: (Strided<'_, A>, Strided<'_, I>),
    output: &'o mut [MaybeUninit<A>],
    fill: Option<&A>,
    workers: usize,
) -> Result<Written<'o>, BadIndexFound> {
    let (start, len) = (output.as_mut_ptr().cast(), output.len());
    // SAFETY: the output has room for this many elements, which this borrows mutably.
    unsafe { clone_all::<A, I, true>(shapes, operands, (start, len), fill, workers)? };
    Ok(Written::all())
}

/// Clones over existing elements, on this many threads.
///
/// # Errors
/// [`BadIndexFound`] if a bad index is an error; elements may have been overwritten before.
pub(crate) fn clone_over<A: Clone + Default + Send + Sync, I: Index>(
    shapes: Shapes<'_>,
    operands: (Strided<'_, A>, Strided<'_, I>),
    output: &mut [A],
    fill: Option<&A>,
    workers: usize,
) -> Result<(), BadIndexFound> {
    // SAFETY: these are this many elements, which this borrows mutably.
    unsafe { clone_all::<A, I, false>(shapes, operands, (output.as_mut_ptr(), output.len()), fill, workers) }
}

/// # Safety
/// The output must be that many elements, or with `NEW` room for them, with exclusive access.
///
/// # Panics
/// If params or the output are empty, or the operands or the output do not have these shapes.
unsafe fn clone_all<A: Clone + Default + Send + Sync, I: Index, const NEW: bool>(
    shapes: Shapes<'_>,
    (params, indices): (Strided<'_, A>, Strided<'_, I>),
    (output, len): (*mut A, usize),
    fill: Option<&A>,
    workers: usize,
) -> Result<(), BadIndexFound> {
    assert!(!params.is_empty() && !shapes.is_empty() && shapes.fit(params.shape(), indices.shape()));
    let mut geometry = Geometry::room();
    geometry.set(shapes, params.strides(), indices.strides(), size_of::<A>());
    assert!(geometry.output_bytes() / size_of::<A>() == len);
    let Execution { policies, level, .. } = shapes.execution;
    let rows = geometry.row_count;
    let cloning = Cloning {
        params,
        indices: Indices { first: indices.first(), geometry: &geometry, policies, level },
        fill,
        output,
        part_rows: rows.div_ceil(workers.max(1) * PARTS_PER_WORKER),
        next: AtomicUsize::new(0),
        failed: AtomicBool::new(false),
        done: Mutex::default(),
        panic: Mutex::default(),
    };
    if workers <= 1 {
        // SAFETY: no other thread takes rows.
        forget(unsafe { cloning.run::<NEW>(0..rows)? });
        return Ok(());
    }
    workers::share(workers, &|| cloning.work::<NEW>());
    cloning.finish()
}

impl<A: Clone + Default + Send + Sync, I: Index> Cloning<'_, A, I> {
    /// Takes parts and runs them until none is left, or one has failed.
    fn work<const NEW: bool>(&self) {
        while let Some(rows) = self.take() {
            // SAFETY: `take` gives each row to one caller only.
            let run = || unsafe { self.run::<NEW>(rows) };
            match catch_unwind(AssertUnwindSafe(run)) {
                Ok(Ok(part)) => self.done.lock().unwrap_or_else(PoisonError::into_inner).push(part),
                Ok(Err(BadIndexFound)) => self.failed.store(true, Ordering::Relaxed),
                Err(panic) => {
                    self.failed.store(true, Ordering::Relaxed);
                    *self.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
                }
            }
        }
    }

    fn take(&self) -> Option<Range<usize>> {
        if self.failed.load(Ordering::Relaxed) {
            return None;
        }
        let rows = self.indices.geometry.row_count;
        // The counter cannot overflow: it passes `rows` at most once per thread, by one part each.
        let start = self.next.fetch_add(self.part_rows, Ordering::Relaxed);
        (start < rows).then(|| start..rows.min(start.saturating_add(self.part_rows)))
    }

    /// Leaves the output to the caller if all of it has been written; else what was written is dropped.
    fn finish(self) -> Result<(), BadIndexFound> {
        let done = self.done.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(panic) = self.panic.into_inner().unwrap_or_else(PoisonError::into_inner) {
            drop(done);
            resume_unwind(panic);
        }
        if self.failed.into_inner() || self.next.into_inner() < self.indices.geometry.row_count {
            return Err(BadIndexFound);
        }
        done.into_iter().for_each(forget);
        Ok(())
    }

    /// Clones these rows; without `NEW`, the part that is returned is empty.
    ///
    /// # Safety
    /// The caller must have exclusive access to these rows of the output.
    unsafe fn run<const NEW: bool>(&self, rows: Range<usize>) -> Result<Cloned<A>, BadIndexFound> {
        let geometry = self.indices.geometry;
        let row_len = geometry.row_bytes / size_of::<A>();
        // SAFETY: the output has room for all rows of the geometry.
        let mut output = unsafe { self.output.add(rows.start * row_len) };
        let mut part = Cloned { start: output, len: 0 };
        let mut cursor = Cursor::new(geometry, rows.start);
        let mut block = Block::new();
        let mut left = rows.len();
        while left > 0 {
            // SAFETY: the geometry is that of these operands, and the cursor has `left` rows left.
            let checked = unsafe { I::check(&mut block, self.indices, &mut cursor, left)? };
            let offsets = checked.offsets();
            let mut bad = checked.bad_rows().peekable();
            for (row, offset) in offsets.iter().enumerate() {
                self.request(offsets, row, row_len);
                let fills = self.indices.policies.bad == Bad::Fill && bad.next_if_eq(&row).is_some();
                for at in 0..row_len {
                    // SAFETY: a checked offset is the start of a row within params, of that many elements without gaps, and
                    // the output has room for one more.
                    unsafe {
                        let element = (!fills).then(|| &*self.params.first().byte_offset(*offset).add(at));
                        put::<A, NEW>(output, element.or(self.fill));
                        output = output.add(1);
                    }
                    part.len += usize::from(NEW);
                }
            }
            left -= offsets.len();
        }
        Ok(part)
    }

    /// Asks for what the rows after this one need: first the elements, then what they own.
    #[inline(always)]
    fn request(&self, offsets: &[isize], row: usize, row_len: usize) {
        let ahead = (AHEAD / row_len).max(1);
        if let Some(offset) = offsets.get(row + 2 * ahead) {
            let bytes = (row_len * size_of::<A>()).min(AHEAD * 64);
            prefetch_lines(self.params.first().cast::<u8>().wrapping_offset(*offset), 0, bytes);
        }
        if let Some(offset) = offsets.get(row + ahead)
            && std::mem::needs_drop::<A>()
        {
            for at in 0..row_len.min(AHEAD) {
                // SAFETY: a checked offset is the start of a row of this many elements within params.
                prefetch_pointees(unsafe { &*self.params.first().byte_offset(*offset).add(at) });
            }
        }
    }
}

/// Clones an element, or the default value, to its place.
///
/// # Safety
/// The place must be an element, or with `NEW` room for one, with exclusive access.
#[inline(always)]
unsafe fn put<A: Clone + Default, const NEW: bool>(place: *mut A, element: Option<&A>) {
    // SAFETY: the caller's promise.
    unsafe {
        match element {
            Some(element) if NEW => place.write(element.clone()),
            // An element may have memory for the next one.
            Some(element) => (*place).clone_from(element),
            None if NEW => place.write(A::default()),
            None => *place = A::default(),
        }
    }
}
