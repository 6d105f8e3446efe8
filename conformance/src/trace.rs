//! Which index selects which slice and where it goes, found by asking an implementation.
//!
//! No operator is known here. The call is repeated with params numbered 1, 2, 3, …, so that each output element
//! tells where it came from; and twice per index, with that index 0 and then far out of range under a policy that is no
//! error: `bad: zero` or, where the mode of a call chooses, a mode that fills or else one that clamps. What differs is what
//! the index selects. Slices that come from no place in params are left out.

use gather_spec::case::OperandNames;
use gather_spec::dtype::Kind;
use gather_spec::signature::AttributeRole;
use gather_spec::{
    Attribute, BadIndex, Call, DType, Element, NegativeIndex, Outcome, Profile, Shape, Signature, Tensor,
    TensorBuilder,
};

use crate::backend::Backend;

/// The most elements that are traced.
const MOST: usize = 256;

/// One index (or row of them), what it selects and where that goes: multi-indices, in row-major order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Positions in indices.
    pub indices: Vec<Vec<usize>>,
    /// Positions in params, one per output position.
    pub params: Vec<Vec<usize>>,
    /// Positions in the output.
    pub output: Vec<Vec<usize>>,
}

/// Traces a call through backends that `make` gives for a profile; `None` if there is no output, or too much.
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
    // A fill value has the dtype that params had.
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

/// Params of the given shape that hold 1, 2, 3, …, in a dtype that every operator takes.
fn numbered(shape: &Shape) -> Option<Tensor> {
    let count = u64::try_from(shape.element_count()).ok()?;
    Tensor::new(DType::I64, shape.to_vec(), (1..=count).collect::<Vec<u64>>()).ok()
}

/// Where in params a numbered element came from.
fn source(element: &Element, shape: &Shape) -> Option<Vec<usize>> {
    let Element::Bits(number) = element else { return None };
    let at = usize::try_from(number.checked_sub(1)?).ok()?;
    shape.positions().nth(at)
}

/// The call in a mode that is no error, and its policy: one that fills, or one that clamps.
fn blind_mode(signature: &Signature, call: &Call) -> Option<(Call, BadIndex)> {
    let of = |bad| signature.modes().iter().find(|mode| mode.profile.bad == bad);
    let mode = of(BadIndex::Fill).or_else(|| of(BadIndex::Clamp))?;
    let mut call = call.clone();
    let name = signature.attribute(AttributeRole::Mode)?.name.clone();
    call.attributes.insert(name, Attribute::String(mode.mode.clone()));
    Some((call, mode.profile.bad))
}

/// An index that selects something else than 0 does: one that is bad, or the last one where it is clamped.
fn far_index(dtype: DType, bad: BadIndex) -> Element {
    let (sign, signed) = (1 << (8 * dtype.size() - 1), dtype.kind() == Kind::Signed);
    Element::Bits(match bad {
        _ if !signed => 2 * sign - 1,
        BadIndex::Clamp => sign - 1,
        _ => sign,
    })
}

/// The indices with one of them replaced.
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
