//! Elements from axes that lie one after another in memory, each fetched while the one before it is picked from: against a
//! plain loop, at every length around the picks between two requests.

#![cfg(unix)]

use std::fmt::Debug;
use std::num::NonZeroUsize;

use crate::support::{GuardedElements, Touching};
use gather_optimized::{Element, Index, Level, Options, Plan};
use gather_spec::BadIndex;
use ndarray::{ArrayView, ArrayViewMut};

/// Around the picks between two requests, around several times as many, and fewer than an axis is fetched for.
const COUNTS: [usize; 11] = [64, 65, 95, 96, 97, 127, 128, 129, 333, 1000, 1024];

/// Runs along the last axis at every level, on one thread and on three; -1 is bad and gives 0.
fn held<A: Element + PartialEq + Debug, I: Index>(
    (batch, bound): (usize, usize),
    count: usize,
    from: impl Fn(usize) -> A,
    index: impl Fn(Option<usize>) -> I,
) {
    let params: Vec<A> = (0..batch * bound).map(|at| from(at + 1)).collect();
    let place = |at: usize| (at % 61 != 60).then(|| (at * 7 + at / count) % bound);
    let indices: Vec<I> = (0..batch * count).map(|at| index(place(at))).collect();
    for level in Level::available() {
        for (touching, threads) in [(Touching::Start, 1), (Touching::End, 1), (Touching::End, 3)] {
            let threads = NonZeroUsize::new(threads).expect("positive");
            let options = Options::new().level(level).exactly_threads(threads).axis(1);
            let options = options.bad_index(BadIndex::Zero);
            let plan = Plan::take_along_axis(&[batch, bound], &[batch, count], &options).expect("a plan");
            let params = GuardedElements::new(&params, touching);
            let indices = GuardedElements::new(&indices, touching);
            let mut output = GuardedElements::new(&vec![A::default(); batch * count], touching);
            let params = ArrayView::from_shape((batch, bound), &params).expect("its shape");
            let indices = ArrayView::from_shape((batch, count), &indices).expect("its shape");
            let mut view = ArrayViewMut::from_shape((batch, count), &mut output).expect("its shape");
            plan.run_into(&params, &indices, &mut view).expect("zeros for bad indices");
            for (at, element) in output.iter().enumerate() {
                let expected = place(at).map_or(A::default(), |place| from(at / count * bound + place + 1));
                assert_eq!(*element, expected, "{at} of {count}, {level}, {touching:?}, {threads} threads");
            }
        }
    }
}

#[test]
fn every_number_of_picks_from_each_axis() {
    let by_i32 = |place: Option<usize>| place.map_or(-1, |place| i32::try_from(place).expect("small"));
    let by_i64 = |place: Option<usize>| place.map_or(-1, |place| i64::try_from(place).expect("small"));
    for count in COUNTS {
        held((300, 1024), count, |at| u32::try_from(at).expect("small"), by_i64);
        held((300, 1024), count, |at| u32::try_from(at).expect("small"), by_i32);
        held((150, 1024), count, |at| at as u64, by_i64);
    }
    // Too few picks for an axis so long, which is then not fetched, and just as many as it takes.
    for count in [1023, 1024] {
        held((20, 16_384), count, |at| u32::try_from(at).expect("small"), by_i32);
    }
}

/// Outputs that are large enough to be written past the caches, were they not picked a few at a time.
#[test]
fn large_outputs() {
    let by_u16 = |place: Option<usize>| place.map_or(u16::MAX, |place| u16::try_from(place).expect("small"));
    held((3000, 1000), 1000, |at| u32::try_from(at).expect("small"), by_u16);
}

/// A bad index is found on both sides of each request.
#[test]
fn bad_indices_around_the_requests() {
    let (batch, bound, count) = (300, 1024, 100);
    let params = vec![7u32; batch * bound];
    let params = ArrayView::from_shape((batch, bound), &params).expect("its shape");
    for axis in [0, 299] {
        for at in [0, 31, 32, 33, 63, 64, 95, 96, 99] {
            for bad in [-1, 1024] {
                let mut indices = vec![1023i64; batch * count];
                indices[axis * count + at] = bad;
                let indices = ArrayView::from_shape((batch, count), &indices).expect("its shape");
                for level in Level::available() {
                    let options = Options::new().level(level).axis(1);
                    let plan = Plan::take_along_axis(&[batch, bound], &[batch, count], &options);
                    let refused = plan.expect("a plan").run(&params, &indices);
                    assert!(refused.is_err(), "{level}, axis {axis}, index {at}, {bad}");
                }
            }
        }
    }
}
