//! Elements straight from indices in vectors, between inaccessible pages: every width of elements, every type of index, every
//! policy and every level, each against a plain loop.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "numbers of elements of small test arrays"
)]
#![cfg(unix)]

use std::fmt::Debug;

use crate::support::{GuardedElements, Touching};
use gather_optimized::{Element, Fill, Index, Level, Options, Plan};
use gather_spec::{BadIndex, NegativeIndex};
use ndarray::{ArrayView, ArrayViewMut, IxDyn};

/// Around one, two and three groups of sixteen.
const COUNTS: [usize; 7] = [15, 16, 17, 31, 32, 33, 50];

/// What an index selects under the policies; `None` if it is bad.
fn place(index: i128, bound: usize, bad: BadIndex, negative: NegativeIndex) -> Option<usize> {
    let bound = i128::try_from(bound).expect("small");
    let wrapped = if index < 0 && negative == NegativeIndex::Wrap { index + bound } else { index };
    let moved = match bad {
        BadIndex::Clamp => wrapped.clamp(0, bound - 1),
        BadIndex::Modulo => index.rem_euclid(bound),
        _ => wrapped,
    };
    usize::try_from(moved).ok().filter(|_| moved < bound)
}

/// Operands between inaccessible pages, and the policies that they are gathered under.
struct GuardedCall<'a, A: Copy, I: Copy> {
    params: &'a GuardedElements<A>,
    indices: &'a GuardedElements<I>,
    output: &'a mut GuardedElements<A>,
}

impl<A: Element + PartialEq + Debug, I: Index + Debug> GuardedCall<'_, A, I> {
    /// Runs the call at every level, and compares each output with the plain loop.
    fn agrees<F: Fill<A> + Clone>(
        &mut self,
        options: &Options<F>,
        (bad, negative): (BadIndex, NegativeIndex),
        fill: A,
    ) {
        let (bound, count) = (self.params.len(), self.indices.len());
        let places = self.indices.iter().map(|index| place(index.value(), bound, bad, negative));
        let refused = bad == BadIndex::Error && places.clone().any(|place| place.is_none());
        let expected: Vec<A> = places.map(|place| place.map_or(fill, |at| self.params[at])).collect();
        for level in Level::available() {
            let plan = Plan::gather(&[bound], &[count], &options.clone().level(level)).expect("a plan");
            let params = ArrayView::from_shape(IxDyn(&[bound]), self.params).expect("its shape");
            let indices = ArrayView::from_shape(IxDyn(&[count]), self.indices).expect("its shape");
            self.output.fill(fill);
            let mut view = ArrayViewMut::from_shape(IxDyn(&[count]), &mut *self.output).expect("its shape");
            let ran = plan.run_into(&params, &indices, &mut view);
            assert_eq!(
                ran.is_err(),
                refused,
                "{level}, bound {bound}, {bad:?}, {negative:?}, {:?}",
                &**self.indices
            );
            if !refused {
                assert!(
                    **self.output == *expected,
                    "{level}, bound {bound}, {bad:?}, {negative:?}, {:?}",
                    &**self.indices
                );
            }
        }
    }

    /// [`GuardedCall::agrees`] under every policy.
    fn agrees_under_every_policy(&mut self, fill: A) {
        for negative in [NegativeIndex::Reject, NegativeIndex::Wrap] {
            let options = Options::new().negative_index(negative);
            for bad in [BadIndex::Error, BadIndex::Zero, BadIndex::Clamp, BadIndex::Modulo] {
                self.agrees(&options.bad_index(bad), (bad, negative), A::default());
            }
            self.agrees(&options.fill(fill), (BadIndex::Fill, negative), fill);
        }
    }
}

/// Indices that are in range, that count from the end, or that lie around the borders of policies and types.
fn indices_of<I: Index>(bound: usize, count: usize, narrow: &impl Fn(i128) -> Option<I>) -> Vec<Vec<I>> {
    let bound = i128::try_from(bound).expect("small");
    let spread = |from: i128| {
        let all = (0..).map(move |at: i128| from + (at * 7 + at / 5 + bound - 1) % bound);
        all.filter_map(narrow).take(count).collect::<Vec<I>>()
    };
    let good = spread(0);
    let mut all = vec![good.clone()];
    if narrow(-bound).is_some() {
        all.push(spread(-bound));
    }
    if narrow(2 * bound - 1).is_some() {
        all.push(spread(bound));
    }
    let (least, most) = (-(1i128 << 63), (1i128 << 64) - 1);
    let near = [bound, -1, -bound, -bound - 1, 2 * bound - 1, 2 * bound];
    let far = [7, 8, 15, 16, 31, 32, 63, 64].map(|bits| [(1 << bits) - 1, 1 << bits, -(1 << bits)]);
    let odd =
        near.into_iter().chain(far.into_iter().flatten()).filter(|index| (least..=most).contains(index));
    for (turn, index) in odd.filter_map(narrow).enumerate() {
        for at in [0, count / 2, count - 1, count.saturating_sub(17), turn % count] {
            let mut spoilt = good.clone();
            spoilt[at] = index;
            all.push(spoilt);
        }
    }
    all
}

