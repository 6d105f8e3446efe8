//! Wrong about batch dims: how many, whose, and whether they agree.

use gather_spec::shape::positions;
use gather_spec::{Element, ErrorCode, Roles, Signature, Tensor};

use super::mutant::Mutant;
use gather_campaign::model::{self, ModelCall, count, from_start};

pub(super) static MUTANTS: &[Mutant] = &[
    Mutant::new(
        "ignores-batch-dims",
        "takes batch_dims for 0",
        "shape inference without batch_dims: https://github.com/microsoft/onnxruntime/issues/24206",
        |model| model.batch_dims = |_| Some(0),
    ),
    Mutant::new(
        "batch-dims-from-the-wrong-side",
        "counts batch_dims from the last outer axis of indices",
        "class: an axis counted from the wrong end",
        |model| {
            model.batch_dims = |call| {
                let rows = call.indices().len().saturating_sub(call.by_rows().into());
                model::batch_dims(call).map(|batch| if batch == 0 { 0 } else { rows.saturating_sub(batch) })
            };
        },
    ),
    Mutant::new(
        "batch-shapes-unchecked",
        "does not compare the batch shapes",
        "a division by zero on shapes that differ: https://github.com/microsoft/onnxruntime/issues/23828",
        |model| {
            model.faulty = |code, call| code != ErrorCode::BatchShapeMismatch && model::faulty(code, call);
        },
    ),
    Mutant::new(
        "batch-shapes-by-product",
        "compares batch shapes by their product",
        "tensorflow 2.21.0: params [2, 3, 4], indices [3, 2, 1], batch_dims 2 are accepted",
        |model| {
            model.faulty = |code, call| match code {
                ErrorCode::BatchShapeMismatch => {
                    let batch = call.batch();
                    call.params().get(..batch).map(count) != call.indices().get(..batch).map(count)
                }
                _ => model::faulty(code, call),
            };
        },
    ),
    Mutant::new(
        "batch-shapes-in-the-first-dim",
        "compares the first batch dim only",
        "class: a check of one of several dims",
        |model| {
            model.faulty = |code, call| match code {
                ErrorCode::BatchShapeMismatch => {
                    call.batch() > 0 && call.params().first() != call.indices().first()
                }
                _ => model::faulty(code, call),
            };
        },
    ),
    Mutant::new(
        "batches-of-1-broadcast",
        "broadcasts a batch dim of 1 against the other operand's",
        "one execution provider does, another refuses: https://github.com/microsoft/onnxruntime/issues/25053",
        |model| model.received = broadcast_batches,
    ),
    Mutant::new(
        "first-batch-of-params",
        "reads every batch from the first one of params",
        "class: an offset that lacks the batch",
        |model| model.offset = |call, dims, _, mid, at| model::offset(call, dims, 0, mid, at),
    ),
    Mutant::new(
        "batch-stride-without-the-slice",
        "steps from batch to batch of params by the dims that indices select, without those of a slice",
        "class: a stride that lacks the inner dims",
        |model| {
            model.offset = |call, dims, batch, mid, at| {
                let rows = count(&dims.mid).saturating_mul(count(&dims.bounds));
                model::offset(call, dims, 0, mid, at) + batch.saturating_mul(rows) as i128
            };
        },
    ),
    Mutant::new(
        "leaks-across-batches",
        "checks an index against all batches laid end to end",
        "tensorflow 2.21.0, tf.compat.v1.batch_gather: params [2, 4], indices [[5], [1]] reads the other batch",
        |model| {
            model.offender = |call, dims, indices| {
                let rows = count(&dims.outer).max(1) * dims.depth.max(1);
                (0..indices.len()).find(|at| {
                    let (bound, batch) = (model::bound_of(dims, *at), at / rows);
                    let all = batch.saturating_mul(bound) as i128 + indices[*at];
                    call.within(all, bound.saturating_mul(count(&dims.batch))).is_none()
                })
            };
            model.resolve = |_, _, row| Some(row.to_vec());
        },
    ),
    Mutant::new(
        "only-the-first-batch-checked",
        "checks the indices of the first batch only",
        "TFLM Gather, by its source: the wrong element is checked, so a bad index in batch 1 is missed",
        |model| {
            model.offender = |call, dims, indices| {
                let first = count(&dims.outer).saturating_mul(dims.depth).min(indices.len());
                model::offender(call, dims, &indices[..first])
            };
        },
    ),
    Mutant::new(
        "negative-batch-dims-from-params",
        "counts a negative batch_dims from the rank of params",
        "class: an axis counted from the other operand's rank",
        |model| {
            model.batch_dims = |call| {
                let given = call.given_batch();
                let rank = call.indices().len();
                from_start(given, if given < 0 { call.params().len() } else { rank })
                    .filter(|batch| *batch <= rank)
            };
        },
    ),
    Mutant::new(
        "negative-batch-dims-accepted",
        "counts a negative batch_dims from the end where the page knows none",
        "an out-of-bounds read in shape inference: https://github.com/onnx/onnx/issues/8465",
        |model| {
            model.batch_dims = |call| {
                let given = call.given_batch();
                from_start(given, call.indices().len())
                    .filter(|batch| *batch < call.indices().len() && *batch <= call.params().len())
            };
        },
    ),
    Mutant::new(
        "negative-batch-dims-refused",
        "refuses a negative batch_dims that the page allows",
        "class: a sign that one path forgets",
        |model| {
            model.batch_dims = |call| model::batch_dims(call).filter(|_| call.given_batch() >= 0);
        },
    ),
    Mutant::new(
        "batch-dims-equal-to-indices-rank-accepted",
        "lets the batch take the axis of the index rows",
        "class: <= for <",
        |model| {
            model.batch_dims = |call| {
                let given = call.given_batch();
                let most = call.params().len().min(call.indices().len());
                usize::try_from(given).ok().filter(|batch| *batch <= most)
            };
        },
    ),
    Mutant::new(
        "batch-of-all-params-accepted",
        "lets the batch span all of params where the page does not",
        "class: <= for <",
        |model| {
            model.batch_dims = |call| {
                let all = usize::try_from(call.given_batch()) == Ok(call.params().len());
                let spans = all && call.params().len() < call.indices().len();
                if spans { Some(call.params().len()) } else { model::batch_dims(call) }
            };
        },
    ),
    Mutant::new(
        "batch-of-all-indices-refused",
        "refuses batch_dims equal to the rank of indices",
        "class: < for <=",
        |model| {
            model.batch_dims =
                |call| model::batch_dims(call).filter(|batch| *batch < call.indices().len().max(1));
        },
    ),
    Mutant::new(
        "batch-of-all-params-refused",
        "refuses a batch that spans all of params",
        "tensorflow 2.21.0: batch_dims must be less than the rank of params",
        |model| {
            model.batch_dims =
                |call| model::batch_dims(call).filter(|batch| *batch < call.params().len().max(1));
        },
    ),
    Mutant::new(
        "batch-dims-in-32-bits",
        "cuts batch_dims down to 32 bits",
        "class: an attribute narrowed without a check",
        |model| {
            #[allow(clippy::cast_possible_truncation, reason = "the mutation")]
            let narrow = |call: &ModelCall<'_>| {
                let (cut, rank) = (i64::from(call.given_batch() as i32), call.indices().len());
                let batch = if call.by_rows() { usize::try_from(cut).ok() } else { from_start(cut, rank) };
                batch.filter(|batch| *batch <= rank.saturating_sub(call.by_rows().into()))
            };
            model.batch_dims = narrow;
        },
    ),
];

