//! `onnx.GatherElements-13`, after the equations of its entry in the changelog of the operator set.

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

/// Gathers the element of `data` at the position of each index, with the coordinate of `axis` replaced by the index.
///
/// output shape = `indices.shape`; for rank 3 and axis 1, `out[i][j][k] = input[i][index[i][j][k]][k]`.
///
/// # Errors
/// `index-dtype`, `params-rank`, `rank-mismatch`, `axis-out-of-range`, `join-mismatch`, `output-too-large`,
/// `index-out-of-range`, in this order.
pub fn gather_elements(
    data: &Tensor,
    indices: &Tensor,
    axis: i64,
    settings: Settings,
) -> Result<Tensor, Refusal> {
    // onnx.GatherElements-13.dtype.data, onnx.GatherElements-13.dtype.indices
    params_dtype(data, &DATA_DTYPES)?;
    index_dtype(indices, &INDICES_DTYPES)?;

    // onnx.GatherElements-13.rank.at-least-one
    let r = data.rank();
    if r == 0 {
        return Err(GatherError::ParamsRank { rank: 0, least: 1 }.into());
    }
    // onnx.GatherElements-13.rank.equal
    if indices.rank() != r {
        return Err(GatherError::RankMismatch { params: r, indices: indices.rank() }.into());
    }
    // onnx.GatherElements-13.axis.within-rank, onnx.GatherElements-13.axis.negative
    let axis = axis_within(axis, r)?;
    equal_dims(data, indices, axis)?;
    // onnx.GatherElements-13.shape.of-indices, onnx.GatherElements-13.output.size-limit
    let s = data.shape()[axis];
    let mut output = output(data.dtype(), indices.shape().to_vec(), settings)?;

    // onnx.GatherElements-13.index.in-range, onnx.GatherElements-13.index.first-offender
    for position in indices.shape().positions() {
        let index = index_at(indices, &position);
        if is_refused(index, s, settings.profile) {
            let position = position.to_vec();
            return Err(GatherError::IndexOutOfRange { position, component: None, index, bound: s }.into());
        }
    }

    // onnx.GatherElements-13.value.formula
    for mut position in indices.shape().positions() {
        match resolve(index_at(indices, &position), s, settings.profile) {
            Some(index) => {
                position[axis] = index;
                output.push(data.element(&position));
            }
            None => output.push_zero(),
        }
    }
    finished(output)
}

/// onnx.GatherElements-13.join.smaller, onnx.GatherElements-13.join.larger: off the axis the dims are equal (errata
/// `elements-join-unsaid`).
fn equal_dims(data: &Tensor, indices: &Tensor, axis: usize) -> Result<(), GatherError> {
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
    name: "onnx.GatherElements-13",
    params_dtypes: &DATA_DTYPES,
    index_dtypes: &INDICES_DTYPES,
    answer,
};

/// Answers a call of this operator.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [data, indices] = operands(call, ["data", "indices"])?;
    only(call, &["axis"])?;
    // onnx.GatherElements-13.axis.default
    let axis = integer(call, "axis")?.unwrap_or(0);
    gather_elements(data, indices, axis, settings)
}
