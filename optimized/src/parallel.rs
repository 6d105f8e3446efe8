//! Threads. The one file that names rayon: everybody else says how many workers may share a job.

/// How many threads the current pool has.
pub(crate) fn pool_threads() -> usize {
    rayon::current_num_threads()
}

/// Runs `work` on up to `workers` threads at once, the caller among them. Each call of `work` is expected to take
/// pieces of a shared job until none is left, so it is harmless if some of them start late.
pub(crate) fn on_workers(workers: usize, work: &(dyn Fn() + Sync)) {
    if workers <= 1 {
        return work();
    }
    rayon::scope(|scope| {
        for _ in 1..workers {
            scope.spawn(|_| work());
        }
        work();
    });
}

/// Runs `work` in a pool of so many threads.
#[cfg(test)]
pub(crate) fn in_pool_of<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool").install(work)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn as_many_threads_are_told_as_the_pool_has() {
        assert_eq!(in_pool_of(3, pool_threads), 3);
    }

    #[test]
    fn every_worker_is_called_once() {
        for (workers, called) in [(0, 1), (1, 1), (2, 2), (5, 5)] {
            let calls = AtomicUsize::new(0);
            on_workers(workers, &|| {
                calls.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(calls.into_inner(), called, "{workers} workers");
        }
    }
}
