//! What a call allocates: its output, and next to nothing else; and the allocator that keeps large memory, as that of a
//! program. Apart from the other tests, and without a harness that has threads, since a program has one allocator, and all
//! threads share its counters.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

use gather_optimized::slices::{self, View};
use gather_optimized::{Index, Options, Plan, Pool, Retaining, gather_nd};
use gather_spec::{BadIndex, Refusal};
use libtest_mimic::{Arguments, Trial};
use ndarray::{Array1, Array2, ArrayRef, Dimension, array, s};

/// Counts the bytes that live, and how high they rose; by thread, how often memory was asked for.
struct PeakCounter(Retaining);

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
thread_local! {
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: all memory is the allocator's inside; counting touches none of it.
unsafe impl GlobalAlloc for PeakCounter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::SeqCst) + layout.size();
        PEAK.fetch_max(live, Ordering::SeqCst);
        let _ = ASKED.try_with(|asked| asked.set(asked.get() + 1));
        // SAFETY: the caller's promise is passed on.
        unsafe { self.0.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::SeqCst);
        // SAFETY: the caller's promise is passed on.
        unsafe { self.0.dealloc(memory, layout) }
    }
}

#[global_allocator]
static COUNTING: PeakCounter = PeakCounter(Retaining::new(1 << 30));

