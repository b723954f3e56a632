"""What a search has found so far, as plain data: curve, predictions, failures, what matters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tvmlab.schedule import Schedule
from tvmlab.support import TvmlabError
from tvmlab.tune import RankReport, Trial, Tuner, rank_report

_DRIFT = 0.1


@dataclass(frozen=True, slots=True)
class KnobImportance:
    """How much of the differences in (logarithmic) speed a knob's options explain, from 0 to 1."""

    knob: str
    share: float


@dataclass(frozen=True, slots=True)
class TuningReport:
    """A search.

    Attributes
    ----------
    curve
        The best throughput after each measured trial, in GFLOP/s; of runs per second if there is
        no arithmetic.
    points
        For each measured trial its number, what was predicted and measured, and its status.
    rank
        How well the predictions, each made before its measurement, order the measurements.
    failures
        Causes: kind, how often, the first one's words.
    knobs
        The most important first.
    facts
        Rows for a table.
    python
        The best schedule's steps.
    """

    title: str
    measured: int
    best_gflops: float | None
    best_seconds: float | None
    curve: tuple[float, ...]
    points: tuple[dict[str, Any], ...]
    rank: RankReport
    failures: tuple[tuple[str, int, str], ...]
    knobs: tuple[KnobImportance, ...]
    facts: tuple[tuple[str, str], ...]
    python: str


def tuning_report(tuner: Tuner) -> TuningReport:
    """The state of a search; ask again while it runs."""
    trials = [t for t in tuner.trials if t.status != "refused"]
    best = tuner.best
    both = [(t.predicted, t.gflops) for t in trials if t.predicted is not None and t.gflops]
    rank = rank_report([p for p, _ in both], [g for _, g in both])
    knobs = knob_importance(trials)
    failures = tuple(tuner.failures())
    return TuningReport(
        title=f"{tuner.workload.name}: {len(trials)} schedules measured",
        measured=len(trials),
        best_gflops=None if best is None else best.gflops,
        best_seconds=None if best is None else best.seconds,
        curve=_curve(trials),
        points=tuple(
            {"index": n, "predicted": t.predicted, "measured": t.gflops, "status": t.status}
            for n, t in enumerate(trials)
        ),
        rank=rank,
        failures=failures,
        knobs=knobs,
        facts=_facts(tuner, rank, failures, knobs),
        python=_python(tuner.best_schedule),
    )


def knob_importance(trials: list[Trial]) -> tuple[KnobImportance, ...]:
    """For each knob the share of the variance of log-time between its options."""
    valid = [t for t in trials if t.ok and t.seconds and t.values]
    if len(valid) < 2:
        return ()
    logs = np.log([t.seconds or 1.0 for t in valid])
    total = float(((logs - logs.mean()) ** 2).sum()) or 1.0
    found: list[KnobImportance] = []
    for name in valid[0].values:
        options = np.array([str(t.values.get(name)) for t in valid])
        kinds = np.unique(options)
        # A knob with many options explains much by chance: that share is taken off.
        between = sum(
            (options == k).sum() * (logs[options == k].mean() - logs.mean()) ** 2 for k in kinds
        )
        chance = (len(kinds) - 1) / max(1, len(valid) - 1)
        share = max(0.0, (float(between) / total - chance) / max(1e-9, 1.0 - chance))
        found.append(KnobImportance(name, share if len(kinds) < len(valid) else 0.0))
    return tuple(sorted(found, key=lambda k: -k.share))


def _curve(trials: list[Trial]) -> tuple[float, ...]:
    top, curve = 0.0, list[float]()
    for trial in trials:
        if trial.ok and trial.seconds:
            top = max(top, trial.gflops or 1.0 / trial.seconds)
        curve.append(top)
    return tuple(curve)


def _facts(
    tuner: Tuner,
    rank: RankReport,
    failures: tuple[tuple[str, int, str], ...],
    knobs: tuple[KnobImportance, ...],
) -> tuple[tuple[str, str], ...]:
    rows: list[tuple[str, str]] = []
    best = tuner.best
    if best is not None and best.seconds is not None:
        rate = "" if best.gflops is None else f", {best.gflops:.1f} GFLOP/s"
        rows.append(("best", f"{best.seconds * 1e6:.1f} us{rate}"))
    if rank.spearman is not None:
        rows.append(("predictions", f"rank correlation {rank.spearman:.2f} over {rank.count}"))
    if knobs:
        told = ", ".join(f"{k.knob} {k.share:.0%}" for k in knobs[:4])
        rows.append(("what matters", told))
    if tuner.drift is not None and abs(tuner.drift) > _DRIFT:
        way = "slower" if tuner.drift > 0 else "faster"
        rows.append(("clock", f"the machine became {abs(tuner.drift):.0%} {way} meanwhile"))
    rows += [(status, f"{count} times; first: {error}") for status, count, error in failures]
    return tuple(rows)


def _python(schedule: Schedule | None) -> str:
    try:
        return "" if schedule is None else schedule.trace.to_python()
    except TvmlabError as error:  # pragma: no cover - a log of another version
        return str(error)
