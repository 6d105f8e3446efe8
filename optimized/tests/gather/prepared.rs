//! Prepared indices: the same outputs and errors as a plan gives that is run with the indices.

use std::num::NonZeroUsize;

use gather_optimized::{Fill, Filled, Index, Level, Options, Plan, Pool, Prepared, Zeros};
use gather_spec::{BadIndex, DimensionNumbers, ErrorCode, NegativeIndex, Refusal};
use ndarray::{Array1, ArrayD, ArrayViewD, Axis, IxDyn, ShapeBuilder, array, s};

/// Runs what is prepared in every way on params in every layout, and compares with the plan.
fn held<I: Index, F: Fill<u32> + Clone>(
    plan: Result<Plan<F>, Refusal>,
    shape: &[usize],
    indices: &ArrayViewD<'_, I>,
) {
    let plan = plan.expect("a plan");
    let element = |at: usize| u32::try_from(at * 3 + 1).expect("small");
    let len = shape.iter().product();
    let rows = ArrayD::from_shape_vec(shape, (0..len).map(element).collect()).expect("its shape");
    let columns =
        ArrayD::from_shape_vec(IxDyn(shape).f(), (0..len).map(element).collect()).expect("its shape");
    let mut reversed = rows.clone();
    (0..shape.len()).for_each(|dim| reversed.invert_axis(Axis(dim)));
    let mut prepared: Option<Prepared<F>> = None;
    for params in [rows, columns, reversed] {
        let expected = plan.run(&params, indices);
        if prepared.is_none() {
            match plan.prepare(indices) {
                Ok(ready) => prepared = Some(ready),
                Err(refusal) => assert_eq!(Err(refusal), expected),
            }
        }
        let Some(prepared) = &prepared else { continue };
        assert_eq!(prepared.output_shape(), plan.output_shape());
        assert_eq!(prepared.run(&params), expected, "{shape:?}");
        let expected = expected.expect("what can be prepared can be run");
        let mut output = ArrayD::from_elem(expected.shape(), 0);
        assert_eq!(prepared.run_into(&params, &mut output), Ok(()));
        assert_eq!(output, expected);
        let pool = Pool::new(1 << 20);
        assert_eq!(prepared.run_pooled(&params, &pool).expect("an output").view(), expected);
        assert_eq!(prepared.run_cloned(&params), Ok(expected));
    }
}

/// What plans a call by options.
type Planned<'a, F> = &'a dyn Fn(&Options<F>) -> Result<Plan<F>, Refusal>;

/// Under every policy, at every level, on one thread and on three.
fn every_policy<I: Index>(
    shape: &[usize],
    indices: &ArrayViewD<'_, I>,
    options: Options,
    plan: Planned<'_, Zeros>,
    filled: Planned<'_, Filled<u32>>,
) {
    for (level, threads) in Level::available().flat_map(|level| [(level, 1), (level, 3)]) {
        let threads = NonZeroUsize::new(threads).expect("positive");
        let options = options.level(level).exactly_threads(threads);
        // Miri takes hours for all; `policies` shares its calls between threads there.
        if cfg!(miri) && threads.get() > 1 {
            continue;
        }
        let negatives = if cfg!(miri) {
            &[NegativeIndex::Wrap][..]
        } else {
            &[NegativeIndex::Reject, NegativeIndex::Wrap]
        };
        for &negative in negatives {
            let options = options.negative_index(negative);
            for bad in [BadIndex::Error, BadIndex::Zero, BadIndex::Clamp, BadIndex::Modulo] {
                held(plan(&options.bad_index(bad)), shape, indices);
            }
            held(filled(&options.fill(9)), shape, indices);
        }
    }
}

macro_rules! every_policy {
    ($shape:expr, $indices:expr, $options:expr, |$with:ident| $plan:expr) => {
        every_policy($shape, $indices, $options, &|$with| $plan, &|$with| $plan)
    };
}

/// So many, or the few that Miri runs in minutes.
fn many(count: usize) -> usize {
    if cfg!(miri) { count.min(3) } else { count }
}

/// Indices of which some are negative and, with `spoilt`, some are bad. Bounds follow one another in row-major order.
fn drawn(shape: &[usize], bounds: &[usize], spoilt: bool) -> ArrayD<i64> {
    let mut at = 0;
    ArrayD::from_shape_fn(IxDyn(shape), |_| {
        at += 1;
        let bound = i64::try_from(bounds[(at - 1) % bounds.len()]).expect("small");
        let place = i64::try_from(at * 5).expect("small") % bound.max(1);
        match at % 7 {
            3 => place - bound,
            5 if spoilt => [bound, -bound - 1, i64::MAX, i64::MIN][at % 4],
            _ => place,
        }
    })
}

