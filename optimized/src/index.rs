//! The types an index may have, and what an index means on an axis: for kernels that ask no policy, an index under a policy
//! is a type of its own.

use gather_spec::NegativeIndex;

/// An index as kernels see it: an integer, or one under a policy. The module is private, so no other crate implements it, and
/// kernels may rely on what the methods give.
pub trait Locate: Copy + Send + Sync + 'static {
    const SIGNED: bool;

    /// The type of at least 32 bits, with the same values, that loops over single elements are compiled for.
    type Wide: Locate;

    /// The same value.
    fn widen(self) -> Self::Wide;

    /// What [`Locate::locate`] makes of an index.
    const MEANING: Meaning = Meaning::Itself;

    /// The value, exactly.
    fn value(self) -> i128;

    /// The place on an axis of `bound > 0` elements, and whether there is one; without one the place means nothing.
    fn locate(self, bound: usize) -> (usize, bool);

    /// The same, where `-bound <= i < 0` means `i + bound`.
    fn locate_from_either_end(self, bound: usize) -> (usize, bool);

    /// The Euclidean remainder by `bound > 0`.
    fn remainder(self, bound: usize) -> usize;
}

/// What an index means, for kernels that do not ask [`Locate::locate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The place of its value.
    Itself,
    /// Likewise, but negative values count from the end.
    FromEitherEnd,
    /// The place nearest to its value.
    Nearest,
    /// Likewise, but negative values count from the end.
    NearestFromEitherEnd,
    /// The Euclidean remainder of its value.
    Remainder,
}

