//! Every kernel, with params, indices and outputs that touch inaccessible pages: one byte too far kills the test.

#![cfg(unix)]

use std::num::NonZeroUsize;

use crate::support::{GuardedElements, Touching};
use gather_optimized::{Element, Index, Level, Options, Plan};
use gather_spec::{BadIndex, GatherError, NegativeIndex, Refusal};
use ndarray::{ArrayView, ArrayViewMut, IxDyn};

/// Runs a plan between guard pages, touching those at both starts and those at both ends, at every level.
fn guarded<A: Element + PartialEq + std::fmt::Debug, I: Index>(
    plan: &dyn Fn(&Options) -> Plan,
    (params_shape, params): (&[usize], &[A]),
    (indices_shape, indices): (&[usize], &[I]),
    expected: impl Fn(usize) -> A,
) {
    for level in Level::available() {
        for (touching, threads) in [(Touching::Start, 1), (Touching::End, 1), (Touching::End, 3)] {
            let threads = NonZeroUsize::new(threads).expect("positive");
            let plan = plan(&Options::new().level(level).exactly_threads(threads));
            let params = GuardedElements::new(params, touching);
            let indices = GuardedElements::new(indices, touching);
            let len = plan.output_shape().iter().product();
            let mut output = GuardedElements::new(&vec![A::default(); len], touching);
            let params = ArrayView::from_shape(IxDyn(params_shape), &params).expect("its shape");
            let indices = ArrayView::from_shape(IxDyn(indices_shape), &indices).expect("its shape");
            let mut view =
                ArrayViewMut::from_shape(IxDyn(plan.output_shape()), &mut output).expect("its shape");
            plan.run_into(&params, &indices, &mut view).expect("good indices");
            for (at, element) in output.iter().enumerate() {
                assert_eq!(*element, expected(at), "element {at}, {level}, {touching:?}, {threads} threads");
            }
        }
    }
}

/// Picks of every width by every index width, around every number of lanes; the first and last element among them.
#[test]
fn picked_elements() {
    fn width<A: Element + PartialEq + std::fmt::Debug>(from: impl Fn(usize) -> A) {
        let params: Vec<A> = (0..257).map(&from).collect();
        for count in [1, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 200] {
            let at = |j: usize| if j.is_multiple_of(2) { 256 - j } else { j - 1 };
            let expected = |j: usize| from(at(j));
            let shapes = (&[257][..], &[count][..]);
            let plan = |options: &Options| Plan::gather(shapes.0, shapes.1, options).expect("a plan");
            let by_i32: Vec<i32> = (0..count).map(|j| i32::try_from(at(j)).expect("small")).collect();
            let by_i64: Vec<i64> = by_i32.iter().map(|index| i64::from(*index)).collect();
            let by_u16: Vec<u16> = (0..count).map(|j| u16::try_from(at(j)).expect("small")).collect();
            guarded(&plan, (shapes.0, &params), (shapes.1, &by_i32), expected);
            guarded(&plan, (shapes.0, &params), (shapes.1, &by_i64), expected);
            guarded(&plan, (shapes.0, &params), (shapes.1, &by_u16), expected);
        }
    }
    width(|at| u8::try_from(at % 251).expect("small"));
    width(|at| u16::try_from(at).expect("small"));
    width(|at| u32::try_from(at).expect("small"));
    width(|at| at as u64);
    width(|at| at as u128);
}

