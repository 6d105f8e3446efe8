//! The call of a run in the words of a library: a script that needs nothing but the library. Each adapter that can say a call so
//! has a template `call.txt` in its folder.

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gather_spec::call::{SHAPES, Way};
use gather_spec::literal::Shown;
use gather_spec::{Attribute, Call, DType, Tensor};

use super::{javascript, numpy};
use crate::export::{are_plain, data_type, dense, onnx_model};

/// What a template says of an operand.
struct OperandWords {
    /// Its name on the operator's page.
    name: String,
    /// The name of its dtype here.
    dtype: &'static str,
    /// Its elements as an array of NumPy, those of bf16 as their bits.
    array: String,
    /// The scalar type of that array.
    numpy: &'static str,
    /// Its shape as a tuple.
    shape: String,
    /// Its elements and its type in MLIR; empty if they are many, or not plain numbers.
    mlir: String,
    /// The name of its type in ONNX.
    onnx: &'static str,
    /// Its elements as a typed array of JavaScript; empty if there is none.
    javascript: String,
    /// The class of that array.
    class: &'static str,
    /// Its dims, with commas.
    dims: String,
    /// The name of its type in WebNN.
    webnn: String,
    /// The name of its type in ONNX Runtime Web.
    onnxruntime_web: String,
    /// Whether it is a constant of what is compiled.
    constant: bool,
    /// Whether its elements lie column by column.
    transposed: bool,
}

impl OperandWords {
    /// The elements as a list of Python; those of an array that follows a rule, by that rule.
    fn list(&self) -> String {
        let listed = self.array.strip_prefix("np.array(").and_then(|rest| rest.rsplit_once(", np."));
        listed.map_or_else(|| format!("{}.tolist()", self.array), |(list, _)| list.to_owned())
    }

    /// A tensor of OpenVINO.
    fn openvino(&self) -> String {
        match self.dtype {
            "bf16" => format!("ov.Tensor({0}, {0}.shape, ov.Type.bf16)", self.name),
            _ => format!("ov.Tensor({})", self.name),
        }
    }

    /// The type of the same name in PyTorch.
    fn torch(&self) -> String {
        self.numpy.replace("np.", "torch.")
    }
}

/// What a template says of a call.
struct Words<'w> {
    /// The operator, such as `jax.numpy.take`.
    operator: &'w str,
    operands: Vec<OperandWords>,
    /// The names and values of attributes in Python, by name.
    attributes: Vec<(&'w str, String)>,
    /// The dimension numbers in MLIR.
    mlir_numbers: String,
    /// Whether the function is compiled before it runs.
    compiled: bool,
    /// Whether it is compiled for dims that it does not know.
    symbolic: bool,
    /// The unsigned integers to print a result as, bit by bit, if its numbers would not tell.
    bits: Option<&'static str>,
    /// Lines that run before the call.
    before: &'w str,
    /// The model of ONNX in base64; empty for a call of another operator.
    model: String,
}

impl Words<'_> {
    /// The names of all operands.
    fn names(&self) -> String {
        let names: Vec<&str> = self.operands.iter().map(|operand| operand.name.as_str()).collect();
        names.join(", ")
    }

    /// The operands that are no constants, with their positions.
    fn inputs(&self) -> impl Iterator<Item = (usize, &OperandWords)> {
        let is_input = |(_, operand): &(usize, &OperandWords)| !operand.constant && operand.name != "axis";
        self.operands.iter().enumerate().filter(is_input)
    }

    /// Their names.
    fn input_names(&self) -> String {
        let names: Vec<&str> = self.inputs().map(|(_, operand)| operand.name.as_str()).collect();
        names.join(", ")
    }

    /// The operands that are constants.
    fn constants(&self) -> Vec<&OperandWords> {
        self.operands.iter().filter(|operand| operand.constant).collect()
    }

    /// The values of the operands that are no constants, by name.
    fn values(&self) -> String {
        let inputs = self.inputs().map(|(_, operand)| format!("{0:?}: {0}", operand.name));
        inputs.collect::<Vec<_>>().join(", ")
    }

    /// The attributes behind the operands of a call: `, axis=0`.
    fn keywords(&self) -> String {
        self.attributes.iter().map(|(name, value)| format!(", {name}={value}")).collect()
    }

    /// The dimension numbers among the attributes, as arguments.
    fn numbers(&self) -> String {
        let numbers = self.attributes.iter().filter(|(name, _)| is_number(name));
        numbers.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
    }

    /// The attributes that are no dimension numbers, behind the operands of a call.
    fn other_keywords(&self) -> String {
        let others = self.attributes.iter().filter(|(name, _)| !is_number(name));
        others.map(|(name, value)| format!(", {name}={value}")).collect()
    }

    /// The last part of the operator's name, without a version.
    fn function(&self) -> &str {
        let last = self.operator.rsplit('.').next().unwrap_or_default();
        last.split('-').next().unwrap_or_default()
    }

    /// The attributes as a last argument of JavaScript.
    fn options(&self) -> String {
        let named: Vec<String> =
            self.attributes.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        if named.is_empty() { String::new() } else { format!(", {{ {} }}", named.join(", ")) }
    }

    /// The operator set of ONNX.
    fn opset(&self) -> &str {
        match self.operator.rsplit('-').next() {
            Some(version @ ("1" | "11")) => version,
            _ => "23",
        }
    }
}

