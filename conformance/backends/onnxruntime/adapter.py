"""ONNX Runtime on the CPU, by its own operators. A call becomes a model with the shapes of the call; a constant operand is an
initializer, which is no input of the model, and symbolic dims have names instead of sizes."""

import ctypes
from collections import namedtuple
from functools import lru_cache

import onnxruntime as ort
from onnx import TensorProto, helper

from gatherspec_kit import CONSTANT, SYMBOLIC, Operator, Tensor, Unsupported, numpy_load, numpy_store, serve

WORDS = "BOOL INT8 UINT8 INT16 UINT16 INT32 UINT32 INT64 UINT64 FLOAT16 BFLOAT16 FLOAT DOUBLE STRING".split()
NAMES = "bool i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64 string".split()
TYPES = dict(zip(NAMES, WORDS))


# The type and the dims of an operand in a model, and what makes it an initializer, if it is one. A dim of None is not known.
Kind = namedtuple("Kind", "type dims initializer")


def load(tensor):
    """The kind and the value. Strings of ONNX are texts, so bytes that are no UTF-8 are refused."""
    if tensor.dtype not in TYPES:
        raise Unsupported(f"ONNX Runtime has no tensors of {tensor.dtype}")
    kind = TensorProto.DataType.Value(TYPES[tensor.dtype])
    if tensor.dtype == "string":
        tensor = Tensor("string", tensor.shape, [text.decode() for text in tensor.data])
    dims = (None,) * len(tensor.shape) if tensor.symbolic else tensor.shape
    data = tuple(tensor.data) if tensor.dtype == "string" else bytes(tensor.data)
    kind = Kind(kind, dims, (tensor.shape, data) if tensor.constant else None)
    if tensor.dtype == "bf16":
        bits = numpy_load(Tensor("u16", tensor.shape, tensor.data))
        return kind, ort.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, kind.type)
    return kind, numpy_load(tensor)


def store(output):
    output = output[1] if isinstance(output, tuple) else output  # an operand
    if isinstance(output, ort.OrtValue):
        return Tensor("bf16", output.shape(), ctypes.string_at(output.data_ptr(), output.tensor_size_in_bytes()))
    if output.dtype == object:
        return Tensor("string", output.shape, [text.encode() for text in output.ravel()])
    return numpy_store(output)


# A session of a case lives for one call: threads that wait for more work only take the processor from the next session.
SPINNING = ["0"]


def timed():
    """Sessions that are timed live on, with ONNX Runtime's own setting."""
    SPINNING[0] = "1"
    session.cache_clear()


def initializer(name, kind, shape, data):
    return helper.make_tensor(name, kind, shape, data, raw=isinstance(data, bytes))


@lru_cache(maxsize=64)
def session(kind, opset, params, indices, attributes):
    """A model of one node of that operator set, with operands P and I by their kinds, and the output O."""
    named = [("P", params), ("I", indices)]
    inputs = [
        helper.make_tensor_value_info(name, of.type, [f"{name}{at}" if dim is None else dim for at, dim in enumerate(of.dims)])
        for name, of in named
        if not of.initializer
    ]
    node = helper.make_node(kind, ["P", "I"], ["O"], **dict(attributes))
    result = helper.make_tensor_value_info("O", params.type, None)
    initializers = [initializer(name, of.type, *of.initializer) for name, of in named if of.initializer]
    graph = helper.make_graph([node], "gather", inputs, [result], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.add_session_config_entry("session.intra_op.allow_spinning", SPINNING[0])
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


# The output that is written to again and again, and its binding.
BOUND = {}


def operator(kind, index_dtypes, attributes, opset=23, dtypes=TYPES):
    def function(data, indices, **attributes):
        made = session(kind, opset, data[0], indices[0], tuple(attributes.items()))
        feed = {name: value for name, (of, value) in [("P", data), ("I", indices)] if not of.initializer}
        if isinstance(data[1], ort.OrtValue):  # NumPy has no bf16
            if "I" in feed:
                feed["I"] = ort.OrtValue.ortvalue_from_numpy(feed["I"])
            return made.run_with_ort_values(None, feed)[0]
        return made.run(None, feed)[0]

    def into(data, indices, out, **attributes):
        if isinstance(data[1], ort.OrtValue):
            raise Unsupported("this adapter binds arrays of NumPy")
        made = session(kind, opset, data[0], indices[0], tuple(attributes.items()))
        if BOUND.get("output") is not out:
            BOUND.update(output=out, binding=made.io_binding())
            BOUND["binding"].bind_cpu_input("P", data[1])
            BOUND["binding"].bind_cpu_input("I", indices[1])
            BOUND["binding"].bind_ortvalue_output("O", ort.OrtValue.ortvalue_from_numpy(out))
        made.run_with_iobinding(BOUND["binding"])

    return Operator(
        function, dtypes, index_dtypes, attributes, negative="wrap", into=into, variants=[CONSTANT, SYMBOLIC]
    )


WITHOUT_BF16 = [name for name in NAMES if name != "bf16"]

operators = {
    "onnx.Gather-1": operator("Gather", ["i32", "i64"], ["axis"], 1, WITHOUT_BF16),
    "onnx.Gather-13": operator("Gather", ["i32", "i64"], ["axis"]),
    "onnx.GatherND-11": operator("GatherND", ["i64"], [], 11, WITHOUT_BF16),
    "onnx.GatherND-13": operator("GatherND", ["i64"], ["batch_dims"]),
    "onnx.GatherElements-13": operator("GatherElements", ["i32", "i64"], ["axis"]),
}
serve(name="onnxruntime", version=ort.__version__, load=load, store=store, operators=operators, timed=timed)
