//! Draws the dims of indices: where batching dims and the index vector stand among the dims of the rows.

use gather_spec::Signature;
use gather_spec::signature::AttributeRole;

use crate::generate::ChoiceSequence;

/// The highest rank of indices without batching dims and index vector.
pub(super) const OUTER_RANK: usize = 2;

/// The dims of indices.
pub(super) struct IndexDims {
    pub(super) indices: Vec<usize>,
    /// The dims shared with params, in the order of the batching dims of params.
    pub(super) batching: Vec<usize>,
    pub(super) vector: usize,
}

impl IndexDims {
    pub(super) fn draw(
        choices: &mut ChoiceSequence,
        signature: &Signature,
        outer: &[usize],
        shared: &[usize],
        components: usize,
    ) -> Self {
        // Each row dim with its position among the batching dims of params, if it is one of them.
        let mut dims: Vec<(usize, Option<usize>)> =
            shared.iter().enumerate().map(|(at, dim)| (*dim, Some(at))).collect();
        // The same number of draws for every rank, including the extra dim of a wide call and that of an edge.
        for at in 0..=OUTER_RANK + 1 {
            let back = choices.below(dims.len() + 1);
            if let Some(dim) = outer.get(at) {
                dims.insert(dims.len() - back, (*dim, None));
            }
        }
        let rank = dims.len();
        let (swapped, one, other) = (choices.once_in(2), choices.below(rank), choices.below(rank));
        if swapped && rank > 1 {
            dims.swap(one, other);
        }
        let free = signature.attribute(AttributeRole::IndexVectorDim).is_some();
        let implied = choices.once_in(4) && free && components == 1;
        let (moved, place) = (choices.once_in(3), choices.below(rank + 1));
        let vector = if free && moved { place } else { rank };
        let mut batching = vec![0; shared.len()];
        for (at, (_, of)) in dims.iter().enumerate() {
            if let Some(of) = of {
                batching[*of] = at + usize::from(!implied && at >= vector);
            }
        }
        let mut indices: Vec<usize> = dims.into_iter().map(|(dim, _)| dim).collect();
        if implied {
            return Self { indices, batching, vector: rank };
        }
        indices.insert(vector, components);
        Self { indices, batching, vector }
    }

    /// The number of dims that count rows.
    pub(super) fn rank(&self) -> usize {
        self.indices.len() - usize::from(self.vector < self.indices.len())
    }
}
