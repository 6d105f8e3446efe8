//! The form elements: each index picks one element of params from the output's own position, on one axis replaced by
//! the index. The output has the shape of indices, joined with the dims of params off the axis where the two broadcast.

use gather_spec::signature::{AttributeRole, EmptyIndex, Join, Range};
use gather_spec::{GatherError, Refusal, Shape, Signature};

use super::bounds::{Ranks, axis_out_of_range, range, resolve};
use crate::options::Choices;
use crate::shapes::{OutputShape, Selection, Shapes};

/// What operators of this form may differ in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    ranks: Ranks,
    axis: Range,
    join: Join,
    empty_index: EmptyIndex,
}

impl Rules {
    /// Those of [`crate::Plan::take_along_axis`].
    pub(crate) const TAKE_ALONG_AXIS: Self =
        Self::new(Ranks::at_least(0, 0), Range::FromMinusRBelowR, Join::Broadcast, EmptyIndex::Checked);

    pub(super) const fn new(ranks: Ranks, axis: Range, join: Join, empty_index: EmptyIndex) -> Self {
        Self { ranks, axis, join, empty_index }
    }

    /// Those of an operator.
    pub(super) fn of(signature: &Signature) -> Self {
        let axis = range(signature, AttributeRole::Axis).unwrap_or(Self::TAKE_ALONG_AXIS.axis);
        Self::new(
            Ranks::of(signature),
            axis,
            // The loader refuses a signature without.
            signature.join.unwrap_or(Join::Equal),
            signature.empty_index,
        )
    }

    /// Shapes that fit each other. A join that was chosen replaces that of the rules.
    ///
    /// # Errors
    /// `axis-required`, `params-rank`, `indices-rank`, `rank-mismatch`, `empty-dim`, `axis-out-of-range`, `join-mismatch`, in this
    /// order; `Unsupported` for batch dims.
    pub(crate) fn validate<'a>(
        self,
        params: &'a [usize],
        indices: &'a [usize],
        choices: &Choices,
    ) -> Result<Shapes<'a>, Refusal> {
        if choices.batch_dims != 0 {
            return Err(Refusal::Unsupported("take_along_axis has no attribute `batch_dims`".to_owned()));
        }
        let asked = choices.axis.ok_or(GatherError::AxisRequired)?;
        self.ranks.check(params, indices)?;
        let (r, q) = (params.len(), indices.len());
        let exempt = self.empty_index == EmptyIndex::Unchecked && indices.contains(&0);
        if r != q && !exempt {
            return Err(GatherError::RankMismatch { params: r, indices: q }.into());
        }
        self.ranks.check_dims(params, indices)?;
        // Even if the range allows more, params has only `r` axes.
        let Some(axis) = resolve(self.axis, asked, r, q).filter(|axis| *axis < r) else {
            return Err(axis_out_of_range(self.axis, asked, r).into());
        };
        let join = choices.join.unwrap_or(self.join);
        if !exempt {
            joined(params, indices, axis, join)?;
        }
        let output = match join {
            Join::Broadcast if !exempt => OutputShape::Joined,
            _ => OutputShape::Indices,
        };
        let selection = Selection { batch_dims: 0, axis, depth: 1, row_rank: q, output, flat_batch: false };
        Shapes::new(params, indices, selection, choices)
    }
}

