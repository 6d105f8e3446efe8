//! The values of drawn indices: good ones in runs and repetitions, bad ones near and far.

use super::ChoiceSequence;

/// How to draw the values of an index tensor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Values {
    /// The pattern of good ones: random, counting up, always the first, or near the end of the axis.
    pub(crate) style: usize,
    /// One in this many indices is bad; 0 for none.
    pub(crate) bad_in: usize,
    /// How many of the bad values to draw from, nearest first: [`Values::NEAR`] or [`Values::ALL`].
    pub(crate) reach: usize,
}

impl Values {
    /// The bad values that fit every index dtype.
    pub(crate) const NEAR: usize = 5;
    /// All bad values, including those that overflow narrow dtypes.
    pub(crate) const ALL: usize = 9;

    pub(super) fn draw(choices: &mut ChoiceSequence) -> Self {
        let bad_in = choices.pick(&[0, 0, 0, 0, 16, 4]);
        Self { style: choices.below(4), bad_in, reach: Self::ALL }
    }

    /// An index for a row, into an axis of size `bound`.
    #[inline]
    pub(crate) fn value(self, choices: &mut ChoiceSequence, row: usize, bound: usize) -> i64 {
        if self.bad_in > 0 && choices.once_in(self.bad_in) {
            return self.bad(choices, bound);
        }
        let good = match self.style {
            0 => choices.below(bound),
            1 => row % bound.max(1),
            2 => 0,
            _ => bound.saturating_sub(1 + choices.below(2).min(bound.saturating_sub(1))),
        };
        i64::try_from(good).unwrap_or(0)
    }

    fn bad(self, choices: &mut ChoiceSequence, bound: usize) -> i64 {
        let size = i64::try_from(bound).unwrap_or(i64::MAX);
        // A good index if only the lower half is read.
        let low = 1 << 32 | i64::try_from(choices.below(bound)).unwrap_or(0);
        let bad = [size, -1, -size, -size - 1, size.saturating_add(1), 1 << 31, low, i64::MAX, i64::MIN];
        choices.pick(&bad[..self.reach])
    }
}

/// Many index values in closed form. It takes the same few draws for any number of rows, and puts bad rows where the
/// last vector, block or part begins or ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Regular {
    pattern: usize,
    seed: u64,
    /// The bad rows, and how far beyond the axis their values are.
    bad: Option<(usize, BadRows)>,
}

/// Which rows are bad.
#[derive(Clone, Copy, Debug)]
enum BadRows {
    /// One row, in this component.
    Row(usize, usize),
    /// One in this many rows.
    Every(usize),
}

/// Distances of a bad row from the end: the last rows of vectors and blocks.
const FROM_THE_END: [usize; 14] = [0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 128];
/// Positions of a bad row: the first row of the second vector, block or part, and the row before it.
const FROM_THE_START: [usize; 14] = [0, 1, 3, 4, 7, 8, 15, 16, 63, 64, 127, 128, 1023, 1024];
/// The least distance between bad rows.
const DISTANCES: [usize; 6] = [3, 1, 16, 64, 7, 256];

impl Regular {
    /// Draws a pattern for this many rows and components.
    pub(super) fn draw(choices: &mut ChoiceSequence, rows: usize, components: usize) -> Self {
        let pattern = choices.below(7);
        let seed = choices.below(1 << 16) as u64;
        let value = choices.below(Values::NEAR);
        let row = |at: usize| at.min(rows.saturating_sub(1));
        let bad = match choices.below(10) {
            0..4 => None,
            4 | 5 => Some(BadRows::Row(
                row(rows.saturating_sub(1 + choices.pick(&FROM_THE_END))),
                choices.below(components),
            )),
            6 => Some(BadRows::Row(row(choices.pick(&FROM_THE_START)), choices.below(components))),
            7 => Some(BadRows::Row(choices.below(rows), choices.below(components))),
            _ => Some(BadRows::Every(choices.pick(&DISTANCES))),
        };
        Self { pattern, seed, bad: bad.map(|bad| (value, bad)) }
    }

    /// The index for a component of a row, into an axis of size `bound`.
    pub(super) fn value(self, row: usize, component: usize, bound: usize) -> i64 {
        let size = bound.cast_signed() as i64;
        if let Some((value, bad)) = self.bad {
            let is_bad = match bad {
                BadRows::Row(at, of) => (row, component) == (at, of),
                BadRows::Every(many) => (row + component) % many == many - 1,
            };
            if is_bad {
                return [size, -1, -size, -size - 1, size.saturating_add(1)][value];
            }
        }
        let bound = bound.max(1);
        let at = row + component;
        let good = match self.pattern {
            0 => at % bound,
            1 => bound - 1 - at % bound,
            2 => at * 3 % bound,
            3 => self.constant(bound),
            4 => (at ^ 64) % bound,
            // Long runs, as in sorted indices.
            5 => at / 16 % bound,
            _ => self.scattered(at, bound),
        };
        good.cast_signed() as i64
    }

    #[allow(clippy::cast_possible_truncation, reason = "the remainder is taken of the seed")]
    const fn constant(self, bound: usize) -> usize {
        self.seed as usize % bound
    }

    #[allow(clippy::cast_possible_truncation, reason = "any bits will do")]
    fn scattered(self, at: usize, bound: usize) -> usize {
        let mut state = self.seed ^ (at as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        super::split_mix(&mut state) as usize % bound
    }
}
