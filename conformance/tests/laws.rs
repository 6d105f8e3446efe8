//! The three documented laws: relations between calls that hold for every input, with no expected value. They run
//! on every built-in backend. A failure prints its seed; `PROPTEST_RNG_SEED=<seed>` repeats it.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use gather_conformance::{Backend, builtin};
use gather_spec::{
    Attribute, Call, DType, Element, Operator, Outcome, Profile, Shape, Tensor, TensorBuilder,
};
use proptest::prelude::*;

/// A call of `tf.gather` on params that hold distinct numbers.
fn gather(
    backend: &mut dyn Backend,
    params: &Tensor,
    indices: &Tensor,
    attributes: &[(&str, i64)],
) -> Tensor {
    let attributes = attributes.iter().map(|(name, value)| ((*name).to_owned(), Attribute::Integer(*value)));
    let call = Call {
        operator: Operator::new("tf.gather"),
        params: params.clone(),
        indices: indices.clone(),
        attributes: attributes.collect(),
    };
    match backend.call(&call) {
        Outcome::Output(output) => output,
        other => panic!("a call that is legal by its making is refused: {other:?}"),
    }
}

fn backends() -> impl Iterator<Item = Box<dyn Backend>> {
    builtin::NAMES
        .into_iter()
        .map(|name| builtin::backend(name, Profile::default(), builtin::MAX_OUTPUT).unwrap())
}

/// An axis as an attribute.
fn attribute(axis: usize) -> i64 {
    i64::try_from(axis).unwrap()
}

/// A tensor of distinct numbers.
fn distinct(shape: &[usize]) -> Tensor {
    let count = Shape::new(shape).unwrap().element_count() as u64;
    Tensor::new(DType::I64, shape, (100..100 + count).collect::<Vec<u64>>()).unwrap()
}

/// Indices of the given shape, each in [0, bound), drawn from `random`.
fn indices(shape: &[usize], bound: usize, random: &[usize]) -> Tensor {
    let count = Shape::new(shape).unwrap().element_count();
    let drawn = random.iter().cycle().take(count).map(|number| u32::try_from(number % bound).unwrap());
    Tensor::new(DType::I32, shape, drawn.collect::<Vec<u32>>()).unwrap()
}

/// The part of a tensor at the given positions of some axes, the other axes whole.
fn at(tensor: &Tensor, fixed: &[(usize, usize)]) -> Tensor {
    let kept: Vec<usize> = (0..tensor.rank()).filter(|axis| fixed.iter().all(|(at, _)| at != axis)).collect();
    let shape: Vec<usize> = kept.iter().map(|axis| tensor.shape()[*axis]).collect();
    let shape = Shape::new(shape).unwrap();
    let mut part = TensorBuilder::new(tensor.dtype(), shape.clone()).unwrap();
    for position in shape.positions() {
        let mut full = vec![0; tensor.rank()];
        fixed.iter().for_each(|(axis, value)| full[*axis] = *value);
        kept.iter().zip(&position).for_each(|(axis, value)| full[*axis] = *value);
        part.push(tensor.element(&full));
    }
    part.finish().unwrap()
}

fn dims(rank: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(1usize..=4, rank)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    /// `tf-gather/12`: the slice of the result at a location of indices equals the slice of params, along the axis,
    /// at the index that stands there.
    #[test]
    fn each_index_takes_the_slice_of_params_to_its_own_location(
        shape in dims(1..=4),
        index_shape in dims(0..=3),
        axis in any::<prop::sample::Index>(),
        random in prop::collection::vec(any::<usize>(), 64),
    ) {
        let (params, axis) = (distinct(&shape), axis.index(shape.len()));
        let indices = indices(&index_shape, shape[axis], &random);
        for mut backend in backends() {
            let result = gather(&mut *backend, &params, &indices, &[("axis", attribute(axis))]);
            for location in indices.shape().positions() {
                let index = usize::try_from(indices.integer(&location).unwrap()).unwrap();
                let fixed: Vec<(usize, usize)> = location.iter().enumerate().map(|(i, at)| (axis + i, *at)).collect();
                prop_assert_eq!(at(&result, &fixed), at(&params, &[(axis, index)]));
            }
        }
    }

    /// `tf-gather/14`: batch_dims=1 equals a loop over the first axis, with the axis reduced by one.
    #[test]
    fn one_batch_dim_is_a_loop_over_the_first_axis(
        shape in dims(2..=4),
        rest in dims(0..=2),
        axis in any::<prop::sample::Index>(),
        random in prop::collection::vec(any::<usize>(), 64),
    ) {
        let (params, axis) = (distinct(&shape), 1 + axis.index(shape.len() - 1));
        let index_shape = [&shape[..1], &rest].concat();
        let indices = indices(&index_shape, shape[axis], &random);
        for mut backend in backends() {
            let batched = gather(&mut *backend, &params, &indices, &[("axis", attribute(axis)), ("batch_dims", 1)]);
            for i in 0..shape[0] {
                let one = gather(&mut *backend, &at(&params, &[(0, i)]), &at(&indices, &[(0, i)]), &[("axis", attribute(axis) - 1)]);
                prop_assert_eq!(at(&batched, &[(0, i)]), one);
            }
        }
    }

    /// `tf-gather/17`: gathering by the argsort of the last axis, with batch_dims=-1, yields the sorted values.
    #[test]
    fn gathering_by_argsort_sorts(
        shape in dims(1..=3),
        random in prop::collection::vec(0u64..50, 64),
    ) {
        let shape = Shape::new(shape).unwrap();
        let drawn: Vec<u64> = random.iter().cycle().take(shape.element_count()).copied().collect();
        let last = *shape.last().unwrap();
        let (mut order, mut sorted) = (Vec::new(), Vec::new());
        for row in drawn.chunks(last) {
            let mut by_value: Vec<usize> = (0..last).collect();
            by_value.sort_by_key(|at| row[*at]);
            sorted.extend(by_value.iter().map(|at| row[*at]));
            order.extend(by_value.into_iter().map(|at| u32::try_from(at).unwrap()));
        }
        let values = Tensor::new(DType::I64, shape.to_vec(), drawn).unwrap();
        let order = Tensor::new(DType::I32, shape.to_vec(), order).unwrap();
        let sorted = Tensor::new(DType::I64, shape.to_vec(), sorted).unwrap();
        for mut backend in backends() {
            prop_assert_eq!(&gather(&mut *backend, &values, &order, &[("batch_dims", -1)]), &sorted);
        }
    }
}

#[test]
fn parts_of_tensors_are_taken_as_the_laws_mean_them() {
    let tensor = distinct(&[2, 3]);
    let row = at(&tensor, &[(0, 1)]);
    assert_eq!(row.iter().collect::<Vec<_>>(), [103, 104, 105].map(Element::Bits));
    assert_eq!(at(&tensor, &[(1, 2)]).iter().collect::<Vec<_>>(), [102, 105].map(Element::Bits));
}
