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
