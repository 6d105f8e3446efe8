//! Right to reject, wrong in what is reported: code, precedence, position, fields.

use gather_spec::{ErrorCode, ErrorFields};

use super::mutant::{Mutant, WRAP};
use gather_campaign::model::{self, ModelCall, ORDER, ShapeParts};

pub(super) static MUTANTS: &[Mutant] = &[
    Mutant::new(
        "no-code",
        "refuses without saying which error it is",
        "class: errors that are texts, which only people can tell apart",
        |model| model.code = |_| None,
    ),
    Mutant::new(
        "one-code-for-all",
        "reports every error as a bad index",
        "class: one exception for everything",
        |model| model.code = |_| Some(ErrorCode::IndexOutOfRange),
    ),
    Mutant::new(
        "rank-reported-as-depth",
        "reports a wrong rank of indices as too many components",
        "class: a code that a later check gives",
        |model| {
            model.code = |code| match code {
                ErrorCode::IndicesRank => Some(ErrorCode::IndexDepth),
                code => Some(code),
            };
        },
    ),
    Mutant::new(
        "batch-dims-reported-as-axis",
        "reports batch_dims out of range as an axis out of range",
        "class: one message for two attributes",
        |model| {
            model.code = |code| match code {
                ErrorCode::BatchDimsOutOfRange => Some(ErrorCode::AxisOutOfRange),
                code => Some(code),
            };
        },
    ),
    Mutant::new(
        "axis-before-batch-reported-as-range",
        "reports an axis before the batch as one out of range",
        "class: one message for two rules",
        |model| {
            model.code = |code| match code {
                ErrorCode::AxisBeforeBatch => Some(ErrorCode::AxisOutOfRange),
                code => Some(code),
            };
        },
    ),
    Mutant::new(
        "dtypes-looked-at-last",
        "looks at the dtype of indices after everything else",
        "class: shapes are inferred first, dtypes choose a kernel later",
        |model| {
            model.order = const {
                let mut order = ORDER;
                let mut at = 0;
                while at + 1 < order.len() {
                    if order[at] as usize == ErrorCode::IndexDtype as usize {
                        (order[at], order[at + 1]) = (order[at + 1], order[at]);
                    }
                    at += 1;
                }
                &{ order }
            };
        },
    ),
    Mutant::new(
        "indices-looked-at-before-the-size",
        "looks for bad indices before the size of the output",
        "class: a precedence turned round",
        |model| model.order = const { &swapped(ErrorCode::OutputTooLarge, ErrorCode::IndexOutOfRange) },
    ),
    Mutant::new(
        "size-looked-at-before-the-depth",
        "looks at the size of the output before the depth",
        "class: a precedence turned round",
        |model| model.order = const { &swapped(ErrorCode::IndexDepth, ErrorCode::OutputTooLarge) },
    ),
    Mutant::new(
        "depth-looked-at-before-the-batch-shapes",
        "looks at the depth before the batch shapes",
        "class: a precedence turned round",
        |model| model.order = const { &swapped(ErrorCode::BatchShapeMismatch, ErrorCode::IndexDepth) },
    ),
    Mutant::new(
        "batch-shapes-looked-at-before-the-axis",
        "compares batch shapes before it holds the axis against the batch",
        "class: a precedence turned round",
        |model| model.order = const { &swapped(ErrorCode::AxisBeforeBatch, ErrorCode::BatchShapeMismatch) },
    ),
    Mutant::new(
        "axis-looked-at-before-batch-dims",
        "looks at the axis before batch_dims",
        "class: a precedence turned round",
        |model| model.order = const { &swapped(ErrorCode::BatchDimsOutOfRange, ErrorCode::AxisOutOfRange) },
    ),
    Mutant::new(
        "batch-dims-looked-at-before-the-rank",
        "looks at batch_dims before the rank of indices",
        "class: a precedence turned round",
        |model| model.order = const { &swapped(ErrorCode::IndicesRank, ErrorCode::BatchDimsOutOfRange) },
    ),
    Mutant::new(
        "ranks-looked-at-before-dtypes",
        "looks at the rank of params before the dtype of indices",
        "class: a precedence turned round",
        |model| model.order = const { &swapped(ErrorCode::IndexDtype, ErrorCode::ParamsRank) },
    ),
    Mutant::new(
        "ranks-looked-at-before-a-missing-axis",
        "looks at the rank of params before it asks for an axis",
        "class: a precedence turned round",
        |model| model.order = const { &moved(ErrorCode::AxisRequired, ErrorCode::ParamsRank) },
    ),
    Mutant::new(
        "axis-looked-at-before-the-ranks",
        "looks at the axis before it compares the ranks",
        "class: a precedence turned round",
        |model| model.order = const { &moved(ErrorCode::RankMismatch, ErrorCode::AxisOutOfRange) },
    ),
    Mutant::new(
        "join-looked-at-before-the-axis",
        "compares the dims off the axis before it looks at the axis",
        "class: a precedence turned round",
        |model| model.order = const { &moved(ErrorCode::JoinMismatch, ErrorCode::AxisOutOfRange) },
    ),
    Mutant::new(
        "size-looked-at-before-the-join",
        "looks at the size of the output before the dims off the axis",
        "class: a precedence turned round",
        |model| model.order = const { &moved(ErrorCode::JoinMismatch, ErrorCode::OutputTooLarge) },
    ),
    Mutant::new(
        "join-reported-as-rank",
        "reports dims off the axis that do not fit as ranks that differ",
        "class: one message for two rules",
        |model| {
            model.code = |code| match code {
                ErrorCode::JoinMismatch => Some(ErrorCode::RankMismatch),
                code => Some(code),
            };
        },
    ),
    Mutant::new(
        "last-offender",
        "names the last bad index, not the first",
        "tensorflow 2.21.0, tf.gather_nd with several bad rows: whichever was stored last is named",
        |model| {
            model.offender =
                |call, dims, indices| (0..indices.len()).rev().find(|at| is_bad(call, dims, indices, *at));
        },
    ),
    Mutant::new(
        "offender-by-components",
        "looks at all first components before all second ones",
        "class: a check per column",
        |model| {
            model.offender = |call, dims, indices| {
                let depth = dims.depth.max(1);
                (0..depth)
                    .flat_map(|component| (component..indices.len()).step_by(depth))
                    .find(|at| is_bad(call, dims, indices, *at))
            };
        },
    ),
    Mutant::new(
        "large-before-negative",
        "names an index that is too large before one that is negative",
        "class: two passes over the indices",
        |model| {
            model.offender = |call, dims, indices| {
                let large = |at: &usize| indices[*at] >= model::bound_of(dims, *at) as i128;
                (0..indices.len()).find(large).or_else(|| model::offender(call, dims, indices))
            };
        },
    ),
    Mutant::new(
        "position-flat",
        "says where a bad index stands by one number, whatever the rank",
        "class: a flat position",
        |model| {
            model.offence = |call, dims, indices, at| {
                let position = Some(vec![at / row_length(call)]);
                ErrorFields { position, ..model::offence(call, dims, indices, at) }
            };
        },
    ),
    Mutant::new(
        "position-transposed",
        "says where a bad index stands from the last axis to the first",
        "class: column-major positions",
        |model| {
            model.offence = |call, dims, indices, at| {
                let mut fields = model::offence(call, dims, indices, at);
                fields.position.iter_mut().for_each(|position| position.reverse());
                fields
            };
        },
    ),
    Mutant::new(
        "position-within-the-batch",
        "leaves the batch out of where a bad index stands",
        "class: a position in what one worker sees",
        |model| {
            model.offence = |call, dims, indices, at| {
                let mut fields = model::offence(call, dims, indices, at);
                let batch = call.batch();
                fields.position.iter_mut().for_each(|position| drop(position.drain(..batch)));
                fields
            };
        },
    ),
    Mutant::new(
        "position-from-1",
        "counts positions from 1",
        "class: languages that count from 1",
        |model| {
            model.offence = |call, dims, indices, at| {
                let mut fields = model::offence(call, dims, indices, at);
                fields.position.iter_mut().flatten().for_each(|at| *at += 1);
                fields
            };
        },
    ),
    Mutant::new(
        "component-0",
        "always names the first component",
        "class: a field that is never filled",
        |model| {
            model.offence = |call, dims, indices, at| ErrorFields {
                component: Some(0),
                ..model::offence(call, dims, indices, at)
            };
        },
    ),
    Mutant::new(
        "component-in-the-position",
        "makes the component a part of the position",
        "class: the multi-index of the element for that of the row",
        |model| {
            model.offence = |call, dims, indices, at| {
                let mut fields = model::offence(call, dims, indices, at);
                fields.position.iter_mut().for_each(|position| position.extend(fields.component));
                fields
            };
        },
    ),
    Mutant::new(
        "index-after-wrapping",
        "reports a bad negative index with the size of its axis added",
        "class: a value that was overwritten before it is reported",
        |model| {
            model.offence = |call, dims, indices, at| {
                let bound = model::bound_of(dims, at) as i128;
                let index = indices[at] + if indices[at] < 0 { bound } else { 0 };
                ErrorFields { index: Some(index), ..model::offence(call, dims, indices, at) }
            };
        },
    )
    .under(&[WRAP]),
    Mutant::new(
        "index-as-unsigned",
        "reports a negative index as a large one",
        "class: a value printed as unsigned",
        |model| {
            model.offence = |call, dims, indices, at| {
                let index = indices[at] + if indices[at] < 0 { 1 << 64 } else { 0 };
                ErrorFields { index: Some(index), ..model::offence(call, dims, indices, at) }
            };
        },
    ),
    Mutant::new(
        "bound-less-one",
        "reports the largest index for the bound",
        "class: an end that is included",
        |model| {
            model.offence = |call, dims, indices, at| {
                let bound = model::bound_of(dims, at).checked_sub(1);
                ErrorFields { bound, ..model::offence(call, dims, indices, at) }
            };
        },
    ),
    Mutant::new(
        "bound-of-params-first-axis",
        "reports the size of the first axis of params for the bound",
        "class: the size of another axis",
        |model| {
            model.offence = |call, dims, indices, at| {
                let bound = call.params().first().copied();
                ErrorFields { bound, ..model::offence(call, dims, indices, at) }
            };
        },
    ),
    Mutant::new(
        "bytes-capped",
        "reports at most 2^64 - 1 bytes for an output that is too large",
        "class: a size that saturates",
        |model| {
            model.bytes = |dims, dtype| gather_spec::shape::nonzero_bytes(dims, dtype).min(u64::MAX.into());
        },
    ),
];

