//! `webnn.gatherElements`, after the steps and the examples of the method.

use gather_spec::{Call, GatherError, Refusal, Tensor};

use super::dimensions::{unsigned_axis, valid_dimensions};
use super::dtypes::{INDICES_DTYPES, INPUT_DTYPES};
use crate::checks::{index_at, index_dtype, integer, is_refused, only, operands, params_dtype, resolve};
use crate::output::{finished, output};
use crate::{Implemented, Settings};

/// Gathers the element of `input` at the position of each index, with the coordinate of `axis` replaced by the index.
///
/// output shape = `indices.shape`; for rank 2 and axis 0, `output[i, j] = input[indices[i, j], j]`.
///
/// # Errors
/// `params-dtype`, `index-dtype`, `params-rank`, `rank-mismatch`, `empty-dim`, `axis-out-of-range`, `join-mismatch`,
/// `output-too-large`, `index-out-of-range`, in this order.
pub fn gather_elements(
    input: &Tensor,
    indices: &Tensor,
    axis: i64,
    settings: Settings,
) -> Result<Tensor, Refusal> {
    // webnn.gatherElements.dtype.input, webnn.gatherElements.dtype.indices
    params_dtype(input, &INPUT_DTYPES)?;
    index_dtype(indices, &INDICES_DTYPES)?;

    // webnn.gatherElements.rank.at-least-one
    let rank = input.rank();
    if rank == 0 {
        return Err(GatherError::ParamsRank { rank: 0, least: 1 }.into());
    }
    // webnn.gatherElements.rank.equal
    if indices.rank() != rank {
        return Err(GatherError::RankMismatch { params: rank, indices: indices.rank() }.into());
    }
    // webnn.gatherElements.shape.dimensions
    valid_dimensions(input, indices)?;
    // webnn.gatherElements.axis.within-rank, webnn.gatherElements.axis.not-negative
    let axis = unsigned_axis(axis, rank)?;
    // webnn.gatherElements.join.equal, webnn.gatherElements.join.no-broadcast
    let mut indices_shape_expected = input.shape().to_vec();
    indices_shape_expected[axis] = indices.shape()[axis];
    let mut dims = indices.shape().iter().zip(&indices_shape_expected);
    if let Some(dim) = dims.position(|(size, expected)| size != expected) {
        let (params, indices) = (input.shape().clone(), indices.shape().clone());
        return Err(GatherError::JoinMismatch { params, indices, dim }.into());
    }
    // webnn.gatherElements.shape.of-indices
    let s = input.shape()[axis];
    let mut output = output(input.dtype(), indices.shape().to_vec(), settings)?;

    // webnn.gatherElements.index.in-range, webnn.gatherElements.index.own-axis,
    // webnn.gatherElements.index.negative, webnn.gatherElements.index.full-width,
    // webnn.gatherElements.index.first-offender
    for position in indices.shape().positions() {
        let index = index_at(indices, &position);
        if is_refused(index, s, settings.profile) {
            let position = position.to_vec();
            return Err(GatherError::IndexOutOfRange { position, component: None, index, bound: s }.into());
        }
    }

    // webnn.gatherElements.value.formula, webnn.gatherElements.index.clamp
    for mut position in indices.shape().positions() {
        match resolve(index_at(indices, &position), s, settings.profile) {
            Some(index) => {
                position[axis] = index;
                output.push(input.element(&position));
            }
            None => output.push_zero(),
        }
    }
    finished(output)
}

/// The entry of this operator in the list of its ecosystem.
pub(crate) const OPERATOR: Implemented = Implemented {
    name: "webnn.gatherElements",
    params_dtypes: &INPUT_DTYPES,
    index_dtypes: &INDICES_DTYPES,
    answer,
};

/// Answers a call of this operator.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [input, indices] = operands(call, ["input", "indices"])?;
    only(call, &["axis"])?;
    // webnn.gatherElements.axis.default
    let axis = integer(call, "axis")?.unwrap_or(0);
    gather_elements(input, indices, axis, settings)
}
