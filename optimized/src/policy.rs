//! What becomes of an index outside its axis, and the element that takes the place of what a bad one would select.

use gather_spec::{BadIndex, NegativeIndex, Profile};

use crate::index::{Locate, nearest_place, place};

/// The policies that a call runs under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Policies {
    pub bad: Bad,
    pub negative: NegativeIndex,
}

/// What a bad index does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bad {
    /// The call is refused.
    Error,
    /// What the index row selects is zeros, or the caller's element.
    Fill,
    /// The nearest end of the axis is meant.
    Clamp,
    /// The Euclidean remainder by the size of the axis is meant.
    Modulo,
}

impl Policies {
    pub(crate) const fn new(profile: Profile) -> Self {
        let bad = match profile.bad {
            BadIndex::Error | BadIndex::Unspecified => Bad::Error,
            BadIndex::Zero | BadIndex::Fill => Bad::Fill,
            BadIndex::Clamp => Bad::Clamp,
            BadIndex::Modulo => Bad::Modulo,
        };
        Self { bad, negative: profile.negative }
    }

    /// Whether an index without a place on its axis is an error under these policies.
    pub(crate) fn refuses<I: Locate>(self, index: I, bound: usize) -> bool {
        match self.bad {
            Bad::Error => place(index, bound, self.negative).is_none(),
            // A remainder by 0 there is not.
            Bad::Modulo => bound == 0,
            Bad::Fill | Bad::Clamp => false,
        }
    }

    /// The place of an index on an axis of `bound > 0` elements; `None` if the index is bad and the policies
    /// move it to no place.
    #[inline]
    pub(crate) fn place<I: Locate>(self, index: I, bound: usize) -> Option<usize> {
        match self.bad {
            Bad::Error | Bad::Fill => place(index, bound, self.negative),
            Bad::Clamp => Some(nearest_place(index, bound, self.negative)),
            Bad::Modulo => Some(index.remainder(bound)),
        }
    }
}

/// The element for a bad index, where that is no error: the default value of its type, which is zero, or the
/// value that [`Options::fill`](crate::Options::fill) chose. Sealed.
pub trait Fill<A>: sealed::Sealed {
    /// The chosen value; `None` for the default value of the type.
    #[doc(hidden)]
    fn chosen(&self) -> Option<&A>;
}

/// Elements with a bad index are zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Zeros;

/// Elements with a bad index are this value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filled<A>(pub(crate) A);

impl<A> Fill<A> for Zeros {
    #[inline(always)]
    fn chosen(&self) -> Option<&A> {
        None
    }
}

impl<A> Fill<A> for Filled<A> {
    #[inline(always)]
    fn chosen(&self) -> Option<&A> {
        Some(&self.0)
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Zeros {}
    impl<A> Sealed for super::Filled<A> {}
}

/// Calls a function of index type `$of`, or of the type that it is under policies.
macro_rules! under {
    ($policies:expr, $of:ty, $function:ident($($argument:expr),+ $(,)?)) => {{
        use gather_spec::NegativeIndex::Wrap;

        use crate::index::{FromEitherEnd, Nearest, Remainder};
        use crate::policy::Bad::{Clamp, Error, Fill, Modulo};
        match ($policies.bad, $policies.negative) {
            // Unsigned indices are compiled once for both.
            (Error | Fill, Wrap) if <$of>::SIGNED => $function::<FromEitherEnd<$of>>($($argument),+),
            (Error | Fill, _) => $function::<$of>($($argument),+),
            (Clamp, Wrap) if <$of>::SIGNED => $function::<Nearest<FromEitherEnd<$of>>>($($argument),+),
            (Clamp, _) => $function::<Nearest<$of>>($($argument),+),
            (Modulo, _) => $function::<Remainder<$of>>($($argument),+),
        }
    }};
}
pub(crate) use under;
