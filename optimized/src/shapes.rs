//! The shapes of a call that `forms` has validated: what the output is, how large, and how the call is run. No form is
//! known here.

use gather_spec::shape::MAX_BYTES;
use gather_spec::{EmptyAxis, GatherError, Refusal};
use smallvec::SmallVec;

use crate::dispatch;
use crate::levels::Proof;
use crate::options::{Choices, Threads};
use crate::policy::{Bad, Policies};
use crate::windows::Windows;

/// The dims of one tensor; no allocation up to rank 6.
pub(crate) type Dims = SmallVec<[usize; 6]>;

/// Shapes that fit each other, borrowed from their owner: a call that is run once copies none of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shapes<'a> {
    pub params: &'a [usize],
    pub indices: &'a [usize],
    /// Where the output is made of windows, which select by these and not by a selection.
    pub windows: Option<&'a Windows>,
    pub selection: Selection,
    pub size: OutputSize,
    pub execution: Execution,
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
    pub output: OutputShape,
    /// Where the output is made of slices: whether its batch dims are one, their product.
    pub flat_batch: bool,
}

impl Selection {
    /// That of windows, which say the rest themselves.
    const WINDOWS: Self = Self {
        batch_dims: 0,
        axis: 0,
        depth: 0,
        row_rank: 0,
        output: OutputShape::Windows,
        flat_batch: false,
    };

    /// Whether several batch dims are one in the output.
    const fn merges_batch(self) -> bool {
        self.flat_batch && self.batch_dims > 1
    }
}

/// What the dims of the output are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputShape {
    /// What is before the axis in params, the index rows, and what one of them selects.
    Slices,
    /// Those of indices.
    Indices,
    /// Those of indices, with each 1 off the axis replaced by what params has there.
    Joined,
    /// Those of index rows and windows, in the order that the windows say.
    Windows,
}

/// How many elements the output has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutputSize {
    /// The product of its non-zero dims.
    nonzero: usize,
    /// Whether it has a dim of 0.
    empty: bool,
}

/// How a call is run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Execution {
    pub policies: Policies,
    pub level: Proof,
    pub threads: Option<Threads>,
}

impl OutputSize {
    /// That of no dims at all.
    const UNCOUNTED: Self = Self { nonzero: 1, empty: false };
}

