"""Is the map from loops to block iterations one-to-one, and does it reach every iteration?

A binding is read as a sum of strided digits: `(x // lower) % size` of a loop or of a sum of loops,
as split and fuse make them. All answers are proofs; what cannot be told is False with a reason.

    vi = io * 14 + ii     for io in 74, ii in 14, where io * 14 + ii < 1024
    -> one-to-one, and onto [0, 1024)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tvmlab.ir import TRUE, Expr, Var

from .bounds import Bounds
from .compare import decide_forms
from .iter_cover import cover_reason
from .iter_digits import Digits
from .linear import ZERO, LinearForm
from .ranges import is_exact
from .simplify import simplify


@dataclass(frozen=True, slots=True)
class IterMap:
    """What is proven of a map from loop iterations to values of iteration variables.

    Attributes
    ----------
    injective
        No two loop iterations that satisfy the predicate give the same values.
    surjective
        Every point of the iteration domain is reached.
    inside
        No value leaves the iteration domain.
    reason
        What stands against the first of these that is not proven; None if all are.
    """

    injective: bool
    surjective: bool
    inside: bool
    reason: str | None = None

    @property
    def bijective(self) -> bool:
        """Each iteration exactly once and nothing else."""
        return self.injective and self.surjective and self.inside


def detect_iter_map(
    bindings: Sequence[Expr],
    loops: Sequence[tuple[Var, Expr]],
    iter_extents: Sequence[Expr],
    predicate: Expr = TRUE,
    env: Bounds | None = None,
) -> IterMap:
    """Analyse the map from loop variables to the values of `bindings`.

    Parameters
    ----------
    bindings
        One integer expression for each iteration variable; symbols that are not in `loops` stand
        for fixed numbers.
    loops
        The loops, outermost first, with their extents.
    iter_extents
        The extents of the iteration variables.
    predicate
        Loop iterations where it is false do not exist.
    env
        What is known about other symbols.
    """
    outer = everywhere = env or Bounds()
    for var, extent in loops:
        everywhere = everywhere.bind_loop(var, extent)
    reached = simplify(predicate, everywhere)
    there = everywhere if reached is TRUE else everywhere.assume(reached)
    digits = Digits(there, [var for var, _ in loops])
    forms = [there.terms.form(simplify(b, there)) for b in bindings]
    for n, (binding, form) in enumerate(zip(bindings, forms, strict=True)):
        if not is_exact(form, binding.dtype, there):
            return IterMap(False, False, False, f"binding {n} may overflow {binding.dtype}")
    lost = digits.lost_loop(forms)
    cover = cover_reason(forms, iter_extents, loops, reached, outer, there)
    outside = _outside_reason(forms, iter_extents, there)
    reason = cover or outside
    if lost is not None:
        unread = digits.unread(forms)
        if unread is not None:
            reason = (
                f"binding {unread[0]} uses loop {unread[1].name} in another way than as a sum of "
                "strided quotients and remainders"
            )
        else:
            reason = (
                f"the bindings do not tell the iterations of loop {lost.name} apart: "
                "two of them may be the same block iteration"
            )
    return IterMap(lost is None, cover is None, outside is None, reason)


def _outside_reason(
    forms: Sequence[LinearForm], extents: Sequence[Expr], env: Bounds
) -> str | None:
    for n, (form, extent) in enumerate(zip(forms, extents, strict=True)):
        size = env.terms.form(extent)
        if decide_forms("ge", form, ZERO, env) is True and (
            decide_forms("lt", form, size, env, deep=True) is True
        ):
            continue
        return f"binding {n} is not proven to stay inside the range of its iteration variable"
    return None
