"""What GatherSpec tests: a function of yours, and what it promises. Here it is NumPy's indexing along the first axis."""

from gatherspec import Operator, numpy_load, numpy_store, serve


def my_gather(x, indices):
    return x[indices]


serve(
    name="mine",
    version="1.0",
    load=numpy_load,  # a tensor to your array type; here NumPy's
    store=numpy_store,  # your array to a tensor
    operators={
        # `gatherspec list operators` prints the operators that there are, `gatherspec show NAME` what one promises.
        "numpy.ndarray.__getitem__": Operator(
            my_gather,
            dtypes=["f32", "f64", "i32", "i64"],  # of x
            index_dtypes=["i32", "i64"],
            attributes=[],  # passed as keywords
            bad="error",  # a bad index raises an exception; or `zero`, `clamp`, `unspecified`
            negative="wrap",  # a negative index counts from the end; or `reject`
        ),
    },
)
