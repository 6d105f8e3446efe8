//! Checks that operators share: known attributes and their types, listed dtypes, batch shapes, and indices against the
//! bounds of their axis under a profile.

use gather_spec::{
    Attribute, BadIndex, Call, DType, DimensionRule, Element, GatherError, NegativeIndex, Profile, Refusal,
    Shape, Tensor,
};

/// The dtypes of pages that allow any integer as an index.
pub(crate) const INTEGERS: [DType; 8] =
    [DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32, DType::U64];

/// The dtypes of libraries without strings.
pub(crate) const ALL_BUT_STRINGS: [DType; 15] = [
    DType::Bool,
    DType::I8,
    DType::U8,
    DType::I16,
    DType::U16,
    DType::I32,
    DType::U32,
    DType::I64,
    DType::U64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
    DType::C64,
    DType::C128,
];

/// Rejects a dtype of params that the page does not list.
pub(crate) fn params_dtype(params: &Tensor, listed: &[DType]) -> Result<(), GatherError> {
    let dtype = params.dtype();
    if listed.contains(&dtype) { Ok(()) } else { Err(GatherError::ParamsDtype { dtype }) }
}

/// Rejects a dtype of indices that the page does not list.
pub(crate) fn index_dtype(indices: &Tensor, listed: &[DType]) -> Result<(), GatherError> {
    let dtype = indices.dtype();
    if listed.contains(&dtype) { Ok(()) } else { Err(GatherError::IndexDtype { dtype }) }
}

/// The index at a position. The dtype must have been checked.
pub(crate) fn index_at(indices: &Tensor, position: &[usize]) -> i128 {
    index_of(indices, &[position])
}

/// The index at the position that the parts form together.
pub(crate) fn index_of(indices: &Tensor, parts: &[&[usize]]) -> i128 {
    indices.integer_of(parts).expect("every listed index dtype is an integer")
}

/// Whether an index is an error under the profile.
pub(crate) fn is_refused(index: i128, bound: usize, profile: Profile) -> bool {
    let refuses = matches!(profile.bad, BadIndex::Error | BadIndex::Unspecified);
    refuses && within(index, bound, profile.negative).is_none()
}

/// The coordinate that an index selects on an axis of size `bound`; `None` if its slice is zero.
pub(crate) fn resolve(index: i128, bound: usize, profile: Profile) -> Option<usize> {
    match within(index, bound, profile.negative) {
        Some(at) => Some(at),
        None if profile.bad == BadIndex::Clamp && bound > 0 => {
            usize::try_from(index.clamp(0, bound as i128 - 1)).ok()
        }
        None => None,
    }
}

/// The coordinate that an index selects if it is in range. A negative index counts from the end if the policy is `wrap`.
fn within(index: i128, bound: usize, negative: NegativeIndex) -> Option<usize> {
    let from_start = match negative {
        NegativeIndex::Wrap if index < 0 => index + bound as i128,
        _ => index,
    };
    usize::try_from(from_start).ok().filter(|at| *at < bound)
}

/// An axis in `[-rank, rank)`, resolved. A negative axis counts from the end.
pub(crate) fn axis_within(axis: i64, rank: usize) -> Result<usize, GatherError> {
    let signed = i64::try_from(rank).unwrap_or(i64::MAX);
    let from_start = if axis < 0 { axis.checked_add(signed) } else { Some(axis) };
    from_start
        .and_then(|axis| usize::try_from(axis).ok())
        .filter(|axis| *axis < rank)
        .ok_or(GatherError::AxisOutOfRange { axis, low: -signed, rank })
}

/// A tensor as one axis, in row-major order.
pub(crate) fn flattened(tensor: &Tensor) -> Result<Tensor, Refusal> {
    tensor.flattened().map_err(|error| Refusal::Unsupported(error.to_string()))
}

/// Rejects batch shapes that differ.
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

/// A rule for dimension numbers: an error if it does not hold.
pub(crate) fn ensure(holds: bool, rule: DimensionRule) -> Result<(), DimensionRule> {
    if holds { Ok(()) } else { Err(rule) }
}

