//! Laws of form elements, in which each index picks one element at its own position.

use gather_spec::signature::{AttributeRole, Join};
use gather_spec::{Element, Form, Signature};

use super::compare::{agree, equal, made_of};
use super::gathers::{Gather, Needs};
use super::instance::{ALL, ANY, Instance, Law};
use super::stop::Stop;
use super::tensors::{build, integers, transpose};

pub(super) const ARGSORT_SORTS: Law = Law {
    name: "argsort-sorts-along-the-axis",
    statement: "gather_elements(P, argsort(P, axis), axis) = sort(P, axis)",
    example: None,
    forms: &[Form::Elements],
    roles: &[AttributeRole::Axis],
    only: ALL,
    speaks: ANY,
    check: argsort_sorts,
};

pub(super) const IS_ND_ON_COORDINATES: Law = Law {
    name: "elements-are-nd-on-coordinates",
    statement: "gather_elements(P, I, axis)[at] = gather_nd(P, at with I[at] in place of its coordinate on the axis)",
    example: None,
    forms: &[Form::Elements],
    roles: &[],
    only: ALL,
    speaks: ANY,
    check: is_nd_on_coordinates,
};

pub(super) const AXES_PERMUTED: Law = Law {
    name: "axes-permuted",
    statement: "gather_elements(transpose(P), transpose(I), the axis's new place) = transpose(gather_elements(P, I, axis))",
    example: None,
    forms: &[Form::Elements],
    roles: &[AttributeRole::Axis],
    only: ALL,
    speaks: ANY,
    check: axes_permuted,
};

pub(super) const SMALLER_IS_SLICED: Law = Law {
    name: "smaller-indices-are-slices",
    statement: "gather_elements(P cut to the dims of I off the axis, I) = gather_elements(P, I), and the same of a cut output",
    example: None,
    forms: &[Form::Elements],
    roles: &[],
    only: ALL,
    speaks: ANY,
    check: smaller_is_sliced,
};

/// The elements are distinct numbers in some order, so there is exactly one way to sort them.
fn argsort_sorts(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let drawn = instance.gather(Needs::PLAIN)?;
    let (axis, dims, dtype) = (drawn.axis, drawn.params.shape().clone(), drawn.params.dtype());
    let count = dims[axis];
    // A bool has two distinct values.
    if dims.element_count() > 250 || count > if dtype == gather_spec::DType::Bool { 2 } else { 120 } {
        return Err(Stop::Skip("skipped: the elements cannot be told apart"));
    }
    // The rank of a number in its line. It differs from line to line.
    let turn = instance.choices.below(count);
    let step = instance.choices.pick(&[1, count.saturating_sub(1).max(1)]);
    let rank = |position: &[usize]| {
        let line: usize = position.iter().enumerate().filter(|(dim, _)| *dim != axis).map(|(_, at)| at).sum();
        (position[axis] * step + turn + line) % count.max(1)
    };
    let numbered = |rank: usize| match dtype {
        gather_spec::DType::String => Element::Bytes(format!("{rank:03}").into()),
        _ => Element::Bits(rank as u128),
    };
    let params = build(dtype, &dims, |position| numbered(rank(position)))?;
    let sorted = build(dtype, &dims, |position| numbered(position[axis]))?;
    let order = integers(drawn.indices.dtype(), &dims, |position| {
        let mut from = position.to_vec();
        let place = (0..count).find(|at| {
            from[axis] = *at;
            rank(&from) == position[axis]
        });
        place.unwrap_or_default() as i128
    })?;
    let output = instance.output(drawn.with_params(params).with_indices(order).call())?;
    equal(&sorted, &output)
}

