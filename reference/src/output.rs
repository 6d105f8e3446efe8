//! The output tensor: whether its size is possible and permitted, and memory for it.

use gather_spec::shape::{MAX_BYTES, MAX_RANK, nonzero_bytes};
use gather_spec::{DType, GatherError, Refusal, Shape, Tensor, TensorBuilder};

use crate::Settings;

/// An empty output with these dims, with memory for all its elements.
pub(crate) fn output(dtype: DType, dims: Vec<usize>, settings: Settings) -> Result<TensorBuilder, Refusal> {
    let bytes = nonzero_bytes(&dims, dtype);
    if bytes > MAX_BYTES {
        return Err(GatherError::OutputTooLarge { bytes }.into());
    }
    let shape = Shape::new(dims).map_err(|error| Refusal::Unsupported(error.to_string()))?;
    if shape.rank() > MAX_RANK {
        let rank = shape.rank();
        return Err(Refusal::Unsupported(format!(
            "the output has {rank} axes, more than the limit of {MAX_RANK}"
        )));
    }
    let bytes = if shape.element_count() == 0 { 0 } else { bytes };
    if bytes > settings.max_output.into() {
        let limit = settings.max_output;
        return Err(Refusal::Unsupported(format!(
            "the output takes {bytes} bytes, more than the limit of {limit}"
        )));
    }
    TensorBuilder::new(dtype, shape).map_err(|error| Refusal::Unsupported(error.to_string()))
}

/// The finished output. All its elements must have been pushed.
pub(crate) fn finished(output: TensorBuilder) -> Result<Tensor, Refusal> {
    output.finish().map_err(|error| Refusal::Unsupported(error.to_string()))
}
