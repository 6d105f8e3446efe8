//! What sets one form of gather apart from another: how the shapes and attributes of a call become [`Shapes`](crate::shapes::Shapes), which
//! is all that the kernels know. One file per form, each with the rules that operators of the form may differ in.
//! Signatures are read here and nowhere else.

pub(crate) mod elements;
pub(crate) mod nd;
pub(crate) mod take;
pub(crate) mod window;

use gather_spec::signature::{AttributeDefault, AttributeRole, AttributeSignature, Axis, OperandRole, Range};
use gather_spec::{Attribute, Form, GatherError, Refusal, Roles, Shape, Signature, Tensor};

use crate::Plan;
use crate::options::Choices;
use crate::policy::Zeros;

/// A plan for a call in role terms, whose params are flattened where the call asks for it. Checks come in the order of the
/// error codes, up to the shapes.
pub(crate) fn plan(signature: &Signature, call: &Roles<&Tensor>, choices: Choices) -> Result<Plan, Refusal> {
    let (params, indices) = (call.params, call.indices);
    let lists = |role, tensor: &Tensor| signature.operand(role).dtypes.contains(&tensor.dtype());
    if !lists(OperandRole::Params, params) {
        return Err(GatherError::ParamsDtype { dtype: params.dtype() }.into());
    }
    if !lists(OperandRole::Indices, indices) {
        return Err(GatherError::IndexDtype { dtype: indices.dtype() }.into());
    }
    if let (Some(sizes), Some(operand)) = (call.sizes, signature.slice_sizes_operand())
        && !operand.dtypes.contains(&sizes.dtype())
    {
        return Err(GatherError::OperandDtype { dtype: sizes.dtype() }.into());
    }
    let choices = by_mode(signature, call, choices)?;
    let required = |axis: &AttributeSignature| match axis.default {
        AttributeDefault::None => true,
        AttributeDefault::OnlyAxis => params.rank() > 1,
        _ => false,
    };
    if call.axis.is_none() && signature.attribute(AttributeRole::Axis).is_some_and(required) {
        return Err(GatherError::AxisRequired.into());
    }
    let batch_dims = call.batch_dims.or_else(|| default(signature, AttributeRole::BatchDims)).unwrap_or(0);
    let axis = match call.axis {
        _ if signature.is_flat(call) => Some(0),
        Some(Axis::At(axis)) => Some(axis),
        // A null that does not flatten is as good as none.
        Some(Axis::Null) | None => default(signature, AttributeRole::Axis),
    };
    let choices = Choices { batch_dims, axis, ..choices };
    let (params, indices) = (params.shape(), indices.shape());
    let shapes = match signature.form {
        Form::Take => take::Rules::of(signature).shapes(params, indices, &choices),
        Form::Elements => elements::Rules::of(signature).shapes(params, indices, &choices),
        Form::Nd => nd::Rules::of(signature).shapes(params, indices, &choices),
        Form::Window => return windows(signature, call, &choices),
    };
    shapes.map(|shapes| Plan::of(shapes, Zeros))
}

/// A plan for a call of form window.
fn windows(signature: &Signature, call: &Roles<&Tensor>, choices: &Choices) -> Result<Plan, Refusal> {
    let (params, indices) = (call.params.shape(), call.indices.shape());
    Ranks::of(signature).check(params, indices)?;
    if let Some(sizes) = call.sizes.filter(|sizes| sizes.rank() != 1) {
        return Err(GatherError::OperandShape { rank: sizes.rank() }.into());
    }
    let sent = call.window.clone().unwrap_or_default();
    let (numbers, slice_sizes) = signature.window(&sent, indices.len());
    let operands = window::Operands { params, indices, numbers: &numbers, slice_sizes: &slice_sizes };
    window::Rules::of(signature).plan(operands, choices, Zeros)
}

