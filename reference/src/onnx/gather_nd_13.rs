//! `onnx.GatherND-13`, after its entry in the changelog of the operator set.

use gather_spec::shape::positions;
use gather_spec::{Call, DType, GatherError, Refusal, Tensor};

use crate::checks::{
    equal_batch_shapes, index_at, index_dtype, index_of, integer, is_refused, only, operands, params_dtype,
    resolve,
};
use crate::output::{finished, output};
use crate::{Implemented, Settings};

/// The dtypes of data that the page lists, which are all.
pub const DATA_DTYPES: [DType; 16] = DType::ALL;

/// The dtype of indices that the page lists.
pub const INDICES_DTYPES: [DType; 1] = [DType::I64];

/// Index tuples need at least one component (errata `onnx-depth-zero`).
const LEAST_DEPTH: usize = 1;

/// Gathers the elements or slices of `data` that the index tuples along the last axis of `indices` select.
///
/// output shape = `indices_shape[:-1] + data_shape[b+k:]` with b = `batch_dims` and k = `indices_shape[-1]`;
/// each index tuple is mapped to `data[batch, tuple, :]`.
///
/// # Errors
/// `index-dtype`, `params-rank`, `indices-rank`, `batch-dims-out-of-range`, `batch-shape-mismatch`, `index-depth`,
/// `output-too-large`, `index-out-of-range`, in this order.
pub fn gather_nd(
    data: &Tensor,
    indices: &Tensor,
    batch_dims: i64,
    settings: Settings,
) -> Result<Tensor, Refusal> {
    // onnx.GatherND-13.dtype.data, onnx.GatherND-13.dtype.indices
    params_dtype(data, &DATA_DTYPES)?;
    index_dtype(indices, &INDICES_DTYPES)?;

    // onnx.GatherND-13.rank.data
    let r = data.rank();
    if r == 0 {
        return Err(GatherError::ParamsRank { rank: 0, least: 1 }.into());
    }
    // onnx.GatherND-13.rank.indices
    let Some((&k, tuples)) = indices.shape().split_last() else {
        return Err(GatherError::IndicesRank { rank: 0, least: 1 }.into());
    };
    let b = checked_batch_dims(batch_dims, indices.rank(), r)?;

    // onnx.GatherND-13.batch.shapes-equal
    let (batch_shape, outer_shape) = tuples.split_at(b);
    equal_batch_shapes(data, indices, b)?;
    // onnx.GatherND-13.depth.at-most
    if k > r - b {
        return Err(GatherError::IndexDepth { batch_dims: b, depth: k, rank: r }.into());
    }
    // onnx.GatherND-13.depth.at-least-one
    if k < LEAST_DEPTH {
        return Err(GatherError::IndexDepthTooSmall { depth: k, least: LEAST_DEPTH }.into());
    }
    // onnx.GatherND-13.shape.formula, onnx.GatherND-13.output.size-limit
    let (indexed_shape, slice_shape) = data.shape()[b..].split_at(k);
    let output_shape = [batch_shape, outer_shape, slice_shape].concat();
    let mut output = output(data.dtype(), output_shape.clone(), settings)?;

    // onnx.GatherND-13.index.in-range, onnx.GatherND-13.index.own-axis, onnx.GatherND-13.index.first-offender
    for position in indices.shape().positions() {
        let (component, tuple) = position.split_last().expect("indices has an axis");
        let (index, bound) = (index_at(indices, &position), indexed_shape[*component]);
        if is_refused(index, bound, settings.profile) {
            let (position, component) = (tuple.to_vec(), Some(*component));
            return Err(GatherError::IndexOutOfRange { position, component, index, bound }.into());
        }
    }

    // onnx.GatherND-13.value.elements, onnx.GatherND-13.value.slices, onnx.GatherND-13.value.location
    if !output_shape.contains(&0) {
        for batch in positions(batch_shape) {
            for outer in positions(outer_shape) {
                let indices_slice: Option<Vec<usize>> = (0..k)
                    .map(|component| {
                        let index = index_of(indices, &[&*batch, &*outer, &[component]]);
                        resolve(index, indexed_shape[component], settings.profile)
                    })
                    .collect();
                for slice in positions(slice_shape) {
                    match &indices_slice {
                        Some(tuple) => output.push(data.element_of(&[&*batch, tuple, &*slice])),
                        None => output.push_zero(),
                    }
                }
            }
        }
    }
    finished(output)
}

/// onnx.GatherND-13.batch.below-both-ranks, onnx.GatherND-13.batch.not-negative: 0 <= b < min(q, r).
fn checked_batch_dims(batch_dims: i64, q: usize, r: usize) -> Result<usize, GatherError> {
    let high = q.min(r) - 1;
    usize::try_from(batch_dims).ok().filter(|b| *b <= high).ok_or(GatherError::BatchDimsOutOfRange {
        batch_dims,
        low: 0,
        high: i64::try_from(high).unwrap_or(i64::MAX),
    })
}

/// The entry of this operator in the list of its ecosystem.
pub(crate) const OPERATOR: Implemented = Implemented {
    name: "onnx.GatherND-13",
    params_dtypes: &DATA_DTYPES,
    index_dtypes: &INDICES_DTYPES,
    answer,
};

/// Answers a call of this operator.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [data, indices] = operands(call, ["data", "indices"])?;
    only(call, &["batch_dims"])?;
    // onnx.GatherND-13.batch.default
    let batch_dims = integer(call, "batch_dims")?.unwrap_or(0);
    gather_nd(data, indices, batch_dims, settings)
}
