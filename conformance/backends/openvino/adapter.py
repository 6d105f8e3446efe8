"""OpenVINO on the CPU: its own operators, and ONNX's Gather as its reader of ONNX translates it. A call becomes a model with the
shapes of the call; a constant operand is no parameter of the model, nor is the axis, and symbolic dims are dynamic, but for the
last of the indices of GatherND."""

from functools import lru_cache

import openvino as ov
from openvino import opset5, opset6, opset7, opset8

from gatherspec import NUMPY, ONNX, SYMBOLIC, Operator, Tensor, Unsupported, numpy_load, onnx_model, onnx_operand, serve

TYPES = {dtype: getattr(ov.Type, dtype) for dtype in [*NUMPY, "bf16"] if dtype not in ("bool", "c64", "c128")}
TYPES["bool"] = ov.Type.boolean
NAMES = {kind: dtype for dtype, kind in TYPES.items()}
INTEGERS, CORE = ["i64", "i32", "i8", "i16", "u8", "u16", "u32", "u64"], ov.Core()


def filled(dtype, shape, data):
    array, tensor = numpy_load(Tensor(dtype, shape, data), "<u2"), ov.Tensor(TYPES[dtype], shape)
    tensor.data.view(array.dtype)[...] = array  # it would not keep an array of bf16
    return tensor


def load(tensor):
    """The tensor, and what the model says of it: the dtype, the dims, unknown ones as names, and the data of a constant."""
    if tensor.dtype not in TYPES:
        return None
    constant = tensor.constant or tensor.operand == "axis"
    return filled(tensor.dtype, tensor.shape, tensor.data), (
        (tensor.dtype, tensor.shape, bytes(tensor.data)) if constant else (tensor.dtype, onnx_operand(tensor)[1], None)
    )


def store(output):
    output = output[0] if isinstance(output, tuple) else output  # an operand
    return Tensor(NAMES[output.element_type], output.shape, output.data.tobytes())


def own(function):
    """Makes models of an operator of OpenVINO."""

    def node(dtype, dims, data):
        if data is None:
            return opset8.parameter(ov.PartialShape([-1 if isinstance(dim, str) else dim for dim in dims]), TYPES[dtype])
        return ov.op.Constant(filled(dtype, dims, data))

    def model(operands, attributes):
        nodes = [node(*operand) for operand in operands]
        parameters = [node for node, (_, _, data) in zip(nodes, operands) if data is None]
        return ov.Model([function(*nodes, **attributes)], parameters, "gather")

    return model


def read(kind):
    """Lets OpenVINO read models of an operator of ONNX."""

    def model(operands, attributes):
        said = [(ONNX[dtype], dims, data) for dtype, dims, data in operands]
        return CORE.read_model(onnx_model(kind, 23, attributes, said).SerializeToString())

    return model


@lru_cache(maxsize=16)
def request(model, operands, attributes):
    """A compiled model."""
    return CORE.compile_model(model(operands, dict(attributes)), "CPU").create_infer_request()


def operator(model, index_dtypes, attribute, bad="unspecified", negative="wrap", known_depth=False):
    def call(*operands, **attributes):
        if None in operands:
            raise Unsupported("the CPU plugin of OpenVINO gathers neither complex numbers nor strings")
        made = request(model, tuple(said for _, said in operands), tuple(attributes.items()))
        arguments = [tensor for tensor, (_, _, data) in operands if data is None]
        for at, tensor in enumerate(arguments):
            made.set_input_tensor(at, tensor)
        made.infer()
        return made.get_output_tensor(0)

    variants = ["data=constant", "indices=constant", SYMBOLIC]
    return Operator(call, TYPES, index_dtypes, [attribute], bad, negative, variants=variants, known_depth=known_depth)


serve(
    name="openvino",
    version=ov.__version__.split("-")[0],
    load=load,
    store=store,
    operators={
        "openvino.Gather-7": operator(own(opset7.gather), INTEGERS, "batch_dims", negative="reject"),
        "openvino.Gather-8": operator(own(opset8.gather), INTEGERS, "batch_dims", bad="zero"),
        "openvino.GatherND-5": operator(own(opset5.gather_nd), INTEGERS, "batch_dims", negative="reject", known_depth=True),
        "openvino.GatherND-8": operator(own(opset8.gather_nd), INTEGERS, "batch_dims", known_depth=True),
        "openvino.GatherElements-6": operator(own(opset6.gather_elements), ["i32", "i64"], "axis"),
        "onnx.Gather-13": operator(read("Gather"), ["i32", "i64"], "axis", bad="error"),
    },
)