#[test]
fn slices_along_an_axis() {
    for spoilt in [false, true] {
        for count in [1, 20, 1100].map(many) {
            let indices = drawn(&[count], &[6], spoilt);
            every_policy!(&[4, 6, 3], &indices.view(), Options::new().axis(1), |with| {
                Plan::gather(&[4, 6, 3], &[count], with)
            });
            every_policy!(&[6], &indices.view(), Options::new(), |with| Plan::gather(&[6], &[count], with));
        }
        let batched = drawn(&[2, 5], &[4], spoilt);
        every_policy!(&[2, 3, 4, 2], &batched.view(), Options::new().axis(2).batch_dims(1), |with| {
            Plan::gather(&[2, 3, 4, 2], &[2, 5], with)
        });
        let scalar = drawn(&[], &[4], spoilt);
        every_policy!(&[4, 3], &scalar.view(), Options::new(), |with| Plan::gather(&[4, 3], &[], with));
    }
}

#[test]
fn elements_along_an_axis() {
    let rows = many(70);
    for spoilt in [false, true] {
        let indices = drawn(&[4, rows, 3], &[6], spoilt);
        every_policy!(&[4, 6, 3], &indices.view(), Options::new().axis(1), |with| {
            Plan::take_along_axis(&[4, 6, 3], &[4, rows, 3], with)
        });
        let shared = drawn(&[1, rows, 1], &[6], spoilt);
        every_policy!(&[4, 6, 3], &shared.view(), Options::new().axis(1), |with| {
            Plan::take_along_axis(&[4, 6, 3], &[1, rows, 1], with)
        });
    }
}

#[test]
fn slices_at_points() {
    let rows = many(40);
    for spoilt in [false, true] {
        for depth in 1..=4 {
            let indices = drawn(&[2, rows, depth], &[3, 4, 5, 6][..depth], spoilt);
            let shape = [2, 3, 4, 5, 6];
            every_policy!(&shape, &indices.view(), Options::new().batch_dims(1), |with| {
                Plan::gather_nd(&shape, &[2, rows, depth], with)
            });
        }
    }
    let none = ArrayD::<i64>::zeros(IxDyn(&[4, 0]));
    every_policy!(&[3, 2], &none.view(), Options::new(), |with| Plan::gather_nd(&[3, 2], &[4, 0], with));
}

/// The components of a start lie along the last dim of the indices, the first, or none.
#[test]
fn windows() {
    let count = many(30);
    let numbers = |vector| DimensionNumbers {
        offset_dims: vec![1, 2],
        start_index_map: vec![1, 0],
        index_vector_dim: vector,
        ..DimensionNumbers::default()
    };
    for spoilt in [false, true] {
        // Of 7 x 9 elements, 4 x 5 windows of 4 x 5 start along the first and the second dim.
        let last = drawn(&[count, 2], &[5, 4], spoilt);
        every_policy!(&[7, 9], &last.view(), Options::new(), |with| {
            Plan::gather_windows(&[7, 9], &[count, 2], &numbers(1), &[4, 5], with)
        });
        let first = last.t().to_owned();
        every_policy!(&[7, 9], &first.view(), Options::new(), |with| {
            Plan::gather_windows(&[7, 9], &[2, count], &numbers(0), &[4, 5], with)
        });
        let single = drawn(&[count], &[4], spoilt);
        let numbers = DimensionNumbers { start_index_map: vec![0], ..numbers(1) };
        every_policy!(&[7, 9], &single.view(), Options::new(), |with| {
            Plan::gather_windows(&[7, 9], &[count], &numbers, &[4, 5], with)
        });
    }
}

/// Whatever their type and strides, indices of the same values are prepared alike.
#[test]
fn indices_of_every_type_and_layout() {
    fn by<I: Index>(narrow: impl Fn(i64) -> Option<I>) {
        let values = [0, 4, 2, -1, 5, 127, 128, 255, -128, 1 << 31, 1 << 32, -(1 << 32), i64::MAX, i64::MIN];
        let params =
            ArrayD::from_shape_fn(IxDyn(&[5, 2]), |at| u32::try_from(at[0] * 2 + at[1] + 1).expect("small"));
        let fitting: Vec<i64> = values.into_iter().filter(|value| narrow(*value).is_some()).collect();
        for count in 1..=fitting.len() {
            let wide = Array1::from_vec(fitting[..count].to_vec());
            let typed = wide.iter().filter_map(|value| narrow(*value)).rev().collect::<Array1<I>>();
            for negative in [NegativeIndex::Reject, NegativeIndex::Wrap] {
                for bad in [BadIndex::Error, BadIndex::Zero, BadIndex::Clamp, BadIndex::Modulo] {
                    let options = Options::new().negative_index(negative).bad_index(bad);
                    let plan = Plan::gather(&[5, 2], &[count], &options).expect("a plan");
                    let ran = |prepared: Result<Prepared, Refusal>| prepared.and_then(|one| one.run(&params));
                    let backwards = typed.slice(s![..;-1]);
                    assert_eq!(
                        ran(plan.prepare(&backwards)),
                        ran(plan.prepare(&wide)),
                        "{bad:?} {negative:?}"
                    );
                }
            }
        }
    }
    by(|value| i8::try_from(value).ok());
    by(|value| u8::try_from(value).ok());
    by(|value| i16::try_from(value).ok());
    by(|value| u16::try_from(value).ok());
    by(|value| i32::try_from(value).ok());
    by(|value| u32::try_from(value).ok());
    by(|value| u64::try_from(value).ok());
    let plan = Plan::gather(&[5], &[2], &Options::new().bad_index(BadIndex::Clamp)).expect("a plan");
    let prepared = plan.prepare(&array![u64::MAX, 1]).expect("the nearest end");
    assert_eq!(prepared.run(&array![1u8, 2, 3, 4, 5]), Ok(array![5, 2].into_dyn()));
}

