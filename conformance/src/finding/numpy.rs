//! Tensors and attributes in Python: an array as an expression of NumPy, short where the elements follow a rule.

use gather_spec::literal::Shown;
use gather_spec::shape::{MAX_BYTES, nonzero_bytes};
use gather_spec::{Attribute, DType, Element, Tensor};

use crate::export::nested;

/// The most elements to list.
const LISTED: usize = 200;

/// The most moduli to try.
const MODULI: usize = 1000;

/// The most elements to look for a rule in.
const LARGEST: usize = 1 << 20;

/// The scalar type of NumPy for a dtype. It has none for bf16, which stands as its bits.
pub(super) const fn dtype(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "np.bool_",
        DType::I8 => "np.int8",
        DType::U8 => "np.uint8",
        DType::I16 => "np.int16",
        DType::U16 | DType::BF16 => "np.uint16",
        DType::I32 => "np.int32",
        DType::U32 => "np.uint32",
        DType::I64 => "np.int64",
        DType::U64 => "np.uint64",
        DType::F16 => "np.float16",
        DType::F32 => "np.float32",
        DType::F64 => "np.float64",
        DType::C64 => "np.complex64",
        DType::C128 => "np.complex128",
        DType::String => "object",
    }
}

/// A shape as a tuple.
pub(super) fn tuple<T: ToString>(values: &[T]) -> String {
    let words: Vec<String> = values.iter().map(ToString::to_string).collect();
    if let [one] = &words[..] { format!("({one},)") } else { format!("({})", words.join(", ")) }
}

/// The array as an expression; `None` if the elements are too many to list and follow no rule.
pub(super) fn array(tensor: &Tensor) -> Option<String> {
    let (shape, name) = (tuple(tensor.shape()), dtype(tensor.dtype()));
    let count = tensor.shape().element_count();
    if count == 0 {
        // NumPy makes no array of dims whose product is too large, even without elements, but gives one such a shape.
        let is_large = nonzero_bytes(tensor.shape(), tensor.dtype()) > MAX_BYTES / 2;
        return Some(match is_large {
            true => format!("np.zeros(0, {name}).reshape({shape})"),
            false => format!("np.zeros({shape}, {name})"),
        });
    }
    if count > LARGEST {
        return None;
    }
    let elements: Vec<Element> = tensor.iter().collect();
    let plain: Option<Vec<String>> = elements.iter().map(|one| literal(tensor.dtype(), one)).collect();
    if count <= LISTED {
        if let Some(plain) = plain {
            return Some(format!("np.array({}, {name})", nested(tensor.shape(), &plain)));
        }
        let (bits, width) = bits(tensor.dtype(), &elements)?;
        let listed = nested(tensor.shape(), &bits);
        let view = if tensor.dtype() == DType::BF16 { String::new() } else { format!(".view({name})") };
        return Some(format!("np.array({listed}, np.uint{width}){view}"));
    }
    ruled(tensor, &plain?, &shape, name)
}

/// Many elements by a rule: all equal, or each a step after the one before, perhaps modulo some number.
fn ruled(tensor: &Tensor, plain: &[String], shape: &str, name: &str) -> Option<String> {
    let first = plain.first()?;
    if plain.iter().all(|one| one == first) {
        return Some(format!("np.full({shape}, {first}, {name})"));
    }
    let values: Option<Vec<i128>> = plain.iter().map(|one| whole(tensor.dtype(), one)).collect();
    let values = values?;
    let (start, step) = (values[0], values[1] - values[0]);
    let line = |at: usize| start + step * i128::try_from(at).expect("few elements");
    let text = match (start, step) {
        (0, 1) => format!("np.arange({})", values.len()),
        _ => format!("({start} + {step} * np.arange({}))", values.len()),
    };
    let made = if (0..values.len()).all(|at| values[at] == line(at)) {
        text
    } else {
        let most = values.iter().max()? + 1;
        let mut moduli = (most.max(1)..=most + step.abs()).take(MODULI);
        let gives = |modulus: &i128| (0..values.len()).all(|at| values[at] == line(at).rem_euclid(*modulus));
        format!("({text} % {})", moduli.find(gives)?)
    };
    Some(format!("{made}.astype({name}).reshape({shape})"))
}

/// The whole number that an element is.
fn whole(dtype: DType, plain: &str) -> Option<i128> {
    match dtype {
        _ if dtype.is_integer() => plain.parse().ok(),
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => {
            let value: f64 = plain.parse().ok()?;
            #[expect(clippy::cast_possible_truncation, reason = "a whole number of a few digits")]
            (value.fract() == 0.0 && value.abs() < 1e15).then_some(value as i128)
        }
        _ => None,
    }
}

/// One element as a literal; `None` if it needs its bits.
fn literal(dtype: DType, element: &Element) -> Option<String> {
    let shown = Shown(dtype, element).to_string();
    match (dtype, element) {
        (_, Element::Bytes(bytes)) => {
            let text = std::str::from_utf8(bytes.as_bytes()).ok()?;
            Some(serde_json::to_string(text).expect("a text is plain data"))
        }
        (DType::Bool, Element::Bits(bits)) => match bits {
            0 => Some("False".to_owned()),
            1 => Some("True".to_owned()),
            _ => None,
        },
        (DType::BF16, _) => None,
        (DType::F16, _) => {
            let value: f64 = shown.parse().ok()?;
            // Only of these is the text exact.
            (value.fract() == 0.0 && value.abs() < 2048.0).then(|| format!("{value:?}"))
        }
        (DType::F32 | DType::F64, _) => shown.parse::<f64>().is_ok_and(f64::is_finite).then_some(shown),
        (DType::C64 | DType::C128, _) => {
            let number =
                shown.strip_suffix('i').filter(|text| !text.contains("nan") && !text.contains("inf"));
            number.map(|number| format!("{number}j"))
        }
        _ => Some(shown),
    }
}