/// Whether no dim occurs twice.
pub(crate) fn is_unique(dims: &[i64]) -> bool {
    dims.iter().enumerate().all(|(at, dim)| !dims[..at].contains(dim))
}

/// `0 <= dims < rank`.
pub(crate) fn are_dims(dims: &[i64], rank: usize) -> bool {
    dims.iter().all(|dim| usize::try_from(*dim).is_ok_and(|dim| dim < rank))
}

/// The value of an attribute, if sent. A type other than `what` is unsupported.
fn sent<'a, T>(
    call: &'a Call,
    name: &str,
    what: &str,
    read: impl FnOnce(&'a Attribute) -> Option<T>,
) -> Result<Option<T>, Refusal> {
    let Some(value) = call.attributes.get(name) else { return Ok(None) };
    let wrong = || Refusal::Unsupported(format!("the attribute `{name}` is {what}, not {value}"));
    read(value).map(Some).ok_or_else(wrong)
}

/// The value of an integer attribute, if sent.
pub(crate) fn integer(call: &Call, name: &str) -> Result<Option<i64>, Refusal> {
    let read = |value: &Attribute| if let Attribute::Integer(value) = value { Some(*value) } else { None };
    sent(call, name, "an integer", read)
}

/// The value of an attribute that is an integer or null, if sent. The inner `None` is null.
pub(crate) fn integer_or_null(call: &Call, name: &str) -> Result<Option<Option<i64>>, Refusal> {
    sent(call, name, "an integer or null", |value| match value {
        Attribute::Null => Some(None),
        Attribute::Integer(value) => Some(Some(*value)),
        _ => None,
    })
}

/// The value of a list attribute, if sent.
pub(crate) fn integers(call: &Call, name: &str) -> Result<Option<Vec<i64>>, Refusal> {
    let read =
        |value: &Attribute| if let Attribute::Integers(values) = value { Some(values.clone()) } else { None };
    sent(call, name, "a list of integers", read)
}

/// The value of a required list attribute.
pub(crate) fn needed(call: &Call, name: &str) -> Result<Vec<i64>, Refusal> {
    let missing = || format!("{} has an attribute `{name}`, which is missing", call.operator);
    integers(call, name)?.ok_or_else(|| Refusal::Unsupported(missing()))
}

/// The value of a string attribute, if sent.
pub(crate) fn string<'a>(call: &'a Call, name: &str) -> Result<Option<&'a str>, Refusal> {
    let read =
        |value: &'a Attribute| if let Attribute::String(value) = value { Some(value.as_str()) } else { None };
    sent(call, name, "a string", read)
}

/// The value of an attribute that is a string or null. Null means absent.
pub(crate) fn string_or_null<'a>(call: &'a Call, name: &str) -> Result<Option<&'a str>, Refusal> {
    let value = sent(call, name, "a string or null", |value| match value {
        Attribute::Null => Some(None),
        Attribute::String(value) => Some(Some(value.as_str())),
        _ => None,
    });
    value.map(Option::flatten)
}

/// The value of an attribute that is an element of a dtype, or null. Null means absent.
pub(crate) fn element_or_null(call: &Call, name: &str, dtype: DType) -> Result<Option<Element>, Refusal> {
    let value = sent(call, name, "an element of the dtype of the array or null", |value| match value {
        Attribute::Null => Some(None),
        Attribute::Element(value) if value.dtype() == dtype && value.rank() == 0 => {
            Some(Some(value.element(&[])))
        }
        _ => None,
    });
    value.map(Option::flatten)
}

/// The value of a boolean attribute, if sent.
pub(crate) fn boolean(call: &Call, name: &str) -> Result<Option<bool>, Refusal> {
    let read = |value: &Attribute| if let Attribute::Boolean(value) = value { Some(*value) } else { None };
    sent(call, name, "a boolean", read)
}

/// The operands of a call, by the page's names. Rejects any others.
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

/// Rejects attributes that the operator does not have.
pub(crate) fn only(call: &Call, known: &[&str]) -> Result<(), Refusal> {
    match call.attributes.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(Refusal::Unsupported(format!("{} has no attribute `{name}`", call.operator))),
        None => Ok(()),
    }
}
