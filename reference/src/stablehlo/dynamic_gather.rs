//! `stablehlo.dynamic_gather`, after the section of the StableHLO specification: "functionally identical to gather, with the
//! `slice_sizes` specified dynamically as a value".

use gather_spec::{Call, DType, DimensionNumbers, GatherError, Refusal, Tensor};

use super::gather::{OPERAND_DTYPES, START_INDICES_DTYPES, gather};
use crate::checks::{
    INTEGERS, boolean, index_at, index_dtype, integer, integers, only, operands, params_dtype,
};
use crate::{Implemented, Settings};

/// The dtypes of `slice_sizes`: any integer type.
pub const SLICE_SIZES_DTYPES: [DType; 8] = INTEGERS;

/// Gathers slices of sizes `slice_sizes` from `operand`, each from the start in `start_indices`.
///
/// # Errors
/// `params-dtype`, `index-dtype`, `operand-dtype`, `operand-shape`, and those of [`gather`].
pub fn dynamic_gather(
    operand: &Tensor,
    start_indices: &Tensor,
    slice_sizes: &Tensor,
    numbers: &DimensionNumbers,
    settings: Settings,
) -> Result<Tensor, Refusal> {
    // stablehlo.dynamic_gather.dtype.operand, stablehlo.dynamic_gather.dtype.start-indices
    params_dtype(operand, &OPERAND_DTYPES)?;
    index_dtype(start_indices, &START_INDICES_DTYPES)?;
    // stablehlo.dynamic_gather.dtype.slice-sizes
    if !SLICE_SIZES_DTYPES.contains(&slice_sizes.dtype()) {
        return Err(GatherError::OperandDtype {
            operand: "slice_sizes".to_owned(),
            dtype: slice_sizes.dtype(),
        }
        .into());
    }
    // stablehlo.dynamic_gather.rank.slice-sizes
    if slice_sizes.rank() != 1 {
        let (operand, shape) = ("slice_sizes".to_owned(), slice_sizes.shape().clone());
        return Err(GatherError::OperandShape { operand, shape, rule: "a vector" }.into());
    }
    // A size beyond 64 bits with a sign is beyond every dim, too, and one more size than there are dims shows that there are
    // too many (stablehlo.dynamic_gather.slice-sizes.full-width).
    let count = slice_sizes.shape()[0].min(operand.rank() + 1);
    let size = |at: usize| i64::try_from(index_at(slice_sizes, &[at])).unwrap_or(i64::MAX);
    let sizes: Vec<i64> = (0..count).map(size).collect();
    // stablehlo.dynamic_gather.value.formula, with these constraints in place of those of gather:
    // stablehlo.dynamic_gather.constraints.c1, stablehlo.dynamic_gather.constraints.c2, stablehlo.dynamic_gather.constraints.c3,
    // stablehlo.dynamic_gather.constraints.c4, stablehlo.dynamic_gather.constraints.c5, stablehlo.dynamic_gather.constraints.c6,
    // stablehlo.dynamic_gather.constraints.c7, stablehlo.dynamic_gather.constraints.c8, stablehlo.dynamic_gather.constraints.c9,
    // stablehlo.dynamic_gather.constraints.c10, stablehlo.dynamic_gather.constraints.c11,
    // stablehlo.dynamic_gather.constraints.c12, stablehlo.dynamic_gather.constraints.c13,
    // stablehlo.dynamic_gather.output.size-limit, stablehlo.dynamic_gather.index.clamp
    gather(operand, start_indices, numbers, &sizes, settings)
}

/// The entry of this operator in the list of its ecosystem.
pub(crate) const OPERATOR: Implemented = Implemented {
    name: "stablehlo.dynamic_gather",
    params_dtypes: &OPERAND_DTYPES,
    index_dtypes: &START_INDICES_DTYPES,
    answer,
};

/// Answers a call of this operator.
fn answer(call: &Call, settings: Settings) -> Result<Tensor, Refusal> {
    let [operand, start_indices, slice_sizes] = operands(call, ["operand", "start_indices", "slice_sizes"])?;
    only(
        call,
        &["offset_dims", "collapsed_slice_dims", "start_index_map", "index_vector_dim", "indices_are_sorted"],
    )?;
    // stablehlo.dynamic_gather.indices-are-sorted.promise
    boolean(call, "indices_are_sorted")?;
    // stablehlo.dynamic_gather.attributes.absent, stablehlo.dynamic_gather.operands.batching
    let list = |name| Ok::<_, Refusal>(integers(call, name)?.unwrap_or_default());
    let numbers = DimensionNumbers {
        offset_dims: list("offset_dims")?,
        collapsed_slice_dims: list("collapsed_slice_dims")?,
        start_index_map: list("start_index_map")?,
        index_vector_dim: integer(call, "index_vector_dim")?.unwrap_or(0),
        ..DimensionNumbers::default()
    };
    dynamic_gather(operand, start_indices, slice_sizes, &numbers, settings)
}
