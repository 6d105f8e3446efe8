//! A plan: the shapes of a call, validated once. How elements lie in memory is in `geometry`, running in `run`.

use std::num::NonZeroUsize;

use gather_spec::shape::MAX_BYTES;
use gather_spec::{GatherError, Profile, Refusal, Shape};
use smallvec::SmallVec;

use crate::Options;
use crate::dispatch::{self, Level, Proof};

/// The dims of one tensor; no allocation up to rank 6.
pub(crate) type Dims = SmallVec<[usize; 6]>;

/// Which of the two documented formulas a call follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// Rows of indices, each a partial multi-index.
    Nd,
    /// Each index selects along one axis.
    OneAxis,
}

/// A call that has been validated for shapes, to be run on any number of arrays of these shapes.
///
/// ```
/// use gather_optimized::{Options, Plan};
/// use ndarray::array;
///
/// let plan = Plan::gather_nd(&[2, 2], &[3, 1], &Options::new())?;
/// assert_eq!(plan.output_shape(), [3, 2]);
/// let params = array![[1, 2], [3, 4]];
/// let output = plan.run(&params, &array![[1], [0], [1]])?;
/// assert_eq!(output, array![[3, 4], [1, 2], [3, 4]].into_dyn());
/// # Ok::<(), gather_spec::Refusal>(())
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) family: Family,
    pub(crate) params: Dims,
    pub(crate) indices: Dims,
    pub(crate) output: Dims,
    /// Leading dims that params and indices share.
    pub(crate) batch_dims: usize,
    /// The first axis of params that indices select from.
    pub(crate) axis: usize,
    /// How many axes of params one index row selects from.
    pub(crate) depth: usize,
    /// The product of the non-zero dims of the output, or `u128::MAX` for anything larger.
    nonzero: u128,
    pub(crate) profile: Profile,
    pub(crate) level: Proof,
    pub(crate) threads: Option<NonZeroUsize>,
}

impl Plan {
    /// A plan for `gather_nd`: with k = `indices[-1]` and b = `batch_dims`, the output's shape is
    /// `params[..b] + indices[b..-1] + params[b+k..]`.
    ///
    /// # Errors
    /// `indices-rank`, `batch-dims-out-of-range`, `batch-shape-mismatch`, `index-depth-exceeds-rank`,
    /// `output-too-large` (counting one byte per element until the element type is known); `Unsupported` for an
    /// axis, or a level that this processor lacks.
    ///
    /// ```
    /// use gather_optimized::{Options, Plan};
    /// let plan = Plan::gather_nd(&[2, 3, 4], &[2, 5, 1], &Options::new().batch_dims(1))?;
    /// assert_eq!(plan.output_shape(), [2, 5, 4]);
    /// # Ok::<(), gather_spec::Refusal>(())
    /// ```
    #[inline]
    pub fn gather_nd(params: &[usize], indices: &[usize], options: &Options) -> Result<Self, Refusal> {
        if options.axis.is_some() {
            return Err(Refusal::Unsupported("gather_nd has no attribute `axis`".to_owned()));
        }
        let (r, q) = (params.len(), indices.len());
        let Some((depth, leading)) = indices.split_last() else {
            return Err(GatherError::IndicesRank { rank: 0, least: 1 }.into());
        };
        let batch_dims = usize::try_from(options.batch_dims).ok().filter(|b| *b < q && *b <= r);
        let Some(b) = batch_dims else {
            let high = signed((q - 1).min(r));
            return Err(
                GatherError::BatchDimsOutOfRange { batch_dims: options.batch_dims, low: 0, high }.into()
            );
        };
        same_batch(params, indices, b)?;
        if *depth > r - b {
            return Err(GatherError::IndexDepthExceedsRank { batch_dims: b, depth: *depth, rank: r }.into());
        }
        let output = [&params[..b], &leading[b..], &params[b + depth..]];
        Self::new(Family::Nd, params, indices, output, (b, b, *depth), options)
    }

    /// A plan for `gather`: with b = `batch_dims`, the output's shape is
    /// `params[..axis] + indices[b..] + params[axis+1..]`.
    ///
    /// # Errors
    /// `params-rank`, `batch-dims-out-of-range`, `axis-out-of-range`, `axis-before-batch`, `batch-shape-mismatch`,
    /// `output-too-large` (counting one byte per element until the element type is known); `Unsupported` for a
    /// level that this processor lacks.
    ///
    /// ```
    /// use gather_optimized::{Options, Plan};
    /// let plan = Plan::gather(&[2, 3, 4], &[5], &Options::new().axis(1))?;
    /// assert_eq!(plan.output_shape(), [2, 5, 4]);
    /// # Ok::<(), gather_spec::Refusal>(())
    /// ```
    #[inline]
    pub fn gather(params: &[usize], indices: &[usize], options: &Options) -> Result<Self, Refusal> {
        let (r, q) = (params.len(), indices.len());
        if r == 0 {
            return Err(GatherError::ParamsRank { rank: 0, least: 1 }.into());
        }
        let Some(b) = from_either_end(options.batch_dims, q, q) else {
            let (low, high) = (-signed(q), signed(q));
            return Err(GatherError::BatchDimsOutOfRange { batch_dims: options.batch_dims, low, high }.into());
        };
        let asked = options.axis.unwrap_or(signed(b));
        let Some(axis) = from_either_end(asked, r, r - 1) else {
            return Err(GatherError::AxisOutOfRange { axis: asked, rank: r }.into());
        };
        if axis < b {
            return Err(GatherError::AxisBeforeBatch { axis, batch_dims: b }.into());
        }
        same_batch(params, indices, b)?;
        let output = [&params[..axis], &indices[b..], &params[axis + 1..]];
        Self::new(Family::OneAxis, params, indices, output, (b, axis, 1), options)
    }

