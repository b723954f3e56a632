"""Index expressions and conditions as systems of linear constraints over whole numbers.

    i // 4        ->  a new q with 0 <= i - 4 * q <= 3, and q itself
    min(i, j)     ->  two cases: i <= j and i, or j <= i - 1 and j
    i != j        ->  two cases: i <= j - 1, or j <= i - 1

An expression is therefore a list of cases. What is not linear (products of variables, elements of
buffers) has none; the caller then takes it for anything.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from math import gcd
from typing import TypeVar

from tvmlab.ir import Binary, Cast, Compare, Const, Expr, Logic, Not, Select, Var, const_int

MAX_CASES = 64
"""More cases than this are not looked at one by one: the expression then counts as not linear."""

NameOf = Callable[[Var], Hashable]
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Form:
    """A sum of variables with whole factors, plus a constant."""

    terms: Mapping[Hashable, int] = field(default_factory=dict[Hashable, int])
    const: int = 0

    def plus(self, other: Form, factor: int = 1) -> Form:
        terms = dict(self.terms)
        for variable, k in other.terms.items():
            total = terms.get(variable, 0) + k * factor
            if total:
                terms[variable] = total
            else:
                terms.pop(variable, None)
        return Form(terms, self.const + factor * other.const)

    def times(self, factor: int) -> Form:
        return Form().plus(self, factor)

    def shift(self, amount: int) -> Form:
        return Form(self.terms, self.const + amount)

    def value(self, point: Mapping[Hashable, int]) -> int:
        return self.const + sum(k * point[v] for v, k in self.terms.items())


@dataclass(frozen=True, slots=True)
class Constraint:
    """`form >= 0`, or `form == 0`."""

    form: Form
    equal: bool = False


Conjunction = tuple[Constraint, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """The value of an expression where some constraints hold."""

    form: Form
    given: Conjunction = ()


class NotLinearError(Exception):
    """The expression cannot be written as linear constraints."""


def trivially_false(constraint: Constraint) -> bool:
    """Whether a constraint has no solution at all, seen from its factors alone."""
    form = constraint.form
    if not form.terms:
        return form.const != 0 if constraint.equal else form.const < 0
    return constraint.equal and form.const % gcd(*form.terms.values()) != 0


class Translator:
    """Turns expressions over variables of one iteration into cases.

    Parameters
    ----------
    name
        The variable of the system that stands for a variable of the program; raises
        `NotLinearError` for one that is not known.
    """

    def __init__(self, name: NameOf) -> None:
        self._name = name

    def cases(self, e: Expr) -> list[Case]:
        """The cases of an integer expression."""
        form = self._sum(e) if isinstance(e, Binary) else None
        return _limited(self._cases(e)) if form is None else [Case(form)]

    def _sum(self, e: Expr) -> Form | None:
        """The form of an expression without cases, as nearly all are; None for any other."""
        terms: dict[Hashable, int] = {}
        constant = 0
        rest: list[tuple[Expr, int]] = [(e, 1)]
        while rest:
            part, factor = rest.pop()
            if isinstance(part, Var):
                name = self._name(part)
                total = terms.get(name, 0) + factor
                if total:
                    terms[name] = total
                else:
                    terms.pop(name, None)
            elif (value := const_int(part)) is not None:
                constant += factor * value
            elif not isinstance(part, Binary) or not _is_plain(part):
                return None
            elif part.op in ("add", "sub"):
                rest.append((part.b, factor if part.op == "add" else -factor))
                rest.append((part.a, factor))
            elif part.op == "mul" and (times := const_int(part.b)) is not None:
                rest.append((part.a, factor * times))
            else:
                return None
        return Form(terms, constant)

    def _cases(self, e: Expr) -> list[Case]:
        value = const_int(e)
        if value is not None:
            return [Case(Form({}, value))]
        if isinstance(e, Var):
            return [Case(Form({self._name(e): 1}))]
        if isinstance(e, Binary):
            return self._binary(e)
        if isinstance(e, Cast) and e.value.dtype.is_int and _widens(e):
            return self.cases(e.value)
        if isinstance(e, Select):
            chosen = self._guarded(e.cond, True, e.then)
            return chosen + self._guarded(e.cond, False, e.otherwise)
        raise NotLinearError

    def _guarded(self, cond: Expr, holds: bool, value: Expr) -> list[Case]:
        return [
            Case(case.form, (*given, *case.given))
            for given in self.conditions(cond, holds)
            for case in self.cases(value)
        ]

    def _binary(self, e: Binary) -> list[Case]:
        if not _is_plain(e):
            raise NotLinearError
        if e.op in ("floordiv", "floormod"):
            return [self._quotient(case, e) for case in self.cases(e.a)]
        pairs = itertools.product(self.cases(e.a), self.cases(e.b))
        return [case for a, b in pairs for case in _combined(e, a, b)]

    def _quotient(self, case: Case, e: Binary) -> Case:
        divisor = const_int(e.b)
        if divisor is None or divisor < 1:
            raise NotLinearError
        # Equal quotients of one place could share a variable; a second one costs little.
        quotient = Form({("quotient", object()): 1})
        rest = case.form.plus(quotient, -divisor)
        given = (*case.given, Constraint(rest), Constraint(rest.times(-1).shift(divisor - 1)))
        return Case(quotient if e.op == "floordiv" else rest, given)

    def conditions(self, cond: Expr, holds: bool = True) -> list[Conjunction]:
        """The alternatives under which a condition holds (or does not); none if it never does."""
        return _limited(self._conditions(cond, holds))

    def _conditions(self, cond: Expr, holds: bool) -> list[Conjunction]:
        if isinstance(cond, Const):
            return [()] if bool(cond.value) == holds else []
        if isinstance(cond, Not):
            return self.conditions(cond.a, not holds)
        if isinstance(cond, Logic):
            left, right = self.conditions(cond.a, holds), self.conditions(cond.b, holds)
            if (cond.op == "and") == holds:
                return [(*a, *b) for a, b in itertools.product(left, right)]
            return left + right
        if isinstance(cond, Compare) and cond.a.dtype.is_int and cond.a.dtype.lanes == 1:
            pairs = itertools.product(self.cases(cond.a), self.cases(cond.b))
            op = cond.op if holds else _NEGATED[cond.op]
            return [
                (*a.given, *b.given, c) for a, b in pairs for c in _comparison(op, a.form, b.form)
            ]
        raise NotLinearError


def _is_plain(e: Binary) -> bool:
    """Whether arithmetic is that of whole numbers: narrow and unsigned ones wrap around."""
    return e.dtype.kind == "int" and e.dtype.lanes == 1 and e.dtype.bits >= 32


_NEGATED = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}


def _comparison(op: str, a: Form, b: Form) -> list[Constraint]:
    if op == "eq":
        return [Constraint(a.plus(b, -1), equal=True)]
    above, below = a.plus(b, -1), b.plus(a, -1)
    if op == "ne":
        return [Constraint(above.shift(-1)), Constraint(below.shift(-1))]
    form = above if op in ("ge", "gt") else below
    return [Constraint(form.shift(-1 if op in ("lt", "gt") else 0))]


def _combined(e: Binary, a: Case, b: Case) -> list[Case]:
    given = (*a.given, *b.given)
    if e.op in ("add", "sub"):
        return [Case(a.form.plus(b.form, 1 if e.op == "add" else -1), given)]
    if e.op == "mul" and not b.form.terms:
        return [Case(a.form.times(b.form.const), given)]
    if e.op == "mul" and not a.form.terms:
        return [Case(b.form.times(a.form.const), given)]
    if e.op in ("min", "max"):
        low, high = (a, b) if e.op == "min" else (b, a)
        gap = high.form.plus(low.form, -1)
        return [
            Case(a.form, (*given, Constraint(gap))),
            Case(b.form, (*given, Constraint(gap.times(-1).shift(-1)))),
        ]
    raise NotLinearError


def _widens(e: Cast) -> bool:
    """Whether a conversion of an integer keeps every value."""
    to, was = e.dtype, e.value.dtype
    if not to.is_int or to.lanes != 1:
        return False
    return (
        to.bits > was.bits
        if to.kind != was.kind and to.kind == "int"
        else (to.kind == was.kind and to.bits >= was.bits)
    )


def _limited(cases: list[_T]) -> list[_T]:
    if len(cases) > MAX_CASES:
        raise NotLinearError
    return cases


def variables_of(constraints: Iterable[Constraint]) -> list[Hashable]:
    """The variables that occur, in order of first occurrence."""
    return list(dict.fromkeys(v for c in constraints for v in c.form.terms))
