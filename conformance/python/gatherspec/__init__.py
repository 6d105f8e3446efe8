"""What an adapter needs to answer the backend protocol of GatherSpec, version 2. Standard library only.

    from gatherspec import Operator, serve

    def gather_nd(params, indices, batch_dims=0):
        ...

    serve(
        name="mine", version="1.0", load=to_my_array, store=to_tensor,
        operators={"tf.gather_nd": Operator(gather_nd, dtypes=["f32"], index_dtypes=["i32", "i64"])},
    )

`load` makes the library's array of a Tensor, `store` makes a Tensor of what the function returned; for NumPy arrays
both are here: `numpy_load`, `numpy_store`, and for models of ONNX `onnx_operand`, `onnx_model`. An attribute that is an element,
such as `fill_value`, comes through `load` too, with the shape (). An exception is an error without a code, and its traceback
goes to standard error, as does anything that the library prints. `Unsupported` says that there is no such thing. After each call the kit stores the operands as well: one
that the function wrote to is `input-changed`.

A call may be made in several ways, its variants. `variants=LAYOUTS` of an operator declares that its operands may have any
strides: `numpy_load` lays them out, and another `load` finds the layout at the Tensor. Views of earlier operands are slices that
the kit takes of what `load` made. `compile=jax.jit` declares that the
function may be compiled, as a whole or with constants for operands: the kit makes a function of those operands that are no
constants, which loads the others while it is compiled.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import json
import math
import mmap
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from typing import Any

SIZES = {
    "bool": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "f16": 2, "bf16": 2, "i32": 4, "u32": 4, "f32": 4,
    "i64": 8, "u64": 8, "f64": 8, "c64": 8, "c128": 16,
}
# The layouts that `numpy_load` makes, and views of the arrays that it made.
LAYOUTS = [f"operands={layout}" for layout in ("transposed", "offset", "reversed", "stride-0", "view", "read-only")]
CONSTANT, COMPILED, SYMBOLIC = "operands=constant", "execution=compiled", "shapes=symbolic"
# Files of more bytes than this are mapped into memory instead of being read. A write to them ends the process.
LARGE = 256 << 20
MAX_RANK = 64
LIMITS = {"max_rank", "no_scalars", "no_empty", "max_elements", "max_output_bytes", "axes", "without_attributes"}
NUMPY = {
    "bool": "?", "i8": "<i1", "u8": "<u1", "i16": "<i2", "u16": "<u2", "f16": "<f2", "i32": "<i4", "u32": "<u4",
    "f32": "<f4", "i64": "<i8", "u64": "<u8", "f64": "<f8", "c64": "<c8", "c128": "<c16",
}
# The numbers of the types in ONNX.
ONNX = {
    "bool": 9, "i8": 3, "u8": 2, "i16": 5, "u16": 4, "i32": 6, "u32": 12, "i64": 7, "u64": 13, "f16": 10, "bf16": 16,
    "f32": 1, "f64": 11, "string": 8, "c64": 14, "c128": 15,
}


class Unsupported(Exception):
    """The library has no such thing."""


class Invalid(Exception):
    """The message breaks the protocol."""


class Tensor:
    """A dtype, a shape, and little-endian, row-major bytes; for strings a list of bytes objects. `data` is a bytes object, or
    above 256 MiB a read-only memoryview of a file. ctypes takes only the first by itself; both have the address
    `numpy.frombuffer(data, "u1").ctypes.data`.

    An operand has its name as `operand`. Its variant is `layout`, such as "transposed", and whether it is `constant`; `dims` is
    the shape for which the function shall be made, with None for each dim that it shall not know."""

    operand: str | None = None
    layout: str | None = None
    view: bool = False
    constant: bool = False

    def __init__(self, dtype: str, shape: Iterable[int], data: bytes | memoryview | list[bytes]) -> None:
        self.dtype, self.shape, self.data = dtype, tuple(shape), data
        self.dims: tuple[int | None, ...] = self.shape


class Operator:
    """What answers an operator, and what it declares. `into` is the function that writes to an output which it gets as
    `out`, for timing; None if the library has none. `limits` says what the function does not take: max_rank, no_scalars,
    no_empty, max_elements, max_output_bytes, axes, without_attributes. `more_dtypes` and `more_index_dtypes` are those that
    it takes and the operator's page does not list.

    `variants` are the ways in which the function can be called besides the usual one: LAYOUTS, CONSTANT and SYMBOLIC where
    `load` sees to it, or texts such as "indices=constant". `compile` makes a compiled function of a function, and declares
    COMPILED and, unless `constants` is False, CONSTANT; `compile_symbolic` does so for arguments of unknown dims, which it gets as
    well, and declares SYMBOLIC; with `known_depth` the last dim of the last operand stays known, where the rank of an output depends on it.
    `compilations` is the most calls to compile in a run of the whole suite."""

    def __init__(
        self,
        function: Callable[..., Any],
        dtypes: Iterable[str],
        index_dtypes: Iterable[str],
        attributes: Iterable[str] = (),
        bad: str = "error",
        negative: str = "reject",
        into: Callable[..., Any] | None = None,
        more_dtypes: Iterable[str] = (),
        more_index_dtypes: Iterable[str] = (),
        variants: Iterable[str] = (),
        compile: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None,
        compile_symbolic: Callable[[Callable[..., Any], list[Any]], Callable[..., Any]] | None = None,
        constants: bool = True,
        known_depth: bool = False,
        compilations: int | None = None,
        **limits: Any,
    ) -> None:
        unknown = sorted(set(limits) - LIMITS)
        if unknown:
            raise TypeError(f"unknown limits: {', '.join(unknown)}; there are {', '.join(sorted(LIMITS))}")
        self.function, self.attributes, self.into = function, attributes, into
        self.compile, self.compile_symbolic, self.known_depth = compile, compile_symbolic, known_depth
        compiled = [COMPILED, *([CONSTANT] if constants else [])] if compile else []
        variants = [*variants, *compiled, *([SYMBOLIC] if compile_symbolic else [])]
        self.declared = {
            "profile": {"bad": bad, "negative": negative},
            "dtypes": list(dtypes),
            "index_dtypes": list(index_dtypes),
        }
        more = {"dtypes": list(more_dtypes), "index_dtypes": list(more_index_dtypes)}
        extends = {name: of for name, of in more.items() if of}
        optional = {"limits": limits, "extends": extends, "variants": variants, "compilations": compilations}
        self.declared.update((key, value) for key, value in optional.items() if value)

    def has(self, axis: str, way: str) -> bool:
        """Whether a value of a variant is declared."""
        axes = (axis,) if axis in ("shapes", "execution") else (axis, "operands")
        return any(f"{one}={way}" in self.declared.get("variants", ()) for one in axes)


def numpy_load(tensor: Tensor, bfloat16: Any = None) -> Any:
    """A NumPy array in the layout of the tensor, writable unless it has more than 256 MiB or its layout says otherwise; strings
    are an array of bytes objects. NumPy has no bf16: `bfloat16` is the type that a library brings for
    it, or "<u2" for its bits."""
    import numpy

    if tensor.dtype == "string":
        array = numpy.empty(len(tensor.data), dtype=object)
        array[:] = tensor.data
        return _laid_out(array.reshape(tensor.shape), tensor.layout)
    dtype = bfloat16 if tensor.dtype == "bf16" else NUMPY.get(tensor.dtype)
    if dtype is None:
        raise Unsupported(f"NumPy has no {tensor.dtype}")
    array = numpy.frombuffer(tensor.data, dtype)
    array = (array if isinstance(tensor.data, memoryview) else array.copy()).reshape(tensor.shape)
    return _laid_out(array, tensor.layout)


def onnx_operand(tensor: Tensor) -> tuple[int, tuple[int | str, ...], Any]:
    """What a model of ONNX says of an operand: the number of its type, its dims, unknown ones as names, and the data of a
    constant."""
    dims = [f"{tensor.operand}{axis}" if dim is None else dim for axis, dim in enumerate(tensor.dims)]
    constant = (tuple if tensor.dtype == "string" else bytes)(tensor.data) if tensor.constant else None
    return ONNX[tensor.dtype], tuple(dims), constant


def onnx_model(kind: str, opset: int, attributes: dict[str, Any], operands: Iterable[Any]) -> Any:
    """A model of one node of an operator set, with the operands P and I, as `onnx_operand` says them, and the output O. A constant
    is an initializer, which is no input."""
    from onnx import helper

    inputs, constants = [], []
    for name, (number, dims, data) in zip("PI", operands):
        if data is None:
            inputs.append(helper.make_tensor_value_info(name, number, dims))
        else:
            constants.append(helper.make_tensor(name, number, dims, data, raw=isinstance(data, bytes)))
    node = helper.make_node(kind, ["P", "I"], ["O"], **attributes)
    result = helper.make_tensor_value_info("O", operands[0][0], None)
    graph = helper.make_graph([node], "gather", inputs, [result], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def _laid_out(array, layout):
    """The same array with other strides."""
    import numpy

    if layout == "transposed":
        return numpy.asfortranarray(array)
    if layout == "reversed":
        backwards = (slice(None, None, -1),) * array.ndim
        return array[backwards].copy()[backwards]
    if layout == "stride-0":
        repeated = [_is_repeated(array, axis) for axis in range(array.ndim)]
        one = array[tuple(slice(0, 1 if again else None) for again in repeated)].copy()
        # A dim of size 1 may have any stride, and that of one element is taken for the stride of rows.
        strides = [array.itemsize * (dim == 1) if again else stride
                   for again, dim, stride in zip(repeated, array.shape, one.strides)]
        return numpy.lib.stride_tricks.as_strided(one, array.shape, strides, writeable=False)
    if layout == "offset":
        padded = _padded(array.shape)
        count = 3 + int(numpy.prod(padded))
        if array.dtype == object:
            whole = numpy.full(count, b"garbage", object)
        else:
            whole = numpy.frombuffer(bytearray(b"\xa5" * (count * array.itemsize)), array.dtype)
        # With an ellipsis it is an array also if there are no dims.
        window = whole[3:].reshape(padded)[(..., *(slice(dim) for dim in array.shape))]
        window[...] = array
        return window
    if layout == "read-only":
        array.flags.writeable = False
    return array


def _view(tensor, operands, loaded):
    """The part of the first array that holds the elements of a tensor; None if none does."""
    for name, array in loaded.items():
        of = operands[name]
        if of.dtype == tensor.dtype and of.shape and 0 not in tensor.shape:
            is_row = tensor.shape == of.shape[1:]
            if is_row or tensor.shape[1:] == of.shape[1:]:
                row, length = len(of.data) // of.shape[0], len(tensor.data)
                for first in range(of.shape[0]):
                    if of.data[first * row : first * row + length] == tensor.data:
                        # With an ellipsis it is a view also if there are no dims.
                        return array[(first if is_row else slice(first, first + tensor.shape[0]), ...)]
    return None


def _is_repeated(array, axis):
    """Whether all slices along an axis are equal, bit by bit."""
    slices = (array.take([at], axis) for at in range(array.shape[axis]))
    return len({tuple(one.ravel().tolist()) if one.dtype == object else one.tobytes() for one in slices}) == 1


def _padded(shape):
    """The dims of a buffer around a window: one more from the last axis on, as long as it stays small."""
    padded, count = list(shape), math.prod(shape)
    most = max(4 * count, 4096)
    for axis in reversed(range(len(shape))):
        count = count // shape[axis] * (shape[axis] + 1) if shape[axis] else most + 1
        if count > most:
            break
        padded[axis] += 1
    return padded


def numpy_store(array: Any) -> Tensor:
    """A tensor of a NumPy array or scalar."""
    import numpy

    # One element of an array of objects comes as the object itself, which NumPy would take for a text of its own.
    array = numpy.asarray(array, dtype=object if isinstance(array, bytes) else None)
    if array.dtype == object:
        return Tensor("string", array.shape, array.ravel().tolist())
    if array.dtype.name == "bfloat16":
        return Tensor("bf16", array.shape, array.tobytes())
    for dtype, name in NUMPY.items():
        if array.dtype == numpy.dtype(name):
            return Tensor(dtype, array.shape, array.astype(name, copy=False).tobytes())
    raise TypeError(f"a result of dtype {array.dtype}")


def serve(
    name: str,
    version: str,
    operators: dict[str, Operator],
    load: Callable[[Tensor], Any],
    store: Callable[[Any], Tensor],
    language: str = "Python",
    block: Callable[[Any], Any] | None = None,
    threads: tuple[Callable[[], int], Callable[[int], Any]] | None = None,
    timed: Callable[[], Any] | None = None,
) -> None:
    """Answers requests until `stop` or the end of input. `block` waits for a result that is computed in the
    background; `threads` is a pair of functions: one gives the most threads that a call may use, the other sets it;
    `timed` is called before the first timing, for settings that only pay where a call is repeated."""
    backend = {"name": name, "version": version, "language": language}
    session = Session(backend, _Backend(operators, load, store, block or (lambda output: output), threads, timed))
    if Session.host:
        Session.host(session)
        return
    # Standard output is the protocol's alone: prints of the library, also from C, go to standard error.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        reply = session.reply(line)
        if reply is None:
            return
        replies.write(json.dumps(reply).encode() + b"\n")
        replies.flush()


class Session:
    """What `serve` serves. A program that runs an adapter itself sets `Session.host`, a function that `serve` then gives the session
    to, in place of standard input and output."""

    host: Callable[[Session], Any] | None = None

    def __init__(self, identity: dict[str, str], backend: _Backend) -> None:
        self.identity, self._backend = identity, backend

    def reply(self, line: bytes) -> dict[str, Any] | None:
        """The reply to a request; None to `stop`."""
        seq = None
        try:
            message = _parse(line)
            if type(message.get("seq")) is int and message["seq"] >= 0:
                seq = message["seq"]
            command = message.get("cmd")
            if command == "stop" and _keys(message, ["cmd"]):
                return None
            if command == "start" and _keys(message, ["cmd", "protocol"]):
                operators = {name: operator.declared for name, operator in self._backend.operators.items()}
                return {"protocol": 2, "backend": self.identity, "operators": operators}
            if command == "call" and _keys(message, CALL, ["variant"]):
                return self._backend.call(message)
            if command == "time" and _keys(message, CALL + ["rounds", "min_round_ns"], ["threads", "output"]):
                return self._backend.time(message)
            raise Invalid("cmd is none of start, call, time and stop")
        except Invalid as wrong:
            return {"seq": seq, "invalid": str(wrong)}


CALL = ["cmd", "seq", "operator", "operands", "attributes"]


class _Backend:
    def __init__(self, operators, load, store, block, threads, timed):
        self.operators, self.load, self.store, self.block = operators, load, store, block
        self.threads, self.timed = threads, timed
        self.placed = {}

    def call(self, message):
        seq = _count(message["seq"], "seq")
        operands = {name: _tensor(tensor, name) for name, tensor in _operands(message).items()}
        attributes = _attributes(message["attributes"])
        variant = _variant(message.get("variant", ""))
        loaded = {}

        def answer():
            function = self._function(message["operator"], attributes)
            operator = self.operators[message["operator"]]
            self._vary(operands, variant, operator)
            compile = self._compiler(variant, operator)
            for name, tensor in operands.items():
                if not (compile and tensor.constant):
                    view = _view(tensor, operands, loaded) if tensor.view else None
                    loaded[name] = self.load(tensor) if view is None else view
            named = self._loaded(attributes)
            if compile:
                function = compile(self._with_constants(function, operands, named), list(loaded.values()))
                named = {}
            output = function(*loaded.values(), **named)
            return {"seq": seq, "output": _message(self.store(self.block(output)))}

        reply = _guarded(seq, answer)
        for name, array in loaded.items():
            if self._changed(operands[name], array, message["operands"][name], name):
                return {"seq": seq, "invalid": f"the function wrote to its operand {name}", "fault": "input-changed"}
        return reply

    @staticmethod
    def _vary(operands, variant, operator):
        """Tells the operands in which variant the call is."""
        for axis, way in variant.items():
            if not operator.has(axis, way):
                raise Unsupported(f"no variant {axis}={way}")
            if axis in operands:
                operands[axis].constant, operands[axis].view = way == "constant", way == "view"
                operands[axis].layout = None if way in ("constant", "view") else way
        last = next(reversed(operands), None)
        for name, tensor in operands.items():
            tensor.operand = name
            if "shapes" in variant and not tensor.constant:
                depth = tensor.shape[-1:] if operator.known_depth and name == last else ()
                tensor.dims = (None,) * (len(tensor.shape) - len(depth)) + depth

    @staticmethod
    def _compiler(variant, operator):
        """What compiles the function for a call in a variant; None if nothing does."""
        if "shapes" in variant and operator.compile_symbolic:
            return operator.compile_symbolic
        if operator.compile and any(way in ("constant", "compiled") for way in variant.values()):
            return lambda function, arguments: operator.compile(function)
        return None

    def _with_constants(self, function, operands, attributes):
        """A function of the operands that are no constants. It loads the others where it is called: while it is compiled."""
        if not any(tensor.constant for tensor in operands.values()):
            return lambda *arguments: function(*arguments, **attributes)

        def of_arguments(*arguments):
            rest = iter(arguments)
            whole = [self.load(tensor) if tensor.constant else next(rest) for tensor in operands.values()]
            return function(*whole, **attributes)

        return of_arguments

    def _changed(self, tensor, array, message, name):
        """Whether a call wrote to an operand: to the tensor of the kit, which an array may share, or to the array."""
        if isinstance(tensor.data, memoryview):
            return False
        fresh = _tensor(message, name)
        fresh.operand, fresh.layout, fresh.dims = name, tensor.layout, tensor.dims
        if tensor.data != fresh.data:
            return True
        stored = self._stored(array)
        if stored in (None, (fresh.dtype, fresh.shape, fresh.data)):
            return False
        # What `load` or `store` loses, they lose of a fresh operand, too.
        return self._stored(fresh, self.load) not in (None, stored)

    def _stored(self, operand, load=lambda array: array):
        """An operand as a value; None if `store` takes outputs only, or there is no memory for another one."""
        try:
            tensor = self.store(load(operand))
        except Exception:
            return None
        return tensor.dtype, tensor.shape, tensor.data

    def _loaded(self, attributes):
        return {name: self.load(value) if isinstance(value, Tensor) else value for name, value in attributes.items()}

    def time(self, message):
        seq = _count(message["seq"], "seq")
        rounds, least = (_count(message[key], key) for key in ("rounds", "min_round_ns"))
        most = _count(message["threads"], "threads") if "threads" in message else None
        if most == 0:
            raise Invalid("threads is 0")
        if message.get("output", "fresh") not in ("fresh", "pooled", "into"):
            raise Invalid("output is none of fresh, pooled and into")
        attributes = _attributes(message["attributes"])

        def answer():
            function = self._function(message["operator"], attributes)
            if self.timed:
                self.timed()
                self.timed = None
            operands = [self._place(name, tensor) for name, tensor in _operands(message).items()]
            loaded = self._loaded(attributes)
            run = lambda: self.block(function(*operands, **loaded))
            if message.get("output", "fresh") != "fresh":
                run = self._into(message, run(), operands, loaded)
            with self._at_most(most) as used:
                run()  # Compiles what is compiled, and touches memory that later calls reuse.
                times = [self._round(run, least) for _ in range(rounds)]
            return {"seq": seq, "nanoseconds": times, **({} if used is None else {"threads": used})}

        return _guarded(seq, answer)

    @contextlib.contextmanager
    def _at_most(self, most):
        """Limits the threads, unless `most` is None; gives how many a call may use, None if that is not known."""
        if self.threads is None:
            if most is not None:
                raise Unsupported("this backend cannot limit its threads")
            yield None
            return
        get, limit = self.threads
        usual = get()
        if most is None:
            yield usual
            return
        limit(min(most, usual))
        try:
            yield get()
        finally:
            limit(usual)

    def _function(self, name, attributes):
        operator = self.operators.get(name)
        if operator is None:
            raise Unsupported(f"no operator {name}")
        for attribute in attributes:
            if attribute not in operator.attributes:
                raise Unsupported(f"{name} has no attribute {attribute}")
        return operator.function

    def _place(self, operand, tensor):
        """The operand in the library's memory, kept as long as it comes from the same place."""
        key = json.dumps(tensor, sort_keys=True)
        if self.placed.get(operand, (None,))[0] != key or "file" not in tensor:
            self.placed[operand] = (key, self.load(_tensor(tensor, operand)))
        return self.placed[operand][1]

    def _into(self, message, output, operands, attributes):
        """Runs the call into an output that was made before, where the library can."""
        into = self.operators[message["operator"]].into
        if message["output"] != "into" or into is None:
            raise Unsupported(f"this backend has no outputs of the kind {message['output']}")
        return lambda: self.block(into(*operands, out=output, **attributes))

    def _round(self, run, least):
        start = time.perf_counter_ns()
        calls = 0
        while True:
            run()
            calls += 1
            elapsed = time.perf_counter_ns() - start
            if elapsed >= least:
                return elapsed / calls


