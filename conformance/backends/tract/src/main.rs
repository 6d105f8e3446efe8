//! tract as a backend of GatherSpec: a model of one node goes through its loader of ONNX, is optimized and run. Nothing is
//! checked that tract itself does not check: some of what it refuses, it refuses by a panic, which is a crash.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use gather_conformance::backend::{Capability, Description, Identity};
use gather_conformance::{Backend, Variants};
use gather_spec::call::{SHAPES, Way};
use gather_spec::{Attribute, Call, DType, NegativeIndex, Outcome, Profile, Shape, Tensor};
use tract_onnx::pb::attribute_proto::AttributeType;
use tract_onnx::pb::tensor_proto::DataType;
use tract_onnx::pb::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto, TensorShapeProto,
    TypeProto, ValueInfoProto, tensor_shape_proto, type_proto,
};
use tract_onnx::prelude::{
    Datum, Framework, InferenceModelExt, IntoRunnable, TValue, Tensor as TractTensor, TractResult, f16,
};

const DTYPES: [(DType, DataType); 12] = [
    (DType::Bool, DataType::Bool),
    (DType::I8, DataType::Int8),
    (DType::U8, DataType::Uint8),
    (DType::I16, DataType::Int16),
    (DType::U16, DataType::Uint16),
    (DType::I32, DataType::Int32),
    (DType::U32, DataType::Uint32),
    (DType::I64, DataType::Int64),
    (DType::U64, DataType::Uint64),
    (DType::F16, DataType::Float16),
    (DType::F32, DataType::Float),
    (DType::F64, DataType::Double),
];

/// A constant is an initializer of the model. Symbolic dims are names in place of numbers.
const VARIANTS: [&str; 3] = ["data=constant", "indices=constant", "shapes=symbolic"];

/// Operators, with their names in ONNX, the versions of the operator set, and the dtypes of indices.
const OPERATORS: [(&str, &str, i64, &[DType]); 5] = [
    ("onnx.Gather-1", "Gather", 10, &[DType::I32, DType::I64]),
    ("onnx.Gather-13", "Gather", 13, &[DType::I32, DType::I64]),
    ("onnx.GatherND-11", "GatherND", 11, &[DType::I64]),
    ("onnx.GatherND-13", "GatherND", 13, &[DType::I64]),
    ("onnx.GatherElements-13", "GatherElements", 13, &[DType::I32, DType::I64]),
];

fn main() -> ExitCode {
    gatherspec::standalone(|| Tract, concat!(env!("CARGO_MANIFEST_DIR"), "/deviations.yaml"))
}

struct Tract;

impl Backend for Tract {
    fn describe(&self) -> Description {
        let capability = |index_dtypes: &[DType]| Capability {
            profile: Profile { negative: NegativeIndex::Wrap, ..Profile::default() },
            dtypes: DTYPES.map(|(dtype, _)| dtype).to_vec(),
            index_dtypes: index_dtypes.to_vec(),
            variants: Variants::new(VARIANTS).expect("these are values of variants"),
            ..Capability::default()
        };
        let operators = OPERATORS.map(|(name, _, _, indices)| (name.to_owned(), capability(indices)));
        Description {
            backend: Identity {
                name: "tract".to_owned(),
                version: "0.23.9".to_owned(),
                language: "Rust".to_owned(),
            },
            operators: operators.into(),
        }
    }

    fn call(&mut self, call: &Call) -> Outcome {
        let Some([params, indices]) = call.operands.in_order() else {
            return Outcome::Unsupported("two operands are expected".to_owned());
        };
        let known = OPERATORS.iter().find(|(name, ..)| *name == call.operator.as_str());
        let Some(&(_, node, version, _)) = known else {
            return Outcome::Unsupported("an operator that is not declared".to_owned());
        };
        let operands = [("data", params), ("indices", indices)];
        let mut graph = GraphProto { name: "one-node".to_owned(), ..GraphProto::default() };
        let mut values = Vec::new();
        for (name, tensor) in operands {
            let Some((_, dtype)) = DTYPES.into_iter().find(|(dtype, _)| *dtype == tensor.dtype()) else {
                return Outcome::Unsupported("a dtype that is not declared".to_owned());
            };
            if call.variant.of(name) == Some(Way::Constant) {
                graph.initializer.extend(initializer(name, tensor, dtype));
                continue;
            }
            let named = match call.variant.of(SHAPES) {
                // How many components a row of indices has decides the rank of the output, which must be known.
                Some(Way::Symbolic) if (node, name) == ("GatherND", "indices") => {
                    tensor.rank().saturating_sub(1)
                }
                Some(Way::Symbolic) => tensor.rank(),
                _ => 0,
            };
            graph.input.push(value(name, Some(input(name, tensor.shape(), dtype, named))));
            values.extend(load(tensor));
        }
        graph.node = vec![self::node(node, call.attributes.iter().filter_map(attribute).collect())];
        let output = run(&model(graph, version), values).and_then(|output| store(params.dtype(), &output));
        output.unwrap_or_else(|error| Outcome::refused(format!("{error:#}")))
    }
}

fn run(model: &ModelProto, values: Vec<TractResult<TractTensor>>) -> TractResult<TValue> {
    let plan = tract_onnx::onnx().model_for_proto_model(model)?.into_optimized()?.into_runnable()?;
    let values = values.into_iter().map(|value| value.map(Into::into)).collect::<TractResult<_>>()?;
    let outputs = plan.run(values)?;
    Ok(outputs.into_iter().next().expect("the model has one output"))
}

