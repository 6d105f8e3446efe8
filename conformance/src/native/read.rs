//! Reads what a library returns. Every pointer, count and number is checked before it is used. What cannot be checked is
//! that memory is as long as the library says. That is the library's part of the contract in `gatherspec.h`: where it is
//! broken, this process dies, and the verdict is `crash`.

use std::collections::BTreeMap;
use std::ffi::c_char;

use gather_spec::shape::{MAX_BYTES, nonzero_bytes};
use gather_spec::{
    ByteString, DType, Element, ErrorCode, ErrorFields, Outcome, Profile, ReportedError, Shape, Tensor,
    TensorBuilder,
};

use super::abi;
use super::arguments::Arguments;
use gather_conformance::backend::{Capability, Description, Identity};
use gather_conformance::protocol::MAX_RANK;
use gather_conformance::{Extends, Limits, Variants};

/// The longest text to read, in bytes.
const MAX_TEXT: usize = 1 << 16;

/// Reads a library's self-description.
///
/// # Errors
/// What is wrong with it.
///
/// # Safety
/// Memory is as long as the library says, texts end with a zero byte, and nothing writes to either.
pub(super) unsafe fn description(from: *const abi::Description) -> Result<Description, String> {
    // SAFETY: the caller's promise, one description long.
    let description = unsafe { array(from, 1, "the description") }?[0];
    // SAFETY: the caller's promise covers the texts and arrays that the description names.
    unsafe {
        let backend = Identity {
            name: required(description.name, "the name")?,
            version: required(description.version, "the version")?,
            language: required(description.language, "the language")?,
        };
        let mut operators = BTreeMap::new();
        for operator in array(description.operators, description.operator_count, "operators")? {
            let name = required(operator.name, "the name of an operator")?;
            let capability = capability(operator).map_err(|wrong| format!("{name}: {wrong}"))?;
            if operators.insert(name.clone(), capability).is_some() {
                return Err(format!("{name} is declared twice"));
            }
        }
        Ok(Description { backend, operators })
    }
}

/// # Safety
/// As for [`description`].
unsafe fn capability(operator: &abi::OperatorEntry) -> Result<Capability, String> {
    let unknown = |what: &str, number: u32| format!("{what} is {number}, which stands for nothing");
    let bad = abi::bad_index(operator.bad);
    let negative = abi::negative_index(operator.negative);
    let listed = |numbers: &[u32], what: &str| -> Result<Vec<DType>, String> {
        numbers.iter().map(|number| abi::dtype(*number).ok_or_else(|| unknown(what, *number))).collect()
    };
    // SAFETY: the caller's promise covers the arrays and the limits.
    let (dtypes, index_dtypes, more_dtypes, more_index_dtypes, limits, variants) = unsafe {
        (
            array(operator.dtypes, operator.dtype_count, "dtypes")?,
            array(operator.index_dtypes, operator.index_dtype_count, "index_dtypes")?,
            array(operator.more_dtypes, operator.more_dtype_count, "more_dtypes")?,
            array(operator.more_index_dtypes, operator.more_index_dtype_count, "more_index_dtypes")?,
            limits(operator.limits)?,
            variants(operator)?,
        )
    };
    Ok(Capability {
        profile: Profile {
            bad: bad.ok_or_else(|| unknown("bad", operator.bad))?,
            negative: negative.ok_or_else(|| unknown("negative", operator.negative))?,
        },
        dtypes: listed(dtypes, "a dtype")?,
        index_dtypes: listed(index_dtypes, "a dtype of indices")?,
        limits,
        extends: Extends {
            dtypes: listed(more_dtypes, "a dtype")?,
            index_dtypes: listed(more_index_dtypes, "a dtype of indices")?,
        },
        variants,
        compilations: None,
    })
}

/// Reads the variants of an operator.
///
/// # Safety
/// As for [`description`].
unsafe fn variants(operator: &abi::OperatorEntry) -> Result<Variants, String> {
    // SAFETY: the caller's promise covers the array.
    let texts = unsafe { array(operator.variants, operator.variant_count, "variants") }?;
    // SAFETY: the caller's promise covers the texts.
    let text = |text: &*const c_char| unsafe { required(*text, "a variant") };
    let texts: Vec<String> = texts.iter().map(text).collect::<Result<_, _>>()?;
    Variants::new(texts.iter().map(String::as_str))
}

