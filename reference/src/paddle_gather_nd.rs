//! `paddle.gather_nd`, after the formulas of its page. The page calls the operands `input` and `index`.

use gather_spec::{Call, DType, Refusal, Tensor};

use crate::checks::{index_dtype, params_dtype};
use crate::tf_raw_ops_gather_nd::gather_by_last_axis;
use crate::{Settings, only};

/// The dtypes of input that the page lists.
pub const INPUT_DTYPES: [DType; 5] = [DType::I32, DType::I64, DType::F32, DType::F64, DType::Bool];

/// The dtypes of index that the page lists.
pub const INDEX_DTYPES: [DType; 2] = [DType::I32, DType::I64];

/// The page asks for an index of more than one dim (errata `paddle-index-rank`).
const LEAST_INDEX_RANK: usize = 2;

/// Gathers slices of `input` by the index vectors along the last axis of `index`.
///
/// output shape = `index.shape[:-1] + input.shape[index.shape[-1]:]`;
/// `output[i_0, …, i_{K-2}] = input[index[i_0, …, i_{K-2}]]`.
///
/// # Errors
/// `params-dtype`, `index-dtype`, `indices-rank`, `index-depth`, `output-too-large`,
/// `index-out-of-range`, in this order.
pub fn gather_nd(input: &Tensor, index: &Tensor, settings: Settings) -> Result<Tensor, Refusal> {
    // paddle.gather_nd.dtype.input, paddle.gather_nd.dtype.index
    params_dtype(input, &INPUT_DTYPES)?;
    index_dtype(index, &INDEX_DTYPES)?;
    gather_by_last_axis(input, index, LEAST_INDEX_RANK, settings)
}

/// Answers a call of this operator.
pub(crate) fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    only(call, &[])?;
    gather_nd(&call.params, &call.indices, settings)
}
