//! The form elements: values worked out by hand, and every shape, layout, join and policy against the formula.

use std::num::NonZeroUsize;

use gather_optimized::{Element, Level, Options, Plan, Pool, take_along_axis, take_along_axis_into};
use gather_spec::signature::Join;
use gather_spec::{BadIndex, GatherError, NegativeIndex, Profile, Refusal};
use ndarray::{Array2, ArrayD, ArrayViewD, Axis, Dimension, IxDyn, Slice, array};

/// The examples of NumPy's page on `take_along_axis`.
#[test]
fn the_examples_of_numpy() {
    let params = array![[10, 30, 20], [60, 40, 50]];
    let by_axis = |axis| Options::new().axis(axis);
    let sorted = take_along_axis(&params, &array![[0, 2, 1], [1, 2, 0]], &by_axis(1));
    assert_eq!(sorted, Ok(array![[10, 20, 30], [40, 50, 60]].into_dyn()));
    let highest = take_along_axis(&params, &array![[1], [0]], &by_axis(1));
    assert_eq!(highest, Ok(array![[30], [60]].into_dyn()));
    let both = take_along_axis(&params, &array![[0, 1], [1, 0]], &by_axis(1));
    assert_eq!(both, Ok(array![[10, 30], [40, 60]].into_dyn()));
    let lowest = take_along_axis(&params, &array![[0, 0, 0]], &by_axis(-2));
    assert_eq!(lowest, Ok(array![[10, 30, 20]].into_dyn()));
}

#[test]
fn a_dim_of_one_stands_for_every_position() {
    let params = array![[1, 2], [3, 4], [5, 6]];
    let along_rows = |indices: Array2<i32>| take_along_axis(&params, &indices, &Options::new().axis(0));
    assert_eq!(along_rows(array![[2], [0]]), Ok(array![[5, 6], [1, 2]].into_dyn()), "whole rows");
    let column = array![[7], [8], [9]];
    let indices = array![[0, 2], [1, 1]];
    let repeated = take_along_axis(&column, &indices, &Options::new().axis(0));
    assert_eq!(repeated, Ok(array![[7, 9], [8, 8]].into_dyn()), "one column for all");
}

#[test]
fn indices_may_be_smaller_where_the_join_allows_it() {
    let params = array![[1, 2, 3], [4, 5, 6]];
    let options = Options::new().axis(1);
    let few = array![[2]];
    let smaller = take_along_axis(&params, &few, &options.join(Join::NotLarger));
    assert_eq!(smaller, Ok(array![[3]].into_dyn()), "the first row only");
    let broadcast = take_along_axis(&params, &few, &options);
    assert_eq!(broadcast, Ok(array![[3], [6]].into_dyn()), "every row");
    let refused = take_along_axis(&params, &few, &options.join(Join::Equal));
    assert!(matches!(refused, Err(Refusal::Error(GatherError::JoinMismatch { dim: 0, .. }))));
}

#[test]
fn an_index_is_checked_though_the_output_is_empty() {
    let params = Array2::<u8>::zeros((0, 3));
    let options = Options::new().axis(1);
    let error = GatherError::IndexOutOfRange { position: vec![0, 1], component: None, index: 3, bound: 3 };
    let checked = |bad| take_along_axis(&params, &array![[2, 3]], &options.bad_index(bad));
    assert_eq!(checked(BadIndex::Error), Err(error.into()));
    assert_eq!(checked(BadIndex::Zero), Ok(ArrayD::zeros(IxDyn(&[0, 2]))));
    let good = take_along_axis(&params, &array![[2, 0]], &options);
    assert_eq!(good, Ok(ArrayD::zeros(IxDyn(&[0, 2]))));
}

