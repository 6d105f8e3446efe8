//! The validation of a call: how its shapes and attributes become [`Shapes`], which are all that the kernels know. One
//! file per form, each with the rules that operators of the form may differ in; a call is validated by the `validate` of
//! its form's rules. Signatures are read here and nowhere else.

mod bounds;
pub(crate) mod elements;
pub(crate) mod nd;
pub(crate) mod take;
pub(crate) mod window;

use gather_spec::signature::{
    AttributeDefault, AttributeRole, AttributeSignature, Axis, OperandRole, OperandSignature,
};
use gather_spec::{Attribute, Form, GatherError, Refusal, Roles, Signature, Tensor};

use self::bounds::Ranks;
use crate::options::Choices;
use crate::shapes::Shapes;

/// Validates a call in role terms, whose params are flattened where the call asks for it, and gives what `then` makes of
/// its shapes. Checks come in the order of the error codes.
pub(crate) fn validate<T>(
    signature: &Signature,
    call: &Roles<&Tensor>,
    choices: Choices,
    then: impl FnOnce(Shapes<'_>) -> T,
) -> Result<T, Refusal> {
    let (params, indices) = (call.params, call.indices);
    let lists = |role, tensor: &Tensor| signature.operand(role).dtypes.contains(&tensor.dtype());
    if !lists(OperandRole::Params, params) {
        return Err(GatherError::ParamsDtype { dtype: params.dtype() }.into());
    }
    if !lists(OperandRole::Indices, indices) {
        return Err(GatherError::IndexDtype { dtype: indices.dtype() }.into());
    }
    if let (Some(other), Some(operand)) = (call.other, signature.other_operand())
        && !operand.dtypes.contains(&other.dtype())
    {
        let (operand, dtype) = (operand.name.to_string(), other.dtype());
        return Err(GatherError::OperandDtype { operand, dtype }.into());
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
    if let Some(other) = call.other.filter(|_| signature.form != Form::Window) {
        // Ranks come before the shape of the operand in the order of errors.
        Ranks::of(signature).check(params, indices)?;
        fits_its_role(signature, other)?;
    }
    let shapes = match signature.form {
        Form::Take => take::Rules::of(signature).validate(params, indices, &choices),
        Form::Elements => elements::Rules::of(signature).validate(params, indices, &choices),
        Form::Nd => nd::Rules::of(signature).validate(params, indices, &choices),
        Form::Window => return validate_windows(signature, call, &choices, then),
    };
    shapes.map(then)
}

/// Checks the shape of the operand beside params and indices. An axis is a single number.
fn fits_its_role(signature: &Signature, other: &Tensor) -> Result<(), GatherError> {
    let wrong = |operand: &OperandSignature| {
        let is_axis = operand.role == OperandRole::Axis;
        !operand.rank.allows(other.rank()) || is_axis && other.shape().element_count() != 1
    };
    match signature.other_operand() {
        Some(operand) if wrong(operand) => Err(GatherError::OperandShape {
            operand: operand.name.to_string(),
            shape: other.shape().clone(),
            rule: match operand.role {
                OperandRole::Axis => "a scalar or a vector of one element",
                _ => "a vector",
            },
        }),
        _ => Ok(()),
    }
}

/// [`validate`] for a call of form window.
fn validate_windows<T>(
    signature: &Signature,
    call: &Roles<&Tensor>,
    choices: &Choices,
    then: impl FnOnce(Shapes<'_>) -> T,
) -> Result<T, Refusal> {
    let (params, indices) = (call.params.shape(), call.indices.shape());
    Ranks::of(signature).check(params, indices)?;
    if let Some(other) = call.other {
        fits_its_role(signature, other)?;
    }
    let sent = call.window.clone().unwrap_or_default();
    let (numbers, slice_sizes) = signature.window(&sent, indices.len());
    let operands = window::OperandShapes { params, indices, numbers: &numbers, slice_sizes: &slice_sizes };
    window::Rules::of(signature).validate(operands, choices, then)
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
        | AttributeDefault::Operand
        | AttributeDefault::Undocumented => None,
    }
}

#[cfg(test)]
mod tests {
    use gather_spec::signature::{EmptyIndex, Join, Range};

    use super::*;
    use crate::options::Options;

    const RANGES: [Range; 6] = [
        Range::FromMinusRBelowR,
        Range::From0BelowR,
        Range::FromMinusQToQ,
        Range::FromMinusSmallerRankToSmallerRank,
        Range::From0BelowQToR,
        Range::From0BelowSmallerRank,
    ];

    /// Every shape of up to three dims of 1, so that only ranks and ranges decide.
    fn all_ones() -> impl Iterator<Item = (Vec<usize>, Vec<usize>)> {
        (0..=3).flat_map(|r| (0..=3).map(move |q| (vec![1; r], vec![1; q])))
    }

    /// Rules are data, and no rules may lead to a slice outside its shape.
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
                    take.validate(&params, &indices, &options.axis(place).choices),
                    take.validate(&params, &indices, &options.choices),
                    nd.validate(&params, &indices, &options.choices),
                    elements.validate(&params, &indices, &options.batch_dims(0).axis(place).choices),
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
        let depth = |depth| rules.validate(&[4, 4, 4], &[5, depth], &Options::new().choices).map(drop);
        assert_eq!(depth(1), Err(GatherError::IndexDepthTooSmall { depth: 1, least: 2 }.into()));
        assert_eq!((depth(2), depth(3)), (Ok(()), Ok(())));
        let deep = GatherError::IndexDepth { batch_dims: 0, depth: 4, rank: 3 };
        assert_eq!(depth(4), Err(deep.into()));
    }
}