/// Elements of every width picked along the first and the last axis, in rows shorter and longer than any number of lanes,
/// negative indices among them.
#[test]
fn elements_along_an_axis() {
    fn width<A: Element + PartialEq + std::fmt::Debug>(from: impl Fn(usize) -> A) {
        for (bound, others, count) in [(5, 1, 9), (5, 40, 3), (3, 17, 8), (200, 3, 65), (64, 65, 64)] {
            let place = |row: usize, column: usize| (row * 7 + column * 3 + 2) % bound;
            let params: Vec<A> = (0..bound * others).map(&from).collect();
            for axis in [0usize, 1] {
                let swap = |dims: [usize; 2]| if axis == 0 { dims } else { [dims[1], dims[0]] };
                let (shape, indices_shape) = (swap([bound, others]), swap([count, others]));
                let index = |at: usize| {
                    let place = place(at / indices_shape[1], at % indices_shape[1]);
                    i64::try_from(place).expect("small")
                        - if at.is_multiple_of(2) { 0 } else { i64::try_from(bound).expect("small") }
                };
                let wrapping: Vec<i64> = (0..count * others).map(index).collect();
                let low = i64::try_from(bound).expect("small");
                let good: Vec<i32> = wrapping
                    .iter()
                    .map(|index| i32::try_from(index.rem_euclid(low)).expect("small"))
                    .collect();
                let expected = |at: usize| {
                    let (row, column) = (at / indices_shape[1], at % indices_shape[1]);
                    let picked = place(row, column);
                    from(if axis == 0 { picked * others + column } else { row * bound + picked })
                };
                let axis = i64::try_from(axis).expect("small");
                let plan = |options: &Options| {
                    Plan::take_along_axis(&shape, &indices_shape, &options.axis(axis)).expect("a plan")
                };
                let wrap = |options: &Options| plan(&options.negative_index(NegativeIndex::Wrap));
                guarded(&plan, (&shape, &params), (&indices_shape, &good), expected);
                let short: Vec<i32> =
                    wrapping.iter().map(|index| i32::try_from(*index).expect("small")).collect();
                guarded(&wrap, (&shape, &params), (&indices_shape, &short), expected);
                guarded(&wrap, (&shape, &params), (&indices_shape, &wrapping), expected);
            }
        }
    }
    width(|at| u8::try_from(at % 251).expect("small"));
    width(|at| u16::try_from(at).expect("small"));
    width(|at| u32::try_from(at).expect("small"));
    width(|at| at as u64);
    width(|at| at as u128);
}

/// Long stretches in pieces: each stretch finished first, and a piece of each first. The rest is shorter than a piece.
#[test]
fn pieces_along_an_axis() {
    for (bound, others, count) in [(60, 5000, 7), (600, 7100, 40)] {
        let place = |row: usize, column: usize| (row * 7 + column * 3 + 2) % bound;
        let (shape, indices_shape) = ([bound, others], [count, others]);
        let params: Vec<u32> = (0..bound * others).map(|at| u32::try_from(at).expect("small")).collect();
        let index = |at: usize| i64::try_from(place(at / others, at % others)).expect("small");
        let indices: Vec<i64> = (0..count * others).map(index).collect();
        let plan = |options: &Options| {
            Plan::take_along_axis(&shape, &indices_shape, &options.axis(0)).expect("a plan")
        };
        let expected = |at: usize| params[place(at / others, at % others) * others + at % others];
        guarded(&plan, (&shape, &params), (&indices_shape, &indices), expected);
    }
}

