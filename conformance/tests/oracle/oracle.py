"""A second opinion on gather: random calls, answered here and by a backend, compared to the bit.

    gatherspec list operators --format json > operators.json
    oracle.py --self-test | [--calls N] [--seed N] [--bad error] [--negative reject] --operators operators.json -- COMMAND...

Written from the contract and the source pages alone; it shares no code with any backend, and of operators it knows what
their signatures say. POSIX only.
"""
import argparse
import atexit
import json
import queue
import signal
import sys
import threading
import time
from base64 import b64decode, b64encode
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from math import prod
from random import Random, SystemRandom
from subprocess import PIPE, Popen
from typing import Any, NamedTuple, Optional

SIZES = {"bool": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "i64": 8, "u64": 8, "f16": 2,
         "bf16": 2, "f32": 4, "f64": 8, "c64": 8, "c128": 16, "string": 16}
DTYPES = list(SIZES)
NANS = {"f16": 0x7E00, "bf16": 0x7FC0, "f32": 0x7FC00000, "f64": 0x7FF8 << 48, "c64": 0x7FC00000, "c128": 0x7FF8 << 48}
CODES = ["params-dtype", "index-dtype", "mode-unknown", "axis-required", "params-rank", "indices-rank", "rank-mismatch",
         "empty-dim", "batch-dims-out-of-range", "axis-out-of-range", "axis-before-batch", "dimension-numbers",
         "slice-size-out-of-range", "batch-shape-mismatch", "join-mismatch",
         "index-depth", "output-too-large", "index-out-of-range"]
I64_MIN, I64_MAX = -2**63, 2**63 - 1
RANKS = {"any": 0, "at-least-1": 1, "at-least-2": 2, "exactly-1": 1, "exactly-2": 2}
MAX_OUTPUT, MAX_RANK = 2**32, 64  # an output of more bytes or more axes is unsupported
TEXT = "any text"  # stands for the free wording of a reply
Json = dict[str, Any]


class Refused(Exception):
    """The call is answered with the reply that this carries, not with an output."""


def require(holds: bool, code: str, **fields: Any) -> None:
    """Refuses with this code and these fields unless the condition holds."""
    if not holds:
        raise Refused({"error": {"message": TEXT, "code": code, **fields}})


@dataclass
class Tensor:
    """A tensor; each element is its bytes in memory or, for a string, its text."""
    dtype: str
    shape: list[int]
    elements: list[bytes] = field(default_factory=list)

    def nominal_bytes(self) -> int:
        """Its size if the zero dims are passed over."""
        return prod(dim for dim in self.shape if dim) * SIZES[self.dtype]

    def wire(self) -> Json:
        """The tensor as the protocol writes it."""
        data: Any = [b64encode(text).decode() for text in self.elements]
        if self.dtype != "string":
            data = b64encode(b"".join(self.elements)).decode()
        return {"dtype": self.dtype, "shape": self.shape, "data": data}


class Operator:
    """What a signature says, in the terms of its form: take (one axis of params), elements (one coordinate of each
    position), nd (rows of indices) or window (rows that are starts)."""

    def __init__(self, signature: Json) -> None:
        self.name: str = signature["operator"]
        self.by_rows: bool = {"take": False, "elements": False, "nd": True, "window": True}[signature["form"]]
        self.windows: bool = signature["form"] == "window"
        self.least_size: int = 1 if signature.get("collapsed_size") == "exactly-1" else I64_MIN  # of dims left out
        self.sizes_need_rows: bool = signature.get("slice_bound") == "with-rows"  # else sizes are always within dims
        self.join: Optional[str] = signature.get("join")  # of elements only
        self.rejects_empty: bool = signature.get("empty_dims") == "rejected"  # dims of 0
        self.exempts_empty: bool = signature.get("empty_index") == "unchecked"
        self.least_depth: int = signature["least_depth"]
        self.flat_batch: bool = signature.get("output_batch") == "flattened"  # the batch is one dim of the output
        operands = {operand["role"]: operand for operand in signature["operands"]}
        params, indices = operands["params"], operands["indices"]
        self.operands = [(operand["name"], operand["role"]) for operand in signature["operands"]]
        self.params_dtypes, self.index_dtypes = params["dtypes"], indices["dtypes"]
        self.params_rank, self.indices_rank = RANKS[params["rank"]], RANKS[indices["rank"]]
        self.most_params_rank: int = 2 if params["rank"] == "exactly-2" else I64_MAX
        self.most_indices_rank: int = 1 if indices["rank"] == "exactly-1" else I64_MAX
        self.attributes: dict[str, Json] = {one["name"]: one for one in signature["attributes"]}
        roles = {one["role"]: one for one in signature["attributes"]}
        self.batch, self.axis, self.mode = roles.get("batch-dims"), roles.get("axis"), roles.get("mode")
        self.fill_value: Optional[str] = roles["fill-value"]["name"] if "fill-value" in roles else None
        self.numbers = {role: roles.get(role) for role in NUMBERS}
        # Slice sizes that are an operand are a list among the attributes until they are sent.
        self.sizes: Optional[str] = operands["slice-sizes"]["name"] if "slice-sizes" in operands else None
        # So is an axis that is an operand.
        self.axis_operand: Optional[str] = operands["axis"]["name"] if "axis" in operands else None
        if self.axis_operand:
            self.axis = {"name": self.axis_operand, "role": "axis", "default": "Operand", "range": "from-minus-r-below-r"}
        if self.sizes:
            self.numbers["slice-sizes"] = {"name": self.sizes, "default": "None"}
        self.flatten: Optional[str] = signature.get("flatten")
        modes = signature.get("policy", {}).get("by-mode", [])  # the default first
        self.modes = {one["mode"]: Oracle(**one["profile"], empty_axis=one["empty_axis"]) for one in modes}
        self.fill: Json = signature.get("fill") or {}

    def batch_dims(self, given: Json, r: int, q: int) -> int:
        """How many axes are the batch, counted from the start."""
        if not self.batch:
            return 0
        b: int = given.get(self.batch["name"], default(self.batch))
        if self.batch["range"] == "from-minus-q-to-q":
            require(-q <= b <= q, "batch-dims-out-of-range")
            return b + q if b < 0 else b
        if self.batch["range"] == "from-minus-smaller-rank-to-smaller-rank":
            require(-min(q, r) <= b <= min(q, r), "batch-dims-out-of-range")
            return b + q if b < 0 else b
        most = min(q - 1, r - 1 if self.batch["range"] == "from-0-below-smaller-rank" else r)
        require(0 <= b <= most, "batch-dims-out-of-range")
        return b

    def filler(self, bad: str, dtype: str, given: Json) -> bytes:
        """The element in place of what a bad index would select."""
        sent = given.get(self.fill_value) if bad == "fill" and self.fill_value else None
        if sent:
            return b64decode(sent["data"])
        if dtype == "string":
            return b""
        size = SIZES[dtype]
        if bad != "fill":
            return bytes(size)
        if dtype in NANS:
            return NANS[dtype].to_bytes(size, "little") if self.fill["inexact"] == "nan" else bytes(size)
        kind = "bool" if dtype == "bool" else "signed" if dtype.startswith("i") else "unsigned"
        lowest, largest = {"bool": (0, 1), "signed": (1 << 8 * size - 1, (1 << 8 * size - 1) - 1)}.get(
            kind, (0, (1 << 8 * size) - 1))
        word = self.fill[kind]
        return {"smallest": lowest, "largest": largest, "true": 1, "zero": 0}[word].to_bytes(size, "little")

    def requires_axis(self, r: int) -> bool:
        """Whether a call without an axis is refused, where params has r axes."""
        word = self.axis["default"] if self.axis else ""
        return word in ("None", "Operand") or word == "OnlyAxis" and r > 1

    def require_dims(self, p: list[int], i: list[int]) -> None:
        """Refuses a dim of 0 where there may be none."""
        require(not self.rejects_empty or 0 not in p + i, "empty-dim")

    def joins(self, p: int, i: int) -> bool:
        """Whether two dims off the axis fit."""
        return {"equal": p == i, "not-larger": i <= p, "broadcast": p == i or 1 in (p, i)}[str(self.join)]

    def first_axis(self, given: Json, b: int, r: int) -> int:
        """The first indexed axis of params, counted from the start."""
        if not self.axis:
            return b
        axis = given.get(self.axis["name"], default(self.axis))
        if axis is None:
            axis = b
        least = 0 if self.axis["range"] == "from-0-below-r" else -r
        require(least <= axis < r, "axis-out-of-range")
        return int(axis + r if axis < 0 else axis)


