"""NumPy as a backend: `numpy.take` and `numpy.take_along_axis` as they are. Nothing is checked that NumPy itself does not
check."""

import numpy as np

from gatherspec_kit import NUMPY, Operator, numpy_load, numpy_store, serve

INTEGERS = ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"]
DTYPES = [*NUMPY, "string"]

serve(
    name="numpy",
    version=np.__version__,
    load=numpy_load,
    store=numpy_store,
    operators={
        # The mode of a call chooses, so that what is declared says nothing.
        "numpy.take": Operator(np.take, DTYPES, INTEGERS, ["axis", "mode"]),
        "numpy.take_along_axis": Operator(
            np.take_along_axis, DTYPES, INTEGERS, ["axis"], bad="error", negative="wrap"
        ),
    },
)
