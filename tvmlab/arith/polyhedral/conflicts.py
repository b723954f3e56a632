"""Do two accesses to one buffer ever meet, in iterations that stand in a given order?

for i in range(15):
    A[i + 1] = A[i]

The store and the load meet if i + 1 == i', for example at i = 0 and i' = 1: the first
iteration writes A[1], the second reads it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, TypeAlias

from tvmlab.ir import Buffer, Expr, Var, const_int

from .isl import BeyondBudgetError, has_solution, smallest_solution
from .linear_system import (
    Case,
    Conjunction,
    Constraint,
    Form,
    NotLinearError,
    Translator,
    variables_of,
)

MAX_STEPS = 200
"""Combinations of cases that one question may look at."""

Relation: TypeAlias = Literal["<", "=", ">"]
Order: TypeAlias = Mapping[Var, Relation]
"""How the loops of the first iteration stand to the same loops of the second."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Access:
    """What one access touches: an element for each iteration of the loops around it.

    Attributes
    ----------
    loops
        The loops around, outermost first, with their extents; an extent may use outer loops.
    conditions
        What must hold for the access to happen.
    """

    buffer: Buffer
    indices: tuple[Expr, ...]
    loops: tuple[tuple[Var, Expr], ...]
    conditions: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Clash:
    """Two iterations whose accesses meet.

    Attributes
    ----------
    first, second
        Loop values of the two iterations.
    cell
        The element; None for an index that is not known.
    sizes
        The sizes for which it happens, if some are known only at run time.
    exact
        Whether it surely happens. If not, something was not linear and was taken for anything.
    """

    first: Mapping[Var, int]
    second: Mapping[Var, int]
    cell: tuple[int | None, ...]
    sizes: Mapping[Var, int]
    exact: bool

    @property
    def rank(self) -> tuple[int, ...]:
        """Small for a case that is easy to read: few and small numbers."""
        values = (*self.sizes.values(), *self.first.values(), *self.second.values())
        return (sum(map(abs, values)), *values)


def find_clash(
    first: Access, second: Access, orders: Iterable[Order], facts: Sequence[Expr] = ()
) -> Clash | None:
    """The smallest pair of iterations in which two accesses meet; None if they never do.

    Parameters
    ----------
    orders
        The loops' relations to look at, one after another: loops of both accesses that must have
        equal, smaller or larger values in the first iteration than in the second.
    facts
        What is known about sizes.

    Raises
    ------
    BeyondBudgetError
        If it could not be found out in time.
    """
    if first.buffer is not second.buffer:
        return None
    best: Clash | None = None
    for order in orders:
        found = _Question(first, second, order, facts).answer()
        if found is not None and (
            best is None or (found.exact, best.rank) > (best.exact, found.rank)
        ):
            best = found
    return best


@dataclass(frozen=True, slots=True)
class _Size:
    """The variable of a system for a size, or another number that the program is given."""

    var: Var


class _Side:
    """An access as cases over the variables of a system: those of the first or second iteration."""

    def __init__(self, access: Access, label: str) -> None:
        self.label = label
        inside = {v for v, _ in access.loops}
        self._translator = Translator(lambda v: (label, v) if v in inside else _size(v))
        self.indices = tuple(_cases_or_none(index, self._translator) for index in access.indices)
        self._loops, self._conditions = access.loops, access.conditions

    @cached_property
    def _linear(self) -> tuple[Sequence[Sequence[Conjunction]], bool]:
        """What limits the iterations: not needed where one dimension keeps accesses apart."""
        bounds: list[Sequence[Conjunction]] = []
        rest: list[Expr] = []
        for var, extent in self._loops:
            bounds.append([(Constraint(self.var(var)),)])
            size = const_int(extent)
            if size is None:
                rest.append(var < extent)
            else:
                bounds.append([(Constraint(Form({(self.label, var): -1}, size - 1)),)])
        parts, exact = _linear_parts([*rest, *self._conditions], self._translator)
        return [*bounds, *parts], exact

    @property
    def parts(self) -> Sequence[Sequence[Conjunction]]:
        """The conditions under which the access happens."""
        return self._linear[0]

    @property
    def exact(self) -> bool:
        """Whether nothing of the access was taken for anything."""
        return self._linear[1] and None not in self.indices

    def var(self, var: Var) -> Form:
        return Form({(self.label, var): 1})


def _last(access: Access, label: str) -> dict[Hashable, int]:
    """The last iterations of the loops around an access whose extents are known."""
    sizes = {v: const_int(extent) for v, extent in access.loops}
    return {(label, v): size - 1 for v, size in sizes.items() if size is not None}


@lru_cache(maxsize=4096)
def _side(access: Access, label: str) -> _Side:
    """The side of an access, made once: the same accesses are asked about again and again."""
    return _Side(access, label)


def _size(var: Var) -> Hashable:
    if not var.dtype.is_int or var.dtype.lanes != 1:
        raise NotLinearError
    return _Size(var)


def _cases_or_none(index: Expr, translator: Translator) -> Sequence[Case] | None:
    try:
        return translator.cases(index)
    except NotLinearError:
        return None