fn by_every_index<A: Element + PartialEq + Debug>(fill: A, from: impl Fn(usize) -> A) {
    fn by<A: Element + PartialEq + Debug, I: Index + Debug>(
        params: &[A],
        fill: A,
        count: usize,
        narrow: impl Fn(i128) -> Option<I>,
    ) {
        for (turn, indices) in indices_of(params.len(), count, &narrow).iter().enumerate() {
            let touching = if turn % 2 == 0 { Touching::End } else { Touching::Start };
            let params = GuardedElements::new(params, touching);
            let indices = GuardedElements::new(indices, touching);
            let mut output = GuardedElements::new(&vec![fill; count], touching);
            let mut call = GuardedCall { params: &params, indices: &indices, output: &mut output };
            call.agrees_under_every_policy(fill);
        }
    }
    for bound in [1, 3, 300] {
        let params: Vec<A> = (1..=bound).map(&from).collect();
        for count in COUNTS {
            by(&params, fill, count, |at| u8::try_from(at).ok());
            by(&params, fill, count, |at| i8::try_from(at).ok());
            by(&params, fill, count, |at| u16::try_from(at).ok());
            by(&params, fill, count, |at| i16::try_from(at).ok());
            by(&params, fill, count, |at| u32::try_from(at).ok());
            by(&params, fill, count, |at| i32::try_from(at).ok());
            by(&params, fill, count, |at| u64::try_from(at).ok());
            by(&params, fill, count, |at| i64::try_from(at).ok());
        }
    }
    // An index of 16 bits that lost its sign would lie on this axis.
    let params: Vec<A> = (1..=66_000).map(&from).collect();
    by(&params, fill, 17, |at| i16::try_from(at).ok());
}

#[test]
fn elements_of_one_byte() {
    by_every_index(0xEE, |at| u8::try_from(at % 251).expect("small"));
}

#[test]
fn elements_of_two_bytes() {
    by_every_index(0xEEDD, |at| u16::try_from(at * 257 % 65_521).expect("small"));
}

#[test]
fn elements_of_four_bytes() {
    by_every_index(0xEEDD_CCBB, |at| u32::try_from(at * 16_843_009 % 4_294_967_291).expect("small"));
}

#[test]
fn elements_of_eight_bytes() {
    by_every_index(0xEEDD_CCBB_AA99_8877, |at| (at as u64).wrapping_mul(72_340_172_838_076_673));
}

#[test]
fn elements_of_sixteen_bytes() {
    by_every_index(u128::MAX / 255 * 7, |at| ((at as u128) << 100) | (at as u128 * 255));
}

/// Outputs large enough to be written past the caches, which begin within a line or on one, and end within one.
#[test]
fn outputs_past_the_caches() {
    fn width<A: Element + PartialEq + Debug>(fill: A, from: impl Fn(usize) -> A) {
        let params: Vec<A> = (0..300).map(from).collect();
        let params = GuardedElements::new(&params, Touching::End);
        for (extra, touching) in [(0, Touching::Start), (17, Touching::Start), (3, Touching::End)] {
            let count = (8 << 20) / size_of::<A>() + extra;
            let index = |at: usize| i32::try_from((at * 7919) % 300).expect("small");
            let mut indices: Vec<i32> = (0..count).map(index).collect();
            let mut output = GuardedElements::new(&vec![fill; count], touching);
            for bad in [None, Some((0, -1)), Some((count - 1, 300)), Some((count / 2, -301))] {
                if let Some((at, bad)) = bad {
                    indices[at] = bad;
                }
                let indices = GuardedElements::new(&indices, touching);
                let mut call = GuardedCall { params: &params, indices: &indices, output: &mut output };
                let wrap = Options::new().negative_index(NegativeIndex::Wrap);
                call.agrees(&wrap, (BadIndex::Error, NegativeIndex::Wrap), fill);
                call.agrees(&wrap.fill(fill), (BadIndex::Fill, NegativeIndex::Wrap), fill);
            }
        }
    }
    width(0xEE, |at| u8::try_from(at % 251).expect("small"));
    width(0xEEDD, |at| u16::try_from(at).expect("small"));
    width(0xEEDD_CCBB, |at| u32::try_from(at).expect("small"));
    width(0xEEDD_CCBB_AA99_8877, |at| at as u64);
    width(7u128 << 99, |at| at as u128);
}
