//! What the dims of a window gather read: the bridge between dimension numbers, which `forms` checks, and strides, which
//! `geometry` knows.

use smallvec::SmallVec;

/// A dim of the output: along it params, indices or both are stepped through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WindowAxis {
    pub len: usize,
    /// The dim of params that this is an offset in, or shares with indices.
    pub params: Option<usize>,
    /// The dim of indices that numbers the index rows here; none along a window.
    pub indices: Option<usize>,
}

/// What one component of an index row chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    /// The dim of params that windows start on.
    pub dim: usize,
    /// How many starts fit: with `size` elements to a window, `dim - size + 1`.
    pub bound: usize,
}

/// How a call of windows reads its operands. Only `forms::window` makes one, and it makes sure that every start below its
/// bound plus every offset below its `len` is a coordinate of params, unless the output is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Windows {
    /// The dims of the output, in order.
    pub axes: SmallVec<[WindowAxis; 6]>,
    /// By component of an index row.
    pub starts: SmallVec<[Start; 4]>,
    /// The dim of indices that holds the components; their rank if each index is a row of one component.
    pub vector: usize,
    /// A dim of params that the output lacks, and along which a window has no element.
    pub sliced_away: Option<usize>,
}

impl Windows {
    /// The distance between the components of an index row, if there can be more than one.
    pub(crate) fn component_step(&self, indices: &[isize]) -> isize {
        indices.get(self.vector).copied().unwrap_or(0)
    }
}
