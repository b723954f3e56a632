"""Making a system of constraints small before it is handed to the integer set library.

    i == i',  0 <= i < 8,  0 <= i' < 8,  0 <= j < 4,  i + k == 3      ->   0 <= i < 8,  i + k == 3

Most questions are about loops of which nearly all stand still: a variable that equals another one
is replaced by it, and one that nothing else depends on takes its smallest value.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from .linear_system import Constraint, Form


@dataclass(frozen=True, slots=True)
class Presolved:
    """What is left of a system, over fewer variables.

    Attributes
    ----------
    constraints, variables
        The smaller system; with no constraints, it holds wherever its variables are.
    fixed
        The smallest values of variables that were left out, by themselves.
    equal
        For variables that were left out because they equal another one, that one.
    """

    constraints: list[Constraint]
    variables: list[Hashable]
    fixed: Mapping[Hashable, int]
    equal: Mapping[Hashable, Hashable]

    def whole(self, point: Mapping[Hashable, int]) -> dict[Hashable, int]:
        """A point of the smaller system as one of the whole system."""
        found = {**point, **self.fixed}
        found.update({v: found[other] for v, other in self.equal.items()})
        return found


def presolve(constraints: Sequence[Constraint], variables: Sequence[Hashable]) -> Presolved | None:
    """The smaller system with the same smallest solution; None if it is seen to have none.

    Parameters
    ----------
    variables
        All variables, in the order in which a smallest solution makes them small.
    """
    equal = _equalities(constraints, variables)
    ends = _Ends()
    rest: list[Constraint] = []
    for constraint in constraints:
        form = _renamed(constraint.form, equal) if equal else constraint.form
        if len(form.terms) > 1:
            rest.append(
                constraint if form is constraint.form else Constraint(form, constraint.equal)
            )
        elif not ends.learn(form, constraint.equal):
            return None
    used = {v for c in rest for v in c.form.terms}
    fixed: dict[Hashable, int] = {}
    left: list[Hashable] = []
    for v in variables:
        if v in equal:
            continue
        low = ends.low.get(v)
        if v in used or low is None:
            left.append(v)
            rest.extend(ends.constraints(v))
        else:
            fixed[v] = low
    return Presolved(rest, left, fixed, equal) if ends.are_possible() else None


class _Ends:
    """The smallest and largest values that constraints on single variables leave."""

    def __init__(self) -> None:
        self.low: dict[Hashable, int] = {}
        self.high: dict[Hashable, int] = {}

    def learn(self, form: Form, equal: bool) -> bool:
        """Take note of a constraint on one variable or none; False if it never holds."""
        if not form.terms:
            return form.const == 0 if equal else form.const >= 0
        ((variable, factor),) = form.terms.items()
        if equal and form.const % factor:
            return False
        if factor > 0 or equal:
            # Rounded up: the smallest whole number that is large enough.
            low = -(form.const // factor)
            self.low[variable] = max(low, self.low.get(variable, low))
        if factor < 0 or equal:
            high = form.const // -factor
            self.high[variable] = min(high, self.high.get(variable, high))
        return True

    def constraints(self, variable: Hashable) -> list[Constraint]:
        """What is known of a variable, as constraints again."""
        found: list[Constraint] = []
        if variable in self.low:
            found.append(Constraint(Form({variable: 1}, -self.low[variable])))
        if variable in self.high:
            found.append(Constraint(Form({variable: -1}, self.high[variable])))
        return found

    def are_possible(self) -> bool:
        """Whether each variable alone has a value."""
        return all(low <= self.high.get(v, low) for v, low in self.low.items())


def _equalities(
    constraints: Sequence[Constraint], variables: Sequence[Hashable]
) -> dict[Hashable, Hashable]:
    """For variables that equal an earlier one, the first of those."""
    place: dict[Hashable, int] = {}
    found: dict[Hashable, Hashable] = {}
    for constraint in constraints:
        terms = constraint.form.terms
        if not constraint.equal or constraint.form.const or len(terms) != 2:
            continue
        (a, x), (b, y) = terms.items()
        if x + y or abs(x) != 1:
            continue
        place = place or {v: n for n, v in enumerate(variables)}
        a, b = found.get(a, a), found.get(b, b)
        if a != b:
            first, later = (a, b) if place[a] < place[b] else (b, a)
            found = {v: first if other == later else other for v, other in found.items()}
            found[later] = first
    return found


def _renamed(form: Form, equal: Mapping[Hashable, Hashable]) -> Form:
    """A form with each variable replaced by the one that it equals."""
    if not any(v in equal for v in form.terms):
        return form
    terms: dict[Hashable, int] = {}
    for variable, factor in form.terms.items():
        name = equal.get(variable, variable)
        total = terms.get(name, 0) + factor
        if total:
            terms[name] = total
        else:
            terms.pop(name, None)
    return Form(terms, form.const)
