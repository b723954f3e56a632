"""The simplifier and the ranges of expressions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tvmlab.arith import Bounds, bound_of, prove
from tvmlab.arith import simplify as simplify_expr
from tvmlab.ir import Expr, Var, as_expr, const_int
from tvmlab.te import Range

from .missing import missing

__getattr__ = missing("tvm.arith")


@dataclass(frozen=True, slots=True)
class ConstIntBound:
    """The smallest and largest value; None where there is no limit."""

    min_value: int | None
    max_value: int | None


class Analyzer:
    """Simplifies and proves with what it was told of variables."""

    def __init__(self) -> None:
        self._known: dict[Var, tuple[int, int | Expr]] = {}

    def bind(self, var: Var, expr: Any) -> None:
        """Say which range, or value, a variable has."""
        if isinstance(expr, Range):
            self._known[var] = (const_int(expr.min) or 0, expr.extent)
        else:
            value = const_int(as_expr(expr))
            if value is not None:
                self._known[var] = (value, 1)

    def simplify(self, expr: Any, steps: int = 2) -> Expr:
        """A simpler expression of the same value."""
        del steps
        return simplify_expr(as_expr(expr), self._bounds())

    rewrite_simplify = simplify
    canonical_simplify = simplify

    def can_prove(self, cond: Any) -> bool:
        """Whether a condition was proved to hold always."""
        return bool(prove(as_expr(cond), self._bounds()))

    def can_prove_equal(self, lhs: Any, rhs: Any) -> bool:
        """Whether two values were proved to be equal."""
        return const_int(self.simplify(as_expr(lhs) - rhs)) == 0

    def const_int_bound(self, expr: Any) -> ConstIntBound:
        """The range of a value."""
        found = bound_of(as_expr(expr), self._bounds())
        return ConstIntBound(found.lo, found.hi)

    def _bounds(self) -> Bounds:
        env = Bounds.of({v: extent for v, (low, extent) in self._known.items() if low == 0})
        for var, (low, extent) in self._known.items():
            if low != 0:
                env = env.assume(var >= low).assume(var < as_expr(extent) + low)
        return env
