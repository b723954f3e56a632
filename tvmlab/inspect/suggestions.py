"""The next step: every allowed one from here, ranked by what it promises, with the doubt.

Where a model has learned, it predicts; how far it was off so far gives the interval. Without one
the static estimate of time ranks, and says no more than that. Nothing is applied by itself.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tvmlab.ir import BlockSymbol, Program, Var
from tvmlab.schedule import Schedule, index_of
from tvmlab.target import Target

from .actions import Predict, step_summary
from .cost import nest_cost
from .offers import Offer, offers
from .symbols import SymbolIds

MOST = 12
MOST_TO_LEARN = 4
"""Steps that promise no gain, but of which the model knows least."""
_WORTH_SAYING = 1.005
"""A smaller gain would read as none."""
_LEAST_RESIDUALS = 5
_NINETY = 1.645
"""Standard deviations to each side that hold nine of ten residuals."""
_NOTES = frozenset({"assume", "annotate", "annotate_block", "pragma", "unannotate", "prefetch"})
_SAME_ORDER = frozenset({"blockize", "fuse", "peel", "partition"})
"""Steps that only prepare others: every access stays where it was, so a gain that the estimate sees
in them is the estimate's own error."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A step as a menu names it, and how much faster it may make the program.

    `low` and `high` hold nine of ten cases as far as the model's errors so far tell; None where
    only the estimate speaks. `teaches` is how much measuring it would tell the model: how far
    models that learned from parts of the measurements disagree, against the step of which they
    disagree most; None where there is no model.
    """

    row: str
    action: str
    title: str
    line: str
    ratio: float
    low: float | None
    high: float | None
    reason: str
    teaches: float | None


@dataclass(frozen=True, slots=True)
class SuggestionsReport:
    """The most promising steps first, and what the ranking stands on."""

    basis: str
    tried: int
    steps: tuple[Suggestion, ...]


def suggestions_report(
    schedule: Schedule,
    ids: SymbolIds,
    target: Target,
    predict: Predict,
    residuals: Sequence[tuple[float, float]],
    *,
    doubt: Predict = lambda _: None,
    budget: float = 1.5,
) -> SuggestionsReport:
    """Try the offered steps of every line with their proposed arguments.

    Parameters
    ----------
    residuals
        Pairs of predicted and measured throughput so far.
    doubt
        How little a model knows of a program.
    budget
        Seconds after which no further step is tried; `tried` says how many were.
    """
    program = schedule.program
    learned = predict(program) is not None
    spread = _spread(residuals) if learned else None
    factor = None if spread is None else math.exp(_NINETY * spread)
    found: list[Suggestion] = []
    unknown: list[Suggestion] = []
    tried = 0
    end = time.monotonic() + budget
    for symbol, offer in _candidates(schedule):
        if time.monotonic() > end:
            break
        action = offer.action
        attempt = schedule.preview(action.primitive, **action.args)
        tried += 1
        if attempt.applied is None:
            continue
        ratio = _ratio(program, attempt.applied.program, target, predict)
        teaches = doubt(attempt.applied.program)
        if ratio is not None and (ratio > _WORTH_SAYING or teaches is not None):
            reason = step_summary(schedule, offer, action.args, attempt, target)
            low, high = (None, None) if factor is None else (ratio / factor, ratio * factor)
            row, name = ids.of(symbol), symbol.name
            step = Suggestion(row, offer.id, action.title, name, ratio, low, high, reason, teaches)
            (found if ratio > _WORTH_SAYING else unknown).append(step)
    found.sort(key=lambda s: -s.ratio)
    unknown.sort(key=lambda s: -(s.teaches or 0.0))
    shown = _against_most([*found[:MOST], *unknown[:MOST_TO_LEARN]])
    basis = (
        "the learned model" if learned else "the static estimate alone; train the model for more"
    )
    return SuggestionsReport(basis, tried, shown)


def _against_most(steps: Sequence[Suggestion]) -> tuple[Suggestion, ...]:
    """The same steps, what each teaches told against the one that teaches most."""
    most = max((s.teaches or 0.0 for s in steps), default=0.0)
    return tuple(
        replace(s, teaches=None if s.teaches is None else s.teaches / (most or 1.0)) for s in steps
    )


def _candidates(schedule: Schedule) -> Iterator[tuple[Var | BlockSymbol, Offer]]:
    """The allowed steps of all lines, without those that only note something.

    Moving one loop out of another is also moving the other into it: it is named once.
    """
    index = index_of(schedule.program)
    named: list[tuple[str, Mapping[str, Any]]] = []
    for symbol in (*index.loops, *index.blocks):
        for offer in offers(schedule, symbol):
            action = offer.action
            step = (action.primitive, action.args)
            if not action.verdict or action.primitive in _NOTES | _SAME_ORDER or step in named:
                continue
            named.append(step)
            yield symbol, offer


def _ratio(before: Program, after: Program, target: Target, predict: Predict) -> float | None:
    old, new = predict(before), predict(after)
    if old is not None and new is not None:
        return new / old if old > 0 else None
    costs = nest_cost(before, target), nest_cost(after, target)
    if costs[0] is None or costs[1] is None or not costs[1].total.time:
        return None
    return costs[0].total.time / costs[1].total.time


def _spread(residuals: Sequence[tuple[float, float]]) -> float | None:
    """The standard deviation of log(measured / predicted); None while there are too few."""
    logs = [math.log(m / p) for p, m in residuals if p > 0 and m > 0]
    if len(logs) < _LEAST_RESIDUALS:
        return None
    mean = sum(logs) / len(logs)
    return math.sqrt(sum((x - mean) ** 2 for x in logs) / (len(logs) - 1))
