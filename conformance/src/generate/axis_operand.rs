//! An axis as an operand, in more dtypes, layouts and widths than the value needs.

use gather_spec::signature::Axis;
use gather_spec::{DType, Element, Shape, Signature, Tensor, TensorError};

use super::choices::Choices;
use super::slice_sizes::in_dtype;

/// The shapes of an axis, right and wrong ones.
const SHAPES: [&[usize]; 6] = [&[], &[1], &[0], &[2], &[1, 1], &[1, 2]];

/// Sometimes, an operand that replaces the axis, for operators that have one.
pub(super) fn operand(
    choices: &mut Choices,
    signature: &Signature,
    axis: &mut Option<Axis>,
) -> Result<Option<Tensor>, TensorError> {
    let Some(operand) = signature.axis_operand().filter(|_| choices.once_in(4)) else {
        return Ok(None);
    };
    let Some(Axis::At(value)) = axis.take() else { return Ok(None) };
    let odd = if choices.once_in(6) {
        zeros(choices)
    } else {
        let dtype = choices.pick(&operand.dtypes);
        let rank = choices.below(2);
        in_dtype(choices, dtype, &[value], rank)
    };
    odd.map(Some)
}

/// Zeros of any dtype and shape.
fn zeros(choices: &mut Choices) -> Result<Tensor, TensorError> {
    let (dtype, shape) = (choices.pick(&DType::ALL), choices.pick(&SHAPES));
    Tensor::filled(dtype, Shape::new(shape)?, &Element::zero(dtype))
}
