"""Latency hiding: software_pipeline, and double_buffer, which is its most common case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tvmlab.ir import Block, BlockSymbol, For, Program, Var, child_stmts, touched_buffers
from tvmlab.schedule.index import ProgramIndex, index_of
from tvmlab.schedule.legality import written_buffer
from tvmlab.schedule.notes import PIPELINE, with_note
from tvmlab.schedule.pipelining import (
    Member,
    members_of,
    plan_of,
    plan_value,
    planned_members,
    require_lawful,
)
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.rewrite import replace_stmts
from tvmlab.schedule.verdict import RefusedError, refuse

MOST_STAGES = 8
"""Iterations that may be under way at once."""


def _propose_loop(index: ProgramIndex, loop: For) -> Iterator[dict[str, Any]]:
    """All members in the first stage but the last one, which follows an iteration later."""
    count = len(child_stmts(loop.body))
    if count > 1 and plan_of(loop) is None:
        yield {"stages": (*(0,) * (count - 1), 1), "order": None}


def _propose_block(index: ProgramIndex, block: Block) -> Iterator[dict[str, Any]]:
    if index.loops_around(block) and index.consumers_of(block):
        yield {}


@primitive(
    "software_pipeline", "software pipeline", "",
    ParamSpec("loop", "loop", "the loop whose iterations shall overlap"),
    ParamSpec("stages", "ints", "for each statement of its body, how many turns later it runs"),
    ParamSpec(
        "order", "ints", "for each statement, its place within a turn; as they stand if left out",
        required=False,
    ),
    propose=_propose_loop,
)  # fmt: skip
def software_pipeline(
    program: Program, loop: Var, stages: Sequence[int], order: Sequence[int] | None = None
) -> Applied:
    """Let iterations of a loop overlap: a statement of stage s runs s turns after those of stage 0.

    So the values of the next iteration are fetched while this one computes. Lowering writes out the
    first and last turns, and keeps as many copies of a buffer as iterations use it at a time.

    Before::

        for i in range(8):
            T[...] = A[i, ...]        # stage 0
            C[i] = f(T[...])          # stage 1

    After `software_pipeline(i, [0, 1])`, once lowered::

        T[0, ...] = A[0, ...]
        for i in range(7):
            T[(i + 1) % 2, ...] = A[i + 1, ...]
            C[i] = f(T[i % 2, ...])
        C[7] = f(T[1, ...])
    """
    index = index_of(program)
    target = index.loops[loop]
    return _pipelined(index, target, stages, order, "software_pipeline")


@primitive(
    "double_buffer", "double buffer", "",
    ParamSpec("block", "block", "a producer that is computed inside a loop of its consumers"),
    propose=_propose_block,
)  # fmt: skip
def double_buffer(program: Program, block: BlockSymbol) -> Applied:
    """Compute what the next iteration needs into a second buffer while this one uses the first.

    The producer is moved one turn ahead in the loop that it shares with its consumers.

    Before::

        for i in range(8):
            T[...] = A[i, ...]
            C[i] = f(T[...])

    After `double_buffer("T")`, once lowered::

        T[0, ...] = A[0, ...]
        for i in range(7):
            T[(i + 1) % 2, ...] = A[i + 1, ...]
            C[i] = f(T[i % 2, ...])
        C[7] = f(T[1, ...])
    """
    index = index_of(program)
    producer = index.blocks[block]
    buffer = written_buffer(producer, "double_buffer")
    consumers = index.consumers(buffer)
    shared = index.common_loops(producer, *consumers) if consumers else []
    if not shared:
        raise refuse(
            "double_buffer.no-loop",
            f"cannot double buffer {producer.name}: it shares no loop with a block that reads "
            f"{buffer.name}; move it into one by compute_at first",
            subject=block,
        )
    loop = shared[-1]
    stages = _fetching_first(index, loop, producer)
    if not any(stages):
        raise refuse(
            "double_buffer.alone",
            f"cannot double buffer {producer.name}: all that {loop.var.name} does in an iteration "
            f"feeds it or writes what it writes, so nothing could run while it fetches ahead",
            subject=block,
        )
    plan = plan_of(loop)
    if plan is None:
        return _pipelined(index, loop, stages, None, "double_buffer")
    return _fetching_too(index, loop, stages, planned_members(loop, plan))


def _fetching_too(
    index: ProgramIndex, loop: For, stages: Sequence[int], planned: Sequence[Member]
) -> Applied:
    """One more producer of a pipelined loop runs ahead; the others keep their turns."""
    ahead = [stage and member.stage for stage, member in zip(stages, planned, strict=True)]
    if ahead == [member.stage for member in planned]:
        raise _already(loop, "double_buffer")
    members = members_of(loop, ahead, [member.place for member in planned])
    require_lawful(index, loop, members, "double_buffer")
    return _with_plan(index, loop, members)


def _fetching_first(index: ProgramIndex, loop: For, producer: Block) -> list[int]:
    """Stage 0 for the member that holds a block and for what feeds it in the loop, 1 for others."""
    children = child_stmts(loop.body)
    touched = [touched_buffers(child) for child in children]
    chosen, _ = index.child_holding(loop, producer)
    stages = [1] * len(children)
    needed = [chosen]
    while needed:
        position = needed.pop()
        stages[position] = 0
        reads, writes = touched[position]
        for other, (_, written) in enumerate(touched):
            feeds = other < position and written & reads
            if stages[other] and (feeds or written & writes):
                needed.append(other)
    return stages


def _pipelined(
    index: ProgramIndex, loop: For, stages: Sequence[int], order: Sequence[int] | None, step: str
) -> Applied:
    count = len(child_stmts(loop.body))
    places = tuple(range(count)) if order is None else tuple(order)
    _require_pipelinable(index, loop, step)
    if len(stages) != count or sorted(places) != list(range(count)) or count < 2:
        raise refuse(
            f"{step}.count",
            f"cannot pipeline {loop.var.name}: its body has {count} statement(s), so it takes two "
            f"or more, with one stage for each and an order that names each place once",
            subject=loop.var,
        )
    if min(stages) != 0 or not 1 <= max(stages) <= MOST_STAGES:
        raise refuse(
            f"{step}.stages",
            f"cannot pipeline {loop.var.name} by stages {list(stages)}: they begin with 0, and the "
            f"last is between 1 and {MOST_STAGES}, so that something runs ahead",
            subject=loop.var,
        )
    members = members_of(loop, stages, places)
    if not all(member.writes for member in members):
        raise refuse(
            f"{step}.no-result",
            f"cannot pipeline {loop.var.name}: a statement of its body writes no buffer",
            subject=loop.var,
        )
    require_lawful(index, loop, members, step)
    return _with_plan(index, loop, members)


def _with_plan(index: ProgramIndex, loop: For, members: Sequence[Member]) -> Applied:
    planned = with_note(loop, PIPELINE, plan_value(members))
    return Applied(replace_stmts(index.program, {loop: planned}))


def _require_pipelinable(index: ProgramIndex, loop: For, step: str) -> None:
    around = [lp for lp in (*index.loops_around(loop), loop) if lp.kind == "vectorized"]
    if loop.kind != "serial" or around:
        kind = loop.kind if loop.kind != "serial" else "in a vectorized loop"
        raise refuse(
            f"{step}.kind",
            f"cannot pipeline {loop.var.name}: it is {kind}, but turns follow each other only in a "
            f"serial loop",
            subject=loop.var,
        )
    if plan_of(loop) is not None:
        raise _already(loop, step)


def _already(loop: For, step: str) -> RefusedError:
    return refuse(
        f"{step}.already", f"cannot pipeline {loop.var.name}: it is already", subject=loop.var
    )
