//! What a caller may choose: attributes of the operator, policies on indices, instruction set, threads.

use std::num::NonZeroUsize;

use gather_spec::signature::Join;
use gather_spec::{BadIndex, EmptyAxis, NegativeIndex, Profile};

use crate::levels::Level;
use crate::policy::{Filled, Zeros};

/// How to gather. The default is the documented one: no batch dims, the first non-batch axis, bad and negative
/// indices refused, the best level of the processor, as many threads as pay.
///
/// `F` is what an element with a bad index is where that is no error: [`Zeros`], or what [`Options::fill`] chose.
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
pub struct Options<F = Zeros> {
    pub(crate) choices: Choices,
    pub(crate) fill: F,
}

/// The choices that do not depend on the type of the elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Choices {
    pub(crate) batch_dims: i64,
    pub(crate) axis: Option<i64>,
    pub(crate) join: Option<Join>,
    pub(crate) profile: Profile,
    /// What an index into an empty axis gives where a bad index is no error.
    pub(crate) empty_axis: EmptyAxis,
    pub(crate) level: Option<Level>,
    pub(crate) threads: Option<Threads>,
}

/// How many threads share the work, where the caller has a say in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threads {
    /// This many, regardless of the size of the work.
    Exactly(NonZeroUsize),
    /// As many as pay, but no more than this.
    AtMost(NonZeroUsize),
}

impl Options {
    /// The documented behaviour.
    #[must_use]
    pub const fn new() -> Self {
        let profile = Profile { bad: BadIndex::Error, negative: NegativeIndex::Reject };
        let choices = Choices {
            batch_dims: 0,
            axis: None,
            join: None,
            profile,
            empty_axis: EmptyAxis::Zero,
            level: None,
            threads: None,
        };
        Self { choices, fill: Zeros }
    }

    /// What happens to an index outside its axis. `Unspecified` is answered like `Error`, and `Fill` like `Zero` as long
    /// as no element was chosen: see [`Options::fill`]. See also [`Options::modulo`].
    #[must_use]
    pub const fn bad_index(mut self, bad: BadIndex) -> Self {
        self.choices.profile.bad = bad;
        self
    }

    /// Both policies on indices.
    #[must_use]
    pub const fn profile(self, profile: Profile) -> Self {
        self.negative_index(profile.negative).bad_index(profile.bad)
    }

    /// [`BadIndex::Modulo`]: takes every index modulo the size of its axis, so that -1 is the last element and the size is the first: the
    /// remainder is Euclidean, never negative. An index into an axis without elements is `index-out-of-range`.
    ///
    /// ```
    /// use gather_optimized::{Options, gather};
    /// use ndarray::array;
    ///
    /// let output = gather(&array![10, 20, 30], &array![3, -1, 7, -7], &Options::new().modulo())?;
    /// assert_eq!(output, array![10, 30, 20, 30].into_dyn());
    /// # Ok::<(), gather_spec::Refusal>(())
    /// ```
    #[must_use]
    pub const fn modulo(mut self) -> Self {
        self.choices.profile.bad = BadIndex::Modulo;
        self
    }

    /// Fills what a bad index would select with `value`, bit by bit, as [`BadIndex::Zero`] does with zeros: one bad
    /// component fills the whole slice of its row. The value has the type of params. Policies on bad indices that were
    /// chosen before are replaced.
    ///
    /// ```
    /// use gather_optimized::{Options, gather};
    /// use ndarray::array;
    ///
    /// let params = array![[1.5, 2.5], [3.5, 4.5]];
    /// let output = gather(&params, &array![1, 9], &Options::new().fill(-1.0))?;
    /// assert_eq!(output, array![[3.5, 4.5], [-1.0, -1.0]].into_dyn());
    /// # Ok::<(), gather_spec::Refusal>(())
    /// ```
    #[must_use]
    pub fn fill<A>(self, value: A) -> Options<Filled<A>> {
        let Self { choices, .. } = self.bad_index(BadIndex::Fill);
        Options { choices, fill: Filled(value) }
    }
}

