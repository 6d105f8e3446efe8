//! Checks that every operator makes: attributes that it takes, listed dtypes, batch shapes, and indices against their axis
//! under a profile.

use gather_spec::{
    Attribute, BadIndex, Call, DType, GatherError, NegativeIndex, Profile, Refusal, Shape, Tensor,
};

/// Refuses a dtype of params that the page does not list.
pub(crate) fn params_dtype(params: &Tensor, listed: &[DType]) -> Result<(), GatherError> {
    let dtype = params.dtype();
    if listed.contains(&dtype) { Ok(()) } else { Err(GatherError::ParamsDtype { dtype }) }
}

/// Refuses a dtype of indices that the page does not list.
pub(crate) fn index_dtype(indices: &Tensor, listed: &[DType]) -> Result<(), GatherError> {
    let dtype = indices.dtype();
    if listed.contains(&dtype) { Ok(()) } else { Err(GatherError::IndexDtype { dtype }) }
}

/// The index at a position of a tensor whose dtype was checked.
pub(crate) fn index_at(indices: &Tensor, position: &[usize]) -> i128 {
    indices.integer(position).expect("every listed index dtype is an integer")
}

/// Whether the policy asks for an error, and this index deserves it.
pub(crate) fn is_refused(index: i128, bound: usize, profile: Profile) -> bool {
    let refuses = matches!(profile.bad, BadIndex::Error | BadIndex::Unspecified);
    refuses && within(index, bound, profile.negative).is_none()
}

/// Where an index points along an axis of size `bound`; `None` where the slice is to be zero.
pub(crate) fn resolve(index: i128, bound: usize, profile: Profile) -> Option<usize> {
    match within(index, bound, profile.negative) {
        Some(at) => Some(at),
        None if profile.bad == BadIndex::Clamp && bound > 0 => {
            usize::try_from(index.clamp(0, bound as i128 - 1)).ok()
        }
        None => None,
    }
}

/// Where an index points if it is in range, negative ones counted from the end where they wrap.
fn within(index: i128, bound: usize, negative: NegativeIndex) -> Option<usize> {
    let from_start = match negative {
        NegativeIndex::Wrap if index < 0 => index + bound as i128,
        _ => index,
    };
    usize::try_from(from_start).ok().filter(|at| *at < bound)
}

/// Refuses batch shapes that differ.
pub(crate) fn equal_batch_shapes(
    params: &Tensor,
    indices: &Tensor,
    batch_dims: usize,
) -> Result<(), GatherError> {
    let batch =
        |tensor: &Tensor| Shape::new(&tensor.shape()[..batch_dims]).expect("part of a tensor's shape");
    let (params, indices) = (batch(params), batch(indices));
    if params == indices { Ok(()) } else { Err(GatherError::BatchShapeMismatch { params, indices }) }
}

/// A list of integers, if it is sent.
pub(crate) fn integers(call: &Call, name: &str) -> Result<Option<Vec<i64>>, Refusal> {
    match call.attributes.get(name) {
        None => Ok(None),
        Some(Attribute::Integers(values)) => Ok(Some(values.clone())),
        Some(other) => {
            Err(Refusal::Unsupported(format!("the attribute `{name}` is a list of integers, not {other}")))
        }
    }
}

/// An integer attribute, if it is sent.
pub(crate) fn integer(call: &Call, name: &str) -> Result<Option<i64>, Refusal> {
    match call.attributes.get(name) {
        None => Ok(None),
        Some(Attribute::Integer(value)) => Ok(Some(*value)),
        Some(other) => {
            Err(Refusal::Unsupported(format!("the attribute `{name}` is an integer, not {other}")))
        }
    }
}

/// The operands of a call, by the page's names; all that there are.
pub(crate) fn operands<'a, const K: usize>(
    call: &'a Call,
    names: [&str; K],
) -> Result<[&'a Tensor; K], Refusal> {
    let unsupported = |what: String| Refusal::Unsupported(format!("{} {what}", call.operator));
    if let Some((foreign, _)) = call.operands.iter().find(|(name, _)| !names.contains(name)) {
        return Err(unsupported(format!("has no operand `{foreign}`")));
    }
    let found = names.map(|name| call.operands.get(name));
    match found.iter().position(Option::is_none) {
        Some(at) => Err(unsupported(format!("has an operand `{}`, which is missing", names[at]))),
        None => Ok(found.map(|tensor| tensor.expect("it is there"))),
    }
}

/// Refuses attributes that the operator lacks.
pub(crate) fn only(call: &Call, known: &[&str]) -> Result<(), Refusal> {
    match call.attributes.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(Refusal::Unsupported(format!("{} has no attribute `{name}`", call.operator))),
        None => Ok(()),
    }
}
