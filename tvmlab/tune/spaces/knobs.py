"""Knobs: the decisions that a design space leaves open, each with a finite list of options.

A knob is *numeric* if its options are numbers that only change sizes, such as the factors of a
split: thousands of its options are then looked at as one array. Any other knob is *structural*:
it decides which steps are taken.

>>> split_knob("tile_i", 64, 2, most=32).options[:3]
((64, 1), (32, 2), (16, 4))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import permutations
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tvmlab.support import OptionError

Value: TypeAlias = bool | int | float | str | tuple[int, ...]
Numbers: TypeAlias = NDArray[np.int64]

TAILS = ("divide", "inner", "tail")
WASTE = 1.25
"""A split that leaves a tail may at most do this share of the loop's iterations in all."""
_SIZES = (1, 2, 3, 4, 6, 7, 8, 12, 14, 16, 24, 28, 32, 48, 64, 96, 128, 192, 256, 512, 1024)
MOST_OPTIONS = 4096


@dataclass(frozen=True, slots=True)
class Knob:
    """One open decision.

    Attributes
    ----------
    name
        Unique in its space.
    kind
        What it decides, for tables: "split", "choice", "number", "order" or "flag".
    options
        What may be chosen, as plain data.
    numeric
        Whether the options are numbers that change sizes only.
    """

    name: str
    kind: str
    options: tuple[Value, ...]
    numeric: bool = False
    numbers: Numbers = field(init=False, repr=False, compare=False)
    """Numeric options as an array: (options, parts)."""

    def __post_init__(self) -> None:
        if not self.options:
            raise OptionError(f"knob {self.name!r} has no option to choose from")
        if len(self.options) > MOST_OPTIONS:
            raise OptionError(
                f"knob {self.name!r} has {len(self.options)} options, more than {MOST_OPTIONS}",
                hint="limit it, for example with `most`, or use fewer parts",
            )
        rows = [o if isinstance(o, tuple) else (o,) for o in self.options] if self.numeric else []
        object.__setattr__(self, "numbers", np.array(rows, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.options)

    def place(self, value: object) -> int:
        """Which option a value is.

        Raises
        ------
        OptionError
            If it is none.
        """
        plain = tuple(value) if isinstance(value, list) else value  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        for number, option in enumerate(self.options):
            if option == plain and isinstance(option, bool) == isinstance(plain, bool):
                return number
        shown = ", ".join(map(str, self.options[:6])) + (", ..." if len(self) > 6 else "")
        raise OptionError(
            f"knob {self.name!r} has no option {plain!r}", hint=f"its options are {shown}"
        )


@lru_cache(maxsize=4096)
def split_knob(
    name: str,
    extent: int,
    parts: int,
    *,
    most: int | None = None,
    step: int = 1,
    tail: str = "divide",
) -> Knob:
    """A knob for the factors of a split, from the outermost in.

    Parameters
    ----------
    parts
        Number of loops, at least two.
    most
        Largest innermost factor.
    step
        Innermost factors are multiples of it, if any are: such as the lanes of a vector.
    tail
        "divide" takes only factors whose product is the extent. "tail" takes others too, if at most
        a quarter of the iterations is wasted, and "inner" innermost ones: the others divide what is
        left.
    """
    if parts < 2:
        raise OptionError(f"knob {name!r} splits a loop into {parts}, not two or more")
    if tail not in TAILS:
        raise OptionError(f"knob {name!r} has no tail policy {tail!r}: {' or '.join(TAILS)}")
    if extent < 1:
        raise OptionError(f"knob {name!r} splits a loop of {extent} iterations")
    chosen = _tilings(extent, parts, tail)
    if most is not None:
        chosen = [t for t in chosen if t[-1] <= most]
    chosen = [t for t in chosen if t[-1] % step == 0] or chosen
    return Knob(name, "split", tuple(chosen), numeric=True)


def _tilings(extent: int, parts: int, tail: str) -> list[tuple[int, ...]]:
    if tail == "divide":
        return list(_factorizations(extent, parts))
    sizes = sorted({*(s for s in _SIZES if s < extent), *_divisors(extent)})
    if tail == "inner":
        counts = [(-(-extent // size), size) for size in sizes]
        cut = [(n, size) for n, size in counts if n * size <= WASTE * extent]
        return [(*outer, size) for n, size in cut for outer in _factorizations(n, parts - 1)]
    found = (t for t in _covers(extent, parts, sizes) if prod(t) <= WASTE * extent)
    return sorted(set(found), key=lambda t: t[::-1])


def _factorizations(extent: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ways to write an extent as an ordered product."""
    if parts == 1:
        yield (extent,)
        return
    for inner in _divisors(extent):
        for outer in _factorizations(extent // inner, parts - 1):
            yield (*outer, inner)


def _covers(extent: int, parts: int, sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Factors from a list of sizes, the outermost as large as needed."""
    if parts == 1:
        yield (extent,)
        return
    for inner in sizes:
        if inner <= extent:
            for outer in _covers(-(-extent // inner), parts - 1, sizes):
                yield (*outer, inner)


@lru_cache(maxsize=4096)
def _divisors(extent: int) -> tuple[int, ...]:
    return tuple(n for n in range(1, extent + 1) if extent % n == 0)


@lru_cache(maxsize=4096)
def choice_knob(name: str, options: tuple[Value, ...], kind: str = "choice") -> Knob:
    """A knob for one of several values that decide about steps."""
    if len(set(options)) != len(options):
        raise OptionError(f"knob {name!r} has an option twice")
    return Knob(name, kind, options)


@lru_cache(maxsize=4096)
def number_knob(name: str, options: tuple[int, ...]) -> Knob:
    """A knob for one of several whole numbers that change sizes only."""
    return Knob(name, "number", options, numeric=True)


@lru_cache(maxsize=4096)
def order_knob(name: str, count: int) -> Knob:
    """A knob for an order of so many things."""
    if count > 6:
        raise OptionError(
            f"knob {name!r} orders {count} things: that is too many orders",
            hint="offer a few good orders with `choose`",
        )
    return Knob(name, "order", tuple(permutations(range(count))))
