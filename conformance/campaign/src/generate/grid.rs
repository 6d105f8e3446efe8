//! Calls that are enumerated rather than drawn: all small shapes, and sizes around every threshold of a fast kernel.

use gather_spec::signature::{AttributeDefault, AttributeRole, Axis};
use gather_spec::{Call, DType, Roles, Shape, Signature, Tensor, TensorError};

use super::{ChoiceSequence, paint};

/// Every shape of at most this rank, with dims of at most `most`.
///
/// ```
/// use gather_campaign::generate::grid;
/// assert_eq!(grid::shapes(2, 1).count(), 1 + 2 + 4);
/// ```
pub fn shapes(most_rank: u32, most: usize) -> impl Iterator<Item = Vec<usize>> {
    let base = most + 1;
    (0..=most_rank).flat_map(move |rank| {
        (0..base.pow(rank)).map(move |number| (0..rank).map(|axis| number / base.pow(axis) % base).collect())
    })
}

/// Every call of an operator on small shapes, valid or not. Some of the indices are bad.
///
/// # Errors
/// Each item: [`TensorError`] if memory is short.
pub fn small(
    signature: &Signature,
    rank: u32,
    most: usize,
) -> impl Iterator<Item = Result<Call, TensorError>> + '_ {
    let pairs =
        shapes(rank, most).flat_map(move |params| shapes(rank, most).map(move |it| (params.clone(), it)));
    pairs.flat_map(move |(params, indices)| {
        let axes = around_rank(signature, AttributeRole::Axis, params.len());
        let batches = around_rank(signature, AttributeRole::BatchDims, indices.len());
        let attributes = batches
            .into_iter()
            .flat_map(move |batch_dims| axes.clone().into_iter().map(move |axis| (batch_dims, axis)));
        attributes.map(move |(batch_dims, axis)| {
            let roles = small_operands(&params, &indices)?;
            Ok(signature.spell(Roles { batch_dims, axis: axis.map(Axis::At), ..roles }))
        })
    })
}

/// The values of an attribute from -1 to a rank, and its absence where it is optional or the operator does not have it.
fn around_rank(signature: &Signature, role: AttributeRole, rank: usize) -> Vec<Option<i64>> {
    match signature.attribute(role) {
        Some(attribute) => {
            let may_be_absent =
                [AttributeDefault::None, AttributeDefault::OnlyAxis].contains(&attribute.default);
            let absent = may_be_absent.then_some(None);
            (-1..=i64::try_from(rank).unwrap_or(0)).map(Some).chain(absent).collect()
        }
        None => vec![None],
    }
}

fn small_operands(params: &[usize], indices: &[usize]) -> Result<Roles<Tensor>, TensorError> {
    // Seeded by the shapes, so that a call does not depend on its position in the enumeration.
    let mix = |seed: u64, dim: &usize| seed.wrapping_mul(31).wrapping_add(*dim as u64 + 1);
    let seed = params.iter().chain(&[9]).chain(indices).fold(0, mix);
    let mut choices = ChoiceSequence::from_seed(seed);
    let often_bad = choices.once_in(4);
    let most = params.iter().copied().max().unwrap_or(1);
    let least = params.iter().copied().filter(|dim| *dim > 0).min().unwrap_or(1);
    let indices_shape = Shape::new(indices)?;
    let values: Vec<i64> = (0..indices_shape.element_count())
        .map(|_| {
            let drawn = if often_bad {
                choices.below(most + 3).cast_signed() - 2
            } else {
                choices.below(least).cast_signed()
            };
            drawn as i64
        })
        .collect();
    let params = paint::params(DType::U8, Shape::new(params)?)?;
    Ok(Roles::new(params, paint::indices(DType::I32, indices_shape, values)?))
}

/// Row lengths in bytes at which a copy switches between code paths.
pub const ROW_EDGES: [usize; 12] = [1, 2, 4, 8, 16, 32, 64, 96, 128, 256, 512, 1024];
/// Numbers of rows: lanes, unrolled loops, blocks and parts.
pub const COUNT_EDGES: [usize; 10] = [1, 4, 8, 16, 32, 64, 128, 1024, 2048, 4096];

