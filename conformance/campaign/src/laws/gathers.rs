//! Drawn gathers, in parts, so that a law can exchange one of them.

use std::ops::Range;

use gather_spec::dtype::Kind;
use gather_spec::signature::{AttributeRole, Axis};
use gather_spec::{BadIndex, Call, DType, Form, NegativeIndex, Profile, Roles, Shape, Signature, Tensor};

use crate::generate::parts::ShapeRequirements;
use crate::generate::values::Values;
use crate::generate::{SizeClass, fills, paint, right};
use gather_conformance::internals::shapes::{CallRanks, default_of};

use super::instance::Instance;
use super::stop::Stop;
use super::tensors::{counts, integers};
use gather_conformance::internals::shapes::joined;

/// What a law needs of a drawn gather.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Needs {
    /// The range of the number of batch dims, for operators that have them. The law must ask for that role to set a least
    /// number of 1 or more.
    pub(super) batch: (usize, usize),
    /// The least number of index dims that are neither batch nor index vector.
    pub(super) outer: usize,
    /// Whether some indices may be bad, provided that a policy says what happens then.
    pub(super) bad: bool,
    /// Whether at least one index is needed. Then no dim is 0, and index rows have components.
    pub(super) some_index: bool,
}

impl Needs {
    /// Any valid call without a batch.
    pub(super) const PLAIN: Self = Self { batch: (0, 0), outer: 0, bad: false, some_index: false };
}

/// A call in parts.
#[derive(Clone, Debug)]
pub(super) struct Gather<'a> {
    pub(super) signature: &'a Signature,
    pub(super) params: Tensor,
    pub(super) indices: Tensor,
    /// The first gathered axis of params, for operators that let the call choose.
    pub(super) axis: usize,
    pub(super) batch: usize,
    /// The mode to send.
    pub(super) mode: Option<String>,
    /// The fill value to send.
    pub(super) fill_value: Option<Tensor>,
    pub(super) profile: Profile,
}

