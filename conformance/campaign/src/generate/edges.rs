//! Calls at the sizes at which kernels switch between code paths: slices around vectors, cache lines and pages, index
//! rows around blocks and parts, and several dims on every side of the axis.
//!
//! Such a call can take a thousand times as long as a usual one, so campaigns set how often one is drawn. Each call has
//! one focus with a size at an edge; everything else stays small, which keeps the output within its limit.

use gather_spec::{Form, Signature};

use super::ChoiceSequence;
use super::parts::{CallShapes, ShapeRequirements};
use super::pieces::{BATCH, GATHERED, INNER, MID, OUTER, Pieces, kinds};

/// Slice lengths and numbers of index rows, ascending: powers of two, some of their multiples, and the neighbours of both.
const EDGES: [usize; 82] = [
    1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 23, 24, 25, 31, 32, 33, 47, 48, 49, 63, 64, 65, 95,
    96, 97, 127, 128, 129, 191, 192, 193, 255, 256, 257, 383, 384, 385, 511, 512, 513, 639, 640, 641, 767,
    768, 769, 1023, 1024, 1025, 1279, 1280, 1281, 1535, 1536, 1537, 2047, 2048, 2049, 3071, 3072, 3073, 4095,
    4096, 4097, 5119, 5120, 5121, 8191, 8192, 8193, 16_383, 16_384, 16_385, 32_769, 65_535, 65_536, 65_537,
];
/// The position in [`EDGES`] from which on a size is worth a focus: in a call of usual size, and in a large one.
const FIRST_EDGE: usize = 12;
const FIRST_LARGE_EDGE: usize = 63;
/// The block sizes of kernels in index rows, and their neighbours, ascending.
const BLOCKS: [usize; 21] =
    [31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 4095, 4096, 4097];

/// Sizes of the dims beside the focus.
const BESIDE: [usize; 8] = [1, 2, 3, 4, 5, 7, 9, 17];
/// Factors for splitting an edge into several dims.
const SPLITS: [usize; 8] = [1, 2, 3, 4, 5, 8, 7, 16];
/// Sizes of the axis. Those above the limit on params are not drawn.
const AXES: [usize; 12] = [1, 2, 3, 5, 8, 17, 64, 129, 257, 1000, 4097, 40_000];

/// The most elements of an output and of params: of most edge calls, and of one in [`LARGE_IN`].
const USUAL: usize = 9000;
const LARGE: usize = 70_000;
const LARGE_IN: usize = 16;

/// The part of a call that is at an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Focus {
    Slice,
    Rows,
    Batch,
    /// Nothing in particular: several dims on every side of the axis.
    Ranks,
}

const FOCUSES: [Focus; 8] = [
    Focus::Slice,
    Focus::Rows,
    Focus::Slice,
    Focus::Rows,
    Focus::Ranks,
    Focus::Slice,
    Focus::Rows,
    Focus::Batch,
];

/// The same for an operator that flattens. It has no batch, so calls with several dims are drawn instead.
const WITHOUT_BATCH: [Focus; 6] =
    [Focus::Slice, Focus::Ranks, Focus::Rows, Focus::Ranks, Focus::Ranks, Focus::Ranks];

