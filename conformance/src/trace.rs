//! Which index selects which slice and where it goes, found by asking an implementation.
//!
//! No operator is known here. The call is repeated with params numbered 1, 2, 3, …, so that each output element
//! tells where it came from; and once per index, with that index made bad under `bad: zero`, so that what
//! turns to zero is what it selected. Slices that are zero to begin with are left out.

use gather_spec::case::OperandNames;
use gather_spec::{
    Attribute, BadIndex, Call, DType, Element, NegativeIndex, Outcome, Profile, Shape, Tensor, TensorBuilder,
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
    let blind = Profile { bad: BadIndex::Zero, negative: NegativeIndex::Reject };
    let mut blind = make(blind);
    let mut selections: Vec<Selection> = Vec::new();
    for position in indices.shape().positions() {
        let without = with(&numbered, &names.indices, with_bad_index(indices, &position)?);
        let left = output_of(&mut *blind, &without)?;
        let becomes_zero = |at: &Vec<usize>| is_zero(&left.element(at)) && !is_zero(&sources.element(at));
        let output: Vec<Vec<usize>> = sources.shape().positions().filter(becomes_zero).collect();
        if output.is_empty() {
            continue;
        }
        match selections.last_mut().filter(|last| last.output == output) {
            Some(last) => last.indices.push(position),
            None => {
                let from = output.iter().filter_map(|at| source(&sources.element(at), params.shape()));
                let params = from.collect();
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

/// The indices with all bits of one set: -1, which is bad where negative indices are rejected.
fn with_bad_index(indices: &Tensor, position: &[usize]) -> Option<Tensor> {
    let mut changed = TensorBuilder::new(indices.dtype(), indices.shape().clone()).ok()?;
    for at in indices.shape().positions() {
        changed.push(if at == position { Element::Bits(u128::MAX) } else { indices.element(&at) });
    }
    changed.finish().ok()
}

fn output_of(backend: &mut dyn Backend, call: &Call) -> Option<Tensor> {
    match backend.call(call) {
        Outcome::Output(output) => Some(output),
        _ => None,
    }
}

fn is_zero(element: &Element) -> bool {
    *element == Element::Bits(0)
}
