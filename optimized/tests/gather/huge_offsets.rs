//! Offsets and positions past 2^31 and 2^32, on memory of which only the touched pages exist.

#![cfg(all(unix, target_pointer_width = "64"))]

use crate::support::SparseMemory;
use gather_optimized::{Level, Options, Plan, gather};
use gather_spec::signature::Join;
use gather_spec::{BadIndex, GatherError, NegativeIndex, Refusal};
use ndarray::{Array1, Array2, ArrayView, ArrayView1, ArrayView2, ShapeBuilder, array};

const GIB: usize = 1 << 30;

/// 9 GiB of bytes: element offsets past 2^31, 2^32 and 2^33.
#[test]
fn bytes_past_every_power() {
    let mut memory = SparseMemory::new(9 * GIB);
    let places = [0, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 33, 9 * GIB - 1];
    for (at, place) in places.iter().enumerate() {
        memory[*place] = u8::try_from(at + 1).expect("small");
    }
    let params = ArrayView1::from(&*memory);
    let indices = Array1::from_iter(places.iter().rev().map(|place| *place as u64));
    for level in Level::available() {
        let plan = Plan::gather(&[9 * GIB], &[7], &Options::new().level(level)).expect("a plan");
        let output = plan.run(&params, &indices).expect("good indices");
        assert_eq!(output, array![7u8, 6, 5, 4, 3, 2, 1].into_dyn(), "{level}");
    }
}

/// Negative `i32` indices that count from the end of an axis of 2^31 elements, which fit their type, and of one more,
/// which do not.
#[test]
fn negative_indices_from_ends_past_their_type() {
    let mut memory = SparseMemory::new(4 * ((1 << 31) + 1));
    for (at, place) in [0, 1, (1 << 31) - 1, 1 << 31].iter().enumerate() {
        memory[4 * place] = u8::try_from(at + 1).expect("small");
    }
    // SAFETY: the mapping is aligned to pages and outlives the view; any bytes are a u32.
    let words: &[u32] = unsafe { std::slice::from_raw_parts(memory.as_ptr().cast(), (1 << 31) + 1) };
    let indices = Array1::from_iter((0..64).map(|at| [-1, i32::MIN, 0, 1][at % 4]));
    for level in Level::available() {
        let options = Options::new().level(level).negative_index(NegativeIndex::Wrap);
        for (len, expected) in [(1usize << 31, [3u32, 1, 1, 2]), ((1 << 31) + 1, [4, 2, 1, 2])] {
            let plan = Plan::gather(&[len], &[64], &options).expect("a plan");
            let output = plan.run(&ArrayView1::from(&words[..len]), &indices).expect("good indices");
            assert!(output.iter().enumerate().all(|(at, found)| *found == expected[at % 4]), "{level}");
            // A view of stride 0 is small enough not to be asked for ahead.
            let one = [7u32];
            let all_one = ArrayView::from_shape((len,).strides((0,)), &one).expect("a view of one element");
            assert!(plan.run(&all_one, &indices).is_ok_and(|output| output.iter().all(|found| *found == 7)));
        }
    }
}

/// Few elements of 4 and 8 bytes: byte offsets pass 2^31 and 2^32 while the indices are small.
#[test]
fn rows_far_apart() {
    let mut memory = SparseMemory::new(9 * GIB);
    let row = 1 << 29;
    for at in 0..18 {
        memory[at * row] = u8::try_from(at + 1).expect("small");
    }
    // SAFETY: the mapping is aligned to pages and outlives the view; any bytes are a u32.
    let words: &[u32] = unsafe { std::slice::from_raw_parts(memory.as_ptr().cast(), 9 * GIB / 4) };
    let params = ArrayView2::from_shape((18, row / 4), words).expect("its shape");
    let indices =
        Array2::from_shape_fn((18, 2), |(j, c)| if c == 0 { 17 - i32::try_from(j).unwrap_or(0) } else { 0 });
    let last = Array1::from_iter((0..18i64).rev());
    for level in Level::available() {
        let options = Options::new().level(level);
        let points = Plan::gather_nd(params.shape(), &[18, 2], &options).expect("a plan");
        let points = points.run(&params, &indices).expect("good indices");
        let column = params.slice(ndarray::s![.., 0]);
        let rows = Plan::gather(column.shape(), &[18], &options).expect("a plan");
        let rows = rows.run(&column, &last).expect("good indices");
        let expected: Vec<u32> = (1..=18).rev().collect();
        assert_eq!(points.as_slice(), Some(&expected[..]), "{level}");
        assert_eq!(rows.as_slice(), Some(&expected[..]), "{level}");
    }
}

