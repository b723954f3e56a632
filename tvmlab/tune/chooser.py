"""What a tuner measures next: a search asked for points, with a model's opinion of them."""

from __future__ import annotations

import threading
from collections import deque

import numpy as np
from numpy.typing import NDArray

from tvmlab.ir import structural_hash
from tvmlab.schedule import Schedule
from tvmlab.support import ScheduleError, without_collections

from .candidate import Candidate, throughput_of
from .features import Features, extract_features
from .log import Trial
from .measure import Runner, while_nobody_times
from .models import AnalyticModel, Learner, has_xgboost
from .search import Search
from .spaces import Points, Space

_MOST_ROWS = 1 << 13


class Chooser:
    """A queue of candidates that a search fills, and what was learned from those before.

    Parameters
    ----------
    workload
        The key under which the model keeps what it learns.
    batch
        So many points are chosen at a time.
    """

    def __init__(
        self, space: Space, search: Search, learner: Learner, workload: str, batch: int
    ) -> None:
        self.space = space
        self.search = search
        self.learner = learner
        self.workload = workload
        self.batch = batch
        # A search that asks no model gets by without one where XGBoost is not installed.
        self._learns = search.needs_model or has_xgboost()
        self._queue: deque[Candidate] = deque()
        self._results: dict[str, Trial] = {}
        self._prior = AnalyticModel(space.target)
        self._rows: dict[bytes, Features] = {}

    @property
    def waiting(self) -> int:
        """How many candidates are chosen and not handed out yet."""
        return len(self._queue)

    def add_schedule(self, schedule: Schedule) -> None:
        """Queue a schedule that was made elsewhere, as steps from this space's program."""
        own = Schedule.replay(self.space.program, schedule.trace)
        features = extract_features(own.program, self.space.target.num_threads)
        self._queue.append(Candidate(None, own, features=features))

    def add_points(self, points: Points) -> None:
        """Queue points that somebody else thought of."""
        for point, row in zip(points, self.space.features(points), strict=True):
            self._queue.append(Candidate(point, None, features=row))

    def take_in(
        self, trial: Trial, point: Points | None, features: NDArray[np.float32] | None
    ) -> None:
        """Teach the search and the model."""
        if trial.program_hash:
            self._results[trial.program_hash] = trial
        if point is not None:
            self.search.tell(point[None], np.array([throughput_of(trial)]))
        if features is not None:
            self.learner.add(features, throughput_of(trial), self.workload)

    def next(self, runner: Runner, stop: threading.Event) -> Candidate | None:
        """The next point with a program that was not tried before, or one that is refused.

        None if there is none left, or it is time to stop.
        """
        while not stop.is_set():
            if not self._queue and not self._refill(runner):
                return None
            candidate = self._queue.popleft()
            try:
                if candidate.point is not None:
                    with while_nobody_times(runner), without_collections():
                        candidate.schedule = self.space.schedule(candidate.point)
            except ScheduleError as error:
                candidate.error = str(error.args[0] if error.args else error)
                return candidate
            assert candidate.schedule is not None
            candidate.program_hash = structural_hash(candidate.schedule.program)
            known = self._results.get(candidate.program_hash)
            if known is None:
                return candidate
            if candidate.point is not None:
                self.search.tell(candidate.point[None], np.array([throughput_of(known)]))
        return None

    def _refill(self, runner: Runner) -> bool:
        """Choose new points."""
        if self._learns:
            with while_nobody_times(runner):
                self.learner.refit_if_due()
        model = self.learner.model

        def score(points: Points) -> NDArray[np.float64]:
            # Not one long stretch: who has built something would wait for its end.
            with while_nobody_times(runner), without_collections():
                return self._score(points)

        points = self.search.ask(self.batch, score if self.search.needs_model else None)
        if not len(points):
            return False
        features = self._features(points)
        predicted = model.predict_gflops(features, self.workload)
        for n, point in enumerate(points):
            guess = None if predicted is None else float(predicted[n])
            self._queue.append(Candidate(point, None, predicted=guess, features=features[n]))
        return True

    def _score(self, points: Points) -> NDArray[np.float64]:
        """What the model thinks of points, or the analytic one if it and its prior know nothing."""
        features = self._features(points)
        scores = self.learner.model.predict(features)
        return self._prior.predict(features) if scores is None else scores

    def _features(self, points: Points) -> Features:
        """Rows of features, of which those of the last points are remembered."""
        keys = [row.tobytes() for row in np.ascontiguousarray(points, np.int32)]
        missing = [n for n, key in enumerate(keys) if key not in self._rows]
        if len(missing) > _MOST_ROWS // 2:
            return self.space.features(points)
        if len(self._rows) + len(missing) > _MOST_ROWS:
            wanted = set(keys)
            for key in list(self._rows)[: _MOST_ROWS // 2]:
                if key not in wanted:
                    del self._rows[key]
        if missing:
            rows = self.space.features(points[missing])
            self._rows.update(zip((keys[n] for n in missing), rows, strict=True))
        return np.stack([self._rows[key] for key in keys]) if keys else self.space.features(points)
