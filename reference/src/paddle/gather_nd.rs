//! `paddle.gather_nd`, after the formulas of its page. The page calls the operands `input` and `index`.

use gather_spec::shape::positions;
use gather_spec::{Call, DType, GatherError, Refusal, Tensor};

use crate::checks::{index_at, index_dtype, index_of, is_refused, only, operands, params_dtype, resolve};
use crate::output::{finished, output};
use crate::{Implemented, Settings};

/// The dtypes of input that the page lists.
pub const INPUT_DTYPES: [DType; 5] = [DType::I32, DType::I64, DType::F32, DType::F64, DType::Bool];

/// The dtypes of index that the page lists.
pub const INDEX_DTYPES: [DType; 2] = [DType::I32, DType::I64];

/// The least rank of index, according to the page (errata `paddle-index-rank`).
const LEAST_INDEX_RANK: usize = 2;

/// Gathers slices of `input` by the index vectors along the last axis of `index`.
///
/// output shape = `index.shape[:-1] + input.shape[index.shape[-1]:]`;
/// `output[i_0, …, i_{K-2}] = input[index[i_0, …, i_{K-2}]]`.
///
/// # Errors
/// `params-dtype`, `index-dtype`, `indices-rank`, `index-depth`, `output-too-large`,
/// `index-out-of-range`, in this order.
pub fn gather_nd(input: &Tensor, index: &Tensor, settings: Settings) -> Result<Tensor, Refusal> {
    // paddle.gather_nd.dtype.input, paddle.gather_nd.dtype.index
    params_dtype(input, &INPUT_DTYPES)?;
    index_dtype(index, &INDEX_DTYPES)?;

    // paddle.gather_nd.rank.index
    if index.rank() < LEAST_INDEX_RANK {
        return Err(GatherError::IndicesRank { rank: index.rank(), least: LEAST_INDEX_RANK }.into());
    }
    // paddle.gather_nd.depth.limit
    let (&depth, outer_shape) = index.shape().split_last().expect("a rank of at least 2");
    if depth > input.rank() {
        return Err(GatherError::IndexDepth { batch_dims: 0, depth, rank: input.rank() }.into());
    }
    // paddle.gather_nd.shape.formula, paddle.gather_nd.shape.too-large
    let (indexed_shape, slice_shape) = input.shape().split_at(depth);
    let output_shape = [outer_shape, slice_shape].concat();
    let mut output = output(input.dtype(), output_shape.clone(), settings)?;

    // paddle.gather_nd.index.own-axis, paddle.gather_nd.index.first-offender
    for position in index.shape().positions() {
        let (component, i) = position.split_last().expect("index has an axis");
        let (value, bound) = (index_at(index, &position), indexed_shape[*component]);
        if is_refused(value, bound, settings.profile) {
            let (position, component) = (i.to_vec(), Some(*component));
            return Err(GatherError::IndexOutOfRange { position, component, index: value, bound }.into());
        }
    }

    // paddle.gather_nd.value.rows
    if !output_shape.contains(&0) {
        for i in positions(outer_shape) {
            let vector: Option<Vec<usize>> = (0..depth)
                .map(|component| {
                    let value = index_of(index, &[&*i, &[component]]);
                    resolve(value, indexed_shape[component], settings.profile)
                })
                .collect();
            for slice in positions(slice_shape) {
                match &vector {
                    Some(vector) => output.push(input.element_of(&[&**vector, &*slice])),
                    None => output.push_zero(),
                }
            }
        }
    }
    finished(output)
}

/// The entry of this operator in the list of its ecosystem.
pub(crate) const OPERATOR: Implemented = Implemented {
    name: "paddle.gather_nd",
    params_dtypes: &INPUT_DTYPES,
    index_dtypes: &INDEX_DTYPES,
    answer,
};

/// Answers a call of this operator.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [input, index] = operands(call, ["input", "index"])?;
    only(call, &[])?;
    gather_nd(input, index, settings)
}
