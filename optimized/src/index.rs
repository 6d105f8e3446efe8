//! The types an index may have, and what an index means on an axis. No policy on bad indices lives here.

use gather_spec::NegativeIndex;

/// An integer type that indices may have: `i8` to `i64` and `u8` to `u64`.
///
/// Sealed: kernels rely on the values that the methods give.
pub trait Index: sealed::Sealed + Copy + Send + Sync + 'static {
    #[doc(hidden)]
    const SIGNED: bool;

    /// Whether [`Index::locate`] wraps, asked to or not.
    #[doc(hidden)]
    const WRAPS: bool = false;

    /// The value, exactly.
    fn value(self) -> i128;

    /// The place on an axis of `bound` elements, and whether there is one; without one the place means nothing.
    /// `WRAP` lets `-bound <= i < 0` mean `i + bound`.
    #[doc(hidden)]
    fn locate<const WRAP: bool>(self, bound: usize) -> (usize, bool);

    /// The Euclidean remainder by `bound > 0`.
    #[doc(hidden)]
    fn remainder(self, bound: usize) -> usize;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! signed {
    ($($ty:ty),+) => {$(
        impl sealed::Sealed for $ty {}
        impl Index for $ty {
            const SIGNED: bool = true;

            #[inline(always)]
            fn value(self) -> i128 {
                i128::from(self)
            }

            #[inline(always)]
            #[allow(clippy::cast_possible_truncation, reason = "a place is below `bound`, which is a usize")]
            fn locate<const WRAP: bool>(self, bound: usize) -> (usize, bool) {
                let value = i64::from(self);
                let wrapped = if WRAP && value < 0 { value.wrapping_add((bound as u64).cast_signed()) } else { value };
                let wrapped = wrapped.cast_unsigned();
                (wrapped as usize, wrapped < bound as u64)
            }

            #[inline]
            #[allow(clippy::cast_possible_truncation, reason = "a remainder is below `bound`, which is a usize")]
            fn remainder(self, bound: usize) -> usize {
                let (value, bound) = (i64::from(self), bound as u64);
                let rest = value.unsigned_abs() % bound;
                (if value < 0 && rest > 0 { bound - rest } else { rest }) as usize
            }
        }
    )+};
}

macro_rules! unsigned {
    ($($ty:ty),+) => {$(
        impl sealed::Sealed for $ty {}
        impl Index for $ty {
            const SIGNED: bool = false;

            #[inline(always)]
            fn value(self) -> i128 {
                i128::from(self)
            }

            #[inline(always)]
            #[allow(clippy::cast_possible_truncation, reason = "a place is below `bound`, which is a usize")]
            fn locate<const WRAP: bool>(self, bound: usize) -> (usize, bool) {
                let value = u64::from(self);
                (value as usize, value < bound as u64)
            }

            #[inline]
            #[allow(clippy::cast_possible_truncation, reason = "a remainder is below `bound`, which is a usize")]
            fn remainder(self, bound: usize) -> usize {
                (u64::from(self) % bound as u64) as usize
            }
        }
    )+};
}

signed!(i8, i16, i32, i64);
unsigned!(u8, u16, u32, u64);

/// An index of which a negative value counts from the end of its axis, for kernels that ask no policy.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Wrapping<I>(I);

impl<I: Index> sealed::Sealed for Wrapping<I> {}
impl<I: Index> Index for Wrapping<I> {
    const SIGNED: bool = I::SIGNED;
    const WRAPS: bool = true;

    #[inline(always)]
    fn value(self) -> i128 {
        self.0.value()
    }

    #[inline(always)]
    fn locate<const WRAP: bool>(self, bound: usize) -> (usize, bool) {
        self.0.locate::<true>(bound)
    }

    #[inline]
    fn remainder(self, bound: usize) -> usize {
        self.0.remainder(bound)
    }
}

/// The place of an index on an axis of `bound` elements; `None` if the index is bad.
#[inline]
pub(crate) fn place<I: Index>(index: I, bound: usize, negative: NegativeIndex) -> Option<usize> {
    let (at, good) = match negative {
        NegativeIndex::Reject => index.locate::<false>(bound),
        NegativeIndex::Wrap => index.locate::<true>(bound),
    };
    good.then_some(at)
}

/// The place on an axis of `bound > 0` elements nearest to where the index points.
#[inline]
pub(crate) fn nearest_place<I: Index>(index: I, bound: usize, negative: NegativeIndex) -> usize {
    match negative {
        NegativeIndex::Reject => nearest::<I, false>(index, bound),
        NegativeIndex::Wrap => nearest::<I, true>(index, bound),
    }
}

/// [`nearest_place`], wrapping or not.
#[inline(always)]
pub(crate) fn nearest<I: Index, const WRAP: bool>(index: I, bound: usize) -> usize {
    let (at, good) = index.locate::<WRAP>(bound);
    let end = if index.value().is_negative() { 0 } else { bound - 1 };
    if good { at } else { end }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_rejects_what_lies_outside() {
        assert_eq!(place(i8::MIN, 127, NegativeIndex::Reject), None);
        assert_eq!(place(u8::MAX, 256, NegativeIndex::Reject), Some(255));
        assert_eq!(place(u64::MAX, usize::MAX >> 1, NegativeIndex::Wrap), None);
        assert_eq!(place(i64::MIN, 5, NegativeIndex::Wrap), None);
    }

    #[test]
    fn wrapping_reaches_exactly_the_first_element() {
        assert_eq!(place(-3i32, 3, NegativeIndex::Wrap), Some(0));
        assert_eq!(place(-4i32, 3, NegativeIndex::Wrap), None);
        assert_eq!(place(-1i16, 3, NegativeIndex::Wrap), Some(2));
        assert_eq!(place(-1i16, 0, NegativeIndex::Wrap), None);
    }

    #[test]
    fn remainders_are_never_negative() {
        assert_eq!([-3i32, -2, -1, 0, 2, 3, 4].map(|index| index.remainder(3)), [0, 1, 2, 0, 2, 0, 1]);
        assert_eq!((i64::MIN.remainder(1 << 40), i64::MIN.remainder(3)), (0, 1));
        assert_eq!((i8::MIN.remainder(5), i64::MAX.remainder(usize::MAX)), (2, (1 << 63) - 1));
        assert_eq!((u64::MAX.remainder(7), u8::MAX.remainder(256)), (1, 255));
    }

    #[test]
    fn clamping_takes_the_nearest_end_after_wrapping() {
        assert_eq!(nearest_place(-4i64, 3, NegativeIndex::Wrap), 0);
        assert_eq!(nearest_place(-1i64, 3, NegativeIndex::Wrap), 2);
        assert_eq!(nearest_place(-1i64, 3, NegativeIndex::Reject), 0);
        assert_eq!(nearest_place(u64::MAX, 3, NegativeIndex::Reject), 2);
    }
}
