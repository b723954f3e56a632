"""The roofline of a machine, and where the states of a history stand under it.

Ceilings are measured on the machine, by who calls; arithmetic is counted, and the data that move
between memory and the last cache are the static estimate, so the place of a point on the x axis is
an estimate and its height is measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tvmlab.schedule import History
from tvmlab.target import Target

from .cost import nest_cost
from .history import step_label
from .measurement import Measured


@dataclass(frozen=True, slots=True)
class Ceiling:
    """A limit of the machine: arithmetic in GFLOP/s, or a level's bandwidth in GB/s."""

    label: str
    rate: float


@dataclass(frozen=True, slots=True)
class RoofPoint:
    """A measured state: operations for each byte from memory, and GFLOP/s."""

    node: str
    label: str
    intensity: float
    gflops: float
    current: bool


@dataclass(frozen=True, slots=True)
class RooflineReport:
    """Ceilings, best first, and the trail of the current path; `machine` says what was measured."""

    machine: str
    compute: tuple[Ceiling, ...]
    memory: tuple[Ceiling, ...]
    points: tuple[RoofPoint, ...]
    unmeasured: int


def roofline_report(
    history: History,
    measured: Mapping[int, Measured],
    flops: int | None,
    target: Target,
    *,
    machine: str,
    compute: Sequence[Ceiling],
    memory: Sequence[Ceiling],
) -> RooflineReport:
    """The trail of the current path under the ceilings given."""
    points: list[RoofPoint] = []
    missing = 0
    for node in history.path():
        cost, times = nest_cost(node.program, target), measured.get(node.id)
        missing += times is None
        if cost is None or times is None or not flops:
            continue
        moved = max(cost.traffic.get(cost.levels[-1].name, 0.0), 1.0)
        label = node.label or step_label(node.step)
        points.append(
            RoofPoint(
                str(node.id),
                label,
                flops / moved,
                flops / times.median / 1e9,
                node.id == history.current,
            )
        )
    return RooflineReport(machine, tuple(compute), tuple(memory), tuple(points), missing)
