//! Tensors from nested lists: their shape, their dtype where none is written, and their elements as in case files.

use gather_spec::dtype::Kind;
use gather_spec::literal::{complex, component, parse_scalar};
use gather_spec::{ByteString, DType, Element, Shape, Tensor, TensorBuilder};

use super::text::{Argument, SyntaxError, TypedValue, Word, one_of};

/// The tensor that an argument writes. Without a dtype it is one of `listed` if the elements fit, preferably i64 for whole
/// numbers and f32 for others.
pub(super) fn tensor(argument: &Argument, listed: &[DType]) -> Result<Tensor, SyntaxError> {
    let mut leaves = Vec::new();
    let dims = collect(&argument.value, &mut leaves)?;
    let dtype = match &argument.dtype {
        Some(word) => dtype(word)?,
        None => usual(&leaves, listed),
    };
    let at = argument.value.at();
    let too_large = |error: String| SyntaxError::new(at, error, "a smaller tensor is expected");
    let shape = Shape::new(dims).map_err(|error| too_large(error.to_string()))?;
    let mut builder = TensorBuilder::new(dtype, shape).map_err(|error| too_large(error.to_string()))?;
    for leaf in leaves {
        builder.push(element(dtype, leaf)?);
    }
    builder.finish().map_err(|error| too_large(error.to_string()))
}

/// The dtype of a name.
fn dtype(word: &Word) -> Result<DType, SyntaxError> {
    let unknown = |_| {
        let known = DType::ALL.map(DType::name);
        SyntaxError::new(word.at, format!("there is no dtype `{}`", word.text), one_of(&word.text, known))
    };
    word.text.parse().map_err(unknown)
}

/// The elements of nested lists in row-major order, and the dims. All lists of a level must have the same length.
fn collect<'v>(value: &'v TypedValue, leaves: &mut Vec<&'v TypedValue>) -> Result<Vec<usize>, SyntaxError> {
    let TypedValue::List(_, items) = value else {
        leaves.push(value);
        return Ok(Vec::new());
    };
    let mut inner: Option<Vec<usize>> = None;
    for item in items {
        let dims = collect(item, leaves)?;
        match &inner {
            Some(first) if *first != dims => return Err(ragged(item, first, &dims)),
            _ => inner = Some(dims),
        }
    }
    Ok([vec![items.len()], inner.unwrap_or_default()].concat())
}

/// The error for an item whose dims differ from those of the items before it.
fn ragged(item: &TypedValue, first: &[usize], dims: &[usize]) -> SyntaxError {
    let words = |dims: &[usize]| match dims {
        [] => "one element".to_owned(),
        [count] => format!("a list of {count}"),
        dims => format!("lists of shape {dims:?}"),
    };
    let message = format!("this is {}, and what stands before it is {}", words(dims), words(first));
    SyntaxError::new(item.at(), message, "all lists of a level have the same length")
}

/// The dtype of elements that are written without one.
fn usual(leaves: &[&TypedValue], listed: &[DType]) -> DType {
    let kind = leaves.iter().map(|leaf| kind_of(leaf)).max().unwrap_or(LiteralKind::Integer);
    let wished: &[DType] = match kind {
        LiteralKind::Bool => &[DType::Bool],
        LiteralKind::Integer => &[DType::I64, DType::I32, DType::F32],
        LiteralKind::Float => &[DType::F32, DType::F64, DType::F16],
        LiteralKind::Complex => &[DType::C64, DType::C128],
        LiteralKind::String => &[DType::String],
    };
    wished.iter().copied().find(|dtype| listed.contains(dtype)).unwrap_or(wished[0])
}

/// What an element looks like; what comes later includes what comes before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LiteralKind {
    Bool,
    Integer,
    Float,
    Complex,
    String,
}

fn kind_of(leaf: &TypedValue) -> LiteralKind {
    let TypedValue::Word(Word { text, .. }) = leaf else { return LiteralKind::String };
    let digits = text.strip_prefix('-').unwrap_or(text);
    if boolean(text).is_some() {
        LiteralKind::Bool
    } else if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        LiteralKind::Integer
    } else if digits.ends_with(['i', 'j']) {
        LiteralKind::Complex
    } else {
        LiteralKind::Float
    }
}

/// `true` and `false`, as YAML and as Python write them.
pub(super) fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" | "True" => Some(true),
        "false" | "False" => Some(false),
        _ => None,
    }
}

/// An element of a dtype.
fn element(dtype: DType, leaf: &TypedValue) -> Result<Element, SyntaxError> {
    let (word, is_quoted) = match leaf {
        TypedValue::Word(word) => (word, false),
        TypedValue::Quoted(word) => (word, true),
        TypedValue::List(at, _) => return Err(SyntaxError::new(*at, "an element is expected", "such as 1")),
    };
    match (dtype.kind(), is_quoted) {
        (Kind::String, true) => return Ok(Element::Bytes(ByteString::from(word.text.as_bytes()))),
        (Kind::String, false) => {
            return Err(SyntaxError::new(word.at, "a string needs quotes", format!("\"{}\"", word.text)));
        }
        (_, true) => {
            let message = format!("a string is no {dtype}");
            return Err(SyntaxError::new(
                word.at,
                message,
                "leave out the quotes, or write :string behind the list",
            ));
        }
        _ => {}
    }
    let bits = match dtype.kind() {
        Kind::Complex => parts(dtype, &word.text),
        Kind::Bool => parse_scalar(
            dtype,
            boolean(&word.text).map_or(&word.text, |yes| if yes { "true" } else { "false" }),
        ),
        _ => scalar(dtype, &word.text),
    };
    bits.map(Element::Bits).map_err(|why| {
        if dtype.kind() == Kind::Float && !why.contains("overflows") {
            let message = format!("`{}` is no {dtype}", word.text);
            return SyntaxError::new(word.at, message, "a decimal, nan, inf or -inf is expected");
        }
        let (message, help) =
            why.split_once(": ").map_or((why.as_str(), ""), |(message, help)| (message, help));
        let help =
            if help.is_empty() { format!("an element of {dtype} is expected") } else { help.to_owned() };
        SyntaxError::new(word.at, message, help)
    })
}

/// The bits of a real number. `nan` and `inf` need no point, unlike in case files.
fn scalar(dtype: DType, text: &str) -> Result<u128, String> {
    match text {
        "nan" | "inf" => parse_scalar(dtype, &format!(".{text}")),
        "-inf" => parse_scalar(dtype, "-.inf"),
        text => parse_scalar(dtype, text),
    }
}

/// The bits of a complex number such as `1.0-2.0i`, or of a real one.
fn parts(dtype: DType, text: &str) -> Result<u128, String> {
    let of = component(dtype);
    let Some(body) = text.strip_suffix(['i', 'j']) else {
        return Ok(complex(dtype, scalar(of, text)?, 0));
    };
    let is_sign =
        |(at, c): &(usize, char)| matches!(c, '+' | '-') && *at > 0 && !body[..*at].ends_with(['e', 'E']);
    match body.char_indices().rfind(is_sign) {
        Some((at, _)) => {
            let im = body[at..].strip_prefix('+').unwrap_or(&body[at..]);
            Ok(complex(dtype, scalar(of, &body[..at])?, scalar(of, im)?))
        }
        None => Ok(complex(dtype, 0, scalar(of, body)?)),
    }
}
