//! The right steps of a gather, as the documents define them. `model` is made of these.

use gather_spec::shape::MAX_BYTES;
use gather_spec::signature::{AttributeDefault, AttributeRole, Axis, EmptyIndex, Join, OperandRole, Range};
use gather_spec::{
    BadIndex, DType, Element, ErrorCode, ErrorFields, NegativeIndex, Roles, Signature, Tensor,
};

use super::call::{ModelCall, ShapeParts, SliceSource};
use super::memory::ParamsElements;
use super::positions::{count, from_start, multi_index, row_major, row_major_signed};
use super::{memory, windowed};

/// Whether a call deserves an error.
pub fn faulty(code: ErrorCode, call: &ModelCall<'_>) -> bool {
    let (params, indices, batch) = (call.params(), call.indices(), call.batch());
    let operand = |role| call.signature.operand(role);
    if call.by_windows() && !OF_EVERY_FORM.contains(&code) {
        return windowed::faulty(code, call);
    }
    match code {
        ErrorCode::OperandDtype => {
            let listed = call.signature.other_operand().map(|operand| &operand.dtypes);
            let sent = call.roles.other.as_ref();
            sent.zip(listed).is_some_and(|(other, listed)| !listed.contains(&other.dtype()))
        }
        ErrorCode::OperandShape => call.roles.other.as_ref().is_some_and(|other| {
            let is_axis = call.signature.axis_operand().is_some();
            let rank = call.signature.other_operand().map(|operand| operand.rank);
            rank.is_some_and(|rank| !rank.allows(other.rank()))
                || is_axis && other.shape().element_count() != 1
        }),
        ErrorCode::ParamsDtype => !operand(OperandRole::Params).dtypes.contains(&call.roles.params.dtype()),
        ErrorCode::IndexDtype => !operand(OperandRole::Indices).dtypes.contains(&call.roles.indices.dtype()),
        ErrorCode::ModeUnknown => {
            let modes = call.signature.modes();
            let is_known = |sent: &String| modes.iter().any(|mode| mode.mode == *sent);
            !modes.is_empty() && call.roles.mode.as_ref().is_some_and(|sent| !is_known(sent))
        }
        ErrorCode::AxisRequired => {
            let axis = call.signature.attribute(AttributeRole::Axis);
            let required = axis.is_some_and(|axis| match axis.default {
                AttributeDefault::None => true,
                AttributeDefault::OnlyAxis => params.len() > 1,
                _ => false,
            });
            required && call.roles.axis.is_none()
        }
        ErrorCode::ParamsRank => !operand(OperandRole::Params).rank.allows(params.len()),
        ErrorCode::IndicesRank => {
            let vector = usize::from(call.by_rows());
            indices.len() < vector || !operand(OperandRole::Indices).rank.allows(indices.len())
        }
        ErrorCode::RankMismatch => call.by_elements() && params.len() != indices.len() && !call.exempt(),
        ErrorCode::EmptyDim => call.signature.rejects_empty_dims(params, indices),
        ErrorCode::BatchDimsOutOfRange => call.batch_dims().is_none(),
        ErrorCode::AxisOutOfRange => call.axis().is_none(),
        ErrorCode::AxisBeforeBatch => call.axis().is_some_and(|axis| axis < batch),
        ErrorCode::BatchShapeMismatch => params.get(..batch) != indices.get(..batch),
        ErrorCode::JoinMismatch => {
            let join = call.signature.join.filter(|_| call.by_elements() && !call.exempt());
            let axis = call.axis();
            let mut pairs = params.iter().zip(indices).enumerate().filter(|(dim, _)| Some(*dim) != axis);
            join.is_some_and(|join| pairs.any(|(_, (params, indices))| !fits(join, *params, *indices)))
        }
        ErrorCode::IndexDepth => {
            let depth = indices.last().copied().unwrap_or(0);
            let too_deep = batch.saturating_add(depth) > params.len();
            call.by_rows() && (too_deep || depth < call.signature.least_depth)
        }
        ErrorCode::OutputTooLarge => size(call) > MAX_BYTES,
        _ => false,
    }
}

/// The checks that apply to every form alike. Form window has no axis, and rules of its own for batches and sizes.
const OF_EVERY_FORM: [ErrorCode; 8] = [
    ErrorCode::ParamsDtype,
    ErrorCode::IndexDtype,
    ErrorCode::OperandDtype,
    ErrorCode::ModeUnknown,
    ErrorCode::ParamsRank,
    ErrorCode::IndicesRank,
    ErrorCode::OperandShape,
    ErrorCode::OutputTooLarge,
];

/// The size of the output that is checked against the limit.
pub fn size(call: &ModelCall<'_>) -> u128 {
    let shape = (call.model.output_shape)(&(call.model.dims)(call));
    (call.model.bytes)(&shape, call.roles.params.dtype())
}