/// A bad index along an axis is never followed, whatever the policy: not at the edge of params, in a short row, or in a
/// long one, nor where it is asked for ahead.
#[test]
fn bad_indices_along_an_axis_are_not_followed() {
    for (shape, indices_shape, axis) in
        [([9, 7], [20, 7], 0), ([9, 7], [9, 20], 1), ([3, 7], [3, 99], 1), ([90_000, 9], [50, 9], 0)]
    {
        let params = GuardedElements::new(&vec![7u32; shape[0] * shape[1]], Touching::End);
        let params = ArrayView::from_shape(shape, &params).expect("its shape");
        let bound = i64::try_from(shape[axis]).expect("small");
        for index in [i64::MIN, -bound - 1, -1, bound, bound + 1, 1 << 31, 1 << 32, 1 << 40, i64::MAX] {
            for at in [0, indices_shape[0] * indices_shape[1] / 2, indices_shape[0] * indices_shape[1] - 1] {
                let mut indices = vec![bound - 1; indices_shape[0] * indices_shape[1]];
                indices[at] = index;
                let indices = GuardedElements::new(&indices, Touching::End);
                let indices = ArrayView::from_shape(indices_shape, &indices).expect("its shape");
                for (level, policy) in
                    Level::available().flat_map(|one| BadIndex::SPECIFIED.map(|bad| (one, bad)))
                {
                    for negative in [NegativeIndex::Reject, NegativeIndex::Wrap] {
                        let options = Options::new().level(level).bad_index(policy).negative_index(negative);
                        let options = options.axis(i64::try_from(axis).expect("small"));
                        let plan = Plan::take_along_axis(&shape, &indices_shape, &options).expect("a plan");
                        let output = plan.run(&params, &indices);
                        let wraps = negative == NegativeIndex::Wrap && index == -1;
                        let found = output.map(|output| output.into_raw_vec_and_offset().0[at]);
                        match policy {
                            _ if wraps => assert_eq!(found, Ok(7)),
                            BadIndex::Error => assert!(found.is_err(), "{level} {index} at {at}"),
                            BadIndex::Zero => assert_eq!(found, Ok(0)),
                            _ => assert_eq!(found, Ok(7)),
                        }
                    }
                }
            }
        }
    }
}

/// Elements from checked offsets: points of depth 2, 3 and 4.
#[test]
fn picked_points() {
    for depth in [2usize, 3, 4] {
        let shape = vec![3usize; depth];
        let all = 3usize.pow(u32::try_from(depth).expect("small"));
        let params: Vec<u32> = (0..u32::try_from(all).expect("small")).collect();
        for count in [1, 2, 8, 17, 64, 65] {
            let digit = |row: usize, c: usize| {
                (all - 1 - row % all) / 3usize.pow(u32::try_from(depth - 1 - c).unwrap_or(0)) % 3
            };
            let indices: Vec<i32> = (0..count * depth)
                .map(|at| i32::try_from(digit(at / depth, at % depth)).expect("small"))
                .collect();
            let expected = |row: usize| u32::try_from(all - 1 - row % all).expect("small");
            let indices_shape = [count, depth];
            let plan = |options: &Options| Plan::gather_nd(&shape, &indices_shape, options).expect("a plan");
            guarded(&plan, (&shape, &params), (&indices_shape, &indices), expected);
        }
    }
}

/// Rows of every length up to 300 bytes and around longer edges, the first and the last row among them.
#[test]
fn copied_rows() {
    let lengths = (1..300).chain([511, 512, 513, 1023, 1024, 1025, 4095, 4096, 4097, 65_535, 65_536, 65_664]);
    for row in lengths {
        let params: Vec<u8> = (0..3 * row).map(|at| u8::try_from(at % 251).expect("small")).collect();
        let order = [2i64, 0, 1, 2];
        let expected = |at: usize| params[usize::try_from(order[at / row]).expect("small") * row + at % row];
        let shape = [3, row];
        let plan = |options: &Options| Plan::gather(&shape, &[4], options).expect("a plan");
        guarded(&plan, (&shape, &params), (&[4], &order), expected);
    }
}

/// Outputs large enough to be written past the caches, and params large enough to be asked for ahead.
#[test]
fn large_outputs_and_params() {
    for row in [1024usize, 1040, 4096] {
        let count = (33 << 20) / row;
        let params: Vec<u8> = (0..2000 * row).map(|at| u8::try_from(at % 251).expect("small")).collect();
        let indices: Vec<i32> = (0..count).map(|j| i32::try_from(1999 - j % 2000).expect("small")).collect();
        let expected = |at: usize| params[(1999 - at / row % 2000) * row + at % row];
        let (shape, indices_shape) = ([2000, row], [count]);
        let plan = |options: &Options| Plan::gather(&shape, &indices_shape, options).expect("a plan");
        guarded(&plan, (&shape, &params), (&indices_shape, &indices), expected);
    }
    let params: Vec<u32> = (0..1 << 19).collect();
    let count = (1 << 21) + 5;
    let at = |j: usize| (j * 7919) % (1 << 19);
    let indices: Vec<i32> = (0..count).map(|j| i32::try_from(at(j)).expect("small")).collect();
    let shape = [1 << 19];
    let plan = |options: &Options| Plan::gather(&shape, &[count], options).expect("a plan");
    guarded(&plan, (&shape, &params), (&[count], &indices), |j| u32::try_from(at(j)).expect("small"));
}

