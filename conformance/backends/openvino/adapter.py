"""OpenVINO on the CPU, by its own operators. A call becomes a model with the shapes of the call."""

from functools import lru_cache

import openvino as ov
from openvino import opset5, opset6, opset7, opset8

from gatherspec_kit import NUMPY, Operator, Tensor, Unsupported, numpy_load, serve

TYPES = {dtype: getattr(ov.Type, dtype) for dtype in [*NUMPY, "bf16"] if dtype not in ("bool", "c64", "c128")}
TYPES["bool"] = ov.Type.boolean
NAMES = {kind: dtype for dtype, kind in TYPES.items()}
INTEGERS = ["i64", "i32", "i8", "i16", "u8", "u16", "u32", "u64"]
CORE = ov.Core()


def load(tensor):
    if tensor.dtype not in TYPES:
        return None
    if tensor.dtype == "bf16":
        return ov.Tensor(numpy_load(Tensor("u16", tensor.shape, tensor.data)).copy(), tensor.shape, ov.Type.bf16)
    return ov.Tensor(numpy_load(tensor))


def store(output):
    return Tensor(NAMES[output.element_type], output.shape, output.data.tobytes())


@lru_cache(maxsize=16)
def request(function, data, indices, axis, attributes):
    """A compiled model of operands that are given by shape and type, and of an axis with its elements."""
    operands = [opset8.parameter(list(shape), kind) for shape, kind in (data, indices)]
    constants = [ov.op.Constant(kind, ov.Shape(shape), list(elements)) for shape, kind, elements in axis]
    model = ov.Model([function(*operands, *constants, **dict(attributes))], operands, "gather")
    return CORE.compile_model(model, "CPU").create_infer_request()


def operator(function, index_dtypes, attribute, bad="unspecified", negative="wrap"):
    def call(data, indices, *axis, **attributes):
        if data is None or indices is None or None in axis:
            raise Unsupported("the CPU plugin of OpenVINO gathers neither complex numbers nor strings")
        of = lambda tensor: (tuple(tensor.shape), tensor.element_type)
        constants = tuple((*of(tensor), tuple(tensor.data.ravel().tolist())) for tensor in axis)
        made = request(function, of(data), of(indices), constants, tuple(attributes.items()))
        made.set_input_tensor(0, data)
        made.set_input_tensor(1, indices)
        made.infer()
        return made.get_output_tensor(0)

    return Operator(call, TYPES, index_dtypes, [attribute], bad, negative)


serve(
    name="openvino",
    version=ov.__version__.split("-")[0],
    load=load,
    store=store,
    operators={
        "openvino.Gather-7": operator(opset7.gather, INTEGERS, "batch_dims", negative="reject"),
        "openvino.Gather-8": operator(opset8.gather, INTEGERS, "batch_dims", bad="zero"),
        "openvino.GatherND-5": operator(opset5.gather_nd, INTEGERS, "batch_dims", negative="reject"),
        "openvino.GatherND-8": operator(opset8.gather_nd, INTEGERS, "batch_dims"),
        "openvino.GatherElements-6": operator(opset6.gather_elements, ["i32", "i64"], "axis"),
    },
)
