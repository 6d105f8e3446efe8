//! Shapes far from the usual ones: many rows, long axes, high ranks, and sizes that only an empty output can have. They
//! are slow to answer, so campaigns do not draw them.

use gather_spec::signature::{EmptyDims, Join, OperandRole};
use gather_spec::{Form, Signature};

use super::ChoiceSequence;
use super::parts::CallShapes;
use super::pieces::{GATHERED, INNER, OUTER, Pieces, kinds};

/// Dims beyond the range of 7, 8, 15 and 16 bits. A dim of at least [`LARGE`] makes all others 1.
const FAR: [usize; 8] = [129, 200, 257, 300, 129, 33_000, 33_000, 70_000];
const LARGE: usize = 1000;
/// Dims beyond the range of 31, 32 and 62 bits, which only fit beside a dim of 0.
const HUGE: [usize; 7] = [1 << 31, (1 << 33) + 1, 1 << 40, 1 << 59, 1 << 60, 1 << 61, (1 << 63) - 1];

/// The parts of a valid call that is unusual in one respect.
pub(super) fn draw(choices: &mut ChoiceSequence, signature: &Signature) -> CallShapes {
    let mut pieces = Pieces(std::array::from_fn(|_| {
        let rank = choices.below(2);
        (0..rank).map(|_| 1 + choices.below(2)).collect()
    }));
    let kinds = kinds(signature);
    let kind = choices.pick(&kinds);
    // Where dims of 0 are rejected, there is no empty output.
    let draws = if signature.empty_dims == EmptyDims::Rejected { 3 } else { 12 };
    match choices.below(draws) {
        0 => pieces.lengthen(choices, kind),
        1 => {
            let more = 1 + choices.below(8);
            pieces.0[kind].extend((0..more).map(|_| 1 + choices.below(2)));
        }
        2 => {
            pieces.lengthen(choices, kind);
            let other = choices.pick(&kinds);
            pieces.0[other].push(3);
        }
        // An empty output costs nothing.
        _ => pieces.empty_and_huge(choices),
    }
    let mut parts = pieces.assemble(choices, signature).within_ranks(signature);
    if signature.form == Form::Elements && choices.once_in(2) {
        let CallShapes { params, indices, axis, .. } = &mut parts;
        grow(choices, signature, params, indices, *axis);
    }
    // The output has the dims of indices alone, so only elements wider than these make it too large.
    if signature.is_always_flat() && choices.once_in(4) {
        parts.indices = vec![0, choices.pick(&[1 << 59, 1 << 58])];
    }
    parts
}

impl Pieces {
    /// Adds a long dim to one piece.
    fn lengthen(&mut self, choices: &mut ChoiceSequence, kind: usize) {
        let far = choices.pick(&FAR);
        if far >= LARGE {
            // Of the other dims one is 2, so that a slice can begin beyond the first element.
            self.0.iter_mut().flatten().for_each(|dim| *dim = 1);
            self.0[if kind == GATHERED { INNER } else { GATHERED }].push(2);
        }
        let at = choices.below(self.0[kind].len() + 1);
        self.0[kind].insert(at, far);
    }

    /// Makes the output empty, and one or two dims huge.
    fn empty_and_huge(&mut self, choices: &mut ChoiceSequence) {
        if choices.once_in(8) {
            // A scalar, and more rows than an output can have.
            self.0 = Default::default();
            self.0[OUTER].extend([1 << 60, 0]);
            return;
        }
        if choices.once_in(2) {
            self.0.iter_mut().flatten().for_each(|dim| *dim = 1);
        }
        self.0[INNER].push(0);
        if choices.once_in(2) {
            self.0[OUTER].push(7);
        }
        let huge = choices.pick(&HUGE);
        let kind = choices.pick(&[INNER, GATHERED, INNER, OUTER]);
        self.0[kind].insert(0, huge);
        if kind == OUTER {
            // With this many rows, the indices themselves must be empty.
            self.0[OUTER].push(0);
        }
    }
}

/// Makes an empty output so long along the axis that its size overflows if its elements are wider than the indices.
fn grow(
    choices: &mut ChoiceSequence,
    signature: &Signature,
    params: &mut [usize],
    indices: &mut [usize],
    axis: usize,
) {
    let empty = |dims: &[usize]| dims.iter().enumerate().any(|(dim, size)| dim != axis && *size == 0);
    if empty(params) && empty(indices) {
        params.iter_mut().chain(&mut *indices).for_each(|dim| *dim = (*dim).min(1));
        indices[axis] = choices.pick(&[1 << 60, 1 << 59]);
        // Only one-byte indices can be as many as the largest output has bytes.
        let narrow = || signature.operand(OperandRole::Indices).dtypes.iter().any(|dtype| dtype.size() == 1);
        if signature.join == Some(Join::Broadcast) && narrow() && choices.once_in(2) {
            indices[axis] = (1 << 63) - 1;
        }
    }
}
