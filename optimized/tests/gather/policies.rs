//! The policies on bad indices that only the Rust functions have, on every form: `fill` and `modulo`.

use std::num::NonZeroUsize;

use gather_optimized::{Element, Level, Options, Plan, Pool, gather, gather_nd, take_along_axis};
use gather_spec::{BadIndex, ErrorCode, GatherError, NegativeIndex, Refusal};
use ndarray::{Array1, Array2, ArrayD, array};

#[test]
fn one_bad_component_fills_the_slice_of_its_row() {
    let params = array![[[1u8, 2], [3, 4]], [[5, 6], [7, 8]]];
    let rows = array![[1, 0], [0, 2], [-1, 1]];
    let filled = gather_nd(&params, &rows, &Options::new().fill(9));
    assert_eq!(filled, Ok(array![[5, 6], [9, 9], [9, 9]].into_dyn()));
    let wrapped = Options::new().negative_index(NegativeIndex::Wrap).fill(9);
    assert_eq!(gather_nd(&params, &rows, &wrapped), Ok(array![[5, 6], [9, 9], [7, 8]].into_dyn()));
    let columns = gather(&params, &array![5, 0], &Options::new().axis(1).fill(9));
    assert_eq!(columns, Ok(array![[[9, 9], [1, 2]], [[9, 9], [5, 6]]].into_dyn()));
}

#[test]
fn one_bad_index_fills_each_element_that_reads_it() {
    let params = array![[1i64, 2], [3, 4]];
    let options = Options::new().axis(0).fill(-7);
    let elements = take_along_axis(&params, &array![[1, 2], [-1, 0]], &options);
    assert_eq!(elements, Ok(array![[3, -7], [-7, 2]].into_dyn()));
    let rows = take_along_axis(&params, &array![[2], [1]], &options);
    assert_eq!(rows, Ok(array![[-7, -7], [3, 4]].into_dyn()));
    let column = take_along_axis(&params, &array![[0, 1, 2]], &options.axis(1));
    assert_eq!(column, Ok(array![[1, 2, -7], [3, 4, -7]].into_dyn()));
}

#[test]
fn an_index_into_an_axis_without_elements_is_filled_too() {
    let empty = Array1::<f32>::zeros(0);
    let filled = gather(&empty, &array![0, 3], &Options::new().fill(1.5));
    assert_eq!(filled, Ok(array![1.5, 1.5].into_dyn()));
    let names = Plan::gather(&[0], &[2], &Options::new().fill("none".to_owned())).expect("a plan");
    let filled = names.run_cloned(&Array1::<String>::default(0), &array![0, 3]);
    assert_eq!(filled, Ok(Array1::from_elem(2, "none".to_owned()).into_dyn()));
}

/// A signalling NaN with a payload, and the negative zero.
#[test]
fn the_value_keeps_its_bits() {
    for bits in [0x7FA0_0001u32, 0xFFC1_2345, 0x8000_0000] {
        let options = Options::new().fill(f32::from_bits(bits));
        let output = gather(&array![1.0f32, 2.0], &array![0, 2, 1], &options).expect("an output");
        let found: Vec<u32> = output.iter().map(|element| element.to_bits()).collect();
        assert_eq!(found, [1.0f32.to_bits(), bits, 2.0f32.to_bits()]);
    }
}

/// Every width and level, on one thread and on three, into every kind of output: each third index is bad.
#[test]
fn every_way_of_running_a_plan_fills() {
    // So that threads share them; Miri takes hours for as many.
    const ROWS: usize = if cfg!(miri) { 20 } else { 2000 };
    fn width<A: Element + PartialEq + std::fmt::Debug + 'static>(element: impl Fn(usize) -> A) {
        let params = Array2::from_shape_fn((9, 5), |(row, column)| element(row * 5 + column));
        let indices = Array1::from_shape_fn(ROWS, |at| if at % 3 == 0 { 9 + at } else { at % 9 } as u64);
        let value = element(77);
        let expected =
            Array2::from_shape_fn(
                (ROWS, 5),
                |(at, column)| {
                    if at % 3 == 0 { value } else { params[[at % 9, column]] }
                },
            );
        for (level, threads) in Level::available().flat_map(|level| [(level, 1), (level, 3)]) {
            let options =
                Options::new().level(level).exactly_threads(NonZeroUsize::new(threads).expect("positive"));
            let plan = Plan::gather(&[9, 5], &[ROWS], &options.fill(value)).expect("a plan");
            let fresh = plan.run(&params, &indices).expect("an output");
            assert_eq!(fresh, expected.clone().into_dyn(), "{level}, {threads} threads");
            let mut into = Array2::from_elem((ROWS, 5), A::default());
            plan.run_into(&params, &indices, &mut into).expect("an output");
            assert_eq!(into, expected);
            let pool = Pool::new(1 << 20);
            let pooled = plan.run_pooled(&params, &indices, &pool).expect("an output");
            assert_eq!(pooled.view(), expected.view().into_dyn());
            assert_eq!(plan.run_cloned(&params, &indices), Ok(expected.clone().into_dyn()));
        }
    }
    width(|at| u8::try_from(at).expect("small"));
    width(|at| u16::try_from(at * 700).expect("small"));
    width(|at| u32::try_from(at).expect("small"));
    width(|at| at as u64);
    width(|at| at as u128);
    width(|at| [u8::try_from(at).expect("small"); 3]);
}

