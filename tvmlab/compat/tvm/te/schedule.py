"""Schedules, their relations, and what programs ask about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from tvmlab.compat.tvm.missing import missing
from tvmlab.driver import Loops
from tvmlab.driver import lower as lower_program
from tvmlab.ir import Buffer as Buffer
from tvmlab.ir import Load
from tvmlab.schedule import Stage
from tvmlab.schedule import TeSchedule as Schedule
from tvmlab.schedule.stages import Fuse, IterType, Singleton, Split
from tvmlab.te import Axis, ComputeOp, Operation, PlaceholderOp, Range, ScanOp, Tensor

from .fix_point import ScanFixPointAnalysis

__all__ = [
    "AutoInlineBroadcast", "AutoInlineElemWise", "AutoInlineInjective", "CreateReadGraph", "Fuse",
    "InferBound", "IterVar", "PostDFSOrder", "ScanFixPointAnalysis", "ScanGetBody", "Schedule",
    "ScheduleOps", "Singleton", "Split", "Stage", "VerifyCompactBuffer", "create_schedule",
]  # fmt: skip

__getattr__ = missing("tvm.te.schedule")

IterVar = SimpleNamespace(
    DataPar=IterType.DATA_PARALLEL,
    ThreadIndex=IterType.THREAD_INDEX,
    CommReduce=IterType.REDUCTION,
    Ordered=IterType.ORDERED,
    Opaque=IterType.OPAQUE,
    Unrolled=IterType.UNROLLED,
    Vectorized=IterType.VECTORIZED,
    Parallelized=IterType.PARALLELIZED,
    Tensorized=IterType.TENSORIZED,
)
create_schedule = Schedule


def InferBound(sch: Schedule) -> dict[Axis, Range]:
    """The values that each axis takes, given where stages are attached."""
    return sch.replay().ranges


def ScheduleOps(sch: Schedule, bounds: Any = None, debug_keep_trivial_loop: bool = False) -> Loops:
    """The loops of a schedule."""
    del bounds, debug_keep_trivial_loop
    return lower_program(sch.replay().program, simple_mode=True)


def SchedulePostProcToPrimFunc(args: Sequence[Any], body: Any, binds: Any = None) -> Any:
    """The function whose loops `ScheduleOps` made."""
    from tvmlab.compat.tvm.ir.module import PrimFunc

    del args, binds
    return PrimFunc(body.program, body.program)


def VerifyCompactBuffer(stmt: Any) -> bool:
    """Whether intermediates are stored compactly, which they always are."""
    del stmt
    return True


def AutoInlineElemWise(sch: Schedule) -> None:
    """Inline every stage that reads others only at its own indices."""
    _auto_inline(sch, lambda op: _reads(op, _at_own_place))


def AutoInlineBroadcast(sch: Schedule) -> None:
    """Inline every stage that reads others at some of its own indices, in their order."""
    _auto_inline(sch, lambda op: _reads(op, _at_own_place) or _reads(op, _at_some_places))


def AutoInlineInjective(sch: Schedule) -> None:
    """Inline every stage that does not reduce."""
    _auto_inline(sch, lambda op: True)


def _auto_inline(sch: Schedule, wanted: Callable[[ComputeOp], bool]) -> None:
    for stage in sch.stages:
        op = stage.op
        if isinstance(op, ComputeOp) and not op.reduce_axis and not stage.is_output and wanted(op):
            stage.compute_inline()


def _reads(op: ComputeOp, fits: Callable[[Load, tuple[Axis, ...]], bool]) -> bool:
    from tvmlab.ir import walk

    loads = [e for f in op.formulas for e in walk(f) if isinstance(e, Load)]
    return all(fits(load, op.axis) for load in loads)


def _at_own_place(load: Load, axes: tuple[Axis, ...]) -> bool:
    return tuple(load.indices) == axes


def _at_some_places(load: Load, axes: tuple[Axis, ...]) -> bool:
    from tvmlab.ir import const_int

    places = [axes.index(i) for i in load.indices if i in axes]
    rest = [i for i in load.indices if i not in axes]
    return places == sorted(places) and all(const_int(i) == 0 for i in rest)


def CreateReadGraph(ops: Sequence[Operation]) -> dict[Operation, list[Tensor]]:
    """The tensors that each operation reads, for all that these need."""
    found: dict[Operation, list[Tensor]] = {}
    waiting = list(ops)
    while waiting:
        op = waiting.pop()
        if op in found or isinstance(op, PlaceholderOp):
            found.setdefault(op, [])
            continue
        found[op] = list(op.input_tensors)
        waiting += [t.op for t in op.input_tensors]
    return found


def PostDFSOrder(ops: Sequence[Operation], graph: dict[Operation, list[Tensor]]) -> list[Operation]:
    """The operations, each after those that it reads."""
    done: dict[Operation, None] = {}

    def visit(op: Operation) -> None:
        if op not in done:
            for tensor in graph.get(op, []):
                visit(tensor.op)
            done[op] = None

    for op in ops:
        visit(op)
    return list(done)


def ScanGetBody(scan: ScanOp) -> list[Operation]:
    """The operations of a scan's cell, producers first."""
    states = {t.op for t in scan.state_placeholder}
    graph = CreateReadGraph([t.op for t in scan.update])
    order = PostDFSOrder([t.op for t in scan.update], graph)
    depends: set[Operation] = set(states)
    for op in order:
        if any(t.op in depends for t in graph.get(op, [])):
            depends.add(op)
    return [op for op in order if op in depends - states]


def CreateAttachPath(sch: Schedule) -> dict[Operation, list[Axis]]:
    """The axes that are around each stage through its attachments, innermost first."""
    from tvmlab.schedule.stages import AttachType

    found: dict[Operation, list[Axis]] = {}
    for stage in sch.stages:
        path: list[Axis] = []
        home: Any = stage.home
        while home.attach_type is AttachType.SCOPE:
            target = home.attach_stage
            leaves = getattr(target, "leaf_iter_vars", [])
            if home.attach_ivar in leaves:
                path += reversed(leaves[: leaves.index(home.attach_ivar) + 1])
            home = target.home
        found[stage.op] = path
    return found
