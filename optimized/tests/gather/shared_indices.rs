//! Slices that share their indices, as along a middle axis: against a plain loop, between inaccessible pages, under every policy.

#![cfg(unix)]

use std::num::NonZeroUsize;

use crate::support::{GuardedElements, Touching};
use gather_optimized::{Index, Level, Options, Plan};
use gather_spec::{BadIndex, DimensionNumbers, NegativeIndex};
use ndarray::{ArrayD, ArrayView, Axis, IxDyn};

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

/// A call along the axis behind `batch` and `slices`.
struct AxisCall {
    batch: usize,
    slices: usize,
    bound: usize,
    row: usize,
    /// As many for each batch.
    indices: Vec<i64>,
    /// Of params: whether slices lie in the opposite order.
    reversed: bool,
}

impl AxisCall {
    fn count(&self) -> usize {
        self.indices.len() / self.batch
    }

    /// The plain loop; `None` if an index is bad and that is an error. A bad one fills with 7.
    fn expected(&self, bad: BadIndex, negative: NegativeIndex) -> Option<Vec<u32>> {
        let mut output = Vec::new();
        for (batch, slice) in (0..self.batch).flat_map(|batch| (0..self.slices).map(move |one| (batch, one)))
        {
            for index in &self.indices[batch * self.count()..][..self.count()] {
                let place = place(*index, self.bound, bad, negative);
                if place.is_none() && bad == BadIndex::Error {
                    return None;
                }
                let at = |place| ((batch * self.slices + slice) * self.bound + place) * self.row;
                output.extend(
                    (0..self.row).map(|element| place.map_or(7, |place| element_at(at(place) + element))),
                );
            }
        }
        Some(output)
    }

    /// Runs at every level and on one thread and on three, and compares with the plain loop.
    fn held<I: Index>(&self, narrow: impl Fn(i64) -> I) {
        let shape = [self.batch, self.slices, self.bound, self.row];
        let len = shape.iter().product();
        let mut params = ArrayD::from_shape_fn(IxDyn(&shape), |_| 0);
        params.iter_mut().enumerate().for_each(|(at, element)| *element = element_at(at));
        if self.reversed {
            params.invert_axis(Axis(1));
            params = params.as_standard_layout().into_owned();
        }
        let params = params.into_raw_vec_and_offset().0;
        assert_eq!(params.len(), len);
        let indices: Vec<I> = self.indices.iter().map(|index| narrow(*index)).collect();
        let batched = [self.batch, self.count()];
        for (level, negative) in Level::available()
            .flat_map(|level| [NegativeIndex::Reject, NegativeIndex::Wrap].map(|negative| (level, negative)))
        {
            for (touching, threads) in [(Touching::Start, 1), (Touching::End, 1), (Touching::End, 3)] {
                let threads = NonZeroUsize::new(threads).expect("positive");
                let params = GuardedElements::new(&params, touching);
                let mut params = ArrayView::from_shape(IxDyn(&shape), &params).expect("its shape");
                if self.reversed {
                    params.invert_axis(Axis(1));
                }
                let indices = GuardedElements::new(&indices, touching);
                let indices = ArrayView::from_shape(IxDyn(&batched), &indices).expect("its shape");
                for bad in [BadIndex::Error, BadIndex::Fill, BadIndex::Clamp, BadIndex::Modulo] {
                    let options =
                        Options::new().level(level).negative_index(negative).exactly_threads(threads);
                    let options = options.batch_dims(1).axis(2);
                    let ran = if bad == BadIndex::Fill {
                        let plan = Plan::gather(&shape, &batched, &options.fill(7)).expect("a plan");
                        plan.run(&params, &indices)
                    } else {
                        let plan = Plan::gather(&shape, &batched, &options.bad_index(bad)).expect("a plan");
                        plan.run(&params, &indices)
                    };
                    let ran = ran.ok().map(|output| output.into_raw_vec_and_offset().0);
                    let which = format!("{level}, {bad:?}, {negative:?}, {threads} threads, {touching:?}");
                    assert!(
                        ran == self.expected(bad, negative),
                        "{which}: {} by {}",
                        self.slices,
                        self.count()
                    );
                }
            }
        }
    }
}