/// A bad index makes one element zero, or every element that reads it; an index into an axis without elements is bad.
#[test]
fn bad_indices_follow_the_policy() {
    let params = array![[1u16, 2], [3, 4]];
    let options = Options::new().axis(0);
    let answer = |bad, indices: &Array2<i64>| take_along_axis(&params, indices, &options.bad_index(bad));
    let one = array![[0, 2], [-1, 1]];
    assert_eq!(answer(BadIndex::Zero, &one), Ok(array![[1, 0], [0, 4]].into_dyn()));
    assert_eq!(answer(BadIndex::Clamp, &one), Ok(array![[1, 4], [1, 4]].into_dyn()));
    let error = GatherError::IndexOutOfRange { position: vec![0, 1], component: None, index: 2, bound: 2 };
    assert_eq!(answer(BadIndex::Error, &one), Err(error.into()));
    let repeated = array![[1], [5]];
    assert_eq!(answer(BadIndex::Zero, &repeated), Ok(array![[3, 4], [0, 0]].into_dyn()));
    let error = GatherError::IndexOutOfRange { position: vec![1, 0], component: None, index: 5, bound: 2 };
    assert_eq!(answer(BadIndex::Error, &repeated), Err(error.into()));
    let empty = Array2::<u16>::zeros((0, 2));
    let into_empty = |bad| take_along_axis(&empty, &array![[0, 0]], &options.bad_index(bad));
    assert_eq!(into_empty(BadIndex::Clamp), Ok(array![[0, 0]].into_dyn()));
    assert!(into_empty(BadIndex::Error).is_err());
}

#[test]
fn attributes_of_other_forms_are_refused() {
    let params = array![[1u8]];
    let along = |options: &Options| take_along_axis(&params, &array![[0]], options);
    assert_eq!(along(&Options::new()), Err(GatherError::AxisRequired.into()));
    let batched = along(&Options::new().axis(0).batch_dims(1));
    assert!(matches!(batched, Err(Refusal::Unsupported(_))));
    let joined = Options::new().join(Join::Equal);
    assert!(matches!(Plan::gather(&[1], &[1], &joined), Err(Refusal::Unsupported(_))));
    assert!(matches!(Plan::gather_nd(&[1], &[1, 1], &joined), Err(Refusal::Unsupported(_))));
}

/// What the pages' formula gives, element by element.
fn formula(
    params: &ArrayViewD<'_, u32>,
    indices: &ArrayViewD<'_, i64>,
    axis: usize,
    (join, profile): (Join, Profile),
) -> Option<ArrayD<u32>> {
    let dim = |at: usize| match (join, indices.shape()[at]) {
        (Join::Broadcast, 1) if at != axis => params.shape()[at],
        (_, dim) => dim,
    };
    let shape: Vec<usize> = (0..indices.ndim()).map(dim).collect();
    let bound = i64::try_from(params.shape()[axis]).expect("small");
    let clipped = |position: &[usize], shape: &[usize]| -> Vec<usize> {
        position.iter().zip(shape).map(|(at, dim)| if *dim == 1 { 0 } else { *at }).collect()
    };
    let mut refused = false;
    let element = |position: IxDyn| {
        let index = indices[&*clipped(position.slice(), indices.shape())];
        let wrapped =
            if profile.negative == NegativeIndex::Wrap && index < 0 { index + bound } else { index };
        let place = match profile.bad {
            _ if (0..bound).contains(&wrapped) => wrapped,
            BadIndex::Clamp => wrapped.clamp(0, bound - 1),
            bad => {
                refused |= bad != BadIndex::Zero;
                return 0;
            }
        };
        let mut from = clipped(position.slice(), params.shape());
        from[axis] = usize::try_from(place).expect("a place");
        params[&*from]
    };
    let output = ArrayD::from_shape_fn(IxDyn(&shape), element);
    (!refused).then_some(output)
}

/// How a view lies over its memory.
#[derive(Clone, Copy, Debug)]
enum ViewLayout {
    Plain,
    Strided,
    Reversed,
    Transposed,
}

