"""Linear facts: better upper bounds for a form, by adding multiples of forms known to be <= 0.

If `f <= 0` then `form <= form - k * f` for each k >= 0; a k that makes an atom vanish often leaves
a form whose interval is finite. With `i - n + 1 <= 0` (i runs below n), `4 * i - 4 * n` is at
most -4. A small, depth-limited relative of Fourier-Motzkin elimination.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tvmlab.ir import Binary, Const, Expr

from .environment import Environment
from .interval import Interval
from .linear import LinearForm, constant_form, is_scalar_int

RangeOf = Callable[[LinearForm, Environment], Interval]

_DEPTH = 2
_MAX_FACTS = 24
"""With more facts than this only the latest ones are tried; the search stays in microseconds."""


def upper_bound(
    form: LinearForm,
    env: Environment,
    range_of: RangeOf,
    *,
    extra: Sequence[LinearForm] = (),
    depth: int = _DEPTH,
) -> int | None:
    """The smallest upper bound found, None if the form may grow without limit."""
    best = range_of(form, env).hi
    facts = (*env.facts[-_MAX_FACTS:], *extra)
    return _search(form, 1, facts, env, range_of, depth, best)


def _search(
    form: LinearForm,
    scale: int,
    facts: Sequence[LinearForm],
    env: Environment,
    range_of: RangeOf,
    depth: int,
    best: int | None,
) -> int | None:
    """Improve `best`, a bound of the original form, where `form` bounds `scale` times it."""
    for fact in facts:
        for atom, k in fact.terms.items():
            own = form.terms.get(atom)
            if own is None or (own > 0) != (k > 0):
                continue
            # |k| * form - |own| * fact has no such atom, and is at least |k| * form.
            magnitude = abs(k)
            if own % k == 0:
                reduced, factor = form.plus(fact, -(own // k)), scale
            else:
                reduced, factor = form.times(magnitude).plus(fact, -abs(own)), scale * magnitude
            hi = range_of(reduced, env).hi
            if hi is not None:
                bound = hi // factor
                best = bound if best is None or bound < best else best
            if depth > 1 and reduced.terms:
                best = _search(reduced, factor, facts, env, range_of, depth - 1, best)
    return best


def atom_facts(atom: Expr, env: Environment) -> list[LinearForm]:
    """What the meaning of an atom says: a quotient, a minimum or a maximum against its operands.

    Only for atoms whose operands do not wrap, which the caller ensures (64-bit index arithmetic).
    """
    if not isinstance(atom, Binary) or not is_scalar_int(atom):
        return []
    this = LinearForm({atom: 1}, 0)
    a, b = env.terms.form(atom.a), env.terms.form(atom.b)
    if atom.op == "min":
        return [this.minus(a), this.minus(b)]
    if atom.op == "max":
        return [a.minus(this), b.minus(this)]
    if isinstance(atom.b, Const) and (c := int(atom.b.value)) > 0:
        if atom.op == "floordiv":
            product = this.times(c)
            return [product.minus(a), a.minus(product).shift(1 - c)]
        if atom.op == "floormod":
            return [this.minus(constant_form(c - 1))]
    return []
