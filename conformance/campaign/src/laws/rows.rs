//! Laws about index rows: concatenating, permuting or repeating them does the same to the slices of the output.

use gather_spec::Outcome;

use super::compare::made_of;
use super::gathers::{Gather, Needs};
use super::instance::{ALL, ANY, EVERY_FORM, FREE_ROWS, Instance, Law};
use super::stop::Stop;
use super::tensors::{concat, reshape, select};

pub(super) const CONCATENATED: Law = Law {
    name: "concatenated-indices",
    statement: "G(P, I ++ J) = G(P, I) ++ G(P, J)",
    example: None,
    forms: EVERY_FORM,
    roles: &[],
    only: ALL,
    speaks: ANY,
    check: concatenated,
};

pub(super) const PERMUTED: Law = Law {
    name: "permuted-indices",
    statement: "G(P, permute(I)) = permute(G(P, I))",
    example: None,
    forms: EVERY_FORM,
    roles: &[],
    only: ALL,
    speaks: ANY,
    check: permuted,
};

pub(super) const REPEATED: Law = Law {
    name: "repeated-indices",
    statement: "G(P, repeat(I)) = repeat(G(P, I))",
    example: None,
    forms: EVERY_FORM,
    roles: &[],
    only: ALL,
    speaks: ANY,
    check: repeated,
};

pub(super) const RESHAPED: Law = Law {
    name: "reshaped-indices",
    statement: "G(P, reshape(I)) = reshape(G(P, I))",
    example: None,
    forms: FREE_ROWS,
    roles: &[],
    only: ALL,
    speaks: ANY,
    check: reshaped,
};

/// A valid call with at least one outer axis of indices.
const NEEDS: Needs = Needs { batch: (0, 2), outer: 1, bad: true, ..Needs::PLAIN };

fn concatenated(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let (whole, axis) = with_an_axis(instance)?;
    let len = whole.indices.shape()[axis];
    let cut = instance.choices.below(len + 1);
    let places: Vec<usize> = (0..len).collect();
    let part =
        |places: &[usize]| Ok::<_, Stop>(whole.with_indices(select(&whole.indices, axis, places)?).call());
    let outcomes = instance.ask(vec![part(&places[..cut])?, part(&places[cut..])?, whole.call()])?;
    made_of(&outcomes[..2], &outcomes[2], |parts| concat(&parts[0], &parts[1], whole.output_axis(axis)))
}

fn permuted(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let (first, axis) = with_an_axis(instance)?;
    let len = first.indices.shape()[axis];
    let mut places: Vec<usize> = (0..len).collect();
    for at in 1..len {
        // The simplest draw swaps neighbours.
        let other = at - 1 - instance.choices.below(at).min(at - 1);
        places.swap(at, other);
    }
    selected(instance, &first, axis, &places)
}

fn repeated(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let (first, axis) = with_an_axis(instance)?;
    let len = first.indices.shape()[axis];
    let mut places: Vec<usize> = (0..len).collect();
    for _ in 0..if len > 0 { 1 + instance.choices.below(3) } else { 0 } {
        places.push(instance.choices.below(len));
    }
    selected(instance, &first, axis, &places)
}

/// Requires that selecting index rows, each at least once, selects the same slices of the output.
fn selected(
    instance: &mut Instance<'_>,
    first: &Gather<'_>,
    axis: usize,
    places: &[usize],
) -> Result<(), Stop> {
    let second = first.with_indices(select(&first.indices, axis, places)?);
    let outcomes: Vec<Outcome> = instance.ask(vec![first.call(), second.call()])?;
    made_of(&outcomes[..1], &outcomes[1], |parts| select(&parts[0], first.output_axis(axis), places))
}

fn reshaped(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let first = instance.gather(NEEDS)?;
    let outer = first.outer_axes();
    let dims = first.indices.shape();
    let count: usize = dims[outer.clone()].iter().product();
    let flat_or_split = match instance.choices.below(3) {
        0 => vec![count],
        1 => vec![1, count],
        _ if count.is_multiple_of(2) => vec![count / 2, 2],
        _ => vec![count, 1, 1],
    };
    let other =
        |dims: &[usize], from: usize, to: usize| [&dims[..from], &flat_or_split, &dims[to..]].concat();
    let second = first.with_indices(reshape(&first.indices, &other(dims, outer.start, outer.end))?);
    let from = first.output_axis(outer.start);
    let output = other(&first.output_shape(), from, from + outer.len());
    let outcomes = instance.ask(vec![first.call(), second.call()])?;
    made_of(&outcomes[..1], &outcomes[1], |parts| reshape(&parts[0], &output))
}

fn with_an_axis<'a>(instance: &mut Instance<'a>) -> Result<(Gather<'a>, usize), Stop> {
    let gather = instance.gather(NEEDS)?;
    let outer = gather.outer_axes();
    let axis = outer.start + instance.choices.below(outer.len());
    Ok((gather, axis))
}
