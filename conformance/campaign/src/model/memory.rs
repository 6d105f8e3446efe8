//! How a model reads tensors: correctly, or with wrong strides.

use std::collections::BTreeMap;

use gather_spec::tensor::Elements;
use gather_spec::{ByteString, DType, Element, Position, Tensor};

/// The contents of memory that was never written.
pub const GARBAGE: u128 = 0xA5A5_A5A5_A5A5_A5A5_A5A5_A5A5_A5A5_A5A5;

/// The elements of params in row-major order. A call may select few of many.
pub enum ParamsElements {
    /// As they are stored.
    Stored(Tensor),
    /// Each element, as a wrong model reads it.
    Copied(Vec<Element>),
}

impl ParamsElements {
    /// The element at this offset; `None` beyond the end.
    pub fn get(&self, at: usize) -> Option<Element> {
        fn bits<T: Copy + Into<u128>>(elements: &[T], at: usize) -> Option<Element> {
            elements.get(at).map(|bits| Element::Bits((*bits).into()))
        }
        match self {
            Self::Copied(elements) => elements.get(at).cloned(),
            Self::Stored(tensor) => match tensor.stored() {
                Elements::B1(elements) => bits(elements, at),
                Elements::B2(elements) => bits(elements, at),
                Elements::B4(elements) => bits(elements, at),
                Elements::B8(elements) => bits(elements, at),
                Elements::B16(elements) => bits(elements, at),
                Elements::Strings(elements) => elements.get(at).cloned().map(Element::Bytes),
            },
        }
    }
}

/// Reads the elements of a tensor.
pub fn read(tensor: &Tensor) -> ParamsElements {
    ParamsElements::Stored(tensor.to_row_major().expect("a small tensor"))
}

/// The elements of a tensor in row-major order.
pub fn row_major(tensor: &Tensor) -> Vec<Element> {
    fn bits<T: Copy + Into<u128>>(elements: &[T]) -> Vec<Element> {
        elements.iter().map(|bits| Element::Bits((*bits).into())).collect()
    }
    let copied = tensor.to_row_major().expect("a small tensor");
    match copied.stored() {
        Elements::B1(elements) => bits(elements),
        Elements::B2(elements) => bits(elements),
        Elements::B4(elements) => bits(elements),
        Elements::B8(elements) => bits(elements),
        Elements::B16(elements) => bits(elements),
        Elements::Strings(elements) => elements.iter().cloned().map(Element::Bytes).collect(),
    }
}

/// An element that was never written.
pub fn garbage(dtype: DType) -> Element {
    match dtype {
        DType::String => Element::Bytes(ByteString::from("\u{a5}")),
        _ => Element::Bits(GARBAGE),
    }
}

/// The elements read with wrong strides, which `strides` derives from the shape and the right ones. Reads outside the
/// tensor give garbage.
pub fn misread(tensor: &Tensor, strides: fn(&[usize], &[isize]) -> Vec<isize>) -> Vec<Element> {
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
        |at: Position| memory.get(&place(&at, &wrong)).cloned().unwrap_or_else(|| garbage(tensor.dtype()));
    tensor.shape().positions().map(read).collect()
}
