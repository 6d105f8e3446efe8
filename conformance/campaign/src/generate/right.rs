//! Draws the shapes of a right call, form by form.

use gather_spec::signature::{AttributeRole, Range};
use gather_spec::{Form, Signature};

use super::parts::{CallShapes, ShapeRequirements, join, least_ranks};
use super::sizes::{SizeClass, elements, fit};
use super::{ChoiceSequence, edges};

/// The highest rank of params, and of indices without batch and index vector, unless a rule demands more.
const PARAMS_RANK: usize = 4;
const OUTER_RANK: usize = 2;

/// Draws the parts of a call of this operator.
pub(crate) fn parts(
    choices: &mut ChoiceSequence,
    signature: &Signature,
    wanted: &ShapeRequirements,
) -> CallShapes {
    let wanted = &wanted.of(signature);
    if wanted.size == SizeClass::Edge {
        return edges::draw(choices, signature, wanted).within_ranks(signature);
    }
    match signature.form {
        Form::Take => take(choices, signature, wanted).within_ranks(signature),
        Form::Elements => joined(choices, signature, wanted),
        // Form window never gets here: it has parts of its own, in `windows`.
        Form::Nd | Form::Window => nd(choices, signature, wanted),
    }
}

fn take(choices: &mut ChoiceSequence, signature: &Signature, wanted: &ShapeRequirements) -> CallShapes {
    let (least_params, least_indices) = least_ranks(signature);
    let (from, to) = batch_range(signature, wanted);
    let params = wanted.dims(choices, least_params.max(from + 1), wanted.size.rank(PARAMS_RANK));
    let has_axis = signature.attribute(AttributeRole::Axis).is_some();
    let axis = from + if has_axis { choices.below(params.len() - from) } else { 0 };
    let batch = from + choices.below(axis.min(to) - from + 1);
    let axis = if has_axis { axis } else { batch };
    let least_outer = wanted.outer.max(least_indices.saturating_sub(batch));
    let mut indices = wanted.dims(choices, least_outer, wanted.size.rank(OUTER_RANK));
    indices.splice(0..0, params[..batch].iter().copied());
    let others = elements(&params[batch..]) / params[axis].max(1);
    fit(&mut indices, batch, wanted.size.output_elements() / others);
    CallShapes { params, indices, batch, axis, depth: 1, flat: false }
}

fn nd(choices: &mut ChoiceSequence, signature: &Signature, wanted: &ShapeRequirements) -> CallShapes {
    let (least_params, least_indices) = least_ranks(signature);
    let least_depth = signature.least_depth.max(usize::from(wanted.some_index));
    let (from, to) = batch_range(signature, wanted);
    let rest = least_rest(signature, least_depth);
    let params = wanted.dims(choices, least_params.max(from + rest), wanted.size.rank(PARAMS_RANK));
    let batch = from + choices.below(to.min(params.len() - rest) - from + 1);
    let most_depth = params.len() - batch;
    let depth = most_depth - choices.below(most_depth - least_depth + 1);
    let least_outer = wanted.outer.max(least_indices.saturating_sub(batch + 1));
    let mut indices = wanted.dims(choices, least_outer, wanted.size.rank(OUTER_RANK));
    indices.splice(0..0, params[..batch].iter().copied());
    fit(&mut indices, batch, wanted.size.output_elements() / elements(&params[batch + depth..]));
    indices.push(depth);
    CallShapes { params, indices, batch, axis: batch, depth, flat: false }
}

/// How many axes of params the batch must leave: enough for an index row, and one where `batch_dims` is below the rank.
fn least_rest(signature: &Signature, least_depth: usize) -> usize {
    let range = signature.attribute(AttributeRole::BatchDims).and_then(|one| one.range);
    least_depth.max(usize::from(range == Some(Range::From0BelowSmallerRank)))
}

fn joined(choices: &mut ChoiceSequence, signature: &Signature, wanted: &ShapeRequirements) -> CallShapes {
    let (least_params, least_indices) = least_ranks(signature);
    let least = least_params.max(least_indices).max(1);
    let mut params = wanted.dims(choices, least, wanted.size.rank(PARAMS_RANK));
    let axis = choices.below(params.len());
    let mut indices = params.clone();
    for dim in (0..params.len()).filter(|dim| *dim != axis) {
        join(choices, signature.join, &mut params[dim], &mut indices[dim], wanted.some_index);
    }
    indices[axis] = 1;
    let others = elements(&indices).max(elements(&params) / params[axis].max(1));
    let along = wanted.dims(choices, 1, 1)[0];
    indices[axis] = along.min((wanted.size.output_elements() / others).max(1));
    CallShapes { params, indices, batch: 0, axis, depth: 1, flat: false }
}

fn batch_range(signature: &Signature, wanted: &ShapeRequirements) -> (usize, usize) {
    if signature.has_batch() { wanted.batch } else { (0, 0) }
}