/// Elements as bits in hexadecimal, and the width of the integers that hold them.
fn bits(dtype: DType, elements: &[Element]) -> Option<(Vec<String>, usize)> {
    let width = 8 * dtype.size();
    let hex = |element: &Element| match element {
        Element::Bits(bits) => Some(format!("{bits:#0digits$x}", digits = width / 4 + 2)),
        Element::Bytes(_) => None,
    };
    let words: Option<Vec<String>> = elements.iter().map(hex).collect();
    (width <= 64).then_some((words?, width))
}

/// An attribute as an expression.
pub(super) fn attribute(value: &Attribute) -> Option<String> {
    Some(match value {
        Attribute::Null => "None".to_owned(),
        Attribute::Boolean(true) => "True".to_owned(),
        Attribute::Boolean(false) => "False".to_owned(),
        Attribute::Integer(_) | Attribute::Float(_) | Attribute::String(_) => value.to_string(),
        Attribute::Integers(values) => tuple(values),
        Attribute::Element(element) => {
            let view = if element.dtype() == DType::BF16 { ".view(jnp.bfloat16)" } else { "" };
            format!("{}{view}[()]", array(element)?)
        }
    })
}

#[cfg(test)]
mod tests {
    use gather_spec::call::Finite;

    use super::*;

    #[test]
    fn an_array_is_short_where_its_elements_follow_a_rule() {
        let i16s = |shape: &[usize], values: &dyn Fn(usize) -> i16| {
            let count = shape.iter().product();
            let bits: Vec<u16> = (0..count).map(|at| values(at).cast_unsigned()).collect();
            array(&Tensor::new(DType::I16, shape.to_vec(), bits).unwrap())
        };
        let small = |at: usize| i16::try_from(at).unwrap();
        assert_eq!(i16s(&[], &|_| -7).unwrap(), "np.array(-7, np.int16)");
        assert_eq!(i16s(&[2, 1], &small).unwrap(), "np.array([[0], [1]], np.int16)");
        assert_eq!(i16s(&[0, 3], &small).unwrap(), "np.zeros((0, 3), np.int16)");
        let huge = i16s(&[0, 1 << 61], &small).unwrap();
        assert_eq!(huge, "np.zeros(0, np.int16).reshape((0, 2305843009213693952))");
        assert_eq!(i16s(&[300, 1], &|_| 4).unwrap(), "np.full((300, 1), 4, np.int16)");
        assert_eq!(i16s(&[300], &small).unwrap(), "np.arange(300).astype(np.int16).reshape((300,))");
        let backwards = i16s(&[2, 200], &|at| 9 - 2 * small(at)).unwrap();
        assert_eq!(backwards, "(9 + -2 * np.arange(400)).astype(np.int16).reshape((2, 200))");
        let round = i16s(&[300], &|at| (3 + 5 * small(at)).rem_euclid(7)).unwrap();
        assert_eq!(round, "((3 + -2 * np.arange(300)) % 7).astype(np.int16).reshape((300,))");
        assert_eq!(i16s(&[300], &|at| small(at * at % 97)), None);
    }

    #[test]
    fn an_element_that_its_number_does_not_tell_stands_as_its_bits() {
        let one = |dtype, bits: u32| {
            let bits = u16::try_from(bits).map(|bits| Tensor::new(dtype, [1], vec![bits]));
            array(&bits.unwrap().unwrap()).unwrap()
        };
        assert_eq!(one(DType::F16, 0x4000), "np.array([2.0], np.float16)");
        assert_eq!(one(DType::F16, 0x7e01), "np.array([0x7e01], np.uint16).view(np.float16)");
        assert_eq!(one(DType::F16, 0x8000), "np.array([-0.0], np.float16)");
        assert_eq!(one(DType::BF16, 0x4000), "np.array([0x4000], np.uint16)");
        let f32s = Tensor::new(DType::F32, [2], vec![1.5f32.to_bits(), f32::INFINITY.to_bits()]).unwrap();
        assert_eq!(array(&f32s).unwrap(), "np.array([0x3fc00000, 0x7f800000], np.uint32).view(np.float32)");
        let bools = Tensor::new(DType::Bool, [2], vec![1u8, 2]).unwrap();
        assert_eq!(array(&bools).unwrap(), "np.array([0x01, 0x02], np.uint8).view(np.bool_)");
    }

    #[test]
    fn an_attribute_is_a_value_of_python() {
        let element = Tensor::new(DType::BF16, [], vec![0xffc5u16]).unwrap();
        let table = [
            (Attribute::Null, "None"),
            (Attribute::Boolean(true), "True"),
            (Attribute::Integer(-1), "-1"),
            (Attribute::Float(Finite::new(1.0).unwrap()), "1.0"),
            (Attribute::String("clip".to_owned()), "\"clip\""),
            (Attribute::Integers(vec![2]), "(2,)"),
            (Attribute::Element(Box::new(element)), "np.array(0xffc5, np.uint16).view(jnp.bfloat16)[()]"),
        ];
        for (value, said) in table {
            assert_eq!(attribute(&value).unwrap(), said);
        }
    }
}