impl Gather<'_> {
    /// The call. Attributes equal to their defaults are omitted.
    pub(super) fn call(&self) -> Call {
        let sent = |role, value| (self.default_of(role) != Some(value)).then(|| signed(value));
        let batch_dims = sent(AttributeRole::BatchDims, self.batch);
        self.spell(sent(AttributeRole::Axis, self.first_axis()), batch_dims)
    }

    /// The call with exactly these attributes.
    pub(super) fn spell(&self, axis: Option<i64>, batch_dims: Option<i64>) -> Call {
        let roles = Roles::new(self.params.clone(), self.indices.clone());
        let (axis, mode, fill_value) = (axis.map(Axis::At), self.mode.clone(), self.fill_value.clone());
        self.signature.spell(Roles { axis, batch_dims, mode, fill_value, ..roles })
    }

    /// The default of an attribute in this call.
    fn default_of(&self, role: AttributeRole) -> Option<usize> {
        default_of(self.signature, role, self.ranks())
    }

    pub(super) fn ranks(&self) -> CallRanks {
        CallRanks { params: self.params.rank(), indices: self.indices.rank(), batch: self.batch }
    }

    /// The first gathered axis of params.
    pub(super) const fn first_axis(&self) -> usize {
        match self.signature.form {
            Form::Take | Form::Elements | Form::Window => self.axis,
            Form::Nd => self.batch,
        }
    }

    /// The number of axes of indices that hold the components of a row: 0 or 1.
    pub(super) const fn vector_axes(&self) -> usize {
        match self.signature.form {
            Form::Take | Form::Elements | Form::Window => 0,
            Form::Nd => 1,
        }
    }

    /// The dims of indices, given their outer dims and the number of components of a row.
    pub(super) fn index_dims(&self, outer: &[usize], depth: usize) -> Vec<usize> {
        match self.signature.form {
            Form::Take | Form::Elements | Form::Window => outer.to_vec(),
            Form::Nd => [outer, &[depth]].concat(),
        }
    }

    pub(super) fn with_indices(&self, indices: Tensor) -> Self {
        Self { indices, ..self.clone() }
    }

    pub(super) fn with_params(&self, params: Tensor) -> Self {
        Self { params, ..self.clone() }
    }

    /// The axes of indices whose size is free: neither batch nor components. In form elements, the gathered axis.
    pub(super) fn outer_axes(&self) -> Range<usize> {
        match self.signature.form {
            Form::Take | Form::Nd | Form::Window => self.batch..self.indices.rank() - self.vector_axes(),
            Form::Elements => self.axis..self.axis + 1,
        }
    }

    /// The axis of the output that corresponds to an outer axis of indices.
    pub(super) fn output_axis(&self, outer: usize) -> usize {
        match self.signature.form {
            Form::Take | Form::Nd | Form::Window => self.first_axis() + outer - self.batch,
            Form::Elements => outer,
        }
    }

    /// The gathered axes of params.
    pub(super) fn selected_axes(&self) -> Range<usize> {
        let depth = match self.signature.form {
            Form::Take | Form::Elements | Form::Window => 1,
            Form::Nd => self.indices.shape().last().copied().unwrap_or(0),
        };
        self.first_axis()..self.first_axis() + depth
    }

    /// The shape of the output, by the formulas of the documents.
    pub(super) fn output_shape(&self) -> Vec<usize> {
        let (params, indices, selected) = (self.params.shape(), self.indices.shape(), self.selected_axes());
        if self.signature.form == Form::Elements {
            return joined(self.signature, params, indices, self.axis).unwrap_or_default();
        }
        let outer = &indices[self.outer_axes()];
        [&params[..selected.start], outer, &params[selected.end..]].concat()
    }

    /// The size of the axis that the index at a position selects from.
    pub(super) fn bound(&self, position: &[usize]) -> usize {
        let component = match self.signature.form {
            Form::Take | Form::Elements | Form::Window => 0,
            Form::Nd => position.last().copied().unwrap_or(0),
        };
        self.params.shape()[self.selected_axes().start + component]
    }

    /// The coordinate that an index selects under the profile; `None` if the index is bad.
    pub(super) fn within(&self, index: i128, bound: usize) -> Option<usize> {
        if self.profile.bad == BadIndex::Modulo && bound > 0 {
            return usize::try_from(index.rem_euclid(bound as i128)).ok();
        }
        let wraps = self.profile.negative == NegativeIndex::Wrap && index < 0;
        let from_start = if wraps { index + bound as i128 } else { index };
        usize::try_from(from_start).ok().filter(|at| *at < bound)
    }

    /// The same call with every index replaced by a function of its value and its bound.
    pub(super) fn map_indices(&self, change: impl Fn(i128, usize) -> i128) -> Result<Self, Stop> {
        let value = |position: &[usize]| {
            let index = self.indices.integer(position).unwrap_or_default();
            change(index, self.bound(position))
        };
        let indices = integers(self.indices.dtype(), self.indices.shape(), value)?;
        Ok(self.with_indices(indices))
    }
}

