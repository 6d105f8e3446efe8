//! `numpy.take`, after the loops of its page.

use gather_spec::shape::positions;
use gather_spec::{Call, DType, GatherError, Refusal, Tensor};

use super::dtypes::INDICES_DTYPES;
use crate::checks::{
    axis_within, flattened, index_at, index_dtype, integer_or_null, only, operands, params_dtype, string,
};
use crate::output::{finished, output};
use crate::{Implemented, Settings};

/// All dtypes, since the page lists none (errata `params-dtypes-unlisted`).
pub const A_DTYPES: [DType; 16] = DType::ALL;

/// How out-of-bounds indices behave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// They are an error. A negative index counts from the end.
    #[default]
    Raise,
    /// They wrap around.
    Wrap,
    /// They are clipped to the range, and negative ones to 0.
    Clip,
}

impl Mode {
    /// The mode with this name.
    ///
    /// # Errors
    /// `mode-unknown`.
    pub fn named(name: &str) -> Result<Self, GatherError> {
        match name {
            "raise" => Ok(Self::Raise),
            "wrap" => Ok(Self::Wrap),
            "clip" => Ok(Self::Clip),
            _ => Err(GatherError::ModeUnknown { mode: name.to_owned() }),
        }
    }

    /// The coordinate that an index selects on an axis of size `m`; `None` if the index is an error.
    fn place(self, index: i128, m: usize) -> Option<usize> {
        let m = m as i128;
        let place = match self {
            // numpy.take.index.negative
            Self::Raise if index < 0 => index + m,
            Self::Raise => index,
            // numpy.take.index.wrap
            Self::Wrap => index.checked_rem_euclid(m)?,
            // numpy.take.index.clip
            Self::Clip => index.min(m - 1).max(0),
        };
        // numpy.take.index.empty-axis
        usize::try_from(place).ok().filter(|place| (*place as i128) < m)
    }
}

/// Takes elements of `a` along `axis`, or of the flattened `a`.
///
/// output shape = `Ni + Nj + Nk` with `Ni, Nk = a.shape[:axis], a.shape[axis+1:]` and `Nj = indices.shape`;
/// `out[ii + jj + kk] = a[ii + (indices[jj],) + kk]`.
///
/// # Errors
/// `index-dtype`, `axis-out-of-range`, `output-too-large`, `index-out-of-range`, in this order.
pub fn take(
    a: &Tensor,
    indices: &Tensor,
    axis: Option<i64>,
    mode: Mode,
    settings: Settings,
) -> Result<Tensor, Refusal> {
    // numpy.take.axis.default
    let flat;
    let (a, axis) = match axis {
        Some(axis) => (a, axis),
        None => {
            flat = flattened(a)?;
            (&flat, 0)
        }
    };
    // numpy.take.axis.within-rank, numpy.take.axis.negative
    let axis = axis_within(axis, a.rank())?;
    // numpy.take.shape.axis-replaced, numpy.take.output.size-limit
    let (n_i, m, n_k) = (&a.shape()[..axis], a.shape()[axis], &a.shape()[axis + 1..]);
    let n_j = indices.shape();
    let mut out = output(a.dtype(), [n_i, n_j, n_k].concat(), settings)?;

    // numpy.take.index.in-range, numpy.take.index.first-offender
    for position in n_j.positions() {
        let index = index_at(indices, &position);
        if mode.place(index, m).is_none() {
            let position = position.to_vec();
            return Err(GatherError::IndexOutOfRange { position, component: None, index, bound: m }.into());
        }
    }

    // numpy.take.value.loop
    if [n_i, n_j, n_k].concat().contains(&0) {
        return finished(out);
    }
    for ii in positions(n_i) {
        for jj in positions(n_j) {
            let place = mode.place(index_at(indices, &jj), m).expect("every index was looked at");
            for kk in positions(n_k) {
                out.push(a.element_of(&[&*ii, &[place], &*kk]));
            }
        }
    }
    finished(out)
}

/// The entry of this operator in the list of its ecosystem.
pub(crate) const OPERATOR: Implemented =
    Implemented { name: "numpy.take", params_dtypes: &A_DTYPES, index_dtypes: &INDICES_DTYPES, answer };

/// Answers a call of this operator. The call has the mode, so the profile in the settings is ignored.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [a, indices] = operands(call, ["a", "indices"])?;
    only(call, &["axis", "mode"])?;
    let axis = integer_or_null(call, "axis")?.flatten();
    let mode = string(call, "mode")?;
    // numpy.take.dtype.a, numpy.take.dtype.indices
    params_dtype(a, &A_DTYPES)?;
    index_dtype(indices, &INDICES_DTYPES)?;
    // numpy.take.mode.default, numpy.take.mode.listed
    let mode = mode.map_or(Ok(Mode::default()), Mode::named)?;
    take(a, indices, axis, mode, settings)
}
