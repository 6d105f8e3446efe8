"""NumPy's take in every variant that the kit can make: right, or wrong in the one that the first argument names, as a mistake in
the adapter would be. A compiled function is a function."""

import sys

import numpy as np
from gatherspec import LAYOUTS, NUMPY, Operator, numpy_load, numpy_store, serve

BUG = sys.argv[1]


def spoiled(array):
    """The same with its elements moved by one, or if they are all equal raised by one."""
    moved = np.roll(array, 1)
    return moved if (moved != array).any() else (array + 1).astype(array.dtype)


def load(tensor):
    array = numpy_load(tensor)
    made = "constant" if tensor.constant else tensor.layout
    return spoiled(array) if BUG == f"{tensor.operand}={made}" else array


def compiled(function):
    return (lambda *operands: spoiled(function(*operands))) if BUG == "execution=compiled" else function


def compiled_symbolic(function, operands):
    return (lambda *operands: spoiled(function(*operands))) if BUG == "shapes=symbolic" else function


def take(a, indices, **attributes):
    output = np.take(a, indices, **attributes)
    return spoiled(output) if BUG == "indices=view" and np.shares_memory(a, indices) else output


operator = Operator(
    take, NUMPY, ["i32", "i64"], ["axis"], negative="wrap", variants=LAYOUTS, compile=compiled,
    compile_symbolic=compiled_symbolic, without_attributes=["mode"],
)
serve(name="variants", version=np.__version__, load=load, store=numpy_store, operators={"numpy.take": operator})
