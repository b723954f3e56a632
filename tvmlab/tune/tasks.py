"""Several workloads at once: trials go where a network gains most (after Ansor, OSDI 2020).

>>> tasks = TaskScheduler({"conv1": (tuner1, 2), "conv2": (tuner2, 1)})
>>> for name, trial in tasks.run(400):
...     print(name, trial.gflops)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tvmlab.support import OptionError

from .log import Trial
from .tuner import Tuner

_HOPE = 0.5
"""Share of the best time that is still hoped for after one round, and less with each more."""


@dataclass
class _Task:
    tuner: Tuner
    weight: float
    times: list[float] = field(default_factory=list[float])
    """The best time after each round."""
    done: bool = False

    def gain(self) -> float:
        """Seconds that the next round may save: what the last ones did, or what is hoped for."""
        if self.done:
            return 0.0
        if not self.times:
            return float("inf")
        hope = _HOPE * self.times[-1] / len(self.times)
        recent = self.times[-3:]
        trend = (recent[0] - recent[-1]) / max(1, len(recent) - 1)
        return self.weight * max(0.5 * trend + 0.5 * hope, trend)


class TaskScheduler:
    """Shares trials out over tuners.

    Parameters
    ----------
    tasks
        By name: a tuner, and how often its workload runs in the whole.
    batch
        Trials of one round.
    """

    def __init__(self, tasks: Mapping[str, tuple[Tuner, float]], batch: int = 16) -> None:
        if not tasks:
            raise OptionError("there is no task to share trials out to")
        self.batch = batch
        self._tasks = {name: _Task(tuner, weight) for name, (tuner, weight) in tasks.items()}

    def run(self, count: int) -> Iterator[tuple[str, Trial]]:
        """Up to `count` trials over all tasks; each comes with the name of its task."""
        left = count
        while left > 0 and not all(task.done for task in self._tasks.values()):
            name, task = max(self._tasks.items(), key=lambda item: item[1].gain())
            before = task.tuner.measured
            for trial in task.tuner.run(min(self.batch, left)):
                yield name, trial
            spent = task.tuner.measured - before
            left -= spent
            task.done = spent == 0
            best = task.tuner.best
            if best is not None and best.seconds is not None:
                task.times.append(best.seconds)
            elif task.times == [] and spent:
                task.times.append(1.0)

    def seconds(self) -> float | None:
        """The time of the whole with the best schedules so far; None if a task has none."""
        total = 0.0
        for task in self._tasks.values():
            best = task.tuner.best
            if best is None or best.seconds is None:
                return None
            total += task.weight * best.seconds
        return total