class _Question:
    def __init__(self, first: Access, second: Access, order: Order, facts: Sequence[Expr]) -> None:
        self.accesses = first, second
        self.order = order
        self.one, self.other = _side(first, "first"), _side(second, "second")
        self.ends = {**_last(first, "first"), **_last(second, "second")}
        self.facts = _linear_parts(facts, Translator(_size))[0] if facts else []

    def answer(self) -> Clash | None:
        one, other = self.one, self.other
        if any(self._apart(x, y) for x, y in zip(one.indices, other.indices, strict=True)):
            return None
        meeting: list[Sequence[Conjunction]] = [
            [
                (*a.given, *b.given, Constraint(a.form.plus(b.form, -1), equal=True))
                for a, b in itertools.product(x, y)
            ]
            for x, y in zip(one.indices, other.indices, strict=True)
            if x is not None and y is not None
        ]
        orders = [[(self._ordered(v, relation),)] for v, relation in self.order.items()]
        parts = [*orders, *self.facts, *one.parts, *other.parts, *meeting]
        point = _Search(self._variables).smallest(parts)
        return None if point is None else self._clash(point)

    def _apart(self, x: Sequence[Case] | None, y: Sequence[Case] | None) -> bool:
        """Whether one dimension alone keeps the accesses apart, seen from the ends of the loops."""
        if x is None or y is None or len(x) != 1 or len(y) != 1 or x[0].given or y[0].given:
            return False
        gap = x[0].form.plus(y[0].form, -1)
        low = high = gap.const
        for factor, least, most in self._steps(dict(gap.terms)):
            if most is None:
                return False
            low += min(factor * least, factor * most)
            high += max(factor * least, factor * most)
        return not low <= 0 <= high

    def _steps(self, terms: dict[Hashable, int]) -> Iterator[tuple[int, int, int | None]]:
        """The terms of a difference of indices, as factors of numbers between two ends."""
        for var, relation in self.order.items():
            first, second = terms.pop(("first", var), 0), terms.pop(("second", var), 0)
            last = self.ends.get(("first", var))
            yield first + second, 0, last if first + second else 0
            if relation != "=" and second:
                yield second if relation == "<" else -second, 1, last
        for variable, factor in terms.items():
            yield factor, 0, self.ends.get(variable)

    def _ordered(self, var: Var, relation: Relation) -> Constraint:
        one, other = self.one.var(var), self.other.var(var)
        small, large = (one, other) if relation == "<" else (other, one)
        gap = large.plus(small, -1)
        return Constraint(gap, equal=True) if relation == "=" else Constraint(gap.shift(-1))

    def _variables(self, constraints: Sequence[Constraint]) -> list[Hashable]:
        """In the order in which they are made small: sizes, the first iteration, the second."""
        first, second = self.accesses
        found = variables_of(constraints)
        sizes = [v for v in found if isinstance(v, _Size)]
        loops = [("first", v) for v, _ in first.loops] + [("second", v) for v, _ in second.loops]
        return list(dict.fromkeys([*sizes, *loops, *found]))

    def _clash(self, point: Mapping[Hashable, int]) -> Clash:
        first, second = self.accesses
        return Clash(
            {v: point["first", v] for v, _ in first.loops},
            {v: point["second", v] for v, _ in second.loops},
            tuple(
                _cell(x, point) if x is not None else _cell(y, point) if y is not None else None
                for x, y in zip(self.one.indices, self.other.indices, strict=True)
            ),
            {v.var: n for v, n in point.items() if isinstance(v, _Size)},
            self.one.exact and self.other.exact,
        )


class _Search:
    """Looks for a solution through the cases of conditions, leaving out those that contradict."""

    def __init__(self, variables: Callable[[Sequence[Constraint]], list[Hashable]]) -> None:
        self._variables = variables
        self._left = MAX_STEPS

    def smallest(self, parts: Sequence[Sequence[Conjunction]]) -> dict[Hashable, int] | None:
        """The smallest solution of the first combination of cases that has one."""
        ordered = sorted(parts, key=len)
        plain = [part for part in ordered if len(part) == 1]
        known = tuple(c for [only] in plain for c in only)
        return self._descend(known, ordered[len(plain) :] if all(ordered) else [()])

    def _descend(
        self, known: Conjunction, rest: Sequence[Sequence[Conjunction]]
    ) -> dict[Hashable, int] | None:
        self._left -= 1
        if self._left < 0:
            raise BeyondBudgetError
        variables = self._variables(known)
        if not rest:
            return smallest_solution(known, variables)
        if not has_solution(known, variables):
            return None
        for case in rest[0]:
            found = self._descend((*known, *case), rest[1:])
            if found is not None:
                return found
        return None


def _cell(cases: Sequence[Case], point: Mapping[Hashable, int]) -> int | None:
    """The value of an index: that of the case whose constraints hold."""
    for case in cases:
        known = all(v in point for c in (case, *case.given) for v in _names(c))
        if known and all(_holds(c, point) for c in case.given):
            return case.form.value(point)
    return None


def _names(part: Case | Constraint) -> Iterable[Hashable]:
    return part.form.terms


def _holds(constraint: Constraint, point: Mapping[Hashable, int]) -> bool:
    value = constraint.form.value(point)
    return value == 0 if constraint.equal else value >= 0


def _linear_parts(
    conditions: Sequence[Expr], translator: Translator
) -> tuple[list[Sequence[Conjunction]], bool]:
    """The conditions as parts of a system, and whether none had to be left out."""
    parts: list[Sequence[Conjunction]] = []
    exact = True
    for condition in conditions:
        try:
            parts.append(translator.conditions(condition))
        except NotLinearError:
            exact = False
    return parts, exact
