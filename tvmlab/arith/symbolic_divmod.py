"""Quotients and remainders by a symbol, as they come from fused loops of unknown extents.

(i * m + j) // m  ->  i        0 <= j < m
(i * m + j) % m   ->  j
"""

from __future__ import annotations

from tvmlab.ir import Binary, Const, Expr, binary

from .compare import decide_forms
from .environment import Environment
from .linear import ZERO, LinearForm, form_to_expr
from .ranges import is_exact, product_is_exact, range_of


def divide_by_symbol(e: Binary, env: Environment) -> Expr | None:
    """`a // m` or `a % m` with multiples of m taken out of a; None if nothing is gained.

    Both operands are simplified already; the result is to be simplified again.
    """
    lo = range_of(e.b, env).lo
    if lo is None or lo < 1:
        return None
    form, divisor = env.terms.form(e.a), env.terms.form(e.b)
    if not (is_exact(form, e.dtype, env) and is_exact(divisor, e.dtype, env)):
        return None
    outside, rest = _take_multiples(form, e.b, env)
    if not is_exact(rest, e.dtype, env):
        return None
    is_quotient = e.op == "floordiv"
    if _is_below(rest, divisor, env):
        return form_to_expr(outside if is_quotient else rest, e.dtype, env.shown)
    if not outside.terms and not outside.const:
        return None
    inner = Binary(e.op, form_to_expr(rest, e.dtype, env.shown), e.b)
    if not is_quotient:
        return inner
    if outside.is_const:
        return binary("add", inner, Const(outside.const, e.dtype))
    return binary("add", form_to_expr(outside, e.dtype, env.shown), inner)


def _take_multiples(
    form: LinearForm, divisor: Expr, env: Environment
) -> tuple[LinearForm, LinearForm]:
    """`form` as `outside * divisor + rest`."""
    symbol = env.terms.form(divisor).atom
    outside, rest = ZERO, form
    for atom, k in form.terms.items():
        factor = _cofactor(atom, symbol, divisor, env)
        if factor is not None:
            outside = outside.plus(factor, k)
            rest = rest.plus(LinearForm({atom: 1}, 0), -k)
    return outside, rest


def _cofactor(
    atom: Expr, symbol: Expr | None, divisor: Expr, env: Environment
) -> LinearForm | None:
    """What the divisor is multiplied with in an atom, None if it is no factor of it."""
    if atom is symbol:
        return LinearForm({}, 1)
    if isinstance(atom, Binary) and atom.op == "mul" and product_is_exact(atom, env):
        for one, other in ((atom.a, atom.b), (atom.b, atom.a)):
            if env.terms.same(one, divisor):
                return env.terms.form(other)
    return None


def _is_below(form: LinearForm, limit: LinearForm, env: Environment) -> bool:
    """Whether `0 <= form < limit`."""
    zero = decide_forms("ge", form, ZERO, env, deep=True)
    return zero is True and decide_forms("lt", form, limit, env, deep=True) is True