/// The choices, with the policies that the mode of the call stands for, of an operator with modes.
fn by_mode(signature: &Signature, call: &Roles<&Tensor>, choices: Choices) -> Result<Choices, GatherError> {
    match (signature.mode(call), &call.mode) {
        (Some(mode), _) => Ok(Choices { profile: mode.profile, empty_axis: mode.empty_axis, ..choices }),
        (None, Some(mode)) => Err(GatherError::ModeUnknown { mode: mode.clone() }),
        (None, None) => Ok(choices),
    }
}

/// The number that the absence of an attribute stands for, if it stands for one.
fn default(signature: &Signature, role: AttributeRole) -> Option<i64> {
    match signature.attribute(role)?.default {
        AttributeDefault::Value(Attribute::Integer(value)) => Some(value),
        AttributeDefault::OnlyAxis => Some(0),
        AttributeDefault::Value(_)
        | AttributeDefault::BatchDims
        | AttributeDefault::None
        | AttributeDefault::Undocumented => None,
    }
}

/// The range of an attribute, if the operator has it.
fn range(signature: &Signature, role: AttributeRole) -> Option<Range> {
    signature.attribute(role)?.range
}

/// The least ranks of the operands, and the highest of indices.
#[derive(Clone, Copy, Debug)]
struct Ranks {
    params: usize,
    indices: usize,
    most_indices: usize,
}

impl Ranks {
    fn of(signature: &Signature) -> Self {
        let least = |role| signature.operand(role).rank.least();
        let most_indices = signature.operand(OperandRole::Indices).rank.most().unwrap_or(usize::MAX);
        Self { most_indices, ..Self::at_least(least(OperandRole::Params), least(OperandRole::Indices)) }
    }

    /// These ranks and all above them.
    const fn at_least(params: usize, indices: usize) -> Self {
        Self { params, indices, most_indices: usize::MAX }
    }

    #[inline(always)] // So that rules known beforehand cost nothing.
    fn check(self, params: &[usize], indices: &[usize]) -> Result<(), GatherError> {
        if params.len() < self.params {
            return Err(GatherError::ParamsRank { rank: params.len(), least: self.params });
        }
        if indices.len() < self.indices {
            return Err(GatherError::IndicesRank { rank: indices.len(), least: self.indices });
        }
        if indices.len() > self.most_indices {
            return Err(GatherError::IndicesRankTooHigh { rank: indices.len(), most: self.most_indices });
        }
        Ok(())
    }
}

/// The number of batch dims that `value` stands for, within its range and at most `most`, which the form allows.
#[inline(always)]
fn batch_dims(range: Range, value: i64, (r, q): (usize, usize), most: usize) -> Result<usize, GatherError> {
    match resolve(range, value, r, q) {
        Some(batch_dims) if batch_dims <= most => Ok(batch_dims),
        _ => Err(batch_dims_out_of_range(range, value, (r, q), most)),
    }
}

#[cold]
fn batch_dims_out_of_range(
    range: Range,
    batch_dims: i64,
    (r, q): (usize, usize),
    most: usize,
) -> GatherError {
    let (low, high) = match range {
        Range::FromMinusRBelowR => (-signed(r), signed(r) - 1),
        Range::FromMinusQToQ => (-signed(q), signed(q)),
        Range::From0BelowQToR => (0, signed(r).min(signed(q) - 1)),
        Range::From0BelowSmallerRank => (0, signed(r.min(q)) - 1),
    };
    GatherError::BatchDimsOutOfRange { batch_dims, low, high: high.min(signed(most)) }
}

/// What a value stands for on params of rank `r` and indices of rank `q`, if it is in range.
#[inline(always)]
fn resolve(range: Range, value: i64, r: usize, q: usize) -> Option<usize> {
    match range {
        Range::FromMinusRBelowR => from_either_end(value, r).filter(|at| *at < r),
        Range::FromMinusQToQ => from_either_end(value, q).filter(|at| *at <= q),
        Range::From0BelowQToR => usize::try_from(value).ok().filter(|at| *at < q && *at <= r),
        Range::From0BelowSmallerRank => usize::try_from(value).ok().filter(|at| *at < q.min(r)),
    }
}

