//! Wrong about which indices are bad.

use gather_spec::ErrorCode;

use super::mutant::{CLAMP, ERROR, Mutant, WRAP, ZERO};
use gather_campaign::model::{self, ModelCall, ShapeParts, count};

pub(super) static MUTANTS: &[Mutant] = &[
    Mutant::new(
        "bounds-unchecked",
        "does not check indices at all",
        "CUDA kernels without a check: https://github.com/chelsea0x3b/dfdx/issues/455",
        |model| {
            model.offender = |_, _, _| None;
            model.resolve = as_given;
        },
    ),
    Mutant::new(
        "bounds-on-the-flat-offset",
        "checks where a row points in the buffer, not each component",
        "column 5 of 3 read the next row: https://github.com/tracel-ai/burn/issues/5606; tensorflow 2.21.0, TFLite GATHER_ND",
        |model| {
            model.offender = |_, dims, indices| {
                let flat = |row: &[i128]| {
                    let pairs = row.iter().zip(&dims.bounds);
                    pairs.fold(0, |flat: i128, (at, bound)| {
                        flat.saturating_mul(*bound as i128).saturating_add(*at)
                    })
                };
                let inside = 0..count(&dims.bounds) as i128;
                let depth = dims.depth.max(1);
                indices.chunks(depth).position(|row| !inside.contains(&flat(row))).map(|row| row * depth)
            };
            model.resolve = as_given;
        },
    ),
    Mutant::new(
        "bounds-of-all-elements",
        "holds an index against the number of elements of params",
        "the limit was numel, not the dim: https://github.com/PaddlePaddle/Paddle/issues/35522",
        |model| {
            model.offender = |call, _, indices| {
                indices.iter().position(|index| call.within(*index, count(call.params())).is_none())
            };
            model.resolve = as_given;
        },
    ),
    Mutant::new(
        "bound-of-the-first-axis",
        "holds every component against the size of the first gathered axis",
        "class: the size of another axis",
        |model| {
            model.offender = |call, dims, indices| {
                let bound = dims.bounds.first().copied().unwrap_or(1);
                indices.iter().position(|index| call.within(*index, bound).is_none())
            };
            model.resolve = as_given;
        },
    ),
    Mutant::new(
        "bound-without-the-batch",
        "holds component j against params.shape[j], not params.shape[b + j]",
        "the fix-up of negative indices: https://github.com/apple/coremltools/issues/2794",
        |model| {
            model.offender = |call, dims, indices| {
                let bound = |at: usize| call.params().get(at % dims.depth.max(1)).copied().unwrap_or(1);
                (0..indices.len()).find(|at| call.within(indices[*at], bound(*at)).is_none())
            };
            model.resolve = as_given;
        },
    ),
    Mutant::new(
        "last-component-unchecked",
        "checks all components but the last",
        "out-of-bounds reads: https://nvd.nist.gov/vuln/detail/CVE-2022-35937",
        |model| {
            model.offender =
                |call, dims, indices| first_bad(call, dims, indices, |at, depth| at % depth < depth - 1);
            model.resolve = as_given;
        },
    ),
    Mutant::new(
        "first-component-unchecked",
        "checks all components but the first",
        "out-of-bounds reads: https://nvd.nist.gov/vuln/detail/CVE-2022-35938",
        |model| {
            model.offender = |call, dims, indices| first_bad(call, dims, indices, |at, depth| at % depth > 0);
            model.resolve = as_given;
        },
    ),
    Mutant::new(
        "middle-component-unchecked",
        "checks the first and the last component only",
        "an index unchecked on the GPU: https://github.com/apache/mxnet/issues/15512",
        |model| {
            model.offender = |call, dims, indices| {
                first_bad(call, dims, indices, |at, depth| at % depth == 0 || at % depth == depth - 1)
            };
            model.resolve = as_given;
        },
    ),
    Mutant::new(
        "only-the-first-row-checked",
        "checks the first index row only",
        "class: a check outside its loop",
        |model| {
            model.offender = |call, dims, indices| first_bad(call, dims, indices, |at, depth| at < depth);
            model.resolve = as_given;
        },
    ),
    Mutant::new(
        "only-the-last-row-checked",
        "checks the last index row only",
        "class: a result overwritten in a loop",
        |model| {
            model.offender = |call, dims, indices| {
                let last = indices.len() - dims.depth.min(indices.len());
                model::offender(call, dims, indices).and_then(|_| {
                    let bad = |at: &usize| call.within(indices[*at], model::bound_of(dims, *at)).is_none();
                    (last..indices.len()).find(bad)
                })
            };
        },
    ),
    Mutant::new(
        "last-row-unchecked",
        "checks all index rows but the last",
        "class: a loop that ends one early",
        |model| {
            model.offender = |call, dims, indices| {
                let last = indices.len() - dims.depth.min(indices.len());
                model::offender(call, dims, &indices[..last])
            };
        },
    ),
    Mutant::new(
        "index-equal-to-size-accepted",
        "tests <= for <",
        "silence at the size of the axis: https://github.com/microsoft/onnxruntime/issues/10234",
        |model| {
            model.within = |call, index, bound| {
                if index == bound as i128 { Some(index) } else { model::within(call, index, bound) }
            };
        },
    ),
    Mutant::new(
        "last-index-refused",
        "takes the last index of an axis for a bad one",
        "class: < for <=",
        |model| {
            model.within =
                |call, index, bound| model::within(call, index, bound).filter(|at| *at + 1 < bound as i128);
        },
    ),
    Mutant::new(
        "lower-bound-unchecked",
        "tests the upper bound only",
        "negative indices read before the buffer: https://nvd.nist.gov/vuln/detail/CVE-2021-37687",
        |model| {
            model.within = |call, index, bound| {
                if index < 0 { Some(index) } else { model::within(call, index, bound) }
            };
        },
    ),
    Mutant::new(
        "upper-bound-unchecked",
        "tests the lower bound only",
        "an index past its axis returned a value: https://github.com/ml-explore/mlx/issues/206",
        |model| {
            model.within = |call, index, bound| {
                if index >= bound as i128 { Some(index) } else { model::within(call, index, bound) }
            };
        },
    ),
    Mutant::new(
        "negative-taken-for-0",
        "takes a negative index for 0",
        "https://github.com/jax-ml/jax/issues/5766",
        |model| model.within = |call, index, bound| model::within(call, index.max(0), bound),
    ),
    Mutant::new(
        "modulo",
        "takes an index modulo the size of its axis",
        "take_along_dim: https://github.com/pytorch/pytorch/issues/196106",
        |model| {
            model.within = |_, index, bound| index.checked_rem_euclid(bound as i128);
        },
    )
    .under(&[ERROR, ZERO]),
    Mutant::new(
        "largest-index-is-a-sentinel",
        "answers zero for the largest index of the dtype, as if it were padding",
        "candle, by its source: index == I::MAX yields 0",
        |model| {
            model.within = |call, index, bound| {
                let width = 8 * call.roles.indices.dtype().size();
                let largest = (1i128 << (width - 1)) - 1;
                if index == largest { Some(-1 << 100) } else { model::within(call, index, bound) }
            };
        },
    ),
    Mutant::new(
        "check-skipped-for-empty-slices",
        "does not check indices where the slice is empty",
        "onnxruntime 1.31.1: GatherND, data [3, 0], indices [[9]] gives shape [1, 0]",
        |model| {
            model.offender = |call, dims, indices| {
                if dims.inner.contains(&0) { None } else { model::offender(call, dims, indices) }
            };
        },
    ),
    Mutant::new(
        "check-skipped-for-empty-outputs",
        "returns early where the output is empty, whatever the indices are",
        "paddlepaddle 3.3.1: gather_nd, x of shape [3, 0], index [[9]] gives shape [1, 0]",
        |model| {
            model.offender = |call, dims, indices| {
                let empty = model::output_shape(dims).contains(&0);
                if empty { None } else { model::offender(call, dims, indices) }
            };
        },
    ),
    Mutant::new(
        "check-skipped-for-empty-axes",
        "does not check an index against an axis of size 0",
        "paddlepaddle 3.3.1 and openvino 2026.4.1: an empty gathered axis gives memory that was never written",
        |model| {
            model.within = |call, index, bound| {
                if bound == 0 { Some(index) } else { model::within(call, index, bound) }
            };
        },
    ),
    Mutant::new(
        "empty-dims-accepted",
        "takes a dim of 0 like any other where it is refused",
        "class: a check that is missing",
        |model| model.faulty = |code, call| code != ErrorCode::EmptyDim && model::faulty(code, call),
    ),
    Mutant::new(
        "empty-dims-of-indices-accepted",
        "looks for dims of 0 in params alone where they are refused",
        "class: a check that is made for one operand",
        |model| {
            model.faulty = |code, call| {
                let of_indices = code == ErrorCode::EmptyDim && !call.params().contains(&0);
                !of_indices && model::faulty(code, call)
            };
        },
    ),
    Mutant::new(
        "empty-params-refused",
        "refuses any row of empty params",
        "https://github.com/tensorflow/tensorflow/issues/50246",
        |model| {
            model.offender = |call, dims, indices| {
                let empty = call.params().contains(&0) && !indices.is_empty();
                if empty { Some(0) } else { model::offender(call, dims, indices) }
            };
        },
    ),
    Mutant::new(
        "empty-params-refused-without-a-check",
        "refuses empty params as such, also where no row asks for anything",
        "class: a guard against empty input that is too wide",
        |model| {
            model.faulty = |code, call| {
                let empty = code == ErrorCode::ParamsRank && call.params().contains(&0);
                empty || model::faulty(code, call)
            };
        },
    ),
    Mutant::new(
        "wraps-by-the-first-axis",
        "counts a negative component from the end of the first axis",
        "https://github.com/apple/coremltools/issues/2794",
        |model| {
            model.resolve = |call, dims, row| {
                let first = dims.bounds.first().copied().unwrap_or(1) as i128;
                let fix = |index: &i128| if *index < 0 { index + first } else { *index };
                model::resolve(call, dims, &row.iter().map(fix).collect::<Vec<_>>())
            };
        },
    )
    .under(&[WRAP]),
    Mutant::new(
        "wraps-without-the-batch",
        "counts a negative component j from params.shape[j], not params.shape[b + j]",
        "https://github.com/apple/coremltools/issues/2794",
        |model| {
            model.resolve = |call, dims, row| {
                let size = |at: usize| call.params().get(at).copied().unwrap_or(1) as i128;
                let fix = |(at, index): (usize, &i128)| if *index < 0 { index + size(at) } else { *index };
                model::resolve(call, dims, &row.iter().enumerate().map(fix).collect::<Vec<_>>())
            };
        },
    )
    .under(&[WRAP]),
    Mutant::new(
        "wraps-in-the-first-component-only",
        "counts only the first component of a row from the end",
        "one of two paths forgot negative indices: https://github.com/robertknight/rten/pull/1390",
        |model| {
            model.resolve = |call, dims, row| {
                let fine = row.iter().skip(1).all(|index| *index >= 0);
                if fine { model::resolve(call, dims, row) } else { Some(row.to_vec()) }
            };
        },
    )
    .under(&[WRAP]),
    Mutant::new(
        "wraps-more-than-once",
        "counts any negative index from the end, around and around",
        "class: modulo for one addition",
        |model| {
            model.within = |call, index, bound| {
                let index = if index < 0 { index.checked_rem_euclid(bound as i128)? } else { index };
                model::within(call, index, bound)
            };
        },
    )
    .under(&[WRAP]),
    Mutant::new(
        "least-negative-index-refused",
        "takes minus the size of an axis for a bad index where negatives count from the end",
        "class: < for <=",
        |model| {
            model.within =
                |call, index, bound| model::within(call, index, bound).filter(|_| index != -(bound as i128));
        },
    )
    .under(&[WRAP]),
    Mutant::new(
        "index-below-minus-size-accepted",
        "takes one less than minus the size of an axis for its first index",
        "class: a limit that is one too low, which users planted",
        |model| {
            model.within = |call, index, bound| {
                if index == -(bound as i128) - 1 { Some(0) } else { model::within(call, index, bound) }
            };
        },
    )
    .under(&[WRAP]),
    Mutant::new(
        "clamps-negatives-to-the-end",
        "clamps a negative index to the last one, as if it were a large unsigned number",
        "class: a comparison of unsigned numbers",
        |model| {
            model.resolve = |call, dims, row| {
                let unsigned = |index: &i128| if *index < 0 { i128::MAX } else { *index };
                model::resolve(call, dims, &row.iter().map(unsigned).collect::<Vec<_>>())
            };
        },
    )
    .under(&[CLAMP]),
];

/// The first bad index whose position and component pass a test.
fn first_bad(
    call: &ModelCall<'_>,
    dims: &ShapeParts,
    indices: &[i128],
    checked: fn(usize, usize) -> bool,
) -> Option<usize> {
    let depth = dims.depth.max(1);
    (0..indices.len())
        .filter(|at| checked(*at, depth))
        .find(|at| call.within(indices[*at], model::bound_of(dims, *at)).is_none())
}

/// Takes every index as a coordinate, unchecked.
#[allow(clippy::unnecessary_wraps, reason = "a step of the model")]
fn as_given(_: &ModelCall<'_>, _: &ShapeParts, row: &[i128]) -> Option<Vec<i128>> {
    Some(row.to_vec())
}
