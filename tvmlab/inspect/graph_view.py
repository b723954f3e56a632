"""A compiled graph as rows: a row for each kernel, with its nodes, values, lanes, and times.

Everything comes from the plan of a run and its notes, so that a module that was loaded from disk
shows the same as one that was just built.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tvmlab.graph import Graph, Node, parse
from tvmlab.graph.operators import OPERATORS
from tvmlab.runtime import Plan, PlanStep, StepTime
from tvmlab.support import TvmlabError, fields_of, items_of
from tvmlab.target import MachinePeaks

from .graph_lanes import Lanes, lanes_of

KINDS = ("complex", "reduction", "opaque", "injective")


@dataclass(frozen=True, slots=True)
class NodeLine:
    """A node of the model inside a kernel."""

    name: str
    op: str
    attrs: str
    type: str


@dataclass(frozen=True, slots=True)
class ValueLine:
    """A value that a kernel reads or writes; `row` is the kernel that makes it, if one does."""

    name: str
    type: str
    role: str
    row: str


@dataclass(frozen=True, slots=True)
class RowTime:
    """What a kernel cost in the last profile.

    Attributes
    ----------
    share
        Its part of the time of all kernels.
    of_roof
        How much of what the machine allows it reached; None if its limits were not measured.
    before
        Its time before its schedule was changed; None if it was not.
    """

    seconds: float
    share: float
    gflops: float
    gbps: float
    of_roof: float | None
    before: float | None


@dataclass(frozen=True, slots=True)
class GraphRow:
    """A kernel of a compiled graph."""

    id: str
    name: str
    kernel: str
    kind: str
    ops: tuple[str, ...]
    nodes: tuple[NodeLine, ...]
    inputs: tuple[ValueLine, ...]
    outputs: tuple[ValueLine, ...]
    readers: tuple[str, ...]
    lanes: Lanes
    flops: int
    nbytes: int
    schedule: str
    fused: str
    ends: str
    time: RowTime | None


def bodies_of(plan: Plan) -> dict[str, Graph]:
    """The nodes that each kernel computes, by symbol, of those whose text can be read."""
    found: dict[str, Graph] = {}
    for kernel, text in (fields_of(plan.notes.get("groups")) or {}).items():
        try:
            found[kernel] = parse(str(text))
        except TvmlabError:
            continue
    return found


def graph_rows(
    plan: Plan,
    bodies: Mapping[str, Graph],
    *,
    times: Sequence[StepTime] = (),
    before: Mapping[str, float] | None = None,
    schedules: Mapping[str, str] | None = None,
    peaks: MachinePeaks | None = None,
    threads: int = 1,
) -> tuple[GraphRow, ...]:
    """The rows of a plan, in the order of a run.

    Parameters
    ----------
    bodies
        What `bodies_of` read.
    times
        A profile of the plan's steps.
    before
        For kernels whose schedule was changed, the seconds before.
    schedules
        For kernels, where the schedule comes from: "tuned" or "pinned"; others have the default.
    peaks
        Limits of the machine, for `threads` threads.
    """
    makers = {name: n for n, s in enumerate(plan.steps) for name in _written(s)}
    reads = [sorted({makers[a] for a in _read(s) if a in makers}) for s in plan.steps]
    lanes = lanes_of(reads)
    roles = _Roles(plan, makers)
    total = sum(t.seconds for t in times) or 1.0
    ends = items_of(plan.notes.get("ends")) or ()
    rows: list[GraphRow] = []
    for number, step in enumerate(plan.steps):
        nodes = _nodes(step, bodies.get(step.kernel))
        seconds = times[number] if number < len(times) else None
        rows.append(GraphRow(
            id=str(number), name=step.name, kernel=step.kernel,
            kind=_kind(nodes), ops=tuple(n.op for n in nodes), nodes=nodes,
            inputs=tuple(roles.line(a) for a in _read(step)),
            outputs=tuple(roles.line(a) for a in _written(step)),
            readers=tuple(str(n) for n, r in enumerate(reads) if number in r),
            lanes=lanes[number], flops=step.flops,
            nbytes=sum(roles.nbytes(a) for a in dict.fromkeys(step.args)),
            schedule=(schedules or {}).get(step.kernel, "default"),
            fused=_fused(nodes), ends=str(ends[number]) if number < len(ends) else "",
            time=None if seconds is None else _time(
                seconds, total, (before or {}).get(step.kernel), peaks, threads),
        ))  # fmt: skip
    return tuple(rows)


class _Roles:
    """What the values of a plan are, and who makes them."""

    def __init__(self, plan: Plan, makers: Mapping[str, int]) -> None:
        self._makers = makers
        self._specs = {s.name: s for s in (*plan.inputs, *plan.params, *plan.outputs, *plan.values)}
        self._words = {
            **{s.name: "input" for s in plan.inputs},
            **{s.name: "parameter" for s in plan.params},
            **{s.name: "output" for s in plan.outputs},
        }

    def line(self, name: str) -> ValueLine:
        spec = self._specs[name]
        type_ = f"{spec.dtype}[{', '.join(map(str, spec.shape))}]"
        maker = self._makers.get(name)
        return ValueLine(name, type_, self._words.get(name, "value"),
                         "" if maker is None else str(maker))  # fmt: skip

    def nbytes(self, name: str) -> int:
        return self._specs[name].nbytes


def _written(step: PlanStep) -> tuple[str, ...]:
    return step.args[len(step.args) - step.written :]


def _read(step: PlanStep) -> tuple[str, ...]:
    return step.args[: len(step.args) - step.written]


def _nodes(step: PlanStep, body: Graph | None) -> tuple[NodeLine, ...]:
    """The nodes of a step: their names from the plan, all else from the kernel's text."""
    if step.body:
        return (NodeLine(step.name, "while_loop", f"{len(step.body)} steps", ""),)
    if body is None:
        return tuple(NodeLine(name, "", "", "") for name in step.nodes)
    known = [n for n in body.nodes if n.op != "full"]
    if len(known) != len(step.nodes):
        known = list(body.nodes)[-len(step.nodes) :]
    return tuple(
        NodeLine(name, node.op, _attrs(node), str(body.types[node.made[0]]))
        for name, node in zip(step.nodes, known, strict=False)
    )


