"""Shows that an adapter really makes the variants that it declares: a constant operand is no input of the graph, a compiled
function was compiled, unknown dims are unknown, and strides are those asked. `python variants.py LIBRARY` runs in the environment
of that adapter, with the kit on `PYTHONPATH`; a name that is none says which there are."""

import base64
import runpy
import sys
from pathlib import Path

import gatherspec as kit
import numpy as np

ROWS = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
REPEATED = np.array([[1, 2, 3], [1, 2, 3]], np.float32)
ONE = np.array([1], np.int64)


def tensor(array, dtype):
    return {"dtype": dtype, "shape": list(array.shape), "data": base64.b64encode(array.tobytes()).decode()}


def served(library):
    """What the adapter passes to `serve`."""
    passed = {}
    kit.serve = lambda **arguments: passed.update(arguments)
    runpy.run_path(str(Path(__file__).parents[2] / "backends" / library / "adapter.py"))
    return passed


def ask(adapter, operator, operands, variant, spy=None, **attributes):
    """Makes a call; `spy` takes the place of the operator's function, or of its compiler."""
    operators = adapter["operators"]
    for name, value in (spy or {}).items():
        setattr(operators[operator], name, value)
    backend = kit._Backend(operators, adapter["load"], adapter["store"], adapter.get("block") or (lambda it: it), None, None)
    operands = {name: tensor(array, dtype) for name, (array, dtype) in operands.items()}
    call = {"seq": 1, "operator": operator, "operands": operands, "attributes": attributes, "variant": variant}
    reply = backend.call(call)
    assert "output" in reply, reply
    first = next(iter(operands.values()))
    assert elements(reply["output"]).ravel().tolist() == elements(first)[1].ravel().tolist(), (variant, reply)


def elements(tensor):
    return np.frombuffer(base64.b64decode(tensor["data"]), kit.NUMPY[tensor["dtype"]]).reshape(tensor["shape"])


def seeing(adapter, operator, names, **attributes):
    """What asks a function of two operands for a row in a variant, and gives the first as the function sees it; and both by name."""
    function, seen = adapter["operators"][operator].function, {}

    def spy(*operands, **attributes):
        seen.update(zip(names, operands))
        return function(*operands, **attributes)

    def asked(variant, rows=ROWS, dtype="f32"):
        operands = dict(zip(names, [(rows, dtype), (ONE, "i64")]))
        ask(adapter, operator, operands, variant, {"function": spy}, **attributes)
        return seen[names[0]]

    return asked, seen


def numpy_strides():
    asked, seen = seeing(served("numpy"), "numpy.take", ["a", "indices"], axis=0)
    assert asked("").strides == (12, 4) and seen["a"].flags.writeable
    assert asked("a=transposed").strides == (4, 8)
    assert asked("a=reversed").strides == (-12, -4)
    offset = asked("a=offset")
    assert offset.strides == (16, 4) and offset.ctypes.data - offset.base.ctypes.data == 12, offset.strides
    assert asked("a=stride-0", REPEATED).strides == (0, 4)
    assert asked("a=stride-0", REPEATED[:, np.newaxis]).strides == (0, 4, 4)
    table = asked("indices=view", np.arange(3), "i64")
    assert seen["indices"].ctypes.data == table.ctypes.data + 8
    assert not np.shares_memory(asked("", np.arange(3), "i64"), seen["indices"])
    assert not asked("a=read-only").flags.writeable
    assert asked("indices=read-only").flags.writeable and not seen["indices"].flags.writeable


def jax_graphs():
    import jax

    adapter = served("jax")
    seen = {}

    def spy(function):
        compiled = jax.jit(function)

        def call(*operands):
            lowered = compiled.lower(*operands)
            seen["inputs"] = len(jax.tree.leaves(lowered.in_avals))
            seen["text"] = lowered.compile().as_text()
            return compiled(*operands)

        return call

    for variant, inputs in [("execution=compiled", 2), ("a=constant", 1), ("indices=constant", 1), ("a=constant,indices=constant", 0)]:
        ask(adapter, "jax.numpy.take", {"a": (ROWS, "f32"), "indices": (ONE, "i64")}, variant, {"compile": spy}, axis=0)
        assert seen["inputs"] == inputs and "HloModule" in seen["text"], (variant, seen)