impl Execution {
    /// # Errors
    /// `Unsupported` for a level that this processor lacks.
    #[inline(always)] // So that it stays in registers.
    fn new(choices: &Choices) -> Result<Self, Refusal> {
        let level = dispatch::choose(choices.level)?;
        Ok(Self { policies: Policies::new(choices.profile), level, threads: choices.threads })
    }
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
        choices: &Choices,
    ) -> Result<Self, Refusal> {
        let mut execution = Execution::new(choices)?;
        let selected = selection.axis..selection.axis + selection.depth;
        if choices.empty_axis == EmptyAxis::Error && params[selected].contains(&0) {
            execution.policies.bad = Bad::Error;
        }
        Ok(Self { params, indices, windows: None, selection, size: OutputSize::UNCOUNTED, execution }
            .counted())
    }

    /// Those of windows that have been found to fit. None of their starts is on an empty axis: where there is an index
    /// row, at least one start fits.
    ///
    /// # Errors
    /// As [`Shapes::new`].
    pub(crate) fn of_windows(
        params: &'a [usize],
        indices: &'a [usize],
        windows: &'a Windows,
        choices: &Choices,
    ) -> Result<Self, Refusal> {
        let execution = Execution::new(choices)?;
        let (selection, size) = (Selection::WINDOWS, OutputSize::UNCOUNTED);
        let mut shapes =
            Self { params, indices, windows: Some(windows), selection, size, execution }.counted();
        if windows.sliced_away.is_some() && !shapes.size.empty {
            // As good as too large: `output_len` will say why.
            shapes.size.nonzero = usize::MAX;
        }
        Ok(shapes)
    }

    /// Whether these are the shapes of these arrays. It costs nothing where they were borrowed from there.
    #[inline(always)]
    pub(crate) fn fit(&self, params: &[usize], indices: &[usize]) -> bool {
        let same = |one: &[usize], other: &[usize]| std::ptr::eq(one, other) || one == other;
        same(self.params, params) && same(self.indices, indices)
    }

    /// Whether the output has no elements.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.size.empty
    }

    /// The shapes with the elements of the output counted.
    #[inline(always)]
    fn counted(mut self) -> Self {
        let OutputSize { mut nonzero, mut empty } = self.size;
        self.each_output_dim(|dim| {
            if dim == 0 {
                empty = true;
            } else {
                // What saturates is too large for every element size, and `output_len` will say so.
                nonzero = nonzero.saturating_mul(dim);
            }
        });
        self.size = OutputSize { nonzero, empty };
        self
    }

    /// The parts of the output's shape where it is made of slices.
    #[inline(always)]
    fn slices(self) -> [&'a [usize]; 3] {
        let Selection { batch_dims, axis, depth, row_rank, .. } = self.selection;
        [&self.params[..axis], &self.indices[batch_dims..row_rank], &self.params[axis + depth..]]
    }

    /// Hands over the dims of the output in order.
    #[inline(always)] // So that shapes stay in registers.
    pub(crate) fn each_output_dim(self, mut give: impl FnMut(usize)) {
        if self.selection.output == OutputShape::Slices && !self.selection.merges_batch() {
            self.slices().into_iter().flatten().for_each(|dim| give(*dim));
        } else {
            (0..self.output_rank()).for_each(|dim| give(self.other_dim(dim)));
        }
    }

    /// A dim of the output where it is not made of slices.
    #[inline(never)] // So that the code for slices stays short.
    fn other_dim(self, dim: usize) -> usize {
        match self.windows {
            Some(windows) => windows.axes[dim].len,
            None if self.selection.output == OutputShape::Slices => self.slice_dim(dim),
            None => self.joined_dim(dim),
        }
    }

    /// A dim of an output of slices whose batch dims are one.
    fn slice_dim(self, dim: usize) -> usize {
        let (batch, rest) = self.indices.split_at(self.selection.batch_dims);
        let Some(behind) = dim.checked_sub(1) else { return batch.iter().product() };
        let Selection { batch_dims, axis, depth, row_rank, .. } = self.selection;
        let outer = &rest[..row_rank - batch_dims];
        let parts = [&self.params[batch_dims..axis], outer, &self.params[axis + depth..]];
        parts.into_iter().flatten().nth(behind).copied().unwrap_or(1)
    }

    /// A dim of the output where it has the dims of indices.
    #[inline]
    pub(crate) fn joined_dim(self, dim: usize) -> usize {
        let Selection { axis, output, .. } = self.selection;
        let repeated = output == OutputShape::Joined && dim != axis && self.indices[dim] == 1;
        if repeated { self.params[dim] } else { self.indices[dim] }
    }

    /// Whether this is the shape of the output.
    #[inline]
    pub(crate) fn is_output(self, shape: &[usize]) -> bool {
        let (mut found, mut same) = (shape.iter(), shape.len() == self.output_rank());
        self.each_output_dim(|dim| same &= found.next() == Some(&dim));
        same
    }

    /// The rank of the output.
    #[inline]
    pub(crate) fn output_rank(self) -> usize {
        match self.selection.output {
            OutputShape::Slices => {
                let merged = if self.selection.merges_batch() { self.selection.batch_dims - 1 } else { 0 };
                self.slices().map(<[usize]>::len).iter().sum::<usize>() - merged
            }
            OutputShape::Indices | OutputShape::Joined => self.indices.len(),
            OutputShape::Windows => self.windows.map_or(0, |windows| windows.axes.len()),
        }
    }

    /// The number of elements of the output, once it is known that they fit a tensor of this element size.
    ///
    /// # Errors
    /// `output-too-large`; `Unsupported` if there are elements, but none in params that they could be.
    #[inline]
    pub(crate) fn output_len(self, element: usize) -> Result<usize, Refusal> {
        let OutputSize { nonzero, empty } = self.size;
        match nonzero.checked_mul(element) {
            Some(bytes) if isize::try_from(bytes).is_ok() => Ok(if empty { 0 } else { nonzero }),
            _ => Err(self.too_large(element)),
        }
    }

    #[cold]
    fn too_large(self, element: usize) -> Refusal {
        let mut bytes = element as u128;
        self.each_output_dim(|dim| bytes = bytes.saturating_mul(dim.max(1) as u128));
        if bytes > MAX_BYTES {
            return GatherError::OutputTooLarge { bytes }.into();
        }
        if let Some(Windows { sliced_away: Some(dim), .. }) = self.windows {
            return undefined(*dim);
        }
        Refusal::Unsupported(format!("an output of {bytes} bytes on this platform"))
    }
}

fn undefined(dim: usize) -> Refusal {
    Refusal::Unsupported(format!(
        "dim {dim} of params is not in the output and has a slice size of 0, so that the output's elements are undefined"
    ))
}
