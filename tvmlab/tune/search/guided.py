"""Searches that ask a model about thousands of points for each one that they measure.

Both follow AutoTVM (Chen et al., 2018) in how a batch is made: most of it from what the model likes
best, spread over the options of the knobs, and a share at random, so that the model keeps learning
where it knows nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tvmlab.tune.spaces import Points, Space

from .base import Score, Scores, Search

_POOL = 8
"""How many times the wanted points are kept to choose a diverse batch from."""
_DIVERSITY = 0.3
"""What an option that a batch does not have yet is worth, in standard deviations of the scores."""
_AT_RANDOM = 0.15
"""Share of each batch that is drawn at random. With a third of it the model stayed with the first
good structure that it knew."""
_FIRST_AT_RANDOM = 0.4
"""Share of the first batch that is drawn at random: a model without data may like the wrong ones,
and learns it only where it did not look by itself."""


class BestPoints:
    """The best different unseen points that a search came by."""

    def __init__(self, search: Search, most: int) -> None:
        self._search = search
        self._most = most
        self.points = np.zeros((0, len(search.space.knobs)), np.int32)
        self.scores = np.zeros(0)

    def add(self, points: Points, scores: Scores) -> None:
        if len(self.scores) >= self._most:
            above = scores > self.scores[-1]
            points, scores = points[above], scores[above]
        new = self._search._unseen(points)  # pyright: ignore[reportPrivateUsage]
        if not new.any():
            return
        everything = np.concatenate([self.points, points[new]])
        values = np.concatenate([self.scores, scores[new]])
        essence = self._search.space.essence(everything)
        _, first = np.unique(essence, axis=0, return_index=True)
        order = first[np.argsort(-values[first], kind="stable")][: self._most]
        self.points, self.scores = everything[order], values[order]


class GuidedSearch(Search):
    """The common part: without a model, points are drawn at random.

    Parameters
    ----------
    epsilon
        Share of each batch that is drawn at random.
    """

    needs_model = True

    def __init__(self, space: Space, seed: int = 0, *, epsilon: float = _AT_RANDOM) -> None:
        super().__init__(space, seed)
        self.epsilon = epsilon

    def _choose(self, count: int, score: Score | None) -> Points:
        if score is None:
            return self.space.sample(count, self.rng)
        pool, scores = self._explore(count, score)
        share = self.epsilon if len(self._points) else max(self.epsilon, _FIRST_AT_RANDOM)
        good = count - int(self.rng.binomial(count, share))
        if not len(pool):
            return pool
        return pool[diverse(self.space.essence(pool), scores, good)]

    def _explore(self, count: int, score: Score) -> tuple[Points, Scores]:
        """Unseen points that the model likes, and what it says of them."""
        raise NotImplementedError


class Annealing(GuidedSearch):
    """Parallel simulated annealing on the model; the chains live on when the model has changed.

    For each batch the chains first look around among all knobs. Then they keep to the few
    structures that the model likes best, where many points are judged at once, and change numbers
    only: each chain looks at a few neighbors in a step, and moves to one of the better ones.

    Parameters
    ----------
    chains, steps, neighbors
        So many chains take so many steps for each batch, from warm to cold, and look at so many
        neighbors in each.
    structures
        Settings of the structural knobs that are looked at for each batch.
    scouts
        So many points of other structures are tried out for each batch. The best ones are
        remembered, for a later model may think more of them.
    """

    def __init__(
        self,
        space: Space,
        seed: int = 0,
        *,
        epsilon: float = _AT_RANDOM,
        chains: int = 128,
        steps: int = 5,
        neighbors: int = 4,
        structures: int = 6,
        scouts: int = 24,
    ) -> None:
        super().__init__(space, seed, epsilon=epsilon)
        self.chains = chains
        self.steps = steps
        self.neighbors = neighbors
        self.structures = structures
        self.scouts = scouts
        self._at: Points | None = None
        self._scouted = np.zeros((0, len(space.knobs)), np.int32)

    def _explore(self, count: int, score: Score) -> tuple[Points, Scores]:
        best = BestPoints(self, _POOL * count)
        points = self._gathered(score, best)
        scores = score(points)
        best.add(points, scores)
        numbers = None if self.space.structural.all() else ~self.space.structural
        for step in range(self.steps):
            temperature = max(1e-3, 1.0 - (step + 1) / self.steps) * max(float(scores.std()), 1e-3)
            moved, news = self._proposed(points, numbers, temperature, score, best)
            chance = np.exp(np.minimum((news - scores) / temperature, 0.0))
            take = self.rng.random(len(points)) < chance
            points = np.where(take[:, None], moved, points)
            scores = np.where(take, news, scores)
        self._at = points
        return best.points, best.scores

    def _proposed(
        self, points: Points, numbers: NDArray[np.bool_] | None, temperature: float,
        score: Score, best: BestPoints,
    ) -> tuple[Points, Scores]:  # fmt: skip
        """One of the neighbors of each point, the better the likelier."""
        moved = self.space.mutate(np.repeat(points, self.neighbors, axis=0), self.rng, numbers)
        news = score(moved)
        best.add(moved, news)
        noise = self.rng.gumbel(size=len(news)) * temperature
        place = (news + noise).reshape(len(points), self.neighbors).argmax(axis=1)
        place += np.arange(len(points)) * self.neighbors
        return moved[place], news[place]

    def _gathered(self, score: Score, best: BestPoints) -> Points:
        """Where the chains start, gathered in the structures that look best."""
        starts = self._starts()
        structural = self.space.structural
        if not structural.any():
            return starts
        few = self.rng.choice(len(starts), min(self.scouts, len(starts)), replace=False)
        sent = self.space.mutate(starts[few], self.rng, structural)
        looked = np.unique(
            np.concatenate([self._scouted, sent, self._best(self.structures)]), axis=0
        )
        values = score(looked)
        best.add(looked, values)
        ranked = looked[np.argsort(-values, kind="stable")]
        self._scouted = ranked[: 8 * self.scouts]
        kinds, first = np.unique(ranked[:, structural], axis=0, return_index=True)
        kept = kinds[np.argsort(first)][: self.structures]
        foreign = ~(starts[:, None, structural] == kept[None]).all(axis=2).any(axis=1)
        chosen = self.rng.integers(0, len(kept), len(starts))
        starts[:, structural] = np.where(foreign[:, None], kept[chosen], starts[:, structural])
        return starts

    def _starts(self) -> Points:
        """Where the chains stand; some are set anew to what was measured best."""
        fresh = self.space.sample(self.chains, self.rng)
        if self._at is not None:
            fresh = self._at.copy()
        tops = self._best(self.chains // 4)
        if len(tops):
            places = self.rng.permutation(self.chains)[: len(tops)]
            fresh[places] = tops
        return fresh


class Evolution(GuidedSearch):
    """Generations of children of measured and random points, judged by the model.

    Parameters
    ----------
    population, generations
        So many points in each of so many generations for each batch.
    """

    def __init__(
        self,
        space: Space,
        seed: int = 0,
        *,
        epsilon: float = _AT_RANDOM,
        population: int = 256,
        generations: int = 4,
    ) -> None:
        super().__init__(space, seed, epsilon=epsilon)
        self.population = population
        self.generations = generations

    def _explore(self, count: int, score: Score) -> tuple[Points, Scores]:
        tops = self._best(self.population // 4)
        points = np.concatenate([tops, self.space.sample(self.population - len(tops), self.rng)])
        best = BestPoints(self, _POOL * count)
        scores = score(points)
        best.add(points, scores)
        for _ in range(self.generations):
            points = self._children(points, scores)
            scores = score(points)
            best.add(points, scores)
        return best.points, best.scores

    def _children(self, points: Points, scores: Scores) -> Points:
        rank = np.argsort(np.argsort(scores))
        chances = (rank + 1.0) ** 3
        parents = self.rng.choice(len(points), (2, self.population), p=chances / chances.sum())
        first, second = points[parents[0]], points[parents[1]]
        crossed = self.rng.random(self.population) < 0.4
        children = np.where(crossed[:, None], self.space.cross(first, second, self.rng), first)
        return self.space.mutate(children, self.rng)


def diverse(points: Points, scores: Scores, count: int) -> NDArray[np.intp]:
    """Places of points that score well and differ in their knobs, chosen one by one.

    Each option of a knob that the batch does not have yet adds to a point's score.
    """
    count = min(count, len(points))
    spread = float(scores.std()) or 1.0
    value = (scores - scores.mean()) / spread
    fresh = np.ones(points.shape, dtype=bool)
    taken = np.zeros(len(points), dtype=bool)
    chosen: list[int] = []
    for _ in range(count):
        gain = value + _DIVERSITY * fresh.sum(axis=1)
        gain[taken] = -np.inf
        place = int(gain.argmax())
        chosen.append(place)
        taken[place] = True
        fresh &= points != points[place]
    return np.array(chosen, dtype=np.intp)