/// Reads the limits of an operator, if it has any.
///
/// # Safety
/// As for [`description`].
unsafe fn limits(from: *const abi::Limits) -> Result<Limits, String> {
    // SAFETY: the caller's promise, one structure long.
    let limits = unsafe { array(from, u64::from(!from.is_null()), "limits") }?;
    let [limits] = limits else {
        return Ok(Limits::default());
    };
    let flag = |number: u32, what: &str| match number {
        0 | 1 => Ok(number == 1),
        _ => Err(format!("{what} is {number}, which is neither 0 nor 1")),
    };
    // SAFETY: the caller's promise covers the arrays.
    let (axes, names) = unsafe {
        (
            array(limits.axes, limits.axis_count, "axes")?,
            array(limits.without_attributes, limits.without_attribute_count, "without_attributes")?,
        )
    };
    // SAFETY: the caller's promise covers the texts.
    let name = |name: &*const c_char| unsafe { required(*name, "the name of an attribute") };
    Ok(Limits {
        max_rank: Some(limits.max_rank as usize).filter(|most| *most > 0),
        no_scalars: flag(limits.no_scalars, "no_scalars")?,
        no_empty: flag(limits.no_empty, "no_empty")?,
        max_elements: Some(limits.max_elements).filter(|most| *most > 0),
        max_output_bytes: Some(limits.max_output_bytes).filter(|most| *most > 0),
        axes: Some(axes.to_vec()).filter(|axes| !axes.is_empty()),
        without_attributes: names.iter().map(name).collect::<Result<_, _>>()?,
    })
}

/// Reads a library's answer to a call.
///
/// # Errors
/// What is wrong with it.
///
/// # Safety
/// As for [`description`].
pub(super) unsafe fn outcome(reply: &abi::Reply, inputs: &Arguments<'_>) -> Result<Outcome, String> {
    // SAFETY: the caller's promise covers the texts.
    let (code, message) = unsafe { (text(reply.code, "the code")?, text(reply.message, "the message")?) };
    let message = message.unwrap_or_default();
    match (reply.status, code) {
        (abi::OUTPUT, None) => {
            // SAFETY: the caller's promise covers the output.
            unsafe { output(&reply.output, inputs) }.map_err(|wrong| format!("the output: {wrong}"))
        }
        (abi::OUTPUT, Some(_)) => Err("an output comes without a code".to_owned()),
        (abi::UNSUPPORTED, None) => Ok(Outcome::Unsupported(message)),
        (abi::UNSUPPORTED, Some(_)) => Err("`unsupported` comes without a code".to_owned()),
        (abi::ERROR, None) => Ok(error(message, None)),
        (abi::ERROR, Some(code)) => code
            .parse::<ErrorCode>()
            .map(|code| error(message, Some(code)))
            .map_err(|unknown| format!("the code: {unknown}")),
        (status, _) => Err(format!("the status is {status}, which stands for nothing")),
    }
}

fn error(message: String, code: Option<ErrorCode>) -> Outcome {
    Outcome::Error(ReportedError { message, code, fields: ErrorFields::default() })
}

/// # Safety
/// As for [`description`].
unsafe fn output(tensor: &abi::Tensor, inputs: &Arguments<'_>) -> Result<Outcome, String> {
    let dtype = abi::dtype(tensor.dtype);
    let dtype = dtype.ok_or_else(|| format!("the dtype is {}, which stands for nothing", tensor.dtype))?;
    if tensor.rank as usize > MAX_RANK {
        return Err(format!("the rank is {}, at most {MAX_RANK} is allowed", tensor.rank));
    }
    if !tensor.strides.is_null() {
        return Err("it has strides, and an output is row-major".to_owned());
    }
    // SAFETY: the caller's promise covers the shape.
    let dims = unsafe { array(tensor.shape, tensor.rank.into(), "shape") }?;
    let shape: Result<Vec<usize>, _> = dims.iter().map(|dim| usize::try_from(*dim)).collect();
    let shape = shape.map_err(|_| format!("the shape {dims:?} has a dim below 0"))?;
    if let Some(too_large) = Outcome::too_large(dtype, &shape) {
        return Ok(too_large);
    }
    let bytes = nonzero_bytes(&shape, dtype);
    match Shape::new(shape.as_slice()) {
        Ok(shape) if bytes <= MAX_BYTES => {
            // SAFETY: the caller's promise covers the elements.
            unsafe { elements(dtype, shape, tensor, inputs) }.map(Outcome::Output)
        }
        _ => Err(format!("no memory holds the {bytes} bytes of the shape {shape:?}")),
    }
}

