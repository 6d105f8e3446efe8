//! `onnx.Gather-13`, after the equations of its entry in the changelog of the operator set.

use gather_spec::shape::positions;
use gather_spec::{Call, DType, GatherError, Refusal, Tensor};

use crate::checks::{
    axis_within, index_at, index_dtype, integer, is_refused, only, operands, params_dtype, resolve,
};
use crate::output::{finished, output};
use crate::{Implemented, Settings};

/// The dtypes of data that the page lists, which are all.
pub const DATA_DTYPES: [DType; 16] = DType::ALL;

/// The dtypes of indices that the page lists.
pub const INDICES_DTYPES: [DType; 2] = [DType::I32, DType::I64];

/// Gathers the slice of `data` along `axis` that each index selects.
///
/// output shape = `data.shape[:axis] + indices.shape + data.shape[axis+1:]`; for axis 1,
/// `output[j0, i0, ..., j1, ...] = data[j0, indices[i0, ...], j1, ...]`.
///
/// # Errors
/// `index-dtype`, `params-rank`, `axis-out-of-range`, `output-too-large`, `index-out-of-range`, in this order.
pub fn gather(data: &Tensor, indices: &Tensor, axis: i64, settings: Settings) -> Result<Tensor, Refusal> {
    // onnx.Gather-13.dtype.data, onnx.Gather-13.dtype.indices
    params_dtype(data, &DATA_DTYPES)?;
    index_dtype(indices, &INDICES_DTYPES)?;

    // onnx.Gather-13.rank.data-at-least-one
    let r = data.rank();
    if r == 0 {
        return Err(GatherError::ParamsRank { rank: 0, least: 1 }.into());
    }
    // onnx.Gather-13.axis.within-rank, onnx.Gather-13.axis.negative
    let axis = axis_within(axis, r)?;
    // onnx.Gather-13.shape.axis-replaced, onnx.Gather-13.output.size-limit
    let (before, s, after) = (&data.shape()[..axis], data.shape()[axis], &data.shape()[axis + 1..]);
    let shape = [before, indices.shape(), after].concat();
    let mut output = output(data.dtype(), shape.clone(), settings)?;

    // onnx.Gather-13.index.in-range, onnx.Gather-13.index.negative, onnx.Gather-13.index.own-axis,
    // onnx.Gather-13.index.full-width, onnx.Gather-13.index.empty-axis, onnx.Gather-13.index.checked-when-slice-empty,
    // onnx.Gather-13.index.first-offender
    for i in indices.shape().positions() {
        let k = index_at(indices, &i);
        if is_refused(k, s, settings.profile) {
            let position = i.to_vec();
            return Err(GatherError::IndexOutOfRange { position, component: None, index: k, bound: s }.into());
        }
    }

    // onnx.Gather-13.value.slices, onnx.Gather-13.value.at-index-position
    if shape.contains(&0) {
        return finished(output);
    }
    for j_before in positions(before) {
        for i in positions(indices.shape()) {
            let k = resolve(index_at(indices, &i), s, settings.profile);
            for j_after in positions(after) {
                match k {
                    Some(k) => output.push(data.element_of(&[&*j_before, &[k], &*j_after])),
                    None => output.push_zero(),
                }
            }
        }
    }
    finished(output)
}

/// The entry of this operator in the list of its ecosystem.
pub(crate) const OPERATOR: Implemented = Implemented {
    name: "onnx.Gather-13",
    params_dtypes: &DATA_DTYPES,
    index_dtypes: &INDICES_DTYPES,
    answer,
};

/// Answers a call of this operator.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [data, indices] = operands(call, ["data", "indices"])?;
    only(call, &["axis"])?;
    // onnx.Gather-13.axis.default
    let axis = integer(call, "axis")?.unwrap_or(0);
    gather(data, indices, axis, settings)
}