/// One after the other on this thread, whatever the command line says, so that nothing else allocates.
fn main() -> ExitCode {
    let trial = |name: &str, test: fn()| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    let trials = Vec::from([
        trial("extra_memory_is_bounded", extra_memory_is_bounded),
        #[cfg(unix)]
        trial("arrays_are_gathered_into_kept_memory", arrays_are_gathered_into_kept_memory),
    ]);
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// How far the live bytes rose above what they were, and how often this thread asked.
fn measured(work: impl FnOnce()) -> (usize, usize) {
    let before = LIVE.load(Ordering::SeqCst);
    PEAK.store(before, Ordering::SeqCst);
    let asked = ASKED.with(Cell::get);
    work();
    (PEAK.load(Ordering::SeqCst) - before, ASKED.with(Cell::get) - asked)
}

fn extra_memory_is_bounded() {
    let options = Options::new();
    let small = array![[1f32, 2.0], [3.0, 4.0]];
    let points = array![[0i32, 0], [1, 1]];
    let plan = Plan::gather_nd(&[2, 2], &[2, 2], &options).expect("a plan");
    let mut output = Array1::<f32>::zeros(2);
    let (_, asked) = measured(|| plan.run_into(&small, &points, &mut output).expect("good indices"));
    assert_eq!(asked, 0, "a tiny call into the caller's output allocates nothing");
    let mut flat = [0f32; 2];
    let (_, asked) = measured(|| {
        let view = |shape| View::new(small.as_slice().expect("no gaps"), shape).expect("all of it");
        let points = View::new(points.as_slice().expect("no gaps"), &[2, 2]).expect("all of it");
        slices::gather_nd_into(&view(&[2, 2]), &points, &mut flat, &options).expect("good indices");
    });
    assert_eq!((asked, flat), (0, [1.0, 4.0]), "nor does one on slices");
    let mut fresh = None;
    let (bytes, asked) = measured(|| fresh = gather_nd(&small, &points, &options).ok());
    assert_eq!((bytes, asked), (8, 1), "a tiny fresh call allocates its output only");
    drop(fresh);

    let before = LIVE.load(Ordering::SeqCst);
    let pool = Pool::new(1 << 20);
    drop(plan.run_pooled(&small, &points, &pool).expect("good indices"));
    assert!(LIVE.load(Ordering::SeqCst) >= before + 64, "a pool keeps memory");
    drop(pool);
    assert!(LIVE.load(Ordering::SeqCst) <= before, "and gives it back when it is gone");

    // The memory of the thread pool is not the call's.
    every_kind(THREADS, |_, _| {});
    every_kind(THREADS, |name, (extra, output_bytes)| {
        assert!(extra <= (THREADS << 20).max(output_bytes / 64), "{name}: {extra} bytes beside the output");
    });
    every_kind(1, |name, (extra, _)| assert!(extra <= 1 << 20, "{name}: {extra} bytes on one thread"));
}

const THREADS: usize = 2;

/// A large call of every kind, into new memory: hands over the bytes that it took beside its output, and the output's.
fn every_kind(threads: usize, mut check: impl FnMut(&str, (usize, usize))) {
    let options = Options::new().exactly_threads(NonZeroUsize::new(threads).expect("positive"));
    let params = Array2::from_shape_fn((5000, 256), |(row, column)| (row * 256 + column) as u64);
    let rows = Array1::from_shape_fn(50_000, |j| (j * 7919 % 5000) as u64);
    let small = Array1::from_shape_fn(400_000, |j| i32::try_from(j * 7919 % 256).expect("small"));
    along_axes(&options, &params, &rows, &small, &mut check);
    in_batches(&options, &params, &rows, &small, &mut check);

    let along = small.to_shape((5000, 80)).expect("as many elements");
    for policy in BadIndex::SPECIFIED {
        let last = options.axis(1).bad_index(policy);
        let plan = Plan::take_along_axis(&[5000, 256], &[5000, 80], &last);
        check(&format!("along the last axis, {policy}"), beside(plan, &params, &along));
        let (first, indices) = (options.axis(0).bad_index(policy), rows.slice(s![..2000 * 16]));
        let indices = indices.into_shape_with_order((2000, 16)).expect("as many elements");
        let params = params.to_shape((80_000, 16)).expect("as many elements");
        let plan = Plan::take_along_axis(&[80_000, 16], &[2000, 16], &first);
        check(&format!("along the first axis, {policy}"), beside(plan, &params, &indices));
    }

    let points = small.to_shape((200_000, 2)).expect("as many elements");
    for policy in BadIndex::SPECIFIED {
        let plan = Plan::gather_nd(&[5000, 256], &[200_000, 2], &options.bad_index(policy));
        check(&format!("points, {policy}"), beside(plan, &params, &points));
    }

    // Text that clones without memory of its own, so that only the call's is counted.
    let names = Array1::from_elem(5000, "name");
    let strings = Plan::gather(&[5000], &[50_000], &options).expect("a plan");
    let (bytes, _) = measured(|| drop(strings.run_cloned(&names, &rows).expect("good indices")));
    let output_bytes = 50_000 * size_of::<&str>();
    check("strings", (bytes - output_bytes, output_bytes));
}

type MemoryCheck<'a> = &'a mut dyn FnMut(&str, (usize, usize));

fn along_axes(
    options: &Options,
    params: &Array2<u64>,
    rows: &Array1<u64>,
    small: &Array1<i32>,
    check: MemoryCheck<'_>,
) {
    check("rows", beside(Plan::gather(&[5000, 256], &[50_000], options), params, rows));
    let columns = Plan::gather(&[256, 5000], &[50_000], &options.axis(1));
    check("columns of a transposed view", beside(columns, &params.t(), rows));
    let last = Plan::gather(&[5000, 256], &[400], &options.axis(1));
    check("last axis", beside(last, params, &small.slice(s![..400])));
    let scalars = Plan::gather(&[1_280_000], &[400_000], options);
    check("scalars", beside(scalars, &params.flatten(), small));
}

fn in_batches(
    options: &Options,
    params: &Array2<u64>,
    rows: &Array1<u64>,
    small: &Array1<i32>,
    check: MemoryCheck<'_>,
) {
    let params = params.to_shape((5, 1000, 256)).expect("as many elements");
    let batched = options.batch_dims(1);
    let rows = rows.slice(s![..40_000]).mapv(|row| row % 1000);
    let rows = rows.into_shape_with_order((5, 8000)).expect("as many elements");
    check("batched rows", beside(Plan::gather(&[5, 1000, 256], &[5, 8000], &batched), &params, &rows));
    let last = small.slice(s![..1000]).into_shape_with_order((5, 200)).expect("as many elements");
    let plan = Plan::gather(&[5, 1000, 256], &[5, 200], &batched.axis(2));
    check("batched, last axis", beside(plan, &params, &last));
    let points = small.slice(s![..40_000]).into_shape_with_order((5, 4000, 2)).expect("as many elements");
    let plan = Plan::gather_nd(&[5, 1000, 256], &[5, 4000, 2], &batched);
    check("batched points", beside(plan, &params, &points));
}

/// The bytes that a run takes beside its output, and the output's.
fn beside<D: Dimension, I: Index, E: Dimension>(
    plan: Result<Plan, Refusal>,
    params: &ArrayRef<u64, D>,
    indices: &ArrayRef<I, E>,
) -> (usize, usize) {
    let plan = plan.expect("a plan");
    let output_bytes = plan.output_shape().iter().product::<usize>() * size_of::<u64>();
    let (bytes, _) = measured(|| drop(plan.run(params, indices).expect("good indices")));
    (bytes - output_bytes, output_bytes)
}

/// Outputs of a gather that were dropped are the next ones', and hold what they should.
#[cfg(unix)]
fn arrays_are_gathered_into_kept_memory() {
    let len = (5 << 20) / size_of::<u64>();
    let plan = Plan::gather(&[3], &[len], &Options::new()).expect("a plan");
    let indices = Array1::from_shape_fn(len, |at| (at % 3) as u64);
    let mut places = Vec::new();
    for round in 0..3 {
        let params = array![round, round + 10, round + 20];
        let output = plan.run(&params, &indices).expect("good indices");
        assert!(output.iter().zip(&indices).all(|(element, index)| *element == round + 10 * index));
        places.push(output.as_ptr().addr());
    }
    assert!(places.iter().all(|place| place.is_multiple_of(2 << 20)));
}
