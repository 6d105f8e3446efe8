//! The shapes of a valid call, by form and in terms of roles.

use gather_spec::signature::{AttributeDefault, AttributeRole, Axis, Join, OperandRole, Range, RankRule};
use gather_spec::{Attribute, Form, Signature};

use super::sizes::{Size, dims, elements, fit};
use super::{Choices, edges};

/// The highest rank of params, and of indices without batch and index vector, unless a rule demands more.
const PARAMS_RANK: usize = 4;
const OUTER_RANK: usize = 2;

/// The largest number of indices kept when a null axis flattens them.
const MOST_ALONG: usize = 70_000;

/// Requirements on the parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// The range of the number of batch dims, for operators that have them.
    pub(crate) batch: (usize, usize),
    /// The least number of index dims that are neither batch nor index vector.
    pub(crate) outer: usize,
    /// Whether at least one index is needed. Then no dim is 0, and index rows have components.
    pub(crate) some_index: bool,
    /// The size of the call.
    pub(crate) size: Size,
}

impl Wanted {
    /// Parts of this size without further requirements.
    pub(crate) const fn of_size(size: Size) -> Self {
        Self { batch: (0, 3), outer: 0, some_index: false, size }
    }

    fn dims(&self, choices: &mut Choices, least_rank: usize, most_rank: usize) -> Vec<usize> {
        let mut dims = dims(choices, self.size, least_rank, most_rank);
        if self.some_index {
            dims.iter_mut().for_each(|dim| *dim = (*dim).max(1));
        }
        dims
    }
}

/// The shapes of a valid call, and the meaning of their axes.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) params: Vec<usize>,
    pub(crate) indices: Vec<usize>,
    /// The number of batch dims.
    pub(crate) batch: usize,
    /// The first gathered axis of params.
    pub(crate) axis: usize,
    /// The number of gathered axes of params.
    pub(crate) depth: usize,
    /// Whether params is flattened first.
    pub(crate) flat: bool,
}

impl Parts {
    /// Draws the parts of a call of this operator.
    pub(crate) fn draw(choices: &mut Choices, signature: &Signature, wanted: &Wanted) -> Self {
        if wanted.size == Size::Edge {
            return edges::draw(choices, signature, wanted).within_ranks(signature);
        }
        match signature.form {
            Form::Take => take(choices, signature, wanted).within_ranks(signature),
            Form::Elements => joined(choices, signature, wanted),
            // Form window never gets here: it has parts of its own, in `windows`.
            Form::Nd | Form::Window => nd(choices, signature, wanted),
        }
    }
}

impl Parts {
    /// Merges the dims of indices into one where the signature allows a single one.
    pub(super) fn within_ranks(mut self, signature: &Signature) -> Self {
        if signature.operand(OperandRole::Indices).rank == RankRule::Exactly1 {
            let product = self.indices.iter().fold(1, |product: usize, dim| product.saturating_mul(*dim));
            let has_none = self.indices.contains(&0);
            self.indices = vec![if has_none { 0 } else { product.min(usize::MAX >> 1) }];
        }
        self
    }

    /// Sometimes flattens params, if a null axis does that. Returns the axis to send.
    pub(super) fn flatten(
        &mut self,
        choices: &mut Choices,
        signature: &Signature,
        size: Size,
        axis: Option<i64>,
    ) -> Option<Axis> {
        if signature.flattens && choices.once_in(16) {
            self.params.clear();
        }
        // A flat call lacks the dims beside the axis, which most edge and far calls are about.
        let flat_in = if matches!(size, Size::Edge | Size::Far) { 16 } else { 2 };
        if !signature.flattens || !choices.once_in(flat_in) {
            let beyond = signature.flattens && choices.once_in(32);
            let rank = i64::try_from(self.params.len()).unwrap_or(0);
            return if beyond { Some(Axis::At(rank)) } else { axis.map(Axis::At) };
        }
        self.flat = true;
        if signature.form == Form::Elements {
            let along = self.indices.get(self.axis).copied().unwrap_or(1);
            // A huge dim only fits beside a dim of 0, which flattening removes.
            self.indices = vec![if along > MOST_ALONG { 0 } else { along }];
        }

        let null = AttributeDefault::Value(Attribute::Null);
        let is_default = signature.attribute(AttributeRole::Axis).is_some_and(|axis| axis.default == null);
        (!is_default || choices.once_in(4)).then_some(Axis::Null)
    }
}

