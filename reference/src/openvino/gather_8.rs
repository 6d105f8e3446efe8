//! `openvino.Gather-8`, after the formula of its page.

use gather_spec::shape::positions;
use gather_spec::{Call, DType, GatherError, Refusal, Tensor};

use super::axis::{AXIS_DTYPES, axis_value};
use super::batch::within_both_ranks;
use super::dtypes::DATA_DTYPES;
use crate::checks::{
    INTEGERS, axis_within, equal_batch_shapes, index_at, index_dtype, index_of, integer, is_refused, only,
    operands, params_dtype, resolve,
};
use crate::output::{finished, output};
use crate::{Implemented, Settings};

/// Any supported integer type.
pub const INDICES_DTYPES: [DType; 8] = INTEGERS;

/// Takes slices of `data` along `axis`, one per index.
///
/// output shape = `data.shape[:axis] + indices.shape[b:] + data.shape[axis+1:]` with b = `batch_dims`;
/// `output[p.., i.., inner..] = data[p.., indices[p_0, ..., p_{b-1}, i..], inner..]`, where `p` are the dims before the axis. An
/// index out of range gives zeros.
///
/// # Errors
/// `params-dtype`, `index-dtype`, `operand-dtype`, `params-rank`, `operand-shape`, `batch-dims-out-of-range`,
/// `axis-out-of-range`, `axis-before-batch`, `batch-shape-mismatch`, `output-too-large`, in this order;
/// `index-out-of-range` under a policy that the page does not have.
pub fn gather(
    data: &Tensor,
    indices: &Tensor,
    axis: &Tensor,
    batch_dims: i64,
    settings: Settings,
) -> Result<Tensor, Refusal> {
    // openvino.Gather-8.dtype.data, openvino.Gather-8.dtype.indices, openvino.Gather-8.dtype.axis
    params_dtype(data, &DATA_DTYPES)?;
    index_dtype(indices, &INDICES_DTYPES)?;
    if !AXIS_DTYPES.contains(&axis.dtype()) {
        return Err(GatherError::OperandDtype { operand: "axis".to_owned(), dtype: axis.dtype() }.into());
    }

    // openvino.Gather-8.rank.data-at-least-one
    if data.rank() == 0 {
        return Err(GatherError::ParamsRank { rank: 0, least: 1 }.into());
    }
    // openvino.Gather-8.rank.axis, openvino.Gather-8.axis.full-width
    let axis = axis_value(axis)?;
    // openvino.Gather-8.batch.within-both-ranks, openvino.Gather-8.batch.negative
    let b = within_both_ranks(batch_dims, data.rank(), indices.rank())?;
    // openvino.Gather-8.axis.within-rank, openvino.Gather-8.axis.negative
    let axis = axis_within(axis, data.rank())?;
    // openvino.Gather-8.axis.not-before-batch, openvino.Gather-8.axis.compared-after-normalising
    if axis < b {
        return Err(GatherError::AxisBeforeBatch { axis, batch_dims: b }.into());
    }
    // openvino.Gather-8.batch.shapes-equal
    equal_batch_shapes(data, indices, b)?;
    // openvino.Gather-8.shape.batched, openvino.Gather-8.output.size-limit
    let (p_shape, s) = (&data.shape()[..axis], data.shape()[axis]);
    let (i_shape, inner_shape) = (&indices.shape()[b..], &data.shape()[axis + 1..]);
    let output_shape = [p_shape, i_shape, inner_shape].concat();
    let mut out = output(data.dtype(), output_shape.clone(), settings)?;

    // openvino.Gather-8.index.in-range, openvino.Gather-8.index.negative, openvino.Gather-8.index.own-axis,
    // openvino.Gather-8.index.full-width, openvino.Gather-8.index.empty-axis: an error only for a backend that departs from the page.
    for position in indices.shape().positions() {
        let index = index_at(indices, &position);
        if is_refused(index, s, settings.profile) {
            let position = position.to_vec();
            return Err(GatherError::IndexOutOfRange { position, component: None, index, bound: s }.into());
        }
    }

    // openvino.Gather-8.value.formula, openvino.Gather-8.value.batched, openvino.Gather-8.index.zero-slice
    if output_shape.contains(&0) {
        return finished(out);
    }
    for p in positions(p_shape) {
        for i in positions(i_shape) {
            let index = resolve(index_of(indices, &[&p[..b], &*i]), s, settings.profile);
            for inner in positions(inner_shape) {
                match index {
                    Some(index) => out.push(data.element_of(&[&*p, &[index], &*inner])),
                    None => out.push_zero(),
                }
            }
        }
    }
    finished(out)
}

/// The entry of this operator in the list of its ecosystem.
pub(crate) const OPERATOR: Implemented = Implemented {
    name: "openvino.Gather-8",
    params_dtypes: &DATA_DTYPES,
    index_dtypes: &INDICES_DTYPES,
    answer,
};

/// Answers a call of this operator.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [data, indices, axis] = operands(call, ["data", "indices", "axis"])?;
    only(call, &["batch_dims"])?;
    // openvino.Gather-8.batch.default
    let batch_dims = integer(call, "batch_dims")?.unwrap_or(0);
    gather(data, indices, axis, batch_dims, settings)
}