def _attrs(node: Node) -> str:
    def shown(value: object) -> str:
        items = items_of(value)
        return str(value) if items is None else f"[{', '.join(map(str, items))}]"

    return ", ".join(f"{key} {shown(value)}" for key, value in node.attrs.items())


def _kind(nodes: Sequence[NodeLine]) -> str:
    """The class that decides how a kernel is fused: that of its weightiest node."""
    found = {OPERATORS[n.op].kind for n in nodes if n.op in OPERATORS}
    return next((kind for kind in KINDS if kind in found), "injective")


def _fused(nodes: Sequence[NodeLine]) -> str:
    """What was joined, in words."""
    if len(nodes) == 1:
        return "one node, alone"
    anchor = next((n.op for kind in KINDS for n in nodes
                   if n.op in OPERATORS and OPERATORS[n.op].kind == kind), "")  # fmt: skip
    others = [n.op for n in nodes]
    if anchor in others:
        others.remove(anchor)
    words = ", ".join(dict.fromkeys(others))
    kind = _kind(nodes)
    if kind == "complex":
        return f"{words} joined onto the output of {anchor}"
    if kind == "reduction":
        return f"{anchor} with {words} in one pass"
    return f"{len(nodes)} element-wise nodes in one pass: {anchor}, {words}"


def _time(
    time: StepTime, total: float, before: float | None, peaks: MachinePeaks | None, threads: int
) -> RowTime:
    seconds = max(time.seconds, 1e-9)
    return RowTime(
        seconds=time.seconds,
        share=time.seconds / total,
        gflops=time.step.flops / seconds / 1e9,
        gbps=time.nbytes / seconds / 1e9,
        of_roof=_of_roof(time, seconds, peaks, threads),
        before=before,
    )


def _of_roof(
    time: StepTime, seconds: float, peaks: MachinePeaks | None, threads: int
) -> float | None:
    """The least time that arithmetic and memory allow, as a part of the time taken."""
    if peaks is None:
        return None
    rate, level = peaks.gflops.get(threads), peaks.level_of(time.nbytes, threads)
    if not rate or level is None:
        return None
    least = max(time.step.flops / rate / 1e9, time.nbytes / level.read / 1e9)
    return min(least / seconds, 1.0)
