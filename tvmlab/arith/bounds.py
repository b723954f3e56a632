"""`Bounds`: an immutable environment of what is known about symbols.

>>> env = Bounds.of({i: 4, j: n})          # doctest: +SKIP
>>> env.assume(i * 8 + j < 30)             # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd
from typing import TypeAlias, Union

from tvmlab.ir import Binary, Compare, CompareOp, Const, Expr, Logic, Not, Var, const_int
from tvmlab.support import INDEX

from .environment import Environment
from .interval import NATURAL, Interval
from .linear import LinearForm, Terms, is_scalar_int
from .modular import Modular
from .ranges import atom_range, is_exact, plain_range, range_of, remainder_of

Extent: TypeAlias = Union[int, Expr]

_NEGATED: dict[CompareOp, CompareOp] = {
    "eq": "ne", "ne": "eq", "lt": "ge", "le": "gt", "gt": "le", "ge": "lt",
}  # fmt: skip


class Bounds(Environment):
    """Ranges of symbols, and conditions that hold. Methods return new environments."""

    __slots__ = ()

    def __init__(self, base: Environment | None = None) -> None:
        if base is None:
            Environment.__init__(self, Terms(), {}, {}, (), {}, frozenset())
        else:
            intervals, known = dict(base.intervals), dict(base.known)
            Environment.__init__(
                self, base.terms, intervals, base.moduli, base.facts, known, base.kept
            )

    @staticmethod
    def of(extents: Mapping[Var, Extent] | None = None) -> Bounds:
        """Loop variables with their extents: each takes the values of `0 <= var < extent`."""
        result = Bounds()
        for var, extent in (extents or {}).items():
            result._add_loop(var, extent)
        return result

    def bind(self, var: Var, interval: Interval) -> Bounds:
        """The same, with a variable running over an interval (which replaces what it had)."""
        return self.bind_all({var: interval})

    def bind_all(self, intervals: Mapping[Var, Interval]) -> Bounds:
        """The same, with several variables running over intervals."""
        result = Bounds(self)
        for var, interval in intervals.items():
            if var.dtype != INDEX:
                interval = interval.intersect(Interval.of_dtype(var.dtype)) or interval
            result.intervals[var] = interval
        return result

    def bind_loop(self, var: Var, extent: Extent, *, keep: bool = False) -> Bounds:
        """The same, inside a loop over a variable; the extent may be symbolic.

        With `keep`, the variable stays in simplified expressions even if the loop runs once.
        """
        result = Bounds(self)
        result._add_loop(var, extent)
        if keep:
            result.kept = result.kept | {var}
        return result

    def assume(self, cond: Expr, holds: bool = True) -> Bounds:
        """The same, where a condition is known to hold (or known not to)."""
        result = Bounds(self)
        result._learn(cond, holds)
        # What was computed on the way is right but was made with less knowledge.
        result.atom_ranges.clear()
        result.form_ranges.clear()
        return result

    def interval(self, var: Var) -> Interval:
        """The values that a variable can take."""
        return range_of(var, self)

    def _add_loop(self, var: Var, extent: Extent) -> None:
        size = extent if isinstance(extent, int) else const_int(extent)
        if size is not None:
            self.intervals[var] = Interval.extent(size)
            return
        assert isinstance(extent, Expr)
        self.intervals[var] = NATURAL
        form = self.terms.form(extent)
        if is_exact(form, extent.dtype, self):
            self._add_fact(LinearForm({var: 1}, 1).minus(form))

    def _learn(self, cond: Expr, holds: bool) -> None:
        if isinstance(cond, Const):
            return
        self.known[self.terms.rep(cond)] = holds
        if isinstance(cond, Not):
            self._learn(cond.a, not holds)
        elif isinstance(cond, Logic):
            if (cond.op == "and") == holds:
                self._learn(cond.a, holds)
                self._learn(cond.b, holds)
        elif isinstance(cond, Compare) and is_scalar_int(cond.a):
            self._learn_comparison(cond, cond.op if holds else _NEGATED[cond.op])

    def _learn_comparison(self, cond: Compare, op: CompareOp) -> None:
        a, b = self.terms.form(cond.a), self.terms.form(cond.b)
        if not (is_exact(a, cond.a.dtype, self) and is_exact(b, cond.a.dtype, self)):
            return
        difference = a.minus(b)
        if op == "ne":
            self._exclude_zero(difference)
            return
        if op == "eq":
            self._learn_remainder(cond)
        if op in ("lt", "le", "eq"):
            self._add_fact(difference.shift(1 if op == "lt" else 0))
        if op in ("gt", "ge", "eq"):
            self._add_fact(difference.times(-1).shift(1 if op == "gt" else 0))

    def _learn_remainder(self, cond: Compare) -> None:
        """From `atom % c == r` keep the remainder of the atom."""
        for side, other in ((cond.a, cond.b), (cond.b, cond.a)):
            value = const_int(other)
            if value is None or not isinstance(side, Binary) or side.op != "floormod":
                continue
            atom, divisor = self.terms.form(side.a).atom, const_int(side.b)
            if atom is not None and divisor is not None and 0 <= value < divisor:
                old = self.moduli.get(atom) or remainder_of(side.a, self)
                if old.coeff and divisor % old.coeff == 0:
                    self.moduli = {**self.moduli, atom: Modular.of(divisor, value)}

    def _add_fact(self, form: LinearForm) -> None:
        """Keep that a form is at most zero: as an interval if it has one atom."""
        if form.is_const:
            return
        if len(form.terms) > 1:
            hi = plain_range(form, self).hi
            if hi is not None and hi <= 0:
                return
            self.facts = (*self.facts, _divide_by_gcd(form))
            return
        [(atom, k)] = form.terms.items()
        if k > 0:
            self._tighten(atom, Interval(None, -form.const // k))
        else:
            self._tighten(atom, Interval(-(-form.const // -k), None))

    def _exclude_zero(self, form: LinearForm) -> None:
        if len(form.terms) != 1:
            return
        [(atom, k)] = form.terms.items()
        if form.const % k:
            return
        value, current = -form.const // k, atom_range(atom, self)
        if current.lo == value:
            self._tighten(atom, Interval(value + 1, None))
        elif current.hi == value:
            self._tighten(atom, Interval(None, value - 1))

    def _tighten(self, atom: Expr, limit: Interval) -> None:
        # An empty intersection means that this place is never reached: nothing to add.
        tight = atom_range(atom, self).intersect(limit)
        if tight is not None:
            self.intervals[atom] = tight
            self.atom_ranges.clear()
            self.form_ranges.clear()


def _divide_by_gcd(form: LinearForm) -> LinearForm:
    step = gcd(*form.terms.values())
    if step == 1:
        return form
    terms = {atom: k // step for atom, k in form.terms.items()}
    return LinearForm(terms, -(-form.const // step))


def bound_of(expr: Expr, env: Bounds | None = None) -> Interval:
    """An interval that contains every value (of every lane) of an expression; 0 / 1 for a bool."""
    return range_of(expr, env or Bounds())


def modular_of(expr: Expr, env: Bounds | None = None) -> Modular:
    """What is known of an integer expression's remainders: it is `coeff * n + base`."""
    return remainder_of(expr, env or Bounds())


def linear_form(expr: Expr, env: Bounds | None = None) -> LinearForm:
    """An integer expression as a sum of atoms (variables, non-linear parts) with factors.

    Atoms of two forms are comparable by identity if the forms were made with one environment (or
    with environments derived from it).
    """
    if not is_scalar_int(expr):
        return LinearForm({expr: 1}, 0)
    return (env or Bounds()).terms.form(expr)
