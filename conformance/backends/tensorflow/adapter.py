"""TensorFlow on the CPU: its own `tf.gather_nd`, `tf.gather` and `tf.raw_ops.GatherNd`, called as they are: eagerly, or in a
`tf.function`, with operands that are constants of its graph, or arguments whose dims it does not know."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import tensorflow as tf

from gatherspec import SIZES, Operator, Tensor, numpy_load, numpy_store, serve


def load(tensor):
    if tensor.dtype == "bf16":
        bits = numpy_load(tensor, "<u2")
        return tf.bitcast(tf.constant(bits), tf.bfloat16)
    array = numpy_load(tensor)
    return tf.constant(array, dtype=tf.string if tensor.dtype == "string" else None, shape=tensor.shape)


def store(output):
    if output.dtype == tf.bfloat16:
        bits = numpy_store(tf.bitcast(output, tf.uint16).numpy())
        return Tensor("bf16", bits.shape, bits.data)
    return numpy_store(output.numpy())


def raw_gather_nd(params, indices):
    return tf.raw_ops.GatherNd(params=params, indices=indices)


def with_unknown_dims(function, arguments):
    unknown = [tf.TensorSpec([None] * argument.shape.rank, argument.dtype) for argument in arguments]
    return tf.function(function, input_signature=unknown)


def operator(function, index_dtypes, *attributes):
    return Operator(
        function,
        [*SIZES, "string"],
        index_dtypes,
        attributes,
        compile=tf.function,
        compile_symbolic=with_unknown_dims,
        compilations=250,  # each takes some 15 ms, many times as long as an eager call
    )


serve(
    name="tensorflow",
    version=tf.__version__,
    load=load,
    store=store,
    operators={
        "tf.gather_nd": operator(tf.gather_nd, ["i32", "i64"], "batch_dims"),
        "tf.raw_ops.GatherNd": operator(raw_gather_nd, ["i16", "i32", "i64"]),
        "tf.gather": operator(tf.gather, ["i32", "i64"], "axis", "batch_dims", "validate_indices"),
    },
)
