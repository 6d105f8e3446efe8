//! What a call allocates: its output, and next to nothing else.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

use gather_optimized::{Options, Plan, gather_nd};
use ndarray::{Array1, Array2, array};

/// Counts the bytes that live, and how high they rose; by thread, how often memory was asked for.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
thread_local! {
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: all memory is the system allocator's; counting touches none of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::SeqCst) + layout.size();
        PEAK.fetch_max(live, Ordering::SeqCst);
        let _ = ASKED.try_with(|asked| asked.set(asked.get() + 1));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::SeqCst);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// How far the live bytes rose above what they were, and how often this thread asked.
fn measured(work: impl FnOnce()) -> (usize, usize) {
    let before = LIVE.load(Ordering::SeqCst);
    PEAK.store(before, Ordering::SeqCst);
    let asked = ASKED.with(Cell::get);
    work();
    (PEAK.load(Ordering::SeqCst) - before, ASKED.with(Cell::get) - asked)
}

/// One test, because the counters are shared by all threads.
#[test]
fn extra_memory_is_bounded() {
    let options = Options::new();
    let small = array![[1f32, 2.0], [3.0, 4.0]];
    let points = array![[0i32, 0], [1, 1]];
    let plan = Plan::gather_nd(&[2, 2], &[2, 2], &options).expect("a plan");
    let mut output = Array1::<f32>::zeros(2);
    let (_, asked) = measured(|| plan.run_into(&small, &points, &mut output).expect("good indices"));
    assert_eq!(asked, 0, "a tiny call into the caller's output allocates nothing");
    let mut fresh = None;
    let (bytes, asked) = measured(|| fresh = gather_nd(&small, &points, &options).ok());
    assert_eq!((bytes, asked), (8, 1), "a tiny fresh call allocates its output only");
    drop(fresh);

    let threads = 2;
    let options = Options::new().threads(NonZeroUsize::new(threads).expect("positive"));
    let params = Array2::from_shape_fn((5000, 256), |(row, column)| row * 256 + column);
    let rows = Array1::from_shape_fn(50_000, |j| (j * 7919 % 5000) as u64);
    // The pool's own memory is not the call's.
    drop(gather_optimized::gather(&params, &rows, &options).expect("good indices"));
    for view in [params.view(), params.t()] {
        let axis = if view.shape()[0] == 5000 { 0 } else { 1 };
        let plan = Plan::gather(view.shape(), &[50_000], &options.axis(axis)).expect("a plan");
        let output_bytes = 50_000 * 256 * size_of::<usize>();
        let (bytes, _) = measured(|| drop(plan.run(&view, &rows).expect("good indices")));
        let extra = bytes - output_bytes;
        assert!(extra <= (threads << 20).max(output_bytes / 64), "{extra} bytes beside the output");
    }
}
