"""What all searches share: points are asked for, measured, and told."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tvmlab.tune.spaces import Points, Space

Scores: TypeAlias = NDArray[np.float64]
Score: TypeAlias = Callable[[Points], Scores]
"""What a model thinks of points: more is better."""
_TRIES = 32


class Search:
    """Chooses which points of a space to measure next; no point is asked for twice.

    Subclasses say how by `_choose`; what they return too few of is filled up at random.

    Parameters
    ----------
    seed
        Decides all that is random.
    """

    needs_model = False
    """Whether it is of use only with a model."""

    def __init__(self, space: Space, seed: int = 0) -> None:
        self.space = space
        self.rng = np.random.default_rng(seed)
        self._seen: set[bytes] = set()
        width = len(space.knobs)
        self._points = np.zeros((0, width), np.int32)
        self._throughput = np.zeros(0)

    def ask(self, count: int, score: Score | None = None) -> Points:
        """Up to `count` points that were never asked for; fewer if the space is used up."""
        chosen = self._fresh(self._choose(count, score), count)
        for _ in range(_TRIES):
            if len(chosen) >= count or len(self._seen) >= self.space.size:
                break
            missing = count - len(chosen)
            more = self._fresh(self.space.sample(4 * missing + 16, self.rng), missing)
            chosen = np.concatenate([chosen, more])
        return chosen

    def tell(self, points: Points, throughput: Scores) -> None:
        """Note what was measured; 0 stands for a failure. Points never asked for count too."""
        self._points = np.concatenate([self._points, points])
        self._throughput = np.concatenate([self._throughput, throughput])
        self._seen.update(self._keys(points))

    def _choose(self, count: int, score: Score | None) -> Points:
        """Points to measure, best first; more than `count`, in case some were seen."""
        raise NotImplementedError

    def _best(self, count: int) -> Points:
        """The fastest measured points, fastest first."""
        order = np.argsort(-self._throughput, kind="stable")
        return self._points[[n for n in order[:count] if self._throughput[n] > 0]]

    def _unseen(self, points: Points) -> NDArray[np.bool_]:
        return np.array([key not in self._seen for key in self._keys(points)], dtype=bool)

    def _keys(self, points: Points) -> list[bytes]:
        """Equal for points that are known to give the same schedule."""
        rows = np.ascontiguousarray(self.space.essence(points), np.int32)
        return [row.tobytes() for row in rows]

    def _fresh(self, points: Points, count: int) -> Points:
        """The first so many unseen points, which are seen from now on."""
        kept: list[int] = []
        for n, key in enumerate(self._keys(points)):
            if len(kept) == count:
                break
            if key not in self._seen:
                self._seen.add(key)
                kept.append(n)
        return points[kept]
