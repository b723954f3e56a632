"""Quotients and remainders of linear forms by a positive number, and their recombination.

The identities hold over the integers, so a form is only taken apart where its machine value is
exact (`ranges.is_exact`); elsewhere the operation stays one opaque atom.

    (i * 4 + j) // 4        ->  i                 0 <= j < 4
    (i * 8 + j * 4) % 8     ->  j % 2 * 4
    f // 8 * 8 + f % 8      ->  f
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd
from typing import TypeGuard

from tvmlab.ir import Binary, Const, Expr, wrap_int
from tvmlab.support import DType

from .environment import Environment
from .linear import LinearForm, constant_form, form_to_expr
from .ranges import form_range, form_remainder, is_exact


def quotient(form: LinearForm, divisor: int, dtype: DType, env: Environment) -> LinearForm:
    """`form // divisor`, for a divisor above zero."""
    if divisor == 1:
        return form
    if form.is_const:
        return constant_form(wrap_int(form.const, dtype) // divisor)
    if not is_exact(form, dtype, env):
        return _atom("floordiv", form, divisor, dtype, env)
    outside, rest = _split_multiples(form, divisor)
    if rest.is_const:
        return outside
    bucket = _common_quotient(rest, divisor, env)
    if bucket is not None:
        return outside.shift(bucket)
    if not is_exact(rest, dtype, env):
        return _atom("floordiv", form, divisor, dtype, env)
    for step, high, _ in _factorings(rest, divisor, env):
        return outside.plus(quotient(high, divisor // step, dtype, env))
    nested = _nested_quotient(rest, divisor, dtype, env)
    if nested is not None:
        return outside.plus(nested)
    return outside.plus(_atom("floordiv", rest, divisor, dtype, env))


def remainder(form: LinearForm, divisor: int, dtype: DType, env: Environment) -> LinearForm:
    """`form % divisor` (not negative), for a divisor above zero."""
    if form.is_const:
        return constant_form(wrap_int(form.const, dtype) % divisor)
    if not is_exact(form, dtype, env):
        return _atom("floormod", form, divisor, dtype, env)
    opened = _without_inner_remainders(form, divisor, dtype, env)
    _, rest = _split_multiples(opened, divisor)
    if rest.is_const:
        return rest
    # Factors above the divisor are kept where they stay, so that the quotient of the same sum
    # has the same numerator and both can be recognized as parts of one value.
    for candidate in (rest, _reduce_factors(rest, divisor)):
        bucket = _common_quotient(candidate, divisor, env)
        if bucket is not None:
            return candidate.shift(-bucket * divisor)
    if not is_exact(rest, dtype, env):
        return _atom("floormod", form, divisor, dtype, env)
    same = form_remainder(rest, env).remainder(divisor)
    if same is not None:
        return constant_form(same)
    for step, high, low in _factorings(rest, divisor, env):
        return remainder(high, divisor // step, dtype, env).times(step).plus(low)
    return _atom("floormod", rest, divisor, dtype, env)


def merge_digits(form: LinearForm, dtype: DType, env: Environment) -> LinearForm:
    """Join quotients and remainders of one value that stand in one sum; equal over the integers."""
    while True:
        for atom, factor in form.terms.items():
            if not _is_digit(atom):
                continue
            merged = _merge_one(form, atom, factor, dtype, env)
            if merged is not None:
                form = merged
                break
        else:
            return form


def _merge_one(
    form: LinearForm, atom: Binary, factor: int, dtype: DType, env: Environment
) -> LinearForm | None:
    inner, divisor = env.terms.form(atom.a), _divisor(atom)
    if not is_exact(inner, dtype, env):
        return None
    this = LinearForm({atom: 1}, 0)
    if atom.op == "floormod":
        if len(form.terms) == 1:
            return None
        return _join_remainder(form, this, inner, divisor, factor, dtype, env)
    # x - x // c * c is x % c
    if factor % divisor == 0:
        weight = -(factor // divisor)
        if inner.terms and all(form.terms.get(t) == weight * k for t, k in inner.terms.items()):
            without = form.plus(inner, -weight).plus(this, -factor)
            return without.plus(remainder(inner, divisor, dtype, env), weight)
        # x // c * c is x - r where the remainder r of x is known
        known = form_remainder(inner, env).remainder(divisor)
        if known is not None:
            return form.plus(this, -factor).plus(inner.shift(-known), factor // divisor)
    return None


def _join_remainder(
    form: LinearForm,
    this: LinearForm,
    inner: LinearForm,
    divisor: int,
    factor: int,
    dtype: DType,
    env: Environment,
) -> LinearForm | None:
    """`x // c * c + x % c` is x, and `(x // c) % d * c + x % c` is `x % (c * d)`."""
    upper = quotient(inner, divisor, dtype, env)
    weight = factor * divisor
    if upper.terms and all(form.terms.get(t) == weight * k for t, k in upper.terms.items()):
        return form.plus(upper, -weight).plus(this, -factor).plus(inner, factor)
    for other, other_factor in form.terms.items():
        if other_factor != weight or not _is_digit(other) or other.op != "floormod":
            continue
        numerator = env.terms.form(other.a)
        if numerator.key() == upper.key():
            whole = remainder(inner, divisor * _divisor(other), dtype, env)
            without = form.plus(this, -factor).plus(LinearForm({other: 1}, 0), -weight)
            return without.plus(whole, factor)
    return None


def _is_digit(atom: Expr) -> TypeGuard[Binary]:
    return (
        isinstance(atom, Binary)
        and atom.op in ("floordiv", "floormod")
        and isinstance(atom.b, Const)
        and int(atom.b.value) > 0
    )


def _divisor(atom: Binary) -> int:
    assert isinstance(atom.b, Const)
    return int(atom.b.value)


def _split_multiples(form: LinearForm, divisor: int) -> tuple[LinearForm, LinearForm]:
    """`form` as `divisor * outside + rest`, each factor wholly on one side."""
    outside: dict[Expr, int] = {}
    rest: dict[Expr, int] = {}
    for atom, k in form.terms.items():
        if k % divisor == 0:
            outside[atom] = k // divisor
        else:
            rest[atom] = k
    whole, left = divmod(form.const, divisor)
    return LinearForm(outside, whole), LinearForm(rest, left)


def _common_quotient(form: LinearForm, divisor: int, env: Environment) -> int | None:
    """The quotient, if all values of the form have the same."""
    interval = form_range(form, env)
    if interval.lo is None or interval.hi is None:
        return None
    low = interval.lo // divisor
    return low if low == interval.hi // divisor else None


def _factorings(
    form: LinearForm, divisor: int, env: Environment
) -> Iterable[tuple[int, LinearForm, LinearForm]]:
    """Ways to write a form as `step * high + low`, 0 <= low < step, step dividing the divisor."""
    steps = {gcd(k, divisor) for k in form.terms.values()}
    for step in sorted(steps, reverse=True):
        if step == 1:
            continue
        high, low = _split_multiples(form, step)
        bucket = 0 if low.is_const else _common_quotient(low, step, env)
        if bucket is not None:
            yield step, high.shift(bucket), low.shift(-bucket * step)


def _nested_quotient(
    rest: LinearForm, divisor: int, dtype: DType, env: Environment
) -> LinearForm | None:
    """`(x // a + r) // b` is `(x + r * a) // (a * b)`; `x % (a * b) // b` is `x // b % a`."""
    if len(rest.terms) != 1:
        return None
    [(atom, factor)] = rest.terms.items()
    if factor != 1 or not _is_digit(atom):
        return None
    inner_divisor = _divisor(atom)
    inner, product = env.terms.form(atom.a), inner_divisor * divisor
    if atom.op == "floormod":
        if rest.const or inner_divisor % divisor or not is_exact(inner, dtype, env):
            return None
        upper = quotient(inner, divisor, dtype, env)
        return remainder(upper, inner_divisor // divisor, dtype, env)
    moved = inner.shift(rest.const * inner_divisor)
    if product > int(dtype.max_value) or not (
        is_exact(inner, dtype, env) and is_exact(moved, dtype, env)
    ):
        return None
    return quotient(moved, product, dtype, env)


def _without_inner_remainders(
    form: LinearForm, divisor: int, dtype: DType, env: Environment
) -> LinearForm:
    """`(k * (x % a) + y) % c` is `(k * x + y) % c` where c divides `k * a`."""
    for atom, k in form.terms.items():
        if not _is_digit(atom) or atom.op != "floormod":
            continue
        inner = env.terms.form(atom.a)
        if k * _divisor(atom) % divisor == 0 and is_exact(inner, dtype, env):
            opened = form.plus(LinearForm({atom: 1}, 0), -k).plus(inner, k)
            return _without_inner_remainders(opened, divisor, dtype, env)
    return form


def _reduce_factors(form: LinearForm, divisor: int) -> LinearForm:
    terms: dict[Expr, int] = {}
    for atom, k in form.terms.items():
        reduced = k % divisor if k > 0 else -(-k % divisor)
        if reduced:
            terms[atom] = reduced
    return LinearForm(terms, form.const % divisor)


def _atom(op: str, form: LinearForm, divisor: int, dtype: DType, env: Environment) -> LinearForm:
    numerator = form_to_expr(form, dtype, env.shown)
    node = Binary("floordiv" if op == "floordiv" else "floormod", numerator, Const(divisor, dtype))
    rep = env.terms.rep_atom(node)
    env.shown.setdefault(rep, node)
    return LinearForm({rep: 1}, 0)
