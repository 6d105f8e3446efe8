//! `onnx.GatherND-11`, after its entry in the changelog of the operator set.

use gather_spec::shape::positions;
use gather_spec::{Call, DType, GatherError, Refusal, Tensor};

use super::DTYPES_BEFORE_13;
use crate::checks::{index_at, index_dtype, index_of, is_refused, only, operands, params_dtype, resolve};
use crate::output::{finished, output};
use crate::{Implemented, Settings};

/// The dtype of indices that the page lists.
pub const INDICES_DTYPES: [DType; 1] = [DType::I64];

/// Index tuples need at least one component (errata `onnx-depth-zero`).
const LEAST_DEPTH: usize = 1;

/// Gathers the elements or slices of `data` that the index tuples along the last axis of `indices` select.
///
/// output shape = `indices_shape[:-1] + data_shape[k:]` with k = `indices_shape[-1]`; each index tuple is mapped to
/// `data[tuple, :]`.
///
/// # Errors
/// `params-dtype`, `index-dtype`, `params-rank`, `indices-rank`, `index-depth`, `output-too-large`,
/// `index-out-of-range`, in this order.
pub fn gather_nd(data: &Tensor, indices: &Tensor, settings: Settings) -> Result<Tensor, Refusal> {
    // onnx.GatherND-11.dtype.data, onnx.GatherND-11.dtype.indices
    params_dtype(data, &DTYPES_BEFORE_13)?;
    index_dtype(indices, &INDICES_DTYPES)?;

    // onnx.GatherND-11.rank.data
    let r = data.rank();
    if r == 0 {
        return Err(GatherError::ParamsRank { rank: 0, least: 1 }.into());
    }
    // onnx.GatherND-11.rank.indices
    let Some((&k, outer_shape)) = indices.shape().split_last() else {
        return Err(GatherError::IndicesRank { rank: 0, least: 1 }.into());
    };
    // onnx.GatherND-11.depth.at-most
    if k > r {
        return Err(GatherError::IndexDepth { batch_dims: 0, depth: k, rank: r }.into());
    }
    // onnx.GatherND-11.depth.at-least-one
    if k < LEAST_DEPTH {
        return Err(GatherError::IndexDepthTooSmall { depth: k, least: LEAST_DEPTH }.into());
    }
    // onnx.GatherND-11.shape.formula, onnx.GatherND-11.batch.none, onnx.GatherND-11.output.size-limit
    let (indexed_shape, slice_shape) = data.shape().split_at(k);
    let output_shape = [outer_shape, slice_shape].concat();
    let mut output = output(data.dtype(), output_shape.clone(), settings)?;

    // onnx.GatherND-11.index.in-range, onnx.GatherND-11.index.own-axis, onnx.GatherND-11.index.first-offender
    for position in indices.shape().positions() {
        let (component, tuple) = position.split_last().expect("indices has an axis");
        let (index, bound) = (index_at(indices, &position), indexed_shape[*component]);
        if is_refused(index, bound, settings.profile) {
            let (position, component) = (tuple.to_vec(), Some(*component));
            return Err(GatherError::IndexOutOfRange { position, component, index, bound }.into());
        }
    }

    // onnx.GatherND-11.value.elements, onnx.GatherND-11.value.slices, onnx.GatherND-11.value.location
    if !output_shape.contains(&0) {
        for outer in positions(outer_shape) {
            let indices_slice: Option<Vec<usize>> = (0..k)
                .map(|component| {
                    let index = index_of(indices, &[&*outer, &[component]]);
                    resolve(index, indexed_shape[component], settings.profile)
                })
                .collect();
            for slice in positions(slice_shape) {
                match &indices_slice {
                    Some(tuple) => output.push(data.element_of(&[tuple, &*slice])),
                    None => output.push_zero(),
                }
            }
        }
    }
    finished(output)
}

/// The entry of this operator in the list of its ecosystem.
pub(crate) const OPERATOR: Implemented = Implemented {
    name: "onnx.GatherND-11",
    params_dtypes: &DTYPES_BEFORE_13,
    index_dtypes: &INDICES_DTYPES,
    answer,
};

/// Answers a call of this operator.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [data, indices] = operands(call, ["data", "indices"])?;
    only(call, &[])?;
    gather_nd(data, indices, settings)
}
