"""Sums of scaled integers as one closure: most indices and block bindings are such sums.

Wrapping to a width commutes with +, - and *, so a whole sum is computed exactly and wrapped once.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tvmlab.ir import Binary, Const, Expr, Var, wrap_int
from tvmlab.support import DType

Value: TypeAlias = Callable[[], Any]


@dataclass(slots=True)
class LinearSum:
    """`constant + sum of factor * variable + sum of factor * other`, over one integer type."""

    constant: int = 0
    variables: dict[Var, int] = field(default_factory=dict[Var, int])
    others: list[tuple[Expr, int]] = field(default_factory=list[tuple[Expr, int]])

    def add(self, e: Expr, factor: int = 1) -> None:
        """Add a multiple of an expression, taking sums and products with literals apart."""
        if isinstance(e, Const):
            self.constant += factor * int(e.value)
        elif isinstance(e, Var):
            self.variables[e] = self.variables.get(e, 0) + factor
        elif isinstance(e, Binary) and e.op in ("add", "sub"):
            self.add(e.a, factor)
            self.add(e.b, factor if e.op == "add" else -factor)
        elif isinstance(e, Binary) and e.op == "mul" and isinstance(e.b, Const):
            self.add(e.a, factor * int(e.b.value))
        elif isinstance(e, Binary) and e.op == "mul" and isinstance(e.a, Const):
            self.add(e.b, factor * int(e.a.value))
        else:
            self.others.append((e, factor))

    def value(
        self,
        dtype: DType,
        frame: list[Any],
        place: Callable[[Var], int],
        expr: Callable[[Expr], Value],
    ) -> Value:
        """The closure of the sum: `place` finds variables in the frame, `expr` does the rest."""
        places = [(place(var), factor) for var, factor in self.variables.items()]
        exact = _over_variables(self.constant, places, frame)
        for other, factor in self.others:
            exact = _plus(exact, expr(other), factor)
        low, high = dtype.min_value, dtype.max_value

        def run() -> int:
            result = exact()
            return result if low <= result <= high else wrap_int(result, dtype)

        return run


def _over_variables(constant: int, places: list[tuple[int, int]], frame: list[Any]) -> Value:
    if not places:
        return lambda: constant
    (p, a), *rest = places
    if not rest:
        return lambda: constant + a * frame[p]
    (q, b), *rest = rest
    if not rest:
        return lambda: constant + a * frame[p] + b * frame[q]
    (r, c), *rest = rest
    if not rest:
        return lambda: constant + a * frame[p] + b * frame[q] + c * frame[r]
    factors = [factor for _, factor in places]
    values: Callable[[list[Any]], tuple[int, ...]] = operator.itemgetter(*[n for n, _ in places])
    return lambda: sum(map(operator.mul, factors, values(frame)), constant)


def _plus(first: Value, second: Value, factor: int) -> Value:
    if factor == 1:
        return lambda: first() + second()
    return lambda: first() + factor * second()