fn is_nd_on_coordinates(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let elements = instance.gather(Needs::PLAIN)?;
    let takes = |other: &&Signature| {
        let known = instance.capability(other);
        other.form == Form::Nd
            && known.dtypes.contains(&elements.params.dtype())
            && known.index_dtypes.contains(&elements.indices.dtype())
    };
    let others: Vec<&Signature> = instance.declared().filter(takes).collect();
    if others.is_empty() {
        return Err(Stop::Skip("skipped: not both operators take it"));
    }
    let signature = instance.choices.pick(&others);
    let (shape, rank) = (elements.output_shape(), elements.params.rank());
    let within = |at: usize, dim: usize| if dim == 1 { 0 } else { at };
    let coordinate = |at: &[usize], axis: usize| {
        if axis != elements.axis {
            return within(at[axis], elements.params.shape()[axis]) as i128;
        }
        let dims = elements.indices.shape().iter().enumerate();
        let own: Vec<usize> =
            dims.map(|(dim, size)| if dim == axis { at[dim] } else { within(at[dim], *size) }).collect();
        let index = elements.indices.integer(&own).unwrap_or_default();
        elements.within(index, elements.params.shape()[axis]).map_or(index, |at| at as i128)
    };
    let rows = integers(elements.indices.dtype(), &[&*shape, &[rank]].concat(), |position| {
        coordinate(&position[..rank], position[rank])
    })?;
    let by_rows = Gather { signature, indices: rows, axis: 0, ..elements.clone() };
    let sides = instance.outputs(vec![by_rows.call(), elements.call()])?;
    equal(&sides[0], &sides[1])
}

fn axes_permuted(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let first = instance.gather(Needs { bad: true, ..Needs::PLAIN })?;
    let rank = first.params.rank();
    let mut order: Vec<usize> = (0..rank).collect();
    for at in 1..rank {
        // The simplest draw swaps neighbours.
        let other = at - 1 - instance.choices.below(at).min(at - 1);
        order.swap(at, other);
    }
    let axis = order.iter().position(|axis| *axis == first.axis).unwrap_or_default();
    let turned = Gather {
        params: transpose(&first.params, &order)?,
        indices: transpose(&first.indices, &order)?,
        axis,
        ..first.clone()
    };
    let outcomes = instance.ask(vec![first.call(), turned.call()])?;
    made_of(&outcomes[..1], &outcomes[1], |parts| transpose(&parts[0], &order))
}

/// Params beyond indices are not read off the axis. Where the two must be equal there, params is cut to match, and the
/// output with it.
fn smaller_is_sliced(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let whole = instance.gather(Needs { bad: true, ..Needs::PLAIN })?;
    let cut_to = |tensor: &gather_spec::Tensor, dims: &[usize]| {
        build(tensor.dtype(), dims, |position| tensor.element(position))
    };
    let along = |dims: &[usize], of: &gather_spec::Tensor| {
        let mut dims = dims.to_vec();
        dims[whole.axis] = of.shape()[whole.axis];
        dims
    };
    match whole.signature.join {
        Some(Join::NotLarger) => {
            let params = cut_to(&whole.params, &along(whole.indices.shape(), &whole.params))?;
            let outcomes = instance.ask(vec![whole.with_params(params).call(), whole.call()])?;
            agree(&outcomes[0], &outcomes[1])
        }
        Some(Join::Equal) => {
            let kept: Vec<usize> =
                whole.params.shape().iter().map(|dim| instance.choices.below(dim + 1)).collect();
            let indices = cut_to(&whole.indices, &along(&kept, &whole.indices))?;
            let params = cut_to(&whole.params, &along(&kept, &whole.params))?;
            let shape = indices.shape().clone();
            let part = whole.with_params(params).with_indices(indices);
            // The cut may remove a bad index, so the whole call says something about the part only if it has none.
            let outcomes = instance.ask(vec![whole.call(), part.call()])?;
            match &outcomes[0] {
                gather_spec::Outcome::Output(_) => {
                    made_of(&outcomes[..1], &outcomes[1], |parts| cut_to(&parts[0], &shape))
                }
                _ => Err(Stop::Skip("skipped: a bad index")),
            }
        }
        Some(Join::Broadcast) | None => Err(Stop::Skip("skipped: dims of 1 are repeated, not cut")),
    }
}
