//! `tf.gather_nd`, after the formulas of its page, section Batches.

use gather_spec::shape::positions;
use gather_spec::{Call, DType, GatherError, Refusal, Tensor};

use crate::checks::{
    equal_batch_shapes, index_at, index_dtype, index_of, integer, is_refused, only, operands, params_dtype,
    resolve,
};
use crate::output::{finished, output};
use crate::{Implemented, Settings};

/// All dtypes, since the page lists none (errata `params-dtypes-unlisted`).
pub const PARAMS_DTYPES: [DType; 16] = DType::ALL;

/// The dtypes of indices that the page lists.
pub const INDEX_DTYPES: [DType; 2] = [DType::I32, DType::I64];

/// Gathers slices of `params` by the index vectors along the last axis of `indices`.
///
/// output shape = `params.shape[:b] + indices.shape[b:-1] + params.shape[b+k:]` with b = `batch_dims` and
/// k = `indices.shape[-1]`; `output[batch, outer, inner] = params[batch, indices[batch, outer, :], inner]`.
///
/// # Errors
/// `index-dtype`, `indices-rank`, `batch-dims-out-of-range`, `batch-shape-mismatch`, `index-depth`,
/// `output-too-large`, `index-out-of-range`, in this order.
pub fn gather_nd(
    params: &Tensor,
    indices: &Tensor,
    batch_dims: i64,
    settings: Settings,
) -> Result<Tensor, Refusal> {
    // tf.gather_nd.dtype.params, tf.gather_nd.dtype.indices
    params_dtype(params, &PARAMS_DTYPES)?;
    index_dtype(indices, &INDEX_DTYPES)?;

    // tf.gather_nd.rank.indices
    let Some((&index_depth, rows)) = indices.shape().split_last() else {
        return Err(GatherError::IndicesRank { rank: 0, least: 1 }.into());
    };
    let batch_dims = checked_batch_dims(batch_dims, params.rank(), indices.rank())?;

    // tf.gather_nd.batch.shapes-equal
    let (batch_shape, outer_shape) = rows.split_at(batch_dims);
    equal_batch_shapes(params, indices, batch_dims)?;
    // tf.gather_nd.depth.with-batch
    if index_depth > params.rank() - batch_dims {
        return Err(GatherError::IndexDepth { batch_dims, depth: index_depth, rank: params.rank() }.into());
    }
    // tf.gather_nd.shape.batched, tf.gather_nd.output.size
    let (indexed_shape, inner_shape) = params.shape()[batch_dims..].split_at(index_depth);
    let output_shape = [batch_shape, outer_shape, inner_shape].concat();
    let mut output = output(params.dtype(), output_shape.clone(), settings)?;

    // tf.gather_nd.index.bounds, tf.gather_nd.index.first-offender
    for position in indices.shape().positions() {
        let (component, row) = position.split_last().expect("indices has an axis");
        let (index, bound) = (index_at(indices, &position), indexed_shape[*component]);
        if is_refused(index, bound, settings.profile) {
            let (position, component) = (row.to_vec(), Some(*component));
            return Err(GatherError::IndexOutOfRange { position, component, index, bound }.into());
        }
    }

    // tf.gather_nd.value.batched, tf.gather_nd.index.zero-slice
    if !output_shape.contains(&0) {
        for batch in positions(batch_shape) {
            for outer in positions(outer_shape) {
                let vector: Option<Vec<usize>> = (0..index_depth)
                    .map(|component| {
                        let index = index_of(indices, &[&*batch, &*outer, &[component]]);
                        resolve(index, indexed_shape[component], settings.profile)
                    })
                    .collect();
                for inner in positions(inner_shape) {
                    match &vector {
                        Some(vector) => output.push(params.element_of(&[&*batch, vector, &*inner])),
                        None => output.push_zero(),
                    }
                }
            }
        }
    }
    finished(output)
}

/// tf.gather_nd.batch.count, tf.gather_nd.batch.below-indices-rank, tf.gather_nd.batch.within-params-rank:
/// `batch_dims` leaves the last axis of indices alone and does not go beyond params.
fn checked_batch_dims(
    batch_dims: i64,
    params_rank: usize,
    indices_rank: usize,
) -> Result<usize, GatherError> {
    let high = params_rank.min(indices_rank - 1);
    usize::try_from(batch_dims).ok().filter(|b| *b <= high).ok_or(GatherError::BatchDimsOutOfRange {
        batch_dims,
        low: 0,
        high: i64::try_from(high).unwrap_or(i64::MAX),
    })
}

/// The entry of this operator in the list of its ecosystem.
pub(crate) const OPERATOR: Implemented =
    Implemented { name: "tf.gather_nd", params_dtypes: &PARAMS_DTYPES, index_dtypes: &INDEX_DTYPES, answer };

/// Answers a call of this operator.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [params, indices] = operands(call, ["params", "indices"])?;
    only(call, &["batch_dims"])?;
    // tf.gather_nd.batch.default
    let batch_dims = integer(call, "batch_dims")?.unwrap_or(0);
    gather_nd(params, indices, batch_dims, settings)
}
