"""Searches without a model: at random, in order, up the hill, by selection."""

from __future__ import annotations

import numpy as np

from tvmlab.tune.spaces import Points

from .base import Score, Search

_POPULATION = 32
_MUTATED = 0.3
"""Share of the children of a genetic search that are changed at random too."""


class RandomSearch(Search):
    """Points drawn with equal chances."""

    def _choose(self, count: int, score: Score | None) -> Points:
        return self.space.sample(count, self.rng)


class GridSearch(Search):
    """All points in order, with equal steps if there are more than `limit`."""

    def __init__(self, *args: object, limit: int = 1 << 16, **named: object) -> None:
        super().__init__(*args, **named)  # pyright: ignore[reportArgumentType]
        self._step = max(1, self.space.size // limit)
        self._next = 0

    def _choose(self, count: int, score: Score | None) -> Points:
        found = self.space.numbered([])
        while len(found) < count and self._next < self.space.size:
            places = range(self._next, self.space.size, self._step)[:count]
            self._next += len(places) * self._step
            points = self.space.numbered(list(places))
            found = np.concatenate([found, points[self.space.allowed(points)]])
        return found


class HillClimb(Search):
    """Neighbors of the best point so far; a fresh start when a hill yields no more.

    Parameters
    ----------
    patience
        So many measured points without gain make a fresh start.
    """

    patience = 48

    def _choose(self, count: int, score: Score | None) -> Points:
        recent = self._throughput[self._start() :]
        if not len(recent) or recent.max() <= 0:
            return self.space.sample(count, self.rng)
        top = self._points[self._start() + int(recent.argmax())]
        return self.space.mutate(np.repeat(top[None], 3 * count, axis=0), self.rng)

    def _start(self) -> int:
        """Where the current climb began."""
        start, top, since = 0, 0.0, 0
        for n, value in enumerate(self._throughput):
            since = 0 if value > top else since + 1
            top = max(top, value)
            if since >= self.patience:
                start, top, since = n + 1, 0.0, 0
        return start


class GeneticSearch(Search):
    """Selection, crossover and mutation among what was measured, without a model."""

    def _choose(self, count: int, score: Score | None) -> Points:
        parents = self._best(_POPULATION)
        if len(self._points) < _POPULATION or len(parents) < 2:
            return self.space.sample(count, self.rng)
        fitness = np.sort(self._throughput)[::-1][: len(parents)]
        chances = fitness / fitness.sum()
        pairs = self.rng.choice(len(parents), (2, 2 * count), p=chances)
        children = self.space.cross(parents[pairs[0]], parents[pairs[1]], self.rng)
        changed = self.rng.random(len(children)) < _MUTATED
        # A child that equals a parent would be measured again: change it as well.
        changed |= (children == parents[pairs[0]]).all(axis=1)
        children[changed] = self.space.mutate(children[changed], self.rng)
        return children
