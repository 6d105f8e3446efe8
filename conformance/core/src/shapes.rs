//! The shape of the output that the formula of each form gives.

use gather_spec::signature::{AttributeDefault, AttributeRole, Axis, Join, Range};
use gather_spec::{Attribute, Call, DType, Form, Roles, Signature, Tensor};

/// What is known of the output of a call whose attributes are in range.
pub struct ExpectedOutput {
    /// The dtype of the output.
    pub dtype: DType,
    /// Its shape.
    pub shape: Vec<usize>,
    /// The same shape with each batch dim on its own, as laws have it, where the output has their product.
    pub apart: Option<Vec<usize>>,
}

/// The dtype and the shape of the output of a call whose attributes are in range.
pub fn of_output(signature: &Signature, call: &Call) -> Option<ExpectedOutput> {
    let roles = signature.roles(call).ok()?;
    let (params, indices) = (roles.params.shape(), roles.indices.shape());
    let resolved = |role, sent: Option<i64>, batch| {
        let ranks = CallRanks { params: params.len(), indices: indices.len(), batch };
        match sent {
            None => default_of(signature, role, ranks),
            Some(value) if value < 0 => {
                let end = i64::try_from(counts_from(signature, role, ranks)?).ok()?;
                usize::try_from(value + end).ok()
            }
            Some(value) => usize::try_from(value).ok(),
        }
    };
    let batch = resolved(AttributeRole::BatchDims, roles.batch_dims, 0)?;
    let flat = [roles.params.shape().element_count()];
    let flat_indices = [indices.element_count()];
    let indices = if signature.has_flat_indices(&roles) { &flat_indices[..] } else { &indices[..] };
    let (params, axis) = match roles.axis {
        _ if signature.is_flat(&roles) => (&flat[..], 0),
        Some(Axis::Null) => return None,
        Some(Axis::At(axis)) => (&params[..], resolved(AttributeRole::Axis, Some(axis), batch)?),
        None => (&params[..], resolved(AttributeRole::Axis, None, batch)?),
    };
    let mut apart = None;
    let shape = match signature.form {
        Form::Take => [params.get(..axis)?, indices.get(batch..)?, params.get(axis + 1..)?].concat(),
        Form::Elements => joined(signature, params, indices, axis)?,
        Form::Window => of_windows(signature, &roles)?,
        Form::Nd => {
            let (depth, rows) = indices.split_last()?;
            let (kept, rest) =
                (params.get(..batch)?, [rows.get(batch..)?, params.get(batch.checked_add(*depth)?..)?]);
            let batch_dims = signature.output_batch.of(kept);
            apart = (batch_dims != kept).then(|| [kept, &rest.concat()].concat());
            [&*batch_dims, &rest.concat()].concat()
        }
    };
    Some(ExpectedOutput { dtype: roles.params.dtype(), shape, apart })
}

/// The output shape of form elements: that of indices, except that an index dim of 1 takes the dim of params where
/// dims of 1 repeat. `None` if the ranks differ.
pub fn joined(signature: &Signature, params: &[usize], indices: &[usize], axis: usize) -> Option<Vec<usize>> {
    let repeats = |dim| signature.join == Some(Join::Broadcast) && dim != axis;
    let pairs = params.iter().zip(indices).enumerate();
    let dims =
        pairs.map(|(dim, (params, indices))| if repeats(dim) && *indices == 1 { *params } else { *indices });
    (params.len() == indices.len()).then(|| dims.collect())
}

/// The output shape of a call with valid dimension numbers.
pub fn of_windows(signature: &Signature, roles: &Roles<&Tensor>) -> Option<Vec<usize>> {
    let (params, indices) = (roles.params.shape(), roles.indices.shape());
    let (numbers, slice_sizes) = signature.window(roles.window.as_ref()?, indices.len());
    let has = |dims: &[i64], dim: usize| dims.iter().any(|one| usize::try_from(*one) == Ok(dim));
    let vector = usize::try_from(numbers.index_vector_dim).ok()?;
    let mut rows = (0..indices.len()).filter(|dim| *dim != vector).map(|dim| indices[dim]);
    let is_left_out =
        |dim| has(&numbers.collapsed_slice_dims, dim) || has(&numbers.operand_batching_dims, dim);
    let window: Option<Vec<usize>> = (0..params.len())
        .filter(|dim| !is_left_out(*dim))
        .map(|dim| usize::try_from(*slice_sizes.get(dim)?).ok())
        .collect();
    let mut window = window?.into_iter();
    let rank = indices.len() - usize::from(vector < indices.len()) + numbers.offset_dims.len();
    (0..rank).map(|dim| if has(&numbers.offset_dims, dim) { window.next() } else { rows.next() }).collect()
}

/// The default of an attribute in a call with these ranks; `None` if that is out of range.
pub fn default_of(signature: &Signature, role: AttributeRole, parts: CallRanks) -> Option<usize> {
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
        AttributeDefault::Value(_)
        | AttributeDefault::None
        | AttributeDefault::Operand
        | AttributeDefault::Undocumented => None,
    }
}

/// The rank from which a negative value of an attribute counts; `None` if negative values are not allowed.
pub fn counts_from(signature: &Signature, role: AttributeRole, parts: CallRanks) -> Option<usize> {
    match signature.attribute(role)?.range? {
        Range::FromMinusRBelowR => Some(parts.params),
        Range::FromMinusQToQ | Range::FromMinusSmallerRankToSmallerRank => Some(parts.indices),
        Range::From0BelowR | Range::From0BelowQToR | Range::From0BelowSmallerRank => None,
    }
}

/// The ranks of a call, and the number of its batch dims.
#[derive(Clone, Copy, Debug)]
pub struct CallRanks {
    /// That of params.
    pub params: usize,
    /// That of indices.
    pub indices: usize,
    /// The number of batch dims.
    pub batch: usize,
}