/// The parts of a valid call with its focus at an edge. No dim is 0.
pub(super) fn draw(
    choices: &mut ChoiceSequence,
    signature: &Signature,
    wanted: &ShapeRequirements,
) -> CallShapes {
    let focus =
        if signature.flatten.is_some() { choices.pick(&WITHOUT_BATCH) } else { choices.pick(&FOCUSES) };
    let limit = if choices.once_in(LARGE_IN) { LARGE } else { USUAL };
    let has = kinds(signature);
    let mut pieces = Pieces::default();
    let (from, to) = if has.contains(&BATCH) { wanted.batch } else { (0, 0) };
    let several = usize::from(focus == Focus::Ranks);
    let rank = (choices.pick(&[0, 1, 0, 0, 2]) + several).clamp(from, to.min(2).max(from));
    pieces.0[BATCH] = few(choices, rank);
    if has.contains(&MID) {
        let rank = choices.pick(&[0, 1, 0, 2]).max(2 * several);
        pieces.0[MID] = few(choices, rank);
    }
    if focus == Focus::Batch && !pieces.0[BATCH].is_empty() {
        pieces.0[BATCH][0] = 1;
        pieces.0[BATCH][0] = edge(choices, limit / 8 / pieces.elements(&[BATCH, MID]));
    }
    let left = limit / pieces.elements(&[BATCH, MID]);
    let (rows, slice) = match focus {
        Focus::Slice => {
            let rows = beside(choices, left);
            (rows, edge(choices, left / rows))
        }
        Focus::Rows => {
            let slice = beside(choices, left);
            let sizes = if left < LARGE / 2 && choices.once_in(2) { &BLOCKS[..] } else { edges(left) };
            (at_an_edge(choices, sizes, left / slice), slice)
        }
        Focus::Batch => {
            let rows = beside(choices, left);
            (rows, beside(choices, left / rows))
        }
        Focus::Ranks => {
            let rows = below(choices, &EDGES, (left / 8).min(129));
            (rows, below(choices, &EDGES, (left / rows).min(129)))
        }
    };
    let mut room = left / (rows * slice);
    let rank = choices.pick(&[1, 2, 1, 3]).max(2 * several);
    pieces.0[INNER] = split(choices, slice, rank, &mut room);
    // Where no index rows are wanted, the indices may consist of batch dims alone.
    let all_batch = !pieces.0[BATCH].is_empty() && wanted.outer == 0 && choices.once_in(3);
    if all_batch && has.contains(&MID) && pieces.0[MID].is_empty() {
        pieces.0[MID] = few(choices, 1);
    }
    if !all_batch {
        let rank = choices.pick(&[1, 2, 1, 3]).max(2 * several).max(wanted.outer);
        pieces.0[OUTER] =
            if signature.form == Form::Elements { vec![rows] } else { split(choices, rows, rank, &mut room) };
    }
    pieces.0[GATHERED] = axes(choices, signature, limit / pieces.elements(&[BATCH, MID, INNER]));
    pieces.assemble(choices, signature)
}

impl Pieces {
    /// The product of the dims of some pieces.
    fn elements(&self, kinds: &[usize]) -> usize {
        kinds.iter().flat_map(|kind| &self.0[*kind]).product()
    }
}

/// Dims from 1 to 5.
fn few(choices: &mut ChoiceSequence, rank: usize) -> Vec<usize> {
    (0..rank).map(|_| choices.pick(&[1, 2, 3, 4, 5])).collect()
}

/// One of the sizes, which ascend, that are at most `limit`; the first one if none is.
fn below(choices: &mut ChoiceSequence, sizes: &[usize], limit: usize) -> usize {
    let count = sizes.partition_point(|size| *size <= limit).max(1);
    choices.pick(&sizes[..count])
}

/// The edges worth a focus in an output with this many elements.
const fn edges(limit: usize) -> &'static [usize] {
    let first = if limit < LARGE / 2 { FIRST_EDGE } else { FIRST_LARGE_EDGE };
    EDGES.split_at(first).1
}

/// A size at an edge, or sometimes 1, the simplest.
fn edge(choices: &mut ChoiceSequence, limit: usize) -> usize {
    at_an_edge(choices, edges(limit), limit)
}

/// One of the sizes, which ascend, that are at most `limit`, or 1.
fn at_an_edge(choices: &mut ChoiceSequence, sizes: &[usize], limit: usize) -> usize {
    let count = sizes.partition_point(|size| *size <= limit);
    choices.below(count + 1).checked_sub(1).map_or(1, |at| sizes[at])
}

/// A size for a dim beside the focus, small enough to leave room for an edge.
fn beside(choices: &mut ChoiceSequence, limit: usize) -> usize {
    let most = if limit >= LARGE { 2 } else { limit / edges(limit)[0] };
    below(choices, &BESIDE, most)
}

/// Dims whose product is `size` or a small multiple of it. `room` is the factor by which the output may still grow.
fn split(choices: &mut ChoiceSequence, size: usize, rank: usize, room: &mut usize) -> Vec<usize> {
    let (mut dims, mut left) = (Vec::with_capacity(rank + 1), size);
    for _ in 1..rank {
        let by = choices.pick(&SPLITS);
        if left % by == 0 {
            left /= by;
            dims.push(by);
        } else {
            let more = if *room >= by.min(3) { by.min(3) } else { 1 };
            *room /= more;
            dims.push(more);
        }
    }
    let at = choices.below(dims.len() + 1);
    dims.insert(at, left);
    dims
}

/// The gathered axes, with about `limit` elements at most.
fn axes(choices: &mut ChoiceSequence, signature: &Signature, limit: usize) -> Vec<usize> {
    let depth = match signature.form {
        Form::Nd => signature.least_depth.max(choices.pick(&[1, 2, 1, 3])),
        Form::Take | Form::Elements | Form::Window => 1,
    };
    let mut axes = vec![below(choices, &AXES, limit)];
    for _ in 1..depth {
        let limit = limit / axes.iter().product::<usize>();
        axes.push(below(choices, &AXES[..6], limit));
    }
    axes
}
