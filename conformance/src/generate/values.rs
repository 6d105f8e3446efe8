//! The elements of drawn indices: good ones in runs and repetitions, and bad ones near and far.

use super::Choices;

/// What the elements of some indices are like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Values {
    /// Any, counted, always the first, or near the end of the axis.
    pub(crate) style: usize,
    /// One in so many is bad; none if it is 0.
    pub(crate) bad_in: usize,
    /// How many alternatives a bad one has, the nearest first: [`Values::NEAR`] or [`Values::ALL`].
    pub(crate) reach: usize,
}

impl Values {
    /// Bad indices that fit every dtype of indices.
    pub(crate) const NEAR: usize = 5;
    /// Bad indices that overflow what is too narrow, too.
    pub(crate) const ALL: usize = 9;

    pub(super) fn draw(choices: &mut Choices) -> Self {
        let bad_in = choices.pick(&[0, 0, 0, 0, 16, 4]);
        Self { style: choices.below(4), bad_in, reach: Self::ALL }
    }

    /// The index at a place of its row's axis, into an axis of this size.
    #[inline]
    pub(crate) fn value(self, choices: &mut Choices, row: usize, bound: usize) -> i64 {
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

    fn bad(self, choices: &mut Choices, bound: usize) -> i64 {
        let size = i64::try_from(bound).unwrap_or(i64::MAX);
        // A good index, if only the lower half is read.
        let low = 1 << 32 | i64::try_from(choices.below(bound)).unwrap_or(0);
        let bad = [size, -1, -size, -size - 1, size.saturating_add(1), 1 << 31, low, i64::MAX, i64::MIN];
        choices.pick(&bad[..self.reach])
    }
}