fn laid<A: Clone>(layout: ViewLayout, shape: &[usize], element: impl FnMut(usize) -> A) -> ArrayD<A> {
    let mut at = 0;
    let mut element = element;
    let mut next = || {
        at += 1;
        element(at - 1)
    };
    let memory = match layout {
        ViewLayout::Strided => shape.iter().map(|dim| 2 * dim).collect(),
        ViewLayout::Transposed => shape.iter().rev().copied().collect(),
        ViewLayout::Plain | ViewLayout::Reversed => shape.to_vec(),
    };
    let mut array = ArrayD::from_shape_simple_fn(IxDyn(&memory), &mut next);
    let step = if matches!(layout, ViewLayout::Strided) { 2 } else { -1 };
    match layout {
        ViewLayout::Plain => array,
        ViewLayout::Transposed => array.reversed_axes(),
        ViewLayout::Strided | ViewLayout::Reversed => {
            for axis in 0..shape.len() {
                array.slice_axis_inplace(Axis(axis), Slice::new(0, None, step));
            }
            array
        }
    }
}

/// Params, indices, axis, join.
type JoinShapes = (&'static [usize], &'static [usize], usize, Join);

const SHAPES: [JoinShapes; 22] = [
    (&[7], &[5], 0, Join::Equal),
    (&[1], &[40], 0, Join::Equal),
    (&[3, 7], &[3, 5], 1, Join::Equal),
    (&[3, 40], &[3, 65], 1, Join::Equal),
    (&[5, 40], &[9, 40], 0, Join::Equal),
    (&[5, 17], &[33, 17], 0, Join::Equal),
    (&[2, 3, 4], &[2, 5, 4], 1, Join::Equal),
    (&[2, 3, 35], &[2, 5, 35], 1, Join::Equal),
    (&[4, 3, 5], &[2, 3, 5], 0, Join::Equal),
    (&[3, 3, 9], &[3, 3, 4], 2, Join::Equal),
    (&[3, 7, 9], &[2, 5, 8], 1, Join::NotLarger),
    (&[30, 9], &[7, 4], 1, Join::NotLarger),
    (&[9, 30], &[12, 21], 0, Join::NotLarger),
    (&[3, 4], &[1, 3], 0, Join::NotLarger),
    (&[9, 40], &[20, 1], 0, Join::Broadcast),
    (&[9, 4, 10], &[20, 1, 1], 0, Join::Broadcast),
    (&[3, 9, 40], &[1, 20, 1], 1, Join::Broadcast),
    (&[9, 1], &[20, 17], 0, Join::Broadcast),
    (&[1, 9], &[17, 20], 1, Join::Broadcast),
    (&[3, 9, 1, 4], &[1, 5, 6, 1], 1, Join::Broadcast),
    (&[3, 1, 5, 2], &[1, 4, 5, 6], 3, Join::Broadcast),
    (&[2, 3, 2, 3], &[2, 3, 4, 3], 2, Join::Broadcast),
];

const POLICIES: [(BadIndex, NegativeIndex); 6] = [
    (BadIndex::Error, NegativeIndex::Reject),
    (BadIndex::Error, NegativeIndex::Wrap),
    (BadIndex::Zero, NegativeIndex::Reject),
    (BadIndex::Zero, NegativeIndex::Wrap),
    (BadIndex::Clamp, NegativeIndex::Reject),
    (BadIndex::Clamp, NegativeIndex::Wrap),
];

