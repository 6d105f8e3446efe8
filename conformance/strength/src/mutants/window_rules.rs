//! Wrong about which dimension numbers, slice sizes and batch dims to reject.

use gather_spec::{DimensionRule, ErrorCode};

use super::mutant::{CLAMP, Mutant};
use gather_campaign::model::place;
use gather_campaign::model::windowed::{breaks, outside};
use gather_campaign::model::{self, ModelCall};

/// A mutant that does not check a rule.
macro_rules! unchecked {
    ($id:literal, $rule:ident, $does:literal) => {
        Mutant::new($id, $does, "class: a check that is missing", |model| {
            model.breaks = |rule, call| rule != DimensionRule::$rule && breaks(rule, call);
        })
        .under(&[CLAMP])
    };
}

pub(super) static MUTANTS: &[Mutant] = &[
    unchecked!("slice-sizes-count-unchecked", SliceSizesCount, "does not count the slice sizes"),
    unchecked!("params-dims-count-unchecked", ParamsDimsCount, "does not count the dims of params"),
    unchecked!("index-vector-dim-unchecked", IndexVectorDimOutOfRange, "takes any index vector dim"),
    unchecked!("start-index-map-count-unchecked", StartIndexMapCount, "does not count the start index map"),
    unchecked!("offset-dims-order-unchecked", OffsetDimsNotAscending, "takes offset dims in any order"),
    unchecked!("offset-dims-range-unchecked", OffsetDimOutOfRange, "takes offset dims that the output lacks"),
    unchecked!("collapsed-twice-unchecked", CollapsedDimsRepeated, "takes a dim that is collapsed twice"),
    unchecked!("collapsed-order-unchecked", CollapsedDimsUnsorted, "takes collapsed dims in any order"),
    unchecked!("collapsed-range-unchecked", CollapsedDimOutOfRange, "takes collapsed dims that params lacks"),
    unchecked!("collapsed-size-unchecked", CollapsedSliceSize, "takes longer slices of collapsed dims"),
    unchecked!(
        "params-batching-order-unchecked",
        ParamsBatchingDimsUnsorted,
        "takes batching dims in any order"
    ),
    unchecked!(
        "params-batching-range-unchecked",
        ParamsBatchingDimOutOfRange,
        "takes batching dims that params lacks"
    ),
    unchecked!("batching-size-unchecked", BatchingSliceSize, "takes longer slices of batching dims"),
    unchecked!(
        "indices-batching-twice-unchecked",
        IndicesBatchingDimsRepeated,
        "takes a dim of indices that is batching twice"
    ),
    unchecked!(
        "indices-batching-range-unchecked",
        IndicesBatchingDimOutOfRange,
        "takes batching dims that indices lacks"
    ),
    unchecked!(
        "batching-vector-unchecked",
        IndexVectorDimIsBatching,
        "takes an index vector dim that is batching"
    ),
    unchecked!("batching-count-unchecked", BatchingDimsCount, "does not count the batching dims"),
    unchecked!(
        "start-index-map-twice-unchecked",
        StartIndexMapRepeated,
        "takes a dim that two components start on"
    ),
    unchecked!(
        "start-index-map-range-unchecked",
        StartIndexMapOutOfRange,
        "takes starts on dims that params lacks"
    ),
    Mutant::new(
        "offset-dims-may-repeat",
        "asks offset dims to be sorted, and lets one stand twice",
        "class: <= for <",
        |model| {
            model.breaks = |rule, call| match rule {
                DimensionRule::OffsetDimsNotAscending => !call.numbers().numbers.offset_dims.is_sorted(),
                rule => breaks(rule, call),
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "offset-dims-within-params",
        "holds offset dims to the rank of params",
        "class: one rank for another",
        |model| {
            model.breaks = |rule, call| match rule {
                DimensionRule::OffsetDimOutOfRange => {
                    outside(&call.numbers().numbers.offset_dims, call.params().len())
                }
                rule => breaks(rule, call),
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "implied-vector-refused",
        "refuses an index vector dim that is the rank of indices",
        "class: < for <=",
        |model| {
            model.breaks = |rule, call| match rule {
                DimensionRule::IndexVectorDimOutOfRange => {
                    let dim = place(call.numbers().numbers.index_vector_dim);
                    dim.is_none_or(|dim| dim >= call.indices().len())
                }
                rule => breaks(rule, call),
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "collapsed-and-batching-apart",
        "asks each of the two lists not to repeat a dim, not both together",
        "class: two checks for one of their union",
        |model| {
            model.breaks = |rule, call| match rule {
                DimensionRule::CollapsedDimsRepeated => {
                    let numbers = &call.numbers().numbers;
                    [&numbers.collapsed_slice_dims, &numbers.operand_batching_dims]
                        .iter()
                        .any(|dims| model::windowed::repeats(dims, &[]))
                }
                rule => breaks(rule, call),
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "starts-on-batching-dims",
        "takes a component that starts on a batching dim",
        "class: two checks for one of their union",
        |model| {
            model.breaks = |rule, call| match rule {
                DimensionRule::StartIndexMapRepeated => {
                    model::windowed::repeats(&call.numbers().numbers.start_index_map, &[])
                }
                rule => breaks(rule, call),
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "collapsed-size-exactly-one",
        "refuses a collapsed or batching dim of which a window has no element",
        "jax.lax.gather asks for exactly 1",
        |model| {
            model.breaks = |rule, call| {
                let numbers = call.numbers();
                let dims = match rule {
                    DimensionRule::CollapsedSliceSize => &numbers.numbers.collapsed_slice_dims,
                    DimensionRule::BatchingSliceSize => &numbers.numbers.operand_batching_dims,
                    rule => return breaks(rule, call),
                };
                let size = |dim: &i64| numbers.slice_sizes.get(place(*dim)?).copied();
                dims.iter().filter_map(size).any(|size| size != 1)
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "slice-sizes-unchecked",
        "does not compare slice sizes with the dims of params",
        "class: a check that is missing",
        |model| {
            model.faulty = |code, call| code != ErrorCode::SliceSizeOutOfRange && model::faulty(code, call);
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "slice-sizes-below-their-dims",
        "refuses a slice of a whole dim",
        "class: < for <=",
        |model| model.faulty = |code, call| sizes(code, call, |size, dim| 0 <= size && size < dim),
    )
    .under(&[CLAMP]),
    Mutant::new("slice-sizes-at-least-one", "refuses a slice size of 0", "class: > for >=", |model| {
        model.faulty = |code, call| sizes(code, call, |size, dim| 0 < size && size <= dim);
    })
    .under(&[CLAMP]),
    Mutant::new(
        "negative-slice-sizes",
        "takes negative slice sizes",
        "class: one end of a range unchecked",
        |model| model.faulty = |code, call| sizes(code, call, |size, dim| size <= dim),
    )
    .under(&[CLAMP]),
    Mutant::new(
        "batching-dims-of-other-lengths",
        "does not compare the batching dims of both operands",
        "class: a check that is missing",
        |model| {
            model.faulty = |code, call| {
                let is_batch = call.by_windows() && code == ErrorCode::BatchShapeMismatch;
                !is_batch && model::faulty(code, call)
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "batching-dims-compared-sorted",
        "compares the batching dims of both operands without their order",
        "class: sets for lists",
        |model| {
            model.faulty = |code, call| {
                if !call.by_windows() || code != ErrorCode::BatchShapeMismatch {
                    return model::faulty(code, call);
                }
                let numbers = &call.numbers().numbers;
                let sizes = |dims: &[i64], shape: &[usize]| {
                    let mut sizes: Vec<_> = dims.iter().map(|dim| shape.get(place(*dim)?).copied()).collect();
                    sizes.sort_unstable();
                    sizes
                };
                sizes(&numbers.operand_batching_dims, call.params())
                    != sizes(&numbers.start_indices_batching_dims, call.indices())
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "slice-sizes-before-dimension-numbers",
        "looks at the slice sizes before the dimension numbers",
        "class: another order of checks",
        |model| {
            model.faulty = |code, call| match code {
                ErrorCode::DimensionNumbers => {
                    !model::faulty(ErrorCode::SliceSizeOutOfRange, call) && model::faulty(code, call)
                }
                code => model::faulty(code, call),
            };
        },
    )
    .under(&[CLAMP]),
];

/// Whether a call deserves an error, if slice sizes fit by another rule.
fn sizes(code: ErrorCode, call: &ModelCall<'_>, fits: fn(i128, i128) -> bool) -> bool {
    if code != ErrorCode::SliceSizeOutOfRange || !call.by_windows() {
        return model::faulty(code, call);
    }
    let sizes = &call.numbers().slice_sizes;
    !sizes.iter().zip(call.params()).all(|(size, dim)| fits((*size).into(), *dim as i128))
}
