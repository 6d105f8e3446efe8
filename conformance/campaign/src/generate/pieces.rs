//! A call as lists of dims by meaning, before they form shapes. [`Pieces::assemble`] turns them into [`CallShapes`].

use gather_spec::signature::AttributeRole;
use gather_spec::{Form, Signature};

use super::ChoiceSequence;
use super::parts::{CallShapes, join, least_ranks};

/// The dims of a call by meaning: params has batch, mid, gathered and inner dims; indices has batch and outer dims.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces(pub(super) [Vec<usize>; 5]);

pub(super) const BATCH: usize = 0;
pub(super) const MID: usize = 1;
pub(super) const GATHERED: usize = 2;
pub(super) const INNER: usize = 3;
pub(super) const OUTER: usize = 4;

/// The pieces that calls of the operator have and whose rank and size are free.
pub(super) fn kinds(signature: &Signature) -> Vec<usize> {
    let has_mid = signature.form != Form::Nd && signature.attribute(AttributeRole::Axis).is_some();
    let batch = signature.has_batch().then_some(BATCH);
    [GATHERED, INNER, OUTER].into_iter().chain(batch).chain(has_mid.then_some(MID)).collect()
}

impl Pieces {
    /// The shapes of a call of this operator.
    pub(super) fn assemble(self, choices: &mut ChoiceSequence, signature: &Signature) -> CallShapes {
        match signature.form {
            Form::Elements => self.join(choices, signature),
            Form::Take | Form::Nd | Form::Window => self.concat(signature),
        }
    }

    /// Form elements: params and indices differ on the axis and, as far as the join rule allows, off it.
    fn join(self, choices: &mut ChoiceSequence, signature: &Signature) -> CallShapes {
        let Self([_, mut mid, gathered, mut inner, outer]) = self;
        mid.extend(outer.iter().skip(1));
        inner.extend(gathered.iter().skip(1));
        let (least_params, least_indices) = least_ranks(signature);
        let rank = mid.len() + 1 + inner.len();
        inner.extend((rank..least_params.max(least_indices)).map(|_| 1));
        let first = |dims: &[usize]| dims.first().copied().unwrap_or(2);
        let mut params = [&*mid, &[first(&gathered)], &inner].concat();
        let mut indices = [&*mid, &[first(&outer)], &inner].concat();
        let axis = mid.len();
        // A dim of 0 stays 0, since another dim may be huge beside it.
        for dim in (0..params.len()).filter(|dim| *dim != axis) {
            if params[dim] > 0 {
                join(choices, signature.join, &mut params[dim], &mut indices[dim], false);
            }
        }
        CallShapes { params, indices, batch: 0, axis, depth: 1, flat: false }
    }

    fn concat(self, signature: &Signature) -> CallShapes {
        let (least_params, least_indices) = least_ranks(signature);
        let Self([mut batch, mut mid, mut gathered, mut inner, mut outer]) = self;
        if !signature.has_batch() {
            batch.clear();
        }
        let vector = if signature.form == Form::Nd {
            mid.clear();
            gathered.resize(gathered.len().max(signature.least_depth), 2);
            Some(gathered.len())
        } else {
            if gathered.is_empty() {
                gathered.push(2);
            }
            inner.splice(0..0, gathered.drain(1..));
            if signature.attribute(AttributeRole::Axis).is_none() {
                mid.clear();
            }
            None
        };
        let rank = batch.len() + mid.len() + gathered.len() + inner.len();
        inner.extend((rank..least_params).map(|_| 1));
        let rank = batch.len() + outer.len() + usize::from(vector.is_some());
        outer.extend((rank..least_indices).map(|_| 1));
        let indices = [&*batch, &outer, vector.as_slice()].concat();
        let params = [&*batch, &mid, &gathered, &inner].concat();
        let axis = batch.len() + mid.len();
        CallShapes { params, indices, batch: batch.len(), axis, depth: gathered.len(), flat: false }
    }
}
