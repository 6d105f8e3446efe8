"""StableHLO's own interpreter, as it comes with jaxlib: `stablehlo.gather` as it is. A call becomes a module with the types and
attributes of the call; a constant operand is a constant of its body. The verifier refuses what breaks a constraint and infers
the type of the result; the interpreter evaluates the module. The functions are private to jaxlib, so the adapter first tries
a small gather."""

import sys
from array import array

import jaxlib.version

from gatherspec import CONSTANT, SIZES, Operator, Tensor, Unsupported, serve

PINNED = "0.10.2"  # of jaxlib, as in requirements.in
FOUND = jaxlib.version.__version__
INTEGERS = {"i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64"}
INTEGERS |= {"u8": "ui8", "u16": "ui16", "u32": "ui32", "u64": "ui64"}
FLOATS = {"f16": "f16", "bf16": "bf16", "f32": "f32", "f64": "f64", "c64": "complex<f32>", "c128": "complex<f64>"}
ELEMENTS = {"bool": "i1"} | INTEGERS | FLOATS
NUMBERS = ["offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims"]
NUMBERS += ["start_index_map", "index_vector_dim"]


def fresh_context():
    """A context for one call, since a context keeps every constant that was ever made in it."""
    context = ir.Context()
    context.append_dialect_registry(registry)
    context.dialects["func"]  # loads it
    hlo.register_dialect(context)
    return context


def constant(tensor):
    """The elements as bytes, with their type: the bindings infer no type of ui8, bf16 or complex elements."""
    if tensor.dtype not in ELEMENTS:
        raise Unsupported(f"StableHLO has no {tensor.dtype}")
    dims = "".join(f"{dim}x" for dim in tensor.shape)
    return ir.DenseElementsAttr.get(tensor.data, type=ir.Type.parse(f"tensor<{dims}{ELEMENTS[tensor.dtype]}>"))


def parts(result):
    """The result in types that the bindings can read: the bits of bf16, and complex elements in two parts."""
    kind = ir.RankedTensorType(result.type)
    if str(kind.element_type) == "bf16":
        return [hlo.bitcast_convert(ir.RankedTensorType.get(kind.shape, ir.IntegerType.get_unsigned(16)), result)]
    return [hlo.real(result), hlo.imag(result)] if "complex" in str(kind) else [result]


def interleaved(real, imaginary, size):
    """Complex elements from their two parts, whose elements have `size` bytes and move as integers."""
    whole = array("I" if size == 4 else "Q", real + imaginary)
    count = len(whole) // 2
    whole[::2], whole[1::2] = whole[:count], whole[count:]
    return whole.tobytes()


def gather(operand, start_indices, slice_sizes=(), indices_are_sorted=None, **numbers):
    """A dimension number that is not sent is not in the text of the attribute. A module must have `slice_sizes`."""
    with fresh_context(), ir.Location.unknown():
        made = [(constant(tensor), tensor.constant) for tensor in (operand, start_indices)]
        arguments = [one for one, is_constant in made if not is_constant]
        kinds = [one.type for one in arguments]
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            main = func.FuncOp("main", (kinds, []))
        with ir.InsertionPoint(main.add_entry_block()):
            given = iter(main.arguments)
            operands = [hlo.constant(one) if is_constant else next(given) for one, is_constant in made]
            text = ", ".join(f"{name} = {value}" for name, value in numbers.items())
            dimension_numbers = ir.Attribute.parse(f"#stablehlo.gather<{text}>")
            result = hlo.gather(*operands, dimension_numbers, slice_sizes, indices_are_sorted=indices_are_sorted)
            returned = func.ReturnOp(parts(result))
        types = ir.FunctionType.get(kinds, [one.type for one in returned.operands])
        main.attributes["function_type"] = ir.TypeAttr.get(types)
        module.operation.verify()
        outputs = [memoryview(output).tobytes() for output in eval_module(module, arguments)]
        data = outputs[0] if len(outputs) == 1 else interleaved(*outputs, SIZES[operand.dtype] // 2)
        return Tensor(operand.dtype, ir.RankedTensorType(result.type).shape, data)


try:
    from jaxlib.mlir import ir
    from jaxlib.mlir._mlir_libs._jax_mlir_ext import register_dialects
    from jaxlib.mlir._mlir_libs._stablehlo import eval_module, get_current_version
    from jaxlib.mlir.dialects import func, stablehlo as hlo

    registry = ir.DialectRegistry()
    register_dialects(registry)
    small = Tensor("u8", [3], b"\x0a\x0b\x0c"), Tensor("u8", [2, 1], b"\x02\x00")
    gathered = gather(*small, [1], collapsed_slice_dims=[0], start_index_map=[0], index_vector_dim=1)
    if (gathered.shape, gathered.data) != ((2,), b"\x0c\x0a"):
        raise ValueError(f"a small gather gives {vars(gathered)}")
    VERSION = f"{get_current_version()}+jaxlib.{FOUND}"
except Exception as error:
    sys.exit(f"StableHLO's interpreter does not work in jaxlib {FOUND}; this adapter is for {PINNED}: {error!r}")

attributes = [*NUMBERS, "slice_sizes", "indices_are_sorted"]
operators = {"stablehlo.gather": Operator(gather, ELEMENTS, INTEGERS, attributes, bad="clamp", variants=[CONSTANT])}
as_it_is = lambda tensor: tensor
serve(name="stablehlo", version=VERSION, load=as_it_is, store=as_it_is, operators=operators)
