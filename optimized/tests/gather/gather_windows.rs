//! The form window: values worked out by hand from StableHLO's page and its formula.

use gather_optimized::{Options, gather_windows, gather_windows_into};
use gather_spec::signature::Join;
use gather_spec::{BadIndex, DimensionNumbers, GatherError, NegativeIndex, Refusal};
use ndarray::{Array1, Array2, Array3, Array4, ArrayD, IxDyn, array};

/// Starts on the first dims of params in order, components along dim `vector` of indices, no batching dims.
fn numbers(offset_dims: &[i64], collapsed: &[i64], starts: i64, vector: i64) -> DimensionNumbers {
    DimensionNumbers {
        offset_dims: offset_dims.to_vec(),
        collapsed_slice_dims: collapsed.to_vec(),
        start_index_map: (0..starts).collect(),
        index_vector_dim: vector,
        ..DimensionNumbers::default()
    }
}

const CLAMP: Options = Options::new().bad_index(BadIndex::Clamp);

/// The example that StableHLO's page prints, with the result that it prints.
#[test]
fn the_example_of_stablehlo() {
    let operand = Array1::from_iter(1..=48).into_shape_with_order((2, 3, 4, 2)).expect("48 elements");
    let start_indices: Array4<i64> = array![
        [[[0, 0], [1, 0], [2, 1]], [[0, 1], [1, 1], [0, 9]]],
        [[[0, 0], [2, 1], [2, 2]], [[1, 2], [0, 1], [1, 0]]],
    ];
    let numbers = DimensionNumbers {
        offset_dims: vec![3, 4],
        collapsed_slice_dims: vec![1],
        operand_batching_dims: vec![0],
        start_indices_batching_dims: vec![1],
        start_index_map: vec![2, 1],
        index_vector_dim: 3,
    };
    let result = [
        [[1, 2, 3, 4], [3, 4, 5, 6], [13, 14, 15, 16]],
        [[33, 34, 35, 36], [35, 36, 37, 38], [41, 42, 43, 44]],
        [[1, 2, 3, 4], [13, 14, 15, 16], [21, 22, 23, 24]],
        [[43, 44, 45, 46], [33, 34, 35, 36], [27, 28, 29, 30]],
    ];
    let printed: Vec<i32> = result.iter().flatten().flatten().copied().collect();
    let printed = ArrayD::from_shape_vec(IxDyn(&[2, 2, 3, 2, 2]), printed).expect("48 elements");
    let found = gather_windows(&operand, &start_indices, &numbers, &[1, 1, 2, 2], &CLAMP);
    assert_eq!(found, Ok(printed));
    // The one start that does not fit is the page's [0, 9]: on the second dim, of which 3 starts fit.
    let (position, component) = (vec![0, 1, 2], Some(1));
    let error = GatherError::IndexOutOfRange { position, component, index: 9, bound: 3 };
    let strict = gather_windows(&operand, &start_indices, &numbers, &[1, 1, 2, 2], &Options::new());
    assert_eq!(strict, Err(error.into()));
}

#[test]
fn the_dims_of_a_window_are_where_offset_dims_say() {
    let params = array![[0, 1, 2], [10, 11, 12], [20, 21, 22]];
    let at = |offset_dims: &[i64]| {
        let numbers = numbers(offset_dims, &[], 2, 1);
        gather_windows(&params, &array![[0, 1], [1, 0]], &numbers, &[2, 2], &Options::new())
    };
    let last = array![[[1, 2], [11, 12]], [[10, 11], [20, 21]]];
    assert_eq!(at(&[1, 2]), Ok(last.clone().into_dyn()));
    assert_eq!(at(&[0, 1]), Ok(array![[[1, 10], [2, 11]], [[11, 20], [12, 21]]].into_dyn()));
    assert_eq!(at(&[0, 2]), Ok(last.permuted_axes([1, 0, 2]).into_dyn()), "around the row");
}

#[test]
fn each_index_is_a_row_where_the_vector_lies_behind_the_dims_of_indices() {
    let params = array![5, 6, 7, 8];
    let windows = gather_windows(&params, &array![2, 0], &numbers(&[1], &[], 1, 1), &[2], &Options::new());
    assert_eq!(windows, Ok(array![[7, 8], [5, 6]].into_dyn()));
    let scalar = ndarray::arr0(1);
    let window = gather_windows(&params, &scalar, &numbers(&[0], &[], 1, 0), &[3], &Options::new());
    assert_eq!(window, Ok(array![6, 7, 8].into_dyn()));
}

