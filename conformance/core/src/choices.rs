//! The source of randomness: a stream of decisions that can be recorded, replayed and shrunk.

/// Draws decisions, either from a seed or from a list that was recorded or that another tool, such as proptest, supplies.
///
/// A draw of 0 always selects the simplest alternative, and an exhausted list continues with zeros. So a shorter list, or
/// smaller numbers, give a simpler call, and a shrinker needs to know nothing else.
///
/// ```
/// use gather_conformance::internals::choices::ChoiceSequence;
/// let mut first = ChoiceSequence::from_seed(7);
/// let mut again = ChoiceSequence::from_seed(7);
/// assert_eq!(first.below(100), again.below(100));
/// assert_eq!(ChoiceSequence::from_draws(vec![]).below(100), 0);
/// ```
#[derive(Clone, Debug)]
pub struct ChoiceSequence {
    source: DrawSource,
    drawn: Vec<u64>,
}

#[derive(Clone, Debug)]
enum DrawSource {
    Seed(u64),
    Draws(std::vec::IntoIter<u64>),
}

impl ChoiceSequence {
    /// Draws that follow from a seed.
    #[must_use]
    pub const fn from_seed(seed: u64) -> Self {
        Self { source: DrawSource::Seed(seed), drawn: Vec::new() }
    }

    /// Draws from a list, then zeros.
    #[must_use]
    pub fn from_draws(draws: Vec<u64>) -> Self {
        Self { source: DrawSource::Draws(draws.into_iter()), drawn: Vec::new() }
    }

    /// Starts over from another seed. Keeps the memory of the recorded draws.
    pub fn reseed(&mut self, seed: u64) {
        self.source = DrawSource::Seed(seed);
        self.drawn.clear();
    }

    /// Everything drawn so far. Passed to [`ChoiceSequence::from_draws`], it gives the same decisions again.
    #[must_use]
    pub fn drawn(&self) -> &[u64] {
        &self.drawn
    }

    /// A number below `count`; 0 if `count` is 0.
    #[inline]
    pub fn below(&mut self, count: usize) -> usize {
        let count = count.max(1) as u64;
        let number = match &mut self.source {
            // The upper half of the product avoids a division.
            DrawSource::Seed(state) => {
                u64::try_from((u128::from(split_mix(state)) * u128::from(count)) >> 64).unwrap_or(0)
            }
            DrawSource::Draws(draws) => draws.next().unwrap_or(0) % count,
        };
        self.drawn.push(number);
        usize::try_from(number).unwrap_or(0)
    }

    /// Whether an event occurs that has a chance of one in `many`. The simpler answer is no.
    pub fn once_in(&mut self, many: usize) -> bool {
        self.below(many) == many - 1
    }

    /// One of the alternatives, which are listed simplest first.
    ///
    /// # Panics
    /// If there are none.
    pub fn pick<T: Copy>(&mut self, alternatives: &[T]) -> T {
        alternatives[self.below(alternatives.len())]
    }
}

/// `SplitMix64`: small, and random enough to choose test cases.
#[inline]
pub fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