/// Flattens in row-major order what the signature says: params, and indices too.
pub fn flatten(signature: &Signature, roles: Roles<Tensor>) -> Roles<Tensor> {
    if !signature.is_flat(&roles) {
        return roles;
    }
    let indices = signature.has_flat_indices(&roles).then(|| roles.indices.flattened());
    match (roles.params.flattened(), indices.transpose()) {
        (Ok(params), Ok(indices)) => {
            let indices = indices.unwrap_or_else(|| roles.indices.clone());
            Roles { params, indices, axis: Some(Axis::At(0)), ..roles }
        }
        _ => roles,
    }
}

/// The number of batch dims.
pub fn batch_dims(call: &ModelCall<'_>) -> Option<usize> {
    let given = call.given_batch();
    let (rank, params) = (call.indices().len(), call.params().len());
    match range(call.signature, AttributeRole::BatchDims) {
        None => Some(0),
        Some(Range::FromMinusQToQ) => from_start(given, rank).filter(|batch| *batch <= rank),
        Some(Range::FromMinusSmallerRankToSmallerRank) => {
            let most = i64::try_from(rank.min(params)).unwrap_or(i64::MAX);
            from_start(given, rank).filter(|_| (-most..=most).contains(&given))
        }
        Some(Range::FromMinusRBelowR) => from_start(given, params).filter(|batch| *batch < params),
        Some(Range::From0BelowR) => usize::try_from(given).ok().filter(|batch| *batch < params),
        Some(Range::From0BelowQToR) => {
            usize::try_from(given).ok().filter(|batch| *batch < rank && *batch <= params)
        }
        Some(Range::From0BelowSmallerRank) => {
            usize::try_from(given).ok().filter(|batch| *batch < rank && *batch < params)
        }
    }
}

/// The range of an attribute, if the operator has it.
fn range(signature: &Signature, role: AttributeRole) -> Option<Range> {
    signature.attribute(role)?.range
}

/// The first gathered axis.
pub fn axis(call: &ModelCall<'_>) -> Option<usize> {
    let batch = call.batch();
    if call.by_rows() {
        return Some(batch);
    }
    let rank = call.params().len();
    let from_0 = range(call.signature, AttributeRole::Axis) == Some(Range::From0BelowR);
    let resolved = |axis: i64| if from_0 { usize::try_from(axis).ok() } else { from_start(axis, rank) };
    let axis = call.given_axis().map_or(Some(batch), resolved);
    axis.filter(|axis| *axis < rank)
}

/// Whether two dims off the axis fit each other.
pub fn fits(join: Join, params: usize, indices: usize) -> bool {
    match join {
        Join::Equal => params == indices,
        Join::NotLarger => indices <= params,
        Join::Broadcast => params == indices || params == 1 || indices == 1,
    }
}

/// Whether indices are exempt from the rules about their shape: they have no elements, and the page exempts such indices.
pub fn exempt(call: &ModelCall<'_>) -> bool {
    call.by_elements() && call.signature.empty_index == EmptyIndex::Unchecked && call.indices().contains(&0)
}

/// Whether dims of 1 repeat.
fn repeats(call: &ModelCall<'_>) -> bool {
    call.signature.join == Some(Join::Broadcast) && !call.exempt()
}

/// The parts of the shapes of form elements.
fn joined_dims(call: &ModelCall<'_>) -> ShapeParts {
    let (params, indices, axis) = (call.params(), call.indices(), call.axis());
    let joined = |(dim, indices): (usize, &usize)| match params.get(dim) {
        Some(params) if repeats(call) && *indices == 1 && Some(dim) != axis => *params,
        _ => *indices,
    };
    let bound = axis.and_then(|axis| params.get(axis)).copied().unwrap_or(1);
    ShapeParts {
        batch: Vec::new(),
        mid: Vec::new(),
        bounds: vec![bound],
        inner: Vec::new(),
        outer: indices.iter().enumerate().map(joined).collect(),
        depth: 1,
    }
}

/// The position in indices of the index for a position of the output: the same, except where a dim of 1 repeats.
pub fn index_at(call: &ModelCall<'_>, position: &[usize]) -> usize {
    let repeats = repeats(call);
    let place = |at: &usize, dim: &usize| if repeats && *dim == 1 { 0 } else { *at };
    let places: Vec<usize> = position.iter().zip(call.indices()).map(|(at, dim)| place(at, dim)).collect();
    row_major(&places, call.indices())
}

/// The offset in params of the element for a position of the output: the same position, except that the index replaces
/// the coordinate of the axis, and that dims of 1 repeat.
pub fn origin(call: &ModelCall<'_>, position: &[usize], index: i128) -> i128 {
    let (axis, repeats) = (call.axis(), repeats(call));
    let coordinate = |axis_here: usize, dim: usize| match position.get(axis_here) {
        _ if Some(axis_here) == axis => index,
        Some(at) if !repeats || dim != 1 => *at as i128,
        _ => 0,
    };
    let coordinates = call.params().iter().enumerate().map(|(axis, dim)| coordinate(axis, *dim));
    row_major_signed(coordinates, call.params())
}

