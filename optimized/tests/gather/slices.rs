//! The functions on slices: what they give is what they give on arrays of the same elements, and views stay within
//! their slice.

use gather_optimized::slices::{self, Output, View, ViewMut};
use gather_optimized::{Level, Options, Plan, gather, gather_nd, gather_windows, take_along_axis};
use gather_spec::{BadIndex, DimensionNumbers, GatherError, NegativeIndex, Refusal};
use ndarray::{Array3, ArrayD, ArrayView3};
use proptest::prelude::*;

/// Elements of params, as many as any view of these tests reaches.
fn numbers() -> Vec<u32> {
    (100..400).collect()
}

/// A tensor of rank 3 in the middle of a slice, in every order of its dims, some of them backwards or repeated.
#[derive(Clone, Debug)]
struct Lying {
    shape: [usize; 3],
    strides: [isize; 3],
    offset: usize,
}

impl Lying {
    fn view<'a>(&'a self, elements: &'a [u32]) -> View<'a, u32> {
        View::strided(elements, self.offset, &self.shape, &self.strides).expect("it stays within")
    }

    /// The same elements, copied one by one.
    fn array(&self, elements: &[u32]) -> Array3<u32> {
        let at = |place: [usize; 3]| {
            let steps = place.iter().zip(self.strides).map(|(at, stride)| at.cast_signed() * stride);
            elements[(self.offset.cast_signed() + steps.sum::<isize>()).cast_unsigned()]
        };
        Array3::from_shape_fn(self.shape, |(i, j, k)| at([i, j, k]))
    }
}

fn lying() -> impl Strategy<Value = Lying> {
    let dims = [1..5usize, 1..5, 1..5];
    let order = Just([0, 1, 2]).prop_shuffle();
    (dims, order, [any::<bool>(); 3], [any::<bool>(); 3]).prop_map(|(shape, order, backwards, repeated)| {
        let (mut strides, mut step, mut offset) = ([0; 3], 1isize, 7);
        for dim in order {
            strides[dim] = if repeated[dim] && shape[dim] < 3 { 0 } else { step };
            step *= shape[dim].cast_signed() + 1;
            if backwards[dim] {
                offset += (shape[dim] - 1) * strides[dim].cast_unsigned();
                strides[dim] = -strides[dim];
            }
        }
        Lying { shape, strides, offset }
    })
}

/// Options of every level and policy on bad indices.
fn options() -> impl Strategy<Value = Options> {
    let levels: Vec<Level> = Level::available().collect();
    let bad = [BadIndex::Error, BadIndex::Zero, BadIndex::Clamp, BadIndex::Modulo];
    let negative = [NegativeIndex::Reject, NegativeIndex::Wrap];
    let of = |(level, bad, negative)| Options::new().level(level).bad_index(bad).negative_index(negative);
    (
        prop::sample::select(levels),
        prop::sample::select(bad.to_vec()),
        prop::sample::select(negative.to_vec()),
    )
        .prop_map(of)
}

/// What slices give is what the array has, in row-major order, and the same into the caller's memory.
fn same(
    array: Result<ArrayD<u32>, Refusal>,
    fresh: Result<Vec<u32>, Refusal>,
    into: impl FnOnce(&mut [u32]) -> Result<(), Refusal>,
) -> Result<(), TestCaseError> {
    let expected = array.map(|array| array.iter().copied().collect::<Vec<u32>>());
    if let Ok(expected) = &expected {
        let mut output = vec![0; expected.len()];
        prop_assert_eq!(into(&mut output), Ok(()));
        prop_assert_eq!(&output, expected);
    }
    prop_assert_eq!(fresh, expected);
    Ok(())
}

