//! Finds out which index selects which slice and where it goes, by asking an implementation.
//!
//! This knows nothing about operators. It repeats the call with params numbered 1, 2, 3, …, so that each
//! output element reveals its source. Then it runs the call with all indices 0, and once more for each index
//! with that one far out of range, under `bad: zero` or in a mode that fills or clamps. The elements that
//! differ are those that the index selects, regardless of its value in the call.

use gather_spec::case::OperandNames;
use gather_spec::dtype::Kind;
use gather_spec::literal::bits_of_count;
use gather_spec::signature::AttributeRole;
use gather_spec::{
    Attribute, BadIndex, Call, DType, Element, NegativeIndex, Outcome, Position, Profile, Shape, Signature,
    Tensor, TensorBuilder,
};

use gather_conformance::backend::Backend;

/// The largest tensor to trace, in elements.
const MOST: usize = 256;

/// Policies under which every call has an output that is valid except for its index values.
const BLIND: Profile = Profile { bad: BadIndex::Zero, negative: NegativeIndex::Reject };

/// An index, or a row of indices, with what it selects and where that goes: multi-indices in row-major order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexTrace {
    /// Positions in indices.
    pub indices: Vec<Vec<usize>>,
    /// Positions in params, one per output position; `None` for an element that does not come from params.
    pub params: Vec<Option<Vec<usize>>>,
    /// Positions in the output.
    pub output: Vec<Vec<usize>>,
}

/// The dtypes to number params in: every operator accepts one of them.
const NUMBERS: [DType; 2] = [DType::I64, DType::F64];

/// Traces a call on the backends that `make` gives. A call that is rejected for its index values is traced as if a bad
/// index gave zeros. `None` if there is no output even then, or a tensor is too large.
pub(crate) fn trace(
    call: &Call,
    names: &OperandNames,
    profile: Profile,
    modes: Option<&Signature>,
    make: &dyn Fn(Profile) -> Box<dyn Backend>,
) -> Option<Vec<IndexTrace>> {
    let small = |tensor: &Tensor| tensor.shape().element_count() <= MOST;
    let (params, indices) = (call.operands.get(&names.params)?, call.operands.get(&names.indices)?);
    if !small(params) || !small(indices) || !indices.dtype().is_integer() {
        return None;
    }
    let mut all = NUMBERS.into_iter().filter_map(|dtype| numbered(dtype, params.shape()));
    all.find_map(|numbered| trace_numbered(call, names, &numbered, (profile, modes), make))
}

/// Traces a call with other params, whose elements are all different.
fn trace_numbered(
    call: &Call,
    names: &OperandNames,
    params: &Tensor,
    (profile, modes): (Profile, Option<&Signature>),
    make: &dyn Fn(Profile) -> Box<dyn Backend>,
) -> Option<Vec<IndexTrace>> {
    let indices = call.operands.get(&names.indices)?;
    let mut numbered = with(call, &names.params, params.clone());
    // A fill value must have the dtype of params, which has just changed.
    numbered.attributes.retain(|_, value| !matches!(value, Attribute::Element(_)));
    let mut blind = make(BLIND);
    let (probe, bad) = match modes.map(|signature| blind_mode(signature, &numbered)) {
        Some(mode) => mode?,
        None => (numbered.clone(), BadIndex::Zero),
    };
    let sources = output_of(&mut *make(profile), &numbered).or_else(|| output_of(&mut *blind, &probe));
    let sources = sources.filter(|output| output.shape().element_count() <= MOST)?;
    let index = far_index(indices.dtype(), bad);
    let mut asked = |far: Option<&[usize]>| {
        let far = far.map(|position| (position, &index));
        output_of(&mut *blind, &with(&probe, &names.indices, zeros_but(indices, far)?))
    };
    let near = asked(None).filter(|near| near.shape() == sources.shape())?;
    let mut selections: Vec<IndexTrace> = Vec::new();
    for position in indices.shape().positions() {
        let far = asked(Some(&position))?;
        let selected = |at: &Position| near.element(at) != far.element(at);
        let output = sources.shape().positions().filter(selected);
        let output: Vec<Vec<usize>> = output.map(|at| at.to_vec()).collect();
        if output.is_empty() {
            continue;
        }
        match selections.iter_mut().find(|row| row.output == output) {
            Some(row) => row.indices.push(position.to_vec()),
            None => {
                let params = output.iter().map(|at| source(&sources.element(at), params)).collect();
                selections.push(IndexTrace { indices: vec![position.to_vec()], params, output });
            }
        }
    }
    Some(selections)
}

/// The call with another tensor for an operand.
fn with(call: &Call, name: &str, tensor: Tensor) -> Call {
    let mut call = call.clone();
    call.operands.replace(name, tensor);
    call
}

/// Params of the given shape with the elements 1, 2, 3, ….
fn numbered(dtype: DType, shape: &Shape) -> Option<Tensor> {
    let mut numbered = TensorBuilder::new(dtype, shape.clone()).ok()?;
    for count in 1..=shape.element_count() {
        numbered.push(Element::Bits(bits_of_count(dtype, count)?));
    }
    numbered.finish().ok()
}

/// The position in params of a numbered element.
fn source(element: &Element, numbered: &Tensor) -> Option<Vec<usize>> {
    let at = numbered.iter().position(|number| number == *element)?;
    numbered.shape().positions().nth(at).map(|position| position.to_vec())
}

/// The call in a mode in which a bad index is no error: one that fills, otherwise one that clamps.
fn blind_mode(signature: &Signature, call: &Call) -> Option<(Call, BadIndex)> {
    let of = |bad| signature.modes().iter().find(|mode| mode.profile.bad == bad);
    let mode = of(BadIndex::Fill).or_else(|| of(BadIndex::Clamp))?;
    let mut call = call.clone();
    let name = signature.attribute(AttributeRole::Mode)?.name.clone();
    call.attributes.insert(name, Attribute::String(mode.mode.clone()));
    Some((call, mode.profile.bad))
}

/// An index that selects something other than 0 does: a bad one, or the last one if indices are clamped.
fn far_index(dtype: DType, bad: BadIndex) -> Element {
    let (sign, signed) = (1 << (8 * dtype.size() - 1), dtype.kind() == Kind::Signed);
    Element::Bits(match bad {
        _ if !signed => 2 * sign - 1,
        BadIndex::Clamp => sign - 1,
        _ => sign,
    })
}

/// Zeros in the shape of the indices, except for one of them.
fn zeros_but(indices: &Tensor, far: Option<(&[usize], &Element)>) -> Option<Tensor> {
    let mut changed = TensorBuilder::new(indices.dtype(), indices.shape().clone()).ok()?;
    for at in indices.shape().positions() {
        let here = far.filter(|(position, _)| **position == *at);
        changed.push(here.map_or(Element::Bits(0), |(_, index)| index.clone()));
    }
    changed.finish().ok()
}

fn output_of(backend: &mut dyn Backend, call: &Call) -> Option<Tensor> {
    match backend.call(call) {
        Outcome::Output(output) => Some(output),
        _ => None,
    }
}