/// Stretches batch dims of 1 of either operand to the size that the other has.
fn broadcast_batches(signature: &Signature, roles: Roles<Tensor>) -> Roles<Tensor> {
    let given = model::given_batch(signature, &roles);
    let Some(batch) = from_start(given, roles.indices.rank()) else { return roles };
    let stretched = |tensor: &Tensor, other: &Tensor| {
        let mut shape = tensor.shape().to_vec();
        for (dim, wanted) in shape.iter_mut().zip(other.shape().iter()).take(batch) {
            if *dim == 1 {
                *dim = *wanted;
            }
        }
        repeated(tensor, shape)
    };
    let params = stretched(&roles.params, &roles.indices).unwrap_or_else(|| roles.params.clone());
    let indices = stretched(&roles.indices, &roles.params).unwrap_or_else(|| roles.indices.clone());
    Roles { params, indices, ..roles }
}

/// Stretches a tensor to a shape along its dims of 1; `None` if it has that shape already.
pub(super) fn repeated(tensor: &Tensor, shape: Vec<usize>) -> Option<Tensor> {
    if shape == **tensor.shape() {
        return None;
    }
    let positions = positions(&shape);
    let elements = positions.map(|mut at| {
        at.iter_mut().zip(&**tensor.shape()).for_each(|(at, dim)| *at %= dim);
        tensor.element(&at)
    });
    let elements: Vec<Element> = elements.collect();
    model::tensor(tensor.dtype(), shape, elements)
}
