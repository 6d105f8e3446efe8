//! Params and indices of a workload. They are the same on every machine, and nothing here is timed.

use gather_spec::tensor::{Elements, Stored};
use gather_spec::{ByteString, Call, DType, Shape, Tensor, TensorError};

use crate::Workload;
use crate::indices::TypedIndices;
use crate::workloads::TensorLayout;

/// How many elements longer than its window a row of [`TensorLayout::Padded`] is.
pub(crate) const PADDING: usize = 16;

/// The inputs of one workload.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The tensor to gather from.
    pub params: Params,
    /// The indices.
    pub indices: TypedIndices,
}

/// Params as a tensor, and as its storage.
#[derive(Clone, Debug)]
pub struct Params {
    /// The tensor.
    pub tensor: Tensor,
    /// Its storage, shared.
    pub elements: Elements,
    /// The position of the tensor's first element in the storage.
    pub offset: usize,
}

impl Inputs {
    /// Makes the inputs of a workload.
    ///
    /// # Errors
    /// [`TensorError`] if there is not enough memory for params.
    pub fn of(workload: &Workload) -> Result<Self, TensorError> {
        Ok(Self { params: Params::of(workload)?, indices: TypedIndices::of(workload) })
    }

    /// The workload as a call for backends. Indices are copied, params are shared.
    ///
    /// # Errors
    /// If no operator fits the workload, or memory is short.
    pub fn call(&self, workload: &Workload) -> Result<Call, String> {
        let indices = self.indices.tensor().map_err(|wrong| wrong.to_string())?;
        workload.call(&self.params.tensor, &indices)
    }
}

impl Params {
    fn of(workload: &Workload) -> Result<Self, TensorError> {
        let (dtype, shape) = (workload.params.dtype, Shape::new(&*workload.params.shape)?);
        let (strides, offset, len) = place(&shape, workload.params.layout);
        let elements = paint(dtype, len);
        let tensor = Tensor::strided(dtype, shape, strides, offset, elements.clone())?;
        Ok(Self { tensor, elements, offset })
    }
}

/// The strides, the position of the first element, and the number of stored elements.
fn place(shape: &Shape, layout: TensorLayout) -> (Vec<isize>, usize, usize) {
    let (count, rank) = (shape.element_count(), shape.rank());
    let mut strides = shape.row_major_strides();
    match layout {
        TensorLayout::Contiguous => (strides, 0, count),
        TensorLayout::Transposed => {
            let mut stride = 1;
            for (place, dim) in strides.iter_mut().zip(&**shape) {
                *place = stride;
                stride *= dim.cast_signed();
            }
            (strides, 0, count)
        }
        TensorLayout::Padded => {
            let row = shape.last().map_or(1, |dim| dim + PADDING).cast_signed();
            let last = shape.last().map_or(1, |dim| *dim).cast_signed().max(1);
            strides.iter_mut().take(rank.saturating_sub(1)).for_each(|stride| *stride = *stride / last * row);
            let rows = count / last.unsigned_abs();
            (strides, 1, rows * row.unsigned_abs())
        }
        TensorLayout::Reversed => {
            strides.iter_mut().for_each(|stride| *stride = -*stride);
            (strides, count - 1, count)
        }
        TensorLayout::Broadcast => {
            strides.iter_mut().take(1).for_each(|stride| *stride = 0);
            (strides, 0, count / shape.first().map_or(1, |dim| *dim))
        }
    }
}

/// Elements that differ from their neighbours near and far: the high bits of multiples of an odd number.
#[allow(clippy::cast_possible_truncation, reason = "what is wanted are bits that fit")]
fn paint(dtype: DType, len: usize) -> Elements {
    let mixed = |at: usize| (at as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    if dtype == DType::String {
        return ByteString::store((0..len).map(|at| ByteString::from(format!("string {at}"))).collect());
    }
    match dtype.size() {
        1 => u8::store((0..len).map(|at| (mixed(at) >> 56) as u8).collect()),
        2 => u16::store((0..len).map(|at| (mixed(at) >> 48) as u16).collect()),
        4 => u32::store((0..len).map(|at| (mixed(at) >> 32) as u32).collect()),
        8 => u64::store((0..len).map(mixed).collect()),
        _ => u128::store((0..len).map(|at| u128::from(mixed(at)) << 64 | at as u128).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_of_params_stay_inside_their_storage() {
        let shape = Shape::new([3, 4]).unwrap();
        for (layout, strides, offset, len) in [
            (TensorLayout::Contiguous, [4, 1], 0, 12),
            (TensorLayout::Transposed, [1, 3], 0, 12),
            (TensorLayout::Padded, [20, 1], 1, 60),
            (TensorLayout::Reversed, [-4, -1], 11, 12),
            (TensorLayout::Broadcast, [0, 1], 0, 4),
        ] {
            assert_eq!(place(&shape, layout), (strides.to_vec(), offset, len), "{layout:?}");
            let tensor =
                Tensor::strided(DType::F16, shape.clone(), strides.to_vec(), offset, paint(DType::F16, len));
            assert!(tensor.is_ok(), "{layout:?}");
        }
    }
}