macro_rules! signed {
    ($($ty:ty as $wide:ty),+) => {$(
        impl Locate for $ty {
            const SIGNED: bool = true;
            type Wide = $wide;

            #[inline(always)]
            fn widen(self) -> $wide {
                self.into()
            }

            #[inline(always)]
            fn value(self) -> i128 {
                i128::from(self)
            }

            #[inline(always)]
            #[allow(clippy::cast_possible_truncation, reason = "a place is below `bound`, which is a usize")]
            fn locate(self, bound: usize) -> (usize, bool) {
                let value = i64::from(self).cast_unsigned();
                (value as usize, value < bound as u64)
            }

            #[inline(always)]
            #[allow(clippy::cast_possible_truncation, reason = "a place is below `bound`, which is a usize")]
            fn locate_from_either_end(self, bound: usize) -> (usize, bool) {
                let value = i64::from(self);
                let wrapped = if value < 0 { value.wrapping_add((bound as u64).cast_signed()) } else { value };
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
    ($($ty:ty as $wide:ty),+) => {$(
        impl Locate for $ty {
            const SIGNED: bool = false;
            type Wide = $wide;

            #[inline(always)]
            fn widen(self) -> $wide {
                self.into()
            }

            #[inline(always)]
            fn value(self) -> i128 {
                i128::from(self)
            }

            #[inline(always)]
            #[allow(clippy::cast_possible_truncation, reason = "a place is below `bound`, which is a usize")]
            fn locate(self, bound: usize) -> (usize, bool) {
                let value = u64::from(self);
                (value as usize, value < bound as u64)
            }

            #[inline(always)]
            fn locate_from_either_end(self, bound: usize) -> (usize, bool) {
                self.locate(bound)
            }

            #[inline]
            #[allow(clippy::cast_possible_truncation, reason = "a remainder is below `bound`, which is a usize")]
            fn remainder(self, bound: usize) -> usize {
                (u64::from(self) % bound as u64) as usize
            }
        }
    )+};
}

signed!(i8 as i32, i16 as i32, i32 as i32, i64 as i64);
unsigned!(u8 as i32, u16 as i32, u32 as u32, u64 as u64);

/// Defines index types of one field, each with what it means, how it is located, and what it is.
macro_rules! under_a_policy {
    ($($(#[$about:meta])+ $name:ident: $meaning:expr, |$index:ident, $bound:ident| $locate:expr;)+) => {$(
        $(#[$about])+
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub(crate) struct $name<I>(I);

        impl<I: Locate> Locate for $name<I> {
            const SIGNED: bool = I::SIGNED;
            const MEANING: Meaning = $meaning;
            type Wide = $name<I::Wide>;

            #[inline(always)]
            fn widen(self) -> Self::Wide {
                $name(self.0.widen())
            }

            #[inline(always)]
            fn value(self) -> i128 {
                self.0.value()
            }

            #[inline(always)]
            fn locate(self, $bound: usize) -> (usize, bool) {
                let $index = self.0;
                $locate
            }

            #[inline(always)]
            fn locate_from_either_end(self, bound: usize) -> (usize, bool) {
                self.0.locate_from_either_end(bound)
            }

            #[inline]
            fn remainder(self, bound: usize) -> usize {
                self.0.remainder(bound)
            }
        }
    )+};
}

under_a_policy! {
    /// An index whose negative values count from the end of its axis.
    FromEitherEnd: Meaning::FromEitherEnd, |index, bound| index.locate_from_either_end(bound);

    /// An index that means the nearest end of its axis where it would be bad. It always has a place.
    Nearest: match I::MEANING {
        Meaning::FromEitherEnd => Meaning::NearestFromEitherEnd,
        _ => Meaning::Nearest,
    }, |index, bound| (nearest(index, bound), true);

    /// An index that means its Euclidean remainder by the size of its axis. It always has a place.
    Remainder: Meaning::Remainder, |index, bound| (remainder(index, bound), true);
}

/// The place of an index on an axis of `bound` elements; `None` if the index is bad.
#[inline]
pub(crate) fn place<I: Locate>(index: I, bound: usize, negative: NegativeIndex) -> Option<usize> {
    let (at, good) = match negative {
        NegativeIndex::Reject => index.locate(bound),
        NegativeIndex::Wrap => index.locate_from_either_end(bound),
    };
    good.then_some(at)
}

/// The place on an axis of `bound > 0` elements nearest to where the index points.
#[inline]
pub(crate) fn nearest_place<I: Locate>(index: I, bound: usize, negative: NegativeIndex) -> usize {
    match negative {
        NegativeIndex::Reject => nearest(index, bound),
        NegativeIndex::Wrap => nearest(FromEitherEnd(index), bound),
    }
}

/// The place of an index, or the end of the axis that it lies beyond.
#[inline(always)]
fn nearest<I: Locate>(index: I, bound: usize) -> usize {
    let (at, good) = index.locate(bound);
    let end = if index.value().is_negative() { 0 } else { bound - 1 };
    if good { at } else { end }
}

/// [`Locate::remainder`], without a division where the index lies less than one size outside its axis.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "a place below `bound`")]
fn remainder<I: Locate>(index: I, bound: usize) -> usize {
    let near = near_remainder(index, bound);
    if near < bound as u64 { near as usize } else { index.remainder(bound) }
}

/// The Euclidean remainder by `bound > 0` of an index that lies less than one size outside its axis; at least `bound` for any
/// other.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "the low bits of a sum that is tested")]
pub(crate) fn near_remainder<I: Locate>(index: I, bound: usize) -> u64 {
    let (value, size) = (index.value().cast_unsigned() as u64, bound as u64);
    let nearer = if I::SIGNED && value.cast_signed() < 0 {
        value.wrapping_add(size)
    } else {
        value.wrapping_sub(size)
    };
    // At most one of them is a place; no other wraps around to less than the size.
    value.min(nearer)
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
    fn remainders_near_the_axis_are_those_of_the_division() {
        fn agree<I: Locate>(indices: &[I]) {
            for bound in [1, 2, 3, 127, 128, 129, 255, 256, 257, 1 << 40] {
                for index in indices {
                    assert_eq!(
                        remainder(*index, bound),
                        index.remainder(bound),
                        "{} by {bound}",
                        index.value()
                    );
                }
            }
        }
        agree(&(i8::MIN..=i8::MAX).collect::<Vec<_>>());
        agree(&(u8::MIN..=u8::MAX).collect::<Vec<_>>());
        agree(&[i64::MIN, i64::MIN + 1, -129, -128, -1, 0, 1, 257, 1 << 40, (1 << 41) - 1, i64::MAX]);
        agree(&[0, 1, 256, 257, 1 << 63, u64::MAX - 127, u64::MAX]);
    }

    #[test]
    fn an_index_under_a_policy_is_located_by_it() {
        let locate = |index: i32| {
            let under = (Nearest(index), Nearest(FromEitherEnd(index)), Remainder(index));
            [under.0.locate(3), under.1.locate(3), under.2.locate(3)]
        };
        assert_eq!(locate(-4), [(0, true), (0, true), (2, true)]);
        assert_eq!(locate(-1), [(0, true), (2, true), (2, true)]);
        assert_eq!(locate(1), [(1, true); 3]);
        assert_eq!(locate(4), [(2, true), (2, true), (1, true)]);
        assert_eq!((FromEitherEnd(-1i32).locate(3), FromEitherEnd(-4i32).locate(3).1), ((2, true), false));
    }

    #[test]
    fn clamping_takes_the_nearest_end_after_wrapping() {
        assert_eq!(nearest_place(-4i64, 3, NegativeIndex::Wrap), 0);
        assert_eq!(nearest_place(-1i64, 3, NegativeIndex::Wrap), 2);
        assert_eq!(nearest_place(-1i64, 3, NegativeIndex::Reject), 0);
        assert_eq!(nearest_place(u64::MAX, 3, NegativeIndex::Reject), 2);
    }
}
