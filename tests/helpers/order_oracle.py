"""Which iterations of a program must keep their order, found out by running it.

Slow and obvious: a program's blocks are executed one iteration after another, and each element
that an iteration touches is written down. Independent of the legality service that it judges.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tvmlab.ir import (
    Binary,
    Block,
    Cast,
    Compare,
    Const,
    Expr,
    For,
    If,
    Load,
    Logic,
    Not,
    Program,
    Select,
    Seq,
    Stmt,
    Store,
    Var,
    loads_of,
    structural_equal,
)

Touch = tuple[str, tuple[int, ...]]
SUMS = ("add", "mul", "min", "max")
_OPS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b, "floormod": lambda a, b: a % b, "min": min, "max": max,
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b, "eq": lambda a, b: a == b, "ne": lambda a, b: a != b,
}  # fmt: skip


@dataclass(slots=True)
class Instance:
    """One execution of a block; `sums` holds elements that it only updates by such an operation."""

    block: Block
    loops: dict[Var, int]
    reads: set[Touch] = field(default_factory=set[Touch])
    writes: set[Touch] = field(default_factory=set[Touch])
    sums: dict[Touch, str] = field(default_factory=dict[Touch, str])


def instances(program: Program, arrays: Sequence[Any]) -> list[Instance]:
    """All executions of blocks, in order. The arrays are changed."""
    memory: dict[Any, Any] = dict(zip(program.params, arrays, strict=True))
    for buffer in program.allocs:
        assert buffer.const_shape is not None
        memory[buffer] = np.zeros(buffer.const_shape, buffer.dtype.numpy)
    run = _Run(memory)
    run.stmt(program.body, {})
    return run.found


def clash(a: Instance, b: Instance, *, free_sums: bool) -> Touch | None:
    """An element that both touch and one writes, not counting joint sums if those are free."""
    for touch in sorted((a.writes & (b.reads | b.writes)) | (a.reads & b.writes)):
        together = touch in a.sums and a.sums[touch] == b.sums.get(touch)
        if not (free_sums and together):
            return touch
    return None


def concurrent_clash(found: Sequence[Instance], loop: Var) -> Touch | None:
    """An element over which iterations of a loop would race."""
    for n, a in enumerate(found):
        for b in found[n + 1 :]:
            if loop not in a.loops or loop not in b.loops or a.loops[loop] == b.loops[loop]:
                continue
            outer = _outside(a, loop)
            if outer == _outside(b, loop):
                touch = clash(a, b, free_sums=False)
                if touch is not None:
                    return touch
    return None


def swapped_clash(found: Sequence[Instance], chain: Sequence[Var], wanted: Sequence[Var]) -> bool:
    """Whether reordering a chain of loops changes the order of two iterations that clash."""
    inside = [x for x in found if all(v in x.loops for v in chain)]
    for n, a in enumerate(inside):
        for b in inside[n + 1 :]:
            if _outside(a, chain[0]) != _outside(b, chain[0]):
                continue
            before = [a.loops[v] for v in chain] < [b.loops[v] for v in chain]
            after = [a.loops[v] for v in wanted] > [b.loops[v] for v in wanted]
            if before and after and clash(a, b, free_sums=True):
                return True
    return False


def _outside(x: Instance, loop: Var) -> list[tuple[Var, int]]:
    names = list(x.loops)
    return [(v, x.loops[v]) for v in names[: names.index(loop)]]


class _Run:
    def __init__(self, memory: dict[Any, Any]) -> None:
        self.memory = memory
        self.found: list[Instance] = []

    def stmt(self, s: Stmt, loops: dict[Var, int]) -> None:
        if isinstance(s, Seq):
            for child in s.stmts:
                self.stmt(child, loops)
        elif isinstance(s, For):
            for value in range(int(self.value(s.extent, loops, None))):
                self.stmt(s.body, {**loops, s.var: value})
        elif isinstance(s, Block):
            self.block(s, loops)
        else:
            raise AssertionError(f"no rule for {type(s).__name__}")

    def block(self, s: Block, loops: dict[Var, int]) -> None:
        if not self.value(s.predicate, loops, None):
            return
        assert s.init is None
        one = Instance(s, loops)
        values = [self.value(b, loops, None) for b in s.bindings]
        env = dict(zip((it.var for it in s.iters), values, strict=True))
        self.body(s.body, env, one)
        self.found.append(one)

    def body(self, s: Stmt, env: dict[Var, int], one: Instance) -> None:
        if isinstance(s, Store):
            self.store(s, env, one)
        elif isinstance(s, Seq):
            for child in s.stmts:
                self.body(child, env, one)
        elif isinstance(s, For):
            for value in range(int(self.value(s.extent, env, one))):
                self.body(s.body, {**env, s.var: value}, one)
        elif isinstance(s, If):
            if self.value(s.cond, env, one):
                self.body(s.then, env, one)
            elif s.otherwise is not None:
                self.body(s.otherwise, env, one)
        elif isinstance(s, Block):
            if self.value(s.predicate, env, one):
                values = [self.value(b, env, one) for b in s.bindings]
                inside = dict(zip((it.var for it in s.iters), values, strict=True))
                self.body(s.body, {**env, **inside}, one)
        else:
            raise AssertionError(f"no rule for {type(s).__name__}")

    def store(self, s: Store, env: dict[Var, int], one: Instance) -> None:
        place = tuple(int(self.value(i, env, one)) for i in s.indices)
        touch = (s.buffer.name, place)
        result = self.value(s.value, env, one)
        op = _sum_of(s) if _alone(one.block.body) else None
        if op is not None and touch not in one.writes:
            one.sums[touch] = op
        else:
            one.sums.pop(touch, None)
        one.writes.add(touch)
        self.memory[s.buffer][place] = result

    def value(self, e: Expr, env: dict[Var, int], one: Instance | None) -> Any:
        if isinstance(e, Const):
            return e.value
        if isinstance(e, Var):
            return env[e]
        if isinstance(e, (Binary, Compare)):
            return _OPS[e.op](self.value(e.a, env, one), self.value(e.b, env, one))
        if isinstance(e, Logic):
            a, b = self.value(e.a, env, one), self.value(e.b, env, one)
            return (a and b) if e.op == "and" else (a or b)
        if isinstance(e, Not):
            return not self.value(e.a, env, one)
        if isinstance(e, Select):
            taken = e.then if self.value(e.cond, env, one) else e.otherwise
            return self.value(taken, env, one)
        if isinstance(e, Cast):
            return self.value(e.value, env, one)
        if isinstance(e, Load):
            place = tuple(int(self.value(i, env, one)) for i in e.indices)
            if one is not None:
                one.reads.add((e.buffer.name, place))
            return self.memory[e.buffer][place]
        raise AssertionError(f"no rule for {type(e).__name__}")


def _alone(body: Stmt) -> bool:
    """Whether a block does one thing only."""
    return isinstance(body.then if isinstance(body, If) else body, Store)


def _sum_of(s: Store) -> str | None:
    """The operation of `own element (op) value`, where the value does not read the buffer."""
    if not isinstance(s.value, Binary) or s.value.op not in SUMS:
        return None
    for own, other in ((s.value.a, s.value.b), (s.value.b, s.value.a)):
        if isinstance(own, Load) and own.buffer is s.buffer:
            same = all(structural_equal(x, y) for x, y in zip(own.indices, s.indices, strict=True))
            if same and not _reads(other, s):
                return s.value.op
    return None


def _reads(e: Expr, s: Store) -> bool:
    return any(load.buffer is s.buffer for load in loads_of(e))
