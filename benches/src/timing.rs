//! Times contenders in turn (A B A B …), so that a slow moment of the machine affects all of them, and takes medians.

use std::time::{Duration, Instant};

/// The least duration of a round. A contender is called repeatedly to fill it, which makes clocks and wake-ups negligible.
const SHORTEST_ROUND: Duration = Duration::from_millis(2);

/// The median duration in seconds of one call of each contender, in the given order. `run` calls a contender. Each turn
/// starts with the same number of uncounted calls. Without them, caches and sleeping threads would be in the state that
/// the previous contender left, which favours a contender that follows one with the same data.
pub(crate) fn interleave<K: Copy>(contenders: &[K], rounds: usize, mut run: impl FnMut(K)) -> Vec<f64> {
    let calls: Vec<u32> = contenders.iter().map(|contender| calls_per_round(|| run(*contender))).collect();
    let mut seconds = vec![Vec::with_capacity(rounds); contenders.len()];
    for _ in 0..rounds.max(1) {
        for ((contender, calls), seconds) in contenders.iter().zip(&calls).zip(&mut seconds) {
            (0..*calls).for_each(|_| run(*contender));
            let start = Instant::now();
            (0..*calls).for_each(|_| run(*contender));
            seconds.push(start.elapsed().as_secs_f64() / f64::from(*calls));
        }
    }
    seconds.iter_mut().map(|seconds| median(seconds)).collect()
}

/// The number of calls that fill the shortest round, found by doubling.
fn calls_per_round(mut call: impl FnMut()) -> u32 {
    call();
    let mut calls = 1;
    loop {
        let start = Instant::now();
        (0..calls).for_each(|_| call());
        if start.elapsed() >= SHORTEST_ROUND || calls >= 1 << 24 {
            return calls;
        }
        calls *= 2;
    }
}

/// The median of at least one value. Sorts the values.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len().is_multiple_of(2) {
        f64::midpoint(values[middle - 1], values[middle])
    } else {
        values[middle]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contenders_take_turns() {
        let mut order = Vec::new();
        let wait = |name| {
            order.push(name);
            std::thread::sleep(SHORTEST_ROUND);
        };
        let medians = interleave(&['a', 'b'], 2, wait);
        assert!(medians.iter().all(|seconds| *seconds >= SHORTEST_ROUND.as_secs_f64()));
        assert_eq!(order, ['a', 'a', 'b', 'b', 'a', 'a', 'b', 'b', 'a', 'a', 'b', 'b']);
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert!((median(&mut [3.0, 1.0, 2.0]) - 2.0).abs() < 1e-12);
        assert!((median(&mut [4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-12);
    }
}
