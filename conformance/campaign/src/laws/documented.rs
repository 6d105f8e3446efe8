//! The three laws that a document itself states. Each also counts as a documented example.

use gather_spec::signature::AttributeRole;
use gather_spec::{DType, Element, Form, Signature};

use super::compare::{equal, made_of};
use super::gathers::{Gather, Needs, signed};
use super::instance::{ALL, ANY, Instance, Law};
use super::stop::Stop;
use super::tensors::{at, build, integers, stack};
use gather_conformance::internals::shapes::{counts_from, default_of};

pub(super) const SLICE_AT_LOCATION: Law = Law {
    name: "slice-at-location",
    statement: "output[batch, mid, at, ...] = params[batch, mid, indices[batch, at], ...]",
    example: Some("tf-gather/12"),
    forms: &[Form::Take],
    roles: &[],
    only: ALL,
    speaks: ANY,
    check: slice_at_location,
};

pub(super) const BATCH_IS_A_LOOP: Law = Law {
    name: "batch-is-a-loop",
    statement: "gather(P, I, axis, b)[i] = gather(P[i], I[i], axis - 1, b - 1)",
    example: Some("tf-gather/14"),
    forms: &[Form::Take],
    roles: &[AttributeRole::BatchDims],
    only: ALL,
    speaks: ANY,
    check: batch_is_a_loop,
};

pub(super) const ARGSORT_SORTS: Law = Law {
    name: "argsort-sorts",
    statement: "gather(V, argsort(V), batch_dims = -1) = sort(V), along the last axis",
    example: Some("tf-gather/17"),
    forms: &[Form::Take],
    roles: &[AttributeRole::BatchDims],
    only: ALL,
    speaks: ANY,
    check: argsort_sorts,
};

/// `tf-gather/12`: the slice of the output at a position of indices equals the slice of params, along the axis, at the
/// index in that position.
fn slice_at_location(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let gather = instance.gather(Needs { batch: (0, 2), ..Needs::PLAIN })?;
    let output = instance.output(gather.call())?;
    let Gather { params, indices, axis, batch, .. } = &gather;
    let locations = indices.rank() - batch;
    let expected = build(params.dtype(), &gather.output_shape(), |position| {
        let (before, rest) = position.split_at(*axis);
        let (location, inner) = rest.split_at(locations);
        let index = indices.integer(&[&before[..*batch], location].concat()).unwrap_or_default();
        match gather.within(index, params.shape()[*axis]) {
            Some(index) => params.element(&[before, &[index], inner].concat()),
            None => Element::zero(params.dtype()),
        }
    })?;
    equal(&expected, &output)
}

/// `tf-gather/14`: a batch dim equals a loop over the first axis, with the axis reduced by one.
fn batch_is_a_loop(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let whole = instance.gather(Needs { batch: (1, 3), bad: true, ..Needs::PLAIN })?;
    looped(instance, &whole)
}

/// Compares a call that has a batch with a loop over its first axis.
pub(super) fn looped(instance: &mut Instance<'_>, whole: &Gather<'_>) -> Result<(), Stop> {
    let mut calls = Vec::new();
    for turn in 0..whole.params.shape()[0] {
        let part = Gather {
            params: at(&whole.params, &[turn])?,
            indices: at(&whole.indices, &[turn])?,
            axis: whole.axis.saturating_sub(1),
            batch: whole.batch - 1,
            ..whole.clone()
        };
        calls.push(part.call());
    }
    calls.push(whole.call());
    let mut outcomes = instance.ask(calls)?;
    let batched = outcomes.pop().ok_or(Stop::Skip("skipped: no answer"))?;
    let shape = whole.output_shape();
    made_of(&outcomes, &batched, |parts| stack(whole.params.dtype(), parts, &shape[1..]))
}

/// `tf-gather/17`: gathering by the argsort of the last axis, with `batch_dims = -1`, sorts the values.
fn argsort_sorts(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let law = instance.law;
    let sorts = |signature: &&Signature| {
        let known = instance.capability(signature);
        law.is_about(signature) && !known.index_dtypes.is_empty() && known.dtypes.contains(&DType::I64)
    };
    let sorting: Vec<&Signature> = instance.declared().filter(sorts).collect();
    if sorting.is_empty() {
        return Err(Stop::Skip("skipped: the operator is not declared"));
    }
    let signature = instance.choices.pick(&sorting);
    let index_dtype = instance.choices.pick(&instance.capability(signature).index_dtypes);
    let rank = 1 + instance.choices.below(3);
    let dims: Vec<usize> = (0..rank).map(|_| instance.choices.pick(&[2, 1, 3, 4, 5, 0])).collect();
    let values = integers(DType::I64, &dims, |_| instance.choices.below(50) as i128)?;
    let value = |position: &[usize]| values.integer(position).unwrap_or_default();
    let order =
        integers(index_dtype, &dims, |position| nth_smallest(position, dims[rank - 1], &value) as i128)?;
    let sorted = integers(DType::I64, &dims, |position| {
        let nth = nth_smallest(position, dims[rank - 1], &value);
        value(&[&position[..rank - 1], &[nth]].concat())
    })?;
    let (mode, profile) = instance.policies(signature);
    let last = rank - 1;
    let gather = Gather {
        signature,
        params: values,
        indices: order,
        axis: last,
        batch: last,
        mode,
        fill_value: None,
        profile,
    };
    // Counts the last axis from the end where that is allowed. An axis equal to its default is sometimes omitted.
    let ranks = gather.ranks();
    let from_end = |role| counts_from(signature, role, ranks).map_or(signed(last), |_| -1);
    let is_default = default_of(signature, AttributeRole::Axis, ranks) == Some(last);
    let axis = (!is_default || instance.choices.once_in(2)).then(|| from_end(AttributeRole::Axis));
    let call = gather.spell(axis, Some(from_end(AttributeRole::BatchDims)));
    equal(&sorted, &instance.output(call)?)
}

/// The index of the value that sorting moves to this position. The sort is stable.
fn nth_smallest(position: &[usize], len: usize, value: &impl Fn(&[usize]) -> i128) -> usize {
    let (nth, row) = position.split_last().expect("a rank of at least 1");
    let mut places: Vec<usize> = (0..len).collect();
    places.sort_by_key(|place| value(&[row, &[*place]].concat()));
    places[*nth]
}
