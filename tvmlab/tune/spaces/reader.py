"""What a template asks its knobs of: `Knobs`, at one point, at many, or to list them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from tvmlab.support import OptionError

from .knobs import Knob, Value, choice_knob, number_knob, order_knob, split_knob

T = TypeVar("T")
Points = NDArray[np.int32]
"""Points of a space: one row each, with the place of the chosen option for each knob."""


class HasExtent(Protocol):
    """A loop, as far as a split needs to know it."""

    @property
    def extent(self) -> int | None: ...


class Knobs:
    """Hands a template the values of its knobs; a knob is declared by asking for it.

    >>> def template(sch, knobs):
    ...     i, j, k = sch.loops("C")
    ...     io, ii = sch.split(i, knobs.split("i", i, 2))
    ...     if knobs.flag("parallel"):
    ...         sch.parallel(io)

    A template must ask for the same knobs whatever their values are. Values of `split` and `number`
    may go into steps and into arithmetic, but not decide which steps are taken; those of the others
    may.
    """

    def split(
        self,
        name: str,
        loop: HasExtent | int,
        parts: int,
        *,
        most: int | None = None,
        step: int = 1,
        tail: str = "divide",
    ) -> Any:
        """Factors of a split into so many loops, from the outermost in.

        Parameters
        ----------
        loop
            The loop, or its number of iterations.
        most
            Largest innermost factor.
        step
            Innermost factors are multiples of it, if any are.
        tail
            "divide": only factors that divide; "tail": also such as leave a tail of the loop;
            "inner": also innermost factors that do.
        """
        extent = loop if isinstance(loop, int) else loop.extent
        if not isinstance(extent, int):
            raise OptionError(
                f"knob {name!r} splits a loop whose size follows from other knobs",
                hint="give the number of iterations as a number",
            )
        return self._take(split_knob(name, extent, parts, most=most, step=step, tail=tail))

    def number(self, name: str, options: Sequence[int]) -> Any:
        """One of several whole numbers that change sizes only, such as a vector's width."""
        return self._take(number_knob(name, tuple(options)))

    def choose(self, name: str, options: Sequence[Value]) -> Any:
        """One of several values; the template may decide by it which steps to take."""
        return self._take(choice_knob(name, tuple(options)))

    def flag(self, name: str) -> bool:
        """Yes or no."""
        return self._take(choice_knob(name, (False, True), "flag"))

    def order(self, name: str, items: Sequence[T]) -> list[T]:
        """The items in some order."""
        return [items[n] for n in self._take(order_knob(name, len(items)))]

    def ignore(self, *names: str) -> None:
        """Say of knobs that their values decide nothing, as others are.

        Points that differ in such knobs only are then one point to a search. It may depend on
        what `choose`, `flag` and `order` gave, not on numbers.
        """
        del names

    def _take(self, knob: Knob) -> Any:
        raise NotImplementedError


class Declaring(Knobs):
    """Lists the knobs that a template asks for, and answers with any of their options."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.knobs: dict[str, Knob] = {}
        self._rng = rng

    def _take(self, knob: Knob) -> Any:
        if self.knobs.setdefault(knob.name, knob) != knob:
            raise OptionError(f"the template asks for knob {knob.name!r} twice, in different ways")
        return knob.options[int(self._rng.integers(len(knob)))]


class Chosen(Knobs):
    """Answers with the values of one point."""

    def __init__(self, knobs: Mapping[str, Knob], point: Sequence[int]) -> None:
        self._places = dict(zip(knobs, point, strict=True))
        self._knobs = knobs

    def _take(self, knob: Knob) -> Any:
        declared = self._knobs.get(knob.name)
        if declared is None:
            raise OptionError(
                f"the template asks for knob {knob.name!r} only for some values of others",
                hint="ask for every knob first, then use what is needed",
            )
        if declared != knob:
            raise OptionError(
                f"the options of knob {knob.name!r} depend on the values of other knobs",
                hint="offer the same options always",
            )
        return declared.options[self._places[knob.name]]


class Columns(Knobs):
    """Answers for many points that agree in all structural knobs: numbers become columns."""

    def __init__(self, knobs: Mapping[str, Knob], points: Points) -> None:
        self._knobs = knobs
        self._columns = {name: points[:, n] for n, name in enumerate(knobs)}
        self.ignored: set[str] = set()

    def ignore(self, *names: str) -> None:
        """Note which knobs decide nothing at these points."""
        self.ignored.update(names)

    def split(
        self,
        name: str,
        loop: HasExtent | int,
        parts: int,
        *,
        most: int | None = None,
        step: int = 1,
        tail: str = "divide",
    ) -> Any:
        """The factors, each as a column over the points."""
        return self._column(self._knobs[name])

    def _take(self, knob: Knob) -> Any:
        declared = self._knobs[knob.name]
        if declared.numeric:
            return self._column(declared)
        return declared.options[int(self._columns[knob.name][0])]

    def _column(self, knob: Knob) -> Any:
        columns = [
            np.ascontiguousarray(column, np.float64)
            for column in knob.numbers[self._columns[knob.name]].T
        ]
        return columns[0] if knob.kind == "number" else columns
