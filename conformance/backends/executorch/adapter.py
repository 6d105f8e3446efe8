"""ExecuTorch on the CPU: those operators of PyTorch for which its wheel has a kernel. Each call is a program of one instruction,
which calls the kernel, for the dims and dtypes of the call; the output has those that PyTorch works out. A constant operand is in
the program, and symbolic dims have bounds of one more."""

from functools import lru_cache
from importlib.metadata import version

import torch
from executorch.exir import schema
from executorch.exir._serialize._program import PTEFile, serialize_pte_binary
from executorch.exir.tensor import scalar_type_enum
from executorch.runtime import Runtime

from gatherspec import CONSTANT, SYMBOLIC, Operator, Tensor, Unsupported, numpy_load, serve

# Programs have no u64.
DTYPES = {
    "bool": torch.bool, "i8": torch.int8, "u8": torch.uint8, "i16": torch.int16, "u16": torch.uint16, "i32": torch.int32,
    "u32": torch.uint32, "i64": torch.int64, "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32,
    "f64": torch.float64, "c64": torch.complex64, "c128": torch.complex128,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}


def load(tensor):
    """The array, and what a program says of it: dtype, dims, whether they are symbolic, and the data of a constant."""
    if tensor.dtype not in DTYPES:
        raise Unsupported(f"ExecuTorch has no {tensor.dtype}")
    dtype, data = DTYPES[tensor.dtype], bytes(tensor.data) if tensor.constant else None
    array = torch.from_numpy(numpy_load(tensor, "<u2")).view(dtype)
    # NumPy's strides of an array without elements end the process.
    return array if array.numel() else torch.empty(tensor.shape, dtype=dtype), (dtype, tensor.shape, None in tensor.dims, data)


def store(output):
    output = output[0] if isinstance(output, tuple) else output  # an operand
    return Tensor(NAMES[output.dtype], output.shape, output.flatten().view(torch.uint8).numpy().tobytes())


def described(dtype, shape, symbolic, buffer, memory):
    bounds = [size + symbolic for size in shape]
    if max(bounds, default=0) >= 1 << 31:
        raise Unsupported("the dims of a program have 32 bits")
    dynamism = schema.TensorShapeDynamism.DYNAMIC_BOUND if symbolic else schema.TensorShapeDynamism.STATIC
    return schema.Tensor(scalar_type_enum(dtype), 0, bounds, [*range(len(bounds))], False, 0, buffer, memory, dynamism)


@lru_cache(maxsize=16)
def program(kernel, arguments, dtype, shape, symbolic):
    """A program for these arguments of the kernel and this output."""
    values, buffers, inputs = [], [b""], []
    for argument in arguments:
        if isinstance(argument, tuple):
            *said, data = argument
            inputs += [len(values)] if data is None else []
            buffers += [] if data is None else [data]
            values.append(described(*said, 0 if data is None else len(buffers) - 1, None))
        else:
            values.append(schema.Bool(argument) if isinstance(argument, bool) else schema.Int(argument))
    output, size = len(values), torch.Size(size + symbolic for size in shape).numel() * dtype.itemsize
    values.append(described(dtype, shape, symbolic, 0, schema.AllocationDetails(1, 0, 0)))
    call = schema.Instruction(schema.KernelCall(0, [*range(output), output, output]))
    plan = schema.ExecutionPlan(
        "forward", schema.ContainerMetadata("", ""), [schema.EValue(value) for value in values], inputs, [output],
        [schema.Chain([], [], [call], None)], [schema.Operator(f"aten::{kernel}", "out")], [], [0, size],
    )
    made = schema.Program(0, [plan], [schema.Buffer(data) for data in buffers], [], [], schema.SubsegmentOffsets(0, []))
    return Runtime.get().load_program(bytes(serialize_pte_binary(PTEFile(made))))


def operator(kernel, order, *names, dtypes=DTYPES, index_dtypes=("i32", "i64")):
    """An operator. `order` brings its arguments into the order of the kernel's, which PyTorch has, too."""

    def call(*operands, **attributes):
        # PyTorch takes what comes after three by name, and no shape depends on it.
        shaped = getattr(torch.ops.aten, kernel)(*order(*(array.to("meta") for array, _ in operands), **attributes)[:3])
        symbolic = any(symbolic for _, (_, _, symbolic, _) in operands)
        pairs = [one if isinstance(one, tuple) else (None, one) for one in order(*operands, **attributes)]
        made = program(kernel, tuple(said for _, said in pairs), shaped.dtype, tuple(shaped.shape), symbolic)
        return made.load_method("forward").execute([array for array, said in pairs if array is not None and said[-1] is None])[0]

    return Operator(call, dtypes, index_dtypes, names, variants=[CONSTANT, SYMBOLIC])


OPERATORS = {
    "torch.gather": operator(
        "gather", lambda input, index, dim, sparse_grad=False: (input, dim, index, sparse_grad), "dim", "sparse_grad",
        dtypes=[name for name in DTYPES if name not in ("u16", "u32", "c64", "c128")], index_dtypes=["i64"],
    ),
    "torch.index_select": operator("index_select", lambda input, index, dim: (input, dim, index), "dim"),
    "torch.nn.functional.embedding": operator(
        "embedding",
        lambda input, weight, padding_idx=None, scale_grad_by_freq=False, sparse=False: (
            weight, input, -1 if padding_idx is None else padding_idx, scale_grad_by_freq, sparse
        ),
        "padding_idx", "scale_grad_by_freq", "sparse",
    ),
}
serve(name="executorch", version=version("executorch"), load=load, store=store, operators=OPERATORS)