def default(attribute: Json) -> Optional[int]:
    """The value of an absent attribute; None where it follows from the call."""
    word = attribute["default"]
    value = word["Value"] if isinstance(word, dict) else None
    return value if isinstance(value, int) else None


def absent(number: Json) -> Any:
    """The same of a dimension number or of slice sizes; None of those that are always sent."""
    word = number["default"]
    return word["Value"] if isinstance(word, dict) else None


NUMBERS = ["offset-dims", "collapsed-slice-dims", "operand-batching-dims", "start-indices-batching-dims", "start-index-map",
           "index-vector-dim", "slice-sizes"]


def rises(dims: list[int]) -> bool:
    """Whether each is larger than the one before it."""
    return all(one < other for one, other in zip(dims, dims[1:]))


@dataclass
class Numbers:
    """The dimension numbers and slice sizes of a call of windows."""
    offset: list[int]
    collapsed: list[int]
    batching: list[int]
    shared: list[int]
    map: list[int]
    vector: int
    sizes: list[int]

    def left_out(self) -> list[int]:
        """The dims of params that the output lacks."""
        return self.collapsed + self.batching

    def rows(self, i: list[int]) -> list[int]:
        """The shape of the rows."""
        return [size for dim, size in enumerate(i) if dim != self.vector]

    def bounds(self, p: list[int]) -> list[int]:
        """How many starts fit, by component."""
        return [p[dim] - self.sizes[dim] + 1 for dim in self.map]

    def place(self, row: list[int], component: int) -> list[int]:
        """Where in indices a component of a row is."""
        return row[:self.vector] + [component] + row[self.vector:]

    def output(self, i: list[int]) -> list[int]:
        """The shape of the output."""
        rows, window = iter(self.rows(i)), iter([s for dim, s in enumerate(self.sizes) if dim not in self.left_out()])
        return [next(window if dim in self.offset else rows) for dim in range(len(self.rows(i)) + len(self.offset))]

    def check(self, p: list[int], i: list[int], operator: Operator) -> None:
        """Every constraint, in the order of the rules."""
        r, q, apart = len(p), len(i), lambda dims: len(set(dims)) == len(dims)
        within = lambda dims, rank: all(0 <= dim < rank for dim in dims)
        small = lambda dims: all(operator.least_size <= self.sizes[dim] <= 1 for dim in dims)
        rules = [
            ("slice-sizes-count", lambda: len(self.sizes) == r),
            ("params-dims-count", lambda: len(self.offset) + len(self.left_out()) == r),
            ("index-vector-dim-out-of-range", lambda: 0 <= self.vector <= q),
            ("start-index-map-count", lambda: len(self.map) == (i[self.vector] if self.vector < q else 1)),
            ("offset-dims-not-ascending", lambda: rises(self.offset)),
            ("offset-dim-out-of-range", lambda: within(self.offset, len(self.offset) + len(self.rows(i)))),
            ("collapsed-dims-repeated", lambda: apart(self.left_out())),
            ("collapsed-dims-unsorted", lambda: rises(self.collapsed)),
            ("collapsed-dim-out-of-range", lambda: within(self.collapsed, r)),
            ("collapsed-slice-size", lambda: small(self.collapsed)),
            ("params-batching-dims-unsorted", lambda: rises(self.batching)),
            ("params-batching-dim-out-of-range", lambda: within(self.batching, r)),
            ("batching-slice-size", lambda: small(self.batching)),
            ("indices-batching-dims-repeated", lambda: apart(self.shared)),
            ("indices-batching-dim-out-of-range", lambda: within(self.shared, q)),
            ("index-vector-dim-is-batching", lambda: self.vector not in self.shared),
            ("batching-dims-count", lambda: len(self.batching) == len(self.shared)),
            ("start-index-map-repeated", lambda: apart(self.map + self.batching)),
            ("start-index-map-out-of-range", lambda: within(self.map, r))]
        for rule, holds in rules:
            require(holds(), "dimension-numbers", rule=rule)
        free = operator.sizes_need_rows and 0 in self.rows(i)
        require(all(0 <= size and (free or size <= dim) for size, dim in zip(self.sizes, p)), "slice-size-out-of-range")
        require([p[dim] for dim in self.batching] == [i[dim] for dim in self.shared], "batch-shape-mismatch")


