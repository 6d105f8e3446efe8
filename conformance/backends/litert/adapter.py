"""LiteRT, once TensorFlow Lite, on the CPU: its own GATHER_ND and GATHER, each call a model of one node with the shapes
of the call. GATHER_ND has no batch_dims."""

from functools import lru_cache

import flatbuffers
import ml_dtypes
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter

import ai_edge_litert
from gatherspec_kit import Operator, Tensor, Unsupported, numpy_load, numpy_store, serve

TYPES = {
    "bool": "BOOL", "i8": "INT8", "u8": "UINT8", "i16": "INT16", "u16": "UINT16", "i32": "INT32", "u32": "UINT32",
    "i64": "INT64", "u64": "UINT64", "f16": "FLOAT16", "bf16": "BFLOAT16", "f32": "FLOAT32", "f64": "FLOAT64",
    "c64": "COMPLEX64", "c128": "COMPLEX128", "string": "STRING",
}
# What its kernels take; the rest is left to them to refuse.
DTYPES = ["bool", "i8", "u8", "i16", "i32", "i64", "f16", "bf16", "f32", "string"]
# The newest version of each that this release has.
VERSIONS = {"GATHER_ND": 6, "GATHER": 8}


def load(tensor):
    """The type and the array."""
    kind = getattr(schema.TensorType, TYPES[tensor.dtype])
    if tensor.dtype == "bf16":
        return kind, numpy_load(Tensor("u16", tensor.shape, tensor.data)).view(ml_dtypes.bfloat16)
    return kind, numpy_load(tensor)


def store(output):
    output = output[1] if isinstance(output, tuple) else output  # an operand
    if output.dtype == ml_dtypes.bfloat16:
        return Tensor("bf16", output.shape, output.tobytes())
    return numpy_store(output)


def tensor(kind, shape):
    made = schema.TensorT()
    made.type, made.shape, made.hasRank = kind, list(shape), True
    return made


@lru_cache(maxsize=16)
def interpreter(name, params, indices, options):
    """A model of one node, whose operands are given by type and shape, ready to run."""
    code, node, graph, model = schema.OperatorCodeT(), schema.OperatorT(), schema.SubGraphT(), schema.ModelT()
    code.builtinCode = code.deprecatedBuiltinCode = getattr(schema.BuiltinOperator, name)
    code.version = VERSIONS[name]
    if name == "GATHER":
        node.builtinOptionsType, node.builtinOptions = schema.BuiltinOptions.GatherOptions, schema.GatherOptionsT()
        node.builtinOptions.axis, node.builtinOptions.batchDims = options
    node.inputs, node.outputs = [0, 1], [2]
    graph.tensors = [tensor(*params), tensor(*indices), tensor(params[0], ())]
    graph.inputs, graph.outputs, graph.operators = [0, 1], [2], [node]
    model.version, model.operatorCodes, model.subgraphs, model.buffers = 3, [code], [graph], [schema.BufferT()]
    builder = flatbuffers.Builder()
    builder.Finish(model.Pack(builder), b"TFL3")
    made = Interpreter(model_content=bytes(builder.Output()))
    made.allocate_tensors()
    return made


def run(name, params, indices, *options):
    made = interpreter(name, *[(kind, array.shape) for kind, array in (params, indices)], options)
    made.set_tensor(0, params[1])
    made.set_tensor(1, indices[1])
    made.invoke()
    return made.get_tensor(2)


def gather_nd(params, indices, batch_dims=0):
    if batch_dims:
        raise Unsupported("GATHER_ND has no batch_dims")
    return run("GATHER_ND", params, indices)


def gather(params, indices, axis=None, batch_dims=0, validate_indices=None):
    if axis is None:
        axis = batch_dims + indices[1].ndim if batch_dims < 0 else batch_dims
    return run("GATHER", params, indices, axis, batch_dims)


operators = {
    "tf.gather_nd": Operator(gather_nd, DTYPES, ["i32", "i64"], ["batch_dims"]),
    "tf.raw_ops.GatherNd": Operator(gather_nd, DTYPES, ["i16", "i32", "i64"]),
    "tf.gather": Operator(gather, DTYPES, ["i32", "i64"], ["axis", "batch_dims", "validate_indices"]),
    "paddle.gather_nd": Operator(gather_nd, DTYPES, ["i32", "i64"]),
}
serve(name="litert", version=ai_edge_litert.__version__, load=load, store=store, operators=operators)
