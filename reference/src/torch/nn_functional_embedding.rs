//! `torch.nn.functional.embedding`, by the words of its page.

use gather_spec::{Call, DType, GatherError, Refusal, Tensor};

use crate::checks::{
    boolean, index_at, index_dtype, integer_or_null, is_refused, only, operands, params_dtype, resolve,
};
use crate::output::{finished, output};
use crate::{Implemented, Settings};

/// The dtypes of weight that the page lists: those of floating point.
pub const WEIGHT_DTYPES: [DType; 4] = [DType::F16, DType::BF16, DType::F32, DType::F64];

/// The dtype of input that the page lists, which calls it a `LongTensor`.
pub const INPUT_DTYPES: [DType; 1] = [DType::I64];

/// Looks up the rows of `weight`, the embedding matrix, that the indices in `input` name.
///
/// output shape = `(*, embedding_dim)`, where `*` is the shape of `input` and `(V, embedding_dim)` that of `weight`.
///
/// # Errors
/// `params-dtype`, `index-dtype`, `params-rank`, `output-too-large`, `index-out-of-range`, in this order.
pub fn embedding(input: &Tensor, weight: &Tensor, settings: Settings) -> Result<Tensor, Refusal> {
    // torch.nn.functional.embedding.dtype.weight, torch.nn.functional.embedding.dtype.other-weight
    params_dtype(weight, &WEIGHT_DTYPES)?;
    // torch.nn.functional.embedding.dtype.input, torch.nn.functional.embedding.dtype.int32-input
    index_dtype(input, &INPUT_DTYPES)?;

    // torch.nn.functional.embedding.rank.weight-two
    let [v, embedding_dim] = match weight.shape()[..] {
        [v, embedding_dim] => [v, embedding_dim],
        [] | [_] => return Err(GatherError::ParamsRank { rank: weight.rank(), least: 2 }.into()),
        _ => return Err(GatherError::ParamsRankTooHigh { rank: weight.rank(), most: 2 }.into()),
    };
    // torch.nn.functional.embedding.shape.rows-for-indices, torch.nn.functional.embedding.output.size-limit
    let shape = [&input.shape()[..], &[embedding_dim]].concat();
    let mut out = output(weight.dtype(), shape, settings)?;

    // torch.nn.functional.embedding.index.in-range, torch.nn.functional.embedding.index.negative,
    // torch.nn.functional.embedding.index.full-width, torch.nn.functional.embedding.index.no-rows,
    // torch.nn.functional.embedding.index.checked-when-row-empty, torch.nn.functional.embedding.index.first-offender
    for position in input.shape().positions() {
        let index = index_at(input, &position);
        if is_refused(index, v, settings.profile) {
            let position = position.to_vec();
            return Err(GatherError::IndexOutOfRange { position, component: None, index, bound: v }.into());
        }
    }

    // torch.nn.functional.embedding.value.rows
    for position in input.shape().positions() {
        let row = resolve(index_at(input, &position), v, settings.profile);
        for column in 0..embedding_dim {
            match row {
                Some(row) => out.push(weight.element(&[row, column])),
                None => out.push_zero(),
            }
        }
    }
    finished(out)
}

/// The entry of this operator in the list of its ecosystem.
pub(crate) const OPERATOR: Implemented = Implemented {
    name: "torch.nn.functional.embedding",
    params_dtypes: &WEIGHT_DTYPES,
    index_dtypes: &INPUT_DTYPES,
    answer,
};

/// Answers a call of this operator.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [input, weight] = operands(call, ["input", "weight"])?;
    only(call, &["padding_idx", "scale_grad_by_freq", "sparse"])?;
    // torch.nn.functional.embedding.padding-idx.ignored, torch.nn.functional.embedding.padding-idx.any-value
    integer_or_null(call, "padding_idx")?;
    // torch.nn.functional.embedding.gradient.ignored
    boolean(call, "scale_grad_by_freq")?;
    boolean(call, "sparse")?;
    embedding(input, weight, settings)
}
