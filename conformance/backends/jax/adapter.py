"""JAX on the CPU. It has neither operator; what is here are its documented idioms: `x.at[...].get` for gather_nd and
`jax.numpy.take` for gather, both with mode="fill" and fill_value=0, so that an index out of range gives zeros, and
`jax.vmap` for a batch. 64-bit dtypes are switched on. Nothing is checked that JAX itself does not check."""

import os
from functools import lru_cache

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np

from gatherspec_kit import NUMPY, Operator, Tensor, numpy_load, numpy_store, serve

jax.config.update("jax_enable_x64", True)
INTEGERS = ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"]


def load(tensor):
    if tensor.dtype == "bf16":
        return jnp.asarray(numpy_load(Tensor("u16", tensor.shape, tensor.data)).view(jnp.bfloat16))
    return jnp.asarray(numpy_load(tensor))


def store(output):
    array = np.asarray(output)
    if array.dtype == jnp.bfloat16:
        return Tensor("bf16", array.shape, array.tobytes())
    return numpy_store(array)


def batched(function, batch_dims):
    """One jax.vmap per batch axis; an axis that is not there is for it to refuse."""
    if batch_dims == 0:
        return function
    return jax.vmap(lambda params, indices: batched(function, batch_dims - 1)(params, indices))


@lru_cache(maxsize=64)
def components(batch_dims):
    """One index array per component: the last axis of indices, taken apart."""
    one = lambda params, indices: params.at[tuple(jnp.unstack(indices, axis=-1))].get(mode="fill", fill_value=0)
    return jax.jit(batched(one, batch_dims))


@lru_cache(maxsize=64)
def take(axis, batch_dims):
    one = lambda params, indices: jnp.take(params, indices, axis=axis, mode="fill", fill_value=0)
    return jax.jit(batched(one, batch_dims))


def gather_nd(params, indices, batch_dims=0):
    return components(batch_dims)(params, indices)


def gather(params, indices, axis=None, batch_dims=0, validate_indices=None):
    if batch_dims < 0:
        batch_dims += indices.ndim
    if axis is None:
        axis = batch_dims
    # Below the batch an axis has another number, and one that lies in the batch must not get a number there.
    inner = axis - batch_dims if axis >= batch_dims else axis if axis < 0 else axis - params.ndim
    return take(inner, batch_dims)(params, indices)


def operator(function, *attributes):
    return Operator(function, [*NUMPY, "bf16"], INTEGERS, attributes, bad="zero", negative="wrap")


serve(
    name="jax",
    version=jax.__version__,
    load=load,
    store=store,
    block=jax.block_until_ready,
    operators={
        "tf.gather_nd": operator(gather_nd, "batch_dims"),
        "tf.raw_ops.GatherNd": operator(gather_nd),
        "tf.gather": operator(gather, "axis", "batch_dims", "validate_indices"),
        "paddle.gather_nd": operator(gather_nd),
    },
)
