"""Which conditions still hold later."""

from __future__ import annotations

from tvmlab.ir import Expr, conjunction, conjuncts, loads_of


def lasting(cond: Expr) -> Expr:
    """The part of a condition that still holds after something has been stored."""
    return conjunction([part for part in conjuncts(cond) if not loads_of(part)])
