//! Laws about indices out of range, each for the policies to which it applies.

use gather_spec::signature::AttributeRole;
use gather_spec::{BadIndex, NegativeIndex};

use super::compare::agree;
use super::gathers::Needs;
use super::instance::{ALL, EVERY_FORM, Instance, Law};
use super::stop::Stop;
use super::tensors::{integers, padded};

pub(super) const FILLING_IS_PADDING: Law = Law {
    name: "filling-is-padding",
    statement: "bad: zero, fill: G(P, I) = G(P padded with what fills, I with each bad index at the padding)",
    example: None,
    forms: EVERY_FORM,
    roles: &[],
    only: ALL,
    speaks: |profile| FILLS.contains(&profile.bad),
    check: filling_is_padding,
};

pub(super) const CLAMP_IS_CLAMPING: Law = Law {
    name: "clamp-is-clamping",
    statement: "bad: clamp: G(P, I) = G(P, clamp(I))",
    example: None,
    forms: EVERY_FORM,
    roles: &[],
    only: ALL,
    speaks: |profile| profile.bad == BadIndex::Clamp,
    check: clamp_is_clamping,
};

pub(super) const WRAP_IS_ADDING: Law = Law {
    name: "wrap-is-adding",
    statement: "negative: wrap: G(P, I) = G(P, I + size where -size <= I < 0)",
    example: None,
    forms: EVERY_FORM,
    roles: &[],
    only: ALL,
    speaks: |profile| profile.negative == NegativeIndex::Wrap,
    check: wrap_is_adding,
};

pub(super) const MODULO_IS_THE_REMAINDER: Law = Law {
    name: "modulo-is-the-remainder",
    statement: "bad: modulo: G(P, I) = G(P, I mod size)",
    example: None,
    forms: EVERY_FORM,
    roles: &[AttributeRole::Mode],
    only: ALL,
    speaks: |profile| profile.bad == BadIndex::Modulo,
    check: modulo_is_the_remainder,
};

pub(super) const LATER_ROWS: Law = Law {
    name: "later-rows-do-not-matter",
    statement: "bad: error: what follows the first bad index does not change the error",
    example: None,
    forms: EVERY_FORM,
    roles: &[],
    only: ALL,
    speaks: |profile| profile.bad == BadIndex::Error,
    check: later_rows,
};

/// The policies that fill the slice of a bad index.
pub(super) const FILLS: [BadIndex; 2] = [BadIndex::Zero, BadIndex::Fill];

const NEEDS: Needs = Needs { batch: (0, 2), bad: true, ..Needs::PLAIN };

fn filling_is_padding(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let gather = instance.gather(NEEDS)?;
    if !FILLS.contains(&gather.profile.bad) {
        return Err(Stop::Skip("skipped: another policy"));
    }
    let placed = gather.map_indices(|index, bound| gather.within(index, bound).unwrap_or(bound) as i128)?;
    let filler = gather.signature.filler(gather.profile, gather.params.dtype(), gather.fill_value.as_ref());
    let placed = placed.with_params(padded(&gather.params, gather.selected_axes(), &filler)?);
    let outcomes = instance.ask(vec![placed.call(), gather.call()])?;
    agree(&outcomes[0], &outcomes[1])
}

fn clamp_is_clamping(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let gather = instance.gather(NEEDS)?;
    if gather.profile.bad != BadIndex::Clamp || gather.params.shape()[gather.selected_axes()].contains(&0) {
        return Err(Stop::Skip("skipped: another policy, or an empty axis"));
    }
    let clamped = gather.map_indices(|index, bound| match gather.within(index, bound) {
        Some(good) => good as i128,
        None => index.clamp(0, bound as i128 - 1),
    })?;
    let outcomes = instance.ask(vec![clamped.call(), gather.call()])?;
    agree(&outcomes[0], &outcomes[1])
}

fn wrap_is_adding(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let gather = instance.gather(NEEDS)?;
    if gather.profile.negative != NegativeIndex::Wrap {
        return Err(Stop::Skip("skipped: another policy"));
    }
    let added =
        gather.map_indices(|index, bound| gather.within(index, bound).map_or(index, |at| at as i128))?;
    let outcomes = instance.ask(vec![added.call(), gather.call()])?;
    agree(&outcomes[0], &outcomes[1])
}

fn modulo_is_the_remainder(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let gather = instance.gather(NEEDS)?;
    if gather.params.shape()[gather.selected_axes()].contains(&0) {
        return Err(Stop::Skip("skipped: another policy, or an empty axis"));
    }
    let reduced = gather.map_indices(|index, bound| index.rem_euclid(bound as i128))?;
    let outcomes = instance.ask(vec![reduced.call(), gather.call()])?;
    agree(&outcomes[0], &outcomes[1])
}

fn later_rows(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let gather = instance.gather(Needs { bad: false, some_index: true, ..NEEDS })?;
    if gather.profile.bad != BadIndex::Error {
        return Err(Stop::Skip("skipped: another policy"));
    }
    let count = gather.indices.shape().element_count();
    let bad_at = instance.choices.below(count);
    let changed: Vec<i128> = (0..count).map(|_| instance.choices.below(1000) as i128 - 500).collect();
    let variant = |change: bool| {
        let mut at = 0;
        let indices = integers(gather.indices.dtype(), gather.indices.shape(), |position| {
            let (here, good) = (at, gather.indices.integer(position).unwrap_or_default());
            at += 1;
            match here.cmp(&bad_at) {
                std::cmp::Ordering::Equal => gather.bound(position) as i128,
                std::cmp::Ordering::Greater if change => changed[here],
                _ => good,
            }
        })?;
        Ok::<_, Stop>(gather.with_indices(indices).call())
    };
    let outcomes = instance.ask(vec![variant(false)?, variant(true)?])?;
    agree(&outcomes[0], &outcomes[1])
}
