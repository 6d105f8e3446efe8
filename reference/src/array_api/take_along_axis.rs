//! `take_along_axis` of the Array API standard, by the words of its page and of the broadcasting that it asks for.

use gather_spec::shape::positions;
use gather_spec::{Call, GatherError, Refusal, Tensor};

use super::dtypes::{INDICES_DTYPES, X_DTYPES};
use crate::checks::{
    axis_within, index_at, index_dtype, integer, is_refused, only, operands, params_dtype, resolve,
};
use crate::output::{finished, output};
use crate::{Implemented, Settings};

/// Returns elements from `x` at the one-dimensional `indices` along `axis`.
///
/// The output has as many axes as `x`: along `axis` the size of `indices`, off it those of both, broadcast.
///
/// # Errors
/// `params-dtype`, `index-dtype`, `rank-mismatch`, `axis-out-of-range`, `join-mismatch`, `output-too-large`,
/// `index-out-of-range`, in this order.
pub fn take_along_axis(
    x: &Tensor,
    indices: &Tensor,
    axis: i64,
    settings: Settings,
) -> Result<Tensor, Refusal> {
    // array_api.take_along_axis.dtype.x, array_api.take_along_axis.dtype.other-x, array_api.take_along_axis.dtype.indices
    params_dtype(x, &X_DTYPES)?;
    index_dtype(indices, &INDICES_DTYPES)?;
    // array_api.take_along_axis.rank.equal
    if x.rank() != indices.rank() {
        return Err(GatherError::RankMismatch { params: x.rank(), indices: indices.rank() }.into());
    }
    // array_api.take_along_axis.axis.within-rank, array_api.take_along_axis.axis.negative
    let axis = axis_within(axis, x.rank())?;
    // array_api.take_along_axis.shape.joined, array_api.take_along_axis.output.size-limit
    let shape = broadcast(x, indices, axis)?;
    let mut out = output(x.dtype(), shape.clone(), settings)?;

    // array_api.take_along_axis.index.out-of-bounds, array_api.take_along_axis.index.first-offender
    let size = x.shape()[axis];
    for position in indices.shape().positions() {
        let index = index_at(indices, &position);
        if is_refused(index, size, settings.profile) {
            let position = position.to_vec();
            return Err(GatherError::IndexOutOfRange { position, component: None, index, bound: size }.into());
        }
    }

    // array_api.take_along_axis.value.along-axis
    if !shape.contains(&0) {
        for position in positions(&shape) {
            let index = index_at(indices, &repeated(&position, indices));
            match resolve(index, size, settings.profile) {
                Some(element) => {
                    let mut from = repeated(&position, x);
                    from[axis] = element;
                    out.push(x.element(&from));
                }
                None => out.push_zero(),
            }
        }
    }
    finished(out)
}

/// array_api.take_along_axis.join.broadcast, array_api.take_along_axis.join.mismatch: the sizes off the axis, by the
/// algorithm of the standard's page on broadcasting.
fn broadcast(x: &Tensor, indices: &Tensor, axis: usize) -> Result<Vec<usize>, GatherError> {
    let mut shape = indices.shape().to_vec();
    for i in (0..x.rank()).filter(|i| *i != axis) {
        let (d1, d2) = (x.shape()[i], indices.shape()[i]);
        shape[i] = if d1 == 1 {
            d2
        } else if d2 == 1 || d1 == d2 {
            d1
        } else {
            let (params, indices) = (x.shape().clone(), indices.shape().clone());
            return Err(GatherError::JoinMismatch { params, indices, dim: i });
        };
    }
    Ok(shape)
}

/// The position in an operand for a position of the output. Sizes of 1 repeat.
fn repeated(position: &[usize], array: &Tensor) -> Vec<usize> {
    position.iter().zip(array.shape().iter()).map(|(at, size)| if *size == 1 { 0 } else { *at }).collect()
}

/// The entry of this operator in the list of its ecosystem.
pub(crate) const OPERATOR: Implemented = Implemented {
    name: "array_api.take_along_axis",
    params_dtypes: &X_DTYPES,
    index_dtypes: &INDICES_DTYPES,
    answer,
};

/// Answers a call of this operator.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [x, indices] = operands(call, ["x", "indices"])?;
    only(call, &["axis"])?;
    // array_api.take_along_axis.axis.default
    let axis = integer(call, "axis")?.unwrap_or(-1);
    take_along_axis(x, indices, axis, settings)
}
