//! The messages of `onnx.proto` with the fields that are written here.

use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub(super) struct ModelProto {
    #[prost(int64, required, tag = "1")]
    pub(super) ir_version: i64,
    #[prost(string, required, tag = "2")]
    pub(super) producer_name: String,
    #[prost(string, required, tag = "3")]
    pub(super) producer_version: String,
    #[prost(message, optional, tag = "7")]
    pub(super) graph: Option<GraphProto>,
    #[prost(message, repeated, tag = "8")]
    pub(super) opset_import: Vec<OperatorSetIdProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct OperatorSetIdProto {
    #[prost(string, optional, tag = "1")]
    pub(super) domain: Option<String>,
    #[prost(int64, required, tag = "2")]
    pub(super) version: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct GraphProto {
    #[prost(message, repeated, tag = "1")]
    pub(super) node: Vec<NodeProto>,
    #[prost(string, required, tag = "2")]
    pub(super) name: String,
    #[prost(message, repeated, tag = "5")]
    pub(super) initializer: Vec<TensorProto>,
    #[prost(message, repeated, tag = "11")]
    pub(super) input: Vec<ValueInfoProto>,
    #[prost(message, repeated, tag = "12")]
    pub(super) output: Vec<ValueInfoProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct NodeProto {
    #[prost(string, repeated, tag = "1")]
    pub(super) input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub(super) output: Vec<String>,
    #[prost(string, required, tag = "4")]
    pub(super) op_type: String,
    #[prost(message, repeated, tag = "5")]
    pub(super) attribute: Vec<AttributeProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct AttributeProto {
    #[prost(string, required, tag = "1")]
    pub(super) name: String,
    #[prost(int64, required, tag = "3")]
    pub(super) i: i64,
    #[prost(int32, required, tag = "20")]
    pub(super) r#type: i32,
}

impl AttributeProto {
    pub(super) fn integer(name: &str, value: i64) -> Self {
        const INT: i32 = 2;
        Self { name: name.to_owned(), i: value, r#type: INT }
    }
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TensorProto {
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub(super) dims: Vec<i64>,
    #[prost(int32, required, tag = "2")]
    pub(super) data_type: i32,
    #[prost(bytes = "vec", repeated, tag = "6")]
    pub(super) string_data: Vec<Vec<u8>>,
    #[prost(string, required, tag = "8")]
    pub(super) name: String,
    #[prost(bytes = "vec", optional, tag = "9")]
    pub(super) raw_data: Option<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ValueInfoProto {
    #[prost(string, required, tag = "1")]
    pub(super) name: String,
    #[prost(message, optional, tag = "2")]
    pub(super) r#type: Option<TypeProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TypeProto {
    #[prost(message, optional, tag = "1")]
    pub(super) tensor_type: Option<TensorType>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TensorType {
    #[prost(int32, required, tag = "1")]
    pub(super) elem_type: i32,
    #[prost(message, optional, tag = "2")]
    pub(super) shape: Option<TensorShapeProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TensorShapeProto {
    #[prost(message, repeated, tag = "1")]
    pub(super) dim: Vec<Dimension>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Dimension {
    #[prost(int64, required, tag = "1")]
    pub(super) dim_value: i64,
}

impl ValueInfoProto {
    /// The type and the shape of a tensor.
    pub(super) fn of(tensor: &TensorProto) -> Self {
        let dim = tensor.dims.iter().map(|dim| Dimension { dim_value: *dim }).collect();
        Self::new(&tensor.name, tensor.data_type, Some(TensorShapeProto { dim }))
    }

    /// The type of a tensor whose shape is not said.
    pub(super) fn without_shape(name: &str, data_type: i32) -> Self {
        Self::new(name, data_type, None)
    }

    fn new(name: &str, elem_type: i32, shape: Option<TensorShapeProto>) -> Self {
        let tensor_type = Some(TensorType { elem_type, shape });
        Self { name: name.to_owned(), r#type: Some(TypeProto { tensor_type }) }
    }
}