/// Indices that are broadcast are kept once, however many there seem to be.
#[test]
fn broadcast_indices() {
    let rows = many(50);
    let row = array![[2i64, -1, 1]];
    let indices = row.broadcast((rows, 3)).expect("it broadcasts").into_dyn();
    every_policy!(&[4, 2], &indices, Options::new(), |with| Plan::gather(&[4, 2], &[rows, 3], with));
    let indices = array![1i32];
    let points = indices.broadcast((6, 2)).expect("it broadcasts").into_dyn();
    every_policy!(&[4, 1], &points, Options::new(), |with| Plan::gather_nd(&[4, 1], &[6, 2], with));
    every_policy!(&[4, 3], &points, Options::new(), |with| Plan::gather_nd(&[4, 3], &[6, 2], with));

    let many = indices.broadcast(1 << 40).expect("it broadcasts");
    let plan = Plan::gather(&[2, 0], &[1 << 40], &Options::new()).expect("a plan");
    let prepared = plan.prepare(&many).expect("one index");
    assert_eq!(prepared.run(&ArrayD::<u8>::zeros(IxDyn(&[2, 0]))).map(|output| output.len()), Ok(0));
}

/// Places beyond 2^31, on an axis that repeats one element.
#[test]
fn an_axis_longer_than_four_bytes_count() {
    let params = array![7u8];
    let long = params.broadcast(1 << 33).expect("it broadcasts");
    let indices = array![(1i64 << 33) - 1, -1, 1 << 31, 1 << 33];
    let plan = |options: Options| Plan::gather(&[1 << 33], &[4], &options).expect("a plan");
    let wrap = Options::new().negative_index(NegativeIndex::Wrap);
    let prepared = plan(wrap.bad_index(BadIndex::Zero)).prepare(&indices).expect("places");
    assert_eq!(prepared.run(&long), Ok(array![7, 7, 7, 0].into_dyn()));
    let Err(Refusal::Error(error)) = plan(wrap).prepare(&indices) else { panic!("an index past the axis") };
    assert_eq!(error.code(), ErrorCode::IndexOutOfRange);
}

/// No place on an axis without elements: refused, filled, or of no consequence.
#[test]
fn axes_without_elements() {
    for shape in [&[0usize, 3][..], &[3, 0], &[0, 0]] {
        let indices = array![0i64, 2].into_dyn();
        every_policy!(shape, &indices.view(), Options::new(), |with| Plan::gather(shape, &[2], with));
        let rows = array![[0i64, 1]].into_dyn();
        every_policy!(shape, &rows.view(), Options::new(), |with| Plan::gather_nd(shape, &[1, 2], with));
    }
    let none = ArrayD::<i64>::zeros(IxDyn(&[0]));
    every_policy!(&[0, 3], &none.view(), Options::new(), |with| Plan::gather(&[0, 3], &[0], with));
}

#[test]
fn shapes_other_than_those_of_the_plan_are_refused() {
    let plan = Plan::gather(&[3, 2], &[2, 2], &Options::new()).expect("a plan");
    let Err(Refusal::Unsupported(why)) = plan.prepare(&array![0, 1, 1, 0]) else { panic!("four in a row") };
    assert_eq!(why, "the plan is for indices of shape [2, 2], not [4]");
    let prepared = plan.prepare(&array![[0, 1], [1, 0]]).expect("good indices");
    assert!(matches!(prepared.run(&array![[1, 2, 3], [4, 5, 6]]), Err(Refusal::Unsupported(_))));
    let mut output = ArrayD::zeros(IxDyn(&[2, 2]));
    let refused = prepared.run_into(&array![[1, 2], [3, 4], [5, 6]], &mut output);
    assert!(matches!(refused, Err(Refusal::Unsupported(_))));
}
