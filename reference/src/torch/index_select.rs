//! `torch.index_select`, by the words of its page.

use gather_spec::shape::positions;
use gather_spec::{Call, DType, GatherError, Refusal, Tensor};

use crate::checks::{
    ALL_BUT_STRINGS, axis_within, index_at, index_dtype, integer, is_refused, only, operands, params_dtype,
    resolve,
};
use crate::output::{finished, output};
use crate::{Implemented, Settings};

/// All dtypes of tensors, since the page lists none for input (errata `torch-input-dtypes`).
pub const INPUT_DTYPES: [DType; 15] = ALL_BUT_STRINGS;

/// The dtypes of index that the page lists, which calls it an `IntTensor` or a `LongTensor`.
pub const INDEX_DTYPES: [DType; 2] = [DType::I32, DType::I64];

/// Indexes `input` along the dimension `dim` with the entries of `index`.
///
/// The output has as many dimensions as `input`. Its dimension `dim` has the size of `index`; the others have those of
/// `input`.
///
/// # Errors
/// `params-dtype`, `index-dtype`, `axis-required`, `params-rank`, `indices-rank`, `axis-out-of-range`, `output-too-large`,
/// `index-out-of-range`, in this order.
pub fn index_select(
    input: &Tensor,
    dim: Option<i64>,
    index: &Tensor,
    settings: Settings,
) -> Result<Tensor, Refusal> {
    // torch.index_select.dtype.input, torch.index_select.dtype.index
    params_dtype(input, &INPUT_DTYPES)?;
    index_dtype(index, &INDEX_DTYPES)?;

    // torch.index_select.axis.required
    let dim = dim.ok_or(GatherError::AxisRequired)?;
    // torch.index_select.rank.input-at-least-one
    if input.rank() == 0 {
        return Err(GatherError::ParamsRank { rank: 0, least: 1 }.into());
    }
    // torch.index_select.rank.index-one
    match index.rank() {
        0 => return Err(GatherError::IndicesRank { rank: 0, least: 1 }.into()),
        1 => {}
        rank => return Err(GatherError::IndicesRankTooHigh { rank, most: 1 }.into()),
    }
    // torch.index_select.axis.within-rank, torch.index_select.axis.negative
    let dim = axis_within(dim, input.rank())?;
    // torch.index_select.shape.axis-replaced, torch.index_select.output.size-limit
    let mut shape = input.shape().to_vec();
    shape[dim] = index.shape()[0];
    let mut out = output(input.dtype(), shape.clone(), settings)?;

    // torch.index_select.index.in-range, torch.index_select.index.negative, torch.index_select.index.own-axis,
    // torch.index_select.index.full-width, torch.index_select.index.empty-axis,
    // torch.index_select.index.checked-when-slice-empty, torch.index_select.index.first-offender
    let bound = input.shape()[dim];
    for position in index.shape().positions() {
        let entry = index_at(index, &position);
        if is_refused(entry, bound, settings.profile) {
            let position = position.to_vec();
            return Err(
                GatherError::IndexOutOfRange { position, component: None, index: entry, bound }.into()
            );
        }
    }

    // torch.index_select.value.along-dim
    if !shape.contains(&0) {
        for mut position in positions(&shape) {
            match resolve(index_at(index, &[position[dim]]), bound, settings.profile) {
                Some(entry) => {
                    position[dim] = entry;
                    out.push(input.element(&position));
                }
                None => out.push_zero(),
            }
        }
    }
    finished(out)
}

/// The entry of this operator in the list of its ecosystem.
pub(crate) const OPERATOR: Implemented = Implemented {
    name: "torch.index_select",
    params_dtypes: &INPUT_DTYPES,
    index_dtypes: &INDEX_DTYPES,
    answer,
};

/// Answers a call of this operator.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [input, index] = operands(call, ["input", "index"])?;
    only(call, &["dim"])?;
    let dim = integer(call, "dim")?;
    index_select(input, dim, index, settings)
}