/// The parts of the shapes.
pub fn dims(call: &ModelCall<'_>) -> ShapeParts {
    if call.by_elements() {
        return joined_dims(call);
    }
    if call.by_windows() {
        return windowed::dims(call);
    }
    let (params, indices) = (call.params(), call.indices());
    let (outer, depth) = match (call.by_rows(), indices.split_last()) {
        (true, Some((depth, rows))) => (rows, *depth),
        (true, None) => (indices, 0),
        (false, _) => (indices, 1),
    };
    let batch = call.batch().min(params.len()).min(outer.len());
    let start = call.axis().unwrap_or(batch).clamp(batch, params.len());
    let end = start.saturating_add(depth).min(params.len());
    ShapeParts {
        batch: call.signature.output_batch.of(&outer[..batch]),
        mid: params[batch..start].to_vec(),
        bounds: params[start..end].to_vec(),
        inner: params[end..].to_vec(),
        outer: outer[batch..].to_vec(),
        depth,
    }
}

/// The shape of the output.
pub fn output_shape(dims: &ShapeParts) -> Vec<usize> {
    [&*dims.batch, &dims.mid, &dims.outer, &dims.inner].concat()
}

/// The value of an index.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "the bits of an index are as wide as its dtype"
)]
pub fn index(dtype: DType, bits: u128) -> i128 {
    match dtype {
        DType::I8 => (bits as i8).into(),
        DType::I16 => (bits as i16).into(),
        DType::I32 => (bits as i32).into(),
        DType::I64 => (bits as i64).into(),
        _ => bits as i128,
    }
}

/// The bounds check.
pub fn within(call: &ModelCall<'_>, index: i128, bound: usize) -> Option<i128> {
    if call.profile.bad == BadIndex::Modulo && bound > 0 {
        return Some(index.rem_euclid(bound as i128));
    }
    let wraps = call.profile.negative == NegativeIndex::Wrap;
    let at = if wraps && index < 0 { index + bound as i128 } else { index };
    (0..bound as i128).contains(&at).then_some(at)
}

/// The bound of the index value at a position, by its component.
pub fn bound_of(dims: &ShapeParts, at: usize) -> usize {
    dims.bounds.get(at % dims.depth.max(1)).copied().unwrap_or(1)
}

/// The index value that an error reports: the first bad one.
pub fn offender(call: &ModelCall<'_>, dims: &ShapeParts, indices: &[i128]) -> Option<usize> {
    (0..indices.len()).find(|at| call.within(indices[*at], bound_of(dims, *at)).is_none())
}

/// The fields of an error.
pub fn offence(call: &ModelCall<'_>, dims: &ShapeParts, indices: &[i128], at: usize) -> ErrorFields {
    let (shape, depth) = (call.sent_indices, dims.depth.max(1));
    let (rows, component) = match shape.split_last() {
        Some((_, rows)) if call.by_rows() => (rows.to_vec(), Some(at % depth)),
        _ if call.by_windows() => {
            let row_dims = call.numbers().row_dims(shape.len());
            (row_dims.iter().map(|dim| shape[*dim]).collect(), Some(at % depth))
        }
        _ => (shape.to_vec(), None),
    };
    ErrorFields {
        position: Some(multi_index(at / depth, &rows)),
        component,
        index: Some(indices[at]),
        bound: Some(bound_of(dims, at)),
        ..ErrorFields::default()
    }
}

/// The coordinates: a bad component fills the whole slice, or is clamped to the nearer end of its axis.
pub fn resolve(call: &ModelCall<'_>, dims: &ShapeParts, row: &[i128]) -> Option<Vec<i128>> {
    let coordinate = |(index, bound): (&i128, &usize)| match call.within(*index, *bound) {
        None if call.profile.bad == BadIndex::Clamp && *bound > 0 => {
            Some((*index).clamp(0, *bound as i128 - 1))
        }
        at => at,
    };
    row.iter().zip(&dims.bounds).map(coordinate).collect()
}

/// The offset of a slice in params.
pub fn offset(_: &ModelCall<'_>, dims: &ShapeParts, batch: usize, mid: usize, at: &[i128]) -> i128 {
    let start = (batch * count(&dims.mid) + mid) as i128;
    let flat = at.iter().zip(&dims.bounds).fold(start, |flat, (at, bound)| flat * *bound as i128 + at);
    flat * count(&dims.inner) as i128
}

/// The element that fills the slice of a bad index.
pub fn filler(call: &ModelCall<'_>) -> Element {
    let roles = call.roles;
    call.signature.filler(call.profile, roles.params.dtype(), roles.fill_value.as_ref())
}

/// An element of a slice.
pub fn element(
    call: &ModelCall<'_>,
    _: &ShapeParts,
    params: &ParamsElements,
    pick: SliceSource,
    at: usize,
) -> Element {
    let dtype = call.roles.params.dtype();
    match pick {
        None => (call.model.filler)(call),
        Some(start) => usize::try_from(start + at as i128)
            .ok()
            .and_then(|at| params.get(at))
            .unwrap_or_else(|| memory::garbage(dtype)),
    }
}
