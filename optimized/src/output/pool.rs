//! A recycling pool for outputs: touching new pages costs several times what the gather itself does.

use std::alloc::{Layout, alloc, dealloc};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gather_spec::Refusal;
use ndarray::{ArrayViewD, ArrayViewMutD, IxDyn};

use super::pages::{self, HUGE_PAGE, WORTH_HUGE};
use crate::kernels::job::Written;

/// Keeps the memory of outputs that were dropped and hands it out again. Clones share the memory.
///
/// ```
/// use gather_optimized::{Options, Plan, Pool};
/// use ndarray::array;
///
/// let pool = Pool::new(1 << 30);
/// let plan = Plan::gather(&[3], &[2], &Options::new())?;
/// for _ in 0..2 {
///     let output = plan.run_pooled(&array![1.5, 2.5, 3.5], &array![2, 0], &pool)?;
///     assert_eq!(output.view(), array![3.5, 1.5].into_dyn());
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
    pub(crate) fn fill<A: Copy>(
        &self,
        shape: IxDyn,
        len: usize,
        fill: impl for<'a> FnOnce(&'a mut [MaybeUninit<A>]) -> Result<Written<'a>, Refusal>,
    ) -> Result<Pooled<A>, Refusal> {
        let layout = block_layout::<A>(len)?;
        let block = self.shared.take(layout).map_or_else(|| Block::new(layout), Ok)?;
        let mut output =
            Pooled { block: Some(block), len, shape, pool: Arc::clone(&self.shared), elements: PhantomData };
        fill(output.uninitialised())?;
        Ok(output)
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

/// An output in memory of a [`Pool`], which gets it back when this is dropped.
#[derive(Debug)]
pub struct Pooled<A: Copy> {
    /// Present until dropped.
    block: Option<Block>,
    len: usize,
    shape: IxDyn,
    pool: Arc<Shared>,
    elements: PhantomData<A>,
}

// `PhantomData<A>` makes it Send and Sync exactly if `A` is, since `Block` always is.

impl<A: Copy> Pooled<A> {
    /// The output.
    #[must_use]
    pub fn view(&self) -> ArrayViewD<'_, A> {
        // SAFETY: `Pool::fill` hands out a Pooled only after all `len` elements were written.
        let elements = unsafe { std::slice::from_raw_parts(self.start().as_ptr().cast_const(), self.len) };
        ArrayViewD::from_shape(self.shape.clone(), elements)
            .expect("a plan's output has a shape of its own length")
    }

    /// The output, to be changed in place.
    #[must_use]
    pub fn view_mut(&mut self) -> ArrayViewMutD<'_, A> {
        // SAFETY: as in `view`, and borrowed mutably.
        let elements = unsafe { std::slice::from_raw_parts_mut(self.start().as_ptr(), self.len) };
        ArrayViewMutD::from_shape(self.shape.clone(), elements)
            .expect("a plan's output has a shape of its own length")
    }

    fn start(&self) -> NonNull<A> {
        self.block.as_ref().map_or(NonNull::dangling(), |block| block.start.cast())
    }

    fn uninitialised(&mut self) -> &mut [MaybeUninit<A>] {
        // SAFETY: `Pool::fill` took a block of at least `len` elements' layout, which this borrows mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start().as_ptr().cast(), self.len) }
    }
}

impl<A: Copy> Drop for Pooled<A> {
    fn drop(&mut self) {
        if let Some(block) = self.block.take() {
            self.pool.give_back(block);
        }
    }
}
