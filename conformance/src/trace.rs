//! Finds out which index selects which slice and where it goes, by asking an implementation.
//!
//! This knows nothing about operators. It repeats the call with params numbered 1, 2, 3, …, so that each output element
//! reveals its source. Then, for each index, it runs the call twice: with that index 0, and with it far out of range, under
//! `bad: zero` or in a mode that fills or clamps. The elements that differ are those that the index selects. Elements
//! that do not come from params are left out.

use gather_spec::case::OperandNames;
use gather_spec::dtype::Kind;
use gather_spec::signature::AttributeRole;
use gather_spec::{
    Attribute, BadIndex, Call, DType, Element, NegativeIndex, Outcome, Profile, Shape, Signature, Tensor,
    TensorBuilder,
};

use crate::backend::Backend;

/// The largest output to trace, in elements.
const MOST: usize = 256;

/// An index, or a row of indices, with what it selects and where that goes: multi-indices in row-major order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Positions in indices.
    pub indices: Vec<Vec<usize>>,
    /// Positions in params, one per output position.
    pub params: Vec<Vec<usize>>,
    /// Positions in the output.
    pub output: Vec<Vec<usize>>,
}

/// Traces a call on the backends that `make` gives; `None` if there is no output, or the output is too large.
pub fn trace(
    call: &Call,
    names: &OperandNames,
    profile: Profile,
    modes: Option<&Signature>,
    make: &dyn Fn(Profile) -> Box<dyn Backend>,
) -> Option<Vec<Selection>> {
    let small = |tensor: &Tensor| tensor.shape().element_count() <= MOST;
    let (params, indices) = (call.operands.get(&names.params)?, call.operands.get(&names.indices)?);
    if !small(params) || !small(indices) || !indices.dtype().is_integer() {
        return None;
    }
    let with = |call: &Call, name, tensor| {
        let mut call = call.clone();
        call.operands.replace(name, tensor);
        call
    };
    let mut numbered = with(call, &names.params, numbered(params.shape())?);
    // A fill value must have the dtype of params, which has just changed.
    numbered.attributes.retain(|_, value| !matches!(value, Attribute::Element(_)));
    let sources = output_of(&mut *make(profile), &numbered).filter(small)?;
    let mut blind = make(Profile { bad: BadIndex::Zero, negative: NegativeIndex::Reject });
    let (probe, bad) = match modes.map(|signature| blind_mode(signature, &numbered)) {
        Some(mode) => mode?,
        None => (numbered, BadIndex::Zero),
    };
    let mut asked = |position: &[usize], index| {
        let changed = with(&probe, &names.indices, with_index(indices, position, &index)?);
        output_of(&mut *blind, &changed)
    };
    let mut selections: Vec<Selection> = Vec::new();
    for position in indices.shape().positions() {
        let near = asked(&position, Element::Bits(0))?;
        let far = asked(&position, far_index(indices.dtype(), bad))?;
        let comes_from = |at: &Vec<usize>| source(&sources.element(at), params.shape());
        let selected = |at: &Vec<usize>| near.element(at) != far.element(at) && comes_from(at).is_some();
        let output: Vec<Vec<usize>> = sources.shape().positions().filter(selected).collect();
        if output.is_empty() {
            continue;
        }
        match selections.last_mut().filter(|last| last.output == output) {
            Some(last) => last.indices.push(position),
            None => {
                let params = output.iter().filter_map(comes_from).collect();
                selections.push(Selection { indices: vec![position], params, output });
            }
        }
    }
    Some(selections)
}

/// Params of the given shape with the elements 1, 2, 3, …, in a dtype that every operator accepts.
fn numbered(shape: &Shape) -> Option<Tensor> {
    let count = u64::try_from(shape.element_count()).ok()?;
    Tensor::new(DType::I64, shape.to_vec(), (1..=count).collect::<Vec<u64>>()).ok()
}

/// The position in params of a numbered element.
fn source(element: &Element, shape: &Shape) -> Option<Vec<usize>> {
    let Element::Bits(number) = element else { return None };
    let at = usize::try_from(number.checked_sub(1)?).ok()?;
    shape.positions().nth(at)
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

/// The indices with the one at `position` replaced.
fn with_index(indices: &Tensor, position: &[usize], index: &Element) -> Option<Tensor> {
    let mut changed = TensorBuilder::new(indices.dtype(), indices.shape().clone()).ok()?;
    for at in indices.shape().positions() {
        changed.push(if at == position { index.clone() } else { indices.element(&at) });
    }
    changed.finish().ok()
}

fn output_of(backend: &mut dyn Backend, call: &Call) -> Option<Tensor> {
    match backend.call(call) {
        Outcome::Output(output) => Some(output),
        _ => None,
    }
}
