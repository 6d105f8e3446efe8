"""ONNX Runtime on the CPU, by its own operators. A call becomes a model with the shapes of the call; a constant operand is an
initializer, which is no input of the model, and symbolic dims have names instead of sizes."""

import ctypes
import os
from functools import lru_cache

import onnxruntime as ort

from gatherspec import (
    CONSTANT, ONNX, SYMBOLIC, Operator, Tensor, Unsupported, numpy_load, numpy_store, onnx_model, onnx_operand, serve,
)

TYPES = [dtype for dtype in ONNX if dtype not in ("c64", "c128")]
WITHOUT_BF16 = [dtype for dtype in TYPES if dtype != "bf16"]


def load(tensor):
    """The type, the dims, the data of an initializer, and the value. Strings are texts: bytes that are no UTF-8 are refused."""
    if tensor.dtype not in TYPES:
        raise Unsupported(f"ONNX Runtime has no tensors of {tensor.dtype}")
    kind, dims, data = onnx_operand(tensor)
    if tensor.dtype == "bf16":
        value = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(numpy_load(tensor, "<u2"), kind)
    else:
        texts = tensor.dtype == "string" and Tensor("string", tensor.shape, [text.decode() for text in tensor.data])
        value = numpy_load(texts or tensor)
    return kind, dims, data, value


def store(output):
    output = output[3] if isinstance(output, tuple) else output  # an operand
    if isinstance(output, ort.OrtValue):
        return Tensor("bf16", output.shape(), ctypes.string_at(output.data_ptr(), output.tensor_size_in_bytes()))
    if output.dtype == object:
        return Tensor("string", output.shape, [text.encode() for text in output.ravel()])
    return numpy_store(output)


# Left alone, ONNX Runtime pins a thread to each processor of the machine, also to those that this process may not use.
ALLOWED = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
THREADS = ALLOWED if ALLOWED < os.cpu_count() else 0
# Sessions of cases live for one call, so waiting threads would only be in the way. One that is timed has the usual setting.
SPINNING = ["0"]
timed = lambda: (SPINNING.append("1"), session.cache_clear())


@lru_cache(maxsize=64)
def session(kind, opset, attributes, *operands):
    model = onnx_model(kind, opset, dict(attributes), operands)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = THREADS
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