def onnxruntime_graphs():
    import onnxruntime

    adapter = served("onnxruntime")
    made = []
    session = onnxruntime.InferenceSession
    onnxruntime.InferenceSession = lambda *arguments, **options: made.append(session(*arguments, **options)) or made[-1]
    operands = {"data": (ROWS, "f32"), "indices": (ONE, "i64")}
    for variant, names in [("", ["P", "I"]), ("data=constant", ["I"]), ("indices=constant", ["P"]), ("data=constant,indices=constant", [])]:
        ask(adapter, "onnx.Gather-13", operands, variant)
        assert [one.name for one in made[-1].get_inputs()] == names, variant
    ask(adapter, "onnx.Gather-13", operands, "shapes=symbolic")
    assert [one.shape for one in made[-1].get_inputs()] == [["data0", "data1"], ["indices0"]]


def tensorflow_graphs():
    import tensorflow as tf

    adapter = served("tensorflow")
    operator = adapter["operators"]["tf.gather"]
    symbolic = operator.compile_symbolic
    seen = {}

    def spied(made, operands):
        concrete = made.get_concrete_function(*operands)
        seen.update(inputs=[one.shape.as_list() for one in concrete.inputs], operations=[one.type for one in concrete.graph.get_operations()])
        return made(*operands)

    spy = {
        "compile": lambda function: lambda *operands: spied(tf.function(function), operands),
        "compile_symbolic": lambda function, operands: lambda *again: spied(symbolic(function, operands), again),
    }
    operands = {"params": (ROWS, "f32"), "indices": (ONE, "i64")}
    for variant, inputs in [
        ("execution=compiled", [[2, 3], [1]]),
        ("params=constant", [[1]]),
        ("indices=constant", [[2, 3]]),
        ("indices=constant,params=constant", []),
        ("shapes=symbolic", [[None, None], [None]]),
        ("params=constant,shapes=symbolic", [[None]]),
    ]:
        ask(adapter, "tf.gather", operands, variant, spy)
        assert seen["inputs"] == inputs and "GatherV2" in seen["operations"], (variant, seen)


def pytorch_strides_and_graphs():
    import torch
    from torch._dynamo.utils import counters

    adapter = served("pytorch")
    operator = adapter["operators"]["torch.index_select"]
    select = operator.function
    asked, seen = seeing(adapter, "torch.index_select", ["input", "index"], dim=0)
    assert asked("").stride() == (3, 1)
    assert asked("input=transposed").stride() == (1, 2)
    assert asked("input=offset").stride() == (4, 1) and seen["input"].storage_offset() == 0, seen["input"].storage_offset()
    assert asked("input=stride-0", REPEATED).stride() == (0, 1)
    table = asked("index=view", np.arange(3), "i64")
    assert seen["index"].data_ptr() == table.data_ptr() + 8
    operator.function = select
    for variant, dynamic in [("execution=compiled", False), ("shapes=symbolic", True)]:
        made = []
        torch_compile = torch.compile
        torch.compile = lambda *arguments, **options: made.append(options["dynamic"]) or torch_compile(*arguments, **options)
        counters.clear()
        ask(adapter, "torch.index_select", {"input": (ROWS, "f32"), "index": (ONE, "i64")}, variant, dim=0)
        torch.compile = torch_compile
        assert made == [dynamic] and counters["stats"]["unique_graphs"] == 1, (variant, made, counters["stats"])
    # A constant index is part of the graph, which has one argument.
    inputs = []
    counted = lambda graph, arguments: inputs.append(len(arguments)) or graph
    graph_of = lambda function: torch.compile(function, fullgraph=True, dynamic=False, backend=counted)
    for variant, count in [("execution=compiled", 2), ("index=constant", 1)]:
        torch.compiler.reset()
        ask(adapter, "torch.index_select", {"input": (ROWS, "f32"), "index": (ONE, "i64")}, variant, {"compile": graph_of}, dim=0)
        assert inputs.pop() == count, (variant, count)


