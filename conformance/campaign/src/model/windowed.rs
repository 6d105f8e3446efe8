//! The right steps of form window, as the page of StableHLO defines them.

use gather_spec::signature::{CollapsedSize, SliceBound};
use gather_spec::{DimensionNumbers, DimensionRule, ErrorCode};

pub use super::call::WindowNumbers;
use super::call::{ModelCall, ShapeParts, place};
use super::positions::{count, multi_index, row_major, row_major_signed};

/// The dimension numbers of a call, with defaults for what it omits.
pub fn numbers(call: &ModelCall<'_>) -> WindowNumbers {
    let sent = call.roles.window.clone().unwrap_or_default();
    let (numbers, slice_sizes) = call.signature.window(&sent, call.indices().len());
    WindowNumbers { numbers, slice_sizes }
}

/// Whether a call breaks a rule, provided that it satisfies those before it.
pub fn breaks(rule: DimensionRule, call: &ModelCall<'_>) -> bool {
    let WindowNumbers { numbers, slice_sizes } = call.numbers();
    let (r, q) = (call.params().len(), call.indices().len());
    let DimensionNumbers { offset_dims, collapsed_slice_dims, operand_batching_dims, .. } = numbers;
    let DimensionNumbers { start_indices_batching_dims, start_index_map, index_vector_dim, .. } = numbers;
    let vector = place(*index_vector_dim);
    let least = if call.signature.collapsed_size == Some(CollapsedSize::Exactly1) { 1 } else { i64::MIN };
    let too_long = |dims: &[i64]| {
        let size = |dim: &i64| slice_sizes.get(place(*dim)?).copied();
        dims.iter().filter_map(size).any(|size| size > 1 || size < least)
    };
    match rule {
        DimensionRule::SliceSizesCount => slice_sizes.len() != r,
        DimensionRule::ParamsDimsCount => {
            offset_dims.len() + collapsed_slice_dims.len() + operand_batching_dims.len() != r
        }
        DimensionRule::IndexVectorDimOutOfRange => vector.is_none_or(|dim| dim > q),
        DimensionRule::StartIndexMapCount => start_index_map.len() != depth(call),
        DimensionRule::OffsetDimsNotAscending => !offset_dims.is_sorted() || repeats(offset_dims, &[]),
        DimensionRule::OffsetDimOutOfRange => {
            let vectors = usize::from(vector.is_some_and(|dim| dim < q));
            outside(offset_dims, offset_dims.len() + q - vectors)
        }
        DimensionRule::CollapsedDimsRepeated => repeats(collapsed_slice_dims, operand_batching_dims),
        DimensionRule::CollapsedDimsUnsorted => !collapsed_slice_dims.is_sorted(),
        DimensionRule::CollapsedDimOutOfRange => outside(collapsed_slice_dims, r),
        DimensionRule::CollapsedSliceSize => too_long(collapsed_slice_dims),
        DimensionRule::ParamsBatchingDimsUnsorted => !operand_batching_dims.is_sorted(),
        DimensionRule::ParamsBatchingDimOutOfRange => outside(operand_batching_dims, r),
        DimensionRule::BatchingSliceSize => too_long(operand_batching_dims),
        DimensionRule::IndicesBatchingDimsRepeated => repeats(start_indices_batching_dims, &[]),
        DimensionRule::IndicesBatchingDimOutOfRange => outside(start_indices_batching_dims, q),
        DimensionRule::IndexVectorDimIsBatching => start_indices_batching_dims.contains(index_vector_dim),
        DimensionRule::BatchingDimsCount => operand_batching_dims.len() != start_indices_batching_dims.len(),
        DimensionRule::StartIndexMapRepeated => repeats(start_index_map, operand_batching_dims),
        DimensionRule::StartIndexMapOutOfRange => outside(start_index_map, r),
    }
}