proptest! {
    #[test]
    fn every_function_gives_what_it_gives_on_an_array(
        lying in lying(),
        mut options in options(),
        axis in 0..3i64,
        drawn in prop::collection::vec(-6..6i32, 64),
    ) {
        let elements = numbers();
        let (view, params) = (lying.view(&elements), lying.array(&elements));

        let rows = ArrayView3::from_shape((2, 3, 2), &drawn[..12]).unwrap();
        let rows_view = View::new(&drawn[..12], &[2, 3, 2]).unwrap();
        same(
            gather_nd(&params, &rows, &options),
            slices::gather_nd(&view, &rows_view, &options),
            |output| slices::gather_nd_into(&view, &rows_view, output, &options),
        )?;

        options = options.axis(axis);
        same(
            gather(&params, &rows, &options),
            slices::gather(&view, &rows_view, &options),
            |output| slices::gather_into(&view, &rows_view, output, &options),
        )?;

        let mut shape = lying.shape;
        shape[usize::try_from(axis).unwrap()] = 3;
        let count: usize = shape.iter().product();
        let along = ArrayView3::from_shape(shape, &drawn[..count]).unwrap();
        let along_view = View::new(&drawn[..count], &shape).unwrap();
        same(
            take_along_axis(&params, &along, &options),
            slices::take_along_axis(&view, &along_view, &options),
            |output| slices::take_along_axis_into(&view, &along_view, output, &options),
        )?;
    }

    #[test]
    fn windows_are_the_same_wherever_their_starts_lie(
        lying in lying(),
        options in options(),
        vector in 0..3i64,
        drawn in prop::collection::vec(-3..4i64, 64),
    ) {
        let elements = numbers();
        let (view, params) = (lying.view(&elements), lying.array(&elements));
        let mut shape = [2, 4, 5];
        shape[usize::try_from(vector).unwrap()] = 2;
        let numbers = DimensionNumbers {
            offset_dims: vec![1],
            collapsed_slice_dims: vec![0, 2],
            start_index_map: vec![2, 0],
            index_vector_dim: vector,
            ..DimensionNumbers::default()
        };
        let count: usize = shape.iter().product();
        let starts: Vec<i64> = drawn.iter().cycle().copied().take(count).collect();
        let of_array = ArrayView3::from_shape(shape, &starts).unwrap();
        let of_slice = View::new(&starts, &shape).unwrap();
        let sizes = [1, i64::try_from(lying.shape[1]).unwrap(), 1];
        same(
            gather_windows(&params, &of_array, &numbers, &sizes, &options),
            slices::gather_windows(&view, &of_slice, &numbers, &sizes, &options),
            |output| slices::gather_windows_into(&view, &of_slice, &numbers, &sizes, output, &options),
        )?;
    }
}

fn unsupported<T: std::fmt::Debug>(refused: Result<T, Refusal>) -> String {
    match refused {
        Err(Refusal::Unsupported(why)) => why,
        other => panic!("a refusal is expected, not {other:?}"),
    }
}

#[test]
fn a_view_outside_its_slice_is_refused_with_what_it_asks_for() {
    let six = [1, 2, 3, 4, 5, 6];
    assert_eq!(
        unsupported(View::new(&six, &[2, 2])),
        "a slice of 6 elements is not all of a tensor of shape [2, 2]"
    );
    assert_eq!(
        unsupported(View::new(&six, &[2, 4])),
        "a slice of 6 elements is not all of a tensor of shape [2, 4]"
    );
    assert_eq!(
        unsupported(View::strided(&six, 1, &[2, 3], &[3, 1])),
        "shape [2, 3] with strides [3, 1] from offset 1 does not lie within a slice of 6 elements"
    );
    assert!(View::strided(&six, 0, &[2, 3], &[3]).is_err(), "a stride for each dim");
    assert!(View::new(&six, &[usize::MAX, 2]).is_err(), "a product beyond any slice");
}

#[test]
fn an_output_of_another_length_is_refused_and_left_alone() {
    let (params, indices) = (View::new(&[1u8, 2, 3], &[3]).unwrap(), View::new(&[0, 2], &[2]).unwrap());
    let plan = Plan::gather(&[3], &[2], &Options::new()).unwrap();
    for len in [0, 1, 3] {
        let mut output = vec![9; len];
        let why = format!("the output has {len} elements, not 2");
        assert_eq!(unsupported(slices::gather_into(&params, &indices, &mut output, &Options::new())), why);
        assert_eq!(unsupported(plan.run_views_into(&params, &indices, &mut output)), why);
        assert_eq!(output, vec![9; len]);
    }
    let mut output = [0; 2];
    plan.run_views_into(&params, &indices, &mut output).unwrap();
    assert_eq!((output, plan.run_views(&params, &indices)), ([1, 3], Ok(vec![1, 3])));
}

#[test]
fn a_bad_index_is_told_by_its_place_in_the_view() {
    let params = View::strided(&[1, 2, 3, 4], 0, &[2, 2], &[2, 1]).unwrap();
    let indices = View::strided(&[0, 9, 1, 0], 3, &[2], &[-2]).unwrap();
    let error = GatherError::IndexOutOfRange { position: vec![1], component: None, index: 9, bound: 2 };
    assert_eq!(slices::gather(&params, &indices, &Options::new()), Err(error.into()));
}

#[test]
fn params_without_elements_still_hold_indices_to_their_bounds() {
    let nothing: [u16; 0] = [];
    let params = View::new(&nothing, &[0, 3]).unwrap();
    let one = View::new(&[0u8], &[1]).unwrap();
    let refused = slices::gather(&params, &one, &Options::new());
    let error = GatherError::IndexOutOfRange { position: vec![0], component: None, index: 0, bound: 0 };
    assert_eq!(refused, Err(error.into()));
}

