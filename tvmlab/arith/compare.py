"""Comparisons of integers: decided by bounds, or made smaller.

i * 4 + j < n * 4 + j   ->  i < n
i * 4 + j < 1024        ->  i < 256          0 <= j < 4
"""

from __future__ import annotations

from math import gcd

from tvmlab.ir import Binary, Compare, CompareOp, Expr, const_int
from tvmlab.support import DType

from .divmod import merge_digits
from .environment import Environment
from .facts import atom_facts, upper_bound
from .interval import Interval
from .linear import LinearForm, form_to_expr
from .ranges import decide, form_range, is_exact, plain_range

_MIRRORED: dict[CompareOp, CompareOp] = {
    "eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le",
}  # fmt: skip


def decide_forms(
    op: CompareOp, a: LinearForm, b: LinearForm, env: Environment, *, deep: bool = False
) -> bool | None:
    """The value of `a op b` over the integers, if it is always the same.

    With `deep`, the meaning of quotients, minima and maxima in the forms is used as well.
    """
    difference = a.minus(b)
    decided = decide(op, form_range(difference, env))
    if decided is None and len(difference.terms) > 1:
        merged = merge_digits(difference, next(iter(difference.terms)).dtype, env)
        if merged is not difference:
            difference, decided = merged, decide(op, form_range(merged, env))
    if decided is None and deep and difference.terms:
        decided = decide(op, _deep_range(difference, env))
    if decided is None and op in ("eq", "ne") and _never_zero(difference):
        decided = op == "ne"
    return decided


def _deep_range(form: LinearForm, env: Environment) -> Interval:
    extra = [
        fact
        for atom in dict.fromkeys(
            atom for one in (form, *env.facts) for atom in one.terms if isinstance(atom, Binary)
        )
        for fact in atom_facts(atom, env)
        if is_exact(env.terms.form(atom.a), atom.dtype, env)
        and is_exact(env.terms.form(atom.b), atom.dtype, env)
    ]
    if not extra:
        return form_range(form, env)
    hi = upper_bound(form, env, plain_range, extra=extra)
    negative = upper_bound(form.times(-1), env, plain_range, extra=extra)
    return Interval(None if negative is None else -negative, hi)


def _never_zero(form: LinearForm) -> bool:
    """Whether the factors have a common divisor that the constant lacks."""
    return bool(form.terms) and form.const % gcd(*form.terms.values()) != 0


def reduce_comparison(
    op: CompareOp, a: LinearForm, b: LinearForm, dtype: DType, env: Environment
) -> Expr | None:
    """A smaller comparison with the same value; None if there is none. Both sides are exact."""
    difference = a.minus(b)
    original = len(a.terms) + len(b.terms)
    reduced, op = _clear_quotients(difference, op, dtype, env)
    reduced, op = _divide_out(reduced, op, env)
    unchanged = reduced is difference and len(difference.terms) == original
    if unchanged and (not a.const or not b.const):
        return None
    return _write(reduced, op, dtype, env)


def _clear_quotients(
    form: LinearForm, op: CompareOp, dtype: DType, env: Environment
) -> tuple[LinearForm, CompareOp]:
    """`x // c + y < 0` as `x + c * y < 0`: an order against a quotient is one against its value."""
    digits = [a for a in form.terms if isinstance(a, Binary) and a.op in ("floordiv", "floormod")]
    if op in ("eq", "ne") or len(digits) != 1:
        return form, op
    for atom, k in form.terms.items():
        if abs(k) != 1 or not isinstance(atom, Binary) or atom.op != "floordiv":
            continue
        divisor, value = const_int(atom.b), env.terms.form(atom.a)
        if divisor is None or divisor < 1 or not is_exact(value, dtype, env):
            continue
        if k < 0:
            form, op = form.times(-1), _MIRRORED[op]
        # Now x // c + rest; the two orders that hold for the quotient itself are < and >=.
        rest = form.plus(LinearForm({atom: 1}, 0), -1)
        if op in ("le", "gt"):
            rest, op = rest.shift(-1), "lt" if op == "le" else "ge"
        return _clear_quotients(value.plus(rest, divisor), op, dtype, env)
    return form, op


def _divide_out(form: LinearForm, op: CompareOp, env: Environment) -> tuple[LinearForm, CompareOp]:
    """`g * x + low op 0` as `x' op 0`, with `low` too small to matter."""
    if op in ("eq", "ne"):
        step = gcd(*form.terms.values(), form.const)
        if step == 1:
            return form, op
        return LinearForm({t: k // step for t, k in form.terms.items()}, form.const // step), op
    if op in ("gt", "ge"):
        negated = form.times(-1)
        reduced, mirrored = _divide_out(negated, _MIRRORED[op], env)
        return (form, op) if reduced is negated else (reduced.times(-1), _MIRRORED[mirrored])
    for step in sorted({abs(k) for k in form.terms.values()}, reverse=True):
        if step == 1:
            continue
        high = {t: k // step for t, k in form.terms.items() if k % step == 0}
        low = LinearForm({t: k for t, k in form.terms.items() if k % step}, form.const)
        interval = form_range(low, env)
        if interval.lo is None or interval.hi is None:
            continue
        # low <= 0 as `low - 1 < 0` would be: count in units of "low < 0".
        shift = 0 if op == "lt" else -1
        bottom, top = interval.lo + shift, interval.hi + shift
        if bottom // step == top // step:
            # g * x + low < 0  iff  x < -(low // g) for all values of low in one bucket
            return LinearForm(high, bottom // step + (0 if op == "lt" else 1)), op
    return form, op


def _write(form: LinearForm, op: CompareOp, dtype: DType, env: Environment) -> Expr | None:
    """`form op 0` with positive terms left and negative ones right."""
    left = {t: k for t, k in form.terms.items() if k > 0}
    right = {t: -k for t, k in form.terms.items() if k < 0}
    if not left:
        left, right, op = right, left, _MIRRORED[op]
        form = form.times(-1)
    on_left = max(form.const, 0) if right else 0
    a = LinearForm(left, on_left)
    b = LinearForm(right, on_left - form.const)
    if not (is_exact(a, dtype, env) and is_exact(b, dtype, env)):
        return None
    return Compare(op, form_to_expr(a, dtype, env.shown), form_to_expr(b, dtype, env.shown))
