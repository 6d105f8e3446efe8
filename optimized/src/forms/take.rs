//! The form take: each index selects along one axis, and the output's shape is `P[..axis] + I[b..] + P[axis+1..]`.

use gather_spec::signature::{AttributeRole, Range};
use gather_spec::{GatherError, Refusal, Signature};

use super::bounds::{Ranks, axis_out_of_range, batch_dims, range, resolve, same_batch, signed};
use crate::options::Choices;
use crate::shapes::{OutputShape, Selection, Shapes};

/// What operators of this form may differ in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    ranks: Ranks,
    batch_dims: Range,
    axis: Range,
}

impl Rules {
    /// Those of [`crate::Plan::gather`].
    pub(crate) const GATHER: Self =
        Self::new(Ranks::at_least(1, 0), Range::FromMinusQToQ, Range::FromMinusRBelowR);

    pub(super) const fn new(ranks: Ranks, batch_dims: Range, axis: Range) -> Self {
        Self { ranks, batch_dims, axis }
    }

    /// Those of an operator; what it cannot be sent is in any range.
    pub(super) fn of(signature: &Signature) -> Self {
        Self::new(
            Ranks::of(signature),
            range(signature, AttributeRole::BatchDims).unwrap_or(Self::GATHER.batch_dims),
            range(signature, AttributeRole::Axis).unwrap_or(Self::GATHER.axis),
        )
    }

    /// Shapes that fit each other; without an axis the first one below the batch is meant.
    ///
    /// # Errors
    /// `params-rank`, `indices-rank`, `empty-dim`, `batch-dims-out-of-range`, `axis-out-of-range`, `axis-before-batch`,
    /// `batch-shape-mismatch`, in this order; `Unsupported` for a join.
    #[inline(always)] // So that they stay in registers.
    pub(crate) fn validate<'a>(
        self,
        params: &'a [usize],
        indices: &'a [usize],
        choices: &Choices,
    ) -> Result<Shapes<'a>, Refusal> {
        if choices.join.is_some() {
            return Err(no_join());
        }
        self.ranks.check(params, indices)?;
        self.ranks.check_dims(params, indices)?;
        let (r, q) = (params.len(), indices.len());
        let b = batch_dims(self.batch_dims, choices.batch_dims, (r, q), q)?;
        let asked = choices.axis.unwrap_or(signed(b));
        // Even if the range allows more, params has only `r` axes.
        let Some(axis) = resolve(self.axis, asked, r, q).filter(|axis| *axis < r) else {
            return Err(axis_out_of_range(self.axis, asked, r).into());
        };
        if axis < b {
            return Err(GatherError::AxisBeforeBatch { axis, batch_dims: b }.into());
        }
        same_batch(params, indices, b)?;
        let (output, flat_batch) = (OutputShape::Slices, false);
        let selection = Selection { batch_dims: b, axis, depth: 1, row_rank: q, output, flat_batch };
        Shapes::new(params, indices, selection, choices)
    }
}

#[cold]
fn no_join() -> Refusal {
    Refusal::Unsupported("gather has no attribute `join`".to_owned())
}
