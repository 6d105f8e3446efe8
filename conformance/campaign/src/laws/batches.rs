//! Laws about attributes: batches as loops, defaults, and values that count from the end.

use gather_spec::signature::{AttributeRole, AttributeType};
use gather_spec::{Attribute, Call, Form};

use super::compare::agree;
use super::documented::looped;
use super::gathers::{Gather, Needs, signed};
use super::instance::{ALL, ANY, EVERY_FORM, Instance, Law};
use super::stop::Stop;
use crate::generate::parts::from_end;
use gather_conformance::internals::shapes::default_of;

pub(super) const BATCH_OF_ROWS_IS_A_LOOP: Law = Law {
    name: "batch-of-rows-is-a-loop",
    statement: "gather_nd(P, I, b)[i] = gather_nd(P[i], I[i], b - 1)",
    example: None,
    forms: &[Form::Nd],
    roles: &[AttributeRole::BatchDims],
    only: ALL,
    speaks: ANY,
    check: batch_of_rows_is_a_loop,
};

pub(super) const DEFAULTS_ARE_WHAT_THEY_STAND_FOR: Law = Law {
    name: "defaults-are-what-they-stand-for",
    statement: "an absent attribute is its default, and one without effect has none",
    example: None,
    forms: EVERY_FORM,
    roles: &[],
    only: ALL,
    speaks: ANY,
    check: defaults_are_what_they_stand_for,
};

pub(super) const NEGATIVE_COUNTS_FROM_THE_END: Law = Law {
    name: "negative-counts-from-the-end",
    statement: "gather(P, I, axis - rank(P), b - rank(I)) = gather(P, I, axis, b)",
    example: None,
    forms: &[Form::Take, Form::Elements],
    roles: &[],
    only: ALL,
    speaks: ANY,
    check: negative_counts_from_the_end,
};

fn batch_of_rows_is_a_loop(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let whole = instance.gather(Needs { batch: (1, 3), bad: true, ..Needs::PLAIN })?;
    looped(instance, &whole)
}

fn defaults_are_what_they_stand_for(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let gather = instance.gather(Needs { batch: (0, 2), bad: true, ..Needs::PLAIN })?;
    let mut spelled = gather.spell(Some(signed(gather.axis)), Some(signed(gather.batch)));
    for one in gather.signature.attributes.iter().filter(|one| one.role == AttributeRole::Ignored) {
        let value = match one.r#type {
            AttributeType::Boolean => Attribute::Boolean(instance.choices.once_in(2)),
            AttributeType::Integer => Attribute::Integer(signed(instance.choices.below(3))),
            AttributeType::String => Attribute::String("anything".to_owned()),
            // An element attribute is a fill value, which has an effect.
            AttributeType::Integers | AttributeType::Element => Attribute::Integers(Vec::new()),
        };
        spelled.attributes.insert(one.name.clone(), value);
    }
    both(instance, &gather, spelled)
}

fn negative_counts_from_the_end(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let gather = instance.gather(Needs { batch: (0, 2), bad: true, ..Needs::PLAIN })?;
    let ranks = gather.ranks();
    let negative = |role, value| from_end(gather.signature, role, value, ranks);
    let batch_dims = negative(AttributeRole::BatchDims, gather.batch).or(Some(signed(gather.batch)));
    let axis = negative(AttributeRole::Axis, gather.axis).or(Some(signed(gather.axis)));
    // An axis equal to its default is sometimes omitted.
    let is_default = default_of(gather.signature, AttributeRole::Axis, ranks) == Some(gather.axis);
    let axis = axis.filter(|_| !is_default || instance.choices.once_in(2));
    both(instance, &gather, gather.spell(axis, batch_dims))
}

/// Asks the same call in both spellings, which must agree.
fn both(instance: &mut Instance<'_>, gather: &Gather<'_>, other: Call) -> Result<(), Stop> {
    let outcomes = instance.ask(vec![gather.call(), other])?;
    agree(&outcomes[0], &outcomes[1])
}