fn element_at(at: usize) -> u32 {
    u32::try_from(at * 7 + 1).expect("small")
}

fn good(count: usize, bound: usize) -> Vec<i64> {
    (0..count).map(|at| i64::try_from((at * 5 + at / 3) % bound).expect("small")).collect()
}

/// Around the rows of a block and of half a block, and few enough for many slices in one.
const COUNTS: [usize; 12] = [2, 3, 7, 64, 341, 342, 511, 512, 513, 1023, 1024, 1025];

#[test]
fn slices_of_any_number_of_indices() {
    for count in COUNTS {
        for (batch, slices) in [(1, 2), (1, 7), (2, 5), (3, 2), (3, 1)] {
            let (bound, row) = (11, 3);
            let indices = good(batch * count, bound);
            let call = AxisCall { batch, slices, bound, row, indices, reversed: batch == 2 };
            call.held(|index| index);
        }
    }
    for row in [5, 17, 40] {
        let (bound, indices) = (6, good(2 * 100, 6));
        AxisCall { batch: 2, slices: 33, bound, row, indices, reversed: false }
            .held(|index| u8::try_from(index).expect("small"));
    }
}

/// More slices than one block holds, so that what was checked serves again.
#[test]
fn bad_indices_in_every_place() {
    for (count, slices) in [(3, 700), (100, 25), (600, 3), (1024, 2), (1025, 2)] {
        for index in [-1, -9, -10, 9, i64::MIN, i64::MAX] {
            for at in [0, count / 2, count - 1, count, 2 * count - 1] {
                let mut indices = good(2 * count, 9);
                indices[at] = index;
                AxisCall { batch: 2, slices, bound: 9, row: 3, indices, reversed: false }.held(|index| index);
            }
        }
    }
}

/// Windows whose rows come before their starts in the output share the starts, two components each.
#[test]
fn windows_whose_rows_come_first() {
    let params = ArrayD::from_shape_fn(IxDyn(&[9, 8]), |at| element_at(at[0] * 8 + at[1]));
    let starts = ArrayD::from_shape_fn(IxDyn(&[300, 2]), |at| (at[0] % (5 + at[1])) as u64);
    let numbers = DimensionNumbers {
        offset_dims: vec![0, 2],
        start_index_map: vec![0, 1],
        index_vector_dim: 1,
        ..DimensionNumbers::default()
    };
    for level in Level::available() {
        let options = Options::new().level(level);
        let plan = Plan::gather_windows(&[9, 8], &[300, 2], &numbers, &[5, 3], &options).expect("a plan");
        assert_eq!(plan.output_shape(), [5, 300, 3]);
        let output = plan.run(&params, &starts).expect("good starts");
        let rows = (0..5).flat_map(|down| (0..300).map(move |start| (down, start)));
        for ((down, start), across) in rows.flat_map(|row| (0..3).map(move |across| (row, across))) {
            let expected = element_at((start % 5 + down) * 8 + start % 6 + across);
            assert_eq!(output[[down, start, across]], expected, "{level}, row {down} of window {start}");
        }
    }
}

/// Slices along two dims that no stride joins: a thread's part begins with the last of a row, and goes on with more.
#[test]
fn slices_along_two_dims() {
    let mut params = ArrayD::from_shape_fn(IxDyn(&[26, 5, 4, 3]), |at| {
        element_at(((at[0] * 5 + at[1]) * 4 + at[2]) * 3 + at[3])
    });
    params.invert_axis(Axis(1));
    let indices = ArrayD::from_shape_fn(IxDyn(&[2]), |at| 3 - at[0] as u64);
    for (level, threads) in Level::available().flat_map(|level| [(level, 1), (level, 3)]) {
        let threads = NonZeroUsize::new(threads).expect("positive");
        let options = Options::new().level(level).exactly_threads(threads).axis(2);
        let plan = Plan::gather(&[26, 5, 4, 3], &[2], &options).expect("a plan");
        let output = plan.run(&params, &indices).expect("good indices");
        let expected =
            ArrayD::from_shape_fn(IxDyn(&[26, 5, 2, 3]), |at| params[[at[0], at[1], 3 - at[2], at[3]]]);
        assert_eq!(output, expected, "{level}, {threads} threads");
    }
}
