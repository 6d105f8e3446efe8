//! `take` of the Array API standard, by the words of its page.

use gather_spec::shape::positions;
use gather_spec::{Call, GatherError, Refusal, Tensor};

use super::dtypes::{INDICES_DTYPES, X_DTYPES};
use crate::checks::{
    axis_within, index_at, index_dtype, integer, is_refused, only, operands, params_dtype, resolve,
};
use crate::output::{finished, output};
use crate::{Implemented, Settings};

/// Returns elements of `x` along `axis`.
///
/// The output has the shape of `x`, except for `axis`, whose size is the number of elements in `indices`.
///
/// # Errors
/// `params-dtype`, `index-dtype`, `axis-required`, `params-rank`, `indices-rank`, `axis-out-of-range`, `output-too-large`,
/// `index-out-of-range`, in this order.
pub fn take(x: &Tensor, indices: &Tensor, axis: Option<i64>, settings: Settings) -> Result<Tensor, Refusal> {
    // array_api.take.dtype.x, array_api.take.dtype.other-x, array_api.take.dtype.indices
    params_dtype(x, &X_DTYPES)?;
    index_dtype(indices, &INDICES_DTYPES)?;
    let axis = match axis {
        Some(axis) => axis,
        // array_api.take.axis.required
        None if x.rank() > 1 => return Err(GatherError::AxisRequired.into()),
        // array_api.take.axis.only
        None => 0,
    };
    // array_api.take.rank.scalar-x, for which any result is allowed
    if x.rank() == 0 {
        return Err(GatherError::ParamsRank { rank: 0, least: 1 }.into());
    }
    // array_api.take.rank.indices-one
    match indices.rank() {
        0 => return Err(GatherError::IndicesRank { rank: 0, least: 1 }.into()),
        1 => {}
        rank => return Err(GatherError::IndicesRankTooHigh { rank, most: 1 }.into()),
    }
    // array_api.take.axis.within-rank, array_api.take.axis.negative
    let axis = axis_within(axis, x.rank())?;
    // array_api.take.shape.axis-replaced, array_api.take.output.size-limit
    let mut shape = x.shape().to_vec();
    shape[axis] = indices.shape()[0];
    let mut out = output(x.dtype(), shape.clone(), settings)?;

    // array_api.take.index.out-of-bounds, array_api.take.index.first-offender
    let size = x.shape()[axis];
    for position in indices.shape().positions() {
        let index = index_at(indices, &position);
        if is_refused(index, size, settings.profile) {
            let position = position.to_vec();
            return Err(GatherError::IndexOutOfRange { position, component: None, index, bound: size }.into());
        }
    }

    // array_api.take.value.along-axis
    if !shape.contains(&0) {
        for position in positions(&shape) {
            let index = index_at(indices, &[position[axis]]);
            match resolve(index, size, settings.profile) {
                Some(element) => {
                    let mut from = position;
                    from[axis] = element;
                    out.push(x.element(&from));
                }
                None => out.push_zero(),
            }
        }
    }
    finished(out)
}

/// The entry of this operator in the list of its ecosystem.
pub(crate) const OPERATOR: Implemented =
    Implemented { name: "array_api.take", params_dtypes: &X_DTYPES, index_dtypes: &INDICES_DTYPES, answer };

/// Answers a call of this operator.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [x, indices] = operands(call, ["x", "indices"])?;
    only(call, &["axis"])?;
    take(x, indices, integer(call, "axis")?, settings)
}
