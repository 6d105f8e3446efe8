//! The ranges of `batch_dims`.

use gather_spec::GatherError;

/// `batch_dims` in `[-min(data.rank, indices.rank); min(data.rank, indices.rank)]`, normalised by the rank of indices.
pub(super) fn within_both_ranks(
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

/// `batch_dims` in `[0; min(data.rank, indices.rank))`.
pub(super) fn below_both_ranks(
    batch_dims: i64,
    data_rank: usize,
    indices_rank: usize,
) -> Result<usize, GatherError> {
    let high = data_rank.min(indices_rank) - 1;
    usize::try_from(batch_dims).ok().filter(|b| *b <= high).ok_or(GatherError::BatchDimsOutOfRange {
        batch_dims,
        low: 0,
        high: i64::try_from(high).unwrap_or(i64::MAX),
    })
}