/// Elements along the first axis, of rows half a GiB apart; and more positions than a loop can visit, none of them read.
#[test]
fn elements_along_an_axis_far_apart() {
    let mut memory = SparseMemory::new(9 * GIB);
    let row = 1 << 29;
    for at in 0..18 {
        memory[at * row] = u8::try_from(at + 1).expect("small");
        memory[at * row + 2] = u8::try_from(at + 101).expect("small");
    }
    let params = ArrayView2::from_shape((18, row), &memory).expect("its shape");
    let corner = params.slice(ndarray::s![.., ..3]);
    let indices = array![[17i64, 0, 0], [8, 0, 16], [0, 0, 9]];
    let expected = array![[18u8, 0, 101], [9, 0, 117], [1, 0, 110]].into_dyn();
    for level in Level::available() {
        let options = Options::new().axis(0).level(level);
        let plan = Plan::take_along_axis(&[18, 3], &[3, 3], &options).expect("a plan");
        assert_eq!(plan.run(&corner, &indices).as_ref(), Ok(&expected), "{level}");
        let smaller = options.join(Join::NotLarger);
        let plan = Plan::take_along_axis(&[18, row], &[3, 3], &smaller).expect("a plan");
        assert_eq!(plan.run(&params, &indices).as_ref(), Ok(&expected), "{level}");
    }
    let long = 1usize << 50;
    let nothing: [u8; 0] = [];
    let params = ArrayView::from_shape((0, 3), &nothing).expect("an empty view");
    let one = [3i32];
    let indices = ArrayView::from_shape((1, long).strides((0, 0)), &one).expect("a view of one element");
    let plan = Plan::take_along_axis(&[0, 3], &[1, long], &Options::new().axis(1)).expect("a plan");
    let error = GatherError::IndexOutOfRange { position: vec![0, 0], component: None, index: 3, bound: 3 };
    assert_eq!(plan.run(&params, &indices), Err(Refusal::Error(error)));
}

/// Views of stride 0 whose logical positions pass 2^32 and more.
#[test]
fn logical_positions_past_every_power() {
    let one = [5u16];
    let long = 1usize << 40;
    let params = ArrayView::from_shape((long,).strides((0,)), &one).expect("a view of one element");
    let indices = array![0i64, 1 << 31, 1 << 32, (1 << 40) - 1];
    for level in Level::available() {
        let plan = Plan::gather(&[long], &[4], &Options::new().level(level)).expect("a plan");
        assert_eq!(plan.run(&params, &indices), Ok(array![5u16, 5, 5, 5].into_dyn()), "{level}");
        let plan = Plan::gather(&[long], &[1], &Options::new().level(level)).expect("a plan");
        let refused = plan.run(&params, &array![1i64 << 40]);
        let error =
            GatherError::IndexOutOfRange { position: vec![0], component: None, index: 1 << 40, bound: long };
        assert_eq!(refused, Err(Refusal::Error(error)));
    }
}

/// More index rows than a loop can visit, all the same, selecting empty slices.
#[test]
fn endless_rows_that_select_nothing() {
    let nothing: [f32; 0] = [];
    let params = ArrayView2::from_shape((3, 0), &nothing).expect("an empty view");
    let long = 1usize << 50;
    for (index, bad) in [(2i32, false), (3, true)] {
        let one = [index];
        let indices = ArrayView::from_shape((long, 1).strides((0, 1)), &one).expect("a view of one element");
        for bad_index in BadIndex::SPECIFIED {
            let plan =
                Plan::gather_nd(&[3, 0], &[long, 1], &Options::new().bad_index(bad_index)).expect("a plan");
            let output = plan.run(&params, &indices);
            assert_eq!(output.is_err(), bad && bad_index == BadIndex::Error, "{bad_index} {index}");
        }
    }
}

/// An axis may be longer than `i32` counts: every place of it may be meant by `u32`.
#[test]
fn unsigned_indices_beyond_those_of_their_signed_type_are_good_below_the_bound_only() {
    let row = Array1::from_iter(0..6u32);
    let params = row.broadcast(((1 << 31) + 2, 6)).expect("one row again and again");
    let rows =
        |index: u32, options: &Options| gather(&params, &array![1, index], options).map(|rows| rows.sum());
    let plain = Options::new();
    let wrap = plain.negative_index(NegativeIndex::Wrap);
    for options in [plain, wrap] {
        assert_eq!(rows((1 << 31) + 1, &options), Ok(30));
        assert!(rows((1 << 31) + 2, &options).is_err() && rows(u32::MAX, &options).is_err());
    }
    let few = gather(&Array2::<u32>::zeros((3, 6)), &array![u32::MAX], &wrap);
    let wide = gather(&Array2::<u32>::zeros((3, 6)), &array![u64::MAX], &wrap);
    assert!(few.is_err() && wide.is_err(), "no unsigned index is negative");
}
