"""TVM on the CPU: the operators of ONNX through its importer, compiled by LLVM. A call becomes a model with the shapes of the
call; a constant operand is an initializer, which is no input of the model, and symbolic dims have names instead of sizes,
but for the last of the indices of GatherND. Nothing is checked that TVM itself does not check. The importer has one
implementation for all versions of an operator, so the adapter declares only the newest."""

import warnings
from functools import lru_cache

import ml_dtypes
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

from gatherspec import (
    CONSTANT, ONNX, SYMBOLIC, Operator, Unsupported, numpy_load, numpy_store, onnx_model, onnx_operand, serve,
)

OPSET = 13
DTYPES = [dtype for dtype in ONNX if dtype not in ("c64", "c128", "string")]


def load(tensor):
    """What the model says of the operand, and the array."""
    if tensor.dtype not in DTYPES:
        raise Unsupported(f"TVM has no {tensor.dtype}")
    return onnx_operand(tensor), numpy_load(tensor, ml_dtypes.bfloat16)


def store(output):
    return numpy_store(output[1] if isinstance(output, tuple) else output.numpy())


@lru_cache(maxsize=256)
def compiled(kind, attributes, *operands):
    """A function of the operands that are not constant."""
    module = from_onnx(onnx_model(kind, OPSET, dict(attributes), operands), opset=OPSET)
    return relax.VirtualMachine(tvm.compile(module, target="llvm"), tvm.cpu())["main"]


def operator(kind, index_dtypes, attributes):
    def call(data, indices, **attributes):
        function = compiled(kind, tuple(attributes.items()), data[0], indices[0])
        return function(*[tvm.runtime.tensor(array) for (_, _, constant), array in (data, indices) if constant is None])

    variants, known_depth = [CONSTANT, SYMBOLIC], kind == "GatherND"
    return Operator(
        call, DTYPES, index_dtypes, attributes, "unspecified", "wrap", variants=variants, known_depth=known_depth, compilations=200
    )


warnings.filterwarnings("ignore")  # of what the checker of ONNX says of an output without a shape
serve(
    name="tvm",
    version=tvm.__version__,
    load=load,
    store=store,
    operators={
        "onnx.Gather-13": operator("Gather", ["i32", "i64"], ["axis"]),
        "onnx.GatherND-13": operator("GatherND", ["i64"], ["batch_dims"]),
        "onnx.GatherElements-13": operator("GatherElements", ["i32", "i64"], ["axis"]),
    },
)