def openvino_models():
    import openvino as ov

    adapter = served("openvino")
    made = []
    compile_model = ov.Core.compile_model
    ov.Core.compile_model = lambda core, model, *rest: made.append(model) or compile_model(core, model, *rest)
    operands = {"data": (ROWS, "f32"), "indices": (ONE, "i64"), "axis": (np.array(0), "i64")}
    for variant, inputs in [
        ("", ["[2,3]", "[1]"]),
        ("data=constant", ["[1]"]),
        ("indices=constant", ["[2,3]"]),
        ("data=constant,indices=constant", []),
        ("shapes=symbolic", ["[?,?]", "[?]"]),
    ]:
        for operator, names in [("openvino.Gather-8", ["data", "indices", "axis"]), ("onnx.Gather-13", ["data", "indices"])]:
            ask(adapter, operator, {name: operands[name] for name in names}, variant)
            shapes = [str(one.get_partial_shape()) for one in made[-1].inputs]
            assert shapes == inputs, (operator, variant, shapes)
    operands = {"data": (ROWS, "f32"), "indices": (np.array([[1]], np.int64), "i64")}
    ask(adapter, "openvino.GatherND-8", operands, "shapes=symbolic")
    assert [str(one.get_partial_shape()) for one in made[-1].inputs] == ["[?,?]", "[?,1]"]


def paddle_graphs():
    import paddle

    adapter = served("paddle")
    data, run, inputs, programs = paddle.static.data, paddle.static.Executor.run, [], []
    paddle.static.data = lambda name, shape, dtype: inputs.append(shape) or data(name, shape, dtype)
    paddle.static.Executor.run = lambda executor, program, **rest: programs.append(program) or run(executor, program, **rest)
    operands = {"x": (ROWS, "f32"), "index": (ONE[:, None], "i64")}
    for variant, shapes in [("", []), ("execution=compiled", [[2, 3], [1, 1]]), ("shapes=symbolic", [[-1, -1], [-1, -1]])]:
        inputs.clear(), programs.clear()
        ask(adapter, "paddle.gather_nd", operands, variant)
        names = [one.name() for program in programs for one in program.global_block().ops]
        assert inputs == shapes and ("pd_op.gather_nd" in names) == bool(shapes), (variant, inputs, names)


def executorch_programs():
    from executorch.exir._serialize import _program

    serialize, plans = _program.serialize_pte_binary, []
    _program.serialize_pte_binary = lambda file: plans.append(file.program.execution_plan[0]) or serialize(file)
    adapter = served("executorch")
    operands = {"input": (ROWS, "f32"), "index": (ONE, "i64")}
    for variant, inputs in [
        ("", [[2, 3], [1]]),
        ("input=constant", [[1]]),
        ("index=constant", [[2, 3]]),
        ("input=constant,index=constant", []),
        ("shapes=symbolic", [[3, 4], [2]]),
    ]:
        ask(adapter, "torch.index_select", operands, variant, dim=0)
        said = [plans[-1].values[at].val for at in plans[-1].inputs]
        assert [one.sizes for one in said] == inputs, (variant, said)
        assert all((one.shape_dynamism.name == "STATIC") == (variant != "shapes=symbolic") for one in said), (variant, said)


def stablehlo_modules():
    from jaxlib.mlir._mlir_libs import _stablehlo

    evaluate, seen = _stablehlo.eval_module, []
    _stablehlo.eval_module = lambda module, arguments: seen.append(len(arguments)) or evaluate(module, arguments)
    adapter = served("stablehlo")
    numbers = {"collapsed_slice_dims": [0], "offset_dims": [1], "start_index_map": [0], "index_vector_dim": 1}
    numbers["slice_sizes"] = [1, 3]
    operands = {"operand": (ROWS, "f32"), "start_indices": (ONE[:, None], "i64")}
    for variant, arguments in [
        ("", 2), ("operand=constant", 1), ("start_indices=constant", 1), ("operand=constant,start_indices=constant", 0),
    ]:
        ask(adapter, "stablehlo.gather", operands, variant, **numbers)
        assert seen[-1] == arguments, (variant, seen[-1])


CHECKS = {
    "numpy": numpy_strides, "jax": jax_graphs, "onnxruntime": onnxruntime_graphs, "tensorflow": tensorflow_graphs,
    "pytorch": pytorch_strides_and_graphs, "openvino": openvino_models, "paddle": paddle_graphs, "stablehlo": stablehlo_modules,
    "executorch": executorch_programs,
}
CHECKS[sys.argv[1]]()
print(f"{sys.argv[1]}: the variants are made as declared")
