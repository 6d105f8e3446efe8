//! Shrinks a failure by its draws: fewer and smaller numbers that still fail in the same way.
//!
//! Shrinking draws rather than calls needs no knowledge of calls. Generators are written so that smaller draws make
//! simpler calls, and a draw that is missing counts as 0, so every candidate is a valid case. A pass of cutting, removing
//! and lowering repeats until it changes nothing; only then are the three costlier moves tried, which escape local minima.
//! Each accepted change shortens the draws, lowers one, or replaces one by a small earlier or nearby one, so the loop
//! ends; the number of tries is limited besides.

/// The smallest draws found for which `fails` still returns true. It is called at most `most` times.
pub(super) fn shrink(draws: Vec<u64>, most: usize, mut fails: impl FnMut(&[u64]) -> bool) -> Vec<u64> {
    let mut best = draws;
    let mut tries = Tries { left: most, fails: &mut fails };
    loop {
        let before = best.clone();
        cut_the_end(&mut best, &mut tries);
        leave_out(&mut best, &mut tries);
        lower_each(&mut best, &mut tries);
        if best == before {
            trade(&mut best, &mut tries);
        }
        if best == before {
            bring_forward(&mut best, &mut tries);
        }
        if best == before {
            lower_and_leave_out(&mut best, &mut tries);
        }
        if best == before {
            return best;
        }
    }
}

/// The tries that are left.
struct Tries<'f> {
    left: usize,
    fails: &'f mut dyn FnMut(&[u64]) -> bool,
}

impl Tries<'_> {
    /// Takes a candidate for the best draws if it fails.
    fn take(&mut self, candidate: Vec<u64>, best: &mut Vec<u64>) -> bool {
        if self.left == 0 || candidate == *best {
            return false;
        }
        self.left -= 1;
        let better = (self.fails)(&candidate);
        if better {
            *best = candidate;
        }
        better
    }
}

/// Removes a tail. Missing draws count as 0, so this also zeroes them.
fn cut_the_end(best: &mut Vec<u64>, tries: &mut Tries<'_>) {
    let mut cut = best.len() / 2;
    while cut > 0 {
        let shorter = best[..best.len() - cut.min(best.len())].to_vec();
        if !tries.take(shorter, best) {
            cut /= 2;
        }
    }
}

/// Removes or zeroes windows of draws, wide ones first. The window advances by an eighth of its width, because the draw
/// that matters may come after a thousand others.
fn leave_out(best: &mut Vec<u64>, tries: &mut Tries<'_>) {
    let mut width = (best.len().next_power_of_two() / 2).max(1);
    while width > 0 {
        let mut at = 0;
        while at + width <= best.len() {
            let mut zeroed = best.clone();
            zeroed[at..at + width].fill(0);
            let mut without = best.clone();
            without.drain(at..at + width);
            if !tries.take(without, best) {
                tries.take(zeroed, best);
                at += width.div_ceil(8);
            }
        }
        width /= 2;
    }
}

fn lower_each(best: &mut Vec<u64>, tries: &mut Tries<'_>) {
    let mut at = 0;
    while at < best.len() {
        let mut low = 0;
        while at < best.len() && low < best[at] {
            let middle = low + (best[at] - low) / 2;
            let mut lower = best.clone();
            lower[at] = middle;
            if !tries.take(lower, best) {
                low = middle + 1;
            }
        }
        at += 1;
    }
}

/// The largest distance between two draws that are traded.
const NEAR: usize = 16;

/// Zeroes a large draw and sets a nearby one to 1: a dim at a threshold becomes a dim of 2.
fn trade(best: &mut Vec<u64>, tries: &mut Tries<'_>) {
    for zeroed in 0..best.len() {
        for grown in (zeroed + 1)..(zeroed + NEAR) {
            let draw = |at: usize| best.get(at).copied().unwrap_or(0);
            if draw(zeroed) > 1 && draw(grown) == 0 && tries.left > 0 {
                let mut traded = best.clone();
                // Missing draws count as 0.
                traded.resize(best.len().max(grown + 1), 0);
                (traded[zeroed], traded[grown]) = (0, 1);
                tries.take(traded, best);
            }
        }
    }
}

/// Zeroes a later draw and increments an earlier one: two index rows become one row of two components.
fn bring_forward(best: &mut Vec<u64>, tries: &mut Tries<'_>) {
    for later in (0..best.len()).rev() {
        for earlier in 0..later {
            if best.get(later).is_some_and(|draw| *draw > 0) && tries.left > 0 {
                let mut moved = best.clone();
                (moved[later], moved[earlier]) = (0, best[earlier].saturating_add(1));
                tries.take(moved, best);
            }
        }
    }
}

/// The most draws that are removed together with the lowering of an earlier one.
const OF_ONE_PART: usize = 8;

/// Lowers a draw and removes some later ones: this removes a dim together with the draws for its indices.
fn lower_and_leave_out(best: &mut Vec<u64>, tries: &mut Tries<'_>) {
    for lowered in 0..best.len() {
        for width in 1..=OF_ONE_PART {
            let mut at = lowered + 1;
            while at + width <= best.len() && best[lowered] > 0 && tries.left > 0 {
                let mut without = best.clone();
                without[lowered] -= 1;
                without.drain(at..at + width);
                if !tries.take(without, best) {
                    at += 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_draw_is_traded_for_a_small_one() {
        // Either makes the call large enough, and the later one alone is enough.
        let fails = |draws: &[u64]| {
            draws.first().is_some_and(|draw| *draw >= 240) || draws.get(2).is_some_and(|draw| *draw >= 1)
        };
        assert_eq!(shrink(vec![250, 0, 0, 7], 1000, fails), [0, 0, 1]);
    }

    #[test]
    fn a_late_draw_gives_way_to_an_early_one() {
        // Two draws in one place do what one draw in each of two places does.
        let fails = |draws: &[u64]| match draws {
            [first, ..] if *first >= 2 => true,
            [first, _, third, ..] => *first >= 1 && *third >= 1,
            _ => false,
        };
        assert_eq!(shrink(vec![1, 0, 1], 1000, fails), [2]);
    }

    #[test]
    fn a_draw_is_lowered_with_what_it_counts() {
        // The first draw counts the pairs that follow. A list fails if the count is right and one pair is [1,
        // 1].
        let fails = |draws: &[u64]| match draws {
            [count, rest @ ..] => rest.len() as u64 == 2 * count && rest.chunks(2).any(|pair| pair == [1, 1]),
            _ => false,
        };
        assert_eq!(shrink(vec![3, 1, 0, 1, 1, 1, 0], 1000, fails), [1, 1, 1]);
    }

    #[test]
    fn what_does_not_matter_goes_and_what_does_is_lowered() {
        let fails = |draws: &[u64]| draws.iter().any(|draw| *draw >= 37);
        assert_eq!(shrink(vec![5, 900, 3, 40, 0, 0], 1000, fails), [37]);
    }

    #[test]
    fn what_matters_behind_a_thousand_draws_is_brought_to_the_front() {
        let fails = |draws: &[u64]| draws.contains(&37);
        let mut draws = vec![5; 3000];
        draws[1777] = 37;
        let mut tries = 0;
        let small = shrink(draws, 200, |candidate| {
            tries += 1;
            fails(candidate)
        });
        assert_eq!(small, [37], "after {tries} tries");
    }

    #[test]
    fn the_number_of_tries_is_limited() {
        let mut tries = 0;
        let draws = shrink(vec![u64::MAX; 100], 50, |_| {
            tries += 1;
            false
        });
        assert_eq!((draws.len(), tries), (100, 50));
    }
}
