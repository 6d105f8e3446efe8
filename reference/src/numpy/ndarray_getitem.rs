//! `numpy.ndarray.__getitem__`, by the words of the page on indexing.

use gather_spec::shape::positions;
use gather_spec::{Call, DType, GatherError, Refusal, Tensor};

use super::dtypes::INDICES_DTYPES;
use crate::checks::{index_at, index_dtype, is_refused, only, operands, params_dtype, resolve};
use crate::output::{finished, output};
use crate::{Implemented, Settings};

/// All dtypes, since the page lists none (errata `params-dtypes-unlisted`).
pub const X_DTYPES: [DType; 16] = DType::ALL;

/// `x[obj]`: each value of `obj`, an integer array, selects one row from `x`, the array being indexed.
///
/// output shape = the shape of the index array, and then that of the unused dimensions: `obj.shape + x.shape[1:]`.
///
/// # Errors
/// `params-dtype`, `index-dtype`, `params-rank`, `output-too-large`, `index-out-of-range`, in this order.
pub fn getitem(x: &Tensor, obj: &Tensor, settings: Settings) -> Result<Tensor, Refusal> {
    // numpy.ndarray.__getitem__.dtype.x
    params_dtype(x, &X_DTYPES)?;
    // numpy.ndarray.__getitem__.dtype.obj
    index_dtype(obj, &INDICES_DTYPES)?;

    // numpy.ndarray.__getitem__.rank.x-at-least-one
    let [d, unused @ ..] = &x.shape()[..] else {
        return Err(GatherError::ParamsRank { rank: 0, least: 1 }.into());
    };
    // numpy.ndarray.__getitem__.shape.first-axis-replaced, numpy.ndarray.__getitem__.shape.scalar-index,
    // numpy.ndarray.__getitem__.output.size-limit
    let shape = [&obj.shape()[..], unused].concat();
    let mut out = output(x.dtype(), shape, settings)?;

    // numpy.ndarray.__getitem__.index.in-range, numpy.ndarray.__getitem__.index.negative,
    // numpy.ndarray.__getitem__.index.own-axis, numpy.ndarray.__getitem__.index.full-width,
    // numpy.ndarray.__getitem__.index.empty-axis, numpy.ndarray.__getitem__.index.checked-when-slice-empty,
    // numpy.ndarray.__getitem__.index.first-offender
    for position in obj.shape().positions() {
        let index = index_at(obj, &position);
        if is_refused(index, *d, settings.profile) {
            let position = position.to_vec();
            return Err(GatherError::IndexOutOfRange { position, component: None, index, bound: *d }.into());
        }
    }

    // numpy.ndarray.__getitem__.value.slices
    for position in obj.shape().positions() {
        let row = resolve(index_at(obj, &position), *d, settings.profile);
        for at in positions(unused) {
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
    name: "numpy.ndarray.__getitem__",
    params_dtypes: &X_DTYPES,
    index_dtypes: &INDICES_DTYPES,
    answer,
};

/// Answers a call of this operator.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [x, obj] = operands(call, ["x", "obj"])?;
    only(call, &[])?;
    getitem(x, obj, settings)
}
