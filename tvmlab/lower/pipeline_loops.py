"""Write out software pipelines: iterations of a loop overlap.

    for i in range(8):                         with alloc(float32[2, 16]) as T:
        with alloc(float32[16]) as T:              T[0, ...] = A[0, ...]
            T[...] = A[i, ...]         ->          for i in range(7):
            C[i] = f(T[...])                           T[(i + 1) % 2, ...] = A[i + 1, ...]
                                                       C[i] = f(T[i % 2, ...])
                                                   C[7] = f(T[1, ...])

In turn t, a statement of stage s runs iteration t - s. A buffer that belongs to an iteration gets a
copy for each iteration that uses it at a time. If a buffer turns out not to belong to an iteration
and the plan would disturb it, the loop stays as it is and says so in an annotation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, cast

from tvmlab.arith import Bounds, prove, simplify
from tvmlab.ir import (
    Alloc,
    Buffer,
    Expr,
    For,
    If,
    Load,
    Program,
    Region,
    Seq,
    Stmt,
    Store,
    conjunction,
    const,
    const_int,
    maximum,
    seq,
    substitute,
    touched_buffers,
    transform,
    transform_stmts,
    with_body,
)

from .fresh_copy import fresh_allocs
from .size_bounds import size_bounds

PIPELINE = "software_pipeline"


def pipeline_loops(program: Program) -> Program:
    """Replace each loop with a pipeline plan by its first turns, a loop, and its last turns."""
    env = size_bounds(program)

    def visit(node: Any) -> Any:
        planned = isinstance(node, For) and any(key == PIPELINE for key, _ in node.annotations)
        return _pipelined(node, env) if planned else node

    return with_body(program, transform_stmts(program.body, visit))


@dataclass(frozen=True, slots=True)
class _Member:
    """A statement of the body, what it touches, and its turn."""

    stmt: Stmt
    reads: frozenset[Buffer]
    writes: frozenset[Buffer]
    stage: int
    place: tuple[int, int]

    def touches(self, buffer: Buffer) -> bool:
        return buffer in self.reads or buffer in self.writes


def _pipelined(loop: For, env: Bounds) -> Stmt:
    notes = dict(loop.annotations)
    rows = cast("tuple[tuple[str, int, int], ...]", notes.pop(PIPELINE))
    plain = replace(loop, annotations=tuple(notes.items()))
    allocs: list[Buffer] = []
    members = _members(loop.body, {name: turn for name, *turn in rows}, allocs)
    if members is None or _disturbs(members, allocs):
        why = ("not_pipelined", "a buffer does not belong to one iteration")
        return replace(plain, annotations=(*plain.annotations, why))
    copies = {buffer: _copies(buffer, members) for buffer in allocs}
    turns = _Turns(plain, members, copies, env)
    body: Stmt = seq(turns.all())
    for buffer in reversed(allocs):
        body = Alloc(turns.new[buffer], body)
    return body


def _members(body: Stmt, plan: dict[str, list[int]], allocs: list[Buffer]) -> list[_Member] | None:
    """The statements of a body, allocations put aside; None if one has no turn."""
    found: list[_Member] = []
    for stmt in _statements(body, allocs):
        reads, writes = touched_buffers(stmt)
        turns = {tuple(plan[b.name]) for b in writes if b.name in plan}
        if len(turns) != 1:
            return None
        stage, place = turns.pop()
        found.append(_Member(stmt, reads, writes, stage, (place, len(found))))
    return found


def _statements(body: Stmt, allocs: list[Buffer]) -> list[Stmt]:
    if isinstance(body, Alloc):
        allocs.append(body.buffer)
        return _statements(body.body, allocs)
    if isinstance(body, Seq):
        return [inner for stmt in body.stmts for inner in _statements(stmt, allocs)]
    return [body]


def _disturbs(members: Sequence[_Member], own: Sequence[Buffer]) -> bool:
    """Whether two statements would touch a buffer of all iterations in another order."""
    for a, b in combinations(members, 2):
        shared = (a.writes & (b.reads | b.writes)) | (a.reads & b.writes)
        if not shared:
            continue
        if (a.stage, a.place) > (b.stage, b.place):
            return True
        ahead = b.stage - a.stage
        follows = ahead == 0 or (ahead == 1 and b.place < a.place)
        if not follows and any(buffer not in own for buffer in shared):
            return True
    return False


def _copies(buffer: Buffer, members: Sequence[_Member]) -> int:
    """How many iterations use the buffer at a time."""
    needed = 1
    for writer in members:
        for user in members:
            if buffer in writer.writes and user.touches(buffer) and user.stage > writer.stage:
                ahead = user.stage - writer.stage
                needed = max(needed, ahead + (0 if user.place < writer.place else 1))
    return needed


class _Turns:
    """The turns of one loop: written out at the ends, a loop in the middle."""

    def __init__(
        self, loop: For, members: Sequence[_Member], copies: dict[Buffer, int], env: Bounds
    ) -> None:
        self._loop = loop
        self._members = sorted(members, key=lambda member: member.place)
        self._copies = copies
        self._env = env
        self._last = max(member.stage for member in members)
        self.new = {
            buffer: replace(buffer, shape=(const(count), *buffer.shape)) if count > 1 else buffer
            for buffer, count in copies.items()
        }

    def all(self) -> list[Stmt]:
        """First turns, main loop, last turns."""
        loop, last = self._loop, self._last
        inside = self._env.bind_loop(loop.var, loop.extent)
        length = simplify(maximum(loop.extent - last, 0), inside)
        turns = [self._turn(const(t), range(t + 1), inside) for t in range(last)]
        middle = seq(
            [self._at(member, loop.var + (last - member.stage)) for member in self._members]
        )
        turns.append([replace(loop, extent=length, body=middle)])
        turns += [
            self._turn(loop.extent + t, range(t + 1, last + 1), inside, final=True)
            for t in range(last)
        ]
        return [stmt for turn in turns for stmt in turn]

    def _turn(self, turn: Expr, stages: range, env: Bounds, *, final: bool = False) -> list[Stmt]:
        """The members of some stages in a turn, where their iteration exists."""
        done: list[Stmt] = []
        for member in self._members:
            if member.stage not in stages:
                continue
            value = simplify(turn - member.stage, env)
            wanted = [value >= 0, value < self._loop.extent]
            if final:
                wanted.append(simplify(turn >= self._last, env))
            asked = [c for c in wanted if not _surely(c, self._env)]
            stmt = self._at(member, value)
            done.append(If(conjunction(asked), stmt) if asked else stmt)
        return done

    def _at(self, member: _Member, value: Expr) -> Stmt:
        """A member in one iteration, on the copies of that iteration."""
        stmt = substitute(member.stmt, {self._loop.var: value})
        new, copies = self.new, self._copies

        def visit(node: Any) -> Any:
            if not isinstance(node, (Load, Store, Region)) or copies.get(node.buffer, 1) == 1:
                return node
            copy = value % copies[node.buffer]
            buffer = new[node.buffer]
            if isinstance(node, Region):
                mins, extents = (copy, *node.mins), (const(1), *node.extents)
                return replace(node, buffer=buffer, mins=mins, extents=extents)
            return replace(node, buffer=buffer, indices=(copy, *node.indices))

        return fresh_allocs(transform(stmt, visit))


def _surely(cond: Expr, env: Bounds) -> bool:
    return const_int(cond) == 1 or prove(cond, env)
