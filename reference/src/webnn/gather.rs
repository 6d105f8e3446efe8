//! `webnn.gather`, after the steps of the method.

use gather_spec::shape::positions;
use gather_spec::{Call, GatherError, Refusal, Tensor};

use super::dimensions::{unsigned_axis, valid_dimensions};
use super::dtypes::{INDICES_DTYPES, INPUT_DTYPES};
use crate::checks::{index_at, index_dtype, integer, is_refused, only, operands, params_dtype, resolve};
use crate::output::{finished, output};
use crate::{Implemented, Settings};

/// Gathers values of `input` along `axis` according to `indices`.
///
/// output shape = `input.shape[:axis] + indices.shape + input.shape[axis+1:]`; for axis 1,
/// `output[i, j, ..., k, ...] = input[i, indices[j, ...], k, ...]`.
///
/// # Errors
/// `params-dtype`, `index-dtype`, `params-rank`, `empty-dim`, `axis-out-of-range`, `output-too-large`,
/// `index-out-of-range`, in this order.
pub fn gather(input: &Tensor, indices: &Tensor, axis: i64, settings: Settings) -> Result<Tensor, Refusal> {
    // webnn.gather.dtype.input, webnn.gather.dtype.indices
    params_dtype(input, &INPUT_DTYPES)?;
    index_dtype(indices, &INDICES_DTYPES)?;

    // webnn.gather.rank.input-at-least-one
    let input_rank = input.rank();
    if input_rank == 0 {
        return Err(GatherError::ParamsRank { rank: 0, least: 1 }.into());
    }
    // webnn.gather.shape.dimensions
    valid_dimensions(input, indices)?;
    // webnn.gather.axis.within-rank, webnn.gather.axis.not-negative
    let axis = unsigned_axis(axis, input_rank)?;
    // webnn.gather.shape.axis-replaced, webnn.gather.shape.scalar-index
    let (before, s, after) = (&input.shape()[..axis], input.shape()[axis], &input.shape()[axis + 1..]);
    let output_shape = [before, indices.shape(), after].concat();
    let mut output = output(input.dtype(), output_shape, settings)?;

    // webnn.gather.index.in-range, webnn.gather.index.own-axis, webnn.gather.index.negative,
    // webnn.gather.index.full-width, webnn.gather.index.first-offender
    for position in indices.shape().positions() {
        let index = index_at(indices, &position);
        if is_refused(index, s, settings.profile) {
            let position = position.to_vec();
            return Err(GatherError::IndexOutOfRange { position, component: None, index, bound: s }.into());
        }
    }

    // webnn.gather.value.slices, webnn.gather.value.at-index-position, webnn.gather.index.clamp
    for i in positions(before) {
        for j in positions(indices.shape()) {
            let index = resolve(index_at(indices, &j), s, settings.profile);
            for k in positions(after) {
                match index {
                    Some(index) => output.push(input.element_of(&[&*i, &[index], &*k])),
                    None => output.push_zero(),
                }
            }
        }
    }
    finished(output)
}

/// The entry of this operator in the list of its ecosystem.
pub(crate) const OPERATOR: Implemented =
    Implemented { name: "webnn.gather", params_dtypes: &INPUT_DTYPES, index_dtypes: &INDICES_DTYPES, answer };

/// Answers a call of this operator.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [input, indices] = operands(call, ["input", "indices"])?;
    only(call, &["axis"])?;
    // webnn.gather.axis.default
    let axis = integer(call, "axis")?.unwrap_or(0);
    gather(input, indices, axis, settings)
}
