//! The axis of the versions of Gather that have it as an operand.

use gather_spec::{DType, GatherError, Tensor};

use crate::checks::{INTEGERS, index_at};

/// Any supported integer type.
pub const AXIS_DTYPES: [DType; 8] = INTEGERS;

/// The only element of `axis`, a scalar or a vector (errata `openvino-axis-of-one-element`). One beyond 64 bits with a sign is
/// beyond every rank, too.
pub(super) fn axis_value(axis: &Tensor) -> Result<i64, GatherError> {
    match **axis.shape() {
        [] | [1] => Ok(i64::try_from(index_at(axis, &vec![0; axis.rank()])).unwrap_or(i64::MAX)),
        _ => Err(GatherError::OperandShape {
            operand: "axis".to_owned(),
            shape: axis.shape().clone(),
            rule: "a scalar or a vector of one element",
        }),
    }
}
