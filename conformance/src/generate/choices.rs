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

    /// What has been drawn so far: with [`Choices::from_draws`], the same again.
    #[must_use]
    pub fn drawn(&self) -> &[u64] {
        &self.drawn
    }

    fn draw(&mut self) -> u64 {
        let draw = match &mut self.source {
            Source::Seed(state) => split_mix(state),
            Source::Draws(draws) => draws.next().unwrap_or(0),
        };
        self.drawn.push(draw);
        draw
    }

    /// A number below `count`, or 0 if that is 0.
    pub fn below(&mut self, count: usize) -> usize {
        let draw = self.draw();
        usize::try_from(draw % (count.max(1) as u64)).unwrap_or(0)
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
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
