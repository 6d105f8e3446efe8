//! A recycling pool for outputs: touching new pages costs several times what the gather itself does.

use std::alloc::{Layout, alloc, dealloc};
use std::fmt;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gather_spec::Refusal;
use ndarray::{ArrayRef, ArrayViewD, ArrayViewMutD, IxDyn};

use super::pages::{self, HUGE_PAGE, WORTH_HUGE};
use crate::kernels::job::Written;

/// Keeps the memory of outputs that were dropped and hands it out again, as frameworks do. Clones share the memory. It begins on
/// a line of the caches, and on a huge page if it has 4 MiB or more.
///
/// The pool has the documented functions of the crate; [`Plan::run_pooled`](crate::Plan::run_pooled) takes it too.
///
/// ```
/// use gather_optimized::{Options, Pool};
/// use ndarray::array;
///
/// let pool = Pool::new(1 << 30);
/// for _ in 0..2 {
///     let output = pool.gather(&array![1.5, 2.5, 3.5], &array![2, 0], &Options::new())?;
///     assert_eq!(*output, array![3.5, 1.5].into_dyn());
/// }
/// assert!(pool.kept_bytes() > 0);
/// # Ok::<(), gather_spec::Refusal>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pool {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    free: Mutex<Vec<Block>>,
    most_bytes: usize,
}

impl Pool {
    /// A pool that keeps at most `most_bytes` of free memory.
    #[must_use]
    pub fn new(most_bytes: usize) -> Self {
        Self { shared: Arc::new(Shared { free: Mutex::default(), most_bytes }) }
    }

    /// Bytes of free memory kept at this moment.
    #[must_use]
    pub fn kept_bytes(&self) -> usize {
        self.shared.lock().iter().map(|block| block.layout.size()).sum()
    }

    /// Gives all free memory back to the system.
    pub fn clear(&self) {
        self.shared.lock().clear();
    }

    /// Lets `fill` write `len` elements into recycled memory.
    pub(crate) fn fill<A: Copy + 'static>(
        &self,
        shape: IxDyn,
        len: usize,
        fill: impl for<'a> FnOnce(&'a mut [MaybeUninit<A>]) -> Result<Written<'a>, Refusal>,
    ) -> Result<Pooled<A>, Refusal> {
        let layout = block_layout::<A>(len)?;
        let block = self.shared.take(layout).map_or_else(|| Block::new(layout), Ok)?;
        let start = block.start.cast();
        // SAFETY: the block is as large as the layout of `len` elements, and nothing else has it.
        let written = fill(unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), len) }).map(drop);
        if let Err(refusal) = written {
            self.shared.give_back(block);
            return Err(refusal);
        }
        // SAFETY: `Written` proves that all `len` elements are initialised, and `len` is the product of the shape.
        let array = unsafe { ArrayViewD::from_shape_ptr(shape, start.cast::<A>().as_ptr()) };
        Ok(Pooled { block: Some(block), array, pool: Arc::clone(&self.shared) })
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Vec<Block>> {
        // A list of blocks is valid even if its last holder panicked.
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The smallest free block that fits without wasting more than half of it.
    fn take(&self, wanted: Layout) -> Option<Block> {
        let mut free = self.lock();
        let fits = |block: &Block| {
            block.layout.align() >= wanted.align()
                && (wanted.size()..=wanted.size().saturating_mul(2)).contains(&block.layout.size())
        };
        let candidates = free.iter().enumerate().filter(|(_, block)| fits(block));
        let (best, _) = candidates.min_by_key(|(_, block)| block.layout.size())?;
        Some(free.swap_remove(best))
    }

    fn give_back(&self, block: Block) {
        let mut free = self.lock();
        let kept: usize = free.iter().map(|block| block.layout.size()).sum();
        if kept.saturating_add(block.layout.size()) <= self.most_bytes {
            free.push(block);
        }
    }
}

/// Whole cache lines for small outputs, whole huge pages for large ones.
fn block_layout<A>(len: usize) -> Result<Layout, Refusal> {
    let bytes = len.saturating_mul(size_of::<A>());
    let align = if bytes >= WORTH_HUGE { HUGE_PAGE } else { 64 };
    let layout = Layout::from_size_align(bytes.max(64), align.max(align_of::<A>()));
    layout.map(|layout| layout.pad_to_align()).map_err(|_| pages::out_of_memory(bytes))
}

/// Memory of some layout, not necessarily initialised.
#[derive(Debug)]
struct Block {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: a block owns its memory, which is bound to no thread.
unsafe impl Send for Block {}
// SAFETY: a shared block gives access to nothing.
unsafe impl Sync for Block {}

impl Block {
    fn new(layout: Layout) -> Result<Self, Refusal> {
        // SAFETY: `block_layout` makes no layout of size 0.
        let start = NonNull::new(unsafe { alloc(layout) });
        let start = start.ok_or_else(|| pages::out_of_memory(layout.size()))?;
        // SAFETY: the allocation is this large, and nothing else has it.
        let memory = unsafe { std::slice::from_raw_parts_mut(start.as_ptr().cast(), layout.size()) };
        pages::prefer_huge::<u8>(memory);
        Ok(Self { start, layout })
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout by `new`, freed once.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

/// An output in memory of a [`Pool`], which gets it back when this is dropped. It dereferences to an array, to be read;
/// [`view_mut`](Self::view_mut) changes it.
///
/// ```
/// use gather_optimized::{Options, Pool};
/// use ndarray::array;
///
/// let mut output = Pool::new(1 << 20).gather(&array![1, 2, 3], &array![2, 0], &Options::new())?;
/// output.view_mut().fill(7);
/// assert_eq!((output.sum(), output[[1]], output.shape()), (14, 7, &[2][..]));
/// # Ok::<(), gather_spec::Refusal>(())
/// ```
pub struct Pooled<A: Copy + 'static> {
    /// Present until dropped.
    block: Option<Block>,
    /// The elements in the block. Only its own lifetime is `'static`: it is given away for as long as this is borrowed.
    array: ArrayViewD<'static, A>,
    pool: Arc<Shared>,
}

// SAFETY: the elements are owned, and a block is bound to no thread.
unsafe impl<A: Copy + Send + 'static> Send for Pooled<A> {}
// SAFETY: likewise; a shared one gives access to shared elements.
unsafe impl<A: Copy + Sync + 'static> Sync for Pooled<A> {}

impl<A: Copy + 'static> Pooled<A> {
    /// The output, to be changed in place.
    #[must_use]
    pub fn view_mut(&mut self) -> ArrayViewMutD<'_, A> {
        let shape = self.array.raw_dim();
        // SAFETY: the elements are those of the block, in this shape, all written, and borrowed mutably.
        unsafe { ArrayViewMutD::from_shape_ptr(shape, self.start().as_ptr()) }
    }

    fn start(&self) -> NonNull<A> {
        self.block.as_ref().map_or(NonNull::dangling(), |block| block.start.cast())
    }
}

impl<A: Copy + 'static> Deref for Pooled<A> {
    type Target = ArrayRef<A, IxDyn>;

    fn deref(&self) -> &ArrayRef<A, IxDyn> {
        &self.array
    }
}

impl<A: Copy + fmt::Debug + 'static> fmt::Debug for Pooled<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.array.fmt(f)
    }
}

impl<A: Copy + 'static> Drop for Pooled<A> {
    fn drop(&mut self) {
        if let Some(block) = self.block.take() {
            self.pool.give_back(block);
        }
    }
}