/// Compares the dims off the axis. Both operands have equally many.
fn joined(params: &[usize], indices: &[usize], axis: usize, join: Join) -> Result<(), GatherError> {
    let fits = |(p, i): (&usize, &usize)| match join {
        Join::Equal => i == p,
        Join::NotLarger => i <= p,
        Join::Broadcast => i == p || *i == 1 || *p == 1,
    };
    let wrong = params.iter().zip(indices).enumerate().find(|(dim, both)| *dim != axis && !fits(*both));
    wrong.map_or(Ok(()), |(dim, _)| {
        let shape = |dims: &[usize]| Shape::new(dims).unwrap_or_default();
        Err(GatherError::JoinMismatch { params: shape(params), indices: shape(indices), dim })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;

    fn rules(join: Join, empty_index: EmptyIndex) -> Rules {
        Rules::new(Ranks::at_least(0, 0), Range::FromMinusRBelowR, join, empty_index)
    }

    /// The shape of the output, or the error.
    fn output(rules: Rules, params: &[usize], indices: &[usize], axis: i64) -> Result<Vec<usize>, Refusal> {
        let shapes = rules.validate(params, indices, &Options::new().axis(axis).choices)?;
        let mut dims = Vec::new();
        shapes.each_output_dim(|dim| dims.push(dim));
        assert_eq!(dims.len(), shapes.output_rank());
        Ok(dims)
    }

    fn mismatch(params: &[usize], indices: &[usize], dim: usize) -> Result<Vec<usize>, Refusal> {
        let shape = |dims: &[usize]| Shape::new(dims).unwrap();
        Err(GatherError::JoinMismatch { params: shape(params), indices: shape(indices), dim }.into())
    }

    #[test]
    fn the_output_has_the_shape_of_indices_joined_with_params() {
        let along = |join, params: &[usize], indices: &[usize]| {
            output(rules(join, EmptyIndex::Checked), params, indices, 1)
        };
        assert_eq!(along(Join::Equal, &[2, 3, 4], &[2, 9, 4]), Ok(vec![2, 9, 4]));
        assert_eq!(along(Join::Equal, &[2, 3, 4], &[1, 9, 4]), mismatch(&[2, 3, 4], &[1, 9, 4], 0));
        assert_eq!(along(Join::NotLarger, &[2, 3, 4], &[1, 9, 0]), Ok(vec![1, 9, 0]));
        assert_eq!(along(Join::NotLarger, &[2, 3, 4], &[2, 9, 5]), mismatch(&[2, 3, 4], &[2, 9, 5], 2));
        assert_eq!(along(Join::NotLarger, &[1, 3, 4], &[2, 9, 5]), mismatch(&[1, 3, 4], &[2, 9, 5], 0));
        assert_eq!(along(Join::Broadcast, &[2, 3, 1], &[1, 9, 4]), Ok(vec![2, 9, 4]));
        assert_eq!(along(Join::Broadcast, &[2, 3, 1], &[1, 1, 0]), Ok(vec![2, 1, 0]));
        assert_eq!(along(Join::Broadcast, &[0, 3, 1], &[1, 9, 4]), Ok(vec![0, 9, 4]));
        assert_eq!(along(Join::Broadcast, &[2, 3, 4], &[2, 9, 3]), mismatch(&[2, 3, 4], &[2, 9, 3], 2));
    }

    #[test]
    fn without_an_index_an_operator_may_check_the_axis_alone() {
        let torch = rules(Join::NotLarger, EmptyIndex::Unchecked);
        assert_eq!(output(torch, &[2, 3], &[7, 0, 5], 1), Ok(vec![7, 0, 5]));
        assert_eq!(output(torch, &[2, 3], &[0], -2), Ok(vec![0]));
        let out = Err(GatherError::AxisOutOfRange { axis: 2, low: -2, rank: 2 }.into());
        assert_eq!(output(torch, &[2, 3], &[7, 0, 5], 2), out);
        let checked = rules(Join::NotLarger, EmptyIndex::Checked);
        let ranks = Err(GatherError::RankMismatch { params: 2, indices: 3 }.into());
        assert_eq!(output(checked, &[2, 3], &[7, 0, 5], 1), ranks);
        assert_eq!(output(checked, &[2, 3], &[7, 0], 1), mismatch(&[2, 3], &[7, 0], 0));
    }

    #[test]
    fn the_first_reason_is_the_answer() {
        let rules = Rules::TAKE_ALONG_AXIS;
        let without = rules.validate(&[2], &[2, 2], &Options::new().choices).map(drop);
        assert_eq!(without, Err(GatherError::AxisRequired.into()));
        let ranks = GatherError::RankMismatch { params: 1, indices: 2 };
        assert_eq!(output(rules, &[2], &[2, 2], 9), Err(ranks.into()));
        let axis = GatherError::AxisOutOfRange { axis: -3, low: -2, rank: 2 };
        assert_eq!(output(rules, &[2, 2], &[3, 3], -3), Err(axis.into()));
        let scalars = GatherError::AxisOutOfRange { axis: 0, low: 0, rank: 0 };
        assert_eq!(output(rules, &[], &[], 0), Err(scalars.into()));
    }
}