/// The order of the checks with two of them swapped.
const fn swapped(one: ErrorCode, other: ErrorCode) -> [ErrorCode; ORDER.len()] {
    let mut order = ORDER;
    let (mut at, mut first, mut second) = (0, 0, 0);
    while at < order.len() {
        if order[at] as usize == one as usize {
            first = at;
        }
        if order[at] as usize == other as usize {
            second = at;
        }
        at += 1;
    }
    order[first] = other;
    order[second] = one;
    order
}

/// The order of the checks with one moved to the position of another, and those between shifted.
const fn moved(one: ErrorCode, other: ErrorCode) -> [ErrorCode; ORDER.len()] {
    let mut order = ORDER;
    let mut at = 0;
    while order[at] as usize != one as usize {
        at += 1;
    }
    let later = (one as usize) < other as usize;
    while ORDER[at] as usize != other as usize {
        let next = if later { at + 1 } else { at - 1 };
        (order[at], order[next]) = (order[next], order[at]);
        at = next;
    }
    order
}

fn is_bad(call: &ModelCall<'_>, dims: &ShapeParts, indices: &[i128], at: usize) -> bool {
    call.within(indices[at], model::bound_of(dims, at)).is_none()
}

/// The number of index values that share a position.
fn row_length(call: &ModelCall<'_>) -> usize {
    if call.by_rows() { call.indices().last().copied().unwrap_or(1).max(1) } else { 1 }
}