def _guarded(seq, answer):
    try:
        return answer()
    except Invalid:
        raise
    except Unsupported as why:
        return {"seq": seq, "unsupported": str(why)}
    except Exception as error:  # whatever the library raises is its refusal
        traceback.print_exc()
        return {"seq": seq, "error": {"message": f"{type(error).__name__}: {error}"}}


def _parse(line):
    def once(pairs):
        keys = [key for key, _ in pairs]
        if len(set(keys)) != len(keys):
            raise Invalid(f"a key occurs twice in {keys}")
        return dict(pairs)

    def constant(text):
        raise Invalid(f"{text} is no JSON")

    try:
        message = json.loads(line.decode("utf-8"), object_pairs_hook=once, parse_constant=constant)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"no JSON: {error}") from None
    if not isinstance(message, dict):
        raise Invalid("a message is an object")
    return message


def _keys(message, needed, optional=()):
    for key in needed:
        if key not in message:
            raise Invalid(f"the key {key} is missing")
    for key in message:
        if key not in needed and key not in optional:
            raise Invalid(f"the key {key} is unknown")
    return True


def _count(value, what):
    if type(value) is not int or value < 0:
        raise Invalid(f"{what} is no integer of at least 0")
    return value


def _operands(message):
    """The operands by name. They come in the order in which the operator's page has them."""
    if not isinstance(message["operands"], dict):
        raise Invalid("operands is no object")
    return message["operands"]