    #[inline(always)] // So that the plan is made in its place.
    fn new(
        family: Family,
        params: &[usize],
        indices: &[usize],
        output: [&[usize]; 3],
        (batch_dims, axis, depth): (usize, usize, usize),
        options: &Options,
    ) -> Result<Self, Refusal> {
        let mut dims = Dims::new();
        output.iter().for_each(|part| dims.extend_from_slice(part));
        let nonzero = dims.iter().filter(|dim| **dim != 0);
        let nonzero = nonzero.fold(1u128, |product, dim| product.saturating_mul(*dim as u128));
        let plan = Self {
            family,
            params: Dims::from_slice(params),
            indices: Dims::from_slice(indices),
            output: dims,
            batch_dims,
            axis,
            depth,
            nonzero,
            profile: options.profile,
            level: dispatch::choose(options.level)?,
            threads: options.threads,
        };
        plan.output_len(1)?;
        Ok(plan)
    }

    /// The shape of the output.
    #[must_use]
    pub fn output_shape(&self) -> &[usize] {
        &self.output
    }

    /// The instruction set that this plan uses.
    #[must_use]
    pub const fn level(&self) -> Level {
        self.level.level()
    }

    /// The number of elements of the output, once it is known that they fit a tensor of this element size.
    ///
    /// # Errors
    /// `output-too-large`.
    pub(crate) fn output_len(&self, element: usize) -> Result<usize, Refusal> {
        let bytes = self.nonzero.saturating_mul(element as u128);
        if bytes > MAX_BYTES {
            return Err(GatherError::OutputTooLarge { bytes }.into());
        }
        if isize::try_from(bytes).is_err() {
            return Err(Refusal::Unsupported(format!("an output of {bytes} bytes on this platform")));
        }
        Ok(if self.output.contains(&0) { 0 } else { self.output.iter().product() })
    }
}

/// `value`, counted from the end of `rank` if negative, if that is within `0..=high`.
fn from_either_end(value: i64, rank: usize, high: usize) -> Option<usize> {
    let normalised = if value < 0 { value.checked_add(signed(rank))? } else { value };
    usize::try_from(normalised).ok().filter(|at| *at <= high)
}

fn same_batch(params: &[usize], indices: &[usize], b: usize) -> Result<(), GatherError> {
    // Where params has fewer than b dims, axis or depth have already been refused.
    if params[..b] == indices[..b] {
        return Ok(());
    }
    let shape = |dims: &[usize]| Shape::new(dims).unwrap_or_default();
    Err(GatherError::BatchShapeMismatch { params: shape(&params[..b]), indices: shape(&indices[..b]) })
}

/// A rank as the attributes count: ranks are far below 2^63.
fn signed(rank: usize) -> i64 {
    i64::try_from(rank).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use gather_spec::ErrorCode;

    use super::*;

    fn code(plan: Result<Plan, Refusal>) -> ErrorCode {
        match plan {
            Err(Refusal::Error(error)) => error.code(),
            other => panic!("an error is expected, not {other:?}"),
        }
    }

    #[test]
    fn the_first_reason_is_the_answer() {
        let nd = |p: &[usize], i: &[usize], b| code(Plan::gather_nd(p, i, &Options::new().batch_dims(b)));
        assert_eq!(nd(&[], &[], 9), ErrorCode::IndicesRank);
        assert_eq!(nd(&[2], &[3, 9], 2), ErrorCode::BatchDimsOutOfRange);
        assert_eq!(nd(&[2], &[3, 9], -1), ErrorCode::BatchDimsOutOfRange);
        assert_eq!(nd(&[2], &[3, 9], 1), ErrorCode::BatchShapeMismatch);
        assert_eq!(nd(&[2], &[2, 9], 1), ErrorCode::IndexDepthExceedsRank);
    }

    #[test]
    fn an_axis_counts_from_params_and_a_batch_from_indices() {
        let plan = Plan::gather(&[2, 3, 4], &[2, 5], &Options::new().batch_dims(-1).axis(-1)).unwrap();
        assert_eq!((plan.batch_dims, plan.axis), (1, 2));
        assert_eq!(plan.output_shape(), [2, 3, 5]);
        let one = |axis, b| code(Plan::gather(&[2, 2], &[2, 2], &Options::new().batch_dims(b).axis(axis)));
        assert_eq!(one(i64::MIN, 0), ErrorCode::AxisOutOfRange);
        assert_eq!(one(0, 1), ErrorCode::AxisBeforeBatch);
        assert_eq!(one(0, i64::MIN), ErrorCode::BatchDimsOutOfRange);
        assert_eq!(code(Plan::gather(&[2], &[2], &Options::new().batch_dims(1))), ErrorCode::AxisOutOfRange);
    }

    #[test]
    fn a_zero_dim_does_not_hide_dims_that_are_too_large() {
        let half = usize::MAX >> 2;
        assert_eq!(
            code(Plan::gather(&[half, 0, 4], &[1], &Options::new().axis(1))),
            ErrorCode::OutputTooLarge
        );
        assert_eq!(Plan::gather(&[half, 0], &[0], &Options::new().axis(1)).unwrap().output_len(1), Ok(0));
    }
}
