//! `openvino.GatherND-5`, after the formulas of its page.

use gather_spec::shape::positions;
use gather_spec::{Call, DType, GatherError, Refusal, Tensor};

use super::batch::below_both_ranks;
use super::dtypes::DATA_DTYPES;
use crate::checks::{
    INTEGERS, equal_batch_shapes, index_at, index_dtype, index_of, integer, is_refused, only, operands,
    params_dtype, resolve,
};
use crate::output::{finished, output};
use crate::{Implemented, Settings};

/// Any supported integer type.
pub const INDICES_DTYPES: [DType; 8] = INTEGERS;

/// Gathers the elements or slices of `data` that the tuples along the last axis of `indices` name.
///
/// output shape = `indices.shape[:-1] + data.shape[indices.shape[-1]:]`, or with a batch
/// `(product of indices.shape[:b]) + indices.shape[b:-1] + data.shape[indices.shape[-1] + b:]`, where b = `batch_dims`;
/// `output[i_0, ..., i_{K-2}, :, ..., :] = data[indices[i_0, ..., i_{K-2}], :, ..., :]` in each element of the batch.
///
/// # Errors
/// `params-dtype`, `index-dtype`, `params-rank`, `indices-rank`, `batch-dims-out-of-range`, `batch-shape-mismatch`,
/// `index-depth`, `output-too-large`, `index-out-of-range`, in this order.
pub fn gather_nd(
    data: &Tensor,
    indices: &Tensor,
    batch_dims: i64,
    settings: Settings,
) -> Result<Tensor, Refusal> {
    // openvino.GatherND-5.dtype.data, openvino.GatherND-5.dtype.indices
    params_dtype(data, &DATA_DTYPES)?;
    index_dtype(indices, &INDICES_DTYPES)?;

    // openvino.GatherND-5.rank.data
    if data.rank() == 0 {
        return Err(GatherError::ParamsRank { rank: 0, least: 1 }.into());
    }
    // openvino.GatherND-5.rank.indices
    let Some((&length, tuples)) = indices.shape().split_last() else {
        return Err(GatherError::IndicesRank { rank: 0, least: 1 }.into());
    };
    // openvino.GatherND-5.batch.below-both-ranks, openvino.GatherND-5.batch.not-negative
    let b = below_both_ranks(batch_dims, data.rank(), indices.rank())?;

    // openvino.GatherND-5.batch.shapes-equal
    equal_batch_shapes(data, indices, b)?;
    // openvino.GatherND-5.depth.at-most-rank, openvino.GatherND-5.depth.below-batch
    if length > data.rank() - b {
        return Err(GatherError::IndexDepth { batch_dims: b, depth: length, rank: data.rank() }.into());
    }
    // openvino.GatherND-5.shape.without-batch, openvino.GatherND-5.shape.flattened-batch, openvino.GatherND-5.output.size-limit
    let (batch_shape, leading_shape) = tuples.split_at(b);
    let (indexed_shape, slice_shape) = data.shape()[b..].split_at(length);
    let output_shape = [&*flattened(batch_shape), leading_shape, slice_shape].concat();
    let mut out = output(data.dtype(), output_shape.clone(), settings)?;

    // openvino.GatherND-5.index.in-range, openvino.GatherND-5.index.negative, openvino.GatherND-5.index.own-axis,
    // openvino.GatherND-5.index.full-width, openvino.GatherND-5.index.checked-when-slice-empty,
    // openvino.GatherND-5.index.first-offender
    for position in indices.shape().positions() {
        let (component, tuple) = position.split_last().expect("indices has an axis");
        let (index, s) = (index_at(indices, &position), indexed_shape[*component]);
        if is_refused(index, s, settings.profile) {
            let (position, component) = (tuple.to_vec(), Some(*component));
            return Err(GatherError::IndexOutOfRange { position, component, index, bound: s }.into());
        }
    }

    // openvino.GatherND-5.value.elements, openvino.GatherND-5.value.slices, openvino.GatherND-5.value.location,
    // openvino.GatherND-5.value.batched, openvino.GatherND-5.index.zero-slice
    if output_shape.contains(&0) {
        return finished(out);
    }
    for batch in positions(batch_shape) {
        for i in positions(leading_shape) {
            let component = |at: usize| index_of(indices, &[&*batch, &*i, &[at]]);
            let tuple: Option<Vec<usize>> =
                (0..length).map(|at| resolve(component(at), indexed_shape[at], settings.profile)).collect();
            for slice in positions(slice_shape) {
                match &tuple {
                    Some(tuple) => out.push(data.element_of(&[&*batch, tuple, &*slice])),
                    None => out.push_zero(),
                }
            }
        }
    }
    finished(out)
}

/// The batch dims of the output: their product, unless there are none.
fn flattened(batch_shape: &[usize]) -> Vec<usize> {
    if batch_shape.is_empty() { Vec::new() } else { vec![batch_shape.iter().product()] }
}

/// The entry of this operator in the list of its ecosystem.
pub(crate) const OPERATOR: Implemented = Implemented {
    name: "openvino.GatherND-5",
    params_dtypes: &DATA_DTYPES,
    index_dtypes: &INDICES_DTYPES,
    answer,
};

/// Answers a call of this operator.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [data, indices] = operands(call, ["data", "indices"])?;
    only(call, &["batch_dims"])?;
    // openvino.GatherND-5.batch.default
    let batch_dims = integer(call, "batch_dims")?.unwrap_or(0);
    gather_nd(data, indices, batch_dims, settings)
}
