//! `tf.gather`, after the shape function and the loop of its page, section Batching.

use gather_spec::shape::positions;
use gather_spec::{Call, DType, GatherError, Refusal, Tensor};

use crate::checks::{
    axis_within, boolean, equal_batch_shapes, index_at, index_dtype, index_of, integer, is_refused, only,
    operands, params_dtype, resolve,
};
use crate::output::{finished, output};
use crate::{Implemented, Settings};

/// All dtypes, since the page lists none (errata `params-dtypes-unlisted`).
pub const PARAMS_DTYPES: [DType; 16] = DType::ALL;

/// The dtypes of indices that the page lists.
pub const INDEX_DTYPES: [DType; 2] = [DType::I32, DType::I64];

/// Gathers slices of `params` along `axis`, one per index.
///
/// output shape = `params.shape[:axis] + indices.shape[b:] + params.shape[axis+1:]` with b = `batch_dims`;
/// `output[batch, mid, at, inner] = params[batch, mid, indices[batch, at], inner]`. `axis` defaults to the first
/// non-batch dim; negative values of `axis` count from the rank of params, of `batch_dims` from that of indices.
///
/// # Errors
/// `index-dtype`, `params-rank`, `batch-dims-out-of-range`, `axis-out-of-range`, `axis-before-batch`,
/// `batch-shape-mismatch`, `output-too-large`, `index-out-of-range`, in this order.
pub fn gather(
    params: &Tensor,
    indices: &Tensor,
    axis: Option<i64>,
    batch_dims: i64,
    settings: Settings,
) -> Result<Tensor, Refusal> {
    // tf.gather.dtype.params-any, tf.gather.dtype.indices
    params_dtype(params, &PARAMS_DTYPES)?;
    index_dtype(indices, &INDEX_DTYPES)?;

    // tf.gather.rank.params-at-least-one
    if params.rank() == 0 {
        return Err(GatherError::ParamsRank { rank: 0, least: 1 }.into());
    }
    let batch_dims = checked_batch_dims(batch_dims, indices.rank())?;
    let axis = checked_axis(axis, batch_dims, params.rank())?;
    // tf.gather.axis.not-before-batch
    if axis < batch_dims {
        return Err(GatherError::AxisBeforeBatch { axis, batch_dims }.into());
    }

    // tf.gather.batch.shapes-equal
    let (batch_shape, at_shape) = indices.shape().split_at(batch_dims);
    equal_batch_shapes(params, indices, batch_dims)?;
    // tf.gather.shape.batched, tf.gather.output.size-limit
    let mid_shape = &params.shape()[batch_dims..axis];
    let bound = params.shape()[axis];
    let inner_shape = &params.shape()[axis + 1..];
    let output_shape = [batch_shape, mid_shape, at_shape, inner_shape].concat();
    let mut output = output(params.dtype(), output_shape.clone(), settings)?;

    // tf.gather.index.own-axis, tf.gather.index.first-offender
    for position in indices.shape().positions() {
        let index = index_at(indices, &position);
        if is_refused(index, bound, settings.profile) {
            let position = position.to_vec();
            return Err(GatherError::IndexOutOfRange { position, component: None, index, bound }.into());
        }
    }

    // tf.gather.value.slice-at-index-position, tf.gather.batch.nested
    if !output_shape.contains(&0) {
        for batch in positions(batch_shape) {
            for mid in positions(mid_shape) {
                for at in positions(at_shape) {
                    let index = index_of(indices, &[&*batch, &*at]);
                    let index = resolve(index, bound, settings.profile);
                    for inner in positions(inner_shape) {
                        match index {
                            Some(index) => {
                                output.push(params.element_of(&[&*batch, &*mid, &[index], &*inner]));
                            }
                            None => output.push_zero(),
                        }
                    }
                }
            }
        }
    }
    finished(output)
}

/// tf.gather.batch.at-most-indices-rank, tf.gather.batch.at-least-minus-indices-rank: `batch_dims` lies in [-q, q]; a negative one counts from the rank of indices.
fn checked_batch_dims(batch_dims: i64, indices_rank: usize) -> Result<usize, GatherError> {
    let rank = i64::try_from(indices_rank).unwrap_or(i64::MAX);
    let from_start = if batch_dims < 0 { batch_dims.checked_add(rank) } else { Some(batch_dims) };
    from_start
        .and_then(|b| usize::try_from(b).ok())
        .filter(|b| *b <= indices_rank)
        .ok_or(GatherError::BatchDimsOutOfRange { batch_dims, low: -rank, high: rank })
}

/// tf.gather.axis.within-rank, tf.gather.axis.default-after-normalising: `axis` lies in [-r, r); a negative one counts from the rank of params, an absent one is the first dim after
/// the batch.
fn checked_axis(axis: Option<i64>, batch_dims: usize, params_rank: usize) -> Result<usize, GatherError> {
    let first_behind = || i64::try_from(batch_dims).unwrap_or(i64::MAX);
    axis_within(axis.unwrap_or_else(first_behind), params_rank)
}

/// The entry of this operator in the list of its ecosystem.
pub(crate) const OPERATOR: Implemented =
    Implemented { name: "tf.gather", params_dtypes: &PARAMS_DTYPES, index_dtypes: &INDEX_DTYPES, answer };

/// Answers a call of this operator.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [params, indices] = operands(call, ["params", "indices"])?;
    only(call, &["axis", "batch_dims", "validate_indices"])?;
    // tf.gather.index.validate-indices-ignored
    boolean(call, "validate_indices")?;
    let axis = integer(call, "axis")?;
    let batch_dims = integer(call, "batch_dims")?.unwrap_or(0);
    gather(params, indices, axis, batch_dims, settings)
}
