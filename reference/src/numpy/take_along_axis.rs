//! `numpy.take_along_axis`, after the loops of its page, with the broadcasting that its Parameters ask for.

use gather_spec::shape::positions;
use gather_spec::{Call, DType, GatherError, Refusal, Tensor};

use super::dtypes::INDICES_DTYPES;
use crate::checks::{
    axis_within, flattened, index_at, index_dtype, integer_or_null, is_refused, only, operands, params_dtype,
    resolve,
};
use crate::output::{finished, output};
use crate::{Implemented, Settings};

/// All dtypes, since the page lists none (errata `params-dtypes-unlisted`).
pub const ARR_DTYPES: [DType; 16] = DType::ALL;

/// Takes values of `arr` by matching slices of one dim, along `axis`, or of the flattened `arr`.
///
/// output shape = `Ni + (J,) + Nk`, `Ni` and `Nk` broadcast between `arr` and `indices`; at a position, the element of
/// `arr` there with the coordinate of the axis replaced by the index there.
///
/// # Errors
/// `index-dtype`, `rank-mismatch`, `axis-out-of-range`, `join-mismatch`, `output-too-large`, `index-out-of-range`, in
/// this order.
pub fn take_along_axis(
    arr: &Tensor,
    indices: &Tensor,
    axis: Option<i64>,
    settings: Settings,
) -> Result<Tensor, Refusal> {
    // numpy.take_along_axis.dtype.arr, numpy.take_along_axis.dtype.indices
    params_dtype(arr, &ARR_DTYPES)?;
    index_dtype(indices, &INDICES_DTYPES)?;
    // numpy.take_along_axis.axis.none
    let flat;
    let (arr, axis) = match axis {
        Some(axis) => (arr, axis),
        None => {
            flat = flattened(arr)?;
            (&flat, 0)
        }
    };
    // numpy.take_along_axis.rank.equal
    if arr.rank() != indices.rank() {
        return Err(GatherError::RankMismatch { params: arr.rank(), indices: indices.rank() }.into());
    }
    // numpy.take_along_axis.axis.within-rank, numpy.take_along_axis.axis.negative
    let axis = axis_within(axis, arr.rank())?;
    let shape = broadcast(arr, indices, axis)?;
    // numpy.take_along_axis.output.size-limit
    let mut out = output(arr.dtype(), shape.clone(), settings)?;

    // numpy.take_along_axis.index.in-range, numpy.take_along_axis.index.first-offender
    let m = arr.shape()[axis];
    for position in indices.shape().positions() {
        let index = index_at(indices, &position);
        if is_refused(index, m, settings.profile) {
            let position = position.to_vec();
            return Err(GatherError::IndexOutOfRange { position, component: None, index, bound: m }.into());
        }
    }

    // numpy.take_along_axis.value.loop
    if !shape.contains(&0) {
        for position in positions(&shape) {
            let index = index_at(indices, &repeated(&position, indices));
            match resolve(index, m, settings.profile) {
                Some(place) => {
                    let mut from = repeated(&position, arr);
                    from[axis] = place;
                    out.push(arr.element(&from));
                }
                None => out.push_zero(),
            }
        }
    }
    finished(out)
}

/// numpy.take_along_axis.join.broadcast, numpy.take_along_axis.join.mismatch: off the axis both dims are equal, or one of them is 1 and repeats.
fn broadcast(arr: &Tensor, indices: &Tensor, axis: usize) -> Result<Vec<usize>, GatherError> {
    let dims = (0..arr.rank()).map(|dim| match (arr.shape()[dim], indices.shape()[dim]) {
        (_, j) if dim == axis => Ok(j),
        (n, 1) => Ok(n),
        (1, n) => Ok(n),
        (n, also) if n == also => Ok(n),
        _ => {
            let (params, indices) = (arr.shape().clone(), indices.shape().clone());
            Err(GatherError::JoinMismatch { params, indices, dim })
        }
    });
    dims.collect()
}

/// The position in an operand for a position of the output. Dims of 1 repeat.
fn repeated(position: &[usize], array: &Tensor) -> Vec<usize> {
    let pairs = position.iter().zip(array.shape().iter());
    pairs.map(|(at, dim)| if *dim == 1 { 0 } else { *at }).collect()
}

/// The entry of this operator in the list of its ecosystem.
pub(crate) const OPERATOR: Implemented = Implemented {
    name: "numpy.take_along_axis",
    params_dtypes: &ARR_DTYPES,
    index_dtypes: &INDICES_DTYPES,
    answer,
};

/// Answers a call of this operator.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [arr, indices] = operands(call, ["arr", "indices"])?;
    only(call, &["axis"])?;
    // numpy.take_along_axis.axis.default
    let axis = integer_or_null(call, "axis")?.unwrap_or(Some(-1));
    take_along_axis(arr, indices, axis, settings)
}
