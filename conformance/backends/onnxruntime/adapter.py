"""ONNX Runtime on the CPU. Its own operators are asked as they are; tf.gather is asked in the way of the tf2onnx
converter: Gather, and with a batch a GatherND of depth 1, between Transposes that bring its axis behind the batch and
back. A call becomes a model with the shapes of the call."""

import ctypes
from functools import lru_cache

import onnxruntime as ort
from onnx import TensorProto, helper

from gatherspec_kit import Operator, Tensor, Unsupported, numpy_load, numpy_store, serve

WORDS = "BOOL INT8 UINT8 INT16 UINT16 INT32 UINT32 INT64 UINT64 FLOAT16 BFLOAT16 FLOAT DOUBLE STRING".split()
NAMES = "bool i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64 string".split()
TYPES = dict(zip(NAMES, WORDS))


def load(tensor):
    """The type, the shape and the value. Strings of ONNX are texts, so bytes that are no UTF-8 are refused."""
    if tensor.dtype not in TYPES:
        raise Unsupported(f"ONNX Runtime has no tensors of {tensor.dtype}")
    kind = TensorProto.DataType.Value(TYPES[tensor.dtype])
    if tensor.dtype == "string":
        tensor = Tensor("string", tensor.shape, [text.decode() for text in tensor.data])
    if tensor.dtype == "bf16":
        bits = numpy_load(Tensor("u16", tensor.shape, tensor.data))
        return kind, tensor.shape, ort.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, kind)
    return kind, tensor.shape, numpy_load(tensor)


def store(output):
    if isinstance(output, ort.OrtValue):
        return Tensor("bf16", output.shape(), ctypes.string_at(output.data_ptr(), output.tensor_size_in_bytes()))
    if output.dtype == object:
        return Tensor("string", output.shape, [text.encode() for text in output.ravel()])
    return numpy_store(output)


@lru_cache(maxsize=64)
def session(params, indices, *nodes):
    """A model of operands P and I, given by type and shape, and of nodes, the last of which gives O."""
    operands = [helper.make_tensor_value_info(*of) for of in [("P", *params), ("I", *indices)]]
    made = [helper.make_node(kind, inputs, [output], **dict(more)) for kind, inputs, output, *more in nodes]
    axes = helper.make_tensor("last", TensorProto.INT64, [1], [-1])
    result = helper.make_tensor_value_info("O", params[0], None)
    graph = helper.make_graph(made, "gather", operands, [result], [axes])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    # A session lives for one call: threads that wait for more work only take the processor from the next session.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def run(params, indices, *nodes):
    made, feed = session(params[:2], indices[:2], *nodes), {"P": params[2], "I": indices[2]}
    if isinstance(params[2], ort.OrtValue):  # NumPy has no bf16
        feed["I"] = ort.OrtValue.ortvalue_from_numpy(indices[2])
        return made.run_with_ort_values(None, feed)[0]
    return made.run(None, feed)[0]


def gather_nd(data, indices, **attributes):
    return run(data, indices, ("GatherND", ("P", "I"), "O", *attributes.items()))


def gather_elements(data, indices, **attributes):
    return run(data, indices, ("GatherElements", ("P", "I"), "O", *attributes.items()))


def gather(params, indices, axis=None, batch_dims=0, validate_indices=None):
    rank, depth = len(params[1]), len(indices[1])
    if batch_dims < 0:
        batch_dims += depth
    axis = batch_dims if axis is None else axis
    if batch_dims == 0:
        return run(params, indices, ("Gather", ("P", "I"), "O", ("axis", axis)))
    axis, middle, b = axis + rank if axis < 0 else axis, depth - batch_dims, batch_dims
    # Of an axis or a batch that is far outside the tensors, ONNX Runtime is given a permutation that is wrong and short.
    end, batch = max(0, min(axis, rank)), range(min(b, rank + 1))
    forth = (*batch, axis, *range(b, end), *range(end + 1, rank))
    back = (*batch, *range(b + middle, end + middle), *range(b, b + middle), *range(end + middle, rank - 1 + middle))
    return run(
        params, indices, ("Cast", ("I",), "wide", ("to", TensorProto.INT64)),
        ("Transpose", ("P",), "front", ("perm", forth)), ("Unsqueeze", ("wide", "last"), "rows"),
        ("GatherND", ("front", "rows"), "taken", ("batch_dims", b)), ("Transpose", ("taken",), "O", ("perm", back)),
    )


def operator(function, indices, *attributes):
    return Operator(function, TYPES, indices, attributes, negative="wrap")


operators = {
    "onnx.GatherND-13": operator(gather_nd, ["i64"], "batch_dims"),
    "onnx.GatherElements-13": operator(gather_elements, ["i32", "i64"], "axis"),
    "tf.gather": operator(gather, ["i32", "i64"], "axis", "batch_dims", "validate_indices"),
}
serve(name="onnxruntime", version=ort.__version__, load=load, store=store, operators=operators)
