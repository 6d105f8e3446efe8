"""onnx.reference, the evaluator in NumPy that comes with ONNX: its own Gather, GatherND and GatherElements."""

from functools import lru_cache

import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

from gatherspec import NUMPY, Operator, numpy_load, numpy_store, serve


@lru_cache(maxsize=64)
def evaluator(kind, opset, params, indices, attributes):
    """A model of one node of that operator set, with operands P and I of these dtypes."""
    types = [helper.np_dtype_to_tensor_dtype(dtype) for dtype in (params, indices)]
    operands = [helper.make_tensor_value_info(name, type, None) for name, type in zip("PI", types)]
    result = helper.make_tensor_value_info("O", types[0], None)
    node = helper.make_node(kind, ["P", "I"], ["O"], **dict(attributes))
    graph = helper.make_graph([node], "gather", operands, [result])
    opsets = [helper.make_opsetid("", opset)]
    return ReferenceEvaluator(helper.make_model(graph, opset_imports=opsets, ir_version=10))


def operator(kind, indices, attributes, opset=23):
    def function(data, indices, **attributes):
        model = evaluator(kind, opset, data.dtype, indices.dtype, tuple(attributes.items()))
        return model.run(None, {"P": data, "I": indices})[0]

    return Operator(function, NUMPY, indices, attributes, negative="wrap")


operators = {
    "onnx.Gather-1": operator("Gather", ["i32", "i64"], ["axis"], 1),
    "onnx.Gather-13": operator("Gather", ["i32", "i64"], ["axis"]),
    "onnx.GatherND-11": operator("GatherND", ["i64"], [], 11),
    "onnx.GatherND-13": operator("GatherND", ["i64"], ["batch_dims"]),
    "onnx.GatherElements-13": operator("GatherElements", ["i32", "i64"], ["axis"]),
}
serve(name="onnx-reference", version=onnx.__version__, load=numpy_load, store=numpy_store, operators=operators)