/// Consecutive indices into params too large for a cache are moved together; runs begin and end anywhere in a group, and
/// the last one ends at the last element.
#[test]
fn runs_of_consecutive_indices() {
    fn width<A: Element + PartialEq + std::fmt::Debug>(bound: usize, from: impl Fn(usize) -> A) {
        let params: Vec<A> = (0..bound).map(&from).collect();
        for run in [1usize, 15, 16, 17, 40] {
            let count = 20 * run;
            let start =
                |run_at: usize| if run_at == 19 { bound - run } else { run_at * 7919 % (bound - run) };
            let at = |j: usize| start(j / run) + j % run;
            let by_i32: Vec<i32> = (0..count).map(|j| i32::try_from(at(j)).expect("small")).collect();
            let by_i64: Vec<i64> = by_i32.iter().map(|index| i64::from(*index)).collect();
            let plan = |options: &Options| Plan::gather(&[bound], &[count], options).expect("a plan");
            guarded(&plan, (&[bound], &params), (&[count], &by_i32), |j| from(at(j)));
            guarded(&plan, (&[bound], &params), (&[count], &by_i64), |j| from(at(j)));
        }
    }
    width(3 << 19, |at| u8::try_from(at % 251).expect("small"));
    width(3 << 18, |at| u32::try_from(at).expect("small"));
    width(3 << 16, |at| at as u128);
}

/// A run that passes either end of its axis is refused where it does so.
#[test]
fn runs_past_the_ends_are_refused() {
    let bound = 3usize << 18;
    let params = GuardedElements::new(&vec![7u32; bound], Touching::End);
    let params = ArrayView::from_shape(bound, &params).expect("its shape");
    let high = i64::try_from(bound).expect("small");
    for level in Level::available() {
        let plan = Plan::gather(&[bound], &[200], &Options::new().level(level)).expect("a plan");
        for (start, first) in (1..64).map(|start| (high - start, start)).chain([(-5, 0), (-200, 0)]) {
            let indices: Vec<i64> = (start..start + 200).collect();
            let refusal = plan.run(&params, &ArrayView::from(&indices)).expect_err("a bad index");
            let Refusal::Error(GatherError::IndexOutOfRange { position, index, .. }) = refusal else {
                panic!("{level}, from {start}: {refusal:?}");
            };
            let expected = (usize::try_from(first).expect("small"), i128::from(start + first));
            assert_eq!((position[0], index), expected, "{level}, from {start}");
        }
    }
}

/// Axes picked from one after the other, out of params too large for a cache: the next one is fetched meanwhile, and
/// after the last there is none.
#[test]
fn batched_last_axes() {
    let (batch, bound) = (300usize, 1024usize);
    let params: Vec<u32> = (0..u32::try_from(batch * bound).expect("small")).collect();
    for count in [64usize, 127, 128, 129, 333] {
        let at = |j: usize| (bound - 1 - j * 7 % bound) % bound;
        let indices: Vec<i32> = (0..batch * count).map(|j| i32::try_from(at(j)).expect("small")).collect();
        let (shape, indices_shape) = ([batch, bound], [batch, count]);
        let plan =
            |options: &Options| Plan::gather(&shape, &indices_shape, &options.batch_dims(1)).expect("a plan");
        let expected = |j: usize| u32::try_from(j / count * bound + at(j)).expect("small");
        guarded(&plan, (&shape, &params), (&indices_shape, &indices), expected);
    }
}