/// Whether a dim occurs twice in the two lists together.
pub fn repeats(one: &[i64], other: &[i64]) -> bool {
    let all: Vec<i64> = one.iter().chain(other).copied().collect();
    all.iter().enumerate().any(|(at, dim)| all[..at].contains(dim))
}

/// Whether a dim is out of range for a rank.
pub fn outside(dims: &[i64], rank: usize) -> bool {
    dims.iter().any(|dim| place(*dim).is_none_or(|dim| dim >= rank))
}

/// The number of components of a row.
pub fn depth(call: &ModelCall<'_>) -> usize {
    let vector = place(call.numbers().numbers.index_vector_dim);
    vector.and_then(|dim| call.indices().get(dim)).copied().unwrap_or(1)
}

/// Whether there are no index rows.
fn has_no_row(call: &ModelCall<'_>) -> bool {
    call.numbers().row_dims(call.indices().len()).iter().any(|dim| call.indices()[*dim] == 0)
}

/// Whether a call deserves an error that only form window has, or has by rules of its own.
pub fn faulty(code: ErrorCode, call: &ModelCall<'_>) -> bool {
    match code {
        ErrorCode::DimensionNumbers => call.broken_rule().is_some(),
        ErrorCode::SliceSizeOutOfRange => {
            let sizes = &call.numbers().slice_sizes;
            let any = call.signature.slice_bound == SliceBound::WithRows && has_no_row(call);
            let fits = |(size, dim): (&i64, &usize)| place(*size).is_some_and(|size| any || size <= *dim);
            !sizes.iter().zip(call.params()).all(fits)
        }
        ErrorCode::BatchShapeMismatch => {
            let WindowNumbers { numbers, .. } = call.numbers();
            let sizes = |dims: &[i64], shape: &[usize]| -> Vec<Option<usize>> {
                dims.iter().map(|dim| shape.get(place(*dim)?).copied()).collect()
            };
            sizes(&numbers.operand_batching_dims, call.params())
                != sizes(&numbers.start_indices_batching_dims, call.indices())
        }
        _ => false,
    }
}

/// The output shape as a whole, and how many starts fit by component.
pub fn dims(call: &ModelCall<'_>) -> ShapeParts {
    let numbers = call.numbers();
    let rows: Vec<usize> =
        numbers.row_dims(call.indices().len()).iter().map(|dim| call.indices()[*dim]).collect();
    let window: Vec<usize> =
        (0..call.params().len()).filter(|dim| !numbers.lacks(*dim)).map(|dim| numbers.size(dim)).collect();
    let bounds = numbers.numbers.start_index_map.iter().map(|dim| (call.model.fit)(call, *dim)).collect();
    ShapeParts {
        batch: Vec::new(),
        mid: Vec::new(),
        bounds,
        inner: Vec::new(),
        outer: (call.model.combine)(numbers, &rows, &window),
        depth: depth(call),
    }
}

/// The dims of the output, with window dims at the offset dims.
pub fn combine(numbers: &WindowNumbers, rows: &[usize], window: &[usize]) -> Vec<usize> {
    let rank = rows.len() + window.len();
    let (mut rows, mut window) = (rows.iter().copied(), window.iter().copied());
    let dim = |dim: usize| {
        let is_offset = numbers.numbers.offset_dims.iter().any(|one| place(*one) == Some(dim));
        if is_offset { window.next() } else { rows.next() }
    };
    (0..rank).filter_map(dim).collect()
}

/// How many starts fit along a dim.
pub fn fit(call: &ModelCall<'_>, dim: i64) -> usize {
    let numbers = call.numbers();
    let size = |dim: usize| Some(call.params().get(dim)?.saturating_sub(numbers.size(dim)).saturating_add(1));
    place(dim).and_then(size).unwrap_or(1)
}