class Call(NamedTuple):
    """All that a backend ever sees."""
    operator: Operator
    params: Tensor
    indices: Tensor
    attributes: Json

    def mode(self) -> Any:
        """The mode, sent or by default; None of an operator without."""
        chosen = self.operator.mode
        sent = self.attributes.get(chosen["name"]) if chosen else None
        return next(iter(self.operator.modes)) if chosen and sent is None else sent

    def numbers(self) -> Numbers:
        """How a call of windows reads its operands, with the defaults of what is not sent."""
        values: list[Any] = []
        for role, one in self.operator.numbers.items():
            missing: Any = len(self.indices.shape) - 1 if role == "index-vector-dim" else []
            values.append(self.attributes.get(one["name"], absent(one)) if one else missing)
        return Numbers(*values)

    def index(self, at: list[int]) -> int:
        """The value of an index; an implied vector leaves a dim too many."""
        shape, signed = self.indices.shape, self.indices.dtype.startswith("i")
        element = self.indices.elements[number(at[:len(shape)], shape)]
        return int.from_bytes(element, "little", signed=signed)

    def plan_windows(self) -> tuple[Numbers, Tensor]:
        """How a call of windows reads its operands, and its output without elements: every check that needs no index."""
        operator = self.operator
        needed = {one["name"] for one in operator.numbers.values() if one and absent(one) is None}
        if not needed <= set(self.attributes) <= set(operator.attributes) | needed:
            raise Refused({"unsupported": TEXT})
        numbers = self.numbers()
        require(self.params.dtype in operator.params_dtypes, "params-dtype")
        require(self.indices.dtype in operator.index_dtypes, "index-dtype")
        require(not operator.modes or self.mode() in operator.modes, "mode-unknown")
        require(len(self.params.shape) >= operator.params_rank, "params-rank")
        require(len(self.indices.shape) >= operator.indices_rank, "indices-rank")
        numbers.check(self.params.shape, self.indices.shape, operator)
        output = Tensor(self.params.dtype, numbers.output(self.indices.shape))
        size = output.nominal_bytes()
        require(size <= I64_MAX, "output-too-large", bytes=size)
        nothing = any(numbers.sizes[dim] == 0 for dim in numbers.left_out())
        if len(output.shape) > MAX_RANK or 0 not in output.shape and (nothing or size > MAX_OUTPUT):
            raise Refused({"unsupported": TEXT})
        return numbers, output

    def flat(self) -> "Call":
        """The call along one axis of all elements, where its axis is null or its operator has none."""
        axis, word = self.operator.axis, self.operator.flatten
        if not word or axis and self.attributes.get(axis["name"], default(axis)) is not None:
            return self
        line = lambda tensor: Tensor(tensor.dtype, [prod(tensor.shape)], tensor.elements)
        indices = line(self.indices) if word == "both-when-axis-null" else self.indices
        along = {axis["name"]: 0} if axis else {}
        return self._replace(params=line(self.params), indices=indices, attributes={**self.attributes, **along})

    def plan(self) -> tuple[int, int, int, list[int], Tensor]:
        """The axes and the output, without elements yet: every check that needs no index value, in order."""
        operand = {self.operator.axis_operand} - {None}
        if not operand <= set(self.attributes) <= set(self.operator.attributes) | operand:
            raise Refused({"unsupported": TEXT})
        require(self.params.dtype in self.operator.params_dtypes, "params-dtype")
        require(self.indices.dtype in self.operator.index_dtypes, "index-dtype")
        require(not self.operator.modes or self.mode() in self.operator.modes, "mode-unknown")
        named = self.operator.axis is not None and self.operator.axis["name"] in self.attributes
        require(named or not self.operator.requires_axis(len(self.params.shape)), "axis-required")
        if self.operator.join:
            b, (first, shape) = 0, self.joined(self.params.shape, self.indices.shape)
            end, outer = first + 1, shape
        else:
            b, first, end, outer = self.axes(self.params.shape, self.indices.shape)
            batch = [prod(self.params.shape[:b])] if b and self.operator.flat_batch else self.params.shape[:b]
            shape = batch + self.params.shape[b:first] + outer + self.params.shape[end:]
        output = Tensor(self.params.dtype, shape)
        size = output.nominal_bytes()
        require(size <= I64_MAX, "output-too-large", bytes=size)
        if len(output.shape) > MAX_RANK or size > MAX_OUTPUT and 0 not in output.shape:
            raise Refused({"unsupported": TEXT})
        return b, first, end, outer, output

    def joined(self, p: list[int], i: list[int]) -> tuple[int, list[int]]:
        """Of the form elements: the axis and the shape of the output."""
        operator, r = self.operator, len(p)
        exempt = operator.exempts_empty and 0 in i
        require(r >= operator.params_rank, "params-rank")
        require(len(i) >= operator.indices_rank, "indices-rank")
        require(exempt or r == len(i), "rank-mismatch")
        operator.require_dims(p, i)
        axis = operator.first_axis(self.attributes, 0, r)
        if exempt:
            return axis, i
        off_axis = [at for at in range(r) if at != axis]
        require(all(operator.joins(p[at], i[at]) for at in off_axis), "join-mismatch")
        repeated = [at for at in off_axis if operator.join == "broadcast" and i[at] == 1]
        return axis, [p[at] if at in repeated else dim for at, dim in enumerate(i)]

    def axes(self, p: list[int], i: list[int]) -> tuple[int, int, int, list[int]]:
        """How many axes are the batch; the first indexed axis of params and the one after the last; the
        shape of a batch's rows, which takes their place. Of the form take a row is one index."""
        operator, r, q = self.operator, len(p), len(i)
        require(operator.params_rank <= r <= operator.most_params_rank, "params-rank")
        require(operator.indices_rank <= q <= operator.most_indices_rank, "indices-rank")
        operator.require_dims(p, i)
        b = operator.batch_dims(self.attributes, r, q)
        first = operator.first_axis(self.attributes, b, r)
        require(first >= b, "axis-before-batch")
        require(p[:b] == i[:b], "batch-shape-mismatch")
        if not operator.by_rows:
            return b, first, first + 1, i[b:]
        require(i[-1] >= operator.least_depth and first + i[-1] <= r, "index-depth")
        return b, first, first + i[-1], i[b:-1]


