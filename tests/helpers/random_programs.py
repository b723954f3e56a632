"""Random block programs that can be executed: hypothesis strategies over chains of loop nests.

Every program is well-formed, stays inside its buffers, has no race and reads nothing unwritten, so
the interpreter accepts it and every code generator must agree with it.

>>> @given(programs())
... def test_lowering_keeps_the_value(program): ...
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tvmlab.ir import (
    TRUE,
    BlockSymbol,
    Buffer,
    Expr,
    For,
    IterVar,
    Let,
    Load,
    LoopKind,
    Program,
    Select,
    Stmt,
    Store,
    Var,
    cast,
    conjunction,
    const,
    make_block,
    maximum,
    minimum,
    ne,
    seq,
)
from tvmlab.support import DType

DTYPES = (
    "float32", "float64", "float16", "bfloat16",
    "int32", "int64", "int16", "int8", "uint8", "uint32",
)  # fmt: skip

QUICK = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
)
"""For the quick suite: the same examples on every run, and no complaint about a slow machine."""

Draw = Any
"""What hypothesis passes to a composite strategy."""


@st.composite
def programs(draw: Draw, *, dtypes: Sequence[str] = DTYPES, stages: int = 3) -> Program:
    """A program of one to `stages` blocks, each over everything made before."""
    made = [
        _buffer(draw, f"A{n}", draw(st.sampled_from(dtypes)))
        for n in range(draw(st.integers(1, 2)))
    ]
    inputs = tuple(made)
    nests: list[Stmt] = []
    for number in range(draw(st.integers(1, stages))):
        buffer = _buffer(draw, f"T{number}", draw(st.sampled_from(dtypes)))
        nests.append(_Stage(draw, number, buffer, tuple(made)).nest())
        made.append(buffer)
    intermediates = tuple(made[len(inputs) : -1])
    return Program("random", (*inputs, made[-1]), seq(nests), intermediates)


def arguments_for(program: Program, seed: int) -> list[NDArray[Any]]:
    """Small whole numbers for each buffer parameter, exact in every element type."""
    rng = np.random.default_rng(seed)
    arrays: list[NDArray[Any]] = []
    for param in program.params:
        assert isinstance(param, Buffer)
        assert param.const_shape is not None
        low = 0 if param.dtype.kind in ("uint", "bool") else -4
        arrays.append(rng.integers(low, 5, param.const_shape).astype(param.dtype.numpy))
    return arrays


def _buffer(draw: Draw, name: str, dtype: str) -> Buffer:
    sizes = draw(st.lists(st.integers(1, 6), max_size=3))
    return Buffer(name, tuple(const(n) for n in sizes), DType.of(dtype))


@dataclass
class _Axis:
    """An iteration variable on its way to being bound to loops."""

    iter: IterVar
    extent: int
    binding: Expr


class _Stage:
    """One block over its loops; `sources` may be read."""

    def __init__(
        self, draw: Draw, number: int, target: Buffer, sources: tuple[Buffer, ...]
    ) -> None:
        self.draw = draw
        self.number = number
        self.target = target
        self.sources = sources
        self.loops: list[tuple[Var, int, bool]] = []
        self.guards: list[Expr] = []
        self.names: list[tuple[Var, Expr]] = []

    def nest(self) -> Stmt:
        sizes = self.target.const_shape
        assert sizes is not None
        axes = [self._axis(f"v{n}", size, "spatial") for n, size in enumerate(sizes)]
        reduced = self.draw(st.lists(st.integers(1, 5), max_size=2))
        axes += [self._axis(f"r{n}", size, "reduce") for n, size in enumerate(reduced)]
        block = self._block(axes, bool(reduced))
        for var, extent, spatial in self.draw(st.permutations(self.loops)):
            block = For(var, const(extent), block, self._kind(spatial), self._notes())
        return block

    def _axis(self, name: str, extent: int, kind: Any) -> _Axis:
        """A variable bound to one loop, or to two that together cover its domain."""
        it = IterVar(Var(name), const(extent), kind)
        if not self.draw(st.booleans()):
            return _Axis(it, extent, self._loop(name, extent, kind))
        factor = self.draw(st.integers(1, extent + 1))
        outer = self._loop(f"{name}_outer", -(-extent // factor), kind)
        inner = self._loop(f"{name}_inner", factor, kind)
        if extent % factor:
            self.guards.append(outer * factor + inner < extent)
        return _Axis(it, extent, outer * factor + inner)

    def _loop(self, name: str, extent: int, kind: str) -> Var:
        var = Var(f"{name}_{self.number}")
        self.loops.append((var, extent, kind == "spatial"))
        return var

    def _kind(self, spatial: bool) -> LoopKind:
        serial: tuple[LoopKind, ...] = ("serial", "serial", "unrolled")
        concurrent: tuple[LoopKind, ...] = ("parallel", "vectorized")
        return self.draw(st.sampled_from(serial + concurrent if spatial else serial))

    def _notes(self) -> tuple[tuple[str, int], ...]:
        return (("hint", 1),) if self.draw(st.integers(0, 9)) == 0 else ()

    def _block(self, axes: list[_Axis], reduces: bool) -> Stmt:
        dtype = self.target.dtype
        place = tuple(a.iter.var for a in axes if a.iter.kind == "spatial")
        value = self._value(axes, dtype, 2)
        init: Stmt | None = None
        if reduces:
            init = Store(self.target, place, const(0, dtype))
            before = Load(self.target, place)
            join = self.draw(st.sampled_from((minimum, maximum, None)))
            value = before + value if join is None else join(before, value)
        return make_block(
            BlockSymbol(self.target.name),
            [a.iter for a in axes],
            [a.binding for a in axes],
            self._named(Store(self.target, place, value)),
            init=init,
            predicate=conjunction(self.guards) if self.guards else TRUE,
        )

    def _named(self, stmt: Stmt) -> Stmt:
        """The statement inside the names that its values use."""
        for var, value in reversed(self.names):
            stmt = Let(var, value, stmt)
        return stmt

    def _name(self, value: Expr) -> Expr:
        var = Var(f"x{len(self.names)}", value.dtype)
        self.names.append((var, value))
        return var

    def _value(self, axes: list[_Axis], dtype: DType, depth: int) -> Expr:
        value = self._plain_value(axes, dtype, depth)
        return self._name(value) if self.draw(st.integers(0, 7)) == 0 else value

    def _plain_value(self, axes: list[_Axis], dtype: DType, depth: int) -> Expr:
        choice: int = self.draw(st.integers(0, 7 if depth else 2))
        if choice == 0:
            return const(self.draw(st.integers(0, 3)), dtype)
        if choice <= 2:
            return self._fitting(self._read(axes), dtype)
        a, b = self._value(axes, dtype, depth - 1), self._value(axes, dtype, depth - 1)
        if choice == 3:
            return Select(self._condition(axes), a, b)
        if choice == 4:
            # Divisors are literals other than 0, for floats also powers of two: exact everywhere.
            return a * const(0.5, dtype) if dtype.is_float else a // 3
        last: list[Expr] = [a + b, a - b, a * b if dtype.is_int else minimum(a, b)]
        return last[choice - 5]

    def _fitting(self, value: Expr, dtype: DType) -> Expr:
        """The value converted; a float is first brought into the range of any integer type."""
        if value.dtype.is_float and not dtype.is_float:
            value = minimum(maximum(value, 0.0), 7.0)
        return cast(value, dtype)

    def _condition(self, axes: list[_Axis]) -> Expr:
        if not axes:
            return TRUE
        axis = self.draw(st.sampled_from(axes))
        bound = self.draw(st.integers(0, axis.extent))
        conditions: tuple[Expr, ...] = (axis.iter.var < bound, ne(axis.iter.var % 2, 0))
        return self.draw(st.sampled_from(conditions))

    def _read(self, axes: list[_Axis]) -> Expr:
        """An element of a source; where an index may leave it, a Select guards the read."""
        source = self.draw(st.sampled_from(self.sources))
        sizes = source.const_shape
        assert sizes is not None
        indices: list[Expr] = []
        guards: list[Expr] = []
        for size in sizes:
            index, guard = self._index(axes, size)
            indices.append(index)
            guards.extend(guard)
        load = Load(source, tuple(indices))
        if not guards:
            return load
        return Select(conjunction(guards), load, const(0, source.dtype))

    def _index(self, axes: list[_Axis], size: int) -> tuple[Expr, list[Expr]]:
        if not axes:
            return const(self.draw(st.integers(0, size - 1))), []
        axis = self.draw(st.sampled_from(axes))
        v: Expr = axis.iter.var
        if self.draw(st.integers(0, 7)) == 0:
            v = self._name(v)
        way = self.draw(st.sampled_from(("mod", "clamp", "pad", "fit")))
        if way == "fit" and axis.extent <= size:
            return v + self.draw(st.integers(0, size - axis.extent)), []
        if way == "clamp":
            return minimum(v, size - 1), []
        if way == "pad":
            shift = self.draw(st.integers(-2, 2))
            return v + shift, [v + shift >= 0, v + shift < size]
        return v % size, []