/// # Safety
/// As for [`description`].
unsafe fn elements(
    dtype: DType,
    shape: Shape,
    tensor: &abi::Tensor,
    inputs: &Arguments<'_>,
) -> Result<Tensor, String> {
    let count = shape.element_count();
    let wrong = |error: gather_spec::TensorError| error.to_string();
    let align = abi::alignment(dtype);
    if count > 0 && !tensor.data.addr().is_multiple_of(align) {
        return Err(format!("data is not aligned: {dtype} needs a multiple of {align} bytes"));
    }
    if dtype != DType::String {
        // SAFETY: the caller's promise covers the elements; bytes need no alignment.
        let bytes = unsafe { array(tensor.data.cast::<u8>(), (count * dtype.size()) as u64, "data") }?;
        apart(bytes, inputs)?;
        return Tensor::from_le_bytes(dtype, shape, bytes).map_err(wrong);
    }
    // SAFETY: the caller's promise covers the handles of the strings,
    let strings = unsafe { array(tensor.data.cast::<abi::Text>(), count as u64, "data") }?;
    apart(strings, inputs)?;
    let mut output = TensorBuilder::new(dtype, shape).map_err(wrong)?;
    for string in strings {
        // SAFETY: and the bytes that they name.
        let bytes = unsafe { array(string.data, string.length, "the data of a string") }?;
        apart(bytes, inputs)?;
        output.push(Element::Bytes(ByteString::from(bytes)));
    }
    output.finish().map_err(wrong)
}

/// Checks that memory of an output is not memory of an input.
fn apart<T>(memory: &[T], inputs: &Arguments<'_>) -> Result<(), String> {
    let start = memory.as_ptr().addr();
    let held = inputs.holder(&(start..start.saturating_add(size_of_val(memory))));
    held.map_or(Ok(()), |name| Err(format!("its data overlaps the input {name}; copy it")))
}

/// An array of a library's. A count of 0 goes with any pointer.
///
/// # Safety
/// If the pointer is neither null nor misaligned, it points to `count` values, which nothing writes to for
/// `'a`; all bits that they may have are values of `T`.
unsafe fn array<'a, T>(from: *const T, count: u64, what: &str) -> Result<&'a [T], String> {
    let fits =
        |count: &usize| count.checked_mul(size_of::<T>()).is_some_and(|bytes| isize::try_from(bytes).is_ok());
    let Some(count) = usize::try_from(count).ok().filter(fits) else {
        return Err(format!("{what} has {count} entries, more than any memory holds"));
    };
    if count == 0 {
        return Ok(&[]);
    }
    if from.is_null() {
        return Err(format!("{what} is null, but has {count} entries"));
    }
    if !from.is_aligned() {
        return Err(format!("{what} is not aligned"));
    }
    // SAFETY: not null, aligned, and of a size within `isize`; the rest is the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(from, count) })
}

/// # Safety
/// As for [`text`].
unsafe fn required(from: *const c_char, what: &str) -> Result<String, String> {
    // SAFETY: the caller's promise.
    unsafe { text(from, what) }?.ok_or_else(|| format!("{what} is null"))
}

/// A text of a library's, if there is one.
///
/// # Safety
/// If the pointer is not null, it points to bytes that end with a zero, which nothing writes to meanwhile.
unsafe fn text(from: *const c_char, what: &str) -> Result<Option<String>, String> {
    if from.is_null() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    loop {
        // SAFETY: no byte before this one was zero, so that this one is still of the text.
        let byte = unsafe { *from.cast::<u8>().add(bytes.len()) };
        if byte == 0 {
            break;
        }
        if bytes.len() == MAX_TEXT {
            return Err(format!("{what} has more than {MAX_TEXT} bytes"));
        }
        bytes.push(byte);
    }
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}
