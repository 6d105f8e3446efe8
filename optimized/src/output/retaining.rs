//! An allocator that keeps large memory when it is freed, since new pages cost as much as a gather.
//!
//! A block of memory has one of a few sizes, so that a free need not know which request it was made for. Its
//! whole life is: mapped on huge pages, handed out, freed and kept, handed out again, and unmapped once the
//! kept blocks exceed their limit and it is the oldest. Nothing here allocates, panics or waits, as an
//! allocator must not.

use std::alloc::{GlobalAlloc, Layout, System};
use std::mem::replace;
use std::ptr::{NonNull, copy_nonoverlapping, null_mut};
use std::sync::{Mutex, MutexGuard, TryLockError};

use super::mapping;
use super::pages::{HUGE_PAGE, WORTH_HUGE};

/// A global allocator that keeps large memory when it is freed, and hands it out again.
///
/// An array that a gather returns is freed by the global allocator, so only that can keep its memory. Most give memory of
/// some 32 MiB or more back to the system at once, and the next output takes new pages, which the system clears first.
/// Frameworks keep such memory: this is the same for a program in Rust. It is for the program to choose, in one line:
///
/// ```
/// use gather_optimized::{Options, Retaining, gather};
/// use ndarray::array;
///
/// // Up to 1 GiB of freed memory is kept.
/// #[global_allocator]
/// static MEMORY: Retaining = Retaining::new(1 << 30);
///
/// let rows = gather(&array![[1, 2], [3, 4]], &array![1, 1], &Options::new())?;
/// assert_eq!(rows, array![[3, 4], [3, 4]].into_dyn());
/// # Ok::<(), gather_spec::Refusal>(())
/// ```
///
/// - Requests of 4 MiB or more get blocks that start on a huge page. Everything smaller, and everything on systems other
///   than Unix, goes to the allocator inside, which is that of the system or, by [`Retaining::over`], any other. From
///   4 KiB on, it is asked for memory that starts on a line of the caches.
/// - Freed blocks are kept up to the limit; beyond it, the ones that were freed first go back to the system. The program
///   holds that much more memory than it uses.
/// - A request that the system refuses is made again once nothing is kept any more.
/// - A block may have up to an eighth more address space than was requested. A request touches at most one
///   huge page more than it needs.
/// - `alloc_zeroed` gives pages that the system clears when they are touched, as without this allocator.
/// - A `Vec` of 4 KiB or more that grows is copied, where the system's allocator may leave it in place or move its pages.
#[derive(Debug)]
pub struct Retaining<A = System> {
    inner: A,
    most_bytes: usize,
    kept: Mutex<Kept>,
}

impl Retaining {
    /// Keeps at most `most_bytes` of freed memory, over the allocator of the system.
    #[must_use]
    pub const fn new(most_bytes: usize) -> Self {
        Self::over(System, most_bytes)
    }
}

impl<A> Retaining<A> {
    /// Keeps at most `most_bytes` of freed memory, over another allocator for everything below 4 MiB.
    #[must_use]
    pub const fn over(inner: A, most_bytes: usize) -> Self {
        Self { inner, most_bytes, kept: Mutex::new(Kept::NONE) }
    }

    /// Bytes of freed memory that are kept at this moment.
    #[must_use]
    pub fn kept_bytes(&self) -> usize {
        self.try_lock().map_or(0, |kept| kept.bytes)
    }

