//! Refusals that no case can pin: those outside the documents, and those where the cases allow several outcomes.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use gather_reference::{Settings, answer, array_api, jax, onnx, openvino, operators, paddle, tf, torch};
use gather_spec::{Attribute, Attributes, Call, DType, GatherError, Operator, Outcome, Refusal, Tensor};

/// Three bytes, and the indices 2 and 0 as rows of depth 1.
fn bytes_and_rows() -> (Tensor, Tensor) {
    let params = Tensor::new(DType::U8, [3], vec![10u8, 20, 30]).unwrap();
    (params, Tensor::new(DType::I32, [2, 1], vec![2u32, 0]).unwrap())
}

/// The names of the operands of an operator, and the attributes without which it refuses a call.
fn spelling(operator: &str) -> ([&'static str; 2], Attributes) {
    let first_axis = || [("axis".to_owned(), Attribute::Integer(0))].into();
    match operator.split_once('.').unwrap().0 {
        "array_api" => (["x", "indices"], first_axis()),
        "jax" if operator.ends_with("lax.gather") => (["operand", "start_indices"], rows_of_a_column(false)),
        "jax" | "numpy" if operator.ends_with("take_along_axis") => (["arr", "indices"], first_axis()),
        "jax" if operator.ends_with("__getitem__") => (["x", "idx"], Attributes::new()),
        "numpy" if operator.ends_with("__getitem__") => (["x", "obj"], Attributes::new()),
        "jax" | "numpy" => (["a", "indices"], first_axis()),
        "openvino" if operator.ends_with("GatherElements-6") => (["data", "indices"], first_axis()),
        "onnx" | "openvino" => (["data", "indices"], Attributes::new()),
        "paddle" => (["input", "index"], Attributes::new()),
        "stablehlo" => (["operand", "start_indices"], rows_of_a_column(true)),
        "torch" if operator.ends_with(".take") => (["input", "index"], Attributes::new()),
        "torch" if operator.ends_with("take_along_dim") => (["input", "indices"], Attributes::new()),
        "torch" if operator.ends_with("embedding") => (["weight", "input"], Attributes::new()),
        "webnn" => (["input", "indices"], Attributes::new()),
        "torch" => (["input", "index"], [("dim".to_owned(), Attribute::Integer(0))].into()),
        _ => (["params", "indices"], Attributes::new()),
    }
}

/// Dimension numbers that take rows of params with one column; the dim of the vector is said or the last by itself.
fn rows_of_a_column(says_vector: bool) -> Attributes {
    let list = |name: &str, value: &[i64]| (name.to_owned(), Attribute::Integers(value.to_vec()));
    let lists = [
        list("offset_dims", &[1]),
        list("collapsed_slice_dims", &[0]),
        list("start_index_map", &[0]),
        list("slice_sizes", &[1, 1]),
    ];
    let vector = says_vector.then(|| ("index_vector_dim".to_owned(), Attribute::Integer(1)));
    lists.into_iter().chain(vector).collect()
}

#[test]
fn a_list_of_dims_is_a_list_of_integers() {
    for (name, value) in
        [("offset_dims", Attribute::Integer(1)), ("indices_are_sorted", Attribute::Integer(1))]
    {
        let (params, indices) = bytes_and_rows();
        let operands = [("operand", params), ("start_indices", indices)].into();
        let attributes = [(name.to_owned(), value)].into();
        let call = Call::new(Operator::new("stablehlo.gather"), operands, attributes);
        assert!(matches!(answer(&call, Settings::default()), Outcome::Unsupported(_)), "{name}");
    }
}

/// No case can leave one of them out.
#[test]
fn jax_always_takes_the_lists_that_have_no_default() {
    let gather = |attributes| {
        let (params, indices) = bytes_and_rows();
        let operands = [("operand", params), ("start_indices", indices)].into();
        answer(&Call::new(Operator::new("jax.lax.gather"), operands, attributes), Settings::default())
    };
    let lists = ["offset_dims", "collapsed_slice_dims", "start_index_map", "slice_sizes"];
    for name in lists {
        let mut attributes = rows_of_a_column(false);
        attributes.remove(name);
        let Outcome::Unsupported(why) = gather(attributes) else { panic!("{name} is missing") };
        assert_eq!(why, format!("jax.lax.gather has an attribute `{name}`, which is missing"));
    }
}

/// The page leaves open what that gives, so the cases allow anything.
#[test]
fn a_promise_of_indices_in_bounds_that_is_broken_is_an_error_here() {
    let (operand, _) = bytes_and_rows();
    let start_indices = Tensor::new(DType::I32, [3, 1], vec![1u32, 2, 3]).unwrap();
    let numbers = jax::lax_gather::GatherDimensionNumbers {
        offset_dims: vec![1],
        start_index_map: vec![0],
        ..Default::default()
    };
    let mode = jax::lax_gather::Mode::default();
    let refused =
        jax::lax_gather::gather(&operand, &start_indices, &numbers, &[2], mode, None, Settings::default());
    let bad = GatherError::IndexOutOfRange { position: vec![1], component: Some(0), index: 2, bound: 2 };
    assert_eq!(refused, Err(bad.into()));
}

#[test]
fn an_attribute_that_the_operator_lacks_is_unsupported() {
    for operator in operators() {
        let dtype = if operator.params_dtypes.contains(&DType::I32) { DType::I32 } else { DType::F32 };
        let params = Tensor::new(dtype, [3, 1], vec![10u32, 20, 30]).unwrap();
        let takes_a_vector = ["array_api.take", "torch.index_select"].contains(&operator.name);
        let shape: &[usize] = if takes_a_vector { &[2] } else { &[2, 1] };
        let indices = Tensor::new(DType::I64, shape, vec![2u64, 0]).unwrap();
        let (names, mut attributes) = spelling(operator.name);
        let mut operands = vec![(names[0], params), (names[1], indices)];
        if operator.name.ends_with("dynamic_gather") {
            attributes.remove("slice_sizes");
            operands.push(("slice_sizes", Tensor::new(DType::I64, [2], vec![1u64, 1]).unwrap()));
        }
        if operator.name.starts_with("openvino.Gather-") {
            operands.push(("axis", Tensor::new(DType::I64, [], vec![0u64]).unwrap()));
        }
        let operands = operands.into_iter().collect();
        let mut call = Call::new(Operator::new(operator.name), operands, attributes);
        assert!(matches!(answer(&call, Settings::default()), Outcome::Output(_)), "{}", call.operator);
        call.attributes.insert("mode".to_owned(), Attribute::Integer(0));
        assert!(matches!(answer(&call, Settings::default()), Outcome::Unsupported(_)), "{}", call.operator);
    }
}

#[test]
fn an_ignored_attribute_has_a_type_too() {
    let (params, indices) = (bytes_and_rows().0, Tensor::new(DType::I64, [1], vec![2u64]).unwrap());
    let attributes = [("dim", Attribute::Integer(0)), ("sparse_grad", Attribute::Integer(1))];
    let call = Call::new(
        Operator::new("torch.gather"),
        [("input", params), ("index", indices)].into(),
        attributes.map(|(name, value)| (name.to_owned(), value)).into(),
    );
    let Outcome::Unsupported(why) = answer(&call, Settings::default()) else { panic!("1 is no boolean") };
    assert_eq!(why, "the attribute `sparse_grad` is a boolean, not 1");
}

#[test]
fn the_array_api_takes_no_dtype_that_the_standard_lacks_and_no_array_without_axes() {
    let indices = Tensor::new(DType::I64, [1], vec![0u64]).unwrap();
    let take = |x: &Tensor| array_api::take::take(x, &indices, None, Settings::default());
    let halves = Tensor::new(DType::F16, [2], vec![10u16, 20]).unwrap();
    assert_eq!(take(&halves), Err(GatherError::ParamsDtype { dtype: DType::F16 }.into()));
    let along = array_api::take_along_axis::take_along_axis(&halves, &indices, -1, Settings::default());
    assert_eq!(along, Err(GatherError::ParamsDtype { dtype: DType::F16 }.into()));
    let scalar = Tensor::new(DType::U8, [], vec![10u8]).unwrap();
    assert_eq!(take(&scalar), Err(GatherError::ParamsRank { rank: 0, least: 1 }.into()));
}

#[test]
fn onnx_takes_neither_smaller_indices_nor_tuples_without_components() {
    let data = Tensor::new(DType::U8, [2, 2], vec![10u8, 20, 30, 40]).unwrap();
    let indices = Tensor::new(DType::I64, [1, 1], vec![1u64]).unwrap();
    let refused = onnx::gather_elements_13::gather_elements(&data, &indices, 0, Settings::default());
    let (params, indices) = (data.shape().clone(), indices.shape().clone());
    assert_eq!(refused, Err(GatherError::JoinMismatch { params, indices, dim: 1 }.into()));
    let indices = Tensor::new(DType::I64, [3, 0], Vec::<u64>::new()).unwrap();
    let refused = onnx::gather_nd_13::gather_nd(&data, &indices, 0, Settings::default());
    assert_eq!(refused, Err(GatherError::IndexDepthTooSmall { depth: 0, least: 1 }.into()));
    let refused = onnx::gather_nd_11::gather_nd(&data, &indices, Settings::default());
    assert_eq!(refused, Err(GatherError::IndexDepthTooSmall { depth: 0, least: 1 }.into()));
}

#[test]
fn the_range_of_batch_dims_of_onnx_ends_below_both_ranks() {
    let data = Tensor::new(DType::U8, [2, 2], vec![10u8, 20, 30, 40]).unwrap();
    let indices = Tensor::new(DType::I64, [2, 1, 1], vec![1u64, 0]).unwrap();
    let refused = onnx::gather_nd_13::gather_nd(&data, &indices, 2, Settings::default());
    assert_eq!(refused, Err(GatherError::BatchDimsOutOfRange { batch_dims: 2, low: 0, high: 1 }.into()));
}

#[test]
fn the_range_of_batch_dims_of_openvino_ends_below_both_ranks() {
    let data = Tensor::new(DType::U8, [2, 2], vec![10u8, 20, 30, 40]).unwrap();
    let indices = Tensor::new(DType::I64, [2, 1, 1], vec![1u64, 0]).unwrap();
    let refused = openvino::gather_nd_8::gather_nd(&data, &indices, 2, Settings::default());
    assert_eq!(refused, Err(GatherError::BatchDimsOutOfRange { batch_dims: 2, low: 0, high: 1 }.into()));
}

#[test]
fn torch_takes_only_the_index_dtype_that_its_page_lists() {
    let (input, _) = bytes_and_rows();
    let index = Tensor::new(DType::I32, [1], vec![2u32]).unwrap();
    let refused = torch::gather::gather(&input, Some(0), &index, Settings::default());
    assert_eq!(refused, Err(GatherError::IndexDtype { dtype: DType::I32 }.into()));
}

/// Other implementations may take more, so the cases allow both; the reference takes the page's letter.
#[test]
fn paddle_takes_only_the_dtypes_and_ranks_that_its_page_lists() {
    let (params, indices) = bytes_and_rows();
    let refused = paddle::gather_nd::gather_nd(&params, &indices, Settings::default());
    assert_eq!(refused, Err(GatherError::ParamsDtype { dtype: DType::U8 }.into()));
    let params = Tensor::new(DType::I32, [3], vec![10u32, 20, 30]).unwrap();
    let indices = Tensor::new(DType::I32, [1], vec![2u32]).unwrap();
    let refused = paddle::gather_nd::gather_nd(&params, &indices, Settings::default());
    assert_eq!(refused, Err(GatherError::IndicesRank { rank: 1, least: 2 }.into()));
}

#[test]
fn the_range_of_batch_dims_is_told_from_end_to_end() {
    let (params, indices) = bytes_and_rows();
    let refused = tf::gather::gather(&params, &indices, None, 3, Settings::default());
    assert_eq!(refused, Err(GatherError::BatchDimsOutOfRange { batch_dims: 3, low: -2, high: 2 }.into()));
}

#[test]
fn an_output_as_large_as_the_limit_is_given_and_a_larger_one_is_not() {
    let (params, indices) = bytes_and_rows();
    let under = |max_output| {
        let settings = Settings { max_output, ..Settings::default() };
        tf::gather::gather(&params, &indices, None, 0, settings)
    };
    let output = Tensor::new(DType::U8, [2, 1], vec![30u8, 10]).unwrap();
    assert_eq!(under(3), Ok(output.clone()));
    assert_eq!(under(2), Ok(output));
    let Err(Refusal::Unsupported(why)) = under(1) else { panic!("two bytes are more than one") };
    assert_eq!(why, "the output takes 2 bytes, more than the limit of 1");
}

#[test]
fn operands_that_the_operator_lacks_or_misses_are_unsupported() {
    let (params, indices) = bytes_and_rows();
    let ask = |operands: &[(&'static str, &Tensor)]| {
        let operands = operands.iter().map(|(name, tensor)| (*name, (*tensor).clone())).collect();
        answer(&Call::new(Operator::new("tf.gather_nd"), operands, [].into()), Settings::default())
    };
    assert!(matches!(ask(&[("params", &params), ("indices", &indices)]), Outcome::Output(_)));
    let said = |operands: &[(&'static str, &Tensor)]| match ask(operands) {
        Outcome::Unsupported(why) => why,
        other => panic!("{other:?}"),
    };
    let foreign = said(&[("params", &params), ("indices", &indices), ("axis", &indices)]);
    assert_eq!(foreign, "tf.gather_nd has no operand `axis`");
    let missing = said(&[("params", &params)]);
    assert_eq!(missing, "tf.gather_nd has an operand `indices`, which is missing");
}
