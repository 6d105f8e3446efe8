//! How large a drawn call is: nearly always tiny, sometimes at an edge of a fast implementation.

use super::Choices;

/// How large a call may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    /// Dims of 0 to 4 and a handful of elements.
    Tiny,
    /// One dim at the edge of a lane.
    Small,
    /// One dim at the edge of a block, a chunk or a part.
    Long,
}

/// Dims of tiny tensors, the simplest first.
const TINY: [usize; 10] = [1, 2, 3, 2, 1, 4, 3, 2, 1, 0];
/// The neighbours of lanes.
const SMALL: [usize; 10] = [5, 7, 8, 9, 15, 16, 17, 31, 32, 33];
/// The neighbours of blocks.
const LONG: [usize; 10] = [63, 64, 65, 96, 127, 128, 129, 255, 257, 1025];

impl Size {
    pub(super) fn draw(choices: &mut Choices) -> Self {
        match choices.below(256) {
            255 => Self::Long,
            240.. => Self::Small,
            _ => Self::Tiny,
        }
    }

    /// At most about this many elements are in params, and in indices.
    const fn elements(self) -> usize {
        match self {
            Self::Tiny => 24,
            Self::Small => 72,
            Self::Long => 1100,
        }
    }

    /// At most about this many elements are in the output.
    pub(super) const fn output_elements(self) -> usize {
        match self {
            Self::Tiny => 16,
            Self::Small => 96,
            Self::Long => 2200,
        }
    }
}

/// Dims of a rank up to `most_rank`, few elements in all.
pub(super) fn dims(choices: &mut Choices, size: Size, most_rank: usize) -> Vec<usize> {
    let rank = choices.below(most_rank + 1);
    let mut dims = Vec::with_capacity(rank + 4);
    dims.extend((0..rank).map(|_| choices.pick(&TINY)));
    // Drawn of every size, so that a smaller size leaves all other draws what they were.
    let (at, edge) = (choices.below(rank), choices.below(SMALL.len()));
    if let Some(dim) = dims.get_mut(at) {
        match size {
            Size::Tiny => {}
            Size::Small => *dim = SMALL[edge],
            Size::Long => *dim = LONG[edge],
        }
    }
    fit(&mut dims, 0, size.elements());
    dims
}

/// How many elements dims have, if none of them is 0: a dim of 0 may not come to the output.
pub(super) fn elements(dims: &[usize]) -> usize {
    dims.iter().map(|dim| dim.max(&1)).product()
}

/// Makes dims after the first `kept` smaller, the smallest first, until there are few elements.
pub(super) fn fit(dims: &mut [usize], kept: usize, most: usize) {
    while elements(dims) > most {
        match dims[kept..].iter_mut().filter(|dim| **dim > 1).min() {
            Some(dim) => *dim -= 1,
            None => return,
        }
    }
}
