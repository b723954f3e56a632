"""Inputs for a program under test, and whether two results agree.

Inputs depend on the seed, the position and the type of a parameter only, so a schedule and the
program that it came from see the same numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvmlab.ir import Block, Buffer, Load, Program, Store, walk
from tvmlab.runtime import empty
from tvmlab.support import DType, UnsupportedOp

Array = NDArray[Any]

_MOST_KEPT = 16
_TOLERANCE = {64: 1e-9, 32: 1e-4, 16: 3e-2}


def outputs_of(program: Program) -> list[int]:
    """Positions of the parameters that a program writes."""
    written = _written(program)
    return [n for n, param in enumerate(program.params) if param in written]


class Inputs:
    """Arrays for one program after another: what a program only reads is made once.

    Attributes
    ----------
    reused
        Whether some of the arrays that `arrays` returned last had been given out before.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[object, ...], Array] = {}
        self.reused = False

    def arrays(self, program: Program, seed: int) -> list[Array]:
        """The arrays of `make_arrays`, of which the caller writes those that the program writes."""
        written = set(outputs_of(program))
        keys = [(seed, n, str(p.dtype), _shape(program, n)) for n, p in enumerate(program.params)]
        found: list[Array] = []
        poisoned = _pure_outputs(program)
        self.reused = False
        for position, key in enumerate(keys):
            if position in written or key not in self._kept:
                array = _make(program, position, seed, poisoned)
                if position not in written:
                    self._keep(key, array)
            else:
                array = self._kept[key]
                self.reused = True
            found.append(array)
        return found

    def forget(self) -> None:
        """Make all arrays anew from now on: a program may have written where it must not."""
        self._kept.clear()

    def _keep(self, key: tuple[object, ...], array: Array) -> None:
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        self._kept[key] = array


def make_arrays(program: Program, seed: int) -> list[Array]:
    """One array for each parameter; pure outputs hold a value that no right result has.

    Raises
    ------
    UnsupportedOp
        If a size is known only at run time.
    """
    poisoned = _pure_outputs(program)
    return [_make(program, n, seed, poisoned) for n in range(len(program.params))]


def _make(program: Program, position: int, seed: int, poisoned: set[Buffer]) -> Array:
    """The array for one parameter."""
    shape = _shape(program, position)
    param = program.params[position]
    array = empty(shape, param.dtype)
    if param in poisoned:
        array[...] = _poison(param.dtype)
    else:
        array[...] = _random(np.random.default_rng([seed, position]), shape, param.dtype)
    return array


def _shape(program: Program, position: int) -> tuple[int, ...]:
    param = program.params[position]
    shape = param.const_shape if isinstance(param, Buffer) else None
    if shape is None:
        raise UnsupportedOp(
            f"{program.name} cannot be measured: the size of {param.name} is known only at run "
            f"time",
            hint="give the sizes as numbers",
        )
    return shape


def _written(program: Program) -> set[Buffer]:
    """Buffers that are written, by stores or by a block whose body is an instruction."""
    written: set[Buffer] = set()
    for node in walk(program.body):
        if isinstance(node, Store):
            written.add(node.buffer)
        elif isinstance(node, Block):
            written |= {region.buffer for region in node.writes}
    return written


def _pure_outputs(program: Program) -> set[Buffer]:
    """Buffers that are written and never read, but for a reduction's own running value."""
    written = _written(program)
    read: set[Buffer] = set()
    initialized: set[Buffer] = set()
    for node in walk(program.body):
        if isinstance(node, Load):
            read.add(node.buffer)
        elif isinstance(node, Block) and node.init is not None:
            initialized |= {n.buffer for n in walk(node.init) if isinstance(n, Store)}
    return written - (read - initialized)


def _random(rng: np.random.Generator, shape: tuple[int, ...], dtype: DType) -> Array:
    if dtype.is_float:
        return rng.uniform(-1.0, 1.0, shape).astype(dtype.numpy)
    if dtype.is_bool:
        return rng.integers(0, 2, shape).astype(bool)
    low = 0 if dtype.kind == "uint" else -8
    return rng.integers(low, 9, shape).astype(dtype.numpy)


def _poison(dtype: DType) -> float | int | bool:
    if dtype.is_float:
        return float("nan")
    return True if dtype.is_bool else int(dtype.max_value) - 85


def disagreement(got: Array, right: Array, dtype: DType, tolerance: float | None) -> str | None:
    """How two results differ, as the end of a sentence; None if they agree."""
    if not dtype.is_float:
        wrong = got != right
        error = ""
    else:
        x, y = got.astype(np.float64), right.astype(np.float64)
        finite = np.abs(y[np.isfinite(y)])
        scale = float(finite.max()) if finite.size else 1.0
        limit = (_TOLERANCE[dtype.bits] if tolerance is None else tolerance) * max(scale, 1e-30)
        with np.errstate(invalid="ignore"):
            near = np.abs(x - y) <= limit
        wrong = ~(near | (x == y) | (np.isnan(x) & np.isnan(y)))
        error = f", allowed error {limit:.3g}"
    count = int(np.count_nonzero(wrong))
    if count == 0:
        return None
    first = tuple(int(i) for i in np.argwhere(wrong)[0])
    return (
        f"{count} of {wrong.size} elements are wrong; the first is [{', '.join(map(str, first))}]: "
        f"{got[first]} instead of {right[first]}{error}"
    )
