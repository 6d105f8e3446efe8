//! What a caller may choose: attributes of the operator, policies on indices, instruction set, threads.

use std::num::NonZeroUsize;

use gather_spec::signature::Join;
use gather_spec::{BadIndex, NegativeIndex, Profile};

use crate::Level;

/// How to gather. The default is the documented one: no batch dims, the first non-batch axis, bad and negative
/// indices refused, the best level of the processor, as many threads as pay.
///
/// ```
/// use gather_optimized::{Options, gather};
/// use gather_spec::NegativeIndex;
/// use ndarray::array;
///
/// let last = Options::new().axis(-1).negative_index(NegativeIndex::Wrap);
/// let output = gather(&array![[1, 2, 3], [4, 5, 6]], &array![-1, 0], &last)?;
/// assert_eq!(output, array![[3, 1], [6, 4]].into_dyn());
/// # Ok::<(), gather_spec::Refusal>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub(crate) batch_dims: i64,
    pub(crate) axis: Option<i64>,
    pub(crate) join: Option<Join>,
    pub(crate) profile: Profile,
    pub(crate) level: Option<Level>,
    pub(crate) threads: Option<Threads>,
}

/// How many threads share the work, where the caller has a say in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threads {
    /// This many, whatever the size of the work.
    Exactly(NonZeroUsize),
    /// As many as pay, but no more than this.
    AtMost(NonZeroUsize),
}

impl Options {
    /// The documented behaviour.
    #[must_use]
    pub const fn new() -> Self {
        let profile = Profile { bad: BadIndex::Error, negative: NegativeIndex::Reject };
        Self { batch_dims: 0, axis: None, join: None, profile, level: None, threads: None }
    }

    /// The number of leading dims that params and indices share. `gather` lets a negative one count from the rank
    /// of indices. `take_along_axis` has no such attribute and refuses any but 0.
    #[must_use]
    pub const fn batch_dims(self, batch_dims: i64) -> Self {
        Self { batch_dims, ..self }
    }

    /// The axis of params that `gather` and `take_along_axis` select from; a negative one counts from the rank of
    /// params. `take_along_axis` requires it; `gather_nd` has no such attribute and refuses it.
    #[must_use]
    pub const fn axis(self, axis: i64) -> Self {
        Self { axis: Some(axis), ..self }
    }

    /// How the dims of params and indices off the axis relate, for `take_along_axis`; by default they broadcast, as in
    /// NumPy. `gather` and `gather_nd` have no such attribute and refuse it.
    #[must_use]
    pub const fn join(self, join: Join) -> Self {
        Self { join: Some(join), ..self }
    }

    /// What happens to an index outside its axis. `Unspecified` is answered like `Error`.
    #[must_use]
    pub const fn bad_index(self, bad: BadIndex) -> Self {
        Self { profile: Profile { bad, ..self.profile }, ..self }
    }

    /// What a negative index means.
    #[must_use]
    pub const fn negative_index(self, negative: NegativeIndex) -> Self {
        Self { profile: Profile { negative, ..self.profile }, ..self }
    }

    /// Both policies on indices.
    #[must_use]
    pub const fn profile(self, profile: Profile) -> Self {
        Self { profile, ..self }
    }

    /// The policies on indices that were chosen.
    #[must_use]
    pub const fn policies(self) -> Profile {
        self.profile
    }

    /// The instruction set to use; a processor without it refuses the call.
    #[must_use]
    pub const fn level(self, level: Level) -> Self {
        Self { level: Some(level), ..self }
    }

    /// The number of threads that share the work, whatever its size. They are those of the current rayon pool, so
    /// more than it has only makes smaller pieces.
    #[must_use]
    pub const fn threads(self, threads: NonZeroUsize) -> Self {
        Self { threads: Some(Threads::Exactly(threads)), ..self }
    }

    /// The most threads that share the work: fewer do where more do not pay.
    #[must_use]
    pub const fn at_most_threads(self, threads: NonZeroUsize) -> Self {
        Self { threads: Some(Threads::AtMost(threads)), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_choice_is_kept_and_leaves_the_others_alone() {
        let threads = NonZeroUsize::new(3).unwrap();
        let (bad, negative) = (BadIndex::Clamp, NegativeIndex::Wrap);
        let chosen = Options {
            batch_dims: 2,
            axis: Some(-1),
            join: Some(Join::NotLarger),
            profile: Profile { bad, negative },
            level: Some(Level::Portable),
            threads: Some(Threads::Exactly(threads)),
        };
        // Each choice is made once as the first and once as the last.
        let forwards = Options::new()
            .batch_dims(2)
            .axis(-1)
            .join(Join::NotLarger)
            .bad_index(bad)
            .negative_index(negative)
            .level(Level::Portable)
            .threads(threads);
        let backwards = Options::new()
            .threads(threads)
            .level(Level::Portable)
            .profile(Profile { bad, negative })
            .join(Join::NotLarger)
            .axis(-1)
            .batch_dims(2);
        assert_eq!((forwards, backwards), (chosen, chosen));
        assert_eq!(Options::new().negative_index(negative).bad_index(bad).policies(), chosen.profile);
    }
}
