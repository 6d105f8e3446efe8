//! The shapes of a right call in role terms: which of their axes are what.

use gather_conformance::internals::shapes::{CallRanks, counts_from};
use gather_spec::signature::{
    AttributeDefault, AttributeRole, Axis, EmptyDims, Flatten, Join, OperandRole, Range, RankRule,
};
use gather_spec::{Attribute, Form, Signature};

use super::ChoiceSequence;
use super::sizes::{SizeClass, dims};

/// The largest number of indices kept when a null axis flattens them.
const MOST_ALONG: usize = 70_000;

/// Requirements on the parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShapeRequirements {
    /// The range of the number of batch dims, for operators that have them.
    pub(crate) batch: (usize, usize),
    /// The least number of index dims that are neither batch nor index vector.
    pub(crate) outer: usize,
    /// Whether at least one index is needed. Then no dim is 0, and index rows have components.
    pub(crate) some_index: bool,
    /// The size of the call.
    pub(crate) size: SizeClass,
}

impl ShapeRequirements {
    /// Parts of this size without further requirements.
    pub(crate) const fn of_size(size: SizeClass) -> Self {
        Self { batch: (0, 3), outer: 0, some_index: false, size }
    }

    /// The same of an operator: one that rejects dims of 0 needs an index in every call.
    pub(super) fn of(&self, signature: &Signature) -> Self {
        let some_index = self.some_index || signature.empty_dims == EmptyDims::Rejected;
        Self { some_index, ..*self }
    }

    pub(super) fn dims(
        &self,
        choices: &mut ChoiceSequence,
        least_rank: usize,
        most_rank: usize,
    ) -> Vec<usize> {
        let mut dims = dims(choices, self.size, least_rank, most_rank);
        if self.some_index {
            dims.iter_mut().for_each(|dim| *dim = (*dim).max(1));
        }
        dims
    }
}

/// The shapes of a valid call, and the meaning of their axes.
#[derive(Clone, Debug)]
pub(crate) struct CallShapes {
    pub(crate) params: Vec<usize>,
    pub(crate) indices: Vec<usize>,
    /// The number of batch dims.
    pub(crate) batch: usize,
    /// The first gathered axis of params.
    pub(crate) axis: usize,
    /// The number of gathered axes of params.
    pub(crate) depth: usize,
    /// Whether params is flattened first.
    pub(crate) flat: bool,
}

impl CallShapes {
    /// Merges dims where the signature allows a single one: those of indices, or those of a slice of params. Of params that
    /// are always flattened only the gathered dim is left.
    pub(super) fn within_ranks(mut self, signature: &Signature) -> Self {
        if signature.operand(OperandRole::Indices).rank == RankRule::Exactly1 {
            self.indices = vec![merged(&self.indices)];
        }
        if signature.operand(OperandRole::Params).rank == RankRule::Exactly2 {
            let (rows, columns) = (self.params[0], &self.params[1..]);
            // A huge dim needs another one of 0 to fit beside.
            let huge = columns.iter().copied().max().filter(|dim| *dim > MOST_ALONG && columns.contains(&0));
            self.params = huge.map_or_else(|| vec![rows, merged(columns)], |huge| vec![0, huge]);
        }
        if signature.is_always_flat() {
            self.params = vec![within_memory(self.params[self.axis])];
            self.axis = 0;
        }
        self
    }

    /// Sometimes flattens params, if a null axis does that; always, if that needs none. Returns the axis to send.
    pub(super) fn flatten(
        &mut self,
        choices: &mut ChoiceSequence,
        signature: &Signature,
        size: SizeClass,
        axis: Option<i64>,
    ) -> Option<Axis> {
        let flattens = signature.flatten.is_some();
        if flattens && choices.once_in(16) {
            self.params.clear();
        }
        if signature.is_always_flat() {
            self.flat = true;
            for _ in 0..choices.below(3) {
                let at = choices.below(self.params.len() + 1);
                self.params.insert(at, 1 + choices.below(3));
            }
            return None;
        }
        // A flat call lacks the dims beside the axis, which most edge and far calls are about.
        let flat_in = if matches!(size, SizeClass::Edge | SizeClass::Far) { 16 } else { 2 };
        if !flattens || !choices.once_in(flat_in) {
            let beyond = flattens && choices.once_in(32);
            let rank = i64::try_from(self.params.len()).unwrap_or(0);
            return if beyond { Some(Axis::At(rank)) } else { axis.map(Axis::At) };
        }
        self.flat = true;
        let takes_any = signature.flatten == Some(Flatten::BothWhenAxisNull);
        if signature.form == Form::Elements && !(takes_any && choices.once_in(2)) {
            let along = self.indices.get(self.axis).copied().unwrap_or(1);
            self.indices = vec![within_memory(along)];
        }
        if takes_any && choices.once_in(16) {
            self.indices.clear();
        }

        let null = AttributeDefault::Value(Attribute::Null);
        let is_default = signature.attribute(AttributeRole::Axis).is_some_and(|axis| axis.default == null);
        (!is_default || choices.once_in(4)).then_some(Axis::Null)
    }
}

/// The product of dims, as one dim.
fn merged(dims: &[usize]) -> usize {
    let product = dims.iter().fold(1, |product: usize, dim| product.saturating_mul(*dim));
    if dims.contains(&0) { 0 } else { product.min(usize::MAX >> 1) }
}

/// A dim that is alone. A huge one only fits beside a dim of 0.
const fn within_memory(dim: usize) -> usize {
    if dim > MOST_ALONG { 0 } else { dim }
}

/// Changes one of two equal dims off the axis as far as the join rule allows.
pub(super) fn join(
    choices: &mut ChoiceSequence,
    join: Option<Join>,
    params: &mut usize,
    indices: &mut usize,
    some_index: bool,
) {
    match join {
        None | Some(Join::Equal) => {}
        Some(Join::NotLarger) => {
            if choices.once_in(3) {
                *indices = choices.below(*params + 1).max(some_index.into());
            }
        }
        Some(Join::Broadcast) => match choices.below(4) {
            2 => *indices = 1,
            3 => *params = 1,
            _ => {}
        },
    }
}

/// The least ranks of params and of indices.
pub(super) fn least_ranks(signature: &Signature) -> (usize, usize) {
    let least = |role| signature.operand(role).rank.least();
    (least(OperandRole::Params), least(OperandRole::Indices))
}

/// The negative number that stands for a value of an attribute; `None` if there is none in range.
pub(crate) fn from_end(
    signature: &Signature,
    role: AttributeRole,
    value: usize,
    parts: CallRanks,
) -> Option<i64> {
    let below = counts_from(signature, role, parts)?.checked_sub(value).filter(|below| *below > 0)?;
    let most = match signature.attribute(role)?.range? {
        Range::FromMinusSmallerRankToSmallerRank => parts.params.min(parts.indices),
        _ => usize::MAX,
    };
    i64::try_from(below).ok().filter(|_| below <= most).map(|below| -below)
}

impl CallShapes {
    pub(crate) const fn ranks(&self) -> CallRanks {
        CallRanks { params: self.params.len(), indices: self.indices.len(), batch: self.batch }
    }
}
