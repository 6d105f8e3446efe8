//! Calls of form window: shapes with dimension numbers that fit them, and sometimes with some that do not.

mod rows;

use std::ops::RangeInclusive;

use gather_spec::signature::{AttributeDefault, AttributeRole, CollapsedSize};
use gather_spec::{Attribute, DimensionNumbers, Signature, Window};

use super::ChoiceSequence;
use super::sizes::{SizeClass, elements, evenly_drawn_dims, fit};
use rows::{IndexDims, OUTER_RANK};

/// The highest rank of params.
const PARAMS_RANK: usize = 4;

/// Numbers of rows and window lengths at which kernels switch between code paths.
const EDGES: [usize; 12] = [64, 127, 128, 129, 255, 256, 257, 511, 513, 1024, 2047, 4097];

/// Dims beyond the range of 31, 32 and 62 bits, which only fit beside a dim of 0.
const HUGE: [usize; 7] = [1 << 31, (1 << 33) + 1, 1 << 40, 1 << 59, 1 << 61, (1 << 62) - 1, (1 << 63) - 1];

/// Dims beyond the range of 7, 8 and 15 bits.
const FAR: [usize; 6] = [129, 200, 257, 300, 129, 33_000];

/// A change that would leave more elements than this is not made.
const MOST_ELEMENTS: usize = 1 << 20;

/// Requirements on the windows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowRequirements {
    /// The range of the number of batching dims.
    pub(crate) batching: (usize, usize),
    /// Whether there must be a row, and an element in each window.
    pub(crate) some: bool,
    /// The size of the call.
    pub(crate) size: SizeClass,
}

impl WindowRequirements {
    /// The highest rank of params.
    const fn most_rank(&self) -> usize {
        self.size.rank(PARAMS_RANK)
    }
}

/// The shapes and dimension numbers of a valid call.
///
/// A low rank takes as many draws as a high one, so that shrinking can remove dims without changing other draws.
#[derive(Clone, Debug)]
pub(crate) struct WindowShapes {
    pub(crate) params: Vec<usize>,
    pub(crate) indices: Vec<usize>,
    pub(crate) numbers: DimensionNumbers,
    pub(crate) slice_sizes: Vec<i64>,
}

/// The role of a dim of params.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DimRole {
    Offset,
    Collapsed,
    Batching,
}

impl WindowShapes {
    /// Draws the shapes and dimension numbers of a call, for an operator with these attributes.
    pub(crate) fn draw(
        choices: &mut ChoiceSequence,
        signature: &Signature,
        wanted: &WindowRequirements,
    ) -> Self {
        let least = usize::from(wanted.some).max(wanted.batching.0);
        let mut params = evenly_drawn_dims(choices, wanted.size, least, wanted.most_rank());
        if wanted.some {
            params.iter_mut().for_each(|dim| *dim = (*dim).max(1));
        }
        if wanted.size == SizeClass::Edge {
            lengthen_one(choices, &mut params, &EDGES);
        }
        let kinds = kinds(choices, signature, &params, wanted);
        let (slice_sizes, starts) = sizes_and_starts(choices, signature, &params, &kinds, wanted);
        let of_kind = |kind| (0..params.len()).filter(|dim| kinds[*dim] == kind).collect::<Vec<_>>();
        let batching = of_kind(DimRole::Batching);
        let mut outer = evenly_drawn_dims(choices, wanted.size, 0, wanted.size.rank(OUTER_RANK));
        if wanted.some {
            outer.iter_mut().for_each(|dim| *dim = (*dim).max(1));
        }
        if wanted.size == SizeClass::Edge && choices.once_in(2) {
            outer.push(choices.pick(&EDGES));
        }
        let window: Vec<usize> = of_kind(DimRole::Offset).iter().map(|dim| slice_sizes[*dim]).collect();
        let shared: Vec<usize> = batching.iter().map(|dim| params[*dim]).collect();
        fit(&mut outer, 0, wanted.size.output_elements() / elements(&window) / elements(&shared).max(1));
        let rows = IndexDims::draw(choices, signature, &outer, &shared, starts.len());
        let offset_dims = places(choices, window.len(), window.len() + rows.rank());
        let numbers = DimensionNumbers {
            offset_dims: all_signed(&offset_dims),
            collapsed_slice_dims: all_signed(&of_kind(DimRole::Collapsed)),
            operand_batching_dims: all_signed(&batching),
            start_indices_batching_dims: all_signed(&rows.batching),
            start_index_map: all_signed(&starts),
            index_vector_dim: signed(rows.vector),
        };
        Self { params, indices: rows.indices, numbers, slice_sizes: all_signed(&slice_sizes) }
    }

