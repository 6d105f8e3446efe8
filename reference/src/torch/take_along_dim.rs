//! `torch.take_along_dim`, by the words of its page.

use gather_spec::shape::positions;
use gather_spec::{Call, DType, GatherError, Refusal, Tensor};

use crate::checks::{
    ALL_BUT_STRINGS, axis_within, flattened, index_at, index_dtype, integer_or_null, is_refused, only,
    operands, params_dtype, resolve,
};
use crate::output::{finished, output};
use crate::{Implemented, Settings};

/// All dtypes of tensors, since the page lists none for input (errata `torch-input-dtypes`).
pub const INPUT_DTYPES: [DType; 15] = ALL_BUT_STRINGS;

/// The dtype of indices that the page lists, which calls it a `LongTensor`.
pub const INDICES_DTYPES: [DType; 1] = [DType::I64];

/// Selects values from `input` at the indices from `indices` along the dimension `dim`, or from the flattened `input`.
///
/// Along `dim` the output has the size of `indices`; off it both operands broadcast. Without `dim` the output is a vector
/// with one element for each index.
///
/// # Errors
/// `params-dtype`, `index-dtype`, `rank-mismatch`, `axis-out-of-range`, `join-mismatch`, `output-too-large`,
/// `index-out-of-range`, in this order.
pub fn take_along_dim(
    input: &Tensor,
    indices: &Tensor,
    dim: Option<i64>,
    settings: Settings,
) -> Result<Tensor, Refusal> {
    // torch.take_along_dim.dtype.input, torch.take_along_dim.dtype.indices
    params_dtype(input, &INPUT_DTYPES)?;
    index_dtype(indices, &INDICES_DTYPES)?;
    let Some(dim) = dim else { return take_flattened(input, indices, settings) };

    // torch.take_along_dim.rank.equal
    if input.rank() != indices.rank() {
        return Err(GatherError::RankMismatch { params: input.rank(), indices: indices.rank() }.into());
    }
    // torch.take_along_dim.axis.within-rank, torch.take_along_dim.axis.negative
    let dim = axis_within(dim, input.rank())?;
    // torch.take_along_dim.shape.joined, torch.take_along_dim.empty-index.checked
    let shape = broadcast(input, indices, dim)?;
    // torch.take_along_dim.output.size-limit
    let mut out = output(input.dtype(), shape.clone(), settings)?;
    let bound = input.shape()[dim];
    in_range(indices, bound, settings)?;

    // torch.take_along_dim.value.along-dim
    if !shape.contains(&0) {
        for position in positions(&shape) {
            let index = index_at(indices, &repeated(&position, indices));
            match resolve(index, bound, settings.profile) {
                Some(at) => {
                    let mut from = repeated(&position, input);
                    from[dim] = at;
                    out.push(input.element(&from));
                }
                None => out.push_zero(),
            }
        }
    }
    finished(out)
}

/// torch.take_along_dim.axis.none, torch.take_along_dim.axis.none-flattens-indices: the elements of the flattened `input`
/// at all indices, in row-major order.
fn take_flattened(input: &Tensor, indices: &Tensor, settings: Settings) -> Result<Tensor, Refusal> {
    let input = flattened(input)?;
    let bound = input.shape()[0];
    // torch.take_along_dim.output.size-limit
    let mut out = output(input.dtype(), vec![indices.shape().element_count()], settings)?;
    in_range(indices, bound, settings)?;
    for position in indices.shape().positions() {
        match resolve(index_at(indices, &position), bound, settings.profile) {
            Some(at) => out.push(input.element(&[at])),
            None => out.push_zero(),
        }
    }
    finished(out)
}

/// torch.take_along_dim.index.in-range, torch.take_along_dim.index.negative, torch.take_along_dim.index.own-axis,
/// torch.take_along_dim.index.full-width, torch.take_along_dim.index.first-offender
fn in_range(indices: &Tensor, bound: usize, settings: Settings) -> Result<(), GatherError> {
    for position in indices.shape().positions() {
        let index = index_at(indices, &position);
        if is_refused(index, bound, settings.profile) {
            let position = position.to_vec();
            return Err(GatherError::IndexOutOfRange { position, component: None, index, bound });
        }
    }
    Ok(())
}

/// torch.take_along_dim.join.broadcast, torch.take_along_dim.join.mismatch: off `dim` both sizes are equal, or one of them
/// is 1 and repeats.
fn broadcast(input: &Tensor, indices: &Tensor, dim: usize) -> Result<Vec<usize>, GatherError> {
    let sizes = (0..input.rank()).map(|d| match (input.shape()[d], indices.shape()[d]) {
        (_, size) if d == dim => Ok(size),
        (size, 1) | (1, size) => Ok(size),
        (size, also) if size == also => Ok(size),
        _ => {
            let (params, indices) = (input.shape().clone(), indices.shape().clone());
            Err(GatherError::JoinMismatch { params, indices, dim: d })
        }
    });
    sizes.collect()
}

/// The position in an operand for a position of the output. Dimensions of size 1 repeat.
fn repeated(position: &[usize], tensor: &Tensor) -> Vec<usize> {
    let pairs = position.iter().zip(tensor.shape().iter());
    pairs.map(|(at, size)| if *size == 1 { 0 } else { *at }).collect()
}

/// The entry of this operator in the list of its ecosystem.
pub(crate) const OPERATOR: Implemented = Implemented {
    name: "torch.take_along_dim",
    params_dtypes: &INPUT_DTYPES,
    index_dtypes: &INDICES_DTYPES,
    answer,
};

/// Answers a call of this operator.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [input, indices] = operands(call, ["input", "indices"])?;
    only(call, &["dim"])?;
    // torch.take_along_dim.axis.default
    let dim = integer_or_null(call, "dim")?.flatten();
    take_along_dim(input, indices, dim, settings)
}
