"""OpenVINO on the CPU, by its own operators. A call becomes a model with the shapes of the call; a constant operand is no
parameter of the model, nor is the axis, and symbolic dims are dynamic, but for the last of the indices of GatherND."""

from functools import lru_cache

import openvino as ov
from openvino import opset5, opset6, opset7, opset8

from gatherspec import NUMPY, SYMBOLIC, Operator, Tensor, Unsupported, numpy_load, serve

TYPES = {dtype: getattr(ov.Type, dtype) for dtype in [*NUMPY, "bf16"] if dtype not in ("bool", "c64", "c128")}
TYPES["bool"] = ov.Type.boolean
NAMES = {kind: dtype for dtype, kind in TYPES.items()}
INTEGERS = ["i64", "i32", "i8", "i16", "u8", "u16", "u32", "u64"]
CORE = ov.Core()


def filled(dtype, shape, data):
    array = numpy_load(Tensor(dtype, shape, data), "<u2")
    return ov.Tensor(array, shape, ov.Type.bf16) if dtype == "bf16" else ov.Tensor(array)


def load(tensor):
    """The tensor, and what the model says of it: the dtype, the dims, and the data of a constant."""
    if tensor.dtype not in TYPES:
        return None
    constant = tensor.constant or tensor.operand == "axis"
    dims = tuple(-1 if dim is None else dim for dim in tensor.dims)
    return filled(tensor.dtype, tensor.shape, tensor.data), (
        (tensor.dtype, tensor.shape, tensor.data) if constant else (tensor.dtype, dims, None)
    )


def store(output):
    output = output[0] if isinstance(output, tuple) else output  # an operand
    return Tensor(NAMES[output.element_type], output.shape, output.data.tobytes())


@lru_cache(maxsize=16)
def request(function, operands, attributes):
    """A compiled model."""

    def node(dtype, dims, data):
        if data is None:
            return opset8.parameter(ov.PartialShape(list(dims)), TYPES[dtype])
        return ov.op.Constant(filled(dtype, dims, data))

    nodes = [node(*operand) for operand in operands]
    parameters = [node for node, (_, _, data) in zip(nodes, operands) if data is None]
    model = ov.Model([function(*nodes, **dict(attributes))], parameters, "gather")
    return CORE.compile_model(model, "CPU").create_infer_request()


def operator(function, index_dtypes, attribute, bad="unspecified", negative="wrap"):
    def call(*operands, **attributes):
        if None in operands:
            raise Unsupported("the CPU plugin of OpenVINO gathers neither complex numbers nor strings")
        made = request(function, tuple(said for _, said in operands), tuple(attributes.items()))
        arguments = [tensor for tensor, (_, _, data) in operands if data is None]
        for at, tensor in enumerate(arguments):
            made.set_input_tensor(at, tensor)
        made.infer()
        return made.get_output_tensor(0)

    variants = ["data=constant", "indices=constant", SYMBOLIC]
    known_depth = function in (opset5.gather_nd, opset8.gather_nd)
    return Operator(call, TYPES, index_dtypes, [attribute], bad, negative, variants=variants, known_depth=known_depth)


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