def _variant(text):
    """The values of a variant by axis."""
    if not isinstance(text, str):
        raise Invalid("variant is no text")
    parts = [part.partition("=") for part in text.split(",") if part]
    if not all(axis and way for axis, _, way in parts) or len({axis for axis, _, _ in parts}) < len(parts):
        raise Invalid("variant is no list such as indices=constant,execution=compiled")
    return {axis: way for axis, _, way in parts}


def _attributes(attributes):
    if not isinstance(attributes, dict):
        raise Invalid("attributes is no object")
    return {name: _attribute(name, value) for name, value in attributes.items()}


def _attribute(name, value):
    """The value of an attribute; an element is a Tensor of no dims."""
    if isinstance(value, dict):
        if value.get("shape") != [] or "data" not in value:
            raise Invalid(f"the attribute {name} is an object, and no tensor of the shape [] with its data")
        return _tensor(value, name)
    if not _is_attribute(value):
        raise Invalid(
            f"the attribute {name} is no null, boolean, integer within i64, number, string, list of integers or element"
        )
    return value


def _is_attribute(value):
    if type(value) is int:
        return -(2**63) <= value < 2**63
    if type(value) is list:
        return all(type(one) is int and -(2**63) <= one < 2**63 for one in value)
    # JSON as Python reads it makes an infinity of 1e999.
    return value is None or type(value) in (bool, str) or (type(value) is float and abs(value) != float("inf"))


