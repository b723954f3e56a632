"""Do two accesses to one buffer ever meet, in iterations that stand in a given order?

for i in range(15):
    A[i + 1] = A[i]

The store and the load meet if i + 1 == i', for example at i = 0 and i' = 1: the first
iteration writes A[1], the second reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tvmlab.ir import Buffer, Expr, Var

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


@dataclass(frozen=True, slots=True, eq=False)
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


@dataclass(slots=True)
class _Side:
    """One of the two accesses as cases over the variables of the system."""

    names: Mapping[Var, Hashable]
    parts: list[Sequence[Conjunction]]
    indices: list[list[Case] | None]
    exact: bool


class _Question:
    def __init__(self, first: Access, second: Access, order: Order, facts: Sequence[Expr]) -> None:
        self.accesses = first, second
        self.order = order
        self.shared: dict[Var, Hashable] = {
            v: ("both", v) for v, relation in order.items() if relation == "="
        }
        self.sizes: dict[Var, Hashable] = {}
        self.sides = self._side(first, "first"), self._side(second, "second")
        self.facts = _linear_parts(facts, Translator(self._size))[0]

    def answer(self) -> Clash | None:
        one, other = self.sides
        meeting = [
            [(a.form.plus(b.form, -1), (*a.given, *b.given)) for a in x for b in y]
            for x, y in zip(one.indices, other.indices, strict=True)
            if x is not None and y is not None
        ]
        equalities: list[Sequence[Conjunction]] = [
            [(*given, Constraint(form, equal=True)) for form, given in cases] for cases in meeting
        ]
        parts = [*self._orders(), *self.facts, *one.parts, *other.parts, *equalities]
        point = _Search(self._variables).smallest(parts)
        return None if point is None else self._clash(point, one.exact and other.exact)

    def _orders(self) -> list[Sequence[Conjunction]]:
        return [[(self._ordered(v, r),)] for v, r in self.order.items() if r != "="]

    def _ordered(self, var: Var, relation: str) -> Constraint:
        one, other = (Form({side.names[var]: 1}) for side in self.sides)
        small, large = (one, other) if relation == "<" else (other, one)
        return Constraint(large.plus(small, -1).shift(-1))

    def _side(self, access: Access, label: str) -> _Side:
        names = {v: self.shared.get(v, (label, v)) for v, _ in access.loops}

        def name(var: Var) -> Hashable:
            return names[var] if var in names else self._size(var)

        translator = Translator(name)
        limits = [limit for v, extent in access.loops for limit in (v >= 0, v < extent)]
        parts, exact = _linear_parts([*limits, *access.conditions], translator)
        indices: list[list[Case] | None] = []
        for index in access.indices:
            try:
                indices.append(translator.cases(index))
            except NotLinearError:
                indices.append(None)
                exact = False
        return _Side(names, parts, indices, exact)

    def _size(self, var: Var) -> Hashable:
        if not var.dtype.is_int or var.dtype.lanes != 1:
            raise NotLinearError
        return self.sizes.setdefault(var, ("size", var))

    def _variables(self, constraints: Sequence[Constraint]) -> list[Hashable]:
        """In the order in which they are made small: sizes, the first iteration, the second."""
        one, other = self.sides
        wanted = [*self.sizes.values(), *one.names.values(), *other.names.values()]
        return list(dict.fromkeys([*wanted, *variables_of(constraints)]))

    def _clash(self, point: Mapping[Hashable, int], exact: bool) -> Clash:
        one, other = self.sides
        return Clash(
            {v: point[name] for v, name in one.names.items()},
            {v: point[name] for v, name in other.names.items()},
            tuple(
                _cell(x, point) if x is not None else _cell(y, point) if y is not None else None
                for x, y in zip(one.indices, other.indices, strict=True)
            ),
            {v: point[name] for v, name in self.sizes.items()},
            exact,
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
