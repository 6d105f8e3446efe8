"""TFLite Micro, the interpreter for microcontrollers, on the CPU: its own GATHER_ND and GATHER, each call a model of one node
with the shapes of the call, also of the output, which it does not work out itself. A constant operand is in a buffer of the
model. GATHER_ND has no batch_dims."""

import math
from functools import lru_cache
from importlib.metadata import version

from tflite_micro.python.tflite_micro.runtime import Interpreter
from tflite_micro.tensorflow.lite.micro.compression import model_editor
from tflite_micro.tensorflow.lite.micro.python import schema_py_generated as schema

from gatherspec import CONSTANT, Operator, Unsupported, numpy_load, numpy_store, serve

TYPES = {f"{kind}{bits}": f"{word}{bits}" for kind, word in [("i", "INT"), ("f", "FLOAT")] for bits in (8, 16, 32, 64)}
TYPES |= {"bool": "BOOL", "u8": "UINT8", "u16": "UINT16", "u32": "UINT32", "u64": "UINT64", "c64": "COMPLEX64"}
# What its kernels take.
DTYPES, INDEX_DTYPES = ["i8", "f32"], ["i32"]
# Bytes of the memory in which it places the tensors of a model: as much as those need, and room for its notes on them.
NOTES, MOST = 1 << 16, 1 << 30


def load(tensor):
    """The type, the dims, the data of a constant, and the array."""
    if tensor.dtype not in TYPES:
        raise Unsupported(f"TFLite Micro has no {tensor.dtype}")
    data = bytes(tensor.data) if tensor.constant else None
    return getattr(schema.TensorType, TYPES[tensor.dtype]), tensor.shape, data, numpy_load(tensor)


def store(output):
    return numpy_store(output[3] if isinstance(output, tuple) else output)


@lru_cache(maxsize=16)
def model(name, operands, shape, options):
    """A model of one node, whose operands are given by type, dims and the data of a constant, in bytes."""
    tensors = [model_editor.Tensor(shape=dims, dtype=kind, data=data) for kind, dims, data in operands]
    given = [tensor for tensor in tensors if tensor.buffer is None]
    output = model_editor.Tensor(shape=shape, dtype=operands[0][0])
    node = model_editor.Operator(opcode=getattr(schema.BuiltinOperator, name), inputs=tensors, outputs=[output])
    if name == "GATHER":
        node._fb.builtinOptionsType, node._fb.builtinOptions = schema.BuiltinOptions.GatherOptions, schema.GatherOptionsT()
        node._fb.builtinOptions.axis, node._fb.builtinOptions.batchDims = options
    graph = model_editor.Subgraph(tensors=[*tensors, output], operators=[node], inputs=given, outputs=[output])
    return bytes(model_editor.Model(subgraphs=[graph]).build())


def run(name, params, indices, shape, *options):
    made = model(name, (params[:3], indices[:3]), tuple(shape), options)
    arena = NOTES + 16 * sum(map(math.prod, (params[1], indices[1], shape)))
    interpreter = Interpreter.from_bytes(made, arena_size=min(arena, MOST))
    for at, operand in enumerate(operand for operand in (params, indices) if operand[2] is None):
        interpreter.set_input(operand[3], at)
    interpreter.invoke()
    return interpreter.get_output(0)


def gather_nd(params, indices, batch_dims=0):
    if batch_dims:
        raise Unsupported("GATHER_ND has no batch_dims")
    depth = indices[1][-1] if indices[1] else 0
    return run("GATHER_ND", params, indices, indices[1][:-1] + params[1][depth:])


def gather(params, indices, axis=None, batch_dims=0, validate_indices=None):
    batch = batch_dims + len(indices[1]) if batch_dims < 0 else batch_dims
    axis = batch if axis is None else axis
    shape = params[1][:axis] + indices[1][batch:] + params[1][axis:][1:]
    return run("GATHER", params, indices, shape, axis, batch_dims)


declared = {"dtypes": DTYPES, "index_dtypes": INDEX_DTYPES, "variants": [CONSTANT]}
operators = {
    "tf.gather_nd": Operator(gather_nd, attributes=["batch_dims"], **declared),
    "tf.raw_ops.GatherNd": Operator(gather_nd, **declared),
    "tf.gather": Operator(gather, attributes=["axis", "batch_dims", "validate_indices"], **declared),
    "paddle.gather_nd": Operator(gather_nd, **declared),
}
serve(name="tflite-micro", version=version("tflite-micro"), load=load, store=store, operators=operators)