/// Outputs in the middle of a slice, by every function: in columns, backwards, one row of each pair.
#[test]
fn outputs_may_have_strides() {
    let numbers: Vec<u32> = (1..25).collect();
    let params = View::new(&numbers, &[4, 2, 3]).unwrap();
    let plan = Plan::gather(&[4, 2, 3], &[2], &Options::new()).unwrap();
    let rows = View::new(&[3u8, 1], &[2]).unwrap();
    let expected = slices::gather(&params, &rows, &Options::new()).unwrap();
    for (offset, strides) in [(1usize, [2, 4, 8]), (20, [-10, -4, -1]), (0, [12, 6, 2]), (3, [1, 6, 2])] {
        let place = |at: usize| {
            let steps = [at / 6, at / 3 % 2, at % 3].into_iter().zip(strides);
            steps.fold(offset, |place, (at, stride)| place.wrapping_add_signed(at.cast_signed() * stride))
        };
        let mut wanted = vec![0; 40];
        expected.iter().enumerate().for_each(|(at, element)| wanted[place(at)] = *element);
        let mut memory = vec![0; 40];
        let mut output = ViewMut::strided(&mut memory, offset, &[2, 2, 3], &strides).unwrap();
        assert_eq!(output.shape(), [2, 2, 3]);
        slices::gather_into(&params, &rows, &mut output, &Options::new()).unwrap();
        assert_eq!(memory, wanted, "{strides:?}");
        memory.fill(0);
        let mut output = ViewMut::strided(&mut memory, offset, &[2, 2, 3], &strides).unwrap();
        plan.run_views_into(&params, &rows, &mut output).unwrap();
        assert_eq!(memory, wanted, "{strides:?}");
    }
    fn doubled(into: impl Fn(&mut ViewMut<'_, u32>) -> Result<(), Refusal>) -> [u32; 4] {
        let mut memory = [0; 4];
        into(&mut ViewMut::strided(&mut memory, 3, &[2], &[-2]).unwrap()).unwrap();
        memory
    }
    let (params, options) = (View::new(&numbers[..3], &[3]).unwrap(), Options::new());
    let points = View::new(&[2, 0], &[2, 1]).unwrap();
    assert_eq!(doubled(|output| slices::gather_nd_into(&params, &points, output, &options)), [0, 1, 0, 3]);
    let (along, places) = (options.axis(0), View::new(&[1, 2], &[2]).unwrap());
    assert_eq!(
        doubled(|output| slices::take_along_axis_into(&params, &places, output, &along)),
        [0, 3, 0, 2]
    );
    let numbers =
        DimensionNumbers { offset_dims: vec![0], start_index_map: vec![0], ..DimensionNumbers::default() };
    let start = View::new(&[1], &[1]).unwrap();
    let windows = |output: &mut ViewMut<'_, u32>| {
        slices::gather_windows_into(&params, &start, &numbers, &[2], output, &options)
    };
    assert_eq!(doubled(windows), [0, 3, 0, 2]);
}

#[test]
fn an_output_that_would_be_written_twice_is_refused() {
    let mut six = [0u8; 6];
    assert_eq!(
        unsupported(ViewMut::strided(&mut six, 0, &[3, 2], &[1, 2])),
        "shape [3, 2] with strides [1, 2] from offset 0 may be the same element twice: in an output each stride must step \
         over what all shorter ones reach"
    );
    assert!(ViewMut::strided(&mut six, 0, &[2], &[0]).is_err());
    assert_eq!(
        unsupported(ViewMut::strided(&mut six, 1, &[2, 3], &[3, 1])),
        "shape [2, 3] with strides [3, 1] from offset 1 does not lie within a slice of 6 elements"
    );
    assert!(ViewMut::strided(&mut six, 0, &[2, 3], &[3]).is_err(), "a stride for each dim");
}

#[test]
fn slices_arrays_and_vectors_are_outputs() {
    fn written(output: &mut (impl Output<u8> + ?Sized)) {
        let (params, indices) = (View::new(&[1u8, 2, 3], &[3]).unwrap(), View::new(&[2, 0], &[2]).unwrap());
        slices::gather_into(&params, &indices, output, &Options::new()).unwrap();
    }
    let (mut array, mut vector) = ([0; 2], vec![0; 2]);
    written(&mut array);
    written(&mut vector);
    assert_eq!((array, vector.as_slice()), ([3, 1], &[3, 1][..]));
    vector.fill(0);
    written(vector.as_mut_slice());
    assert_eq!(vector, [3, 1]);
}

#[test]
fn a_view_of_another_shape_is_refused_and_left_alone() {
    let (params, indices) = (View::new(&[1u8, 2, 3], &[3]).unwrap(), View::new(&[0, 2], &[2]).unwrap());
    let mut memory = [9; 4];
    let mut output = ViewMut::strided(&mut memory, 0, &[1, 2], &[1, 2]).unwrap();
    let refused = slices::gather_into(&params, &indices, &mut output, &Options::new());
    assert_eq!(unsupported(refused), "the output has shape [1, 2], not [2]");
    assert_eq!(memory, [9; 4]);
}
