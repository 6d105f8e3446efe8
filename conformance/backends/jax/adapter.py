"""JAX on the CPU: `jax.numpy.take` and `jax.numpy.take_along_axis` as they are. 64-bit dtypes are switched on. Nothing is
checked that JAX itself does not check."""

import os

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


def operator(function):
    return Operator(function, [*NUMPY, "bf16"], INTEGERS, ["axis", "mode"])


serve(
    name="jax",
    version=jax.__version__,
    load=load,
    store=store,
    block=jax.block_until_ready,
    # The mode of a call chooses, so that what is declared says nothing.
    operators={
        "jax.numpy.take": operator(jnp.take),
        "jax.numpy.take_along_axis": operator(jnp.take_along_axis),
    },
)
