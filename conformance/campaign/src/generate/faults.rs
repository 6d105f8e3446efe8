//! Faults: changes that put a valid call one step outside its signature.

use gather_spec::signature::OperandRole;
use gather_spec::{Form, Signature};

use super::ChoiceSequence;
use super::parts::{CallShapes, least_ranks};

/// A change that would leave more elements than this is not made. (A dim may only be huge beside a dim of 0.)
const MOST_ELEMENTS: usize = 1 << 20;

impl CallShapes {
    /// Sometimes breaks a rule about ranks, about the depth, or between the shapes.
    pub(super) fn disturb(&mut self, choices: &mut ChoiceSequence, signature: &Signature) {
        if choices.once_in(12) {
            let params = choices.once_in(2);
            let (least_params, least_indices) = least_ranks(signature);
            let least = if params { least_params } else { least_indices };
            let rank = choices.below(least);
            if least > 0 {
                change(self.dims(params), |dims| dims.truncate(rank));
            }
        }
        for role in [OperandRole::Indices, OperandRole::Params] {
            if signature.operand(role).rank.most().is_some() && choices.once_in(12) {
                let dims = self.dims(role == OperandRole::Params);
                let at = choices.below(dims.len() + 1);
                change(dims, |dims| dims.insert(at, 1));
            }
        }
        if signature.form == Form::Nd && choices.once_in(24) {
            let depth = choices.below(self.params.len() + 3);
            change(&mut self.indices, |dims| {
                if let Some(last) = dims.last_mut() {
                    *last = depth;
                }
            });
        }
        if signature.form == Form::Elements {
            // Where params may have any rank, this includes scalars.
            if signature.operand(OperandRole::Params).rank.least() == 0 && choices.once_in(32) {
                self.params.clear();
                self.indices.clear();
            }
            self.disturb_joined(choices);
        }
        if choices.once_in(12) {
            let params = choices.once_in(2);
            change(self.dims(params), |dims| change_one(choices, dims));
        }
    }

    /// Removes every index, or makes indices differ from params in rank, or by one in a dim.
    fn disturb_joined(&mut self, choices: &mut ChoiceSequence) {
        if choices.once_in(16) {
            change(&mut self.indices, |dims| {
                let at = choices.below(dims.len());
                dims.iter_mut().skip(at).take(1).for_each(|dim| *dim = 0);
            });
        }
        if choices.once_in(16) {
            change(&mut self.indices, |dims| change_rank(choices, dims));
        }
        if choices.once_in(12) {
            change(&mut self.indices, |dims| {
                let at = choices.below(dims.len());
                let up = choices.once_in(2);
                let by_one = |dim: usize| if up { dim.saturating_add(1) } else { dim.saturating_sub(1) };
                dims.iter_mut().skip(at).take(1).for_each(|dim| *dim = by_one(*dim));
            });
        }
    }

    const fn dims(&mut self, params: bool) -> &mut Vec<usize> {
        if params { &mut self.params } else { &mut self.indices }
    }
}

/// Applies a change, unless the result has too many elements.
fn change(dims: &mut Vec<usize>, make: impl FnOnce(&mut Vec<usize>)) {
    let mut changed = dims.clone();
    make(&mut changed);
    let count = changed.iter().try_fold(1usize, |count, dim| count.checked_mul(*dim));
    if changed.contains(&0) || count.is_some_and(|count| count <= MOST_ELEMENTS) {
        *dims = changed;
    }
}

/// Adds or removes an axis, or adds several.
fn change_rank(choices: &mut ChoiceSequence, dims: &mut Vec<usize>) {
    let at = choices.below(dims.len() + 1);
    match choices.below(4) {
        0 => dims.insert(at, 1),
        1 => dims.insert(at, choices.below(3)),
        2 if at < dims.len() => drop(dims.remove(at)),
        _ => dims.truncate(at),
    }
}

/// Changes one dim; beside a dim of 0, sometimes to a huge one.
fn change_one(choices: &mut ChoiceSequence, dims: &mut [usize]) {
    if dims.is_empty() {
        return;
    }
    let at = choices.below(dims.len());
    let has_zero = dims.iter().enumerate().any(|(other, dim)| other != at && *dim == 0);
    dims[at] = match choices.below(5) {
        4 if has_zero => choices.pick(&[1 << 40, 1 << 58, (1 << 33) + 1]),
        4 => 1,
        small => small,
    };
}

/// The value of an integer attribute, which is out of any range once in `odds` draws.
pub(super) fn integer(choices: &mut ChoiceSequence, value: i64, odds: usize) -> i64 {
    let odd = choices.once_in(odds);
    if odd { choices.pick(&[-1, 1, 9, -9, i64::MAX, i64::MIN]) } else { value }
}
