"""PyTorch on the CPU, by its own operators: eagerly, in any strides that it has, and compiled by `torch.compile`, for the
shapes of the call or for dynamic ones. Nothing is checked that PyTorch itself does not check."""

import ctypes
import os
import shutil
import warnings

# Else it starts processes that compile, which hold up the end of this one.
os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"

import torch

from gatherspec import Operator, Tensor, Unsupported, numpy_load, serve

DTYPES = {
    "bool": torch.bool, "i8": torch.int8, "u8": torch.uint8, "i16": torch.int16, "u16": torch.uint16,
    "i32": torch.int32, "u32": torch.uint32, "i64": torch.int64, "u64": torch.uint64, "f16": torch.float16,
    "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64, "c64": torch.complex64, "c128": torch.complex128,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
TAKEN = [name for name in DTYPES if name not in ("u16", "u32", "u64")]  # the others take() does not implement
# It has no negative strides.
LAYOUTS = [f"operands={layout}" for layout in ("transposed", "offset", "stride-0", "view")]


def load(tensor):
    if tensor.dtype not in DTYPES:
        raise Unsupported(f"PyTorch has no {tensor.dtype}")
    if tensor.constant:
        # Of a list, within what is compiled: any other tensor would become an argument.
        elements, shape = listed(tensor)
        return torch.tensor(elements, dtype=DTYPES[tensor.dtype]).reshape(shape)
    return torch.from_numpy(numpy_load(tensor, "<u2")).view(DTYPES[tensor.dtype])


@torch.compiler.assume_constant_result
def listed(tensor):
    return numpy_load(tensor).ravel().tolist(), tensor.shape


def store(output):
    output = output.contiguous()
    return Tensor(NAMES[output.dtype], output.shape, ctypes.string_at(output.data_ptr(), output.nbytes))


def compiled(function, arguments=(), dynamic=False):
    torch.compiler.reset()  # after some compilations of a function it would be called eagerly
    return torch.compile(function, fullgraph=True, dynamic=dynamic)


def operator(function, indices, *more, **options):
    if COMPILES:
        options |= {"compile": compiled, "compile_symbolic": lambda *made: compiled(*made, dynamic=True)}
    variants = [*LAYOUTS, f"{indices}=constant"] if COMPILES else LAYOUTS
    return Operator(function, *more, variants=variants, constants=False, compilations=60, **options)


def along(function, index_dtypes, attributes):
    """An operator with a `dim`. One that is not given is for PyTorch to refuse."""

    def call(input, index, **attributes):
        return function(input, index=index, **attributes)

    return operator(call, "index", DTYPES, index_dtypes, attributes, into=call)


# Of arrays with a stride of 0, which are not written to.
warnings.filterwarnings("ignore", "The given NumPy array is not writable")
# It compiles by a compiler of C++, which takes some seconds the first time: longer than a call may.
COMPILES = shutil.which(os.environ.get("CXX", "g++")) is not None
if COMPILES:
    compiled(torch.neg)(torch.ones(1))
serve(
    name="pytorch",
    version=torch.__version__,
    load=load,
    store=store,
    threads=(torch.get_num_threads, torch.set_num_threads),
    operators={
        "torch.gather": along(torch.gather, ["i64"], ["dim", "sparse_grad"]),
        "torch.index_select": along(torch.index_select, ["i32", "i64"], ["dim"]),
        "torch.take": operator(torch.take, "index", TAKEN, ["i64"], negative="wrap", into=torch.take),
        "torch.take_along_dim": operator(
            torch.take_along_dim, "indices", DTYPES, ["i64"], ["dim"], negative="wrap", into=torch.take_along_dim
        ),
        "torch.nn.functional.embedding": operator(
            torch.nn.functional.embedding, "input", DTYPES, ["i32", "i64"], ["padding_idx", "scale_grad_by_freq", "sparse"]
        ),
    },
)
