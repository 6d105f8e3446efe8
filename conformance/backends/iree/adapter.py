"""IREE on the CPU, through its compiler and its runtime: `stablehlo.gather` as it is. A call becomes a module with the types of
the call; a constant operand is in its body, and symbolic dims are dynamic. Nothing is checked that IREE does not check."""

from functools import lru_cache
from importlib.metadata import version

import iree.runtime as rt
import numpy as np
from iree.compiler.api import Output, Session, Source

from gatherspec import CONSTANT, SYMBOLIC, Operator, Tensor, Unsupported, serve

# The type of an element in StableHLO and in the runtime.
TYPES = {f"i{bits}": (f"i{bits}", f"SINT_{bits}") for bits in (8, 16, 32, 64)}
TYPES |= {f"u{bits}": (f"ui{bits}", f"UINT_{bits}") for bits in (8, 16, 32, 64)}
TYPES |= {f"f{bits}": (f"f{bits}", f"FLOAT_{bits}") for bits in (16, 32, 64)}
TYPES |= {"bool": ("i1", "BOOL_8"), "bf16": ("bf16", "BFLOAT_16")}
TYPES |= {"c64": ("complex<f32>", "COMPLEX_64"), "c128": ("complex<f64>", "COMPLEX_128")}
CONFIG = rt.Config("local-sync")
FLAGS = ["--iree-input-type=stablehlo", "--iree-hal-target-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host"]
FLAGS += ["--iree-input-demote-f64-to-f32=false"]  # it does so by default, and c128 becomes c64


def load(tensor):
    """What the module says of an operand: its dtype, its dims, and a constant's bytes, or bits of bools; and the operand."""
    if tensor.dtype not in TYPES:
        raise Unsupported(f"IREE has no {tensor.dtype}")
    bits = lambda: np.packbits(np.frombuffer(tensor.data, np.uint8) != 0, bitorder="little").tobytes()
    data = (bits() if tensor.dtype == "bool" else bytes(tensor.data)) if tensor.constant else None
    return (tensor.dtype, tensor.dims, data), tensor


@lru_cache(maxsize=256)
def compiled(operands, attributes):
    """The function `main` of a module, with what keeps it alive. The compiler says on standard error what it refuses."""
    session = Session()
    session.set_flags(*FLAGS)
    invocation = session.invocation()
    invocation.enable_console_diagnostics()
    source = Source.wrap_buffer(session, module(operands, **dict(attributes)).encode() + b"\0")
    if not (invocation.parse_source(source) and invocation.execute()):
        raise ValueError("the module does not compile")
    output = Output.open_membuffer()
    invocation.output_vm_bytecode(output)
    context = rt.SystemContext(config=CONFIG)
    made = rt.VmModule.copy_buffer(context.instance, bytes(output.map_memory()))
    context.add_vm_module(made)
    return context, made.lookup_function("main")


def gather(*operands, **attributes):
    frozen = tuple((name, tuple(value) if isinstance(value, list) else value) for name, value in attributes.items())
    context, function = compiled(tuple(said for said, _ in operands), frozen)
    arguments, results = rt.VmVariantList(len(operands)), rt.VmVariantList(1)
    for tensor in [tensor for (_, _, data), tensor in operands if data is None]:
        arguments.push_ref(placed(tensor))
    context.vm_context.invoke(function, arguments, results)
    view = results.get_as_object(0, rt.HalBufferView)
    data = view.map().asarray([view.byte_length], np.dtype(np.uint8)).tobytes() if view.byte_length else b""
    return Tensor(operands[0][1].dtype, view.shape, data)


def placed(tensor):
    """The elements of a tensor in a buffer of the runtime."""
    usage = rt.BufferUsage.DEFAULT | rt.BufferUsage.MAPPING
    bytes = np.frombuffer(tensor.data, np.uint8)
    buffer = CONFIG.device.allocator.allocate_buffer_copy(rt.MemoryType.DEVICE_LOCAL, usage, CONFIG.device, bytes)
    return rt.HalBufferView(buffer, tensor.shape, int(getattr(rt.HalElementType, TYPES[tensor.dtype][1])))


def module(operands, slice_sizes=(), indices_are_sorted=False, **numbers):
    """The text of a module. The verifier refuses what breaks a constraint, whatever the type of the result is then."""
    type_of = lambda dtype, dims: f"tensor<{''.join('?x' if dim is None else f'{dim}x' for dim in dims)}{TYPES[dtype][0]}>"
    types = [type_of(dtype, dims) for dtype, dims, _ in operands]
    arguments = ", ".join(f"%{at}: {types[at]}" for at in (0, 1) if operands[at][2] is None)
    dense = lambda data: f'dense<"0x{data.hex()}">' if data else "dense<>"
    known = [(at, data) for at, (_, _, data) in enumerate(operands) if data is not None]
    body = [f"%{at} = stablehlo.constant {dense(data)} : {types[at]}" for at, data in known]
    removed = {*numbers.get("collapsed_slice_dims", ()), *numbers.get("operand_batching_dims", ())}
    offsets = [size for dim, size in enumerate(slice_sizes) if dim not in removed]
    batch = [size for dim, size in enumerate(operands[1][1]) if dim != numbers.get("index_vector_dim", 0)]
    rest = {True: iter(offsets), False: iter(batch)}
    dims = [next(rest[dim in numbers.get("offset_dims", ())], 0) for dim in range(len(offsets) + len(batch))]
    result = type_of(operands[0][0], dims)
    said = ", ".join(f"{name} = {list(value) if isinstance(value, tuple) else value}" for name, value in numbers.items())
    sizes = f"array<i64: {', '.join(map(str, slice_sizes))}>" if slice_sizes else "array<i64>"
    body.append(
        f'%2 = "stablehlo.gather"(%0, %1) <{{dimension_numbers = #stablehlo.gather<{said}>, slice_sizes = {sizes}, '
        f"indices_are_sorted = {str(bool(indices_are_sorted)).lower()}}}> : ({', '.join(types)}) -> {result}"
    )
    return f"func.func @main({arguments}) -> {result} {{\n" + "\n".join(body) + f"\nreturn %2 : {result}\n}}\n"


attributes = "offset_dims collapsed_slice_dims operand_batching_dims start_indices_batching_dims start_index_map".split()
attributes += ["index_vector_dim", "slice_sizes", "indices_are_sorted"]
integers = [dtype for dtype in TYPES if dtype[0] in "iu"]
operator = Operator(gather, TYPES, integers, attributes, bad="clamp", variants=[CONSTANT, SYMBOLIC], compilations=300)
stored = lambda output: output[1] if isinstance(output, tuple) else output
serve(name="iree", version=version("iree-base-compiler"), load=load, store=stored, operators={"stablehlo.gather": operator})
