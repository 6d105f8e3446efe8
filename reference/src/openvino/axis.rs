//! The axis of the versions of Gather that have it as an operand, and the range of their batch.

use gather_spec::{DType, GatherError, Tensor};

use crate::checks::{INTEGERS, index_at};

/// Any supported integer type.
pub const AXIS_DTYPES: [DType; 8] = INTEGERS;

/// The only element of `axis`, a scalar or a vector (errata `openvino-axis-of-one-element`). One beyond 64 bits with a sign is
/// beyond every rank, too.
pub(super) fn axis_value(axis: &Tensor) -> Result<i64, GatherError> {
    match **axis.shape() {
        [] | [1] => Ok(i64::try_from(index_at(axis, &vec![0; axis.rank()])).unwrap_or(i64::MAX)),
        _ => Err(GatherError::OperandShape { shape: axis.shape().clone() }),
    }
}

/// `batch_dims` in `[-min(data.rank, indices.rank); min(data.rank, indices.rank)]`, normalised by the rank of indices.
pub(super) fn checked_batch_dims(
    batch_dims: i64,
    data_rank: usize,
    indices_rank: usize,
) -> Result<usize, GatherError> {
    let signed = |rank: usize| i64::try_from(rank).unwrap_or(i64::MAX);
    let high = signed(data_rank.min(indices_rank));
    let normalised =
        if batch_dims < 0 { batch_dims.checked_add(signed(indices_rank)) } else { Some(batch_dims) };
    normalised
        .filter(|_| (-high..=high).contains(&batch_dims))
        .and_then(|b| usize::try_from(b).ok())
        .ok_or(GatherError::BatchDimsOutOfRange { batch_dims, low: -high, high })
}