/// Whether an attribute is one of the dimension numbers of a gather of windows.
fn is_number(name: &str) -> bool {
    ["_dims", "_map", "_dim"].iter().any(|ending| name.ends_with(ending)) && name != "batch_dims"
}

/// Renders the template of an adapter, and says which ways of calling besides the usual one it has.
macro_rules! templates {
    ($name:ident, $words:ident: $($adapter:literal $path:literal $ways:expr),+ $(,)?) => {
        match $name {
            $($adapter => {
                #[derive(Template)]
                #[template(path = $path, escape = "none")]
                struct Script<'w> {
                    words: &'w Words<'w>,
                }
                let ways: &[Way] = &$ways;
                Some((ways, |words: &Words<'_>| Script { words }.render().expect("plain data")))
            })+
            _ => None,
        }
    };
}

/// The most elements to write in MLIR.
const LARGEST: usize = 200;

/// The language of the scripts of an adapter, as a fence of Markdown names it.
pub(super) fn language(adapter: &str) -> &'static str {
    if matches!(adapter, "onnxruntime-web" | "webnn") { "js" } else { "python" }
}

type Rendered = fn(&Words<'_>) -> String;

/// The template of an adapter.
fn template(adapter: &str) -> Option<(&'static [Way], Rendered)> {
    templates! { adapter, words:
        "executorch" "executorch/call.txt" [],
        "jax" "jax/call.txt" [Way::Compiled],
        "numpy" "numpy/call.txt" [],
        "onnx-reference" "onnx-reference/call.txt" [],
        "onnxruntime" "onnxruntime/call.txt" [Way::Constant],
        "onnxruntime-web" "onnxruntime-web/call.txt" [Way::Constant],
        "openvino" "openvino/call.txt" [Way::Constant, Way::Symbolic],
        "paddle" "paddle/call.txt" [],
        "pytorch" "pytorch/call.txt" [Way::Compiled, Way::Constant, Way::Symbolic, Way::Transposed],
        "stablehlo" "stablehlo/call.txt" [],
        "tensorflow" "tensorflow/call.txt" [Way::Compiled],
        "tensorflow-xla" "tensorflow-xla/call.txt" [],
        "tflite-micro" "tflite-micro/call.txt" [],
        "tvm" "tvm/call.txt" [Way::Constant],
        "webnn" "webnn/call.txt" [Way::Constant],
    }
}

/// The script that makes a call; `None` if the adapter has no template, or the template no words for the call.
#[must_use]
pub fn script(adapter: &str, call: &Call, before: &str) -> Option<String> {
    let (ways, render) = template(adapter)?;
    if !call.variant.iter().all(|(_, way)| ways.contains(&way)) {
        return None;
    }
    let operands: Option<Vec<OperandWords>> =
        call.operands.iter().map(|(name, tensor)| operand(adapter, call, name, tensor)).collect();
    let attribute = |(name, value): (&'_ String, &Attribute)| Some((name.clone(), numpy::attribute(value)?));
    let attributes: Vec<(String, String)> = call.attributes.iter().map(attribute).collect::<Option<_>>()?;
    let words = Words {
        operator: call.operator.as_str(),
        operands: operands.filter(|all| all.iter().all(|one| has_words(adapter, one)))?,
        attributes: attributes.iter().map(|(name, value)| (name.as_str(), value.clone())).collect(),
        mlir_numbers: mlir_numbers(call),
        compiled: call.variant.iter().any(|(_, way)| !way.is_layout()),
        symbolic: call.variant.of(SHAPES).is_some(),
        bits: bits(call),
        before,
        model: match adapter {
            "onnxruntime-web" => STANDARD.encode(onnx_model(call)),
            _ => String::new(),
        },
    };
    Some(render(&words).trim_end().to_owned() + "\n")
}

fn operand(adapter: &str, call: &Call, name: &str, tensor: &Tensor) -> Option<OperandWords> {
    let dims: Vec<String> = tensor.shape().iter().map(ToString::to_string).collect();
    // On the CPU, Chromium builds gatherElements with no other indices.
    let always =
        adapter == "webnn" && name == "indices" && call.operator.as_str().ends_with(".gatherElements");
    let data_type = data_type(tensor.dtype());
    Some(OperandWords {
        name: name.to_owned(),
        dtype: tensor.dtype().name(),
        array: numpy::array(tensor)?,
        numpy: numpy::dtype(tensor.dtype()),
        shape: numpy::tuple(tensor.shape()),
        mlir: mlir(tensor),
        onnx: onnx(tensor.dtype()),
        javascript: javascript::array(tensor).unwrap_or_default(),
        class: javascript::class(tensor.dtype()).unwrap_or_default(),
        dims: dims.join(", "),
        onnxruntime_web: match tensor.dtype() {
            DType::Bool | DType::String => tensor.dtype().to_string(),
            _ => data_type.clone(),
        },
        webnn: data_type,
        constant: always || call.variant.of(name) == Some(Way::Constant),
        transposed: call.variant.of(name) == Some(Way::Transposed),
    })
}

/// A tensor in MLIR; empty if its elements are many, or are none of MLIR.
fn mlir(tensor: &Tensor) -> String {
    let is_short = tensor.shape().element_count() <= LARGEST && tensor.dtype() != DType::String;
    if is_short && are_plain(tensor) { dense(tensor) } else { String::new() }
}

/// Whether the template of an adapter has words for an operand.
fn has_words(adapter: &str, operand: &OperandWords) -> bool {
    match adapter {
        "stablehlo" => !operand.mlir.is_empty(),
        "onnxruntime-web" | "webnn" => !operand.javascript.is_empty(),
        "jax" | "openvino" | "pytorch" | "tensorflow" | "tensorflow-xla" => true,
        // NumPy has no bf16.
        _ => operand.dtype != "bf16",
    }
}

/// The dimension numbers as MLIR writes them.
fn mlir_numbers(call: &Call) -> String {
    let numbers = call.attributes.iter().filter(|(name, _)| is_number(name));
    numbers.map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

/// The name of a type in ONNX.
const fn onnx(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "BOOL",
        DType::I8 => "INT8",
        DType::U8 => "UINT8",
        DType::I16 => "INT16",
        DType::U16 => "UINT16",
        DType::I32 => "INT32",
        DType::U32 => "UINT32",
        DType::I64 => "INT64",
        DType::U64 => "UINT64",
        DType::F16 => "FLOAT16",
        DType::BF16 => "BFLOAT16",
        DType::F32 => "FLOAT",
        DType::F64 => "DOUBLE",
        DType::C64 => "COMPLEX64",
        DType::C128 => "COMPLEX128",
        DType::String => "STRING",
    }
}

/// The integers that hold the elements of a result, if the first operand or an attribute has a NaN or a negative zero.
fn bits(call: &Call) -> Option<&'static str> {
    let params = call.operands.tensors().next()?;
    let integers = match params.dtype() {
        DType::F16 | DType::BF16 => "np.uint16",
        DType::F32 => "np.uint32",
        DType::F64 => "np.uint64",
        _ => return None,
    };
    let is_lost = |tensor: &Tensor| {
        let mut shown = tensor.iter().map(|one| Shown(tensor.dtype(), &one).to_string());
        shown.any(|one| one.contains("nan") || one == "-0" || one == "-0.0")
    };
    let element = |value: &Attribute| matches!(value, Attribute::Element(element) if is_lost(element));
    (is_lost(params) || call.attributes.values().any(element)).then_some(integers)
}
