//! Slice sizes and an axis as an operand, in more dtypes, layouts and widths than the values need.

use gather_spec::signature::{Axis, Window};
use gather_spec::{DType, Element, Shape, Signature, Tensor, TensorError};

use super::ChoiceSequence;
use super::stored::{in_layout, stored};

/// Values that reveal the width at which a slice size is read, and whether it is read as signed.
const TELLING: [i64; 6] = [-1, 128, 200, 255, 256, 1 << 32];

/// The shapes of an axis, right and wrong ones.
const SHAPES_OF_AXES: [&[usize]; 6] = [&[], &[1], &[0], &[2], &[1, 1], &[1, 2]];

/// Sometimes, an operand that replaces the slice sizes of a window, for operators that have one.
pub(super) fn slice_sizes(
    choices: &mut ChoiceSequence,
    signature: &Signature,
    window: &mut Window,
) -> Result<Option<Tensor>, TensorError> {
    let Some(operand) = signature.slice_sizes_operand().filter(|_| choices.once_in(8)) else {
        return Ok(None);
    };
    let sizes = window.slice_sizes.take().unwrap_or_default();
    let odd = if choices.once_in(3) {
        zeros(choices, sizes.len())
    } else {
        let dtype = choices.pick(&operand.dtypes);
        in_dtype(choices, dtype, &sizes, 1)
    };
    odd.map(Some)
}

/// Sometimes, an operand that replaces the axis, for operators that have one.
pub(super) fn axis(
    choices: &mut ChoiceSequence,
    signature: &Signature,
    axis: &mut Option<Axis>,
) -> Result<Option<Tensor>, TensorError> {
    let Some(operand) = signature.axis_operand().filter(|_| choices.once_in(4)) else {
        return Ok(None);
    };
    let Some(Axis::At(value)) = axis.take() else { return Ok(None) };
    let odd = if choices.once_in(6) {
        let (dtype, shape) = (choices.pick(&DType::ALL), choices.pick(&SHAPES_OF_AXES));
        Tensor::filled(dtype, Shape::new(shape)?, &Element::zero(dtype))
    } else {
        let dtype = choices.pick(&operand.dtypes);
        let rank = choices.below(2);
        in_dtype(choices, dtype, &[value], rank)
    };
    odd.map(Some)
}

/// Zero slice sizes of any dtype, perhaps of another rank.
fn zeros(choices: &mut ChoiceSequence, rank: usize) -> Result<Tensor, TensorError> {
    let shape = [1, rank];
    let (dtype, first) = (choices.pick(&DType::ALL), choices.below(3));
    Tensor::filled(dtype, Shape::new(&shape[first..])?, &Element::zero(dtype))
}

/// A vector, or a scalar, of integers truncated to a dtype, in some layout. One may be a value that another dtype reads
/// differently.
fn in_dtype(
    choices: &mut ChoiceSequence,
    dtype: DType,
    values: &[i64],
    rank: usize,
) -> Result<Tensor, TensorError> {
    let mut values = values.to_vec();
    if !values.is_empty() && choices.once_in(2) {
        let at = choices.below(values.len());
        values[at] = match choices.below(3) {
            0 => choices.pick(&TELLING),
            1 => values[at].wrapping_add(256),
            _ => values[at].wrapping_add(1 << 32),
        };
    }
    let layout = choices.below(12);
    in_layout(stored(dtype, Shape::new(&[values.len()][..rank])?, values.into_iter())?, layout)
}
