//! Shares work with threads of the pool. They may arrive late, when what they borrowed is gone: a gate keeps
//! them out.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::parallel;

/// Runs `work` on the caller and on up to `workers - 1` threads of the pool, and returns when all that began
/// are done. Each call of `work` is expected to take pieces of a shared job until none is left. So a thread
/// that wakes up after the caller has found none left has nothing to do, and the caller does not wait for it:
/// to wake a thread takes longer than a small job.
pub(crate) fn share(workers: usize, work: &(dyn Fn() + Sync)) {
    if workers <= 1 {
        return work();
    }
    let gate = Arc::new(Gate::new());
    let closing = Closing(&gate);
    // SAFETY: `closing` closes the gate and waits until no thread is inside before this function returns or
    // unwinds, which ends the borrow of `work`.
    unsafe { invite(&gate, Lent::of(work), workers - 1) };
    work();
    drop(closing);
}

/// Borrowed work, for threads that may come when the borrow has ended.
#[derive(Clone, Copy)]
struct Lent(*const (dyn Fn() + Sync));

// SAFETY: the work is `Sync`, so any thread may call it; the caller of `run` promises that it is still
// borrowed.
unsafe impl Send for Lent {}

impl Lent {
    const fn of<'a>(work: &'a (dyn Fn() + Sync + 'a)) -> Self {
        // SAFETY: the two pointers differ only in a lifetime, which no pointer promises.
        Self(unsafe { std::mem::transmute::<*const (dyn Fn() + Sync + 'a), *const (dyn Fn() + Sync)>(work) })
    }

    /// # Safety
    /// The work must still be borrowed.
    unsafe fn run(self) {
        // SAFETY: the caller's promise.
        unsafe { (*self.0)() }
    }
}

/// Calls this many threads of the pool to a job. The first one calls the others, and so on, in halves: each
/// call takes microseconds, and the caller has its own work.
///
/// # Safety
/// The work must be borrowed as long as the gate is open or a thread is inside.
unsafe fn invite(gate: &Arc<Gate>, work: Lent, threads: usize) {
    if threads == 0 {
        return;
    }
    let gate = Arc::clone(gate);
    parallel::call(move || {
        gate.inside(|| {
            let others = threads - 1;
            // SAFETY: this thread is inside.
            unsafe {
                invite(&gate, work, others.div_ceil(2));
                invite(&gate, work, others / 2);
                work.run();
            }
        });
    });
}

/// The gate of a job: threads pass it while it is open, and its owner closes it.
struct Gate {
    /// How many are inside, and [`CLOSED`].
    state: AtomicUsize,
    /// For an owner who waits for the last to leave.
    waits: Mutex<()>,
    left: Condvar,
}

/// No further thread may enter.
const CLOSED: usize = 1 << (usize::BITS - 1);

/// How often to look whether all have left before sleeping: a piece of a job is short.
const LOOKS: usize = 1000;

impl Gate {
    const fn new() -> Self {
        Self { state: AtomicUsize::new(0), waits: Mutex::new(()), left: Condvar::new() }
    }

    /// Does the work, unless the gate is closed.
    fn inside(&self, work: impl FnOnce()) {
        let enter = |state: usize| (state < CLOSED).then_some(state + 1);
        if self.state.fetch_update(Ordering::Acquire, Ordering::Relaxed, enter).is_ok() {
            let _leaving = Leaving(self);
            work();
        }
    }
}

/// On drop, even by a panic, closes the gate and waits until no thread is inside.
struct Closing<'a>(&'a Gate);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        let Gate { state, waits, left } = self.0;
        state.fetch_or(CLOSED, Ordering::Relaxed);
        // What the others wrote is ours to read once they have left.
        let is_empty = || state.load(Ordering::Acquire) == CLOSED;
        for _ in 0..LOOKS {
            if is_empty() {
                return;
            }
            std::hint::spin_loop();
        }
        let waiting = waits.lock().unwrap_or_else(PoisonError::into_inner);
        drop(left.wait_while(waiting, |()| !is_empty()));
    }
}

/// Leaves the gate, even by a panic.
struct Leaving<'a>(&'a Gate);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        let Gate { state, waits, left } = self.0;
        if state.fetch_sub(1, Ordering::Release) == CLOSED + 1 {
            // With the lock, this cannot fall between the owner's last look and its sleep.
            let _waiting = waits.lock().unwrap_or_else(PoisonError::into_inner);
            left.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::time::Duration;

    use super::*;

    #[test]
    fn work_is_done_by_the_caller_and_by_no_more_than_so_many() {
        for workers in [0, 1, 2, 5] {
            let (calls, caller) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let here = std::thread::current().id();
            share(workers, &|| {
                calls.fetch_add(1, Ordering::Relaxed);
                caller.fetch_add(usize::from(std::thread::current().id() == here), Ordering::Relaxed);
            });
            assert_eq!(caller.into_inner(), 1, "{workers} workers");
            assert!(calls.into_inner() <= workers.max(1), "{workers} workers");
        }
    }

    /// The caller leaves the last pieces to others, who take their time.
    #[test]
    fn the_caller_waits_for_workers_that_have_begun() {
        let (begun, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let here = std::thread::current().id();
        share(3, &|| {
            begun.fetch_add(1, Ordering::SeqCst);
            while begun.load(Ordering::SeqCst) < 2 {
                std::thread::yield_now();
            }
            if std::thread::current().id() != here {
                std::thread::sleep(Duration::from_millis(50));
            }
            ended.fetch_add(1, Ordering::SeqCst);
        });
        assert!(ended.load(Ordering::SeqCst) >= 2);
        assert_eq!(begun.into_inner(), ended.into_inner());
    }

    #[test]
    fn no_worker_begins_after_the_caller_has_returned() {
        let gate = Arc::new(Gate::new());
        let calls = Arc::new(AtomicUsize::new(0));
        let (inside, counted) = (Arc::clone(&gate), Arc::clone(&calls));
        let (came, comes) = std::sync::mpsc::channel::<()>();
        // The only thread of the pool is busy here until the gate is closed.
        parallel::in_pool_of(1, || {
            parallel::call(move || {
                inside.inside(|| _ = counted.fetch_add(1, Ordering::SeqCst));
                drop(came);
            });
            drop(Closing(&gate));
        });
        assert!(comes.recv().is_err(), "it came and went");
        assert_eq!(calls.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn a_panic_of_the_caller_waits_for_the_others_too() {
        let (begun, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let here = std::thread::current().id();
        let caught = catch_unwind(AssertUnwindSafe(|| {
            share(2, &|| {
                if std::thread::current().id() == here {
                    while begun.load(Ordering::SeqCst) == 0 {
                        std::thread::yield_now();
                    }
                    panic!("on purpose");
                }
                begun.fetch_add(1, Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(50));
                ended.fetch_add(1, Ordering::SeqCst);
            });
        }));
        assert!(caught.is_err());
        assert_eq!((begun.into_inner(), ended.into_inner()), (1, 1));
    }
}
