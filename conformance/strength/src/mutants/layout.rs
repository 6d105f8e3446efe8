//! Wrong about strides: reads a tensor as row-major that is not.

use super::mutant::Mutant;
use gather_campaign::model::memory::{ParamsElements, misread};

const ON_PARAMS: &str =
    "a strided source was read wrongly: https://github.com/huggingface/candle/issues/3710";
const ON_INDICES: &str = "equal values, other strides: https://github.com/pytorch/pytorch/issues/129093";

pub(super) static MUTANTS: &[Mutant] = &[
    Mutant::new(
        "params-taken-for-untransposed",
        "takes the strides of params for sorted from large to small",
        ON_PARAMS,
        |model| {
            model.read_params =
                |params| ParamsElements::Copied(misread(params, |_, strides| sorted(strides)));
        },
    ),
    Mutant::new(
        "gaps-in-params-ignored",
        "takes params with gaps after its rows for one without",
        "a view of the wrong extent: https://github.com/torch-spyre/torch-spyre/issues/3851",
        |model| model.read_params = |params| ParamsElements::Copied(misread(params, without_gaps)),
    ),
    Mutant::new(
        "negative-strides-of-params-ignored",
        "steps forward through params where its axes run backwards",
        "libraries without negative strides, where a flip must be a copy",
        |model| {
            model.read_params =
                |params| ParamsElements::Copied(misread(params, |_, strides| forward(strides)));
        },
    ),
    Mutant::new(
        "stride-0-of-params-ignored",
        "steps through an axis of params that is repeated",
        "expanded input on CUDA: https://github.com/pytorch/pytorch/issues/151978",
        |model| model.read_params = |params| ParamsElements::Copied(misread(params, expanded)),
    ),
    Mutant::new(
        "indices-strides-ignored",
        "reads indices from its first element on as if there were no strides",
        ON_INDICES,
        |model| model.read_indices = |indices| misread(indices, |shape, _| row_major(shape)),
    ),
    Mutant::new(
        "indices-taken-for-untransposed",
        "takes the strides of indices for sorted from large to small",
        ON_INDICES,
        |model| model.read_indices = |indices| misread(indices, |_, strides| sorted(strides)),
    ),
    Mutant::new(
        "gaps-in-indices-ignored",
        "takes indices with gaps after its rows for one without",
        "a view of the wrong extent: https://github.com/torch-spyre/torch-spyre/issues/3851",
        |model| model.read_indices = |indices| misread(indices, without_gaps),
    ),
    Mutant::new(
        "negative-strides-of-indices-ignored",
        "steps forward through indices where its axes run backwards",
        "libraries without negative strides, where a flip must be a copy",
        |model| model.read_indices = |indices| misread(indices, |_, strides| forward(strides)),
    ),
    Mutant::new(
        "stride-0-of-indices-ignored",
        "steps through an axis of indices that is repeated",
        "expanded indices: https://github.com/PaddlePaddle/Paddle/issues/40566",
        |model| model.read_indices = |indices| misread(indices, expanded),
    ),
];

/// The strides of a row-major tensor.
fn row_major(shape: &[usize]) -> Vec<isize> {
    let after = |axis: usize| shape[axis + 1..].iter().map(|dim| dim.cast_signed()).product();
    (0..shape.len()).map(after).collect()
}

fn sorted(strides: &[isize]) -> Vec<isize> {
    let mut strides = strides.to_vec();
    strides.sort_unstable_by_key(|stride| -stride);
    strides
}

/// Row-major strides for a tensor whose strides descend, its own strides otherwise.
fn without_gaps(shape: &[usize], strides: &[isize]) -> Vec<isize> {
    let falls = strides.windows(2).all(|pair| pair[0] >= pair[1]) && strides.iter().all(|stride| *stride > 0);
    if falls { row_major(shape) } else { strides.to_vec() }
}

fn forward(strides: &[isize]) -> Vec<isize> {
    strides.iter().map(|stride| stride.abs()).collect()
}

/// Row-major strides for a tensor with a stride of 0, its own strides otherwise.
fn expanded(shape: &[usize], strides: &[isize]) -> Vec<isize> {
    if strides.contains(&0) { row_major(shape) } else { strides.to_vec() }
}