class Oracle(NamedTuple):
    """Answers calls under a profile. Every operator of take and nd is one equation: params seen as [batch, mid, cell, inner]
    and indices as [batch, row, component] give an output seen as [batch, mid, row, inner]. Elements are picked one by one."""
    bad: str = "error"
    negative: str = "reject"
    empty_axis: str = "zero"  # what an index into an axis without elements gives, where a bad one is no error

    def answer(self, call: Call) -> Json:
        """The reply that the contract asks for, without its `seq`."""
        try:
            return {"output": call.operator.modes.get(call.mode(), self).gather(call.flat()).wire()}
        except Refused as refused:
            reply, sent = dict(refused.args[0]), call.indices.shape
            if "position" in reply.get("error", {}) and call.flat().indices.shape != sent:
                at = reply["error"]["position"][0]  # among the flattened indices
                reply["error"]["position"] = [at // prod(sent[dim + 1:]) % size for dim, size in enumerate(sent)]
            return reply

    def gather(self, call: Call) -> Tensor:
        """The output; another outcome is raised."""
        if call.operator.join:
            return self.pick(call)
        if call.operator.windows:
            return self.slide(call)
        batch, first, end, outer, output = call.plan()
        p, source = call.params.shape, call.params.elements
        bounds, inner, mids, rows = p[first:end], prod(p[end:]), prod(p[batch:first]), prod(outer)
        places, k = self.places_of(call, bounds), len(bounds)
        blank = call.operator.filler(self.bad, output.dtype, call.attributes)
        strides = [prod(bounds[axis + 1:]) for axis in range(k)]
        for table in range(prod(p[:first]) if 0 not in output.shape else 0):  # of cells, per [batch, mid]
            for row in range(table // mids * rows, (table // mids + 1) * rows):
                chosen = places[row * k:row * k + k]
                cell = None if None in chosen else sum((at or 0) * step for at, step in zip(chosen, strides))
                base = (table * prod(bounds) + (cell or 0)) * inner
                output.elements += [blank] * inner if cell is None else source[base:base + inner]
        return output

    def pick(self, call: Call) -> Tensor:
        """The output of the form elements: at each position an index, which replaces one coordinate of it."""
        _, axis, end, _, output = call.plan()
        p, i = call.params.shape, call.indices.shape
        places = self.places_of(call, p[axis:end])
        blank = call.operator.filler(self.bad, output.dtype, call.attributes)
        for flat in range(prod(output.shape)):
            at = [flat // prod(output.shape[dim + 1:]) % size for dim, size in enumerate(output.shape)]
            place = places[number(at, i)]
            at[axis] = place or 0
            output.elements.append(blank if place is None else call.params.elements[number(at, p)])
        return output

    def slide(self, call: Call) -> Tensor:
        """The output of the form window: a row's window at each position of its other dims."""
        numbers, output = call.plan_windows()
        rows, bounds = numbers.rows(call.indices.shape), numbers.bounds(call.params.shape)
        starts: dict[tuple[int, ...], list[Optional[int]]] = {}
        for row in positions(rows if bounds else []) if 0 not in call.indices.shape else []:
            values = [call.index(numbers.place(row, component)) for component in range(len(bounds))]
            starts[tuple(row)] = [self.place(value, bound) for value, bound in zip(values, bounds)]
            for component, value in enumerate(values if self.bad in ("error", "unspecified") else []):
                require(starts[tuple(row)][component] is not None, "index-out-of-range", position=row, component=component,
                        index=value, bound=bounds[component])
        blank = call.operator.filler(self.bad, output.dtype, call.attributes)
        for at in positions(output.shape):
            row = [here for dim, here in enumerate(at) if dim not in numbers.offset]
            start = starts.get(tuple(row), [])
            if None in start:
                output.elements.append(blank)
                continue
            window = iter([here for dim, here in enumerate(at) if dim in numbers.offset])
            source = [0 if dim in numbers.left_out() else next(window) for dim in range(len(call.params.shape))]
            for dim, here in zip(numbers.map, start):
                source[dim] += here or 0
            for dim, other in zip(numbers.batching, numbers.shared):
                source[dim] += row[other - (other > numbers.vector)]
            output.elements.append(call.params.elements[number(source, call.params.shape)])
        return output

    def places_of(self, call: Call, bounds: list[int]) -> list[Optional[int]]:
        """The place of every index on its axis; refuses the first bad one where the profile says so."""
        places: list[Optional[int]] = []
        for flat, element in enumerate(call.indices.elements):
            row, component = divmod(flat, len(bounds))
            signed = call.indices.dtype.startswith("i")
            value, bound = int.from_bytes(element, "little", signed=signed), bounds[component]
            places.append(self.place(value, bound))
            if places[-1] is None and (self.bad in ("error", "unspecified") or not bound and self.empty_axis == "error"):
                named = {"component": component} if call.operator.by_rows else {}
                shape = call.indices.shape[:-1] if named else call.indices.shape
                position = [row // prod(shape[axis + 1:]) % dim for axis, dim in enumerate(shape)]
                require(False, "index-out-of-range", position=position, **named, index=value, bound=bound)
        return places

    def place(self, value: int, bound: int) -> Optional[int]:
        """Where on its axis an index points; None where it is bad and not mended."""
        if self.bad == "modulo" and bound > 0:
            return value % bound  # which Python never makes negative
        if self.negative == "wrap" and -bound <= value < 0:
            return value + bound
        if self.bad == "clamp" and bound > 0:
            return min(max(value, 0), bound - 1)
        return value if 0 <= value < bound else None


def positions(shape: list[int]) -> list[list[int]]:
    """All positions of a shape, row-major."""
    return [[flat // prod(shape[dim + 1:]) % size for dim, size in enumerate(shape)] for flat in range(prod(shape))]


def number(at: list[int], shape: list[int]) -> int:
    """The number of an element in row-major order; along a dim of 1 all positions are the first."""
    return sum((0 if size == 1 else here) * prod(shape[dim + 1:]) for dim, (here, size) in enumerate(zip(at, shape)))


SAMPLES = {"boolean": True, "integer": 0, "string": "clip", "integers": [0]}  # an element has the dtype of params
HUGE = [2**31, 2**32 + 1, 2**40, 2**58, 2**59, 2**60, 2**61, 2**62, I64_MAX, I64_MAX // 7, I64_MAX // 49]
ODD_BYTES = b"\0\0\0\0\x01\x7c\x7f\x80\x81\xf0\xff"  # of NaN payloads, infinities, -0.0, subnormals
TEXTS = [b"", b"\0", b"a\0b", b"\xff\xfe", b"\xc3(", "\u00e9".encode(), b"too long to be kept inline " * 2]


class Generator(Random):
    """Random calls, about half of them valid, the same for the same seed and the same operators."""

    operators: list[Operator]

    def dims(self, rank: int) -> list[int]:
        """Small dims, now and then a zero or a longer one."""
        return self.choices([0, 1, 2, 3, 4, 17, 33], [5, 22, 28, 25, 16, 2, 2], k=rank)

    def call(self) -> Call:
        """One call of any kind, small enough to be sent and answered."""
        while True:
            call, faults = self.valid_call(), self.choices([0, 1, 2, 3], [50, 30, 12, 8])[0]
            if call.operator.rejects_empty and self.random() < 0.9:
                for part in (call.params, call.indices):
                    part.shape[:] = [dim or 1 for dim in part.shape]
            for _ in range(faults):
                self.spoil_windows(call) if call.operator.windows else self.spoil(call)
            if not faults and self.random() < 0.02:
                other = self.choice(self.operators).attributes.values()  # of which this operator has some or none
                call.attributes.update((one["name"], SAMPLES[one["type"]]) for one in other if one["type"] in SAMPLES)
            bounds, output = [3], Tensor("u8", [])
            with suppress(Refused):
                if call.operator.windows:
                    numbers, output = call.plan_windows()
                    bounds = self.by_element(numbers, call) or bounds
                else:
                    _, first, end, _, output = call.flat().plan()
                    bounds = call.flat().params.shape[first:end]
            parts = (call.params, call.indices, output)
            if all(prod(part.shape) <= 1500 and part.nominal_bytes() <= I64_MAX for part in parts):
                call.params.elements = self.elements(call.params)
                self.set_fill_value(call)
                call.indices.elements = self.index_elements(call.indices, bounds)
                return call

    def set_fill_value(self, call: Call) -> None:
        """An element of the dtype of params, or null, of an operator whose calls may say what a mode fills with."""
        if call.operator.fill_value and self.random() < 0.4:
            element = Tensor(call.params.dtype, [])
            element.elements = self.elements(element)
            odd = call.params.dtype == "string" or self.random() < 0.2
            call.attributes[call.operator.fill_value] = None if odd else element.wire()

    def valid_call(self) -> Call:
        """A call whose dtypes, shapes and attributes are right; it has no data yet."""
        operator = self.choice(self.operators)
        if operator.join:
            return self.valid_elements(operator)
        if operator.windows:
            return self.valid_windows(operator)
        least = max(operator.params_rank, 1 - operator.by_rows, operator.least_depth)
        p = self.dims(min(max(least, self.choice([least, 1, 1, 2, 2, 3, 3, 4, 4, 5, 8])), operator.most_params_rank))
        rows = max(0, operator.indices_rank - operator.by_rows)
        outer = self.dims(min(max(rows, self.choice([rows, 1, 1, 1, 2, 2, 2, 3, 3, 4, 7])), operator.most_indices_rank))
        for shape in (p, outer) if self.random() < 0.15 else ():
            if shape:
                shape[self.randrange(len(shape))] = self.choice([*HUGE, 2])
                shape[self.randrange(len(shape))] *= self.choice([0, 0, 0, 1])
        for shape in (p, outer) if self.random() < 0.02 and operator.most_params_rank == I64_MAX else ():
            shape += [1] * self.randint(20, 50)  # most outputs of these have too many axes
        most = min(3, len(p) - max(1 - operator.by_rows, operator.least_depth)) if operator.batch else 0
        b = self.choice([0, self.randint(0, most)])
        depth = [self.randint(operator.least_depth, len(p) - b)] if operator.by_rows else []
        call = Call(operator, Tensor(self.choice(operator.params_dtypes), p),
                    Tensor(self.choice(operator.index_dtypes), p[:b] + outer + depth), {})
        axis = self.randint(b, len(p) - 1) if operator.axis else 0
        if operator.flatten == "always" and self.random() < 0.1:
            p.clear()
        self.set_attributes(call, (b, axis))
        return call

    def valid_elements(self, operator: Operator) -> Call:
        """The same of the form elements."""
        p = self.dims(max(operator.params_rank, operator.indices_rank, self.choice([1, 1, 2, 2, 3, 3, 4, 5, 8])))
        huge = self.random() < 0.15 and self.choice(["params", "along"])
        if huge:
            p[self.randrange(len(p))] = self.choice([*HUGE, 2] if huge == "params" else [2])
            p[self.randrange(len(p))] *= self.choice([0, 0, 0, 1])
        axis, i = self.randrange(len(p)), list(p)
        for at, dim in enumerate(p):
            if operator.join == "not-larger" and self.random() < 0.4:
                i[at] = self.randint(0, dim)
            elif operator.join == "broadcast" and self.random() < 0.4:
                self.choice([p, i])[at] = 1
        i[axis] = self.choice(HUGE) if huge == "along" else self.dims(1)[0]
        if operator.exempts_empty and self.random() < 0.1:
            i = [0, *self.dims(self.randint(0, 4))]
            self.shuffle(i)
        call = Call(operator, Tensor(self.choice(operator.params_dtypes), p),
                    Tensor(self.choice(operator.index_dtypes), i), {})
        self.set_attributes(call, (0, axis))
        return call

    def valid_windows(self, operator: Operator) -> Call:
        """The same of the form window."""
        p = self.dims(self.choice([0, 1, 1, 2, 2, 3, 3, 4, 5]))
        if p and self.random() < 0.1:
            p[self.randrange(len(p))] = self.choice([*HUGE, 2])
            p[self.randrange(len(p))] *= self.choice([0, 0, 0, 1])
        kinds = [self.choice("oocb" if operator.numbers["operand-batching-dims"] else "ooc") for _ in p]
        one = operator.least_size == 1
        kinds = ["o" if one and kind == "c" and size == 0 else kind for size, kind in zip(p, kinds)]
        sizes = [min(size, self.choice([size, 1, self.randint(0, size)])) if kind == "o" else 1 if one else min(1, size)
                 for size, kind in zip(p, kinds)]
        of = {kind: [dim for dim, one in enumerate(kinds) if one == kind] for kind in "ocb"}
        starts = [dim for dim in of["o"] + of["c"] if self.random() < 0.7]
        self.shuffle(starts)
        rows: list[tuple[int, Optional[int]]] = [(p[dim], dim) for dim in of["b"]]
        rows += [(dim, None) for dim in self.dims(self.choice([0, 1, 1, 2, 3]))]
        self.shuffle(rows)
        free = operator.numbers["index-vector-dim"] is not None
        implied = free and len(starts) == 1 and self.random() < 0.3
        vector = self.randint(0, len(rows)) if free and not implied else len(rows)
        i = [size for size, _ in rows]
        i[vector:vector] = [] if implied else [len(starts)]
        rank = len(rows) + len(of["o"])
        shared = {of_dim: at + (not implied and at >= vector) for at, (_, of_dim) in enumerate(rows)}
        values = [sorted(self.sample(range(rank), len(of["o"]))), of["c"], of["b"], [shared[dim] for dim in of["b"]],
                  starts, vector, sizes]
        if operator.sizes_need_rows and 0 in [size for size, _ in rows] and self.random() < 0.5:
            sizes[:] = [size + self.randint(0, 3) if kind == "o" else size for size, kind in zip(sizes, kinds)]
        given: Json = {}
        for (_, number), value in zip(operator.numbers.items(), values):
            if number and (value != absent(number) or self.random() < 0.4):
                given[number["name"]] = value
        if operator.mode and self.random() < 0.7:
            given[operator.mode["name"]] = self.choice([None, *operator.modes])
        return Call(operator, Tensor(self.choice(operator.params_dtypes), p),
                    Tensor(self.choice(operator.index_dtypes), i), given)

    def by_element(self, numbers: Numbers, call: Call) -> list[int]:
        """The bound of every element of indices, row-major."""
        bounds, shape = numbers.bounds(call.params.shape), call.indices.shape
        if prod(shape) > 1500 or numbers.vector == len(shape):
            return bounds
        behind = prod(shape[numbers.vector + 1:])
        return [bounds[flat // behind % len(bounds)] for flat in range(prod(shape))]

    def spoil_windows(self, call: Call) -> None:
        """One fault of a dtype, a dim or dimension numbers; now and then the call stays valid."""
        part, given = self.choice([call.params, call.indices]), call.attributes
        kind = self.choice(["dtype", "dim", "rank", "numbers", "numbers", "numbers", "numbers", *["mode"] * bool(call.operator.mode)])
        if kind == "dtype":
            part.dtype = self.choice(DTYPES)
        elif kind == "rank":
            part.shape = part.shape[self.choice([0, 1, 2]):][:self.choice([1, 2, 8])]
        elif kind == "dim" and part.shape:
            at = self.randrange(len(part.shape))
            part.shape[at] = self.choice([0, 1, max(0, part.shape[at] - 1), part.shape[at] + 1])
        elif kind == "mode" and call.operator.mode:
            given[call.operator.mode["name"]] = self.choice(["", "raise", *(mode.upper() for mode in call.operator.modes)])
        elif kind == "numbers":
            one = self.choice([one for one in call.operator.numbers.values() if one])
            value = given.get(one["name"], absent(one))
            odd = [0, 1, 2, 3, -1, 2**32, I64_MIN, I64_MAX]
            if isinstance(value, int):
                given[one["name"]] = self.choice([max(value - 1, I64_MIN), min(value + 1, I64_MAX), *odd])
                return
            value = list(value)
            at = self.randrange(len(value) + 1)
            change = self.choice(["add", "drop", "again", "turn", "odd"])
            if change == "add":
                value.insert(at, self.choice(odd))
            elif change == "turn":
                self.shuffle(value)
            elif at < len(value):
                near = [value[at] - 1, value[at] + 1] if abs(value[at]) < 2**62 else []
                value[at:at + 1] = {"drop": [], "again": [value[at]] * 2, "odd": [self.choice(odd + near)]}[change]
            given[one["name"]] = value

    def set_attributes(self, call: Call, meant: tuple[int, int]) -> None:
        """Attributes for the batch dims and the axis that are meant: a default is written or left out, either sign where allowed;
        now and then no axis where that flattens, and any mode."""
        given, operator, (b, axis) = call.attributes, call.operator, meant
        r, q = len(call.params.shape), len(call.indices.shape)
        if operator.batch and (b != default(operator.batch) or self.random() < 0.4):
            signs = [b, b - q] if operator.batch["range"].startswith("from-minus") and b < q else [b]
            given[operator.batch["name"]] = self.choice(signs)
        if operator.axis:
            absent = -1 if operator.requires_axis(r) else default(operator.axis)
            if axis != (b if absent is None else absent) or self.random() < 0.5:
                signs = [axis] if operator.axis["range"] == "from-0-below-r" else [axis, axis - r]
                given[operator.axis["name"]] = self.choice(signs)
            if operator.flatten and self.random() < 0.4:
                given[operator.axis["name"]] = None
                whole = not operator.join or operator.flatten == "both-when-axis-null" and self.random() < 0.7
                call.indices.shape[:] = call.indices.shape if whole else call.indices.shape[axis:axis + 1]
        if operator.mode and self.random() < 0.7:
            nothing = [None] if operator.mode.get("nullable") else []
            given[operator.mode["name"]] = self.choice(nothing + list(operator.modes))
        for name, one in operator.attributes.items():
            if one["role"] == "ignored" and self.random() < 0.15:
                given[name] = self.choice([False, True] if one["type"] == "boolean" else [0, 7])

    def spoil(self, call: Call) -> None:
        """One fault of dtype, rank, depth, batch or attribute; now and then the call stays valid."""
        given, part, operator = call.attributes, self.choice([call.params, call.indices]), call.operator
        r, q = len(call.params.shape), len(call.indices.shape)
        b = given.get(operator.batch["name"], default(operator.batch)) if operator.batch else 0
        named = [one["name"] for one in (operator.axis, operator.batch) if one]
        own = ["join", "absent"] if operator.join else ["depth", "batch"]
        kind = self.choice(["dtype", "rank", *own, *named, *(["mode"] if operator.mode else [])])
        if kind == "dtype":
            part.dtype = self.choice(DTYPES)
        elif kind == "rank":
            part.shape = part.shape[self.choice([0, 1, 2, 8]):][:self.choice([0, 1, 2, 8])]
            if q == operator.most_indices_rank and self.random() < 0.5:
                call.indices.shape.append(1)
            if r == operator.most_params_rank and self.random() < 0.5:
                call.params.shape.append(1)
        elif kind == "join" and part.shape:
            at = self.randrange(len(part.shape))
            part.shape[at] = self.choice([0, max(0, part.shape[at] - 1), part.shape[at] + 1])
            part.shape[at:at] = self.choice([[], [], [1], [2]])
        elif kind == "absent":
            given.pop(operator.axis["name"] if operator.axis else "", None)
        elif kind == "mode" and operator.mode:
            given[operator.mode["name"]] = self.choice(["", "fill", *(mode.upper() for mode in operator.modes)])
        elif kind == "depth":
            call.indices.shape[-1:] = [max(0, r - b) % 64 + self.randint(1, 3)] * (q > 0)
        elif kind == "batch" and 0 < b <= len(part.shape):
            part.shape[:b] = self.choice([part.shape[:b][::-1], [1] * b, self.dims(b)])
        elif kind in named:
            given[kind] = self.choice([0, 1, -1, -r, ~r, r, r + 1, -q, ~q, q, q + 1, 2**32, I64_MIN, I64_MAX])

    def index_elements(self, part: Tensor, bounds: list[int]) -> list[bytes]:
        """Index values: in three tensors of four all are good, in the fourth about two are not."""
        kind, size, count = part.dtype[0], SIZES[part.dtype], prod(part.shape)
        if kind not in "iu":
            return self.elements(part)
        low, high = (0, 256**size - 1) if kind == "u" else (-256**size // 2, 256**size // 2 - 1)
        rate, values = self.choice([0, 0, 0, 2]) / max(count, 1), []
        for bound in (bounds * count)[:count]:
            bad = self.choice([bound, -1, -bound, ~bound, low, low + bound, high, bound - 1 + 2**32])
            values.append(bad if self.random() < rate else self.randrange(bound or 1))
        return [min(max(value, low), high).to_bytes(size, "little", signed=kind == "i") for value in values]

    def elements(self, part: Tensor) -> list[bytes]:
        """Random bytes, or odd values."""
        count, size = prod(part.shape), SIZES[part.dtype]
        if part.dtype == "string":
            return [self.choice([*TEXTS, self.randbytes(3), self.randbytes(9)]) for _ in range(count)]
        data = self.choice([self.randbytes(count * size), bytes(self.choices(ODD_BYTES, k=count * size))])
        return [data[at:at + size] for at in range(0, count * size, size)]


def to_line(message: Any) -> str:
    """Compact JSON; equal lines mean equal values and types, so that 1, 1.0 and true differ."""
    return json.dumps(message, separators=(",", ":"), sort_keys=True)


class Campaign:
    """Drives a backend: one thread sends and this one reads, so that neither waits for ever for the other."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.calls, self.seed, self.operators = options.calls, options.seed, read_operators(options.operators)
        self.oracle = Oracle(options.bad, options.negative)
        self.pending: queue.Queue[tuple[Json, Json]] = queue.Queue(256)  # bounds the calls on their way
        self.process: Any = Popen(options.command, stdin=PIPE, stdout=PIPE, encoding="utf8", errors="replace")
        signal.signal(signal.SIGALRM, lambda *_: self.process.kill())  # after a minute of silence
        atexit.register(self.process.kill)

    def send(self, message: Json) -> None:
        """Sends a message; the reader notices a process that is gone."""
        with suppress(OSError):
            print(to_line(message), file=self.process.stdin, flush=True)

    def feed(self) -> None:
        """Sends the calls, then stop; tells the reader what each is to answer."""
        generator = Generator(self.seed)
        generator.operators = self.operators
        for seq in range(1, self.calls + 1):
            call = generator.call()
            tensors = {"params": call.params.wire(), "indices": call.indices.wire()}
            attributes = dict(call.attributes)
            if call.operator.sizes:
                sizes = attributes.pop(call.operator.sizes)
                elements = [size.to_bytes(8, "little", signed=True) for size in sizes]
                tensors["slice-sizes"] = Tensor("i64", [len(sizes)], elements).wire()
            if call.operator.axis_operand:
                axis = attributes.pop(call.operator.axis_operand)
                tensors["axis"] = Tensor("i64", [], [axis.to_bytes(8, "little", signed=True)]).wire()
            operands = {name: tensors[role] for name, role in call.operator.operands}
            message = {"cmd": "call", "seq": seq, "operator": call.operator.name, "operands": operands,
                       "attributes": attributes}
            self.pending.put((message, {**self.oracle.answer(call), "seq": seq}))
            self.send(message)
        self.send({"cmd": "stop"})

    def receive(self) -> Any:
        """The next message, or its text where that is not JSON; an empty text at the end."""
        signal.alarm(60)
        line = self.process.stdout.readline()
        signal.alarm(0)
        try:
            return json.loads(line)
        except ValueError:
            return line

    def run(self) -> Counter[tuple[str, str]]:
        """Compares every reply with the one expected; counts the outcomes by operator."""
        self.shake_hands()
        counts: Counter[tuple[str, str]] = Counter()
        threading.Thread(target=self.feed, daemon=True).start()
        for _ in range(self.calls):
            message, expected = self.pending.get(timeout=60)
            self.compare(message, expected, self.receive())
            counts[message["operator"], expected.get("error", {}).get("code", next(iter(expected)))] += 1
        if (rest := self.receive()) != "" or self.process.wait(60) != 0:
            sys.exit(f"after stop: {rest!r}, status {self.process.poll()}")
        return counts

    def shake_hands(self) -> None:
        """Starts the conversation and holds the backend to what it declares."""
        self.send({"cmd": "start", "protocol": 2})
        hello, declared = self.receive(), []
        with suppress(KeyError, TypeError):
            declared = [hello["protocol"], *(hello["operators"][one.name]["profile"] for one in self.operators)]
        chosen, left = ({"bad": one.bad, "negative": one.negative} for one in (self.oracle, Oracle()))
        if to_line(declared) != to_line([2] + [left if one.modes else chosen for one in self.operators]):
            sys.exit(f"handshake: wanted protocol 2, {len(self.operators)} operators and {self.oracle}, got {to_line(hello)}")

    def compare(self, message: Json, expected: Json, reply: Any) -> None:
        """Ends the run unless the reply is the expected one to the bit; only the wording of texts is free."""
        actual, error = to_line(reply), isinstance(reply, dict) and reply.get("error")
        for holder, key in ((reply, "unsupported"), (error, "message")):
            if isinstance(holder, dict) and isinstance(holder.get(key), str):
                holder[key] = TEXT
        if to_line(reply) != to_line(expected):
            sys.exit(f"call     {to_line(message)}\nexpected {to_line(expected)}\nactual   {actual}")


def read_operators(file: str) -> list[Operator]:
    """The operators of a list as `gatherspec list operators --format json` prints it."""
    with open(file, encoding="utf8") as listed:
        return [Operator(one["signature"]) for one in json.load(listed)]


def campaign(options: argparse.Namespace) -> None:
    """A whole run with its report. A long one must have met every code, and every operator's output."""
    print(f"seed {options.seed}, {options.calls} calls", flush=True)
    drive = Campaign(options)
    began, counts = time.monotonic(), drive.run()
    for (operator, outcome), count in sorted(counts.items()):
        print(f"{count:8} {operator:20} {outcome}")
    missing = {one.name for one in drive.operators if not counts[one.name, "output"]}
    missing |= set(CODES if options.bad == "error" else CODES[:-1]) - {code for _, code in counts}
    if missing and options.calls >= 20000:
        sys.exit(f"never met: {sorted(missing)}")
    speed, own = options.calls / (time.monotonic() - began), time.process_time()
    print(f"{options.calls} calls agree (seed {options.seed}), {speed:.0f} calls/s, {own:.1f} s of CPU here")


SQUARE = [["a", "b"], ["c", "d"]]
CUBE = [[["a0", "b0"], ["c0", "d0"]], [["a1", "b1"], ["c1", "d1"]]]
SPARSE = [[0, 0, 1, 0, 2], [3, 0, 0, 0, 4], [0, 5, 0, 6, 0]]
BLOCK = [[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]], [[12, 13, 14, 15], [16, 17, 18, 19], [20, 21, 22, 23]]]

def made_up(form: str, rank: str = "any", join: Optional[str] = None, **attributes: Json) -> Operator:
    """An operator of a form, with attributes by name."""
    return Operator({"operator": form, "form": form, "least_depth": 0, "join": join, "operands": [
        {"name": "params", "role": "params", "dtypes": DTYPES, "rank": "any"},
        {"name": "indices", "role": "indices", "dtypes": ["i32", "i64"], "rank": rank}],
        "attributes": [{"name": name, **attribute} for name, attribute in attributes.items()]})


ROWS = made_up("nd", "at-least-1", b={"role": "batch-dims", "range": "from-0-below-q-to-r", "default": {"Value": 0}})
AXIS = made_up("take", a={"role": "axis", "range": "from-minus-r-below-r", "default": "BatchDims"},
               b={"role": "batch-dims", "range": "from-minus-q-to-q", "default": {"Value": 0}})
COLUMN = {"role": "axis", "range": "from-minus-r-below-r", "default": "None"}
ELEMENTS, ALONG = made_up("elements", join="not-larger", a=COLUMN), made_up("elements", join="broadcast", a=COLUMN)
PAGES: list[tuple[Operator, Any, Any, Json, Any]] = [
    (ROWS, SQUARE, [[0, 0], [1, 1]], {}, ["a", "d"]),
    (ROWS, CUBE, [[1], [0]], {"b": 1}, [["c0", "d0"], ["a1", "b1"]]),
    (ROWS, CUBE, [[[0, 0, 1], [1, 0, 1]], [[0, 1, 1], [1, 1, 0]]], {}, [["b0", "b1"], ["d0", "c1"]]),
    (AXIS, ["p0", "p1", "p2", "p3", "p4", "p5"], 3, {}, "p3"),
    (AXIS, SPARSE, [[2, 4], [0, 4], [1, 3]], {"a": 1, "b": 1}, [[1, 2], [3, 4], [5, 6]]),
    (AXIS, SPARSE, [[2, 4], [0, 4], [1, 3]], {"b": -1}, [[1, 2], [3, 4], [5, 6]]),
    (ROWS, BLOCK, [[0, 2]], {}, [[8, 9, 10, 11]]),
    (ROWS, BLOCK, [[1, 2, 3]], {}, [23]),
    (ELEMENTS, [[1, 2], [3, 4]], [[0, 0], [1, 0]], {"a": 1}, [[1, 1], [4, 3]]),
    (ELEMENTS, [[1, 2, 3], [4, 5, 6], [7, 8, 9]], [[1, 2, 0], [2, 0, 0]], {"a": 0}, [[4, 8, 3], [7, 2, 3]]),
    (ALONG, [[1, 2], [3, 4], [5, 6]], [[0], [1], [0]], {"a": -1}, [[1], [4], [5]]),
    (ALONG, [[1, 2, 3]], [[2], [0]], {"a": 1}, [[3], [1]])]


def tensor(nested: Any) -> Tensor:
    """A tensor of string or i32 from nested lists."""
    shape, flat = list[int](), [nested]
    while isinstance(flat[0], list):
        shape, flat = shape + [len(flat[0])], [item for part in flat for item in part]
    elements = [x.encode() if isinstance(x, str) else x.to_bytes(4, "little", signed=True) for x in flat]
    return Tensor("string" if isinstance(flat[0], str) else "i32", shape, elements)


def self_test() -> None:
    """Examples of the pages, then one bad index under every profile."""
    for operator, params, indices, attributes, output in PAGES:
        call = Call(operator, tensor(params), tensor(indices), attributes)
        assert Oracle().answer(call) == {"output": tensor(output).wire()}, call
    call = Call(ROWS, tensor(SQUARE), tensor([[0, 1], [1, -1]]), {})
    assert Oracle().answer(call)["error"] == {"message": TEXT, "code": "index-out-of-range", "position": [1],
                                              "component": 1, "index": -1, "bound": 2}
    for oracle, last in ((Oracle("zero"), ""), (Oracle("clamp"), "c"), (Oracle("error", "wrap"), "d")):
        assert oracle.gather(call) == tensor(["b", last]), last
    print("self-test passes")


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--calls", type=int, default=100000)
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(2**32))
    parser.add_argument("--bad", choices=["error", "zero", "clamp"], default="error")
    parser.add_argument("--negative", choices=["reject", "wrap"], default="reject")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--operators", metavar="FILE")
    parser.add_argument("command", nargs="*")
    options = parser.parse_args()
    if not (options.command and options.operators or options.self_test):
        parser.error("no backend command, or no --operators")
    self_test() if options.self_test else campaign(options)


if __name__ == "__main__":
    main()
