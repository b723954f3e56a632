"""What a schedule of the generic space decides, as plain data: drawn at random, changed one by one.

The space is multi-level tiling: spatial loops in four levels S0 to S3, sums in two, R0 and R1,
nested in one of a few orders that suit caches; a local accumulator, staged operands; threads
outside, vectors inside. See `space` for how decisions become steps.

>>> decisions = draw(workload, np.random.default_rng(0))
>>> Decisions.from_json(decisions.to_json()) == decisions
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

import numpy as np

from tvmlab.support import ParseError

PATTERNS = (
    ("S0", "S1", "R0", "S2", "R1", "S3"),
    ("S0", "S1", "S2", "R0", "R1", "S3"),
    ("S0", "R0", "S1", "S2", "R1", "S3"),
    ("S0", "S1", "R0", "R1", "S2", "S3"),
    ("S0", "S1", "S2", "S3", "R0", "R1"),
)
_PATTERN_WEIGHTS = (0.25, 0.35, 0.15, 0.15, 0.1)
ATTACH = ("", "outer", "middle", "sum")
"""Where a stage is attached: nowhere, at the last S0 loop, at the last loop before the sums, at the
first loop of the sums."""
UNROLL = (0, 16, 64, 128)
_TAIL_CHANCE = 0.25
_SIZES = (1, 2, 3, 4, 6, 8, 12, 14, 16, 24, 28, 32, 48, 64, 96, 128, 256)


@dataclass(frozen=True, slots=True)
class Workload:
    """What the space needs to know of a computation: the main block's axes and what it reads.

    Attributes
    ----------
    space, sums
        Extents of the main block's spatial and reduction axes.
    reads
        Names of the buffers that it reads.
    producers
        Names of the blocks that compute some of these.
    lanes
        Elements in a vector register of the target.
    """

    space: tuple[int, ...]
    sums: tuple[int, ...]
    reads: tuple[str, ...]
    producers: tuple[str, ...]
    lanes: int


@dataclass(frozen=True, slots=True)
class Decisions:
    """One point of the space.

    Attributes
    ----------
    space_tiles, sum_tiles
        For each axis the extents of its inner levels (S1, S2, S3, and R1); the outer one follows.
    outer_order
        Order of the spatial axes in S0.
    pattern
        Which of `PATTERNS` nests the levels.
    accumulate
        Where the local accumulator is written back: "", "outer" or "middle".
    decompose
        Whether the start value is set in a nest of its own.
    staged
        For each read buffer where a copy of what is needed is made, one of `ATTACH`.
    producers
        For each producer "inline" or one of `ATTACH`.
    parallel
        How many of the S0 loops are fused and shared out to threads.
    vectorize
        Whether innermost spatial loops become vectors.
    unroll
        Inner loops are unrolled while their product stays within this.
    """

    space_tiles: tuple[tuple[int, ...], ...]
    sum_tiles: tuple[tuple[int, ...], ...]
    outer_order: tuple[int, ...]
    pattern: int
    accumulate: str
    decompose: bool
    staged: tuple[str, ...]
    producers: tuple[str, ...]
    parallel: int
    vectorize: bool
    unroll: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: object) -> Decisions:
        """The decisions that `to_json` wrote.

        Raises
        ------
        ParseError
            If the data are no decisions.
        """
        if not isinstance(data, dict):
            raise ParseError("decisions must be a JSON object")
        try:
            plain = {k: _tuples(v) for k, v in cast("dict[str, Any]", data).items()}
            return Decisions(**plain)
        except TypeError as error:
            raise ParseError(f"these are no decisions: {error}") from error


def _tuples(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple(_tuples(v) for v in cast("Sequence[Any]", value))
    return value


def draw(workload: Workload, rng: np.random.Generator) -> Decisions:
    """A random point of the space."""
    count = len(workload.space)
    return Decisions(
        space_tiles=tuple(_space_tiles(workload, axis, rng) for axis in range(count)),
        sum_tiles=tuple(_sum_tiles(extent, rng) for extent in workload.sums),
        outer_order=tuple(int(n) for n in rng.permutation(count)),
        pattern=int(rng.choice(len(PATTERNS), p=_PATTERN_WEIGHTS)),
        accumulate=_pick(rng, ("", "middle", "outer"), (0.25, 0.6, 0.15)) if workload.sums else "",
        decompose=bool(rng.random() < 0.85),
        staged=tuple(_pick(rng, ATTACH, (0.6, 0.1, 0.1, 0.2)) for _ in workload.reads),
        producers=tuple(
            _pick(rng, ("inline", *ATTACH), (0.2, 0.2, 0.3, 0.2, 0.1)) for _ in workload.producers
        ),
        parallel=int(rng.integers(0, count + 1)) if rng.random() < 0.2 else max(1, count - 1),
        vectorize=bool(rng.random() < 0.9),
        unroll=int(rng.choice(UNROLL, p=(0.15, 0.25, 0.35, 0.25))),
    )


def mutate(decisions: Decisions, workload: Workload, rng: np.random.Generator) -> Decisions:
    """A neighbour: one decision drawn again, tiles more often than the rest."""
    fresh = draw(workload, rng)
    changes: list[Callable[[], Decisions]] = [
        lambda: replace(decisions, outer_order=fresh.outer_order, parallel=fresh.parallel),
        lambda: replace(decisions, pattern=fresh.pattern),
        lambda: replace(decisions, accumulate=fresh.accumulate, decompose=fresh.decompose),
        lambda: replace(decisions, staged=_one_of(decisions.staged, fresh.staged, rng)),
        lambda: replace(decisions, producers=_one_of(decisions.producers, fresh.producers, rng)),
        lambda: replace(decisions, vectorize=fresh.vectorize, unroll=fresh.unroll),
    ]
    tiles: list[Callable[[], Decisions]] = [
        lambda: replace(
            decisions, space_tiles=_one_of(decisions.space_tiles, fresh.space_tiles, rng)
        ),
        lambda: replace(decisions, sum_tiles=_one_of(decisions.sum_tiles, fresh.sum_tiles, rng)),
    ]
    chosen = tiles if rng.random() < 0.6 else changes
    return chosen[int(rng.integers(len(chosen)))]()


def _one_of(
    old: tuple[Any, ...], new: tuple[Any, ...], rng: np.random.Generator
) -> tuple[Any, ...]:
    """The old entries with one replaced by the new one of its place."""
    if not old:
        return old
    place = int(rng.integers(len(old)))
    return (*old[:place], new[place], *old[place + 1 :])


def _pick(rng: np.random.Generator, values: Sequence[str], weights: Sequence[float]) -> str:
    return values[int(rng.choice(len(values), p=weights))]


def _space_tiles(workload: Workload, axis: int, rng: np.random.Generator) -> tuple[int, ...]:
    """S1, S2, S3 of an axis. The last axis is the one that vectors run along."""
    extent = workload.space[axis]
    last = axis == len(workload.space) - 1
    if last and rng.random() < 0.85:
        inner = min(extent, workload.lanes * int(rng.choice((1, 2, 3, 4), p=(0.3, 0.4, 0.1, 0.2))))
    else:
        inner = _factor(extent, 16, rng)
    second = _factor(_ceil(extent, inner), 8, rng) if rng.random() < 0.4 else 1
    first = _factor(_ceil(extent, inner * second), 32, rng) if rng.random() < 0.5 else 1
    return first, second, inner


def _sum_tiles(extent: int, rng: np.random.Generator) -> tuple[int, ...]:
    return (_factor(extent, 512, rng) if rng.random() < 0.8 else 1,)


def _factor(extent: int, limit: int, rng: np.random.Generator) -> int:
    """A tile size up to a limit; most divide the extent, some leave a tail."""
    sizes = [s for s in (*_SIZES, extent) if s <= min(extent, limit)]
    exact = [s for s in sizes if extent % s == 0]
    chosen = sizes if rng.random() < _TAIL_CHANCE else exact
    return int(chosen[int(rng.integers(len(chosen)))])


def _ceil(a: int, b: int) -> int:
    return -(-a // b)
