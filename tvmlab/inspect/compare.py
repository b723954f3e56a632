"""Two states of a history side by side: the nest, the code, the estimates and the times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tvmlab.schedule import History
from tvmlab.target import Target

from .cost import nest_cost
from .history import step_label
from .line_diff import DiffLine, diff_lines
from .measurement import Gain, Measured, gain_over
from .nest import NestReport, nest_report
from .text_view import nest_text
from .wording import duration


@dataclass(frozen=True, slots=True)
class Compared:
    """Something that both states have, in words."""

    label: str
    a: str
    b: str


@dataclass(frozen=True, slots=True)
class CompareReport:
    """What differs between state `a` and state `b`.

    Attributes
    ----------
    shared
        The last state that both come from.
    gain
        How much faster `b` is than `a`; None while either is unmeasured.
    """

    a: str
    b: str
    a_label: str
    b_label: str
    shared: str
    facts: tuple[Compared, ...]
    gain: Gain | None
    nest: tuple[DiffLine, ...]
    code: tuple[DiffLine, ...]


def compare_report(
    history: History, a: int, b: int, target: Target, measured: Mapping[int, Measured]
) -> CompareReport:
    """Compare two states of a history."""
    first, second = history.nodes[a], history.nodes[b]
    path = {node.id for node in history.path(a)}
    shared = next(node for node in reversed(history.path(b)) if node.id in path)
    nests = [nest_report(node.program, target=target) for node in (first, second)]
    texts = [nest_text(nest, costs=False) for nest in nests]
    return CompareReport(
        str(a),
        str(b),
        first.label or step_label(first.step),
        second.label or step_label(second.step),
        shared.label or step_label(shared.step),
        tuple(_facts(history, (a, b), nests, target, measured)),
        gain_over(measured.get(a), measured.get(b)),
        diff_lines(*texts),
        diff_lines(history.trace(a).to_python(), history.trace(b).to_python()),
    )


def _facts(
    history: History,
    pair: tuple[int, int],
    nests: list[NestReport],
    target: Target,
    measured: Mapping[int, Measured],
) -> list[Compared]:
    costs = [nest_cost(history.nodes[n].program, target) for n in pair]
    times = [measured.get(n) for n in pair]
    facts = [
        Compared("steps", *(str(len(history.trace(n))) for n in pair)),
        Compared("loops", *(str(nest.loops) for nest in nests)),
        Compared("blocks", *(str(nest.blocks) for nest in nests)),
        Compared("buffers", *(str(_buffers(nest)) for nest in nests)),
    ]
    known = [cost.total for cost in costs if cost is not None]
    if len(known) == len(costs):
        facts += [
            Compared("estimated data moved", "1.00", _ratio(known[1].moved, known[0].moved)),
            Compared("estimated time", "1.00", _ratio(known[1].time, known[0].time)),
        ]
    facts.append(
        Compared("measured", *("not measured" if t is None else duration(t.median) for t in times))
    )
    return facts


def _buffers(nest: NestReport) -> int:
    return sum(row.type == "buffer" for row in nest.rows)


def _ratio(new: float, old: float) -> str:
    return f"{new / old:.2f}" if old else "–"
