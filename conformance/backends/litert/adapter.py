"""LiteRT, once TensorFlow Lite, on the CPU: its own GATHER_ND and GATHER, each call a model of one node with the shapes
of the call. A constant operand is in a buffer of the model. GATHER_ND has no batch_dims."""

import itertools
import struct
from functools import lru_cache

import ai_edge_litert
import flatbuffers
import ml_dtypes
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter

from gatherspec import CONSTANT, Operator, Unsupported, numpy_load, numpy_store, serve

TYPES = {"bool": "BOOL", "bf16": "BFLOAT16", "c64": "COMPLEX64", "c128": "COMPLEX128", "string": "STRING"}
TYPES |= {f"{kind}{bits}": f"{word}{bits}" for kind, word in [("i", "INT"), ("u", "UINT"), ("f", "FLOAT")] for bits in (8, 16, 32, 64)}
# What its kernels take; the rest is left to them to refuse.
DTYPES = ["bool", "i8", "u8", "i16", "i32", "i64", "f16", "bf16", "f32", "string"]
# The newest version of each that this release has.
VERSIONS = {"GATHER_ND": 6, "GATHER": 8}


def load(tensor):
    """The type, the dims, the data of a constant, and the array."""
    kind = getattr(schema.TensorType, TYPES[tensor.dtype])
    data = (texts if tensor.dtype == "string" else bytes)(tensor.data) if tensor.constant else None
    return kind, tensor.shape, data, numpy_load(tensor, ml_dtypes.bfloat16)


def texts(data):
    """A buffer of strings: how many, where each begins and the last ends, and their bytes."""
    starts = itertools.accumulate(map(len, data), initial=4 * (len(data) + 2))
    return struct.pack(f"<{len(data) + 2}i", len(data), *starts) + b"".join(data)


def store(output):
    return numpy_store(output[3] if isinstance(output, tuple) else output)


def tensor(model, kind, shape, data=None):
    made, buffer = schema.TensorT(), schema.BufferT()
    made.type, made.shape, made.hasRank = kind, list(shape), True
    if data is not None:
        buffer.data, made.buffer = np.frombuffer(data, np.uint8), len(model.buffers)
        model.buffers.append(buffer)
    return made


@lru_cache(maxsize=16)
def interpreter(name, operands, options):
    """A model of one node, whose operands are given by type, dims and the data of a constant, ready to run."""
    code, node, graph, model = schema.OperatorCodeT(), schema.OperatorT(), schema.SubGraphT(), schema.ModelT()
    code.builtinCode = code.deprecatedBuiltinCode = getattr(schema.BuiltinOperator, name)
    code.version = VERSIONS[name]
    if name == "GATHER":
        node.builtinOptionsType, node.builtinOptions = schema.BuiltinOptions.GatherOptions, schema.GatherOptionsT()
        node.builtinOptions.axis, node.builtinOptions.batchDims = options
    node.inputs, node.outputs = [0, 1], [2]
    model.buffers = [schema.BufferT()]  # of all tensors without data
    graph.tensors = [tensor(model, *operand) for operand in operands] + [tensor(model, operands[0][0], ())]
    graph.inputs = [at for at, operand in enumerate(operands) if operand[2] is None]
    graph.outputs, graph.operators = [2], [node]
    model.version, model.operatorCodes, model.subgraphs = 3, [code], [graph]
    builder = flatbuffers.Builder()
    builder.Finish(model.Pack(builder), b"TFL3")
    made = Interpreter(model_content=bytes(builder.Output()))
    made.allocate_tensors()
    return made


def run(name, params, indices, *options):
    made = interpreter(name, (params[:3], indices[:3]), options)
    for at, (_, _, data, array) in enumerate((params, indices)):
        if data is None:
            made.set_tensor(at, array)
    made.invoke()
    return made.get_tensor(2)


def gather_nd(params, indices, batch_dims=0):
    if batch_dims:
        raise Unsupported("GATHER_ND has no batch_dims")
    return run("GATHER_ND", params, indices)


def gather(params, indices, axis=None, batch_dims=0, validate_indices=None):
    default = batch_dims + len(indices[1]) if batch_dims < 0 else batch_dims
    return run("GATHER", params, indices, default if axis is None else axis, batch_dims)


operators = {
    "tf.gather_nd": Operator(gather_nd, DTYPES, ["i32", "i64"], ["batch_dims"], variants=[CONSTANT]),
    "tf.raw_ops.GatherNd": Operator(gather_nd, DTYPES, ["i16", "i32", "i64"], variants=[CONSTANT]),
    "tf.gather": Operator(gather, DTYPES, ["i32", "i64"], ["axis", "batch_dims", "validate_indices"], variants=[CONSTANT]),
    "paddle.gather_nd": Operator(gather_nd, DTYPES, ["i32", "i64"], variants=[CONSTANT]),
}
serve(name="litert", version=ai_edge_litert.__version__, load=load, store=store, operators=operators)