/// Every shape over every pair of layouts, under every policy, at every level, on one thread and on three.
#[test]
fn everything_agrees_with_the_formula() {
    const LAYOUTS: [ViewLayout; 4] =
        [ViewLayout::Plain, ViewLayout::Strided, ViewLayout::Reversed, ViewLayout::Transposed];
    for (params_shape, indices_shape, axis, join) in SHAPES {
        for (params_layout, indices_layout) in
            LAYOUTS.into_iter().flat_map(|one| LAYOUTS.map(|other| (one, other)))
        {
            let params = laid(params_layout, params_shape, |at| u32::try_from(at + 1).expect("small"));
            let bound = i64::try_from(params_shape[axis]).expect("small");
            for (bad, negative) in POLICIES {
                // Good indices where a bad one is an error, else some that pass both ends.
                let low = if negative == NegativeIndex::Wrap { -bound } else { 0 };
                let (low, high) = if bad == BadIndex::Error { (low, bound) } else { (-bound - 2, bound + 2) };
                let index = |at: usize| low + i64::try_from(at * 7 + at / 11).expect("small") % (high - low);
                let indices = laid(indices_layout, indices_shape, index);
                let profile = Profile { bad, negative };
                let expected = formula(&params.view(), &indices.view(), axis, (join, profile));
                let expected = expected.expect("no bad index is an error");
                for (level, threads) in Level::available().flat_map(|level| [(level, 1), (level, 3)]) {
                    let threads = NonZeroUsize::new(threads).expect("positive");
                    let options = Options::new().axis(i64::try_from(axis).expect("small")).join(join);
                    let options = options.profile(profile).level(level).exactly_threads(threads);
                    let output = take_along_axis(&params, &indices, &options);
                    assert_eq!(
                        output.as_ref(),
                        Ok(&expected),
                        "{params_shape:?} {params_layout:?}, {indices_shape:?} {indices_layout:?}, {axis}, {profile:?}, {level}"
                    );
                }
            }
        }
    }
}

/// Every way of running a call, for elements of every width and for those that are cloned.
#[test]
fn every_way_and_width_agrees() {
    fn width<A: Element + PartialEq + std::fmt::Debug + 'static>(element: impl Fn(usize) -> A) {
        for (shape, indices_shape, axis) in [([3, 50], [3, 70], 1), ([50, 19], [70, 19], 0)] {
            let params = Array2::from_shape_fn(shape, |(row, column)| element(row * shape[1] + column));
            let at = |row: usize, column: usize| (row * 31 + column * 7) % 50;
            let indices = Array2::from_shape_fn(indices_shape, |(row, column)| at(row, column) as u64);
            let expected = Array2::from_shape_fn(indices_shape, |(row, column)| {
                let picked = at(row, column);
                if axis == 0 { params[[picked, column]] } else { params[[row, picked]] }
            });
            for level in Level::available() {
                let options = Options::new().axis(axis).level(level);
                let plan = Plan::take_along_axis(&shape, &indices_shape, &options).expect("a plan");
                let pool = Pool::new(1 << 20);
                let pooled = plan.run_pooled(&params, &indices, &pool).expect("good indices");
                assert_eq!(pooled.view(), expected.view().into_dyn());
                let cloned = plan.run_cloned(&params, &indices).expect("good indices");
                assert_eq!(cloned, expected.clone().into_dyn());
                let mut into = Array2::from_elem(indices_shape, A::default());
                take_along_axis_into(&params, &indices, &mut into, &options).expect("good indices");
                assert_eq!(into, expected);
            }
        }
    }
    width(|at| u8::try_from(at % 251).expect("small"));
    width(|at| u16::try_from(at).expect("small"));
    width(|at| u32::try_from(at).expect("small"));
    width(|at| at as u64);
    width(|at| at as u128);
    width(|at| [u8::try_from(at % 251).expect("small"); 3]);
}

