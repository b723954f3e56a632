"""Which variables must agree wherever two lists of indices name one element.

    A[ty * 8 + i] with 0 <= i < 8, against A[ty' * 8 + i']:     ty and ty' are equal
    A[tx + 1] against A[tx']:                                   tx and tx' may differ

Used for threads: if all thread indices must agree, no two threads touch the same element.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd

from tvmlab.ir import Expr, Var, loads_of, uses_var, walk

from .bounds import Bounds, bound_of, linear_form
from .linear import LinearForm, form_to_expr
from .simplify import simplify


def agreeing_pairs(
    a: Sequence[Expr],
    b: Sequence[Expr],
    pairs: Sequence[tuple[Var, Var]],
    env: Bounds,
    fixed: frozenset[Var] = frozenset(),
) -> frozenset[int]:
    """Numbers of those pairs whose two variables are equal wherever `a` and `b` are equal.

    All of them if `a` and `b` are never equal.

    Parameters
    ----------
    a, b
        Indices of two accesses to one buffer.
    pairs
        A variable of `a`, and the variable of `b` to compare it with (perhaps the same symbol, with
        another value). Both have the same range.
    env
        The ranges of all variables.
    fixed
        Variables with one value on both sides; any other variable runs freely on each.
    """
    forms = [
        (linear_form(simplify(x, env), env), linear_form(simplify(y, env), env))
        for x, y in zip(a, b, strict=True)
    ]
    known: set[int] = set()
    found = True
    while found:
        found = False
        for x, y in forms:
            dimension = _Dimension(x, y, pairs, known, fixed, env)
            if dimension.is_impossible:
                return frozenset(range(len(pairs)))
            new = dimension.decided()
            found = found or bool(new)
            known |= new
    return frozenset(known)


class _Dimension:
    """One equation `x = y` over what is not known to be equal yet."""

    def __init__(
        self,
        x: LinearForm,
        y: LinearForm,
        pairs: Sequence[tuple[Var, Var]],
        known: set[int],
        fixed: frozenset[Var],
        env: Bounds,
    ) -> None:
        self.env = env
        self.factors: dict[int, int] = {}
        self.width: dict[int, int] = {}
        x, y = _cancel_fixed(x, y, fixed)
        for number, (p, q) in enumerate(pairs):
            c, d = _factor(x, p), _factor(y, q)
            if c != d or c == 0:
                continue
            x, y = _without(x, p, c), _without(y, q, c)
            span = bound_of(p, env)
            if number not in known and span.lo is not None and span.hi is not None:
                self.factors[number] = c
                self.width[number] = span.hi - span.lo
            elif number not in known:
                x, y = x.plus(LinearForm({p: 1}, 0), c), y.plus(LinearForm({q: 1}, 0), c)
        self.rest = _difference(x, y, env)
        self.step = gcd(*x.terms.values(), *y.terms.values())
        self.shift = y.const - x.const

    def decided(self) -> set[int]:
        """Pairs whose difference nothing else can make up for."""
        if self.rest is None:
            return self._between_steps()
        slack = max(abs(self.rest[0]), abs(self.rest[1]))
        return self._heavy(self.factors, slack) | self._between_steps()

    @property
    def is_impossible(self) -> bool:
        """Whether no values at all fulfil the equation."""
        reach = sum(abs(f) * self.width[n] for n, f in self.factors.items())
        return self.rest is not None and (self.rest[0] > reach or self.rest[1] < -reach)

    def _between_steps(self) -> set[int]:
        """Pairs too light to make a whole step, where all else moves by whole steps."""
        if not self.step or self.shift % self.step:
            return set()
        light = {n: f for n, f in self.factors.items() if f % self.step}
        reach = sum(abs(f) * self.width[n] for n, f in light.items())
        return self._heavy(light, 0) if reach < self.step else set()

    def _heavy(self, factors: Mapping[int, int], slack: int) -> set[int]:
        """Pairs whose difference is too heavy for the lighter ones and the slack together."""
        equal: set[int] = set()
        left = dict(factors)
        for number in sorted(left, key=lambda n: -abs(left[n])):
            factor = abs(left.pop(number))
            others = sum(abs(f) * self.width[n] for n, f in left.items())
            if factor <= others + slack:
                break
            equal.add(number)
        return equal


def _cancel_fixed(
    x: LinearForm, y: LinearForm, fixed: frozenset[Var]
) -> tuple[LinearForm, LinearForm]:
    """Leave out the terms that both have and that have one value on both sides."""
    for atom, factor in list(x.terms.items()):
        steady = not loads_of(atom) and {n for n in walk(atom) if isinstance(n, Var)} <= fixed
        if steady and y.terms.get(atom) == factor:
            term = LinearForm({atom: 1}, 0)
            x, y = x.plus(term, -factor), y.plus(term, -factor)
    return x, y


def _factor(form: LinearForm, var: Var) -> int:
    """The factor of a variable; 0 if it also stands inside another term."""
    if any(atom is not var and uses_var(atom, {var}) for atom in form.terms):
        return 0
    terms: Mapping[Expr, int] = form.terms
    return terms.get(var, 0)


def _without(form: LinearForm, var: Var, factor: int) -> LinearForm:
    return form.plus(LinearForm({var: 1}, 0), -factor)


def _difference(x: LinearForm, y: LinearForm, env: Bounds) -> tuple[int, int] | None:
    """The range of `y - x` where all variables run freely on both sides."""
    a, b = bound_of(form_to_expr(x), env), bound_of(form_to_expr(y), env)
    if a.lo is None or a.hi is None or b.lo is None or b.hi is None:
        return None
    return b.lo - a.hi, b.hi - a.lo
