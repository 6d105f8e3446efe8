//! The size of a drawn call: nearly always tiny, sometimes at an edge of a fast kernel.

use super::ChoiceSequence;

/// The size of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SizeClass {
    /// Dims of 0 to 4 and a handful of elements.
    Tiny,
    /// One dim at the edge of a vector.
    Small,
    /// One dim at the edge of a block, a chunk or a part.
    Long,
    /// A slice length or number of rows at which kernels switch between code paths.
    Edge,
    /// Dims of all these kinds and higher ranks, for tests that can take their time.
    Wide,
    /// Beyond all of these in one respect, and slow to answer.
    Far,
}

/// Dims of tiny tensors, the simplest first.
const TINY: [usize; 10] = [1, 2, 3, 2, 1, 4, 3, 2, 1, 0];
/// Vector lengths and their neighbours.
const SMALL: [usize; 10] = [5, 7, 8, 9, 15, 16, 17, 31, 32, 33];
/// Block sizes and their neighbours.
const LONG: [usize; 10] = [63, 64, 65, 96, 127, 128, 129, 255, 257, 1025];

/// Dims of all kinds, the simplest first.
const WIDE: [usize; 16] = [2, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 0];

impl SizeClass {
    /// Draws a size. One in `edges_in` is [`SizeClass::Edge`]; for `None`, none is.
    pub(crate) fn draw(choices: &mut ChoiceSequence, edges_in: Option<usize>) -> Self {
        if edges_in.is_some_and(|edges_in| choices.once_in(edges_in)) {
            return Self::Edge;
        }
        match choices.below(256) {
            255 => Self::Long,
            240.. => Self::Small,
            _ => Self::Tiny,
        }
    }

    /// The approximate limit on the elements of params, and of indices.
    const fn elements(self) -> usize {
        match self {
            Self::Tiny => 24,
            Self::Small => 72,
            Self::Long => 1100,
            Self::Wide | Self::Edge | Self::Far => 1 << 10,
        }
    }

    /// The approximate limit on the elements of the output.
    pub(super) const fn output_elements(self) -> usize {
        match self {
            Self::Tiny => 12,
            Self::Small => 96,
            Self::Long => 2200,
            Self::Wide | Self::Edge | Self::Far => 1 << 15,
        }
    }

    /// The highest rank to draw, given the usual one.
    pub(super) const fn rank(self, usual: usize) -> usize {
        if matches!(self, Self::Wide) { usual + 1 } else { usual }
    }
}

/// Draws dims with a rank from `least_rank` to `most_rank`, or `least_rank` if that is higher, and few elements in all.
pub(super) fn dims(
    choices: &mut ChoiceSequence,
    size: SizeClass,
    least_rank: usize,
    most_rank: usize,
) -> Vec<usize> {
    let rank = least_rank + choices.below(most_rank.saturating_sub(least_rank) + 1);
    first_dims(choices, size, rank, rank)
}

/// Like [`dims`], with the same number of draws for every rank, so that lowering the rank does not change later draws.
pub(super) fn evenly_drawn_dims(
    choices: &mut ChoiceSequence,
    size: SizeClass,
    least_rank: usize,
    most_rank: usize,
) -> Vec<usize> {
    let most_rank = most_rank.max(least_rank);
    let rank = least_rank + choices.below(most_rank - least_rank + 1);
    first_dims(choices, size, rank, most_rank)
}

/// Draws `drawn` dims and keeps the first `rank`.
fn first_dims(choices: &mut ChoiceSequence, size: SizeClass, rank: usize, drawn: usize) -> Vec<usize> {
    // Capacity for batch dims and an index vector.
    let mut dims = Vec::with_capacity(drawn + 4);
    if size == SizeClass::Wide {
        dims.extend((0..drawn).map(|_| choices.pick(&WIDE)));
    } else {
        dims.extend((0..drawn).map(|_| choices.pick(&TINY)));
    }
    dims.truncate(rank);
    // Drawn for every size, so that a smaller size does not change later draws.
    let (at, edge) = (choices.below(rank), choices.below(SMALL.len()));
    if let Some(dim) = dims.get_mut(at) {
        match size {
            SizeClass::Tiny | SizeClass::Wide | SizeClass::Edge | SizeClass::Far => {}
            SizeClass::Small => *dim = SMALL[edge],
            SizeClass::Long => *dim = LONG[edge],
        }
    }
    fit(&mut dims, 0, size.elements());
    dims
}

/// The number of elements, counting a dim of 0 as 1: that dim may not be part of the output.
pub(super) fn elements(dims: &[usize]) -> usize {
    dims.iter().map(|dim| dim.max(&1)).product()
}

/// Lowers dims after the first `kept`, smallest first, until there are at most `most` elements.
pub(super) fn fit(dims: &mut [usize], kept: usize, most: usize) {
    while elements(dims) > most {
        match dims[kept..].iter_mut().filter(|dim| **dim > 1).min() {
            Some(dim) => *dim -= 1,
            None => return,
        }
    }
}
