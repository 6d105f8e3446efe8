"""Paddle on the CPU: its own `paddle.gather_nd`, called as it is, or in a static graph of the shapes of the call or of unknown
ones. A constant of such a graph would be a list of numbers, of few dtypes, and tell more of that than of a gather."""

import os

os.environ.setdefault("GLOG_minloglevel", "2")

import paddle

from gatherspec import Operator, Tensor, numpy_load, numpy_store, serve

# What the page lists, and what else Paddle has kernels for or refuses by itself: nothing is kept from it.
DTYPES = ["bool", "i8", "u8", "i16", "i32", "i64", "f32", "f64", "c64", "c128"]
EXECUTOR = paddle.static.Executor(paddle.CPUPlace())


def load(tensor):
    return paddle.to_tensor(numpy_load(tensor), place=paddle.CPUPlace())


def store(output):
    return numpy_store(output.numpy() if isinstance(output, paddle.Tensor) else output)


def graph(function, arguments, shapes):
    """A static graph of a function, run once."""
    feed = {f"x{at}": argument.numpy() for at, argument in enumerate(arguments)}
    program = paddle.static.Program()
    paddle.enable_static()
    try:
        with paddle.static.program_guard(program):
            inputs = zip(feed, shapes, arguments)
            output = function(*[paddle.static.data(name, shape, argument.dtype) for name, shape, argument in inputs])
        return EXECUTOR.run(program, feed=feed, fetch_list=[output])[0]
    finally:
        paddle.disable_static()


def compiled(function):
    return lambda *arguments: graph(function, arguments, [argument.shape for argument in arguments])


def compiled_symbolic(function, arguments):
    return lambda *arguments: graph(function, arguments, [[-1] * argument.ndim for argument in arguments])


paddle.set_device("cpu")
options = {"negative": "wrap", "compile": compiled, "compile_symbolic": compiled_symbolic, "constants": False}
serve(
    name="paddle",
    version=paddle.__version__,
    load=load,
    store=store,
    operators={"paddle.gather_nd": Operator(paddle.gather_nd, DTYPES, ["i32", "i64"], **options)},
)
