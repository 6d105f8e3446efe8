"""OpenVINO on the CPU, by its own operators. A call becomes a model with the shapes of the call."""

from functools import lru_cache

import openvino as ov
from openvino import opset8

from gatherspec_kit import NUMPY, Operator, Tensor, Unsupported, numpy_load, serve

TYPES = {dtype: getattr(ov.Type, dtype) for dtype in [*NUMPY, "bf16"] if dtype not in ("bool", "c64", "c128")}
TYPES["bool"] = ov.Type.boolean
NAMES = {kind: dtype for dtype, kind in TYPES.items()}
INTEGERS = ["i64", "i32", "i8", "i16", "u8", "u16", "u32", "u64"]
CORE = ov.Core()


def load(tensor):
    if tensor.dtype not in TYPES:
        raise Unsupported(f"the CPU plugin of OpenVINO does not gather {tensor.dtype}")
    if tensor.dtype == "bf16":
        return ov.Tensor(numpy_load(Tensor("u16", tensor.shape, tensor.data)).copy(), tensor.shape, ov.Type.bf16)
    return ov.Tensor(numpy_load(tensor))


def store(output):
    return Tensor(NAMES[output.element_type], output.shape, output.data.tobytes())


@lru_cache(maxsize=16)
def request(function, data, indices, attributes):
    """A compiled model of operands that are given by shape and type."""
    operands = [opset8.parameter(list(shape), kind) for shape, kind in (data, indices)]
    model = ov.Model([function(*operands, **dict(attributes))], operands, "gather")
    return CORE.compile_model(model, "CPU").create_infer_request()


def operator(function, index_dtypes, attribute):
    def call(data, indices, **attributes):
        of = lambda tensor: (tuple(tensor.shape), tensor.element_type)
        made = request(function, of(data), of(indices), tuple(attributes.items()))
        made.set_input_tensor(0, data)
        made.set_input_tensor(1, indices)
        made.infer()
        return made.get_output_tensor(0)

    return Operator(call, TYPES, index_dtypes, [attribute], bad="unspecified", negative="wrap")


serve(
    name="openvino",
    version=ov.__version__.split("-")[0],
    load=load,
    store=store,
    operators={
        "openvino.GatherND-8": operator(opset8.gather_nd, INTEGERS, "batch_dims"),
        "openvino.GatherElements-6": operator(opset8.gather_elements, ["i32", "i64"], "axis"),
    },
)
