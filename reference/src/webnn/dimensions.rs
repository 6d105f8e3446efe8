//! WebNN's rules for the dimensions and the axis of every operand.

use gather_spec::{GatherError, Tensor};

/// A valid dimension is an integer greater than zero: rejects a dimension of 0.
pub(super) fn valid_dimensions(input: &Tensor, indices: &Tensor) -> Result<(), GatherError> {
    for (operand, tensor) in [("input", input), ("indices", indices)] {
        if let Some(dim) = tensor.shape().iter().position(|size| *size == 0) {
            return Err(GatherError::EmptyDim { operand, dim });
        }
    }
    Ok(())
}

/// An axis in `[0, rank)`. It is unsigned, so a negative one does not count from the end.
pub(super) fn unsigned_axis(axis: i64, rank: usize) -> Result<usize, GatherError> {
    let within = usize::try_from(axis).ok().filter(|axis| *axis < rank);
    within.ok_or(GatherError::AxisOutOfRange { axis, low: 0, rank })
}
