"""ONNX Runtime on the CPU, by its own operators. A call becomes a model with the shapes of the call; a constant operand is an
initializer, which is no input of the model, and symbolic dims have names instead of sizes."""

import ctypes
from functools import lru_cache

import onnxruntime as ort
from onnx import TensorProto, helper

from gatherspec_kit import CONSTANT, SYMBOLIC, Operator, Tensor, Unsupported, numpy_load, numpy_store, serve

WORDS = "BOOL INT8 UINT8 INT16 UINT16 INT32 UINT32 INT64 UINT64 FLOAT16 BFLOAT16 FLOAT DOUBLE STRING".split()
NAMES = "bool i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64 string".split()
TYPES = {name: TensorProto.DataType.Value(word) for name, word in zip(NAMES, WORDS)}
WITHOUT_BF16 = [name for name in NAMES if name != "bf16"]


def load(tensor):
    """The type, the dims, the data of an initializer, and the value. Strings are texts: bytes that are no UTF-8 are refused."""
    if tensor.dtype not in TYPES:
        raise Unsupported(f"ONNX Runtime has no tensors of {tensor.dtype}")
    kind, dims = TYPES[tensor.dtype], tensor.shape
    if tensor.dtype == "bf16":
        value = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(numpy_load(Tensor("u16", dims, tensor.data)), kind)
    else:
        texts = tensor.dtype == "string" and Tensor("string", dims, [text.decode() for text in tensor.data])
        value = numpy_load(texts or tensor)
    if tensor.constant:
        return kind, dims, (tuple if tensor.dtype == "string" else bytes)(tensor.data), value
    names = tuple(f"{tensor.operand}{at}" for at in range(len(dims)))
    return kind, names if tensor.symbolic else dims, None, value


def store(output):
    output = output[3] if isinstance(output, tuple) else output  # an operand
    if isinstance(output, ort.OrtValue):
        return Tensor("bf16", output.shape(), ctypes.string_at(output.data_ptr(), output.tensor_size_in_bytes()))
    if output.dtype == object:
        return Tensor("string", output.shape, [text.encode() for text in output.ravel()])
    return numpy_store(output)


# Sessions of cases live for one call, so waiting threads would only be in the way. One that is timed has the usual setting.
SPINNING = ["0"]
timed = lambda: (SPINNING.append("1"), session.cache_clear())


@lru_cache(maxsize=64)
def session(kind, opset, attributes, *operands):
    """A model of one node of that operator set, with operands P and I, and the output O."""
    inputs, constants = [], []
    for name, (type, dims, data) in zip("PI", operands):
        if data is None:
            inputs.append(helper.make_tensor_value_info(name, type, dims))
        else:
            constants.append(helper.make_tensor(name, type, dims, data, raw=isinstance(data, bytes)))
    node = helper.make_node(kind, ["P", "I"], ["O"], **dict(attributes))
    result = helper.make_tensor_value_info("O", operands[0][0], None)
    graph = helper.make_graph([node], "gather", inputs, [result], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.add_session_config_entry("session.intra_op.allow_spinning", SPINNING[-1])
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


BOUND = {}  # the output that is written to again and again, and its binding

def operator(kind, index_dtypes, attributes, opset=23, dtypes=TYPES):
    def function(data, indices, **attributes):
        made = session(kind, opset, tuple(attributes.items()), data[:3], indices[:3])
        values = {name: of[3] for name, of in [("P", data), ("I", indices)] if of[2] is None}
        if not isinstance(data[3], ort.OrtValue):
            return made.run(None, values)[0]
        if "I" in values:  # NumPy has no bf16, and all values are of one kind
            values["I"] = ort.OrtValue.ortvalue_from_numpy(values["I"])
        return made.run_with_ort_values(None, values)[0]
    def into(data, indices, out, **attributes):
        if isinstance(data[3], ort.OrtValue):
            raise Unsupported("this adapter binds arrays of NumPy")
        made = session(kind, opset, tuple(attributes.items()), data[:3], indices[:3])
        if BOUND.get("output") is not out:
            binding = made.io_binding()
            BOUND.update(output=out, binding=binding)
            binding.bind_cpu_input("P", data[3])
            binding.bind_cpu_input("I", indices[3])
            binding.bind_ortvalue_output("O", ort.OrtValue.ortvalue_from_numpy(out))
        made.run_with_iobinding(BOUND["binding"])
    return Operator(function, dtypes, index_dtypes, attributes, negative="wrap", into=into, variants=[CONSTANT, SYMBOLIC])


operators = {
    "onnx.Gather-1": operator("Gather", ["i32", "i64"], ["axis"], 1, WITHOUT_BF16),
    "onnx.Gather-13": operator("Gather", ["i32", "i64"], ["axis"]),
    "onnx.GatherND-11": operator("GatherND", ["i64"], [], 11, WITHOUT_BF16),
    "onnx.GatherND-13": operator("GatherND", ["i64"], ["batch_dims"]),
    "onnx.GatherElements-13": operator("GatherElements", ["i32", "i64"], ["axis"]),
}
serve(name="onnxruntime", version=ort.__version__, load=load, store=store, operators=operators, timed=timed)
