//! `jax.Array.__getitem__`, by the words of JAX's pages on out-of-bounds indexing and on `at`, and of NumPy's on indexing.

use gather_spec::shape::positions;
use gather_spec::{Call, GatherError, Refusal, Tensor};

use super::array::{ARRAY_DTYPES, INDICES_DTYPES};
use crate::checks::{index_at, index_dtype, is_refused, only, operands, params_dtype, resolve};
use crate::output::{finished, output};
use crate::{Implemented, Settings};

/// `x[idx]`: the slices of `x` along its first axis that the integers of `idx` name.
///
/// output shape = `idx.shape + x.shape[1:]`. What an index out of bounds gives is the profile's; by the pages it is clamped
/// to the bounds of the array.
///
/// # Errors
/// `params-dtype`, `index-dtype`, `params-rank`, `output-too-large`, `index-out-of-range`, in this order.
pub fn getitem(x: &Tensor, idx: &Tensor, settings: Settings) -> Result<Tensor, Refusal> {
    // jax.Array.__getitem__.dtype.x
    params_dtype(x, &ARRAY_DTYPES)?;
    // jax.Array.__getitem__.dtype.idx
    index_dtype(idx, &INDICES_DTYPES)?;

    // jax.Array.__getitem__.rank.x-at-least-one
    let [size, inner @ ..] = &x.shape()[..] else {
        return Err(GatherError::ParamsRank { rank: 0, least: 1 }.into());
    };
    // jax.Array.__getitem__.shape.first-axis-replaced, jax.Array.__getitem__.shape.scalar-index,
    // jax.Array.__getitem__.output.size-limit
    let shape = [&idx.shape()[..], inner].concat();
    let mut out = output(x.dtype(), shape, settings)?;

    // jax.Array.__getitem__.index.in-range, jax.Array.__getitem__.index.negative, jax.Array.__getitem__.index.full-width,
    // jax.Array.__getitem__.index.empty-axis, jax.Array.__getitem__.index.when-slice-empty,
    // jax.Array.__getitem__.index.first-offender
    for position in idx.shape().positions() {
        let index = index_at(idx, &position);
        if is_refused(index, *size, settings.profile) {
            let position = position.to_vec();
            return Err(
                GatherError::IndexOutOfRange { position, component: None, index, bound: *size }.into()
            );
        }
    }

    // jax.Array.__getitem__.value.slices, jax.Array.__getitem__.index.clamp
    for position in idx.shape().positions() {
        let row = resolve(index_at(idx, &position), *size, settings.profile);
        for at in positions(inner) {
            match row {
                Some(row) => out.push(x.element_of(&[&[row], &*at])),
                None => out.push_zero(),
            }
        }
    }
    finished(out)
}

/// The entry of this operator in the list of its ecosystem.
pub(crate) const OPERATOR: Implemented = Implemented {
    name: "jax.Array.__getitem__",
    params_dtypes: &ARRAY_DTYPES,
    index_dtypes: &INDICES_DTYPES,
    answer,
};

/// Answers a call of this operator.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [x, idx] = operands(call, ["x", "idx"])?;
    only(call, &[])?;
    getitem(x, idx, settings)
}