/// A model of one node whose output is of any type.
fn model(graph: GraphProto, version: i64) -> ModelProto {
    ModelProto {
        ir_version: 8,
        opset_import: vec![OperatorSetIdProto { domain: String::new(), version }],
        graph: Some(GraphProto { output: vec![value("output", None)], ..graph }),
        ..ModelProto::default()
    }
}

fn node(op_type: &str, attribute: Vec<AttributeProto>) -> NodeProto {
    NodeProto {
        op_type: op_type.to_owned(),
        name: "gather".to_owned(),
        input: vec!["data".to_owned(), "indices".to_owned()],
        output: vec!["output".to_owned()],
        attribute,
        ..NodeProto::default()
    }
}

fn value(name: &str, tensor: Option<type_proto::Tensor>) -> ValueInfoProto {
    let of_tensor =
        |tensor| TypeProto { value: Some(type_proto::Value::TensorType(tensor)), ..TypeProto::default() };
    ValueInfoProto { name: name.to_owned(), r#type: tensor.map(of_tensor), ..ValueInfoProto::default() }
}

/// The type of an input, of whose dims the first `named` are names in place of numbers.
fn input(name: &str, shape: &Shape, dtype: DataType, named: usize) -> type_proto::Tensor {
    use tensor_shape_proto::dimension::Value;
    let dim = |(axis, dim): (usize, &usize)| tensor_shape_proto::Dimension {
        value: Some(if axis < named {
            Value::DimParam(format!("{name}_{axis}"))
        } else {
            Value::DimValue(dim.cast_signed() as i64)
        }),
        ..tensor_shape_proto::Dimension::default()
    };
    let shape = TensorShapeProto { dim: shape.iter().enumerate().map(dim).collect() };
    type_proto::Tensor { elem_type: dtype as i32, shape: Some(shape) }
}

fn initializer(name: &str, tensor: &Tensor, dtype: DataType) -> Option<TensorProto> {
    Some(TensorProto {
        name: name.to_owned(),
        dims: tensor.shape().iter().map(|dim| dim.cast_signed() as i64).collect(),
        data_type: dtype as i32,
        raw_data: tensor.to_le_bytes()?,
        ..TensorProto::default()
    })
}

fn attribute((name, value): (&String, &Attribute)) -> Option<AttributeProto> {
    let Attribute::Integer(value) = value else { return None };
    Some(AttributeProto {
        name: name.clone(),
        r#type: AttributeType::Int as i32,
        i: *value,
        ..AttributeProto::default()
    })
}

/// Calls `$body` with `$ty` as the type of the elements of a dtype, bools aside; `None` for one that is not declared.
macro_rules! each {
    ($dtype:expr, $ty:ident => $body:expr) => {
        match $dtype {
            DType::I8 => each!(@ i8, $ty => $body),
            DType::U8 => each!(@ u8, $ty => $body),
            DType::I16 => each!(@ i16, $ty => $body),
            DType::U16 => each!(@ u16, $ty => $body),
            DType::I32 => each!(@ i32, $ty => $body),
            DType::U32 => each!(@ u32, $ty => $body),
            DType::I64 => each!(@ i64, $ty => $body),
            DType::U64 => each!(@ u64, $ty => $body),
            DType::F16 => each!(@ f16, $ty => $body),
            DType::F32 => each!(@ f32, $ty => $body),
            DType::F64 => each!(@ f64, $ty => $body),
            _ => None,
        }
    };
    (@ $of:ty, $ty:ident => $body:expr) => {{
        type $ty = $of;
        Some($body)
    }};
}

fn load(tensor: &Tensor) -> Option<TractResult<TractTensor>> {
    let (shape, bytes) = (&**tensor.shape(), tensor.to_le_bytes()?);
    if tensor.dtype() == DType::Bool {
        let elements: Vec<bool> = bytes.iter().map(|byte| *byte != 0).collect();
        return Some(TractTensor::from_shape(shape, &elements));
    }
    each!(tensor.dtype(), T => {
        let chunks = bytes.chunks_exact(size_of::<T>());
        let elements: Vec<T> =
            chunks.map(|chunk| T::from_le_bytes(chunk.try_into().expect("chunks are of that size"))).collect();
        TractTensor::from_shape(shape, &elements)
    })
}

fn store(dtype: DType, output: &TractTensor) -> TractResult<Outcome> {
    fn elements<T: Datum>(output: &TractTensor) -> TractResult<Vec<T>> {
        Ok(output.to_plain_array_view::<T>()?.iter().cloned().collect())
    }
    let bytes = if dtype == DType::Bool {
        elements::<bool>(output)?.into_iter().map(u8::from).collect()
    } else {
        let bytes = each!(dtype, T => elements::<T>(output)?.into_iter().flat_map(T::to_le_bytes).collect::<Vec<u8>>());
        bytes.unwrap_or_default()
    };
    if let Some(too_large) = Outcome::too_large(dtype, output.shape()) {
        return Ok(too_large);
    }
    let shape = Shape::new(output.shape())?;
    Ok(Tensor::from_le_bytes(dtype, shape, &bytes)
        .map_or_else(|error| Outcome::Unsupported(error.to_string()), Outcome::Output))
}