/// `N - 1`, `N` and `N + 1` for each edge, without 0.
pub fn around(edges: &[usize]) -> Vec<usize> {
    let mut sizes: Vec<usize> = edges.iter().flat_map(|edge| [edge - 1, *edge, edge + 1]).collect();
    sizes.retain(|size| *size > 0);
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// A call of form nd: `count` index rows that gather rows of `row` elements from `axes`, the gathered dims of params.
/// With `bad`, the last index row is bad: past its own axis, but within the buffer if there is more than one axis.
///
/// # Errors
/// [`TensorError`] if memory is short.
pub fn rows(
    signature: &Signature,
    (dtype, index_dtype): (DType, DType),
    axes: &[usize],
    row: usize,
    count: usize,
    bad: bool,
) -> Result<Call, TensorError> {
    let mut choices = ChoiceSequence::from_seed((row * 8191 + count) as u64);
    let mut params = axes.to_vec();
    params.push(row);
    let mut values = Vec::new();
    for at in 0..count {
        for axis in axes {
            // Eight consecutive rows alternate with eight random ones.
            let run = at / 8 % 2 == 0;
            values.push(if run { at % axis } else { choices.below(*axis) });
        }
    }
    if bad && let (Some(last), Some(axis)) = (values.last_mut(), axes.last()) {
        *last = *axis;
    }
    let values = values.into_iter().map(|value| i64::try_from(value).unwrap_or(i64::MAX));
    let params = paint::params(dtype, Shape::new(params)?)?;
    let indices = paint::indices(index_dtype, Shape::new([count, axes.len()])?, values)?;
    Ok(signature.spell(Roles::new(params, indices)))
}

/// A call of form nd with batches, and one index row of `depth` components per batch, so that params and indices
/// advance together.
///
/// # Errors
/// [`TensorError`] if memory is short.
pub fn one_row_per_batch(
    signature: &Signature,
    depth: usize,
    batches: usize,
    row: usize,
) -> Result<Call, TensorError> {
    let mut choices = ChoiceSequence::from_seed((depth * 31 + batches) as u64);
    let mut params = vec![batches];
    params.extend((0..depth).map(|axis| 2 + axis % 2));
    let values: Vec<i64> = (0..batches * depth).map(|_| choices.below(2).cast_signed() as i64).collect();
    params.push(row);
    let params = paint::params(DType::F32, Shape::new(params)?)?;
    let indices = paint::indices(DType::I32, Shape::new([batches, depth])?, values)?;
    Ok(signature.spell(Roles { batch_dims: Some(1), ..Roles::new(params, indices) }))
}

/// A call of form elements: params has the dims `before`, `axis` and `after`, indices has `along` in place of `axis`.
/// With `rows`, indices are equal along the other dims, so whole rows are gathered. With `bad`, the last index is bad.
///
/// # Errors
/// [`TensorError`] if memory is short.
pub fn elements(
    signature: &Signature,
    (dtype, index_dtype): (DType, DType),
    [before, axis, after]: [usize; 3],
    along: usize,
    rows: bool,
    bad: bool,
) -> Result<Call, TensorError> {
    let mut choices = ChoiceSequence::from_seed((before * 8191 + along * 31 + after) as u64);
    let drawn: Vec<usize> = (0..before * along * after).map(|_| choices.below(axis)).collect();
    let last = drawn.len() - 1;
    let value = |at: usize| {
        let chosen = if rows { drawn[at / after % along * after] } else { drawn[at] };
        i64::try_from(if bad && at == last { axis } else { chosen }).unwrap_or(i64::MAX)
    };
    let params = paint::params(dtype, Shape::new([before, axis, after])?)?;
    let indices = paint::indices(index_dtype, Shape::new([before, along, after])?, (0..=last).map(value))?;
    Ok(signature.spell(Roles { axis: Some(Axis::At(1)), ..Roles::new(params, indices) }))
}
