//! A source of decisions that can be replayed and made simpler.

/// Draws decisions from a seed, or from a list recorded or chosen by somebody else, such as proptest.
///
/// A draw of 0 always means the simplest alternative, and an exhausted list goes on with zeros, so that cutting a list
/// short or making its numbers smaller gives simpler calls.
///
/// ```
/// use gather_conformance::generate::Choices;
/// let mut first = Choices::from_seed(7);
/// let mut again = Choices::from_seed(7);
/// assert_eq!(first.below(100), again.below(100));
/// assert_eq!(Choices::from_draws(vec![]).below(100), 0);
/// ```
#[derive(Clone, Debug)]
pub struct Choices {
    source: Source,
    drawn: Vec<u64>,
}

#[derive(Clone, Debug)]
enum Source {
    Seed(u64),
    Draws(std::vec::IntoIter<u64>),
}

impl Choices {
    /// Decisions that follow from a seed.
    #[must_use]
    pub const fn from_seed(seed: u64) -> Self {
        Self { source: Source::Seed(seed), drawn: Vec::new() }
    }

    /// Decisions that were recorded, then zeros.
    #[must_use]
    pub fn from_draws(draws: Vec<u64>) -> Self {
        Self { source: Source::Draws(draws.into_iter()), drawn: Vec::new() }
    }

    /// Starts again from another seed; the memory for draws is kept.
    pub fn reseed(&mut self, seed: u64) {
        self.source = Source::Seed(seed);
        self.drawn.clear();
    }

    /// What has been drawn so far, each number as it was answered: with [`Choices::from_draws`], the same again.
    #[must_use]
    pub fn drawn(&self) -> &[u64] {
        &self.drawn
    }

    /// A number below `count`, or 0 if that is 0.
    #[inline]
    pub fn below(&mut self, count: usize) -> usize {
        let count = count.max(1) as u64;
        let number = match &mut self.source {
            // The upper half of a product spares a division.
            Source::Seed(state) => {
                u64::try_from((u128::from(split_mix(state)) * u128::from(count)) >> 64).unwrap_or(0)
            }
            Source::Draws(draws) => draws.next().unwrap_or(0) % count,
        };
        self.drawn.push(number);
        usize::try_from(number).unwrap_or(0)
    }

    /// Whether something happens that happens once in `many` times; the simpler answer is no.
    pub fn once_in(&mut self, many: usize) -> bool {
        self.below(many) == many - 1
    }

    /// One of some alternatives, the simplest first.
    ///
    /// # Panics
    /// If there is none.
    pub fn pick<T: Copy>(&mut self, alternatives: &[T]) -> T {
        alternatives[self.below(alternatives.len())]
    }
}

/// `SplitMix64`: small, and good enough to choose test cases with.
#[inline]
pub(crate) fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
