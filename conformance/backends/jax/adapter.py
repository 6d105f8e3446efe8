"""JAX on the CPU: `jax.numpy.take`, `jax.numpy.take_along_axis`, `jax.lax.gather` and `x[idx]` as they are. 64-bit
dtypes are switched on. Nothing is checked that JAX itself does not check."""

import os

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np

from gatherspec import NUMPY, Operator, numpy_load, numpy_store, serve

jax.config.update("jax_enable_x64", True)
INTEGERS = ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"]


def load(tensor):
    return jnp.asarray(numpy_load(tensor, jnp.bfloat16))


def store(output):
    return numpy_store(np.asarray(output))


NUMBERS = ["offset_dims", "collapsed_slice_dims", "start_index_map", "operand_batching_dims", "start_indices_batching_dims"]
OTHERS = ["slice_sizes", "unique_indices", "indices_are_sorted", "mode", "fill_value"]


def gather(operand, start_indices, **attributes):
    """The dimension numbers are one argument; each of their fields is an attribute here."""
    numbers = {name: tuple(attributes.pop(name)) for name in NUMBERS if name in attributes}
    return jax.lax.gather(operand, start_indices, jax.lax.GatherDimensionNumbers(**numbers), **attributes)


def operator(function, attributes=("axis", "mode", "fill_value")):
    def call(*operands, **attributes):
        if attributes.get("fill_value") is not None:  # JAX takes a scalar, and no array
            attributes["fill_value"] = np.asarray(attributes["fill_value"])[()]
        return function(*operands, **attributes)

    return Operator(call, [*NUMPY, "bf16"], INTEGERS, attributes, compile=jax.jit)


serve(
    name="jax",
    version=jax.__version__,
    load=load,
    store=store,
    block=jax.block_until_ready,
    # Where a call has a mode, that chooses, so that what is declared says nothing.
    operators={
        "jax.Array.__getitem__": Operator(
            lambda x, idx: x[idx], [*NUMPY, "bf16"], INTEGERS, bad="clamp", negative="wrap", compile=jax.jit
        ),
        "jax.numpy.take": operator(jnp.take),
        "jax.numpy.take_along_axis": operator(jnp.take_along_axis),
        "jax.lax.gather": operator(gather, [*NUMBERS, *OTHERS]),
    },
)
