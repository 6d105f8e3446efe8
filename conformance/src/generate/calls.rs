//! Drawn calls: most are right, so that something is gathered; some are wrong in one way.

use gather_spec::{Attribute, Attributes, Call, DType, Operator, Shape, Tensor, TensorError};

use super::{Choices, paint};

/// Dims worth drawing: small ones, and the neighbours of powers of two.
const DIMS: [usize; 16] = [2, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 0];
/// Drawn tensors have at most about this many elements, so that an output has some 2^17 at worst.
const MOST_PARAMS: usize = 1 << 10;
const MOST_INDICES: usize = 1 << 7;
const OPERATORS: [&str; 4] = ["tf.gather_nd", "tf.gather", "tf.raw_ops.GatherNd", "paddle.gather_nd"];
const DTYPES: [DType; 9] = [
    DType::I32,
    DType::Bool,
    DType::F16,
    DType::F32,
    DType::F64,
    DType::C64,
    DType::C128,
    DType::U8,
    DType::String,
];

/// A call of one of the operators, following from the choices.
///
/// # Errors
/// [`TensorError`] if memory is short.
///
/// ```
/// use gather_conformance::generate::{Choices, any_call};
/// let call = any_call(&mut Choices::from_draws(vec![]))?;
/// assert_eq!(call.operator.as_str(), "tf.gather_nd");
/// # Ok::<(), gather_spec::TensorError>(())
/// ```
pub fn any_call(choices: &mut Choices) -> Result<Call, TensorError> {
    let operator = choices.pick(&OPERATORS);
    if operator == "tf.gather" { one_axis(choices) } else { by_rows(operator, choices) }
}

fn by_rows(operator: &'static str, choices: &mut Choices) -> Result<Call, TensorError> {
    let mut params = dims(choices, 5);
    let batched = operator == "tf.gather_nd";
    let batch = if batched { choices.below(params.len().min(3) + 1) } else { 0 };
    let depth = choices.below(params.len() - batch + 1);
    let mut indices = params[..batch].to_vec();
    indices.extend(dims(choices, 3));
    if indices.len() == batch && (batched || choices.once_in(2)) {
        indices.push(2);
    }
    indices.push(depth);
    shrink(&mut indices, batch, MOST_INDICES);
    disturb(choices, &mut params, &mut indices);
    let mut attributes = Attributes::new();
    if batch > 0 || (batched && choices.once_in(4)) {
        attributes.insert("batch_dims".to_owned(), integer(batch, choices));
    }
    let bounds: Vec<usize> = (0..depth).map(|c| params.get(batch + c).copied().unwrap_or(1)).collect();
    finish(operator, params, indices, attributes, &bounds, choices)
}

fn one_axis(choices: &mut Choices) -> Result<Call, TensorError> {
    let mut params = dims(choices, 5);
    if params.is_empty() && !choices.once_in(8) {
        params.push(3);
    }
    let axis = choices.below(params.len());
    let batch = choices.below(axis + 1);
    let mut indices = params[..batch].to_vec();
    indices.extend(dims(choices, 3));
    shrink(&mut indices, batch, MOST_INDICES);
    disturb(choices, &mut params, &mut indices);
    let mut attributes = Attributes::new();
    if batch > 0 || choices.once_in(4) {
        let from_end = !indices.is_empty() && choices.once_in(3);
        let batch =
            if from_end { batch.cast_signed() - indices.len().cast_signed() } else { batch.cast_signed() };
        attributes.insert("batch_dims".to_owned(), Attribute::Integer(batch as i64));
    }
    if axis != batch || choices.once_in(4) {
        let from_end = choices.once_in(3);
        let axis =
            if from_end { axis.cast_signed() - params.len().cast_signed() } else { axis.cast_signed() };
        attributes.insert("axis".to_owned(), Attribute::Integer(axis as i64));
    }
    if choices.once_in(8) {
        attributes.insert("validate_indices".to_owned(), Attribute::Boolean(choices.once_in(2)));
    }
    let bound = params.get(axis).copied().unwrap_or(1);
    finish("tf.gather", params, indices, attributes, &[bound], choices)
}

/// Dims of a rank up to `most_rank`, few elements in all.
fn dims(choices: &mut Choices, most_rank: usize) -> Vec<usize> {
    let rank = choices.below(most_rank + 1);
    let mut dims: Vec<usize> = (0..rank).map(|_| choices.pick(&DIMS)).collect();
    shrink(&mut dims, 0, MOST_PARAMS);
    dims
}

/// Makes dims after the first `kept` smaller until there are few elements, the last dim excepted.
fn shrink(dims: &mut [usize], kept: usize, most: usize) {
    while dims.iter().map(|dim| dim.max(&1)).product::<usize>() > most {
        match dims[kept..].iter_mut().max() {
            Some(dim) if *dim > 1 => *dim /= 2,
            _ => return,
        }
    }
}

/// Sometimes changes one dim, which may break a rule between the shapes.
fn disturb(choices: &mut Choices, params: &mut [usize], indices: &mut [usize]) {
    if choices.once_in(12) {
        let dims = if choices.once_in(2) { params } else { indices };
        if !dims.is_empty() {
            let at = choices.below(dims.len());
            dims[at] = choices.below(4);
        }
    }
}

/// An attribute that is sometimes out of any range.
fn integer(value: usize, choices: &mut Choices) -> Attribute {
    let odd = choices.once_in(16);
    Attribute::Integer(if odd {
        choices.pick(&[-1, 9, i64::MAX, i64::MIN])
    } else {
        i64::try_from(value).unwrap_or(0)
    })
}

fn finish(
    operator: &'static str,
    params: Vec<usize>,
    indices: Vec<usize>,
    attributes: Attributes,
    bounds: &[usize],
    choices: &mut Choices,
) -> Result<Call, TensorError> {
    let index_dtype = match choices.below(16) {
        15 => DType::I16,
        draw if draw % 2 == 0 => DType::I32,
        _ => DType::I64,
    };
    let dtype = choices.pick(&DTYPES);
    let indices = index_tensor(index_dtype, Shape::new(indices)?, bounds, choices)?;
    let params = paint::params(dtype, Shape::new(params)?)?;
    Ok(Call { operator: Operator::new(operator), params, indices, attributes })
}

/// Indices of which some are negative or too large, if they are to be; runs and repetitions among the good ones.
fn index_tensor(
    dtype: DType,
    shape: Shape,
    bounds: &[usize],
    choices: &mut Choices,
) -> Result<Tensor, TensorError> {
    let bad_in = choices.pick(&[0, 0, 0, 40, 3]);
    let style = choices.below(4);
    let mut own = Choices::from_seed(choices.below(1 << 20) as u64);
    let values = (0..shape.element_count()).map(|at| {
        let bound = bounds.get(at % bounds.len().max(1)).copied().unwrap_or(1);
        let bound_signed = i64::try_from(bound).unwrap_or(i64::MAX);
        if bad_in > 0 && own.once_in(bad_in) {
            let far = [-1, bound_signed, -bound_signed, -bound_signed - 1, i64::MAX, i64::MIN];
            return own.pick(&far);
        }
        let good = match style {
            0 => own.below(bound),
            1 => (at / bounds.len().max(1)) % bound.max(1),
            2 => 0,
            _ => bound.saturating_sub(1 + own.below(2).min(bound.saturating_sub(1))),
        };
        i64::try_from(good).unwrap_or(0)
    });
    paint::indices(dtype, shape, values.collect::<Vec<_>>())
}
