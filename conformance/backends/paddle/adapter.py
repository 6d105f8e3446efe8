"""Paddle on the CPU: its own `paddle.gather_nd`, called as it is."""

import os

os.environ.setdefault("GLOG_minloglevel", "2")

import paddle

from gatherspec import Operator, Tensor, numpy_load, numpy_store, serve

# What the page lists, and what else Paddle has kernels for or refuses by itself: nothing is kept from it.
DTYPES = ["bool", "i8", "u8", "i16", "i32", "i64", "f32", "f64", "c64", "c128"]


def load(tensor):
    return paddle.to_tensor(numpy_load(tensor), place=paddle.CPUPlace())


def store(output):
    return numpy_store(output.numpy())


paddle.set_device("cpu")
serve(
    name="paddle",
    version=paddle.__version__,
    load=load,
    store=store,
    operators={"paddle.gather_nd": Operator(paddle.gather_nd, DTYPES, ["i32", "i64"], negative="wrap")},
)