#[test]
fn components_may_lie_along_the_first_dim_of_indices() {
    let params = array![[0, 1, 2], [10, 11, 12]];
    let components = array![[1, 0, 1], [2, 0, 0]];
    let points = gather_windows(&params, &components, &numbers(&[], &[0, 1], 2, 0), &[1, 1], &CLAMP);
    assert_eq!(points, Ok(array![12, 0, 10].into_dyn()));
}

/// A window of 2 of 4: starts 0, 1 and 2 fit.
#[test]
fn a_start_that_does_not_fit_spoils_or_moves_the_whole_window() {
    let params = array![10u8, 20, 30, 40];
    let starts = array![[2], [3], [-1], [-4], [i64::MAX]];
    let under = |options: &Options| {
        let output = gather_windows(&params, &starts, &numbers(&[1], &[], 1, 1), &[2], options);
        output.map(|output| output.into_raw_vec_and_offset().0)
    };
    let wrap = Options::new().negative_index(NegativeIndex::Wrap);
    assert_eq!(under(&CLAMP), Ok(vec![30, 40, 30, 40, 10, 20, 10, 20, 30, 40]));
    let zero = Options::new().bad_index(BadIndex::Zero);
    assert_eq!(under(&zero), Ok(vec![30, 40, 0, 0, 0, 0, 0, 0, 0, 0]));
    assert_eq!(under(&wrap.bad_index(BadIndex::Zero)), Ok(vec![30, 40, 0, 0, 30, 40, 0, 0, 0, 0]));
    // 3 is 0 modulo 3, -1 and -4 are 2, and 2^63 - 1 is 1.
    assert_eq!(under(&Options::new().modulo()), Ok(vec![30, 40, 10, 20, 30, 40, 30, 40, 20, 30]));
    let error = GatherError::IndexOutOfRange { position: vec![1], component: Some(0), index: 3, bound: 3 };
    assert_eq!(under(&Options::new()), Err(error.into()));
    let (filled, one) = (Options::new().fill(9u8), numbers(&[0], &[], 1, 0));
    let last = gather_windows(&params, &array![u64::MAX], &one, &[2], &filled);
    assert_eq!(last, Ok(array![9, 9].into_dyn()));
    let negative = gather_windows(&params, &array![-128i8], &one, &[2], &CLAMP);
    assert_eq!(negative, Ok(array![10, 20].into_dyn()));
}

/// One bad component spoils the window; the others are still checked, each on its own dim.
#[test]
fn components_are_checked_one_by_one() {
    let params = array![[0, 1, 2], [10, 11, 12]];
    let rows = array![[1, 0], [0, 2], [2, 1]];
    let numbers = numbers(&[1], &[0], 2, 1);
    let answer = |options: &Options| gather_windows(&params, &rows, &numbers, &[1, 2], options);
    assert_eq!(answer(&CLAMP), Ok(array![[10, 11], [1, 2], [11, 12]].into_dyn()));
    let zero = Options::new().bad_index(BadIndex::Zero);
    assert_eq!(answer(&zero), Ok(array![[10, 11], [0, 0], [0, 0]].into_dyn()));
    let error = GatherError::IndexOutOfRange { position: vec![1], component: Some(1), index: 2, bound: 2 };
    assert_eq!(answer(&Options::new()), Err(error.into()));
}

/// Starts of empty windows are checked all the same; of 3 elements, 4 starts of an empty window fit.
#[test]
fn an_empty_window_is_an_empty_output() {
    let params = Array2::<u16>::ones((3, 5));
    let numbers = numbers(&[1, 2], &[], 2, 1);
    let answer = |row: [i32; 2], sizes| {
        gather_windows(&params, &Array2::from(vec![row]), &numbers, sizes, &Options::new())
    };
    assert_eq!(answer([3, 0], &[0, 5]), Ok(ArrayD::zeros(IxDyn(&[1, 0, 5]))));
    let error = GatherError::IndexOutOfRange { position: vec![0], component: Some(0), index: 4, bound: 4 };
    assert_eq!(answer([4, 0], &[0, 5]), Err(error.into()));
    let none = Array2::<u16>::zeros((0, 5));
    let from_none = gather_windows(&none, &array![[0, 5]], &numbers, &[0, 0], &Options::new());
    assert_eq!(from_none, Ok(ArrayD::zeros(IxDyn(&[1, 0, 0]))));
}

