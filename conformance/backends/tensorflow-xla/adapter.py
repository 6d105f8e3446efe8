"""TensorFlow's XLA compiler on the CPU: the same functions as the adapter `tensorflow`, under
`tf.function(jit_compile=True)`. XLA clamps what is out of range and has no strings."""

import os
from functools import lru_cache

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import tensorflow as tf

from gatherspec import SIZES, Operator, Tensor, Unsupported, numpy_load, numpy_store, serve


def load(tensor):
    if tensor.dtype == "string":
        raise Unsupported("XLA has no strings")
    if tensor.dtype == "bf16":
        bits = numpy_load(tensor, "<u2")
        return tf.bitcast(tf.constant(bits), tf.bfloat16)
    return tf.constant(numpy_load(tensor), shape=tensor.shape)


def store(output):
    if output.dtype == tf.bfloat16:
        bits = numpy_store(tf.bitcast(output, tf.uint16).numpy())
        return Tensor("bf16", bits.shape, bits.data)
    return numpy_store(output.numpy())


def raw_gather_nd(params, indices):
    return tf.raw_ops.GatherNd(params=params, indices=indices)


@lru_cache(maxsize=64)
def compiled(function, attributes):
    call = lambda params, indices: function(params, indices, **dict(attributes))
    return tf.function(call, autograph=False, jit_compile=True)


def operator(function, index_dtypes, *names):
    def call(params, indices, **attributes):
        return compiled(function, tuple(attributes.items()))(params, indices)

    return Operator(call, SIZES, index_dtypes, names, bad="clamp")


serve(
    name="tensorflow-xla",
    version=tf.__version__,
    load=load,
    store=store,
    operators={
        "tf.gather_nd": operator(tf.gather_nd, ["i32", "i64"], "batch_dims"),
        "tf.raw_ops.GatherNd": operator(raw_gather_nd, ["i16", "i32", "i64"]),
        "tf.gather": operator(tf.gather, ["i32", "i64"], "axis", "batch_dims", "validate_indices"),
    },
)