/// Long stretches, in pieces: one after the other where the axis stays in a cache, or one of each stretch before the next. Under
/// every policy, on one thread and on three, with a rest shorter than a piece, by indices with gaps and backwards, into outputs of
/// other layouts, too.
#[test]
fn pieces_agree_with_the_formula() {
    for (params_shape, indices_shape, axis, indices_layout) in [
        ([1, 600, 7100], [1, 40, 7100], 1, ViewLayout::Plain),
        ([2, 600, 7100], [2, 38, 7100], 1, ViewLayout::Plain),
        ([3, 100, 1000], [3, 7, 1000], 1, ViewLayout::Plain),
        ([3, 100, 1000], [3, 7, 1000], 1, ViewLayout::Strided),
        ([3, 100, 1000], [3, 7, 1000], 1, ViewLayout::Reversed),
    ] {
        let params = laid(ViewLayout::Plain, &params_shape, |at| u32::try_from(at + 1).expect("small"));
        let bound = i64::try_from(params_shape[axis]).expect("small");
        for (bad, negative) in POLICIES {
            let low = if negative == NegativeIndex::Wrap { -bound } else { 0 };
            let (low, high) = if bad == BadIndex::Error { (low, bound) } else { (-bound - 2, bound + 2) };
            let index = |at: usize| low + i64::try_from(at * 7 + at / 11).expect("small") % (high - low);
            let indices = laid(indices_layout, &indices_shape, index);
            let profile = Profile { bad, negative };
            let expected = formula(&params.view(), &indices.view(), axis, (Join::Equal, profile));
            let expected = expected.expect("no bad index is an error");
            for threads in [1, 3] {
                let threads = NonZeroUsize::new(threads).expect("positive");
                let options = Options::new().axis(i64::try_from(axis).expect("small"));
                let options = options.profile(profile).exactly_threads(threads);
                let output = take_along_axis(&params, &indices, &options);
                assert_eq!(output.as_ref(), Ok(&expected), "{params_shape:?}, {profile:?}, {threads}");
                for every_second in [1, 2] {
                    let mut memory = indices_shape;
                    memory[every_second] *= 2;
                    let mut memory = ArrayD::from_elem(IxDyn(&memory), 7);
                    let mut into = memory.slice_axis_mut(Axis(every_second), Slice::new(0, None, 2));
                    take_along_axis_into(&params, &indices, &mut into, &options).expect("no error");
                    assert_eq!(into, expected, "{params_shape:?}, {profile:?}, {threads}, {every_second}");
                    let between = memory.slice_axis(Axis(every_second), Slice::new(1, None, 2));
                    assert!(between.iter().all(|element| *element == 7), "{params_shape:?}, {every_second}");
                }
            }
        }
    }
}

/// Of several bad indices the first in the order of the output is reported, whichever piece is picked first.
#[test]
fn the_first_bad_index_of_pieces_is_the_first_of_the_output() {
    let params = Array2::<u32>::zeros((600, 7100));
    let mut indices = Array2::<i64>::zeros((40, 7100));
    indices[[5, 3]] = 600;
    indices[[2, 7040]] = -1;
    for threads in [1, 3] {
        let threads = NonZeroUsize::new(threads).expect("positive");
        let options = Options::new().axis(0).exactly_threads(threads);
        let error =
            GatherError::IndexOutOfRange { position: vec![2, 7040], component: None, index: -1, bound: 600 };
        assert_eq!(take_along_axis(&params, &indices, &options), Err(error.into()));
    }
}

/// Pieces of elements of every width, at every level.
#[test]
fn pieces_of_every_width_agree() {
    fn width<A: Element + PartialEq + std::fmt::Debug + 'static>(element: impl Fn(usize) -> A) {
        // More than half of the largest last cache that is believed, and each line holds elements of several stretches.
        let columns = (17 << 20) / 128 / size_of::<A>() + 100;
        let params = Array2::from_shape_fn((128, columns), |(row, column)| element(row * columns + column));
        let at = |row: usize, column: usize| (row * 31 + column * 7) % 128;
        let rows = (2 * size_of::<A>()).max(3);
        let indices = Array2::from_shape_fn((rows, columns), |(row, column)| at(row, column) as u64);
        let expected =
            Array2::from_shape_fn((rows, columns), |(row, column)| params[[at(row, column), column]]);
        for level in Level::available() {
            let output = take_along_axis(&params, &indices, &Options::new().axis(0).level(level));
            assert!(output.is_ok_and(|output| output == expected.view().into_dyn()), "{level}");
        }
    }
    width(|at| u8::try_from(at % 251).expect("small"));
    width(|at| u16::try_from(at % 65521).expect("small"));
    width(|at| u32::try_from(at).expect("small"));
    width(|at| at as u64);
    width(|at| at as u128);
}
