"""Rules for vectors: keep lanes equal (`Broadcast`) or equally spaced (`Ramp`) where they are.

ramp(b, s) + broadcast(x)  ->  ramp(b + x, s)
ramp(b * 8, 1) // 8        ->  broadcast(b)          up to 8 lanes
"""

from __future__ import annotations

from .pattern import Match, Num, Op, Pattern, Rule, RuleTable, Wild, op
from .ranges import form_range, is_exact, remainder_of

b, s, x, y, t = Wild("b"), Wild("s"), Wild("x"), Wild("y"), Wild("t")
c, k = Wild("c", literal=True), Wild("k", literal=True)


def ramp(base: Pattern, stride: Pattern) -> Op:
    """A ramp pattern of as many lanes as the matched node has."""
    return op("ramp", base, stride)


def cast_all(value: Pattern) -> Op:
    """A broadcast pattern of as many lanes as the matched node has."""
    return op("broadcast", value)


_LANEWISE = (
    "add", "sub", "mul", "div", "floordiv", "floormod", "truncdiv", "truncmod",
    "min", "max", "bitand", "bitor", "bitxor", "shl", "shr",
    "eq", "ne", "lt", "le", "gt", "ge", "and", "or",
)  # fmt: skip


def _lanes_fit(m: Match, *, step: int) -> bool:
    """No lane of the ramp wraps, and a step divides stride and divisor."""
    base = m["b"]
    terms, env, lanes = m.env.terms, m.env, m.root.dtype.lanes
    first = terms.form(base)
    last = first.shift(m.number("k") * (lanes - 1))
    fits = is_exact(first, base.dtype, env) and is_exact(last, base.dtype, env)
    return fits and m.number("k") % step == 0


def _strides_divide(m: Match) -> bool:
    return m.number("c") > 0 and _lanes_fit(m, step=m.number("c"))


def _one_bucket(m: Match) -> bool:
    """All lanes have the quotient of the first one."""
    divisor = m.number("c")
    if divisor <= 0 or not _lanes_fit(m, step=1):
        return False
    travel = m.number("k") * (m.root.dtype.lanes - 1)
    offset = remainder_of(m["b"], m.env).remainder(divisor)
    if offset is not None:
        return 0 <= offset + travel < divisor
    span = form_range(m.env.terms.form(m["b"]), m.env)
    if span.lo is None or span.hi is None:
        return False
    low, high = span.lo + min(travel, 0), span.hi + max(travel, 0)
    return low // divisor == high // divisor


_COMBINE = tuple(
    Rule(
        f"{name} of broadcasts",
        op(name, cast_all(x), cast_all(y)),
        cast_all(op(name, x, y)),
        domain="vector" if name not in ("and", "or", "div") else "any",
    )
    for name in _LANEWISE
)

_RAMPS = (
    Rule("ramp plus broadcast", ramp(b, s) + cast_all(x), ramp(b + x, s), domain="vector"),
    Rule("broadcast plus ramp", cast_all(x) + ramp(b, s), ramp(x + b, s), domain="vector"),
    Rule("ramp minus broadcast", ramp(b, s) - cast_all(x), ramp(b - x, s), domain="vector"),
    Rule("broadcast minus ramp", cast_all(x) - ramp(b, s), ramp(x - b, 0 - s), domain="vector"),
    Rule("ramp times broadcast", ramp(b, s) * cast_all(x), ramp(b * x, s * x), domain="vector"),
    Rule("broadcast times ramp", cast_all(x) * ramp(b, s), ramp(x * b, x * s), domain="vector"),
    Rule("ramp plus ramp", ramp(b, s) + ramp(x, t), ramp(b + x, s + t), domain="vector"),
    Rule("ramp minus ramp", ramp(b, s) - ramp(x, t), ramp(b - x, s - t), domain="vector"),
    Rule("flat ramp", ramp(x, Num(0)), cast_all(x), domain="vector"),
    Rule(
        "ramp over a divisor of its stride",
        ramp(b, k) // cast_all(c),
        ramp(b // c, k // c),
        _strides_divide,
        domain="vector",
    ),
    Rule(
        "ramp modulo a divisor of its stride",
        ramp(b, k) % cast_all(c),
        cast_all(b % c),
        _strides_divide,
        domain="vector",
    ),
    Rule(
        "ramp over more than its length",
        ramp(b, k) // cast_all(c),
        cast_all(b // c),
        _one_bucket,
        domain="vector",
    ),
    Rule(
        "ramp modulo more than its length",
        ramp(b, k) % cast_all(c),
        ramp(b % c, k),
        _one_bucket,
        domain="vector",
    ),
)

VECTOR_RULES = (*_RAMPS, *_COMBINE)
VECTOR_TABLE = RuleTable(VECTOR_RULES)
