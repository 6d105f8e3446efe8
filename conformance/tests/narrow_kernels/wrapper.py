"""A gather_nd in NumPy without batch_dims, which it declares, and NumPy's two functions; right, or with one bug that the first
argument names: 32-bit (indices are cut to 32 bits), modulo (no index is out of range) or flat (only the offset of a row is
checked, which NumPy's functions do themselves)."""

import sys

import numpy as np
from gatherspec import NUMPY, Operator, numpy_load, numpy_store, serve

BUG = sys.argv[1]


def resolved(indices, bounds):
    if BUG == "32-bit":
        indices = indices.astype(np.int32)
    return indices % np.maximum(bounds, 1) if BUG == "modulo" else indices


def take(a, indices, axis=None, mode="raise"):
    return np.take(a, resolved(indices, a.size if axis is None else a.shape[axis]), axis, mode=mode)


def take_along_axis(arr, indices, axis=-1):
    return np.take_along_axis(arr, resolved(indices, arr.size if axis is None else arr.shape[axis]), axis)


def gather_nd(params, indices):
    if indices.dtype not in (np.int32, np.int64):
        raise TypeError("indices are neither int32 nor int64")
    depth = indices.shape[-1]
    bounds = np.array(params.shape[:depth], np.int64)
    if depth > params.ndim:
        raise IndexError("more components than params has axes")
    indices = resolved(indices, bounds).astype(np.int64)
    if BUG != "flat" and ((indices < 0) | (indices >= bounds)).any():
        raise IndexError("a component is out of range")
    rows = params.reshape(-1, *params.shape[depth:])
    strides = np.array([int(np.prod(params.shape[at + 1 : depth])) for at in range(depth)], np.int64)
    flat = (indices * strides).sum(-1, dtype=np.int64)
    if ((flat < 0) | (flat >= len(rows))).any():
        raise IndexError("an offset is out of range")
    return rows[flat, ...]  # an array also of one element: a scalar would make a bool of 0x80 true


without = {"without_attributes": ["batch_dims"], "no_empty": True}
serve(
    name="wrapper",
    version=np.__version__,
    load=numpy_load,
    store=numpy_store,
    operators={
        "tf.gather_nd": Operator(gather_nd, NUMPY, ["i32", "i64"], **without),
        "numpy.take": Operator(take, NUMPY, ["i32", "i64"], ["axis", "mode"]),
        "numpy.take_along_axis": Operator(take_along_axis, NUMPY, ["i32", "i64"], ["axis"], negative="wrap"),
    },
)
