//! `torch.gather`, after the equations of its page.

use gather_spec::{Call, DType, GatherError, Refusal, Tensor};

use crate::checks::{
    ALL_BUT_STRINGS, axis_within, boolean, index_at, index_dtype, integer, is_refused, only, operands,
    params_dtype, resolve,
};
use crate::output::{finished, output};
use crate::{Implemented, Settings};

/// All dtypes of tensors, since the page lists none for input (errata `torch-input-dtypes`).
pub const INPUT_DTYPES: [DType; 15] = ALL_BUT_STRINGS;

/// The dtype of index that the page lists, which calls it a `LongTensor`.
pub const INDEX_DTYPES: [DType; 1] = [DType::I64];

/// Gathers the element of `input` at the position of each index, with the coordinate of `dim` replaced by the index.
///
/// output shape = `index.shape`; for three dims, `out[i][j][k] = input[i][index[i][j][k]][k]  # if dim == 1`. An index
/// without elements is not compared with `input`.
///
/// # Errors
/// `params-dtype`, `index-dtype`, `axis-required`, `params-rank`, `rank-mismatch`, `axis-out-of-range`, `join-mismatch`,
/// `output-too-large`, `index-out-of-range`, in this order.
pub fn gather(
    input: &Tensor,
    dim: Option<i64>,
    index: &Tensor,
    settings: Settings,
) -> Result<Tensor, Refusal> {
    // torch.gather.dtype.input, torch.gather.dtype.index
    params_dtype(input, &INPUT_DTYPES)?;
    index_dtype(index, &INDEX_DTYPES)?;

    // torch.gather.axis.required
    let dim = dim.ok_or(GatherError::AxisRequired)?;
    // torch.gather.rank.at-least-one
    if input.rank() == 0 {
        return Err(GatherError::ParamsRank { rank: 0, least: 1 }.into());
    }
    // torch.gather.empty-index.unchecked, torch.gather.rank.equal
    let is_empty = index.shape().contains(&0);
    if !is_empty && index.rank() != input.rank() {
        return Err(GatherError::RankMismatch { params: input.rank(), indices: index.rank() }.into());
    }
    // torch.gather.axis.within-rank, torch.gather.axis.negative
    let dim = axis_within(dim, input.rank())?;
    // torch.gather.empty-index.unchecked
    if !is_empty {
        not_larger(input, index, dim)?;
    }
    // torch.gather.shape.of-indices, torch.gather.output.size-limit
    let bound = input.shape()[dim];
    let mut out = output(input.dtype(), index.shape().to_vec(), settings)?;

    // torch.gather.index.in-range, torch.gather.index.first-offender
    for position in index.shape().positions() {
        let index = index_at(index, &position);
        if is_refused(index, bound, settings.profile) {
            let position = position.to_vec();
            return Err(GatherError::IndexOutOfRange { position, component: None, index, bound }.into());
        }
    }

    // torch.gather.value.formula
    for mut position in index.shape().positions() {
        match resolve(index_at(index, &position), bound, settings.profile) {
            Some(at) => {
                position[dim] = at;
                out.push(input.element(&position));
            }
            None => out.push_zero(),
        }
    }
    finished(out)
}

/// torch.gather.join.larger: `index.size(d) <= input.size(d)` for all dims `d != dim`.
fn not_larger(input: &Tensor, index: &Tensor, dim: usize) -> Result<(), GatherError> {
    match (0..input.rank()).find(|d| *d != dim && index.shape()[*d] > input.shape()[*d]) {
        None => Ok(()),
        Some(dim) => {
            let (params, indices) = (input.shape().clone(), index.shape().clone());
            Err(GatherError::JoinMismatch { params, indices, dim })
        }
    }
}

/// The entry of this operator in the list of its ecosystem.
pub(crate) const OPERATOR: Implemented =
    Implemented { name: "torch.gather", params_dtypes: &INPUT_DTYPES, index_dtypes: &INDEX_DTYPES, answer };

/// Answers a call of this operator.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [input, index] = operands(call, ["input", "index"])?;
    only(call, &["dim", "sparse_grad"])?;
    // torch.gather.sparse-grad.ignored
    boolean(call, "sparse_grad")?;
    let dim = integer(call, "dim")?;
    gather(input, dim, index, settings)
}