/// StableHLO allows a slice size of 0 on a dim that the output lacks: each element would be one of an empty window.
#[test]
fn an_element_of_an_empty_collapsed_dim_is_undefined() {
    let params = Array2::<u16>::ones((3, 5));
    let collapsed = numbers(&[1], &[0], 1, 1);
    let answer = |rows: usize, sizes| {
        let indices = Array2::<i32>::zeros((rows, 1));
        gather_windows(&params, &indices, &collapsed, sizes, &CLAMP)
    };
    let Err(Refusal::Unsupported(why)) = answer(2, &[0, 5]) else { panic!("there are elements") };
    assert!(why.contains("dim 0 of params") && why.contains("undefined"), "{why}");
    assert_eq!(answer(0, &[0, 5]), Ok(ArrayD::zeros(IxDyn(&[0, 5]))), "no row");
    assert_eq!(answer(2, &[0, 0]), Ok(ArrayD::zeros(IxDyn(&[2, 0]))), "another dim is empty");
    let batching = DimensionNumbers {
        offset_dims: vec![1],
        operand_batching_dims: vec![0],
        start_indices_batching_dims: vec![0],
        start_index_map: vec![1],
        index_vector_dim: 1,
        ..DimensionNumbers::default()
    };
    let indices = Array2::<i32>::zeros((3, 1));
    let answer = |sizes| gather_windows(&params, &indices, &batching, sizes, &CLAMP);
    assert!(matches!(answer(&[0, 2]), Err(Refusal::Unsupported(_))));
    assert_eq!(answer(&[0, 0]), Ok(ArrayD::zeros(IxDyn(&[3, 0]))));
}

/// Without components every window is the first of its batch, and nothing is checked.
#[test]
fn rows_without_components_give_the_first_window() {
    let params = array![[1, 2, 3], [4, 5, 6]];
    let indices = Array2::<i32>::zeros((2, 0));
    let first = gather_windows(&params, &indices, &numbers(&[0, 1], &[], 0, 1), &[2, 2], &Options::new());
    let expected = array![[[1, 1], [2, 2]], [[4, 4], [5, 5]]];
    assert_eq!(first, Ok(expected.into_dyn()));
}

/// Dims without a start are read from 0 on, however short the window is there.
#[test]
fn a_dim_without_a_start_starts_at_zero() {
    let params = array![[1, 2, 3], [4, 5, 6]];
    let rows = gather_windows(&params, &array![1, 0], &numbers(&[1], &[0], 1, 1), &[1, 2], &Options::new());
    assert_eq!(rows, Ok(array![[4, 5], [1, 2]].into_dyn()));
}

#[test]
fn an_output_of_the_caller_must_have_the_shape() {
    let params =
        Array3::from_shape_fn((2, 2, 3), |(a, b, c)| u8::try_from(a * 6 + b * 3 + c).expect("small"));
    let numbers = numbers(&[0, 2], &[0], 1, 1);
    let mut output = Array3::from_elem((2, 1, 3), 77u8);
    let into = |output: &mut Array3<u8>| {
        gather_windows_into(&params, &array![[1]], &numbers, &[1, 2, 3], output, &Options::new())
    };
    assert_eq!(into(&mut output), Ok(()));
    assert_eq!(output, array![[[6, 7, 8]], [[9, 10, 11]]]);
    let mut other = Array3::from_elem((1, 2, 3), 77u8);
    assert!(matches!(into(&mut other), Err(Refusal::Unsupported(_))));
    assert!(other.iter().all(|element| *element == 77));
}

#[test]
fn attributes_of_other_forms_are_refused() {
    let others = [Options::new().axis(0), Options::new().batch_dims(1), Options::new().join(Join::Equal)];
    for (options, name) in others.into_iter().zip(["axis", "batch_dims", "join"]) {
        let refused = gather_windows(&array![1u8], &array![0], &numbers(&[0], &[], 1, 0), &[1], &options);
        assert_eq!(refused, Err(Refusal::Unsupported(format!("gather_windows has no attribute `{name}`"))));
    }
}

/// The dims that multiply to too many bytes are found though another is 0.
#[test]
fn an_output_too_large_is_refused() {
    let many = Array1::from_elem(1, 0i64);
    let many = many.broadcast(1 << 40).expect("a stride of 0");
    let params = array![0u8];
    let params = params.broadcast((1 << 40, 5)).expect("a stride of 0");
    let numbers = numbers(&[1, 2], &[], 1, 1);
    let refused = gather_windows(&params, &many, &numbers, &[1 << 40, 0], &Options::new());
    assert_eq!(refused, Err(GatherError::OutputTooLarge { bytes: 1 << 80 }.into()));
}