/// The index values in row order, the components of a row next to each other.
pub fn by_rows(call: &ModelCall<'_>, indices: Vec<i128>) -> Vec<i128> {
    let (numbers, shape) = (call.numbers(), call.indices());
    let Some(vector) = place(numbers.numbers.index_vector_dim).filter(|dim| *dim < shape.len()) else {
        return indices;
    };
    let row_dims: Vec<usize> = numbers.row_dims(shape.len()).iter().map(|dim| shape[*dim]).collect();
    let value = |at: usize| {
        let mut position = multi_index(at / shape[vector].max(1), &row_dims);
        position.insert(vector.min(position.len()), at % shape[vector].max(1));
        indices.get(row_major(&position, shape)).copied().unwrap_or(0)
    };
    (0..indices.len()).map(value).collect()
}

/// Splits a position of the output into that of the row and that within the window.
pub fn split(numbers: &WindowNumbers, position: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let is_offset = |dim: usize| numbers.numbers.offset_dims.iter().any(|one| place(*one) == Some(dim));
    let (mut row, mut window) = (Vec::new(), Vec::new());
    for (dim, at) in position.iter().enumerate() {
        if is_offset(dim) { window.push(*at) } else { row.push(*at) }
    }
    (row, window)
}

/// The number of the row for a position of the output.
pub fn row(call: &ModelCall<'_>, position: &[usize]) -> usize {
    let numbers = call.numbers();
    let shape: Vec<usize> =
        numbers.row_dims(call.indices().len()).iter().map(|dim| call.indices()[*dim]).collect();
    row_major(&split(numbers, position).0, &shape)
}

/// The start of a window along each dim of params.
pub fn full_start(call: &ModelCall<'_>, starts: &[i128]) -> Vec<i128> {
    let mut full = vec![0; call.params().len()];
    for (dim, start) in call.numbers().numbers.start_index_map.iter().zip(starts) {
        if let Some(place) = place(*dim).and_then(|dim| full.get_mut(dim)) {
            *place = *start;
        }
    }
    full
}

/// The coordinates along batching dims, which follow from the position of the row.
pub fn full_batching(call: &ModelCall<'_>, row: &[usize]) -> Vec<i128> {
    let (numbers, mut full) = (call.numbers(), vec![0; call.params().len()]);
    let row_dims = numbers.row_dims(call.indices().len());
    let DimensionNumbers { operand_batching_dims, start_indices_batching_dims, .. } = &numbers.numbers;
    for (own, other) in operand_batching_dims.iter().zip(start_indices_batching_dims) {
        let at = row_dims.iter().position(|dim| Some(*dim) == place(*other));
        if let (Some(place), Some(at)) = (place(*own).and_then(|dim| full.get_mut(dim)), at) {
            *place = row.get(at).copied().unwrap_or(0) as i128;
        }
    }
    full
}

/// The coordinates within the window.
pub fn full_offset(call: &ModelCall<'_>, window: &[usize]) -> Vec<i128> {
    let numbers = call.numbers();
    let mut window = window.iter();
    let offset =
        |dim: usize| if numbers.lacks(dim) { 0 } else { window.next().copied().unwrap_or(0) as i128 };
    (0..call.params().len()).map(offset).collect()
}

/// The offset in params of the element for a position of the output: the sum of start, batching and window coordinates.
pub fn origin(call: &ModelCall<'_>, position: &[usize], starts: &[i128]) -> i128 {
    let (row, window) = split(call.numbers(), position);
    let start = (call.model.full_start)(call, starts);
    let batching = (call.model.full_batching)(call, &row);
    let offset = (call.model.full_offset)(call, &window);
    let coordinates = start.iter().zip(&batching).zip(&offset).map(|((one, two), three)| one + two + three);
    row_major_signed(coordinates, call.params())
}

/// Whether output elements have no source, because the window has size 0 along a dim that the output lacks.
pub fn reads_nothing(call: &ModelCall<'_>, dims: &ShapeParts) -> bool {
    let numbers = call.numbers();
    let nothing = (0..call.params().len()).any(|dim| numbers.lacks(dim) && numbers.size(dim) == 0);
    nothing && count(&dims.outer) > 0
}
