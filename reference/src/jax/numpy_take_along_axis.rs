//! `jax.numpy.take_along_axis`, by the words and the examples of its page.

use gather_spec::shape::positions;
use gather_spec::{Call, Element, GatherError, Refusal, Tensor};

use super::array::{ARRAY_DTYPES, INDICES_DTYPES, in_bounds, invalid_value, normalize_index};
use crate::checks::{
    axis_within, element_or_null, flattened, index_at, index_dtype, integer_or_null, only, operands,
    params_dtype, string_or_null,
};
use crate::output::{finished, output};
use crate::{Implemented, Settings};

/// What an index out of bounds gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// An invalid value.
    #[default]
    Fill,
    /// The nearest valid value.
    Clip,
    /// Anything: there is none, by the caller's promise. Here it is an error.
    PromiseInBounds,
}

impl Mode {
    /// The mode with this name.
    ///
    /// # Errors
    /// `mode-unknown`.
    pub fn named(name: &str) -> Result<Self, GatherError> {
        match name {
            "fill" => Ok(Self::Fill),
            "clip" => Ok(Self::Clip),
            "promise_in_bounds" => Ok(Self::PromiseInBounds),
            _ => Err(GatherError::ModeUnknown { mode: name.to_owned() }),
        }
    }

    /// The coordinate that an index selects; `None` if it is out of bounds and cannot be clipped.
    fn place(self, index: i128, size: usize) -> Option<usize> {
        match self {
            // jax.numpy.take_along_axis.index.negative
            Self::Fill => in_bounds(normalize_index(index, size), size),
            // jax.numpy.take_along_axis.index.clip
            Self::Clip => in_bounds(normalize_index(index, size).min(size as i128 - 1).max(0), size),
            Self::PromiseInBounds => in_bounds(index, size),
        }
    }
}

/// Takes elements of `arr` at the positions of `indices`, with the coordinate of `axis` replaced by the index there.
///
/// The output has the dim of `indices` along the axis, and off it the dims of both, broadcast.
///
/// # Errors
/// `rank-mismatch`, `axis-out-of-range`, `join-mismatch`, `output-too-large`, `index-out-of-range`, in this order.
pub fn take_along_axis(
    arr: &Tensor,
    indices: &Tensor,
    axis: Option<i64>,
    mode: Mode,
    fill_value: Option<Element>,
    settings: Settings,
) -> Result<Tensor, Refusal> {
    // jax.numpy.take_along_axis.axis.none
    let flat;
    let (arr, axis) = match axis {
        Some(axis) => (arr, axis),
        None => {
            flat = flattened(arr)?;
            (&flat, 0)
        }
    };
    // jax.numpy.take_along_axis.rank.equal
    if arr.rank() != indices.rank() {
        return Err(GatherError::RankMismatch { params: arr.rank(), indices: indices.rank() }.into());
    }
    // jax.numpy.take_along_axis.axis.within-rank, jax.numpy.take_along_axis.axis.negative
    let axis = axis_within(axis, arr.rank())?;
    let shape = broadcast_shapes(arr, indices, axis)?;
    // jax.numpy.take_along_axis.output.size-limit
    let mut out = output(arr.dtype(), shape.clone(), settings)?;

    // jax.numpy.take_along_axis.index.empty-axis
    let size = arr.shape()[axis];
    for position in indices.shape().positions() {
        let index = index_at(indices, &position);
        if mode != Mode::Fill && mode.place(index, size).is_none() {
            let position = position.to_vec();
            return Err(GatherError::IndexOutOfRange { position, component: None, index, bound: size }.into());
        }
    }

    // jax.numpy.take_along_axis.fill-value.sent
    let fill_value = fill_value.unwrap_or_else(|| invalid_value(arr.dtype()));

    // jax.numpy.take_along_axis.value.loop, jax.numpy.take_along_axis.fill.inexact and its like
    if !shape.contains(&0) {
        for position in positions(&shape) {
            let mut from = repeated(&position, arr);
            match mode.place(index_at(indices, &repeated(&position, indices)), size) {
                Some(at) => {
                    from[axis] = at;
                    out.push(arr.element(&from));
                }
                None => out.push(fill_value.clone()),
            }
        }
    }
    finished(out)
}

/// jax.numpy.take_along_axis.join.broadcast, jax.numpy.take_along_axis.join.mismatch: off the axis both dims are equal, or
/// one of them is 1 and repeats.
fn broadcast_shapes(arr: &Tensor, indices: &Tensor, axis: usize) -> Result<Vec<usize>, GatherError> {
    let mut shape = indices.shape().to_vec();
    for dim in (0..arr.rank()).filter(|dim| *dim != axis) {
        shape[dim] = match (arr.shape()[dim], indices.shape()[dim]) {
            (other, 1) | (1, other) => other,
            (one, other) if one == other => one,
            _ => {
                let (params, indices) = (arr.shape().clone(), indices.shape().clone());
                return Err(GatherError::JoinMismatch { params, indices, dim });
            }
        };
    }
    Ok(shape)
}

/// The position in an operand for a position of the output. Dims of 1 repeat.
fn repeated(position: &[usize], array: &Tensor) -> Vec<usize> {
    position.iter().zip(array.shape().iter()).map(|(at, dim)| if *dim == 1 { 0 } else { *at }).collect()
}

/// The entry of this operator in the list of its ecosystem.
pub(crate) const OPERATOR: Implemented = Implemented {
    name: "jax.numpy.take_along_axis",
    params_dtypes: &ARRAY_DTYPES,
    index_dtypes: &INDICES_DTYPES,
    answer,
};

/// Answers a call of this operator. The call has the mode, so the profile in the settings is ignored.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [arr, indices] = operands(call, ["arr", "indices"])?;
    only(call, &["axis", "mode", "fill_value"])?;
    let fill_value = element_or_null(call, "fill_value", arr.dtype())?;
    // jax.numpy.take_along_axis.axis.default
    let (axis, mode) = (integer_or_null(call, "axis")?.unwrap_or(Some(-1)), string_or_null(call, "mode")?);
    // jax.numpy.take_along_axis.dtype.arr, jax.numpy.take_along_axis.dtype.indices
    params_dtype(arr, &ARRAY_DTYPES)?;
    index_dtype(indices, &INDICES_DTYPES)?;
    // jax.numpy.take_along_axis.mode.default, jax.numpy.take_along_axis.mode.listed
    let mode = mode.map_or(Ok(Mode::default()), Mode::named)?;
    take_along_axis(arr, indices, axis, mode, fill_value, settings)
}
