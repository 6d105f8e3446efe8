//! Shares an output among threads, for floors and rooflines. Like gather-optimized, they take parts from a common supply on
//! the same rayon pool, so that scheduling makes no difference.

use std::sync::{Mutex, PoisonError};

/// The number of parts per thread. If a thread is delayed, the others take over its parts.
const PARTS_PER_THREAD: usize = 4;

/// Sets the size of the pool, which gather-optimized uses as well. Call this before anything runs on it.
///
/// # Panics
/// If the pool exists already.
pub fn provide(threads: usize) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build_global().expect("the first to ask for threads");
}

/// Splits `output` into parts that are multiples of `unit`, for `threads` threads. `work` gets the number of units before
/// its part, and the part.
pub fn share<T: Send>(output: &mut [T], unit: usize, threads: usize, work: impl Fn(usize, &mut [T]) + Sync) {
    if threads <= 1 {
        return work(0, output);
    }
    let units = (output.len() / unit).div_ceil(threads * PARTS_PER_THREAD).max(1);
    let parts = Mutex::new(output.chunks_mut(units * unit).enumerate());
    let take = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
    let worker = || {
        while let Some((number, part)) = take() {
            work(number * units, part);
        }
    };
    rayon::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|_| worker());
        }
        worker();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_visited_once_under_its_own_number() {
        for (units, threads) in [(0, 2), (1, 5), (100, 1), (101, 2), (7, 5)] {
            let mut output = vec![0; units * 3];
            share(&mut output, 3, threads, |first, part| {
                for (at, unit) in part.chunks_mut(3).enumerate() {
                    unit.iter_mut().for_each(|place| *place += first + at + 1);
                }
            });
            let expected: Vec<usize> = (0..units * 3).map(|at| at / 3 + 1).collect();
            assert_eq!(output, expected);
        }
    }
}