fn take(choices: &mut Choices, signature: &Signature, wanted: &Wanted) -> Parts {
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
    Parts { params, indices, batch, axis, depth: 1, flat: false }
}

fn nd(choices: &mut Choices, signature: &Signature, wanted: &Wanted) -> Parts {
    let (least_params, least_indices) = least_ranks(signature);
    let least_depth = signature.least_depth.max(usize::from(wanted.some_index));
    let (from, to) = batch_range(signature, wanted);
    let params = wanted.dims(choices, least_params.max(from + least_depth), wanted.size.rank(PARAMS_RANK));
    let batch = from + choices.below(to.min(most_batch(signature, params.len(), least_depth)) - from + 1);
    let most_depth = params.len() - batch;
    let depth = most_depth - choices.below(most_depth - least_depth + 1);
    let least_outer = wanted.outer.max(least_indices.saturating_sub(batch + 1));
    let mut indices = wanted.dims(choices, least_outer, wanted.size.rank(OUTER_RANK));
    indices.splice(0..0, params[..batch].iter().copied());
    fit(&mut indices, batch, wanted.size.output_elements() / elements(&params[batch + depth..]));
    indices.push(depth);
    Parts { params, indices, batch, axis: batch, depth, flat: false }
}

/// The most batch dims that leave params enough axes for an index row, and for the axis where there must be one.
fn most_batch(signature: &Signature, params: usize, least_depth: usize) -> usize {
    let range = signature.attribute(AttributeRole::BatchDims).and_then(|one| one.range);
    let least_rest = if range == Some(Range::From0BelowSmallerRank) { 1 } else { 0 };
    params.saturating_sub(least_depth.max(least_rest))
}

fn joined(choices: &mut Choices, signature: &Signature, wanted: &Wanted) -> Parts {
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
    Parts { params, indices, batch: 0, axis, depth: 1, flat: false }
}

/// Changes one of two equal dims off the axis as far as the join rule allows.
pub(super) fn join(
    choices: &mut Choices,
    join: Option<Join>,
    params: &mut usize,
    indices: &mut usize,
    some_index: bool,
) {
    match join {
        None | Some(Join::Equal) => {}
        Some(Join::NotLarger) => {
            if choices.once_in(3) {
                *indices = choices.below(*params + 1).max(some_index.into());
            }
        }
        Some(Join::Broadcast) => match choices.below(4) {
            2 => *indices = 1,
            3 => *params = 1,
            _ => {}
        },
    }
}

/// The least ranks of params and of indices.
pub(super) fn least_ranks(signature: &Signature) -> (usize, usize) {
    let least = |role| signature.operand(role).rank.least();
    (least(OperandRole::Params), least(OperandRole::Indices))
}

fn batch_range(signature: &Signature, wanted: &Wanted) -> (usize, usize) {
    if signature.has_batch() { wanted.batch } else { (0, 0) }
}

/// The default of an attribute in a call with these ranks; `None` if that is out of range.
pub(crate) fn default_of(signature: &Signature, role: AttributeRole, parts: Ranks) -> Option<usize> {
    let Some(attribute) = signature.attribute(role) else {
        return Some(if role == AttributeRole::Axis { parts.batch } else { 0 });
    };
    match &attribute.default {
        AttributeDefault::BatchDims => Some(parts.batch),
        AttributeDefault::OnlyAxis => (parts.params == 1).then_some(0),
        AttributeDefault::Value(Attribute::Integer(value)) => {
            let end = if *value < 0 { counts_from(signature, role, parts)? } else { 0 };
            usize::try_from(*value + i64::try_from(end).ok()?).ok()
        }
        AttributeDefault::Value(_) | AttributeDefault::None | AttributeDefault::Undocumented => None,
    }
}

/// The rank from which a negative value of an attribute counts; `None` if negative values are not allowed.
pub(crate) fn counts_from(signature: &Signature, role: AttributeRole, parts: Ranks) -> Option<usize> {
    match signature.attribute(role)?.range? {
        Range::FromMinusRBelowR => Some(parts.params),
        Range::FromMinusQToQ => Some(parts.indices),
        Range::From0BelowQToR | Range::From0BelowSmallerRank => None,
    }
}

/// The ranks of a call, and the number of its batch dims.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranks {
    pub(crate) params: usize,
    pub(crate) indices: usize,
    pub(crate) batch: usize,
}

impl Parts {
    pub(crate) const fn ranks(&self) -> Ranks {
        Ranks { params: self.params.len(), indices: self.indices.len(), batch: self.batch }
    }
}
