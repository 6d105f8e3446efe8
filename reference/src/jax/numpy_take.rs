//! `jax.numpy.take`, by the words and the examples of its page.

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
    /// Invalid values; a negative one counts from the end.
    #[default]
    Fill,
    /// The nearest valid value, of a negative one the first.
    Clip,
    /// It wraps around.
    Wrap,
}

/// What an index selects.
enum SelectedSlice {
    At(usize),
    Invalid,
    /// Nothing: the axis is empty, so there is nothing to clip or wrap to.
    Nowhere,
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
            "wrap" => Ok(Self::Wrap),
            _ => Err(GatherError::ModeUnknown { mode: name.to_owned() }),
        }
    }

    fn selected(self, index: i128, size: usize) -> SelectedSlice {
        let nearest = |index: i128| in_bounds(index, size).map_or(SelectedSlice::Nowhere, SelectedSlice::At);
        match self {
            // jax.numpy.take.index.negative, jax.numpy.take.fill.inexact and its like
            Self::Fill => in_bounds(normalize_index(index, size), size)
                .map_or(SelectedSlice::Invalid, SelectedSlice::At),
            // jax.numpy.take.index.clip
            Self::Clip => nearest(index.min(size as i128 - 1).max(0)),
            // jax.numpy.take.index.wrap
            Self::Wrap => index.checked_rem_euclid(size as i128).map_or(SelectedSlice::Nowhere, nearest),
        }
    }
}

/// Takes elements of `a` along `axis`, or of the flattened `a`.
///
/// output shape = `a.shape[:axis] + indices.shape + a.shape[axis+1:]`; at each place of `indices`, the slice of `a` at the
/// index there.
///
/// # Errors
/// `axis-out-of-range`, `output-too-large`, `index-out-of-range`, in this order.
pub fn take(
    a: &Tensor,
    indices: &Tensor,
    axis: Option<i64>,
    mode: Mode,
    fill_value: Option<Element>,
    settings: Settings,
) -> Result<Tensor, Refusal> {
    // jax.numpy.take.axis.default
    let flat;
    let (a, axis) = match axis {
        Some(axis) => (a, axis),
        None => {
            flat = flattened(a)?;
            (&flat, 0)
        }
    };
    // jax.numpy.take.axis.within-rank, jax.numpy.take.axis.negative
    let axis = axis_within(axis, a.rank())?;
    // jax.numpy.take.shape.axis-replaced, jax.numpy.take.output.size-limit
    let (before, size, after) = (&a.shape()[..axis], a.shape()[axis], &a.shape()[axis + 1..]);
    let shape = [before, indices.shape(), after].concat();
    let mut out = output(a.dtype(), shape.clone(), settings)?;

    // jax.numpy.take.index.empty-axis
    for position in indices.shape().positions() {
        let index = index_at(indices, &position);
        if matches!(mode.selected(index, size), SelectedSlice::Nowhere) {
            let position = position.to_vec();
            return Err(GatherError::IndexOutOfRange { position, component: None, index, bound: size }.into());
        }
    }

    // jax.numpy.take.fill-value.sent
    let fill_value = fill_value.unwrap_or_else(|| invalid_value(a.dtype()));

    // jax.numpy.take.value.subarrays
    if !shape.contains(&0) {
        for i in positions(before) {
            for j in indices.shape().positions() {
                let slice = mode.selected(index_at(indices, &j), size);
                for k in positions(after) {
                    out.push(match slice {
                        SelectedSlice::At(at) => a.element_of(&[&*i, &[at], &*k]),
                        _ => fill_value.clone(),
                    });
                }
            }
        }
    }
    finished(out)
}

/// The entry of this operator in the list of its ecosystem.
pub(crate) const OPERATOR: Implemented = Implemented {
    name: "jax.numpy.take",
    params_dtypes: &ARRAY_DTYPES,
    index_dtypes: &INDICES_DTYPES,
    answer,
};

/// Answers a call of this operator. The call has the mode, so the profile in the settings is ignored.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [a, indices] = operands(call, ["a", "indices"])?;
    only(call, &["axis", "mode", "fill_value"])?;
    let fill_value = element_or_null(call, "fill_value", a.dtype())?;
    let (axis, mode) = (integer_or_null(call, "axis")?.flatten(), string_or_null(call, "mode")?);
    // jax.numpy.take.dtype.a, jax.numpy.take.dtype.indices
    params_dtype(a, &ARRAY_DTYPES)?;
    index_dtype(indices, &INDICES_DTYPES)?;
    // jax.numpy.take.mode.default, jax.numpy.take.mode.listed
    let mode = mode.map_or(Ok(Mode::default()), Mode::named)?;
    take(a, indices, axis, mode, fill_value, settings)
}
