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

from .cost import NestCost, nest_cost
from .history import step_label
from .measurement import Measured


@dataclass(frozen=True, slots=True)
class Ceiling:
    """A limit of the machine: arithmetic in GFLOP/s, or a level's bandwidth in GB/s."""

    label: str
    rate: float


@dataclass(frozen=True, slots=True)
class RoofPoint:
    """A measured state: operations for each byte from memory, and GFLOP/s.

    Attributes
    ----------
    levels
        Operations for each byte that each level hands out, nearest first; "memory" last.
    """

    node: str
    label: str
    intensity: float
    gflops: float
    current: bool
    levels: tuple[LevelIntensity, ...]


@dataclass(frozen=True, slots=True)
class LevelIntensity:
    """Operations for each byte that one level hands out."""

    level: str
    intensity: float


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
        label = node.label or step_label(node.step)
        levels = _intensities(cost, flops)
        points.append(
            RoofPoint(
                str(node.id),
                label,
                levels[-1].intensity,
                flops / times.median / 1e9,
                node.id == history.current,
                levels,
            )
        )
    return RooflineReport(machine, tuple(compute), tuple(memory), tuple(points), missing)


def _intensities(cost: NestCost, flops: int) -> tuple[LevelIntensity, ...]:
    """What comes into a level is handed out by the next one."""
    names = [*(level.name for level in cost.levels[1:]), "memory"]
    return tuple(
        LevelIntensity(name, flops / max(cost.traffic.get(level.name, 0.0), 1.0))
        for name, level in zip(names, cost.levels, strict=True)
    )
