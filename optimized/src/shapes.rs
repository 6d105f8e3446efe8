//! The shapes of a call, validated: the checks of the documented formulas, in the order of the error codes.

use gather_spec::shape::MAX_BYTES;
use gather_spec::{GatherError, Profile, Refusal, Shape};

use crate::Options;
use crate::dispatch::{self, Proof};
use crate::options::Threads;

/// Which of the two documented formulas a call follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// Rows of indices, each a partial multi-index.
    Nd,
    /// Each index selects along one axis.
    OneAxis,
}

/// Shapes that fit each other, borrowed from where they are kept: a call that is run once copies none of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shapes<'a> {
    pub params: &'a [usize],
    pub indices: &'a [usize],
    pub traits: Traits,
}

/// What has been found out about a pair of shapes, and how it is to be run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traits {
    pub family: Family,
    /// Leading dims that params and indices share.
    pub batch_dims: usize,
    /// The first axis of params that indices select from.
    pub axis: usize,
    /// How many axes of params one index row selects from.
    pub depth: usize,
    /// The product of the non-zero dims of the output.
    nonzero: usize,
    /// Whether the output has a dim of 0.
    empty: bool,
    pub profile: Profile,
    pub level: Proof,
    pub threads: Option<Threads>,
}

impl<'a> Shapes<'a> {
    /// Those of `gather_nd`; the errors are documented on [`crate::Plan::gather_nd`].
    #[inline(always)] // So that they stay in registers.
    pub(crate) fn gather_nd(
        params: &'a [usize],
        indices: &'a [usize],
        options: &Options,
    ) -> Result<Self, Refusal> {
        if options.axis.is_some() {
            return Err(no_axis());
        }
        let (r, q) = (params.len(), indices.len());
        let Some((depth, _)) = indices.split_last() else {
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
            return Err(GatherError::IndexDepth { batch_dims: b, depth: *depth, rank: r }.into());
        }
        Self::new(Family::Nd, params, indices, (b, b, *depth), options)
    }

    /// Those of `gather`; the errors are documented on [`crate::Plan::gather`].
    #[inline(always)] // So that they stay in registers.
    pub(crate) fn gather(
        params: &'a [usize],
        indices: &'a [usize],
        options: &Options,
    ) -> Result<Self, Refusal> {
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
        Self::new(Family::OneAxis, params, indices, (b, axis, 1), options)
    }

    #[inline(always)]
    fn new(
        family: Family,
        params: &'a [usize],
        indices: &'a [usize],
        (batch_dims, axis, depth): (usize, usize, usize),
        options: &Options,
    ) -> Result<Self, Refusal> {
        let level = dispatch::choose(options.level)?;
        let (profile, threads) = (options.profile, options.threads);
        let (nonzero, empty) = (1, false);
        let traits = Traits { family, batch_dims, axis, depth, nonzero, empty, profile, level, threads };
        let mut shapes = Self { params, indices, traits };
        for dim in shapes.output().into_iter().flatten().copied() {
            if dim == 0 {
                shapes.traits.empty = true;
            } else {
                // What saturates is too large for every element size, and `output_len` will say so.
                shapes.traits.nonzero = shapes.traits.nonzero.saturating_mul(dim);
            }
        }
        Ok(shapes)
    }

    /// The shape of the output, in the parts that it comes in: what stands before the index rows, the index rows, and
    /// what one of them selects.
    #[inline]
    pub(crate) fn output(self) -> [&'a [usize]; 3] {
        let Traits { family, batch_dims, axis, depth, .. } = self.traits;
        let rows = match family {
            Family::Nd => batch_dims..self.indices.len() - 1,
            Family::OneAxis => batch_dims..self.indices.len(),
        };
        [&self.params[..axis], &self.indices[rows], &self.params[axis + depth..]]
    }

    /// The number of elements of the output, once it is known that they fit a tensor of this element size.
    ///
    /// # Errors
    /// `output-too-large`.
    #[inline]
    pub(crate) fn output_len(self, element: usize) -> Result<usize, Refusal> {
        let Traits { nonzero, empty, .. } = self.traits;
        match nonzero.checked_mul(element) {
            Some(bytes) if isize::try_from(bytes).is_ok() => Ok(if empty { 0 } else { nonzero }),
            _ => Err(self.too_large(element)),
        }
    }

    #[cold]
    fn too_large(self, element: usize) -> Refusal {
        let dims = self.output().into_iter().flatten().filter(|dim| **dim != 0);
        let bytes = dims.fold(element as u128, |product, dim| product.saturating_mul(*dim as u128));
        if bytes > MAX_BYTES {
            return GatherError::OutputTooLarge { bytes }.into();
        }
        Refusal::Unsupported(format!("an output of {bytes} bytes on this platform"))
    }
}

#[cold]
fn no_axis() -> Refusal {
    Refusal::Unsupported("gather_nd has no attribute `axis`".to_owned())
}

/// `value`, counted from the end of `rank` if negative, if that is within `0..=high`.
#[inline]
fn from_either_end(value: i64, rank: usize, high: usize) -> Option<usize> {
    let normalised = if value < 0 { value.checked_add(signed(rank))? } else { value };
    usize::try_from(normalised).ok().filter(|at| *at <= high)
}

#[inline]
fn same_batch(params: &[usize], indices: &[usize], b: usize) -> Result<(), GatherError> {
    // Where params has fewer than b dims, axis or depth have already been refused.
    if params[..b] == indices[..b] {
        return Ok(());
    }
    Err(batch_mismatch(&params[..b], &indices[..b]))
}

#[cold]
fn batch_mismatch(params: &[usize], indices: &[usize]) -> GatherError {
    let shape = |dims: &[usize]| Shape::new(dims).unwrap_or_default();
    GatherError::BatchShapeMismatch { params: shape(params), indices: shape(indices) }
}

/// A rank as the attributes count: ranks are far below 2^63.
fn signed(rank: usize) -> i64 {
    i64::try_from(rank).unwrap_or(i64::MAX)
}
