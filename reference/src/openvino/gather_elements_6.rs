//! `openvino.GatherElements-6`, after the equations of its page.

use gather_spec::{Call, DType, GatherError, Refusal, Tensor};

use super::dtypes::DATA_DTYPES;
use crate::checks::{
    axis_within, index_at, index_dtype, integer, is_refused, only, operands, params_dtype, resolve,
};
use crate::output::{finished, output};
use crate::{Implemented, Settings};

/// The dtypes of indices that the page lists.
pub const INDICES_DTYPES: [DType; 2] = [DType::I32, DType::I64];

/// Takes the element of `data` at the position of each index, with the coordinate of `axis` replaced by the index.
///
/// output shape = `indices.shape`; for `r = 3`, `out[i][j][k] = data[i][indices[i][j][k]][k] if axis = 1`.
///
/// # Errors
/// `params-dtype`, `index-dtype`, `axis-required`, `params-rank`, `rank-mismatch`, `axis-out-of-range`, `join-mismatch`,
/// `output-too-large`, `index-out-of-range`, in this order.
pub fn gather_elements(
    data: &Tensor,
    indices: &Tensor,
    axis: Option<i64>,
    settings: Settings,
) -> Result<Tensor, Refusal> {
    // openvino.GatherElements-6.dtype.data, openvino.GatherElements-6.dtype.indices
    params_dtype(data, &DATA_DTYPES)?;
    index_dtype(indices, &INDICES_DTYPES)?;

    // openvino.GatherElements-6.axis.required
    let axis = axis.ok_or(GatherError::AxisRequired)?;
    // openvino.GatherElements-6.rank.at-least-one
    let r = data.rank();
    if r == 0 {
        return Err(GatherError::ParamsRank { rank: 0, least: 1 }.into());
    }
    // openvino.GatherElements-6.rank.equal
    if indices.rank() != r {
        return Err(GatherError::RankMismatch { params: r, indices: indices.rank() }.into());
    }
    // openvino.GatherElements-6.axis.within-rank, openvino.GatherElements-6.axis.negative
    let axis = axis_within(axis, r)?;
    same_shape_except_for(axis, data, indices)?;
    // openvino.GatherElements-6.shape.of-indices, openvino.GatherElements-6.output.size-limit
    let s = data.shape()[axis];
    let mut out = output(data.dtype(), indices.shape().to_vec(), settings)?;

    // openvino.GatherElements-6.index.in-range, openvino.GatherElements-6.index.negative,
    // openvino.GatherElements-6.index.own-axis, openvino.GatherElements-6.index.full-width,
    // openvino.GatherElements-6.index.first-offender
    for position in indices.shape().positions() {
        let index = index_at(indices, &position);
        if is_refused(index, s, settings.profile) {
            let position = position.to_vec();
            return Err(GatherError::IndexOutOfRange { position, component: None, index, bound: s }.into());
        }
    }

    // openvino.GatherElements-6.value.formula
    for mut position in indices.shape().positions() {
        match resolve(index_at(indices, &position), s, settings.profile) {
            Some(index) => {
                position[axis] = index;
                out.push(data.element(&position));
            }
            None => out.push_zero(),
        }
    }
    finished(out)
}

/// openvino.GatherElements-6.join.equal, openvino.GatherElements-6.join.no-broadcast, openvino.GatherElements-6.empty-index.checked:
/// `indices` has the same shape as `data` except for the `axis` dimension.
fn same_shape_except_for(axis: usize, data: &Tensor, indices: &Tensor) -> Result<(), GatherError> {
    match (0..data.rank()).find(|dim| *dim != axis && indices.shape()[*dim] != data.shape()[*dim]) {
        None => Ok(()),
        Some(dim) => {
            let (params, indices) = (data.shape().clone(), indices.shape().clone());
            Err(GatherError::JoinMismatch { params, indices, dim })
        }
    }
}

/// The entry of this operator in the list of its ecosystem.
pub(crate) const OPERATOR: Implemented = Implemented {
    name: "openvino.GatherElements-6",
    params_dtypes: &DATA_DTYPES,
    index_dtypes: &INDICES_DTYPES,
    answer,
};

/// Answers a call of this operator.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [data, indices] = operands(call, ["data", "indices"])?;
    only(call, &["axis"])?;
    gather_elements(data, indices, integer(call, "axis")?, settings)
}
