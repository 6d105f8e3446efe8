//! Wrong about ranks and shapes: what is rejected at the limits, and how the output shape is assembled.

use gather_spec::signature::OperandRole;
use gather_spec::{ErrorCode, Form, Roles, Signature, Tensor};

use super::mutant::Mutant;
use gather_campaign::model::{self, count};

pub(super) static MUTANTS: &[Mutant] = &[
    Mutant::new(
        "no-components-refused",
        "refuses index rows without components",
        "the ONNX text forbids k = 0; openvino 2026.4.1 gives garbage for it",
        |model| {
            model.faulty = |code, call| {
                let none = call.components() == Some(0);
                code == ErrorCode::IndexDepth && none || model::faulty(code, call)
            };
        },
    ),
    Mutant::new(
        "no-components-give-an-empty-output",
        "answers rows without components with no slices",
        "openvino 2026.4.1: GatherND-8, data [2, 3], indices [2, 0]",
        |model| {
            model.output_shape = |dims| {
                let shape = model::output_shape(dims);
                if dims.depth == 0 { vec![0; shape.len()] } else { shape }
            };
        },
    ),
    Mutant::new(
        "index-vector-refused",
        "refuses indices of rank 1",
        "the Paddle page asks for a rank above 1: https://github.com/PaddlePaddle/Paddle/issues/51413",
        |model| {
            model.faulty = |code, call| {
                code == ErrorCode::IndicesRank && call.indices().len() == 1 || model::faulty(code, call)
            };
        },
    ),
    Mutant::new(
        "scalar-index-accepted",
        "takes a scalar for a row of one component",
        "paddlepaddle 3.3.1: the depth is read from a dim that is not there",
        |model| {
            model.received = |signature, roles| match signature.form {
                Form::Nd if roles.indices.rank() == 0 => as_row(signature, roles),
                Form::Nd | Form::Take | Form::Elements | Form::Window => roles,
            };
        },
    ),
    Mutant::new(
        "scalar-index-refused",
        "refuses a scalar index",
        "0-D indices: https://github.com/PaddlePaddle/Paddle/pull/50271",
        |model| {
            model.faulty = |code, call| {
                code == ErrorCode::IndicesRank && call.indices().is_empty() || model::faulty(code, call)
            };
        },
    ),
    Mutant::new(
        "scalar-params-refused",
        "refuses params of rank 0 where rows have no components",
        "tensorflow 2.21.0: params must be at least a vector",
        |model| {
            model.faulty = |code, call| {
                code == ErrorCode::ParamsRank && call.params().is_empty() || model::faulty(code, call)
            };
        },
    ),
    Mutant::new(
        "scalar-params-accepted",
        "takes scalar params for a vector of one element",
        "tensorflow 2.21.0: shape inference accepts what the kernel refuses",
        |model| {
            model.received = |signature, roles| {
                let least = signature.operand(OperandRole::Params).rank.least();
                if least == 1 && roles.params.rank() == 0 { with_vector(roles) } else { roles }
            };
        },
    ),
    Mutant::new(
        "excess-components-ignored",
        "does not hold the depth against the rank of params, and drops what is too much",
        "the difference of two ranks underflowed: https://github.com/sonos/tract/issues/1353",
        |model| {
            model.faulty = |code, call| code != ErrorCode::IndexDepth && model::faulty(code, call);
        },
    ),
    Mutant::new(
        "depth-without-the-batch",
        "holds the depth alone against the rank of params, not batch and depth",
        "the snippet on the page of tf.gather_nd: assert index_depth <= params.shape.rank",
        |model| {
            model.faulty = |code, call| match code {
                ErrorCode::IndexDepth => call.components().is_some_and(|depth| depth > call.params().len()),
                _ => model::faulty(code, call),
            };
        },
    ),
    Mutant::new(
        "rows-to-elements-refused",
        "refuses rows that name single elements",
        "class: < for <=",
        |model| {
            model.faulty = |code, call| {
                let all = call.components().map_or(0, |depth| depth.saturating_add(call.batch()));
                let to_elements = all > 0 && all == call.params().len();
                code == ErrorCode::IndexDepth && to_elements || model::faulty(code, call)
            };
        },
    ),
    Mutant::new(
        "more-than-7-components-refused",
        "refuses rows of more than seven components",
        "tensorflow 2.21.0: only indices.shape[-1] values between 1 and 7 are currently supported",
        |model| {
            model.faulty = |code, call| {
                let many = call.components().is_some_and(|depth| depth > 7);
                code == ErrorCode::IndexDepth && many || model::faulty(code, call)
            };
        },
    ),
    Mutant::new(
        "params-of-rank-5-refused",
        "refuses params of more than four dims",
        "rank 5 gave an invalid shader: https://github.com/microsoft/onnxruntime/issues/32731",
        |model| {
            model.faulty = |code, call| {
                code == ErrorCode::ParamsRank && call.params().len() > 4 || model::faulty(code, call)
            };
        },
    ),
    Mutant::new(
        "indices-of-rank-4-refused",
        "refuses indices of more than three dims",
        "5-D indices were placed wrongly: https://github.com/openvinotoolkit/openvino/issues/27041",
        |model| {
            model.faulty = |code, call| {
                code == ErrorCode::IndicesRank && call.indices().len() > 3 || model::faulty(code, call)
            };
        },
    ),
    Mutant::new(
        "outer-dims-flattened",
        "answers with all index rows along one axis",
        "class: a reshape that is not undone",
        |model| {
            model.output_shape =
                |dims| [&*dims.batch, &dims.mid, &[count(&dims.outer)], &dims.inner].concat();
        },
    ),
    Mutant::new(
        "dims-of-1-dropped",
        "drops every dim of 1 from the output",
        "class: a squeeze; two outputs on the Paddle page are printed without a leading 1",
        |model| {
            model.output_shape =
                |dims| model::output_shape(dims).into_iter().filter(|dim| *dim != 1).collect();
        },
    ),
    Mutant::new(
        "element-answered-as-a-vector",
        "answers with a vector of one element where a scalar is due",
        "until https://github.com/PaddlePaddle/Paddle/pull/53175 the result was not a scalar",
        |model| {
            model.output_shape = |dims| {
                let shape = model::output_shape(dims);
                if shape.is_empty() { vec![1] } else { shape }
            };
        },
    ),
    Mutant::new(
        "inner-dims-from-indices",
        "takes the dims of the slice from indices",
        "shape inference by the dims of indices: https://github.com/sonos/tract/pull/2635",
        |model| {
            model.dims = |call| {
                let dims = model::dims(call);
                let from = call.indices().len().saturating_sub(dims.inner.len());
                let inner = call.indices()[from..].to_vec();
                model::ShapeParts { inner, ..dims }
            };
        },
    ),
    Mutant::new(
        "slice-dims-before-index-dims",
        "puts the dims of the slice before those of the indices",
        "5-D and 6-D orders: https://github.com/openvinotoolkit/openvino/issues/26894",
        |model| {
            model.output_shape = |dims| [&*dims.batch, &dims.mid, &dims.inner, &dims.outer].concat();
            model.finish = |_, dims, elements| {
                let (rows, slice) = (count(&dims.outer), count(&dims.inner));
                let place = |at: usize| {
                    let (block, rest) = (at / (rows * slice), at % (rows * slice));
                    block * rows * slice + rest % rows * slice + rest / rows
                };
                *elements = (0..elements.len()).map(|at| elements[place(at)].clone()).collect();
            };
        },
    ),
    Mutant::new(
        "slice-transposed",
        "writes each slice of two dims or more transposed",
        "class: row-major and column-major",
        |model| {
            model.element = |call, dims, params, pick, at| {
                let place = match &*dims.inner {
                    [first @ .., last] if !first.is_empty() => at % count(first) * last + at / count(first),
                    _ => at,
                };
                model::element(call, dims, params, pick, place)
            };
        },
    ),
];

/// The same call, with its scalar index as one row of one component.
fn as_row(signature: &Signature, roles: Roles<Tensor>) -> Roles<Tensor> {
    let rank = signature.operand(OperandRole::Indices).rank.least();
    let indices = model::tensor(roles.indices.dtype(), vec![1; rank], roles.indices.iter().collect());
    Roles { indices: indices.unwrap_or_else(|| roles.indices.clone()), ..roles }
}

/// The same call, with its scalar params as a vector.
fn with_vector(roles: Roles<Tensor>) -> Roles<Tensor> {
    let params = model::tensor(roles.params.dtype(), vec![1], roles.params.iter().collect());
    Roles { params: params.unwrap_or_else(|| roles.params.clone()), ..roles }
}
