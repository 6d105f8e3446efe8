//! Tables that fit registers, and rows that are moved at once, between inaccessible pages and under every policy: each against
//! a plain loop.

#![cfg(unix)]

use std::fmt::Debug;

use crate::support::{GuardedElements, Touching};
use gather_optimized::{Element, Fill, Index, Level, Options, Plan};
use gather_spec::{BadIndex, GatherError, NegativeIndex, Refusal};
use ndarray::{ArrayView, ArrayViewMut, IxDyn};

/// Around the entries of each register, and around what an index of one byte can select.
const BOUNDS: [usize; 16] = [1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256];

/// Around the least that is worth a register, and around every number of lanes.
const COUNTS: [usize; 5] = [255, 256, 257, 319, 578];

/// What an index selects under the policies, in `Some`, or that it is bad.
fn place(index: i64, bound: usize, bad: BadIndex, negative: NegativeIndex) -> Option<usize> {
    let bound = i64::try_from(bound).expect("small");
    let wrapped = if index < 0 && negative == NegativeIndex::Wrap { index + bound } else { index };
    let moved = match bad {
        BadIndex::Clamp => wrapped.clamp(0, bound - 1),
        BadIndex::Modulo => index.rem_euclid(bound),
        _ => wrapped,
    };
    usize::try_from(moved).ok().filter(|_| moved < bound)
}

/// Runs a plan for rows of `row` elements at every level, touching both ends, and compares each output with the plain loop.
fn held<A: Element + PartialEq + Debug, I: Index, F: Fill<A> + Clone>(
    options: &Options<F>,
    (params, row): (&[A], usize),
    indices: &[I],
    expected: &Result<Vec<A>, Refusal>,
) {
    let bound = params.len() / row;
    for level in Level::available() {
        for touching in [Touching::Start, Touching::End] {
            let options = options.clone().level(level);
            let plan = Plan::gather(&[bound, row], &[indices.len()], &options).expect("a plan");
            let params = GuardedElements::new(params, touching);
            let indices = GuardedElements::new(indices, touching);
            let mut output = GuardedElements::new(&vec![A::default(); indices.len() * row], touching);
            let params = ArrayView::from_shape(IxDyn(&[bound, row]), &params).expect("its shape");
            let indices = ArrayView::from_shape(IxDyn(&[indices.len()]), &indices).expect("its shape");
            let mut view =
                ArrayViewMut::from_shape(IxDyn(&[indices.len(), row]), &mut output).expect("its shape");
            let ran = plan.run_into(&params, &indices, &mut view).map(|()| output.to_vec());
            assert!(
                ran == *expected,
                "{bound} rows of {row}, {} indices, {level}, {touching:?}",
                indices.len()
            );
        }
    }
}

/// What a call gives: the plain loop.
fn plain<A: Element>(
    (params, row): (&[A], usize),
    indices: &[i64],
    (bad, negative): (BadIndex, NegativeIndex),
    fill: A,
) -> Result<Vec<A>, Refusal> {
    let bound = params.len() / row;
    let mut output = Vec::new();
    for (at, index) in indices.iter().enumerate() {
        match place(*index, bound, bad, negative) {
            Some(place) => output.extend_from_slice(&params[place * row..][..row]),
            None if bad == BadIndex::Error => {
                let (position, index) = (vec![at], i128::from(*index));
                let component = None;
                let error = GatherError::IndexOutOfRange { position, component, index, bound };
                return Err(error.into());
            }
            None => output.extend(std::iter::repeat_n(fill, row)),
        }
    }
    Ok(output)
}

/// Indices of one type in range, or with bad ones at the first, a middle and the last place, under every policy.
fn every_policy<A: Element + PartialEq + Debug, I: Index>(
    params: (&[A], usize),
    fill: A,
    narrow: impl Fn(i64) -> Option<I>,
    count: usize,
) {
    let bound = i64::try_from(params.0.len() / params.1).expect("small");
    let good = (0..).map(|at: i64| (at * 7 + at / 5) % bound).filter(|at| narrow(*at).is_some());
    let good: Vec<i64> = good.take(count).collect();
    let bad = [bound, 255, -1, -bound, -128].into_iter().filter(|index| narrow(*index).is_some());
    let spoilt = bad.flat_map(|index| [0, count / 2, count - 1].map(|at| (at, index)));
    let spoilt = spoilt.map(|(at, index)| {
        let mut indices = good.clone();
        indices[at] = index;
        indices
    });
    for indices in std::iter::once(good.clone()).chain(spoilt) {
        let typed: Vec<I> = indices.iter().filter_map(|index| narrow(*index)).collect();
        for negative in [NegativeIndex::Reject, NegativeIndex::Wrap] {
            let options = Options::new().negative_index(negative);
            for bad in [BadIndex::Error, BadIndex::Zero, BadIndex::Clamp, BadIndex::Modulo] {
                let expected = plain(params, &indices, (bad, negative), A::default());
                held(&options.bad_index(bad), params, &typed, &expected);
            }
            let expected = plain(params, &indices, (BadIndex::Fill, negative), fill);
            held(&options.fill(fill), params, &typed, &expected);
        }
    }
}

fn table<A: Element + PartialEq + Debug>(fill: A, from: impl Fn(usize) -> A) {
    for bound in BOUNDS {
        let params: Vec<A> = (1..=bound).map(&from).collect();
        for count in COUNTS {
            every_policy((&params, 1), fill, |at| u8::try_from(at).ok(), count);
            every_policy((&params, 1), fill, |at| i8::try_from(at).ok(), count);
        }
    }
}

#[test]
fn tables_of_one_byte() {
    table(0xEE, |at| u8::try_from(at % 251).expect("small"));
}

#[test]
fn tables_of_two_bytes() {
    table(0xEEEE, |at| u16::try_from(at * 257 % 65_521).expect("small"));
}

#[test]
fn tables_of_four_bytes() {
    table(0xEEEE_EEEE, |at| u32::try_from(at * 16_843_009 % 4_294_967_291).expect("small"));
}

/// Rows of 2, 4, 8 and 16 bytes that are no single element: filled ones have the element in every place.
#[test]
fn rows_that_are_moved_at_once() {
    fn width<A: Element + PartialEq + Debug>(fill: A, from: impl Fn(usize) -> A) {
        for row in [2, 4, 8, 16].into_iter().filter(|row| row * size_of::<A>() <= 16) {
            for bound in [1, 5, 40] {
                let params: Vec<A> = (1..=bound * row).map(&from).collect();
                for count in [1, 9, 300] {
                    every_policy((&params, row), fill, |at| i32::try_from(at).ok(), count);
                    every_policy((&params, row), fill, |at| u8::try_from(at).ok(), count);
                }
            }
        }
    }
    width(0xEE, |at| u8::try_from(at % 251).expect("small"));
    width(0xEEEE, |at| u16::try_from(at).expect("small"));
    width(0xEEEE_EEEE, |at| u32::try_from(at).expect("small"));
    width(u64::MAX, |at| at as u64);
}
