"""What a benchmark consists of: rows of sizes, operators, and those who compute them.

A row is data: an operator's name with shapes and options. An `Operator` says once for all its rows
how tvmlab and each library compute it, and what the right result is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tvmlab.driver import Source, build
from tvmlab.runtime import empty
from tvmlab.support import DType
from tvmlab.target import Target

Array: TypeAlias = NDArray[Any]
Inputs: TypeAlias = Sequence[Array]
Measure: TypeAlias = Literal["flops", "bytes", "seconds"]
"""What a row is read in: arithmetic a second, bytes a second, or time alone."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table: an operator at given sizes.

    Attributes
    ----------
    group
        The table it belongs to.
    name
        Unique among all rows; `tvmlab bench NAME` runs it.
    operator
        A key of the group's operators.
    shapes
        Of the inputs, in order.
    options
        What else the operator wants to know, such as strides.
    """

    group: str
    name: str
    operator: str
    shapes: tuple[tuple[int, ...], ...]
    dtype: str = "float32"
    options: tuple[tuple[str, Any], ...] = ()

    def option(self, name: str, default: Any = None) -> Any:
        """One of the options."""
        return dict(self.options).get(name, default)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Contender:
    """One of those that are measured by turns.

    Attributes
    ----------
    name
        Such as "NumPy" or "torch channels_last".
    run
        Compute once, into memory of its own.
    result
        What was computed last.
    turn
        Run so often and return the seconds of one run, for those that live in another process.
    prepared
        What was done before and is not in the time, such as packing weights.
    facts
        What else is known of it, each with its name, such as how much memory it takes.
    """

    name: str
    run: Callable[[], object]
    result: Callable[[], Array]
    turn: Callable[[int], float] | None = None
    prepared: str = ""
    facts: dict[str, str] = field(default_factory=dict[str, str])

    def timed(self, count: int) -> float:
        """Seconds of one run, from `count` runs."""
        if self.turn is not None:
            return self.turn(count)
        run = self.run
        start = time.perf_counter()
        for _ in range(count):
            run()
        return (time.perf_counter() - start) / count


@dataclass(frozen=True, slots=True)
class Peer:
    """A library, and how it gets ready to compute a row: one contender for each way it has.

    Raises ImportError from `make` if the library is missing.

    Attributes
    ----------
    patience
        Why it takes part only if it is asked for by name; empty if it always does.
    """

    library: str
    make: Callable[[Row, Inputs, int], Sequence[Contender]]
    patience: str = ""


def random_inputs(row: Row) -> list[Array]:
    """Numbers between 0 and 1 (whole ones for integers), the same in each run."""
    random = np.random.default_rng(0)
    made: list[Array] = []
    for shape in row.shapes:
        array = empty(shape, row.dtype)
        if DType.of(row.dtype).is_int:
            array[...] = random.integers(0, 127, shape)
        else:
            array[...] = random.random(shape, dtype=np.float32)
        made.append(array)
    return made


@dataclass(frozen=True)
class Operator:
    """A computation that rows measure.

    Attributes
    ----------
    ours
        tvmlab's contender for a row, with its default schedule for a target.
    reference
        The result in float64 (or exact integers).
    peers
        The libraries that compute it too.
    flops
        Arithmetic operations of one run; 0 where they do not matter.
    moved
        Bytes that one run has to read and to write at least.
    measure
        What the row is read in.
    """

    ours: Callable[[Row, Inputs, Target], Contender]
    reference: Callable[[Row, Inputs], Array]
    peers: tuple[Peer, ...] = ()
    flops: Callable[[Row], int] = field(default=lambda row: 0)
    moved: Callable[[Row], tuple[int, int]] = field(default=lambda row: read_and_written(row))
    measure: Measure = "bytes"
    inputs: Callable[[Row], list[Array]] = random_inputs


def read_and_written(row: Row) -> tuple[int, int]:
    """The bytes of all inputs, and of an output like the first of them."""
    sizes = [prod(shape) * DType.of(row.dtype).itemsize for shape in row.shapes]
    return sum(sizes), sizes[0]


def kernel_contender(source: Source, inputs: Inputs, target: Target) -> Contender:
    """Tvmlab's kernel on the inputs, in the order of its parameters, with an output of its own."""
    exe = build(source, target=target)
    output = exe.signature.params[-1]
    shape: tuple[int, ...] = tuple(int(size) for size in getattr(output, "shape", ()))
    out = empty(shape, output.dtype)
    arguments = (*inputs, out)
    return Contender("tvmlab", lambda: exe(*arguments), lambda: out)
