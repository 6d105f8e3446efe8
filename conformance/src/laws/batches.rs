//! Laws about attributes: batches of rows, defaults, and what counts from the end.

use gather_spec::{Attribute, Call};

use super::documented::looped;
use super::gathers::{Family, Gather, Wish};
use super::lab::{Lab, Stop, agree};
use super::{ANY, Law};

pub(super) const BATCH_OF_ROWS_IS_A_LOOP: Law = Law {
    name: "batch-of-rows-is-a-loop",
    statement: "gather_nd(P, I, b)[i] = gather_nd(P[i], I[i], b - 1)",
    example: None,
    clauses: &["tf.gather_nd.batch.loop", "tf.gather_nd.shape.batched"],
    speaks_of: ANY,
    check: batch_of_rows_is_a_loop,
};

pub(super) const DEFAULTS_ARE_WHAT_THEY_STAND_FOR: Law = Law {
    name: "defaults-are-what-they-stand-for",
    statement: "an absent batch_dims is 0, an absent axis is batch_dims, validate_indices has no effect",
    example: None,
    clauses: &[
        "tf.gather_nd.batch.default",
        "tf.gather.batch.default-none",
        "tf.gather.axis.default-first-non-batch",
        "tf.gather.index.validate-indices-ignored",
    ],
    speaks_of: ANY,
    check: defaults_are_what_they_stand_for,
};

pub(super) const NEGATIVE_COUNTS_FROM_THE_END: Law = Law {
    name: "negative-counts-from-the-end",
    statement: "gather(P, I, axis - rank(P), b - rank(I)) = gather(P, I, axis, b)",
    example: None,
    clauses: &[
        "tf.gather.axis.negative",
        "tf.gather.batch.negative",
        "tf.gather.axis.default-after-normalising",
    ],
    speaks_of: ANY,
    check: negative_counts_from_the_end,
};

fn batch_of_rows_is_a_loop(lab: &mut Lab<'_>) -> Result<(), Stop> {
    let whole = lab.gather(Wish { family: Family::Rows, batch: (1, 3), bad: true, ..Wish::PLAIN })?;
    looped(lab, &whole)
}

fn defaults_are_what_they_stand_for(lab: &mut Lab<'_>) -> Result<(), Stop> {
    let gather = lab.gather(Wish { batch: (0, 2), bad: true, ..Wish::PLAIN })?;
    let (one_axis, nd) = (gather.is_one_axis(), gather.operator.as_str() == "tf.gather_nd");
    let mut spelled = gather.call();
    if one_axis || nd {
        spelled.attributes.insert("batch_dims".to_owned(), integer(gather.batch));
    }
    if one_axis {
        spelled.attributes.insert("axis".to_owned(), integer(gather.axis));
        let validate = lab.choices.once_in(2);
        spelled.attributes.insert("validate_indices".to_owned(), Attribute::Boolean(validate));
    }
    both(lab, &gather, spelled)
}

fn negative_counts_from_the_end(lab: &mut Lab<'_>) -> Result<(), Stop> {
    let gather = lab.gather(Wish { family: Family::OneAxis, batch: (0, 2), bad: true, ..Wish::PLAIN })?;
    let mut counted = gather.call();
    let axis = signed(gather.axis) - signed(gather.params.rank());
    let batch = signed(gather.batch) - signed(gather.indices.rank());
    // An axis that is the default stays away now and then.
    if gather.axis != gather.batch || lab.choices.once_in(2) {
        counted.attributes.insert("axis".to_owned(), Attribute::Integer(axis));
    }
    if batch < 0 {
        counted.attributes.insert("batch_dims".to_owned(), Attribute::Integer(batch));
    }
    both(lab, &gather, counted)
}

/// Asks a call in both spellings.
fn both(lab: &mut Lab<'_>, gather: &Gather, other: Call) -> Result<(), Stop> {
    let outcomes = lab.ask(vec![gather.call(), other])?;
    agree(&outcomes[0], &outcomes[1])
}

fn integer(value: usize) -> Attribute {
    Attribute::Integer(signed(value))
}

fn signed(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
