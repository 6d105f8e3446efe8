//! What rules bound in every form: ranks, the ranges of batch dims and axis, and the dims of a batch.

use gather_spec::signature::{AttributeRole, EmptyDims, OperandRole, Range};
use gather_spec::{GatherError, Shape, Signature};

/// The range of an attribute, if the operator has it.
pub(super) fn range(signature: &Signature, role: AttributeRole) -> Option<Range> {
    signature.attribute(role)?.range
}

/// The least and the highest ranks of the operands, and whether a dim may be 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ranks {
    params: usize,
    indices: usize,
    most_params: usize,
    most_indices: usize,
    empty_dims: EmptyDims,
}

impl Ranks {
    pub(super) fn of(signature: &Signature) -> Self {
        let least = |role| signature.operand(role).rank.least();
        let most = |role| signature.operand(role).rank.most().unwrap_or(usize::MAX);
        Self {
            params: least(OperandRole::Params),
            indices: least(OperandRole::Indices),
            most_params: most(OperandRole::Params),
            most_indices: most(OperandRole::Indices),
            empty_dims: signature.empty_dims,
        }
    }

    /// These ranks and all above them.
    pub(super) const fn at_least(params: usize, indices: usize) -> Self {
        let most = usize::MAX;
        Self { params, indices, most_params: most, most_indices: most, empty_dims: EmptyDims::Allowed }
    }

    #[inline(always)] // So that rules known beforehand cost nothing.
    pub(super) fn check(self, params: &[usize], indices: &[usize]) -> Result<(), GatherError> {
        if params.len() < self.params {
            return Err(GatherError::ParamsRank { rank: params.len(), least: self.params });
        }
        if params.len() > self.most_params {
            return Err(GatherError::ParamsRankTooHigh { rank: params.len(), most: self.most_params });
        }
        if indices.len() < self.indices {
            return Err(GatherError::IndicesRank { rank: indices.len(), least: self.indices });
        }
        if indices.len() > self.most_indices {
            return Err(GatherError::IndicesRankTooHigh { rank: indices.len(), most: self.most_indices });
        }
        Ok(())
    }

    /// Rejects a dim of 0 where none is allowed.
    #[inline(always)] // So that rules known beforehand cost nothing.
    pub(super) fn check_dims(self, params: &[usize], indices: &[usize]) -> Result<(), GatherError> {
        match self.empty_dims {
            EmptyDims::Allowed => Ok(()),
            EmptyDims::Rejected => no_empty_dim("params", params).and(no_empty_dim("indices", indices)),
        }
    }
}

fn no_empty_dim(operand: &'static str, dims: &[usize]) -> Result<(), GatherError> {
    match dims.iter().position(|dim| *dim == 0) {
        None => Ok(()),
        Some(dim) => Err(GatherError::EmptyDim { operand, dim }),
    }
}

/// The number of batch dims that `value` stands for, within its range and at most `most`, which the form allows.
#[inline(always)]
pub(super) fn batch_dims(
    range: Range,
    value: i64,
    (r, q): (usize, usize),
    most: usize,
) -> Result<usize, GatherError> {
    match resolve(range, value, r, q) {
        Some(batch_dims) if batch_dims <= most => Ok(batch_dims),
        _ => Err(batch_dims_out_of_range(range, value, (r, q), most)),
    }
}

#[cold]
fn batch_dims_out_of_range(
    range: Range,
    batch_dims: i64,
    (r, q): (usize, usize),
    most: usize,
) -> GatherError {
    let (low, high) = match range {
        Range::FromMinusRBelowR => (-signed(r), signed(r) - 1),
        Range::From0BelowR => (0, signed(r) - 1),
        Range::FromMinusQToQ => (-signed(q), signed(q)),
        Range::FromMinusSmallerRankToSmallerRank => (-signed(r.min(q)), signed(r.min(q))),
        Range::From0BelowQToR => (0, signed(r).min(signed(q) - 1)),
        Range::From0BelowSmallerRank => (0, signed(r.min(q)) - 1),
    };
    GatherError::BatchDimsOutOfRange { batch_dims, low, high: high.min(signed(most)) }
}

/// The error for an axis outside its range on params of rank `r`.
#[cold]
pub(super) fn axis_out_of_range(range: Range, axis: i64, r: usize) -> GatherError {
    let low = if range == Range::From0BelowR { 0 } else { -signed(r) };
    GatherError::AxisOutOfRange { axis, low, rank: r }
}

/// What a value stands for on params of rank `r` and indices of rank `q`, if it is in range.
#[inline(always)]
pub(super) fn resolve(range: Range, value: i64, r: usize, q: usize) -> Option<usize> {
    match range {
        Range::FromMinusRBelowR => from_either_end(value, r).filter(|at| *at < r),
        Range::From0BelowR => usize::try_from(value).ok().filter(|at| *at < r),
        Range::FromMinusQToQ => from_either_end(value, q).filter(|at| *at <= q),
        Range::FromMinusSmallerRankToSmallerRank => {
            let most = signed(r.min(q));
            from_either_end(value, q).filter(|_| (-most..=most).contains(&value))
        }
        Range::From0BelowQToR => usize::try_from(value).ok().filter(|at| *at < q && *at <= r),
        Range::From0BelowSmallerRank => usize::try_from(value).ok().filter(|at| *at < q.min(r)),
    }
}

/// `value`, counted from the end of `rank` if negative.
#[inline(always)]
fn from_either_end(value: i64, rank: usize) -> Option<usize> {
    let normalised = if value < 0 { value.checked_add(signed(rank))? } else { value };
    usize::try_from(normalised).ok()
}

/// Compares the leading `b` dims, which both have.
#[inline]
pub(super) fn same_batch(params: &[usize], indices: &[usize], b: usize) -> Result<(), GatherError> {
    if params[..b] == indices[..b] {
        return Ok(());
    }
    Err(batch_mismatch(&params[..b], &indices[..b]))
}

#[cold]
pub(super) fn batch_mismatch(params: &[usize], indices: &[usize]) -> GatherError {
    let shape = |dims: &[usize]| Shape::new(dims).unwrap_or_default();
    GatherError::BatchShapeMismatch { params: shape(params), indices: shape(indices) }
}

/// A rank as the attributes count: ranks are far below 2^63.
pub(super) fn signed(rank: usize) -> i64 {
    i64::try_from(rank).unwrap_or(i64::MAX)
}
