//! `tf.raw_ops.GatherNd`, after the formulas of its page.

use gather_spec::shape::positions;
use gather_spec::{Call, DType, GatherError, Refusal, Tensor};

use crate::checks::{index_at, index_dtype, index_of, is_refused, only, operands, params_dtype, resolve};
use crate::output::{finished, output};
use crate::{Implemented, Settings};

/// All dtypes, since the page lists none (errata `params-dtypes-unlisted`).
pub const PARAMS_DTYPES: [DType; 16] = DType::ALL;

/// The dtypes of indices that the page lists.
pub const INDEX_DTYPES: [DType; 3] = [DType::I16, DType::I32, DType::I64];

/// Gathers slices of `params`: `indices` is a tensor of K dims, read as one of K-1 dims of indices into `params`.
///
/// output shape = `indices.shape[:-1] + params.shape[indices.shape[-1]:]`;
/// `output[i_0, …, i_{K-2}] = params[indices[i_0, …, i_{K-2}]]`.
///
/// # Errors
/// `index-dtype`, `indices-rank`, `index-depth`, `output-too-large`, `index-out-of-range`, in this
/// order.
#[allow(non_snake_case, reason = "the document's name")]
pub fn GatherNd(params: &Tensor, indices: &Tensor, settings: Settings) -> Result<Tensor, Refusal> {
    // tf.raw_ops.GatherNd.dtype.params, tf.raw_ops.GatherNd.dtype.indices
    params_dtype(params, &PARAMS_DTYPES)?;
    index_dtype(indices, &INDEX_DTYPES)?;

    // tf.raw_ops.GatherNd.rank.indices
    let Some((&depth, outer_shape)) = indices.shape().split_last() else {
        return Err(GatherError::IndicesRank { rank: 0, least: 1 }.into());
    };
    // tf.raw_ops.GatherNd.depth.limit
    if depth > params.rank() {
        return Err(GatherError::IndexDepth { batch_dims: 0, depth, rank: params.rank() }.into());
    }
    // tf.raw_ops.GatherNd.shape.formula, tf.raw_ops.GatherNd.shape.too-large
    let (indexed_shape, slice_shape) = params.shape().split_at(depth);
    let output_shape = [outer_shape, slice_shape].concat();
    let mut output = output(params.dtype(), output_shape.clone(), settings)?;

    // tf.raw_ops.GatherNd.index.own-axis, tf.raw_ops.GatherNd.index.first-offender
    for position in indices.shape().positions() {
        let (component, i) = position.split_last().expect("indices has an axis");
        let (index, bound) = (index_at(indices, &position), indexed_shape[*component]);
        if is_refused(index, bound, settings.profile) {
            let (position, component) = (i.to_vec(), Some(*component));
            return Err(GatherError::IndexOutOfRange { position, component, index, bound }.into());
        }
    }

    // tf.raw_ops.GatherNd.value.rows
    if !output_shape.contains(&0) {
        for i in positions(outer_shape) {
            let index: Option<Vec<usize>> = (0..depth)
                .map(|component| {
                    let index = index_of(indices, &[&*i, &[component]]);
                    resolve(index, indexed_shape[component], settings.profile)
                })
                .collect();
            for slice in positions(slice_shape) {
                match &index {
                    Some(index) => output.push(params.element_of(&[&**index, &*slice])),
                    None => output.push_zero(),
                }
            }
        }
    }
    finished(output)
}

/// The entry of this operator in the list of its ecosystem.
pub(crate) const OPERATOR: Implemented = Implemented {
    name: "tf.raw_ops.GatherNd",
    params_dtypes: &PARAMS_DTYPES,
    index_dtypes: &INDEX_DTYPES,
    answer,
};

/// Answers a call of this operator.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [params, indices] = operands(call, ["params", "indices"])?;
    only(call, &[])?;
    GatherNd(params, indices, settings)
}
