//! Tensors in JavaScript: a typed array as an expression.

use gather_spec::dtype::Kind;
use gather_spec::{DType, Element, Tensor};

use crate::export::decimal;

/// The most elements to list.
const LISTED: usize = 200;

/// The class of arrays for a dtype, those of f16, bf16 and bool by their bits; `None` for complex numbers and strings.
pub(super) const fn class(dtype: DType) -> Option<&'static str> {
    Some(match dtype {
        DType::Bool | DType::U8 => "Uint8Array",
        DType::I8 => "Int8Array",
        DType::I16 => "Int16Array",
        DType::U16 | DType::F16 | DType::BF16 => "Uint16Array",
        DType::I32 => "Int32Array",
        DType::U32 => "Uint32Array",
        DType::I64 => "BigInt64Array",
        DType::U64 => "BigUint64Array",
        DType::F32 => "Float32Array",
        DType::F64 => "Float64Array",
        DType::C64 | DType::C128 | DType::String => return None,
    })
}

/// The elements as an expression, in row-major order; `None` if they are many, or if there is no such array.
pub(super) fn array(tensor: &Tensor) -> Option<String> {
    let dtype = tensor.dtype();
    if tensor.shape().element_count() > LISTED {
        return None;
    }
    let elements: Vec<Element> = tensor.iter().collect();
    if dtype == DType::String {
        let text = |element: &Element| match element {
            Element::Bytes(bytes) => std::str::from_utf8(bytes.as_bytes()).ok().map(str::to_owned),
            Element::Bits(_) => None,
        };
        let texts: Option<Vec<String>> = elements.iter().map(text).collect();
        return Some(serde_json::to_string(&texts?).expect("texts are plain data"));
    }
    let class = class(dtype)?;
    let bits = |element: &Element| match element {
        Element::Bits(bits) => *bits,
        Element::Bytes(_) => 0,
    };
    let literal = |element: &Element| match dtype.kind() {
        Kind::Float if dtype.size() == 2 => Some(format!("{:#06x}", bits(element))),
        Kind::Bool => Some(bits(element).to_string()),
        Kind::Float => decimal(dtype, bits(element)),
        _ if dtype.size() == 8 => decimal(dtype, bits(element)).map(|number| number + "n"),
        _ => decimal(dtype, bits(element)),
    };
    let literals: Option<Vec<String>> = elements.iter().map(literal).collect();
    Some(match literals {
        Some(literals) => format!("{class}.of({})", literals.join(", ")),
        // Of infinities and NaNs.
        None => {
            let (of_bits, mark) =
                if dtype == DType::F32 { ("Uint32Array", "") } else { ("BigUint64Array", "n") };
            let digits = 2 * dtype.size() + 2;
            let words: Vec<String> =
                elements.iter().map(|one| format!("{:#0digits$x}{mark}", bits(one))).collect();
            format!("new {class}({of_bits}.of({}).buffer)", words.join(", "))
        }
    })
}

#[cfg(test)]
mod tests {
    use gather_spec::Shape;

    use super::*;

    fn expression(dtype: DType, bytes: &[u8]) -> Option<String> {
        let shape = Shape::new([bytes.len() / dtype.size()]).unwrap();
        array(&Tensor::from_le_bytes(dtype, shape, bytes).unwrap())
    }

    #[test]
    fn an_array_has_the_same_bits() {
        let said = |dtype, bytes: &[u8]| expression(dtype, bytes).unwrap();
        assert_eq!(said(DType::I32, &[255, 255, 255, 255, 2, 0, 0, 0]), "Int32Array.of(-1, 2)");
        assert_eq!(said(DType::I64, &[255; 8]), "BigInt64Array.of(-1n)");
        assert_eq!(said(DType::F16, &[0, 0x3c]), "Uint16Array.of(0x3c00)");
        assert_eq!(said(DType::F32, &[0, 0, 0, 0x80]), "Float32Array.of(-0.0)");
        let nan = [1, 0, 0xc0, 0x7f, 0, 0, 0x80, 0x3f];
        assert_eq!(said(DType::F32, &nan), "new Float32Array(Uint32Array.of(0x7fc00001, 0x3f800000).buffer)");
        assert_eq!(said(DType::Bool, &[2]), "Uint8Array.of(2)");
        assert_eq!((expression(DType::C64, &[0; 8]), expression(DType::U8, &[0; 201])), (None, None));
    }
}
