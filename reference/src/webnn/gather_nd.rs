//! `webnn.gatherND`, after the steps of the method.

use gather_spec::shape::positions;
use gather_spec::{Call, GatherError, Refusal, Tensor};

use super::dimensions::valid_dimensions;
use super::dtypes::{INDICES_DTYPES, INPUT_DTYPES};
use crate::checks::{index_at, index_dtype, index_of, is_refused, only, operands, params_dtype, resolve};
use crate::output::{finished, output};
use crate::{Implemented, Settings};

/// Gathers the elements or slices of `input` whose coordinates lie along the last axis of `indices`.
///
/// output shape = `indices.shape[:-1] + input.shape[indices.shape[-1]:]`; `output[i, *] = input[indices[i], *]`.
///
/// # Errors
/// `params-dtype`, `index-dtype`, `params-rank`, `indices-rank`, `empty-dim`, `index-depth`, `output-too-large`,
/// `index-out-of-range`, in this order.
pub fn gather_nd(input: &Tensor, indices: &Tensor, settings: Settings) -> Result<Tensor, Refusal> {
    // webnn.gatherND.dtype.input, webnn.gatherND.dtype.indices
    params_dtype(input, &INPUT_DTYPES)?;
    index_dtype(indices, &INDICES_DTYPES)?;

    // webnn.gatherND.rank.input-at-least-one
    let input_rank = input.rank();
    if input_rank == 0 {
        return Err(GatherError::ParamsRank { rank: 0, least: 1 }.into());
    }
    // webnn.gatherND.rank.indices
    let Some((&coordinate_size, indexable)) = indices.shape().split_last() else {
        return Err(GatherError::IndicesRank { rank: 0, least: 1 }.into());
    };
    // webnn.gatherND.shape.dimensions, webnn.gatherND.coordinates.at-least-one
    valid_dimensions(input, indices)?;
    // webnn.gatherND.coordinates.at-most-rank
    if coordinate_size > input_rank {
        return Err(
            GatherError::IndexDepth { batch_dims: 0, depth: coordinate_size, rank: input_rank }.into()
        );
    }
    // webnn.gatherND.shape.formula
    let (addressed, slice) = input.shape().split_at(coordinate_size);
    let mut output = output(input.dtype(), [indexable, slice].concat(), settings)?;

    // webnn.gatherND.index.in-range, webnn.gatherND.index.own-axis, webnn.gatherND.index.negative,
    // webnn.gatherND.index.full-width, webnn.gatherND.index.first-offender
    for position in indices.shape().positions() {
        let (component, coordinate) = position.split_last().expect("indices has an axis");
        let (index, bound) = (index_at(indices, &position), addressed[*component]);
        if is_refused(index, bound, settings.profile) {
            let (position, component) = (coordinate.to_vec(), Some(*component));
            return Err(GatherError::IndexOutOfRange { position, component, index, bound }.into());
        }
    }

    // webnn.gatherND.value.elements, webnn.gatherND.value.slices, webnn.gatherND.value.location,
    // webnn.gatherND.index.clamp
    for i in positions(indexable) {
        let component = |at: usize| index_of(indices, &[&*i, &[at]]);
        let coordinate: Option<Vec<usize>> =
            (0..coordinate_size).map(|at| resolve(component(at), addressed[at], settings.profile)).collect();
        for rest in positions(slice) {
            match &coordinate {
                Some(coordinate) => output.push(input.element_of(&[coordinate, &*rest])),
                None => output.push_zero(),
            }
        }
    }
    finished(output)
}

/// The entry of this operator in the list of its ecosystem.
pub(crate) const OPERATOR: Implemented = Implemented {
    name: "webnn.gatherND",
    params_dtypes: &INPUT_DTYPES,
    index_dtypes: &INDICES_DTYPES,
    answer,
};

/// Answers a call of this operator.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [input, indices] = operands(call, ["input", "indices"])?;
    only(call, &[])?;
    gather_nd(input, indices, settings)
}
