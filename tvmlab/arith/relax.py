"""Boxes: the values that index expressions take while some loops run and the others stand still.

relax([i * 4 + j], {j: [0, 3]})      ->  min i * 4, extent 4
relax([i + r], {i: [0, 7], r: [0, 2]})  ->  min 0, extent 10
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tvmlab.ir import Binary, Const, Expr, Load, Node, Select, Var, const, uses_var, walk
from tvmlab.support import DType

from .bounds import Bounds
from .divmod import quotient, remainder
from .interval import Interval
from .linear import LinearForm, constant_form, form_to_expr, is_scalar_int
from .ranges import atom_range, form_range, form_remainder, is_exact, range_of
from .simplify import simplify

_DIVISIONS = frozenset({"floordiv", "floormod", "truncdiv", "truncmod"})


@dataclass(frozen=True, slots=True, eq=False)
class SymbolicRange:
    """The integers `min <= x < min + extent`; `min` is written in the symbols that stand still.

    With `extent` None there is no such box of constant size, and `min` says nothing.
    """

    min: Expr
    extent: int | None


@dataclass(frozen=True, slots=True)
class _Span:
    """Values from `low` to `low + width`; `low` has no inner variables."""

    low: LinearForm
    width: int


def relax(
    exprs: Sequence[Expr], inner: Mapping[Var, Interval], env: Bounds | None = None
) -> SymbolicRange:
    """A box, as small as can be told, that contains all values of all expressions.

    Parameters
    ----------
    exprs
        Scalar integer expressions of one type, at least one.
    inner
        The variables that run, with their ranges; all others are fixed but unknown.
    env
        What is known about the others, and conditions that hold.
    """
    return Relaxation(inner, env).box(exprs)


class Relaxation:
    """`relax` of several groups of expressions while the same variables run."""

    def __init__(self, inner: Mapping[Var, Interval], env: Bounds | None = None) -> None:
        self._outer = env or Bounds()
        self._running = self._outer.bind_all(inner)
        self._inner = frozenset(inner)

    def box(self, exprs: Sequence[Expr]) -> SymbolicRange:
        """The box of all values of the expressions."""
        dtype, outer = exprs[0].dtype, self._outer
        search = _Search(outer, self._running, self._inner, dtype)
        total: _Span | None = None
        for expr in exprs:
            span = search.expression(expr) if is_scalar_int(expr) else None
            if span is None:
                return SymbolicRange(const(0, dtype.scalar), None)
            total = span if total is None else search.join(total, span)
            if total is None:
                return SymbolicRange(const(0, dtype), None)
        assert total is not None
        low = simplify(form_to_expr(total.low, dtype, outer.shown), outer)
        if any(_may_divide_by_zero(n, outer) for n in walk(low)):
            return SymbolicRange(const(0, dtype), None)
        return SymbolicRange(low, total.width + 1)


class _Search:
    """The recursion over one call's expressions."""

    __slots__ = ("dtype", "inner", "outer", "running")

    def __init__(self, outer: Bounds, running: Bounds, inner: frozenset[Var], dtype: DType) -> None:
        self.outer = outer
        self.running = running
        self.inner = inner
        self.dtype = dtype

    def expression(self, e: Expr) -> _Span | None:
        """The span of an expression."""
        return self.form(self.running.terms.form(simplify(e, self.running)))

    def form(self, form: LinearForm) -> _Span | None:
        """The span of a form: that of its terms, or constant bounds where these are tighter."""
        if not is_exact(form, self.dtype, self.running):
            return None
        found = self._sum(form)
        whole = _constant_span(form_range(form, self.running))
        if whole is None or (found is not None and found.width <= whole.width):
            return found
        return whole

    def _sum(self, form: LinearForm) -> _Span | None:
        low, width = constant_form(form.const), 0
        for atom, k in form.terms.items():
            part = self._atom(atom)
            if part is None:
                return None
            low = low.plus(part.low, k)
            width += abs(k) * part.width
            if k < 0:
                low = low.shift(k * part.width)
        return _Span(low, width)

    def _atom(self, atom: Expr) -> _Span | None:
        if not uses_var(atom, self.inner):
            return _Span(LinearForm({atom: 1}, 0), 0)
        found: _Span | None = None
        if isinstance(atom, Binary):
            if atom.op in ("min", "max"):
                found = self._extremum(atom)
            elif isinstance(atom.b, Const) and int(atom.b.value) > 0:
                found = self._digit(atom, int(atom.b.value))
        elif isinstance(atom, Select):
            found = self._choice(atom)
        whole = _constant_span(atom_range(atom, self.running))
        if found is None or (whole is not None and whole.width < found.width):
            return whole
        return found

    def _digit(self, atom: Binary, divisor: int) -> _Span | None:
        if atom.op not in ("floordiv", "floormod"):
            return None
        value = self.form(self.running.terms.form(atom.a))
        if value is None:
            return None
        # How far above a multiple of the divisor the lowest value may stand.
        offset = remainder(value.low, divisor, self.dtype, self.outer)
        highest = form_range(offset, self.outer).hi
        steps = form_remainder(value.low, self.outer).floormod(divisor)
        if steps.coeff:
            worst = steps.base + (divisor - steps.coeff)
        else:
            worst = steps.base
        worst = worst if highest is None else min(worst, highest)
        if atom.op == "floordiv":
            low = quotient(value.low, divisor, self.dtype, self.outer)
            return _Span(low, (worst + value.width) // divisor)
        return _Span(offset, value.width) if worst + value.width < divisor else None

    def _extremum(self, atom: Binary) -> _Span | None:
        a = self.form(self.running.terms.form(atom.a))
        b = self.form(self.running.terms.form(atom.b))
        if a is None or b is None:
            return None
        low = Binary(
            atom.op,
            form_to_expr(a.low, self.dtype, self.outer.shown),
            form_to_expr(b.low, self.dtype, self.outer.shown),
        )
        form = self.outer.terms.form(simplify(low, self.outer))
        return _Span(form, max(a.width, b.width))

    def _choice(self, atom: Select) -> _Span | None:
        a = self.form(self.running.terms.form(atom.then))
        b = self.form(self.running.terms.form(atom.otherwise))
        if a is None or b is None:
            return None
        # The box is computed outside the branches: what they guard must not stand in it.
        guarded = any(
            isinstance(n, Load) for atom in (*a.low.terms, *b.low.terms) for n in walk(atom)
        )
        return None if guarded else self.join(a, b)

    def join(self, a: _Span, b: _Span) -> _Span | None:
        """The smallest box around two, if their distance is bounded."""
        distance = form_range(b.low.minus(a.low), self.outer)
        if distance.lo is None or distance.hi is None:
            return None
        start = min(0, distance.lo)
        return _Span(a.low.shift(start), max(a.width, distance.hi + b.width) - start)


def _may_divide_by_zero(e: Node, env: Bounds) -> bool:
    if not isinstance(e, Binary) or e.op not in _DIVISIONS:
        return False
    divisor = range_of(e.b, env)
    return divisor.intersect(Interval.point(0)) is not None


def _constant_span(interval: Interval) -> _Span | None:
    if interval.lo is None or interval.hi is None:
        return None
    return _Span(constant_form(interval.lo), interval.hi - interval.lo)