def _tensor(message, operand):
    try:
        return _checked_tensor(message)
    except Invalid as wrong:
        raise Invalid(f"{operand}: {wrong}") from None


def _checked_tensor(message):
    if not isinstance(message, dict):
        raise Invalid("a tensor is an object")
    _keys(message, ["dtype", "shape"] + (["data"] if "data" in message else ["file", "offset"]))
    dtype, shape = message["dtype"], message["shape"]
    if dtype not in SIZES and dtype != "string":
        raise Invalid(f"unknown dtype {dtype!r}")
    if not isinstance(shape, list) or len(shape) > MAX_RANK:
        raise Invalid(f"shape is no array of at most {MAX_RANK} dims")
    count = 1
    for dim in shape:
        count *= _count(dim, "a dim")
    if dtype == "string":
        texts = message.get("data")
        if not isinstance(texts, list) or len(texts) != count:
            raise Invalid(f"the data of strings is an array of {count} base64 texts")
        return Tensor(dtype, shape, [_decode(text) for text in texts])
    size = count * SIZES[dtype]
    data = _decode(message["data"]) if "data" in message else _read(message, size, SIZES[dtype])
    if len(data) != size:
        raise Invalid(f"{len(data)} bytes, but dtype and shape ask for {size}")
    return Tensor(dtype, shape, data)


def _read(message, size, step):
    name, offset = message["file"], _count(message["offset"], "offset")
    if offset % step:
        raise Invalid(f"the offset {offset} is no multiple of {step}")
    # A number would be an open file of this process, and a pipe would be waited for.
    if not isinstance(name, str) or not os.path.isfile(name):
        raise Invalid(f"{name!r} is no regular file")
    try:
        with open(name, "rb") as file:
            if offset + size > os.fstat(file.fileno()).st_size:
                raise Invalid(f"the file is shorter than {size} bytes from offset {offset}")
            if size > LARGE:
                # Of a file of zeros with few painted places only what is used takes memory.
                whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                return memoryview(whole)[offset : offset + size]
            file.seek(offset)
            return file.read(size)
    except (OSError, ValueError) as error:
        raise Invalid(f"file: {error}") from None


def _decode(text):
    if not isinstance(text, str):
        raise Invalid("data is no base64 text")
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Invalid(f"data is not base64: {error}") from None


def _message(tensor):
    encode = lambda data: base64.b64encode(data).decode()
    data = [encode(text) for text in tensor.data] if tensor.dtype == "string" else encode(tensor.data)
    return {"dtype": tensor.dtype, "shape": list(tensor.shape), "data": data}
