"""PyTorch on the CPU, by its own operators. Nothing is checked that PyTorch itself does not check."""

import ctypes

import torch

from gatherspec_kit import Operator, Tensor, Unsupported, serve

DTYPES = {
    "bool": torch.bool, "i8": torch.int8, "u8": torch.uint8, "i16": torch.int16, "u16": torch.uint16,
    "i32": torch.int32, "u32": torch.uint32, "i64": torch.int64, "u64": torch.uint64, "f16": torch.float16,
    "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64, "c64": torch.complex64, "c128": torch.complex128,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
TAKEN = [name for name in DTYPES if name not in ("u16", "u32", "u64")]  # the others take() does not implement


def load(tensor):
    if tensor.dtype not in DTYPES:
        raise Unsupported(f"PyTorch has no {tensor.dtype}")
    dtype = DTYPES[tensor.dtype]
    if not tensor.data:  # which frombuffer refuses
        return torch.empty(tensor.shape, dtype=dtype)
    return torch.frombuffer(bytearray(tensor.data), dtype=dtype).reshape(tensor.shape)


def store(output):
    output = output.contiguous()
    return Tensor(NAMES[output.dtype], output.shape, ctypes.string_at(output.data_ptr(), output.nbytes))


def along(function, index_dtypes, attributes):
    """An operator with a `dim`. One that is not given is for PyTorch to refuse."""

    def call(input, index, **attributes):
        return function(input, index=index, **attributes)

    return Operator(call, DTYPES, index_dtypes, attributes, into=call)


serve(
    name="pytorch",
    version=torch.__version__,
    load=load,
    store=store,
    threads=(torch.get_num_threads, torch.set_num_threads),
    operators={
        "torch.gather": along(torch.gather, ["i64"], ["dim", "sparse_grad"]),
        "torch.index_select": along(torch.index_select, ["i32", "i64"], ["dim"]),
        "torch.take": Operator(torch.take, TAKEN, ["i64"], negative="wrap", into=torch.take),
        "torch.take_along_dim": Operator(
            torch.take_along_dim, DTYPES, ["i64"], ["dim"], negative="wrap", into=torch.take_along_dim
        ),
        "torch.nn.functional.embedding": Operator(
            torch.nn.functional.embedding, DTYPES, ["i32", "i64"], ["padding_idx", "scale_grad_by_freq", "sparse"]
        ),
    },
)
