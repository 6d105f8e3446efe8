"""PyTorch on the CPU: torch.gather, and `index_select` for tf.gather, with `torch.vmap` for a batch. Nothing is checked
that PyTorch itself does not check."""

import ctypes

import torch

from gatherspec_kit import Operator, Tensor, Unsupported, serve

DTYPES = {
    "bool": torch.bool, "i8": torch.int8, "u8": torch.uint8, "i16": torch.int16, "u16": torch.uint16,
    "i32": torch.int32, "u32": torch.uint32, "i64": torch.int64, "u64": torch.uint64, "f16": torch.float16,
    "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64, "c64": torch.complex64, "c128": torch.complex128,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}


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


def batched(function, batch_dims):
    """One torch.vmap per batch axis; an axis that is not there is for it to refuse."""
    if batch_dims == 0:
        return function
    return torch.vmap(lambda params, indices: batched(function, batch_dims - 1)(params, indices))


def gather(input, index, **attributes):
    """A `dim` that is not given is for PyTorch to refuse."""
    return torch.gather(input, index=index, **attributes)


def tf_gather(params, indices, axis=None, batch_dims=0, validate_indices=None):
    """`index_select` takes a vector of indices, so that their shape is put in afterwards."""
    if batch_dims < 0:
        batch_dims += indices.ndim
    if axis is None:
        axis = batch_dims
    # Below the batch an axis has another number, and one that lies in the batch must not get a number there.
    inner = axis - batch_dims if axis >= batch_dims else axis if axis < 0 else axis - params.ndim

    def one(params, indices):
        rows = params.index_select(inner, indices.reshape(indices.numel()))
        return rows.reshape(params.shape[:inner] + indices.shape + params.shape[inner:][1:])

    return batched(one, batch_dims)(params, indices)


serve(
    name="pytorch",
    version=torch.__version__,
    load=load,
    store=store,
    threads=(torch.get_num_threads, torch.set_num_threads),
    operators={
        "torch.gather": Operator(gather, DTYPES, ["i64"], ["dim", "sparse_grad"]),
        "tf.gather": Operator(tf_gather, DTYPES, ["i32", "i64"], ["axis", "batch_dims", "validate_indices"]),
    },
)
