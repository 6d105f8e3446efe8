//! How a model reads tensors: rightly, or as if their strides were others.

use std::collections::BTreeMap;

use gather_spec::tensor::Stored;
use gather_spec::{ByteString, DType, Element, Tensor};

use super::model::GARBAGE;

/// The elements of a tensor in row-major order.
pub(super) fn row_major(tensor: &Tensor) -> Vec<Element> {
    fn bits<T: Stored + Copy + Into<u128>>(tensor: &Tensor) -> Option<Vec<Element>> {
        Some(tensor.view::<T>()?.iter().map(|bits| Element::Bits((*bits).into())).collect())
    }
    bits::<u8>(tensor)
        .or_else(|| bits::<u16>(tensor))
        .or_else(|| bits::<u32>(tensor))
        .or_else(|| bits::<u64>(tensor))
        .unwrap_or_else(|| tensor.iter().collect())
}

/// An element that nobody wrote.
pub(super) fn garbage(dtype: DType) -> Element {
    match dtype {
        DType::String => Element::Bytes(ByteString::from("\u{a5}")),
        _ => Element::Bits(GARBAGE),
    }
}

/// The elements that a tensor seems to have when its strides are taken for others: `strides` gives those, from its
/// shape and its own. What lies outside the tensor reads as garbage.
pub(super) fn misread(tensor: &Tensor, strides: fn(&[usize], &[isize]) -> Vec<isize>) -> Vec<Element> {
    let own = tensor.strides();
    let wrong = strides(tensor.shape(), own);
    if wrong == own || tensor.shape().element_count() == 0 {
        return row_major(tensor);
    }
    let place = |position: &[usize], strides: &[isize]| -> isize {
        position.iter().zip(strides).map(|(at, stride)| at.cast_signed() * stride).sum()
    };
    let positions = tensor.shape().positions();
    let memory: BTreeMap<isize, Element> =
        positions.map(|at| (place(&at, own), tensor.element(&at))).collect();
    let read =
        |at: Vec<usize>| memory.get(&place(&at, &wrong)).cloned().unwrap_or_else(|| garbage(tensor.dtype()));
    tensor.shape().positions().map(read).collect()
}
