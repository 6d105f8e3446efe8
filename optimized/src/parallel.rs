//! Threads. The one file that names rayon: the others say how many workers may share a job.

/// How many threads the current pool has.
pub(crate) fn pool_threads() -> usize {
    rayon::current_num_threads()
}

/// Calls a thread of the current pool to some work. It comes when it is free.
pub(crate) fn call(work: impl FnOnce() + Send + 'static) {
    rayon::spawn(work);
}

/// Runs `work` in a pool of this many threads.
#[cfg(test)]
pub(crate) fn in_pool_of<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool").install(work)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_threads_are_told_as_the_pool_has() {
        assert_eq!(in_pool_of(3, pool_threads), 3);
    }
}
