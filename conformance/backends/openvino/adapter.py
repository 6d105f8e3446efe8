"""OpenVINO on the CPU: its own GatherND (version 8) and Gather (version 8), each call a model with the shapes of the
call. Gather gives zeros for an index out of range, GatherND leaves it open; a negative index counts from the end."""

from functools import lru_cache

import numpy as np
import openvino as ov
from openvino import opset8

from gatherspec_kit import NUMPY, Operator, Tensor, Unsupported, numpy_load, serve

TYPES = {dtype: getattr(ov.Type, dtype) for dtype in [*NUMPY, "bf16"] if dtype not in ("bool", "c64", "c128")}
TYPES["bool"] = ov.Type.boolean
NAMES = {kind: dtype for dtype, kind in TYPES.items()}
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
def request(function, params, indices, *arguments):
    """A compiled model of operands that are given by shape and type."""
    operands = [opset8.parameter(list(shape), kind) for shape, kind in (params, indices)]
    model = ov.Model([function(*operands, *arguments)], operands, "gather")
    return CORE.compile_model(model, "CPU").create_infer_request()


def run(function, params, indices, *arguments):
    of = lambda tensor: (tuple(tensor.shape), tensor.element_type)
    made = request(function, of(params), of(indices), *arguments)
    made.set_input_tensor(0, params)
    made.set_input_tensor(1, indices)
    made.infer()
    return made.get_output_tensor(0)


def gather_nd(params, indices, batch_dims=0):
    return run(opset8.gather_nd, params, indices, batch_dims)


def gather(params, indices, axis=None, batch_dims=0, validate_indices=None):
    if axis is None:
        axis = batch_dims + len(indices.shape) if batch_dims < 0 else batch_dims
    return run(opset8.gather, params, indices, np.int64(axis), batch_dims)


def operator(function, bad, *attributes):
    return Operator(function, TYPES, ["i32", "i64"], attributes, bad=bad, negative="wrap")


serve(
    name="openvino",
    version=ov.__version__.split("-")[0],
    load=load,
    store=store,
    operators={
        "tf.gather_nd": operator(gather_nd, "unspecified", "batch_dims"),
        "tf.raw_ops.GatherNd": operator(gather_nd, "unspecified"),
        "tf.gather": operator(gather, "zero", "axis", "batch_dims", "validate_indices"),
        "paddle.gather_nd": operator(gather_nd, "unspecified"),
    },
)