    /// Draws unusual shapes: a long dim, or sizes that only an empty output can have.
    pub(crate) fn far(choices: &mut ChoiceSequence, signature: &Signature) -> Self {
        let wanted = WindowRequirements { batching: (0, 1), some: false, size: SizeClass::Tiny };
        let mut windows = Self::draw(choices, signature, &wanted);
        if choices.once_in(3) {
            windows.lengthen(choices);
        } else {
            windows.empty_and_huge(choices);
        }
        if choices.once_in(8) {
            windows.raise_rank_of_rows(choices);
        }
        windows
    }

    /// Inserts dims in front of those of indices.
    fn raise_rank_of_rows(&mut self, choices: &mut ChoiceSequence) {
        let more = 1 + choices.below(6);
        self.indices.splice(0..0, (0..more).map(|_| 1 + choices.below(2)));
        self.numbers.index_vector_dim += signed(more);
        self.numbers.start_indices_batching_dims.iter_mut().for_each(|dim| *dim += signed(more));
    }

    /// Makes a dim of params long, unless indices share it. Windows stay as they are.
    fn lengthen(&mut self, choices: &mut ChoiceSequence) {
        let shared = |dim: usize| self.numbers.operand_batching_dims.contains(&signed(dim));
        let own: Vec<usize> = (0..self.params.len()).filter(|dim| !shared(*dim)).collect();
        if !own.is_empty() {
            self.params[choices.pick(&own)] = choices.pick(&FAR);
        }
    }

    /// Inserts a dim of 0 and a huge one in front of those of params. Windows cover both; the other dims are mostly 1.
    fn empty_and_huge(&mut self, choices: &mut ChoiceSequence) {
        let vector = usize::try_from(self.numbers.index_vector_dim).unwrap_or(usize::MAX);
        if !choices.once_in(4) {
            let rows = self.indices.iter_mut().enumerate().filter(|(dim, _)| *dim != vector);
            rows.for_each(|(_, dim)| *dim = (*dim).min(1));
            self.params.iter_mut().for_each(|dim| *dim = (*dim).min(1));
            self.slice_sizes.iter_mut().for_each(|size| *size = (*size).min(1));
            self.repeat_rows(choices, vector);
        }
        let more = [0, choices.pick(&HUGE)];
        self.params.splice(0..0, more);
        self.slice_sizes.splice(0..0, more.map(signed));
        let rank = signed(self.output_rank());
        let Self { numbers, .. } = self;
        for list in [
            &mut numbers.collapsed_slice_dims,
            &mut numbers.operand_batching_dims,
            &mut numbers.start_index_map,
        ] {
            list.iter_mut().for_each(|dim| *dim += 2);
        }
        numbers.offset_dims.extend([rank, rank + 1]);
        // Sometimes a window covers a single element of the huge dim, and an index component selects it.
        if choices.once_in(3)
            && let Some(components) = self.indices.get_mut(vector)
        {
            *components += 1;
            numbers.start_index_map.push(1);
            self.slice_sizes[1] = 1;
        }
    }

    /// Sometimes adds rows along a dim of indices that params does not share, so that the output has more elements than
    /// params can have.
    fn repeat_rows(&mut self, choices: &mut ChoiceSequence, vector: usize) {
        let shared = |dim: usize| self.numbers.start_indices_batching_dims.contains(&signed(dim));
        let free: Vec<usize> =
            (0..self.indices.len()).filter(|dim| *dim != vector && !shared(*dim)).collect();
        if !free.is_empty() && choices.once_in(2) {
            self.indices[choices.pick(&free)] = choices.pick(&[2, 3, 5, 17]);
        }
    }

    /// The rank of the output without further offset dims.
    fn output_rank(&self) -> usize {
        let vector = usize::from(self.numbers.index_vector_dim < signed(self.indices.len()));
        self.indices.len() - vector + self.numbers.offset_dims.len()
    }

