"""Software pipelining: which members of a loop's body may run in which iteration's turn.

In turn t of a pipelined loop, each member of its body runs the iteration t minus its stage, in the
given order. A plan is kept on the loop as a note: for each buffer that a member writes, the stage
and the place in the order. Buffers that belong to one iteration get as many copies as iterations
are under way; on all others, what touches one element must come in the same order as before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias, cast

from tvmlab.ir import Attribute, Buffer, For, Program, Stmt, child_stmts, touched_buffers

from .coverage import require_covered_reads
from .independence import is_private
from .index import ProgramIndex, blocks_in, index_of, nest_of
from .notes import PIPELINE, note_of
from .verdict import RefusedError, refuse

Plan: TypeAlias = dict[str, tuple[int, int]]
"""Stage and place in the order, by the name of each buffer that is written."""


@dataclass(frozen=True, slots=True)
class Member:
    """A statement of the loop's body, with its turn."""

    stmt: Stmt
    reads: frozenset[Buffer]
    writes: frozenset[Buffer]
    stage: int
    place: int

    @property
    def name(self) -> str:
        return ", ".join(block.name for block in blocks_in(self.stmt))


def members_of(loop: For, stages: Sequence[int], order: Sequence[int]) -> list[Member]:
    """The members of a loop's body with their turns, in the order in which they stand."""
    found: list[Member] = []
    for stmt, stage, place in zip(child_stmts(loop.body), stages, order, strict=True):
        reads, writes = touched_buffers(stmt)
        found.append(Member(stmt, reads, writes, stage, place))
    return found


def plan_value(members: Sequence[Member]) -> Attribute:
    """The plan as the value of a note."""
    rows: dict[str, Attribute] = {}
    for member in members:
        for name in sorted(buffer.name for buffer in member.writes):
            rows.setdefault(name, (name, member.stage, member.place))
    return tuple(rows.values())


def plan_of(loop: For) -> Plan | None:
    """The plan that a loop carries; None if it is not pipelined."""
    value = note_of(loop, PIPELINE)
    if value is None:
        return None
    rows = cast("tuple[tuple[str, int, int], ...]", value)
    return {name: (stage, place) for name, stage, place in rows}


def require_lawful(index: ProgramIndex, loop: For, members: Sequence[Member], step: str) -> None:
    """Refuse a plan under which a value would be read too early or overwritten too soon."""
    for first, second in combinations(members, 2):
        _require_together(loop, first, second, step)
        shared = (first.writes & (second.reads | second.writes)) | (first.reads & second.writes)
        for buffer in sorted(shared, key=lambda b: b.name):
            _require_order(loop, first, second, buffer, step)
            if not _belongs_to_iteration(index, buffer, loop):
                _require_carried_order(loop, first, second, buffer, step)


def require_pipelines_lawful(program: Program, primitive: str) -> None:
    """Refuse a step after which a pipelined loop no longer fits its plan."""
    planned = [(lp, plan) for lp in nest_of(program).loops if (plan := plan_of(lp)) is not None]
    for loop, plan in planned:
        index = index_of(program)
        try:
            if loop.kind != "serial":
                raise refuse("software_pipeline.kind", f"it would be {loop.kind}, not serial")
            members = planned_members(loop, plan)
            require_lawful(index, loop, members, primitive)
        except RefusedError as error:
            raise refuse(
                f"{primitive}.breaks-pipeline",
                f"cannot {primitive} here: the pipelined loop {loop.var.name} would no longer fit "
                f"its plan ({error.verdict.reason}); pipeline it last",
                witness=None,
                subject=loop.var,
            ) from None


def planned_members(loop: For, plan: Plan) -> list[Member]:
    """The members of a loop's body with the turns that its plan gives them."""
    members: list[Member] = []
    for stmt in child_stmts(loop.body):
        reads, writes = touched_buffers(stmt)
        turns = {plan.get(buffer.name) for buffer in writes}
        turn = turns.pop() if len(turns) == 1 else None
        if turn is None:
            names = ", ".join(block.name for block in blocks_in(stmt))
            raise refuse("software_pipeline.unplanned", f"{names} has no stage of its own")
        members.append(Member(stmt, reads, writes, *turn))
    return members


def _require_together(loop: For, first: Member, second: Member, step: str) -> None:
    """Members that write one buffer, as a start value and its sum, keep one stage."""
    if first.writes & second.writes and first.stage != second.stage:
        name = min(buffer.name for buffer in first.writes & second.writes)
        raise refuse(
            f"{step}.one-buffer",
            f"cannot pipeline {loop.var.name}: {first.name} and {second.name} both write {name}, "
            f"so they must be in one stage",
            subject=loop.var,
        )


def _require_order(loop: For, first: Member, second: Member, buffer: Buffer, step: str) -> None:
    if (first.stage, first.place) > (second.stage, second.place):
        raise refuse(
            f"{step}.order",
            f"cannot pipeline {loop.var.name}: {second.name} needs {first.name} before it, because "
            f"both touch {buffer.name}, but would run earlier in the same iteration",
            witness=f"{second.name} of {loop.var.name}=0 would run before {first.name} of "
            f"{loop.var.name}=0",
            subject=loop.var,
        )


def _require_carried_order(
    loop: For, first: Member, second: Member, buffer: Buffer, step: str
) -> None:
    """`second` of an iteration comes before `first` of the next one, as in the plain loop."""
    ahead = second.stage - first.stage
    if ahead == 0 or (ahead == 1 and second.place < first.place):
        return
    name = loop.var.name
    raise refuse(
        f"{step}.carried",
        f"cannot pipeline {name}: {first.name} and {second.name} both touch {buffer.name}, which "
        f"does not belong to one iteration, and {first.name} would run ahead",
        witness=f"{first.name} of {name}=1 would run before {second.name} of {name}=0",
        subject=loop.var,
    )


def _belongs_to_iteration(index: ProgramIndex, buffer: Buffer, loop: For) -> bool:
    """Whether each iteration of the loop reads of an intermediate only what it wrote itself."""
    if not is_private(index, buffer, loop):
        return False
    for reader in index.consumers(buffer):
        try:
            require_covered_reads(index.program, reader.symbol, "software_pipeline")
        except RefusedError:
            return False
    return True
