"""States of a history measured on several processors, and where these rank them differently."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from tvmlab.schedule import History, HistoryNode
from tvmlab.target import Target
from tvmlab.tune import MeasureResult

from .history import step_label
from .measurement import Gain, Measured, gain_over
from .wording import times

MOST_STATES = 8
HERE = "this machine"


@dataclass(frozen=True, slots=True)
class PoolCell:
    """One state on one processor: seconds with quartiles, or why there are none."""

    seconds: float | None
    lower: float | None
    upper: float | None
    message: str


@dataclass(frozen=True, slots=True)
class PoolRow:
    """A state of the path on all processors, in their order."""

    node: str
    label: str
    cells: tuple[PoolCell, ...]


@dataclass(frozen=True, slots=True)
class PoolReport:
    """The measured table; `flips` are in words, `values` what emulators said of results."""

    machines: tuple[str, ...]
    rows: tuple[PoolRow, ...]
    flips: tuple[str, ...]
    values: tuple[str, ...]


def pool_machines(here: Target) -> dict[str, Target]:
    """The processor here, and what it can be restricted to: fewer instructions, fewer threads."""
    found = {HERE: here}
    if here.arch == "x86_64":
        others = {"AVX2 only": "haswell", "SSE only": "x86-64-v2"}
        for name, cpu in others.items():
            target = Target.of(f"llvm -mcpu={cpu}").with_threads(here.num_threads)
            if not target.missing_here() and target.feature_set != here.feature_set:
                found[name] = target
    if here.num_threads > 1:
        found["one thread"] = here.with_threads(1)
    return found


def pool_states(history: History) -> list[HistoryNode]:
    """The states of the path to be measured: the start, and the newest ones."""
    path = history.path()
    return path if len(path) <= MOST_STATES else [path[0], *path[1 - MOST_STATES :]]


def pool_report(
    history: History,
    machines: Sequence[str],
    results: Mapping[tuple[str, int], MeasureResult],
    values: Sequence[str],
) -> PoolReport:
    """Put results, known by machine and state, into a table."""
    states = pool_states(history)
    rows = tuple(
        PoolRow(
            str(node.id), _label(node), tuple(_cell(results.get((m, node.id))) for m in machines)
        )
        for node in states
    )
    return PoolReport(
        tuple(machines), rows, tuple(_flips(states, machines, results)), tuple(values)
    )


def _label(node: HistoryNode) -> str:
    return node.label or step_label(node.step)


def _cell(result: MeasureResult | None) -> PoolCell:
    if result is None:
        return PoolCell(None, None, None, "not measured")
    return PoolCell(result.median, result.q1, result.q3, result.error)


def _flips(
    states: Sequence[HistoryNode],
    machines: Sequence[str],
    results: Mapping[tuple[str, int], MeasureResult],
) -> Iterator[str]:
    """Pairs of states of which the first machine prefers one and another the other, past noise."""
    for one, other in combinations(states, 2):
        here = _gain(results, machines[0], one, other)
        for machine in machines[1:]:
            there = _gain(results, machine, one, other)
            if here and there and {here.kind, there.kind} == {"gain", "loss"}:
                yield (
                    f"{_label(other)} against {_label(one)}: {times(here.ratio)} as fast on "
                    f"{machines[0]}, {times(there.ratio)} on {machine}"
                )


def _gain(
    results: Mapping[tuple[str, int], MeasureResult],
    machine: str,
    one: HistoryNode,
    other: HistoryNode,
) -> Gain | None:
    return gain_over(*(_measured(results.get((machine, n.id))) for n in (one, other)))


def _measured(result: MeasureResult | None) -> Measured | None:
    if result is None or result.median is None or result.q1 is None or result.q3 is None:
        return None
    return Measured(result.median, result.q1, result.q3, len(result.seconds))
