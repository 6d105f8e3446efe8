"""NumPy as a backend. It has neither operator; what is here are its documented idioms: integer array indexing for
gather_nd, `numpy.take` for gather, and open grids of batch indices beside them. Nothing is checked that NumPy itself
does not check."""

import numpy as np

from gatherspec_kit import NUMPY, Operator, numpy_load, numpy_store, serve

INTEGERS = ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"]
DTYPES = [*NUMPY, "string"]


def batch_grid(shape, batch_dims, rank):
    """One index array per batch axis, each along its own axis of `rank`."""
    axes = range(batch_dims)
    return tuple(np.arange(shape[axis]).reshape([-1 if at == axis else 1 for at in range(rank)]) for axis in axes)


def gather_nd(params, indices, batch_dims=0):
    """One index array per component: the last axis of indices, taken apart."""
    components = tuple(np.moveaxis(indices, -1, 0))
    return params[batch_grid(params.shape, batch_dims, indices.ndim - 1) + components]


def gather(params, indices, axis=None, batch_dims=0, validate_indices=None):
    """`take` along an axis; with a batch, integer array indexing with that axis in front of the others."""
    if batch_dims < 0:
        batch_dims += indices.ndim
    if axis is None:
        axis = batch_dims
    if batch_dims == 0:
        return np.take(params, indices, axis=axis)
    front = np.moveaxis(params, axis, batch_dims)
    output = front[batch_grid(params.shape, batch_dims, indices.ndim) + (indices,)]
    if axis < 0:
        axis += params.ndim
    middle = indices.ndim - batch_dims
    return np.moveaxis(output, range(batch_dims, batch_dims + middle), range(axis, axis + middle))


def operator(function, *attributes):
    return Operator(function, DTYPES, INTEGERS, attributes, bad="error", negative="wrap")


serve(
    name="numpy",
    version=np.__version__,
    load=numpy_load,
    store=numpy_store,
    operators={
        "tf.gather_nd": operator(gather_nd, "batch_dims"),
        "tf.raw_ops.GatherNd": operator(gather_nd),
        "tf.gather": operator(gather, "axis", "batch_dims", "validate_indices"),
        "paddle.gather_nd": operator(gather_nd),
    },
)