#[test]
fn modulo_is_the_euclidean_remainder_on_each_axis() {
    let options = Options::new().modulo();
    let params = array![[1u32, 2, 3], [4, 5, 6]];
    let rows = array![[2i64, 3], [-1, -1], [i64::MIN, i64::MAX], [1, -4]];
    // 2^63 is even, and leaves 2 when divided by 3; so -2^63 leaves 1, and 2^63 - 1 leaves 1.
    assert_eq!(gather_nd(&params, &rows, &options), Ok(array![1, 6, 2, 6].into_dyn()));
    let columns = gather(&params, &array![3u8, 254], &options.axis(1));
    assert_eq!(columns, Ok(array![[1, 3], [4, 6]].into_dyn()));
    let elements = take_along_axis(&params, &array![[2, -2, 7], [-1, 1, 0]], &options.axis(0));
    assert_eq!(elements, Ok(array![[1, 2, 6], [4, 5, 3]].into_dyn()));
    let wrap = options.negative_index(NegativeIndex::Wrap);
    assert_eq!(gather_nd(&params, &rows, &wrap), gather_nd(&params, &rows, &options));
}

/// There is no remainder by zero; where the axis has elements, nothing is refused though the output is empty.
#[test]
fn an_index_into_an_axis_without_elements_is_refused_under_modulo() {
    let options = Options::new().modulo();
    let refused = gather(&Array2::<u8>::zeros((2, 0)), &array![[4], [5]], &options.axis(1));
    let error = GatherError::IndexOutOfRange { position: vec![0, 0], component: None, index: 4, bound: 0 };
    assert_eq!(refused, Err(error.into()));
    let rows = gather_nd(&Array2::<u8>::zeros((2, 0)), &array![[5, 6]], &options);
    let error = GatherError::IndexOutOfRange { position: vec![0], component: Some(1), index: 6, bound: 0 };
    assert_eq!(rows, Err(error.into()));
    let cloned = Plan::gather(&[0], &[1], &options).expect("a plan");
    let Err(Refusal::Error(error)) = cloned.run_cloned(&Array1::<String>::default(0), &array![1]) else {
        panic!("an axis without elements")
    };
    assert_eq!(error.code(), ErrorCode::IndexOutOfRange);
    let none = gather(&Array1::<u8>::zeros(0), &Array1::<i32>::zeros(0), &options);
    assert_eq!(none, Ok(ArrayD::zeros(vec![0])));
    let nothing = gather(&Array2::<u8>::zeros((2, 0)), &array![7], &options);
    assert_eq!(nothing, Ok(ArrayD::zeros(vec![1, 0])));
}

#[test]
fn a_profile_replaces_modulo() {
    let params = array![1u8, 2];
    let options = Options::new().modulo();
    assert_eq!(gather(&params, &array![2], &options), Ok(array![1].into_dyn()));
    assert_eq!(gather(&params, &array![2], &options.bad_index(BadIndex::Clamp)), Ok(array![2].into_dyn()));
    assert!(gather(&params, &array![2], &options.bad_index(BadIndex::Error)).is_err());
}

/// Rows that are long enough to be cut, of elements that half of a row is no multiple of.
#[test]
fn long_rows_of_large_elements_are_filled_whole() {
    const LEN: usize = 257;
    let element = |at: usize| [at as u64; 32];
    let params = Array2::from_shape_fn((2, LEN), |(row, column)| element(row * LEN + column));
    let output = gather(&params, &array![1, 2], &Options::new().fill(element(7))).expect("an output");
    assert!(output.iter().take(LEN).eq(params.row(1)), "the good row");
    assert!(output.iter().skip(LEN).all(|found| *found == element(7)), "the bad row");
}
