//! Shapes far from those that are usually drawn: many rows, long axes, high ranks, and sizes that only an empty output
//! can have. They are slow to answer, so campaigns leave them out.

use gather_spec::signature::AttributeRole;
use gather_spec::{Form, Signature};

use super::Choices;
use super::parts::{Parts, join, least_ranks};

/// Dims beyond what 7, 8, 15 and 16 bits count; those from [`LARGE`] on stand alone.
const FAR: [usize; 8] = [129, 200, 257, 300, 129, 33_000, 33_000, 70_000];
const LARGE: usize = 1000;
/// Dims beyond 31, 32 and 62 bits, to stand beside a dim of 0.
const HUGE: [usize; 7] = [1 << 31, (1 << 33) + 1, 1 << 40, 1 << 59, 1 << 60, 1 << 61, (1 << 63) - 1];

/// The dims of a call by what they are: params has batch, mid, gathered and inner; indices has batch and outer.
struct Pieces([Vec<usize>; 5]);

const BATCH: usize = 0;
const MID: usize = 1;
const GATHERED: usize = 2;
const INNER: usize = 3;
const OUTER: usize = 4;

/// The parts of a right call that is far from the others in one way.
pub(super) fn draw(choices: &mut Choices, signature: &Signature) -> Parts {
    let mut pieces = Pieces(std::array::from_fn(|_| {
        let rank = choices.below(2);
        (0..rank).map(|_| 1 + choices.below(2)).collect()
    }));
    let kinds = kinds(signature);
    let kind = choices.pick(&kinds);
    match choices.below(12) {
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
        // These cost nothing to answer.
        _ => pieces.empty_and_huge(choices),
    }
    pieces.assemble(choices, signature)
}

/// The pieces that the operator has and that can be of any rank or size.
fn kinds(signature: &Signature) -> Vec<usize> {
    let has_mid = signature.form != Form::Nd && signature.attribute(AttributeRole::Axis).is_some();
    let batch = signature.has_batch().then_some(BATCH);
    [GATHERED, INNER, OUTER].into_iter().chain(batch).chain(has_mid.then_some(MID)).collect()
}

impl Pieces {
    /// Gives one piece a far dim.
    fn lengthen(&mut self, choices: &mut Choices, kind: usize) {
        let far = choices.pick(&FAR);
        if far >= LARGE {
            // Beside it there is just enough for a slice that does not begin at the first element.
            self.0.iter_mut().flatten().for_each(|dim| *dim = 1);
            self.0[if kind == GATHERED { INNER } else { GATHERED }].push(2);
        }
        let at = choices.below(self.0[kind].len() + 1);
        self.0[kind].insert(at, far);
    }

    /// Makes the output empty, and one or two dims huge.
    fn empty_and_huge(&mut self, choices: &mut Choices) {
        if choices.once_in(8) {
            // A scalar beside more rows than an output can have.
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
            // Indices of so many rows have none.
            self.0[OUTER].push(0);
        }
    }

    fn assemble(self, choices: &mut Choices, signature: &Signature) -> Parts {
        match signature.form {
            Form::Elements => self.join(choices, signature),
            Form::Take | Form::Nd => self.concat(signature),
        }
    }

    /// Params and indices differ on the axis, and off it as far as the join allows.
    fn join(self, choices: &mut Choices, signature: &Signature) -> Parts {
        let Self([_, mut mid, gathered, mut inner, outer]) = self;
        mid.extend(outer.iter().skip(1));
        inner.extend(gathered.iter().skip(1));
        let (least_params, least_indices) = least_ranks(signature);
        let rank = mid.len() + 1 + inner.len();
        inner.extend((rank..least_params.max(least_indices)).map(|_| 1));
        let first = |dims: &[usize]| dims.first().copied().unwrap_or(2);
        let mut params = [&*mid, &[first(&gathered)], &inner].concat();
        let mut indices = [&*mid, &[first(&outer)], &inner].concat();
        let axis = mid.len();
        // A dim of 0 stays, since it may stand beside a huge one.
        for dim in (0..params.len()).filter(|dim| *dim != axis) {
            if params[dim] > 0 {
                join(choices, signature.join, &mut params[dim], &mut indices[dim], false);
            }
        }
        if choices.once_in(2) {
            grow(choices, &mut params, &mut indices, axis);
        }
        Parts { params, indices, batch: 0, axis, depth: 1 }
    }

    fn concat(self, signature: &Signature) -> Parts {
        let (least_params, least_indices) = least_ranks(signature);
        let Self([mut batch, mut mid, mut gathered, mut inner, mut outer]) = self;
        if !signature.has_batch() {
            batch.clear();
        }
        let vector = if signature.form == Form::Nd {
            mid.clear();
            gathered.resize(gathered.len().max(signature.least_depth), 2);
            Some(gathered.len())
        } else {
            if gathered.is_empty() {
                gathered.push(2);
            }
            inner.splice(0..0, gathered.drain(1..));
            if signature.attribute(AttributeRole::Axis).is_none() {
                mid.clear();
            }
            None
        };
        let rank = batch.len() + mid.len() + gathered.len() + inner.len();
        inner.extend((rank..least_params).map(|_| 1));
        let rank = batch.len() + outer.len() + usize::from(vector.is_some());
        outer.extend((rank..least_indices).map(|_| 1));
        let indices = [&*batch, &outer, vector.as_slice()].concat();
        let params = [&*batch, &mid, &gathered, &inner].concat();
        let axis = batch.len() + mid.len();
        Parts { params, indices, batch: batch.len(), axis, depth: gathered.len() }
    }
}

/// Makes an empty output so long on the axis that it is too large where its elements are wider than the indices.
fn grow(choices: &mut Choices, params: &mut [usize], indices: &mut [usize], axis: usize) {
    let empty = |dims: &[usize]| dims.iter().enumerate().any(|(dim, size)| dim != axis && *size == 0);
    if empty(params) && empty(indices) {
        params.iter_mut().chain(&mut *indices).for_each(|dim| *dim = (*dim).min(1));
        indices[axis] = choices.pick(&[1 << 60, 1 << 59]);
    }
}