    /// The number of valid starts, by component.
    pub(crate) fn bounds(&self) -> Vec<usize> {
        let bound = |dim: &i64| {
            let dim = usize::try_from(*dim).ok()?;
            let size = usize::try_from(*self.slice_sizes.get(dim)?).ok()?;
            Some(self.params.get(dim)?.saturating_sub(size).saturating_add(1))
        };
        self.numbers.start_index_map.iter().map(|dim| bound(dim).unwrap_or(1)).collect()
    }

    /// The row and the component of the element of indices at a row-major position.
    pub(crate) fn row_and_component(&self, at: usize) -> (usize, usize) {
        let vector = usize::try_from(self.numbers.index_vector_dim).unwrap_or(usize::MAX);
        let Some(depth) = self.indices.get(vector) else { return (at, 0) };
        let behind: usize = self.indices[vector + 1..].iter().product::<usize>().max(1);
        let (depth, before) = ((*depth).max(1), at / behind);
        (before / depth * behind + at % behind, before % depth)
    }

    /// The attributes as sent: those with their default value are mostly omitted.
    pub(crate) fn sent(&self, choices: &mut ChoiceSequence, signature: &Signature) -> Window {
        let mut window = Window::new(self.numbers.clone(), self.slice_sizes.clone());
        for role in AttributeRole::OF_WINDOWS {
            let (kept, kept_number) = (choices.once_in(4), choices.once_in(2));
            match signature.attribute(role).map(|one| &one.default) {
                Some(AttributeDefault::Value(Attribute::Integers(default))) if !kept => {
                    if let Some(list) = window.list_mut(role).filter(|list| list.as_ref() == Some(default)) {
                        *list = None;
                    }
                }
                Some(AttributeDefault::Value(Attribute::Integer(default))) => {
                    let sent = window.index_vector_dim.filter(|dim| dim != default || kept_number);
                    window.index_vector_dim = sent;
                }
                _ => {}
            }
        }
        window
    }

    /// Breaks a rule, mostly of dimension numbers: an entry of a list, a whole list, or two dims that must agree.
    pub(crate) fn disturb(&mut self, choices: &mut ChoiceSequence) {
        match choices.below(10) {
            0 => self.numbers.index_vector_dim = odd(choices, self.numbers.index_vector_dim),
            1 | 2 => disturb_list(choices, &mut self.slice_sizes),
            3 => change_one(choices, &mut self.params),
            4 => change_one(choices, &mut self.indices),
            5 => disturb_list(choices, &mut self.numbers.offset_dims),
            6 => disturb_list(choices, &mut self.numbers.collapsed_slice_dims),
            7 => disturb_list(choices, &mut self.numbers.operand_batching_dims),
            // In another order, both lists are still valid by themselves.
            8 if choices.once_in(2) => self.numbers.start_indices_batching_dims.reverse(),
            8 => disturb_list(choices, &mut self.numbers.start_indices_batching_dims),
            _ => disturb_list(choices, &mut self.numbers.start_index_map),
        }
    }
}

fn kinds(
    choices: &mut ChoiceSequence,
    signature: &Signature,
    params: &[usize],
    wanted: &WindowRequirements,
) -> Vec<DimRole> {
    let rank = params.len();
    let kind = |_| choices.pick(&[DimRole::Offset, DimRole::Collapsed, DimRole::Offset]);
    let mut kinds: Vec<DimRole> = (0..wanted.most_rank()).map(kind).collect();
    kinds.truncate(rank);
    if signature.collapsed_size == Some(CollapsedSize::Exactly1) {
        // No window has exactly one element along an empty dim.
        let empty = kinds.iter_mut().zip(params).filter(|(_, dim)| **dim == 0);
        empty.for_each(|(kind, _)| *kind = DimRole::Offset);
    }
    if signature.attribute(AttributeRole::OperandBatchingDims).is_some() {
        let (from, to) = wanted.batching;
        let batching = (from + choices.below(to - from + 1)).min(rank);
        for dim in places(choices, batching, rank) {
            kinds[dim] = DimRole::Batching;
        }
    }
    kinds
}