impl<'a> Instance<'a> {
    /// Draws a gather of an operator and dtypes that the backend declares.
    pub(super) fn gather(&mut self, needs: Needs) -> Result<Gather<'a>, Stop> {
        let signature = self.operator()?;
        let (dtype, index_dtype) = self.dtypes(signature)?;
        let Needs { batch, outer, some_index, .. } = needs;
        let size = SizeClass::draw(self.choices, Some(self.edges_in()));
        let parts =
            right::parts(self.choices, signature, &ShapeRequirements { batch, outer, some_index, size });
        let (mode, profile) = self.policies(signature);
        let params = paint::params(dtype, Shape::new(parts.params)?)?;
        let indices = zeros(index_dtype, parts.indices)?;
        let fill_value = if needs.bad { self.fill_value(signature, dtype)? } else { None };
        let (axis, batch) = (parts.axis, parts.batch);
        let gather = Gather { signature, params, indices, axis, batch, mode, fill_value, profile };
        let bad = needs.bad && profile.bad != BadIndex::Unspecified && self.choices.once_in(3);
        self.with_drawn_indices(gather, bad)
    }

    /// Draws an operator that the law is about.
    pub(super) fn operator(&mut self) -> Result<&'a Signature, Stop> {
        let law = self.law;
        let concerned: Vec<&'a Signature> = self.declared().filter(|one| law.is_about(one)).collect();
        if concerned.is_empty() {
            return Err(Stop::Skip("skipped: the operator is not declared"));
        }
        Ok(self.choices.pick(&concerned))
    }

    /// Draws a mode to send, with its policies; for an operator without modes, returns the policies that apply.
    pub(super) fn policies(&mut self, signature: &Signature) -> (Option<String>, Profile) {
        let law = self.law;
        let modes: Vec<_> = signature.modes().iter().filter(|mode| law.speaks_of(mode.profile)).collect();
        match modes.as_slice() {
            [] => (None, self.profile(signature.operator.as_str())),
            modes => {
                let chosen = self.choices.pick(modes);
                (Some(chosen.mode.clone()), chosen.profile)
            }
        }
    }

    /// Sometimes draws a fill value to send, if the operator has that attribute.
    pub(super) fn fill_value(&mut self, signature: &Signature, dtype: DType) -> Result<Option<Tensor>, Stop> {
        if signature.attribute(AttributeRole::FillValue).is_none() || !self.choices.once_in(2) {
            return Ok(None);
        }
        let choices = &mut *self.choices;
        let element = match fills::telling(choices, dtype) {
            Some(telling) => telling,
            None => paint::element(dtype, choices.below(256) as u128),
        };
        Ok(Some(Tensor::filled(dtype, Shape::new([])?, &element)?))
    }

    pub(super) fn dtypes(&mut self, signature: &Signature) -> Result<(DType, DType), Stop> {
        let known = self.capability(signature);
        if known.dtypes.is_empty() || known.index_dtypes.is_empty() {
            return Err(Stop::Skip("skipped: no dtype is declared"));
        }
        Ok((self.choices.pick(&known.dtypes), self.choices.pick(&known.index_dtypes)))
    }

    /// Draws the indices: all good, or with bad ones among them if `bad`. If an axis is empty, no index can be good, and
    /// without `bad` there is none.
    fn with_drawn_indices(&mut self, gather: Gather<'a>, bad: bool) -> Result<Gather<'a>, Stop> {
        let gather = if bad { gather } else { without_rows_of_nothing(gather)? };
        let has_sign = gather.indices.dtype().kind() == Kind::Signed;
        let wraps = has_sign && gather.profile.negative == NegativeIndex::Wrap;
        // A good index must also fit its dtype.
        let counted = usize::try_from(counts(gather.indices.dtype())).unwrap_or(usize::MAX);
        let choices = &mut *self.choices;
        let values = Values { style: 0, bad_in: if bad { 4 } else { 0 }, reach: Values::NEAR };
        let value = |position: &[usize]| {
            let bound = gather.bound(position);
            let drawn = i128::from(values.value(choices, 0, bound.min(counted)));
            let fits = bound <= counted;
            let from_end = wraps && fits && (0..bound as i128).contains(&drawn) && choices.once_in(8);
            if from_end { drawn - bound as i128 } else { drawn }
        };
        let indices = integers(gather.indices.dtype(), gather.indices.shape(), value)?;
        Ok(gather.with_indices(indices))
    }
}

/// Removes all indices if a gathered axis is empty.
fn without_rows_of_nothing(gather: Gather<'_>) -> Result<Gather<'_>, Stop> {
    let mut dims = gather.indices.shape().to_vec();
    let selects_nothing = gather.params.shape()[gather.selected_axes()].contains(&0);
    if !selects_nothing || dims.contains(&0) {
        return Ok(gather);
    }
    let outer = gather.outer_axes();
    if outer.is_empty() {
        return Err(Stop::Skip("skipped: an index into an empty axis"));
    }
    dims[outer.start] = 0;
    let indices = zeros(gather.indices.dtype(), dims)?;
    Ok(gather.with_indices(indices))
}

fn zeros(dtype: DType, dims: Vec<usize>) -> Result<Tensor, Stop> {
    Ok(Tensor::filled(dtype, Shape::new(dims)?, &gather_spec::Element::Bits(0))?)
}

/// The value of an integer attribute.
pub(super) fn signed(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
