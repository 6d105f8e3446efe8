//! The form nd: the last axis of indices holds index rows of k components, each a partial multi-index, and the
//! output's shape is `P[..b] + I[b..-1] + P[b+k..]`.

use gather_spec::signature::{AttributeRole, OutputBatch, Range};
use gather_spec::{GatherError, Refusal, Signature};

use super::bounds::{Ranks, batch_dims, range, same_batch};
use crate::options::Choices;
use crate::shapes::{OutputShape, Selection, Shapes};

/// What operators of this form may differ in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    ranks: Ranks,
    batch_dims: Range,
    least_depth: usize,
    flat_batch: bool,
}

impl Rules {
    /// Those of [`crate::Plan::gather_nd`].
    pub(crate) const GATHER_ND: Self = Self::new(Ranks::at_least(0, 1), Range::From0BelowQToR, 0);

    pub(super) const fn new(ranks: Ranks, batch_dims: Range, least_depth: usize) -> Self {
        Self { ranks, batch_dims, least_depth, flat_batch: false }
    }

    /// Those of an operator; what it cannot be sent is in any range.
    pub(super) fn of(signature: &Signature) -> Self {
        let batch_dims = range(signature, AttributeRole::BatchDims).unwrap_or(Self::GATHER_ND.batch_dims);
        let flat_batch = signature.output_batch == OutputBatch::Flattened;
        Self { flat_batch, ..Self::new(Ranks::of(signature), batch_dims, signature.least_depth) }
    }

    /// Shapes that fit each other.
    ///
    /// # Errors
    /// `params-rank`, `indices-rank`, `empty-dim`, `batch-dims-out-of-range`, `batch-shape-mismatch`, `index-depth`, in this order;
    /// `Unsupported` for an axis or a join.
    #[inline(always)] // So that they stay in registers.
    pub(crate) fn validate<'a>(
        self,
        params: &'a [usize],
        indices: &'a [usize],
        choices: &Choices,
    ) -> Result<Shapes<'a>, Refusal> {
        if choices.axis.is_some() || choices.join.is_some() {
            return Err(unsupported(choices));
        }
        self.ranks.check(params, indices)?;
        let (r, q) = (params.len(), indices.len());
        // Index rows lie along an axis, even if the rules allow scalar indices.
        let [.., depth] = *indices else {
            return Err(GatherError::IndicesRank { rank: 0, least: 1 }.into());
        };
        self.ranks.check_dims(params, indices)?;
        let b = batch_dims(self.batch_dims, choices.batch_dims, (r, q), r.min(q - 1))?;
        same_batch(params, indices, b)?;
        if depth < self.least_depth {
            return Err(GatherError::IndexDepthTooSmall { depth, least: self.least_depth }.into());
        }
        if depth > r - b {
            return Err(GatherError::IndexDepth { batch_dims: b, depth, rank: r }.into());
        }
        let (output, flat_batch) = (OutputShape::Slices, self.flat_batch);
        let selection = Selection { batch_dims: b, axis: b, depth, row_rank: q - 1, output, flat_batch };
        Shapes::new(params, indices, selection, choices)
    }
}

#[cold]
fn unsupported(choices: &Choices) -> Refusal {
    let name = if choices.axis.is_some() { "axis" } else { "join" };
    Refusal::Unsupported(format!("gather_nd has no attribute `{name}`"))
}