/// A bad index is never followed, whatever stands behind params.
#[test]
fn bad_indices_are_not_followed() {
    for level in Level::available() {
        for bad_index in BadIndex::SPECIFIED {
            for index in [i64::MIN, -1, 64, 65, 1 << 31, 1 << 32, 1 << 40, i64::MAX] {
                let params = GuardedElements::new(&[7u32; 64], Touching::End);
                let mut indices = vec![63i64; 37];
                indices[20] = index;
                let indices = GuardedElements::new(&indices, Touching::End);
                let options = Options::new().level(level).bad_index(bad_index);
                let plan = Plan::gather(&[64], &[37], &options).expect("a plan");
                let params = ArrayView::from_shape(64, &params).expect("its shape");
                let indices = ArrayView::from_shape(37, &indices).expect("its shape");
                let output = plan.run(&params, &indices);
                match bad_index {
                    BadIndex::Error => assert!(output.is_err()),
                    BadIndex::Zero => assert_eq!(output.expect("an output")[[20]], 0),
                    _ => assert_eq!(output.expect("an output")[[20]], 7),
                }
            }
        }
    }
}

/// Where picks are asked for ahead, they are tested all the same; so are negative `i32` by unsigned comparison.
#[test]
fn bad_indices_of_every_kernel_are_found() {
    fn refused<A: Element, I: Index>(bound: usize, at: usize, good: I, bad: I) {
        let params = vec![A::default(); bound];
        let mut indices = vec![good; 200];
        indices[at] = bad;
        let low = -i128::try_from(bound).expect("small");
        for (level, negative) in Level::available()
            .flat_map(|level| [NegativeIndex::Reject, NegativeIndex::Wrap].map(|negative| (level, negative)))
        {
            let options = Options::new().level(level).negative_index(negative);
            let plan = Plan::gather(&[bound], &[200], &options).expect("a plan");
            let output = plan.run(&ArrayView::from(&params), &ArrayView::from(&indices));
            let wraps = negative == NegativeIndex::Wrap && (low..0).contains(&bad.value());
            assert_eq!(output.is_ok(), wraps, "{level}, bound {bound}, element {at}, index {}", bad.value());
        }
    }
    for at in [0, 5, 16, 100, 199] {
        for bound in [64, 3 << 19] {
            let next = i32::try_from(bound).expect("small");
            for bad in [-1, -next, -next - 1, i32::MIN, next, i32::MAX] {
                refused::<u8, i32>(bound, at, 1, bad);
                refused::<u32, i32>(bound, at, 1, bad);
                refused::<u64, i32>(bound, at, 1, bad);
                refused::<u32, i64>(bound, at, 1, i64::from(bad));
                refused::<u64, i64>(bound, at, 1, i64::from(bad));
                refused::<u128, i64>(bound, at, 1, i64::from(bad));
            }
        }
    }
}

/// Where the next axis is fetched meanwhile, every part of an axis is tested, on the first, a middle and the last axis.
#[test]
fn bad_indices_of_batched_axes_are_found() {
    let (batch, bound, count) = (300usize, 1024usize, 333usize);
    let params = vec![7u32; batch * bound];
    let params = ArrayView::from_shape((batch, bound), &params).expect("its shape");
    for axis in [0, 150, 299] {
        for at in [0, 127, 128, 255, 256, 332] {
            for bad in [-1, 1024] {
                let mut indices = vec![1023i32; batch * count];
                indices[axis * count + at] = bad;
                let indices = ArrayView::from_shape((batch, count), &indices).expect("its shape");
                for level in Level::available() {
                    let options = Options::new().level(level).batch_dims(1);
                    let plan = Plan::gather(&[batch, bound], &[batch, count], &options).expect("a plan");
                    assert!(plan.run(&params, &indices).is_err(), "{level}, axis {axis}, index {at}, {bad}");
                }
            }
        }
    }
}