impl<F> Options<F> {
    /// The number of leading dims that params and indices share. `gather` lets a negative one count from the rank
    /// of indices. `take_along_axis` and `gather_windows` have no such attribute and refuse any but 0.
    #[must_use]
    pub const fn batch_dims(mut self, batch_dims: i64) -> Self {
        self.choices.batch_dims = batch_dims;
        self
    }

    /// The axis of params that `gather` and `take_along_axis` select from; a negative one counts from the rank of
    /// params. `take_along_axis` requires it; `gather_nd` and `gather_windows` have no such attribute and refuse it.
    #[must_use]
    pub const fn axis(mut self, axis: i64) -> Self {
        self.choices.axis = Some(axis);
        self
    }

    /// How the dims of params and indices off the axis relate, for `take_along_axis`; by default they broadcast, as in
    /// NumPy. The other functions have no such attribute and refuse it.
    #[must_use]
    pub const fn join(mut self, join: Join) -> Self {
        self.choices.join = Some(join);
        self
    }

    /// What a negative index means. [`Options::modulo`] gives it a meaning of its own.
    #[must_use]
    pub const fn negative_index(mut self, negative: NegativeIndex) -> Self {
        self.choices.profile.negative = negative;
        self
    }

    /// Both policies on indices, as they were chosen.
    #[must_use]
    pub const fn get_profile(&self) -> Profile {
        self.choices.profile
    }

    /// The instruction set to use; a processor without it refuses the call.
    #[must_use]
    pub const fn level(mut self, level: Level) -> Self {
        self.choices.level = Some(level);
        self
    }

    /// The most threads of the current rayon pool that share the work: fewer do where more do not pay. With 1 a call
    /// stays on the thread that makes it, which suits calls from inside a parallel loop.
    #[must_use]
    pub const fn threads(mut self, threads: NonZeroUsize) -> Self {
        self.choices.threads = Some(Threads::AtMost(threads));
        self
    }

    /// The number of threads that share the work, regardless of its size: for tests, because it is hardly
    /// ever the fastest. With more than the pool has, the pieces are smaller.
    #[doc(hidden)]
    #[must_use]
    pub const fn exactly_threads(mut self, threads: NonZeroUsize) -> Self {
        self.choices.threads = Some(Threads::Exactly(threads));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_choice_is_kept_and_leaves_the_others_alone() {
        let (threads, level) = (NonZeroUsize::new(3).unwrap(), Level::ALL[0]);
        let (bad, negative) = (BadIndex::Clamp, NegativeIndex::Wrap);
        let choices = Choices {
            batch_dims: 2,
            axis: Some(-1),
            join: Some(Join::NotLarger),
            profile: Profile { bad, negative },
            empty_axis: EmptyAxis::Zero,
            level: Some(level),
            threads: Some(Threads::AtMost(threads)),
        };
        let chosen = Options { choices, fill: Zeros };
        // Each choice is made once as the first and once as the last.
        let forwards = Options::new()
            .batch_dims(2)
            .axis(-1)
            .join(Join::NotLarger)
            .bad_index(bad)
            .negative_index(negative)
            .level(level)
            .threads(threads);
        let backwards = Options::new()
            .threads(threads)
            .level(level)
            .profile(Profile { bad, negative })
            .join(Join::NotLarger)
            .axis(-1)
            .batch_dims(2);
        assert_eq!((forwards, backwards), (chosen, chosen));
        assert_eq!(Options::new().negative_index(negative).bad_index(bad).get_profile(), choices.profile);
    }

    #[test]
    fn the_last_policy_on_bad_indices_replaces_those_before() {
        let modulo = Options::new().bad_index(BadIndex::Clamp).modulo();
        assert_eq!(modulo.get_profile().bad, BadIndex::Modulo);
        assert_eq!(modulo.bad_index(BadIndex::Zero).get_profile().bad, BadIndex::Zero);
        let filled = modulo.axis(1).fill(7u8).level(Level::ALL[0]);
        assert_eq!(filled.get_profile().bad, BadIndex::Fill);
        assert_eq!((filled.fill, filled.choices.axis), (Filled(7), Some(1)));
    }
}
