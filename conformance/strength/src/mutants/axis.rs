//! Wrong about the axis.

use gather_spec::{DType, Element, ErrorCode, Tensor};

use super::mutant::Mutant;
use super::slice_sizes::{signed, unsigned};
use gather_campaign::model::{self, ModelCall, from_start};

pub(super) static MUTANTS: &[Mutant] = &[
    Mutant::new(
        "ignores-axis",
        "gathers along the first axis after the batch, whatever is asked",
        "class: an attribute that is dropped",
        |model| model.axis = |call| Some(call.batch()).filter(|axis| *axis < call.params().len()),
    ),
    Mutant::new(
        "default-axis-0-under-batching",
        "takes a missing axis for 0 also where there is a batch",
        "the helper on the page of tf.gather defaults to axis=0 beside batch_dims",
        |model| {
            model.axis = |call| {
                let rank = call.params().len();
                from_start(call.given_axis().unwrap_or(0), rank).filter(|axis| *axis < rank)
            };
        },
    ),
    Mutant::new(
        "default-axis-before-normalising",
        "takes a missing axis for batch_dims as written, also where that is negative",
        "tensorflow 2.21.0: tf.gather(params [2, 3, 4], indices [2, 2], batch_dims=-1) gathers along the last axis",
        |model| {
            model.axis = |call| {
                let rank = call.params().len();
                let axis = call.given_axis().unwrap_or_else(|| call.given_batch());
                from_start(axis, rank).filter(|axis| *axis < rank)
            };
        },
    ),
    Mutant::new(
        "negative-axis-from-indices-rank",
        "counts a negative axis from the rank of indices",
        "counted from the wrong size: https://github.com/tenstorrent/tt-tvm/issues/103",
        |model| {
            model.axis = |call| match call.given_axis() {
                Some(axis) if axis < 0 => {
                    from_start(axis, call.indices().len()).filter(|axis| *axis < call.params().len())
                }
                _ => model::axis(call),
            };
        },
    ),
    Mutant::new(
        "negative-axis-refused",
        "refuses a negative axis",
        "axis -1 of a vector was held against a size of 0: https://github.com/PaddlePaddle/Paddle/issues/50835",
        |model| {
            model.axis = |call| model::axis(call).filter(|_| call.given_axis().is_none_or(|axis| axis >= 0));
        },
    ),
    Mutant::new(
        "negative-axis-accepted",
        "counts a negative axis from the end where the axis is an unsigned number",
        "class: an axis is normalised, whatever its type",
        |model| {
            model.axis = |call| match call.given_axis() {
                Some(axis) if axis < 0 => from_start(axis, call.params().len()),
                _ => model::axis(call),
            };
        },
    ),
    Mutant::new(
        "axis-of-minus-rank-refused",
        "refuses the least negative axis",
        "class: < for <=",
        |model| {
            model.axis = |call| {
                let least = i64::try_from(call.params().len()).map_or(0, |rank| -rank);
                model::axis(call).filter(|_| call.given_axis() != Some(least))
            };
        },
    ),
    Mutant::new(
        "axis-out-of-range-clamped",
        "moves an axis out of range to the nearest one",
        "an axis below -rank read beside the shape: https://github.com/PaddlePaddle/Paddle/issues/76946",
        |model| {
            model.axis = |call| {
                let last = call.params().len().checked_sub(1)?;
                let before = call.given_axis().is_some_and(|axis| axis < 0);
                Some(model::axis(call).unwrap_or(if before { 0 } else { last }))
            };
        },
    ),
    Mutant::new(
        "axis-equal-to-rank-accepted",
        "takes an axis equal to the rank for the last one",
        "a batch of all dims of a variable aborted: https://github.com/tensorflow/tensorflow/issues/106497",
        |model| {
            model.axis = |call| {
                let rank = call.params().len();
                let given = call.given_axis().unwrap_or_else(|| i64::try_from(call.batch()).unwrap_or(0));
                if usize::try_from(given) == Ok(rank) { rank.checked_sub(1) } else { model::axis(call) }
            };
        },
    ),
    Mutant::new(
        "axis-in-32-bits",
        "cuts the axis down to 32 bits",
        "the largest axis overflowed and passed the check: https://github.com/tensorflow/tensorflow/issues/65869",
        |model| {
            #[allow(clippy::cast_possible_truncation, reason = "the mutation")]
            let narrow = |call: &ModelCall<'_>| match call.given_axis() {
                Some(axis) => from_start(i64::from(axis as i32), call.params().len())
                    .filter(|axis| *axis < call.params().len()),
                None => model::axis(call),
            };
            model.axis = narrow;
        },
    ),
    Mutant::new(
        "axis-operand-without-a-sign",
        "reads an axis that is an operand of a signed dtype as an unsigned one",
        "class: a width without its sign",
        |model| model.axis = |call| read_as(call, |dtype, bits| model::index(unsigned(dtype), bits)),
    ),
    Mutant::new(
        "axis-operand-with-a-sign",
        "reads an axis that is an operand of an unsigned dtype as a signed one",
        "class: a width without its sign",
        |model| model.axis = |call| read_as(call, |dtype, bits| model::index(signed(dtype), bits)),
    ),
    Mutant::new(
        "axis-operand-cut-to-8-bits",
        "cuts an axis that is an operand to 8 bits with a sign",
        "class: the narrowest dtype of the list",
        |model| model.axis = |call| read_as(call, |_, bits| model::index(DType::I8, bits)),
    ),
    Mutant::new(
        "axis-operand-cut-to-32-bits",
        "cuts an axis that is an operand to 32 bits with a sign",
        "class: an axis in an int",
        |model| model.axis = |call| read_as(call, |_, bits| model::index(DType::I32, bits)),
    ),
    Mutant::new(
        "axis-operand-of-any-dtype",
        "does not look at the dtype of an axis that is an operand",
        "class: a check that is missing",
        |model| {
            model.faulty = |code, call| {
                let is_axis = call.signature.axis_operand().is_some();
                (code != ErrorCode::OperandDtype || !is_axis) && model::faulty(code, call)
            };
        },
    ),
    Mutant::new(
        "axis-operand-of-any-shape",
        "takes the first element of an axis that is an operand, whatever its shape",
        "class: a check that is missing",
        |model| {
            model.faulty = |code, call| {
                let is_axis = call.signature.axis_operand().is_some();
                (code != ErrorCode::OperandShape || !is_axis) && model::faulty(code, call)
            };
            model.axis = |call| read_as(call, model::index);
        },
    ),
    Mutant::new(
        "axis-operand-scalar-only",
        "refuses an axis that is a vector of one element",
        "class: a check that is too strict",
        |model| {
            model.faulty = |code, call| {
                let is_vector = |other: &Tensor| other.rank() == 1 && call.signature.axis_operand().is_some();
                code == ErrorCode::OperandShape && call.roles.other.as_ref().is_some_and(is_vector)
                    || model::faulty(code, call)
            };
        },
    ),
    Mutant::new(
        "axis-before-batch-drops-the-batch",
        "forgets batch_dims where the axis is given as 0",
        "tensorflow 2.21.0: tf.gather(params [2, 4], indices [2, 2], axis=0, batch_dims=1) gives shape [2, 2, 4]",
        |model| {
            model.batch_dims = |call| {
                if call.given_axis() == Some(0) { Some(0) } else { model::batch_dims(call) }
            };
        },
    ),
    Mutant::new(
        "axis-compared-as-written",
        "compares axis and batch_dims before they are counted from the start",
        "class: a check on values that are not normalised yet",
        |model| {
            model.faulty = |code, call| match code {
                ErrorCode::AxisBeforeBatch => call.given_axis().is_some_and(|axis| axis < call.given_batch()),
                _ => model::faulty(code, call),
            };
        },
    ),
    Mutant::new(
        "last-axis-for-the-given",
        "gathers along the last axis, whatever is asked",
        "class: an attribute that is dropped",
        |model| model.axis = |call| model::axis(call).and(call.params().len().checked_sub(1)),
    ),
    Mutant::new(
        "negative-axis-one-too-low",
        "counts a negative axis from one before the end",
        "class: -1 added twice",
        |model| {
            model.axis = |call| match call.given_axis() {
                Some(axis) if axis < 0 => from_start(axis.saturating_sub(1), call.params().len()),
                _ => model::axis(call),
            };
        },
    ),
    Mutant::new(
        "axis-counted-from-the-end",
        "counts the axis from the last to the first",
        "class: the order of axes of a column-major library",
        |model| model.axis = |call| model::axis(call).map(|axis| call.params().len() - 1 - axis),
    ),
    Mutant::new(
        "dims-after-the-axis-dropped",
        "leaves the dims after the axis out of the output",
        "WebNN specification of 2026-06-26, revision c515210: the shape algorithm never appends them",
        |model| {
            model.dims = |call| {
                let dims = model::dims(call);
                model::ShapeParts { inner: Vec::new(), ..dims }
            };
        },
    ),
    Mutant::new(
        "indices-dims-before-the-mid-dims",
        "puts the dims of indices before the dims between batch and axis",
        "class: the layout of take_along_axis and of advanced indexing",
        |model| {
            model.output_shape = |dims| [&*dims.batch, &dims.outer, &dims.mid, &dims.inner].concat();
            model.arrange = |_, dims, picks| {
                let (mids, rows) = (model::count(&dims.mid), model::count(&dims.outer));
                let place = |at: usize| {
                    let (batch, rest) = (at / (mids * rows), at % (mids * rows));
                    batch * mids * rows + rest % mids * rows + rest / mids
                };
                (0..picks.len()).map(|at| picks[place(at)]).collect()
            };
        },
    ),
];

/// The axis, where a function reads the first element of an operand that holds it.
fn read_as(call: &ModelCall<'_>, value: fn(DType, u128) -> i128) -> Option<usize> {
    let operand = call.roles.other.as_ref().filter(|_| call.signature.axis_operand().is_some());
    let Some(operand) = operand else { return model::axis(call) };
    let Some(Element::Bits(bits)) = operand.iter().next() else { return None };
    let axis = i64::try_from(value(operand.dtype(), bits)).unwrap_or(i64::MAX);
    from_start(axis, call.params().len()).filter(|axis| *axis < call.params().len())
}
