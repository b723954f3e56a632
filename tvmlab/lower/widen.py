"""Expressions for several lanes at once: what `vectorize_loops` puts into its vector statements.

    A[i, j * 2] + B[i]    for 4 lanes of j from 8 on
    ->  A[i, ramp(16, 2, 4)] + broadcast(B[i], 4)

What does not depend on the lane stays scalar as long as possible.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tvmlab.arith import Bounds, form_to_expr, linear_form
from tvmlab.ir import (
    Binary,
    Broadcast,
    Call,
    Cast,
    Compare,
    Expr,
    Load,
    Logic,
    Not,
    Ramp,
    Select,
    Var,
    const,
    loads_of,
    logic,
    substitute,
    uses_var,
)


class NotVectorizable(Exception):  # noqa: N818  (a reason, not an error: it never leaves the pass)
    """Why a loop has to stay scalar; the text completes "it stays scalar because"."""


@dataclass(frozen=True, slots=True)
class Lanes:
    """A run of values of the vectorized variable: `start` and the `count - 1` after it.

    Only the first `active` of them are iterations; the others must have no effect.
    """

    var: Var
    start: Expr
    count: int
    active: int

    def mask(self) -> Expr | None:
        """Which lanes are iterations; None for all."""
        if self.active == self.count:
            return None
        index = Ramp(const(0), const(1), self.count)
        return Compare("lt", index, Broadcast(const(self.active), self.count))


class Widener:
    """Widens expressions over one run of lanes; what does not depend on the lane stays scalar.

    Parameters
    ----------
    mask
        The lanes in which the statement takes place: only they may read memory.
    guarded
        Whether scalar loads need the mask too, because it may be false in all lanes.
    names
        Names for values that differ from lane to lane, with the name of the vector of each.
    """

    def __init__(
        self,
        lanes: Lanes,
        mask: Expr | None = None,
        guarded: bool = False,
        names: Mapping[Var, Var] | None = None,
    ) -> None:
        self._lanes = lanes
        self._mask = mask
        self._guarded = guarded
        self._names = names or {}
        self._env = Bounds()
        self._var = frozenset((lanes.var, *self._names))
        # By the `id` of what was widened, which the statement at work keeps alive.
        self._wide: dict[int, Expr] = {}

    def vector(self, e: Expr) -> Expr:
        """The expression for all lanes, as a vector even if they are all equal."""
        wide = self.expr(e)
        return Broadcast(wide, self._lanes.count) if wide.dtype.lanes == 1 else wide

    def expr(self, e: Expr) -> Expr:
        """The expression for all lanes; a scalar if it is the same in all of them."""
        if e.dtype.lanes != 1:
            raise NotVectorizable("it already works on vectors")
        wide = self._wide.get(id(e))
        if wide is None:
            wide = _RULES[type(e)](self, e) if uses_var(e, self._var) else self._scalar(e)
            self._wide[id(e)] = wide
        return wide

    def _scalar(self, e: Expr) -> Expr:
        """A value that all lanes share; its loads must still not happen if no lane does."""
        if self._mask is None or not self._guarded or not _has_load(e):
            return e
        if isinstance(e, Load):
            return self.load(e)
        return _RULES[type(e)](self, e)

    def var(self, e: Var) -> Expr:
        if e is not self._lanes.var:
            return self._names[e]
        start = self._lanes.start
        return Ramp(start, const(1, start.dtype), self._lanes.count)

    def binary(self, e: Binary) -> Expr:
        ramp = self._affine(e)
        return Binary(e.op, self.vector(e.a), self.vector(e.b)) if ramp is None else ramp

    def _affine(self, e: Binary) -> Expr | None:
        """`base + stride * lane` as a ramp, if the expression is linear in the variable."""
        if not e.dtype.is_int:
            return None
        form = linear_form(e, self._env)
        stride = form.terms.get(self._lanes.var, 0)
        if any(a is not self._lanes.var and uses_var(a, self._var) for a in form.terms):
            return None
        if not stride or any(_has_load(a) for a in form.terms):
            return None
        base = substitute(form_to_expr(form, e.dtype), {self._lanes.var: self._lanes.start})
        return Ramp(base, const(stride, e.dtype), self._lanes.count)

    def compare(self, e: Compare) -> Expr:
        return Compare(e.op, self.vector(e.a), self.vector(e.b))

    def logic(self, e: Logic) -> Expr:
        return Logic(e.op, self.vector(e.a), self.vector(e.b))

    def not_(self, e: Not) -> Expr:
        return Not(self.vector(e.a))

    def select(self, e: Select) -> Expr:
        return Select(self.expr(e.cond), self.vector(e.then), self.vector(e.otherwise))

    def cast(self, e: Cast) -> Expr:
        return Cast(self.vector(e.value), e.dtype.with_lanes(self._lanes.count))

    def call(self, e: Call) -> Expr:
        args = tuple(self.vector(a) for a in e.args)
        return Call(e.op, args, e.dtype.with_lanes(self._lanes.count))

    def load(self, e: Load) -> Expr:
        own = None if e.mask is None else self.vector(e.mask)
        if own is not None and self._mask is not None:
            own = logic("and", self._mask, own)
        mask = self._mask if own is None else own
        return replace(e, indices=self.indices(e.indices), mask=mask)

    def indices(self, indices: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """The indices of an access by vectors; at least one of them is one."""
        wide = tuple(self.expr(i) for i in indices)
        if all(i.dtype.lanes == 1 for i in wide):
            return (*wide[:-1], Broadcast(wide[-1], self._lanes.count))
        return wide


def _has_load(e: Expr) -> bool:
    return bool(loads_of(e))


_RULES: dict[type, Callable[[Widener, Any], Expr]] = {
    Var: Widener.var,
    Binary: Widener.binary,
    Compare: Widener.compare,
    Logic: Widener.logic,
    Not: Widener.not_,
    Select: Widener.select,
    Cast: Widener.cast,
    Call: Widener.call,
    Load: Widener.load,
}