/// `value`, counted from the end of `rank` if negative.
#[inline(always)]
fn from_either_end(value: i64, rank: usize) -> Option<usize> {
    let normalised = if value < 0 { value.checked_add(signed(rank))? } else { value };
    usize::try_from(normalised).ok()
}

/// Compares the leading `b` dims, which both have.
#[inline]
fn same_batch(params: &[usize], indices: &[usize], b: usize) -> Result<(), GatherError> {
    if params[..b] == indices[..b] {
        return Ok(());
    }
    Err(batch_mismatch(&params[..b], &indices[..b]))
}

#[cold]
fn batch_mismatch(params: &[usize], indices: &[usize]) -> GatherError {
    let shape = |dims: &[usize]| Shape::new(dims).unwrap_or_default();
    GatherError::BatchShapeMismatch { params: shape(params), indices: shape(indices) }
}

/// A rank as the attributes count: ranks are far below 2^63.
fn signed(rank: usize) -> i64 {
    i64::try_from(rank).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use gather_spec::signature::{EmptyIndex, Join};

    use super::*;
    use crate::Options;

    const RANGES: [Range; 4] =
        [Range::FromMinusRBelowR, Range::FromMinusQToQ, Range::From0BelowQToR, Range::From0BelowSmallerRank];

    /// Every shape of up to three dims of 1, so that only ranks and ranges decide.
    fn all_ones() -> impl Iterator<Item = (Vec<usize>, Vec<usize>)> {
        (0..=3).flat_map(|r| (0..=3).map(move |q| (vec![1; r], vec![1; q])))
    }

    /// Rules are data, and whatever they say no slice of a shape may leave it.
    #[test]
    fn no_rules_lead_out_of_the_shapes() {
        let ranks = Ranks::at_least(0, 0);
        let mut fitting = 0;
        for (params, indices) in all_ones() {
            for (batch_dims, axis, value, place) in RANGES.into_iter().flat_map(|batch_dims| {
                let values = (-5..=5).flat_map(|value| (-5..=5).map(move |place| (value, place)));
                values.flat_map(move |(value, place)| RANGES.map(|axis| (batch_dims, axis, value, place)))
            }) {
                let options = Options::new().batch_dims(value);
                let take = take::Rules::new(ranks, batch_dims, axis);
                let nd = nd::Rules::new(ranks, batch_dims, 0);
                let elements = elements::Rules::new(ranks, axis, Join::Broadcast, EmptyIndex::Checked);
                let all = [
                    take.shapes(&params, &indices, &options.axis(place).choices),
                    take.shapes(&params, &indices, &options.choices),
                    nd.shapes(&params, &indices, &options.choices),
                    elements.shapes(&params, &indices, &options.batch_dims(0).axis(place).choices),
                ];
                for shapes in all.into_iter().flatten() {
                    let mut rank = 0;
                    shapes.each_output_dim(|_| rank += 1);
                    assert!(rank == shapes.output_rank() && rank <= params.len() + indices.len());
                    fitting += 1;
                }
            }
        }
        assert!(fitting > 1000, "{fitting}");
    }

    #[test]
    fn index_rows_have_as_many_components_as_the_pages_ask_for() {
        let rules = nd::Rules::new(Ranks::at_least(0, 1), Range::From0BelowQToR, 2);
        let depth = |depth| rules.shapes(&[4, 4, 4], &[5, depth], &Options::new().choices).map(drop);
        assert_eq!(depth(1), Err(GatherError::IndexDepthTooSmall { depth: 1, least: 2 }.into()));
        assert_eq!((depth(2), depth(3)), (Ok(()), Ok(())));
        let deep = GatherError::IndexDepth { batch_dims: 0, depth: 4, rank: 3 };
        assert_eq!(depth(4), Err(deep.into()));
    }
}
