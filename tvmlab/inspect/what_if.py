"""What if the sizes were other ones: the same steps on the same computation, next to what is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tvmlab.ir import Program
from tvmlab.schedule import Schedule, Step, repeat_steps
from tvmlab.support import ScheduleError
from tvmlab.target import Target

from .actions import Predict
from .cost import nest_cost
from .history import step_label
from .line_diff import DiffLine, diff_lines
from .nest import NestReport, nest_report
from .resizing import Resizer, Size
from .text_view import nest_text
from .wording import count, size


@dataclass(frozen=True, slots=True)
class WhatIfFact:
    """One line of the comparison, in words."""

    label: str
    now: str
    then: str


@dataclass(frozen=True, slots=True)
class WhatIfReport:
    """The sizes that can be changed, and what would become of the schedule at those asked for.

    Attributes
    ----------
    wanted
        The sizes asked for, one for each of `sizes`.
    taken, steps
        How many steps of the current path still work, of how many.
    refused
        The first that does not, and why; empty if all do.
    """

    sizes: tuple[Size, ...]
    wanted: tuple[int, ...]
    taken: int
    steps: int
    refused: str
    facts: tuple[WhatIfFact, ...]
    nest: tuple[DiffLine, ...]


def what_if_report(
    schedule: Schedule, wanted: Mapping[str, int], target: Target, predict: Predict
) -> WhatIfReport:
    """Replay the current path on the unscheduled program at other sizes.

    Raises
    ------
    UserError
        If the sizes cannot be changed, or one asked for is not there.
    """
    history = schedule.history
    resizer = Resizer(history.nodes[0].program)
    other = Schedule(resizer.program(wanted))
    steps = [node.step for node in history.path() if node.step is not None]
    refused = _repeated(other, steps)
    before, after = history.node.program, other.program
    now, then = (nest_report(s, target=target) for s in (schedule, other))
    return WhatIfReport(
        resizer.sizes,
        tuple(wanted.get(s.name, s.value) for s in resizer.sizes),
        len(other.trace),
        len(steps),
        refused,
        tuple(_facts(before, after, now, then, target, predict)),
        tuple(diff_lines(*(nest_text(n, costs=False) for n in (now, then)))),
    )


def _repeated(schedule: Schedule, steps: Sequence[Step]) -> str:
    """Take steps as far as they go; returns which does not, and why."""
    refused = ""
    for last in range(len(steps), 0, -1):
        try:
            repeat_steps(schedule, steps[:last])
        except ScheduleError as error:
            refused = f"{step_label(steps[last - 1])}: {error.message}"
            continue
        break
    return refused


def _facts(
    before: Program,
    after: Program,
    now: NestReport,
    then: NestReport,
    target: Target,
    predict: Predict,
) -> list[WhatIfFact]:
    facts = [WhatIfFact("loops with a remark", _remarks(now), _remarks(then))]
    costs = nest_cost(before, target), nest_cost(after, target)
    if costs[0] is None or costs[1] is None:
        return facts
    a, b = costs[0], costs[1]
    facts.append(WhatIfFact("operations", count(a.total.operations), count(b.total.operations)))
    for level in a.levels[1:]:
        moved = [c.traffic.get(level.name, 0.0) for c in (a, b)]
        facts.append(WhatIfFact(f"bytes into {level.name}", size(moved[0]), size(moved[1])))
    each = [c.total.time / max(c.total.operations, 1) for c in (a, b)]
    if each[0]:
        facts.append(WhatIfFact("estimated time an operation", "1.00", f"{each[1] / each[0]:.2f}"))
    guesses = [predict(p) for p in (before, after)]
    if guesses[0] is not None and guesses[1] is not None:
        words = [f"{g:.3g} GFLOP/s" for g in guesses if g is not None]
        facts.append(WhatIfFact("predicted", words[0], words[1]))
    return facts


def _remarks(report: NestReport) -> str:
    """Loops whose last round is short, or whose lanes do not fill vectors."""
    found = [
        f"{row.name}: {row.note}"
        for row in report.rows
        if row.type == "loop" and row.note and ("last one" in row.note or " + " in row.note)
    ]
    return "; ".join(found) or "none"