    /// The list, unless another thread has it: then there is nothing to take, and no room to keep anything. A child that
    /// was forked meanwhile would wait for ever.
    fn try_lock(&self) -> Option<MutexGuard<'_, Kept>> {
        match self.kept.try_lock() {
            Ok(kept) => Some(kept),
            Err(TryLockError::Poisoned(kept)) => Some(kept.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn take(&self, bytes: usize) -> Option<NonNull<u8>> {
        self.try_lock()?.take(bytes)
    }

    /// A block of new pages, all zeros, or null.
    fn map(&self, bytes: usize) -> *mut u8 {
        self.or_without_kept(|| mapping::map(bytes).map_or(null_mut(), NonNull::as_ptr))
    }

    /// The memory that a request gives or, if it is refused, gives once nothing is kept any more.
    fn or_without_kept(&self, request: impl Fn() -> *mut u8) -> *mut u8 {
        let start = request();
        if start.is_null() && self.give_back_all() { request() } else { start }
    }

    /// Gives everything that is kept back to the system; whether there was anything.
    #[cold]
    fn give_back_all(&self) -> bool {
        let kept = self.try_lock().map(|mut kept| replace(&mut *kept, Kept::NONE));
        kept.is_some_and(|kept| kept.len > 0)
    }

    /// # Safety
    /// `start` must be a block of this many bytes that nothing uses any more.
    unsafe fn give_back(&self, start: *mut u8, bytes: usize) {
        let Some(start) = NonNull::new(start) else { return };
        let block = Block { start, bytes };
        if bytes <= self.most_bytes
            && let Some(mut kept) = self.try_lock()
        {
            // SAFETY: the caller's promise.
            return unsafe { kept.keep(block, self.most_bytes) };
        }
        // SAFETY: the caller's promise.
        unsafe { mapping::unmap(start, bytes) };
    }
}

/// The bytes of the block for a request, if it gets one: a multiple of the huge page, so that there are eight sizes between
/// one power of two and the next, or as many as there are huge pages.
fn block_bytes(layout: Layout) -> Option<usize> {
    let wanted = (WORTH_HUGE..isize::MAX as usize / 2).contains(&layout.size());
    let fits = mapping::SUPPORTED && wanted && layout.align() <= HUGE_PAGE;
    // Between 2^n and 2^(n+1), the step is 2^(n-3).
    fits.then(|| layout.size().next_multiple_of(((1 << layout.size().ilog2()) / 8).max(HUGE_PAGE)))
}

/// What the allocator inside is asked for: kernels are faster on memory that starts on a line.
const fn inside(layout: Layout) -> Layout {
    if layout.size() < WORTH_A_LINE || layout.align() >= LINE {
        return layout;
    }
    match Layout::from_size_align(layout.size(), LINE) {
        Ok(lines) => lines,
        // A size next to the largest that there is.
        Err(_) => layout,
    }
}

// SAFETY: a request is answered by the allocator inside, as aligned or more, or by a block that is as large and as aligned as
// `block_bytes` makes sure, and that nothing else has: mapped for it, or taken off the list. `block_bytes` and `inside` say from
// the layout alone which of the two it was, and what was asked for.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Retaining<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match block_bytes(layout) {
            // SAFETY: the caller's promise.
            None => self.or_without_kept(|| unsafe { self.inner.alloc(inside(layout)) }),
            Some(bytes) => self.take(bytes).map_or_else(|| self.map(bytes), NonNull::as_ptr),
        }
    }

    #[inline]
    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        match block_bytes(layout) {
            // SAFETY: the caller's promise.
            None => unsafe { self.inner.dealloc(start, inside(layout)) },
            // SAFETY: a request of this layout got a block of this many bytes.
            Some(bytes) => unsafe { self.give_back(start, bytes) },
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match block_bytes(layout) {
            // SAFETY: the caller's promise.
            None => self.or_without_kept(|| unsafe { self.inner.alloc_zeroed(inside(layout)) }),
            Some(bytes) => self.take(bytes).map_or_else(
                || self.map(bytes),
                |start| {
                    // SAFETY: a block from the list has this many bytes, and nothing else has it.
                    unsafe { mapping::clear(start, bytes) };
                    start.as_ptr()
                },
            ),
        }
    }

    #[inline]
    unsafe fn realloc(&self, start: *mut u8, layout: Layout, new_bytes: usize) -> *mut u8 {
        // SAFETY: the caller makes sure that the size, rounded up to the alignment, fits an `isize`.
        let wanted = unsafe { Layout::from_size_align_unchecked(new_bytes, layout.align()) };
        let (old, new) = (block_bytes(layout), block_bytes(wanted));
        let (was, asked) = (inside(layout), inside(wanted));
        match (old, new) {
            (Some(old), Some(new)) if old == new => return start,
            (None, None) if was.align() == asked.align() => {
                // SAFETY: the caller's promise; the memory was asked for with this layout.
                return self.or_without_kept(|| unsafe { self.inner.realloc(start, was, new_bytes) });
            }
            _ => {}
        }
        // SAFETY: the caller's promise; both memories have as many bytes as are copied, and nothing else has
        // the new one.
        unsafe {
            let moved = self.alloc(wanted);
            if !moved.is_null() {
                copy_nonoverlapping(start, moved, layout.size().min(new_bytes));
                self.dealloc(start, layout);
            }
            moved
        }
    }
}

/// The bytes of a line of the caches.
const LINE: usize = 64;

/// Smaller memory is not worth a whole line.
const WORTH_A_LINE: usize = 4 << 10;

/// Memory that was mapped.
#[derive(Clone, Copy, Debug)]
struct Block {
    start: NonNull<u8>,
    bytes: usize,
}

/// Unused blocks, in the order in which they were freed.
#[derive(Debug)]
struct Kept {
    blocks: [Option<Block>; MOST_BLOCKS],
    len: usize,
    bytes: usize,
}

/// A program that frees more large outputs than this before it takes the next has no use for the oldest.
const MOST_BLOCKS: usize = 32;

// SAFETY: the blocks are owned, and bound to no thread.
unsafe impl Send for Kept {}

impl Kept {
    const NONE: Self = Self { blocks: [None; MOST_BLOCKS], len: 0, bytes: 0 };

    /// The block of this many bytes that was freed last, whose lines are likeliest to be in a cache.
    fn take(&mut self, bytes: usize) -> Option<NonNull<u8>> {
        let fits = |block: &Option<Block>| block.is_some_and(|block| block.bytes == bytes);
        let at = self.blocks.iter().take(self.len).rposition(fits)?;
        self.remove(at).map(|block| block.start)
    }

    fn remove(&mut self, at: usize) -> Option<Block> {
        let block = self.blocks.get_mut(at)?.take()?;
        if let Some(from_here) = self.blocks.get_mut(at..self.len) {
            from_here.rotate_left(1);
        }
        self.len -= 1;
        self.bytes -= block.bytes;
        Some(block)
    }

    /// # Safety
    /// Nothing may use the block, which has at most `most_bytes`.
    unsafe fn keep(&mut self, block: Block, most_bytes: usize) {
        while self.len == MOST_BLOCKS || self.bytes.saturating_add(block.bytes) > most_bytes {
            let Some(oldest) = self.remove(0) else { break };
            // SAFETY: nothing else has a kept block.
            unsafe { mapping::unmap(oldest.start, oldest.bytes) };
        }
        if let Some(place) = self.blocks.get_mut(self.len) {
            *place = Some(block);
            self.len += 1;
            self.bytes += block.bytes;
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        while let Some(Block { start, bytes }) = self.remove(0) {
            // SAFETY: nothing else has a kept block.
            unsafe { mapping::unmap(start, bytes) };
        }
    }
}
