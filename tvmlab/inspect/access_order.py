"""Which elements of a buffer a program touches, one after another: pictures of loop orders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tvmlab.arith.sampling import evaluate_at
from tvmlab.ir import (
    TRUE,
    Alloc,
    Block,
    Buffer,
    Expr,
    For,
    If,
    Let,
    Load,
    Logic,
    Program,
    Select,
    Seq,
    Stmt,
    Store,
    Var,
    children,
    const_int,
)
from tvmlab.schedule import Schedule
from tvmlab.support import UserError

Access = Literal["read", "write"]
Array = NDArray[Any]
MOST_ITERATIONS = 2_000_000


def access_order(source: Schedule | Program, buffer: str, access: Access = "write") -> Array:
    """The elements of a buffer that are read or written, in the order in which that happens.

    Loops count as running one iteration after another, however they are scheduled. An element
    that is touched twice is there twice.

    Parameters
    ----------
    source
        A program whose sizes are constants.
    buffer
        The buffer's name.
    access
        Whether reads or writes are looked at.

    Returns
    -------
    numpy.ndarray
        One row for each access, with the element's indices.

    Raises
    ------
    UserError
        If the order is not known without running the program, or too long to list.
    """
    program = source.program if isinstance(source, Schedule) else source
    log = _Log(_named(program, buffer), access)
    log.stmt(program.body, Moment({}, np.zeros((1, 0), np.int64)))
    return log.in_order()


def _named(program: Program, name: str) -> Buffer:
    buffers = [*(p for p in program.params if isinstance(p, Buffer)), *program.allocs]
    for buffer in buffers:
        if buffer.name == name:
            return buffer
    raise UserError(
        f"the program has no buffer {name!r}",
        hint=f"it has {', '.join(b.name for b in buffers)}",
    )


@dataclass(frozen=True)
class Moment:
    """All the times at which a statement runs: values of the variables, and when.

    A row of `time` is compared from the left: turns of loops and places in sequences, outermost
    first.
    """

    values: Mapping[Var, Array]
    time: Array

    def value(self, e: Expr) -> Array:
        try:
            return np.broadcast_to(evaluate_at(e, self.values), len(self.time))
        except KeyError:
            raise UserError(
                "which elements are touched depends on data or on sizes of arguments",
                hint="the order of accesses can be listed for programs of constant sizes",
            ) from None

    def where(self, condition: Expr) -> Moment:
        if condition == TRUE:
            return self
        kept = np.flatnonzero(self.value(condition))
        return Moment({v: a[kept] for v, a in self.values.items()}, self.time[kept])

    def then(self, place: int) -> Moment:
        """Something that happens at a place of a sequence."""
        return Moment(self.values, np.insert(self.time, self.time.shape[1], place, axis=1))

    def knowing(self, values: Mapping[Var, Array]) -> Moment:
        return Moment({**self.values, **values}, self.time)

    def turns(self, loop: For) -> Moment:
        """The iterations of a loop that runs at each of these times."""
        extent = const_int(loop.extent)
        if extent is None or extent * len(self.time) > MOST_ITERATIONS:
            raise UserError(
                f"loop {loop.var.name} has too many iterations to list, or an unknown number",
                hint="look at the same schedule of a smaller problem",
            )
        turn = np.tile(np.arange(extent), len(self.time))
        values = {v: np.repeat(a, extent) for v, a in self.values.items()}
        time = np.column_stack([np.repeat(self.time, extent, axis=0), turn])
        return Moment({**values, loop.var: turn}, time)


def inner_stmts(stmt: Stmt) -> tuple[Stmt, ...]:
    """The statements directly inside one; a block counts as a whole, and has none."""
    if isinstance(stmt, Block):
        return ()
    return tuple(child for child in children(stmt) if isinstance(child, Stmt))


class WalkLog:
    """Walks a program once and notes each access with the times at which it happens."""

    def stmt(self, stmt: Stmt, now: Moment) -> None:
        match stmt:
            case Seq():
                for place, child in enumerate(stmt.stmts):
                    self.stmt(child, now.then(place))
            case For():
                self.stmt(stmt.body, now.turns(stmt))
            case If():
                self.expr(stmt.cond, now.then(0))
                self.stmt(stmt.then, now.where(stmt.cond).then(1))
                if stmt.otherwise is not None:
                    self.stmt(stmt.otherwise, now.where(~stmt.cond).then(1))
            case Alloc():
                self.stmt(stmt.body, now)
            case Let():
                self.expr(stmt.value, now.then(0))
                self.stmt(stmt.body, now.then(1))
            case Block():
                self.block(stmt, now.where(stmt.predicate))
            case Store():
                for part in (*stmt.indices, stmt.value):
                    self.expr(part, now.then(0))
                self.note(stmt.buffer, "write", stmt.indices, now.then(1))
            case _:
                raise UserError(f"{type(stmt).__name__}: what outside code touches is not known")

    def block(self, block: Block, now: Moment) -> None:
        inside = now.knowing(
            {it.var: now.value(b) for it, b in zip(block.iters, block.bindings, strict=True)}
        )
        if block.init is not None:
            first = inside.then(0)
            for it in block.iters:
                first = first.where(it.var.equal(0)) if it.kind == "reduce" else first
            self.stmt(block.init, first)
        self.stmt(block.body, inside.then(1))

    def expr(self, e: Expr, now: Moment) -> None:
        if isinstance(e, Select):
            self.expr(e.cond, now)
            self.expr(e.then, now.where(e.cond))
            self.expr(e.otherwise, now.where(~e.cond))
            return
        if isinstance(e, Logic):
            self.expr(e.a, now)
            self.expr(e.b, now.where(e.a if e.op == "and" else ~e.a))
            return
        for place, child in enumerate(c for c in children(e) if isinstance(c, Expr)):
            self.expr(child, now.then(place))
        if isinstance(e, Load):
            self.note(e.buffer, "read", e.indices, now.then(len(e.indices)))

    def note(self, buffer: Buffer, access: Access, indices: tuple[Expr, ...], now: Moment) -> None:
        """An access that happens at many moments."""
        raise NotImplementedError


class _Log(WalkLog):
    """Collects the accesses of one buffer."""

    def __init__(self, buffer: Buffer, access: Access) -> None:
        self.buffer = buffer
        self.access = access
        self.found: list[tuple[Array, Array]] = []

    def note(self, buffer: Buffer, access: Access, indices: tuple[Expr, ...], now: Moment) -> None:
        if buffer is self.buffer and access == self.access:
            places = [now.value(i) for i in indices]
            self.found.append((now.time, np.column_stack(places) if places else now.time[:, :0]))

    def in_order(self) -> Array:
        if not self.found:
            return np.zeros((0, len(self.buffer.shape)), np.int64)
        width = max(time.shape[1] for time, _ in self.found)
        times = [np.pad(t, ((0, 0), (0, width - t.shape[1]))) for t, _ in self.found]
        order = np.lexsort(np.concatenate(times).T[::-1])
        return np.concatenate([places for _, places in self.found])[order]
