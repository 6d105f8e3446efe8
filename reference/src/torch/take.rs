//! `torch.take`, by the words of its page.

use gather_spec::{Call, DType, GatherError, Refusal, Tensor};

use crate::checks::{
    ALL_BUT_STRINGS, flattened, index_at, index_dtype, is_refused, only, operands, params_dtype, resolve,
};
use crate::output::{finished, output};
use crate::{Implemented, Settings};

/// All dtypes of tensors, since the page lists none for input (errata `torch-input-dtypes`).
pub const INPUT_DTYPES: [DType; 15] = ALL_BUT_STRINGS;

/// The dtype of index that the page lists, which calls it a `LongTensor`.
pub const INDEX_DTYPES: [DType; 1] = [DType::I64];

/// Takes the elements of `input` at the given indices, as if `input` were viewed as a 1-D tensor.
///
/// The output has the shape of `index`.
///
/// # Errors
/// `params-dtype`, `index-dtype`, `output-too-large`, `index-out-of-range`, in this order.
pub fn take(input: &Tensor, index: &Tensor, settings: Settings) -> Result<Tensor, Refusal> {
    // torch.take.dtype.input, torch.take.dtype.index
    params_dtype(input, &INPUT_DTYPES)?;
    index_dtype(index, &INDEX_DTYPES)?;

    // torch.take.value.flattened
    let input = flattened(input)?;
    let bound = input.shape()[0];
    // torch.take.shape.of-index, torch.take.output.size-limit
    let mut out = output(input.dtype(), index.shape().to_vec(), settings)?;

    // torch.take.index.in-range, torch.take.index.negative, torch.take.index.full-width, torch.take.index.no-elements,
    // torch.take.index.first-offender
    for position in index.shape().positions() {
        let entry = index_at(index, &position);
        if is_refused(entry, bound, settings.profile) {
            let position = position.to_vec();
            return Err(
                GatherError::IndexOutOfRange { position, component: None, index: entry, bound }.into()
            );
        }
    }

    // torch.take.value.flattened
    for position in index.shape().positions() {
        match resolve(index_at(index, &position), bound, settings.profile) {
            Some(entry) => out.push(input.element(&[entry])),
            None => out.push_zero(),
        }
    }
    finished(out)
}

/// The entry of this operator in the list of its ecosystem.
pub(crate) const OPERATOR: Implemented =
    Implemented { name: "torch.take", params_dtypes: &INPUT_DTYPES, index_dtypes: &INDEX_DTYPES, answer };

/// Answers a call of this operator.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [input, index] = operands(call, ["input", "index"])?;
    only(call, &[])?;
    take(input, index, settings)
}