/// The window size along each dim, and the dims that index components start on, in the order of the components.
fn sizes_and_starts(
    choices: &mut ChoiceSequence,
    signature: &Signature,
    params: &[usize],
    kinds: &[DimRole],
    wanted: &WindowRequirements,
) -> (Vec<usize>, Vec<usize>) {
    let exactly = signature.collapsed_size == Some(CollapsedSize::Exactly1);
    let (mut sizes, mut starts) = (Vec::new(), Vec::new());
    for dim in 0..wanted.most_rank() {
        let size = params.get(dim).copied().unwrap_or(1);
        let of_offset = offset_size(choices, usize::from(wanted.some)..=size);
        let (empty, starts_at_0, back) =
            (choices.once_in(40), choices.once_in(4), choices.below(starts.len() + 1));
        let Some(kind) = kinds.get(dim) else { continue };
        sizes.push(match kind {
            DimRole::Offset => of_offset,
            // No window has an element along an empty dim.
            _ if !exactly && (size == 0 || !wanted.some && empty) => 0,
            _ => 1,
        });
        if *kind != DimRole::Batching && !starts_at_0 {
            starts.insert(starts.len() - back, dim);
        }
    }
    (sizes, starts)
}

fn offset_size(choices: &mut ChoiceSequence, sizes: RangeInclusive<usize>) -> usize {
    let (least, most) = (*sizes.start(), *sizes.end());
    let (how, further) = (choices.below(4), choices.below(most.saturating_sub(least) + 1));
    match how {
        0 => most,
        1 => most.min(1).max(least),
        _ => least + further,
    }
}

/// `count` ascending positions in a list of length `of`; in half of the draws, the last ones.
fn places(choices: &mut ChoiceSequence, count: usize, of: usize) -> Vec<usize> {
    let (anywhere, mut left_out) = (choices.once_in(2), choices.below(1 << 16));
    if !anywhere {
        return (of - count..of).collect();
    }
    let mut chosen: Vec<usize> = (0..of).collect();
    while chosen.len() > count {
        let at = left_out % chosen.len();
        left_out /= chosen.len();
        chosen.remove(at);
    }
    chosen
}

/// Gives one dim an edge size, and makes the others short.
fn lengthen_one(choices: &mut ChoiceSequence, dims: &mut [usize], edges: &[usize]) {
    dims.iter_mut().for_each(|dim| *dim = (*dim).min(2));
    let at = choices.below(dims.len());
    let edge = choices.pick(edges);
    if let Some(dim) = dims.get_mut(at) {
        *dim = edge;
    }
}

/// Adds, removes, repeats or swaps an entry, or replaces one by an odd number.
fn disturb_list(choices: &mut ChoiceSequence, list: &mut Vec<i64>) {
    let at = choices.below(list.len());
    match (choices.below(7), list.get(at).copied()) {
        (0, _) => list.push(choices.below(5).cast_signed() as i64),
        (1, Some(_)) => drop(list.remove(at)),
        (2, Some(value)) => list.insert(at, value),
        (3, Some(_)) => {
            let other = choices.below(list.len());
            list.swap(at, other);
        }
        (4, Some(_)) => list[at] = list[choices.below(list.len())],
        (_, Some(value)) => list[at] = odd(choices, value),
        (_, None) => list.push(odd(choices, 0)),
    }
}

/// A different number, near or far.
fn odd(choices: &mut ChoiceSequence, value: i64) -> i64 {
    let near = [value.saturating_add(1), value.saturating_sub(1), 0, -1, 1, value.saturating_add(1 << 32)];
    choices.pick(&[near[0], near[1], near[2], near[3], near[4], near[5], i64::MAX, i64::MIN])
}

/// Lengthens or shortens a dim by one.
fn change_one(choices: &mut ChoiceSequence, dims: &mut [usize]) {
    let at = choices.below(dims.len());
    let up = choices.once_in(2);
    let mut changed = dims.to_vec();
    if let Some(dim) = changed.get_mut(at) {
        *dim = if up { dim.saturating_add(1) } else { dim.saturating_sub(1) };
    }
    // A dim can be huge only beside a dim of 0.
    let count = changed.iter().try_fold(1usize, |count, dim| count.checked_mul(*dim));
    if changed.contains(&0) || count.is_some_and(|count| count <= MOST_ELEMENTS) {
        dims.copy_from_slice(&changed);
    }
}

fn all_signed(dims: &[usize]) -> Vec<i64> {
    dims.iter().copied().map(signed).collect()
}

fn signed(dim: usize) -> i64 {
    i64::try_from(dim).unwrap_or(i64::MAX)
}
