"""NumPy as a backend: `numpy.take`, `numpy.take_along_axis` and `x[obj]` as they are, and the first two again as the Array
API's functions, since NumPy's main namespace implements that standard. Nothing is checked that NumPy itself does not check."""

import numpy as np

from gatherspec import LAYOUTS, NUMPY, Operator, numpy_load, numpy_store, serve

INTEGERS = ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"]
DTYPES = [*NUMPY, "string"]
STANDARD = [dtype for dtype in NUMPY if dtype not in ("f16", "bf16")]


def standard(function):
    """A function as the Array API calls it: arrays by position, all else by name."""
    return lambda x, indices, **attributes: function(x, indices, **attributes)


serve(
    name="numpy",
    version=np.__version__,
    load=numpy_load,
    store=numpy_store,
    operators={
        "numpy.ndarray.__getitem__": Operator(
            lambda x, obj: x[obj], DTYPES, INTEGERS, bad="error", negative="wrap", variants=LAYOUTS
        ),
        # The mode of a call chooses, so that what is declared says nothing.
        "numpy.take": Operator(np.take, DTYPES, INTEGERS, ["axis", "mode"], into=np.take, variants=LAYOUTS),
        "numpy.take_along_axis": Operator(
            np.take_along_axis, DTYPES, INTEGERS, ["axis"], bad="error", negative="wrap", variants=LAYOUTS
        ),
        "array_api.take": Operator(
            standard(np.take), STANDARD, INTEGERS, ["axis"], bad="error", negative="wrap",
            into=standard(np.take), variants=LAYOUTS,
        ),
        "array_api.take_along_axis": Operator(
            standard(np.take_along_axis), STANDARD, INTEGERS, ["axis"], bad="error", negative="wrap", variants=LAYOUTS
        ),
    },
)
