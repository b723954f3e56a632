"""What the live view of a search shows, as plain data; made again while the search runs."""

from __future__ import annotations

from dataclasses import dataclass

from tvmlab.tune import Knob, Trial, Tuner, spearman

from .tuning import KnobImportance, knob_importance

_MOST_AXES = 6
_MOST_TICKS = 6
_RANK_STEPS = 40
_LEAST_RANKED = 8


@dataclass(frozen=True, slots=True)
class SearchTrial:
    """One measured schedule.

    Attributes
    ----------
    index
        Its number among the measured ones, from 0.
    measured, predicted
        Throughput in the view's unit; None for a failure, and where there was no model yet.
    best
        The best throughput up to and with it; 0 as long as all fail.
    places
        Where it lies on each axis, from 0 to 1; empty for a schedule that is no point of the space.
    error
        The first line of why it failed.
    """

    index: int
    status: str
    measured: float | None
    predicted: float | None
    best: float
    places: tuple[float, ...]
    error: str


@dataclass(frozen=True, slots=True)
class SearchTick:
    """An option of a knob: where it lies on its axis, from 0 to 1, and how it reads."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class SearchAxis:
    """A knob as an axis, with some of its options."""

    knob: str
    share: float
    ticks: tuple[SearchTick, ...]


@dataclass(frozen=True, slots=True)
class SearchRank:
    """Spearman's correlation of predictions and measurements over the first `count` trials."""

    count: int
    spearman: float


@dataclass(frozen=True, slots=True)
class SearchFailure:
    """A cause of failures, how often it came, and the first one's words."""

    status: str
    count: int
    error: str


@dataclass(frozen=True, slots=True)
class SearchView:
    """A search as its view shows it.

    Attributes
    ----------
    unit
        "GFLOP/s"; of a computation without arithmetic "runs/s".
    best
        The index of the fastest trial; None as long as all fail.
    rank
        How well the predictions, each made before its measurement, have ordered them so far.
    knobs
        What matters, the most important first.
    failures
        The most frequent cause first.
    drift
        How much slower the machine has become since the first trial; None if not looked at.
    """

    title: str
    unit: str
    measured: int
    refused: int
    best: int | None
    best_seconds: float | None
    trials: tuple[SearchTrial, ...]
    rank: tuple[SearchRank, ...]
    knobs: tuple[KnobImportance, ...]
    axes: tuple[SearchAxis, ...]
    failures: tuple[SearchFailure, ...]
    drift: float | None


def measured_trials(tuner: Tuner) -> list[Trial]:
    """The trials that were built and run, or tried to, in their order."""
    return [trial for trial in list(tuner.trials) if trial.status != "refused"]


def search_view(tuner: Tuner) -> SearchView:
    """The state of a search."""
    trials = measured_trials(tuner)
    knobs = tuple(k for k in knob_importance(trials) if len(tuner.space.knobs.get(k.knob, ())) > 1)
    axes = [(tuner.space.knobs[k.knob], k.share) for k in knobs[:_MOST_AXES]]
    rows = _rows(trials, [knob for knob, _ in axes], counts=bool(tuner.workload.flops))
    best = max((r for r in rows if r.measured), key=lambda r: r.measured or 0.0, default=None)
    return SearchView(
        title=tuner.name or tuner.workload.name,
        unit="GFLOP/s" if tuner.workload.flops else "runs/s",
        measured=len(trials),
        refused=len(tuner.trials) - len(trials),
        best=None if best is None else best.index,
        best_seconds=None if best is None else trials[best.index].seconds,
        trials=rows,
        rank=_rank(rows),
        knobs=knobs,
        axes=tuple(SearchAxis(knob.name, share, _ticks(knob)) for knob, share in axes),
        failures=tuple(SearchFailure(*f) for f in tuner.failures()),
        drift=tuner.drift,
    )


def _rows(trials: list[Trial], axes: list[Knob], *, counts: bool) -> tuple[SearchTrial, ...]:
    found: list[SearchTrial] = []
    top = 0.0
    for index, trial in enumerate(trials):
        value = None
        if trial.ok and trial.seconds:
            value = trial.gflops if counts else 1.0 / trial.seconds
            top = max(top, value or 0.0)
        places = tuple(_place(knob, trial) for knob in axes) if trial.values else ()
        error = trial.error.partition("\n")[0]
        found.append(SearchTrial(index, trial.status, value, trial.predicted, top, places, error))
    return tuple(found)


def _place(knob: Knob, trial: Trial) -> float:
    return knob.place(trial.values[knob.name]) / (len(knob) - 1)


def _ticks(knob: Knob) -> tuple[SearchTick, ...]:
    last = len(knob) - 1
    places = range(last + 1) if last < _MOST_TICKS else (0, last // 2, last)
    return tuple(SearchTick(place / last, _words(knob.options[place])) for place in places)


def _words(option: object) -> str:
    if isinstance(option, bool):
        return "yes" if option else "no"
    if isinstance(option, tuple):
        return "×".join(map(str, option))  # pyright: ignore[reportUnknownArgumentType]
    return str(option)


def _rank(rows: tuple[SearchTrial, ...]) -> tuple[SearchRank, ...]:
    """The correlation so far, at some numbers of trials."""
    both = [(r.index, r.predicted, r.measured) for r in rows if r.predicted and r.measured]
    step = max(1, len(both) // _RANK_STEPS)
    ends = list(range(_LEAST_RANKED, len(both), step))
    if len(both) >= _LEAST_RANKED:
        ends.append(len(both))
    found: list[SearchRank] = []
    for end in ends:
        value = spearman([p for _, p, _ in both[:end]], [m for _, _, m in both[:end]])
        if value is not None:
            found.append(SearchRank(both[end - 1][0] + 1, value))
    return tuple(found)
