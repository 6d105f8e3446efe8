//! The shapes of a call that `forms` has validated: what the output is, and how large. No form is known here.

use gather_spec::shape::MAX_BYTES;
use gather_spec::{GatherError, Profile, Refusal};

use crate::Options;
use crate::dispatch::{self, Proof};
use crate::options::Threads;

/// Shapes that fit each other, borrowed from where they are kept: a call that is run once copies none of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shapes<'a> {
    pub params: &'a [usize],
    pub indices: &'a [usize],
    pub traits: Traits,
}

/// Which axes of params are selected from, and where in indices the index rows lie that select.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selection {
    /// Leading dims that params and indices share.
    pub batch_dims: usize,
    /// The first axis of params that indices select from.
    pub axis: usize,
    /// How many axes of params one index row selects from.
    pub depth: usize,
    /// How many leading axes of indices number the index rows. The axis after them holds the components of a row;
    /// without one each index is a row.
    pub row_rank: usize,
}

/// What has been found out about a pair of shapes, and how it is to be run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traits {
    pub selection: Selection,
    /// The product of the non-zero dims of the output.
    nonzero: usize,
    /// Whether the output has a dim of 0.
    empty: bool,
    pub profile: Profile,
    pub level: Proof,
    pub threads: Option<Threads>,
}

impl<'a> Shapes<'a> {
    /// Those that a form has found to fit.
    ///
    /// # Errors
    /// `Unsupported` for a level that this processor lacks.
    #[inline(always)] // So that they stay in registers.
    pub(crate) fn new(
        params: &'a [usize],
        indices: &'a [usize],
        selection: Selection,
        options: &Options,
    ) -> Result<Self, Refusal> {
        let level = dispatch::choose(options.level)?;
        let (profile, threads) = (options.profile, options.threads);
        let (nonzero, empty) = (1, false);
        let traits = Traits { selection, nonzero, empty, profile, level, threads };
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
        let Selection { batch_dims, axis, depth, row_rank } = self.traits.selection;
        [&self.params[..axis], &self.indices[batch_dims..row_rank], &self.params[axis + depth..]]
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
