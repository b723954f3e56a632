"""Which values an expression can take: intervals and remainders, under an environment.

Machine integers wrap. The interval of a sum is computed over the integers; where it leaves the
type, the value may have wrapped and only the type's own range is claimed. The one assumption: a
64-bit symbol without known bounds (a size, an outer index) stays so small that index arithmetic on
it does not overflow, that is below 2**62 in size together with what is added to it.
"""

from __future__ import annotations

from collections.abc import Callable

from tvmlab.ir import (
    Binary,
    BinaryOp,
    Broadcast,
    Call,
    Cast,
    Compare,
    Const,
    Expr,
    Load,
    Logic,
    Not,
    Ramp,
    Select,
    Var,
)
from tvmlab.support import INDEX, DType

from .environment import Environment
from .facts import upper_bound
from .interval import EVERYTHING, Interval
from .linear import LinearForm, is_scalar_int
from .modular import ANY, Modular

_SAFE = 1 << 62

_BINARY: dict[BinaryOp, Callable[[Interval, Interval], Interval]] = {
    "add": Interval.add,
    "sub": Interval.sub,
    "mul": Interval.mul,
    "floordiv": Interval.floordiv,
    "floormod": Interval.floormod,
    "truncdiv": Interval.truncdiv,
    "truncmod": Interval.truncmod,
    "min": Interval.min,
    "max": Interval.max,
    "bitand": Interval.bitand,
    "bitor": Interval.bitor_xor,
    "bitxor": Interval.bitor_xor,
    "shl": Interval.shl,
    "shr": Interval.shr,
}


def range_of(e: Expr, env: Environment) -> Interval:
    """An interval that contains each value (of each lane); of a bool, 0 is false and 1 true."""
    if is_scalar_int(e):
        return settle(form_range(env.terms.form(e), env), env.terms.form(e), e.dtype, env)
    if type(e) is Const and e.dtype.is_bool:
        return Interval.point(int(e.value))
    known = env.atom_ranges.get(e)
    if known is None:
        known = env.atom_ranges[e] = _atom_interval(e, env)
    return known


def form_range(form: LinearForm, env: Environment) -> Interval:
    """The interval of a form over the integers, as if nothing wrapped."""
    known = env.form_ranges.get(form)
    if known is None:
        # Recorded before facts are tried: one about `i` and `i // 4` would ask for this form again.
        known = env.form_ranges[form] = plain_range(form, env)
        if env.facts and form.terms:
            hi = upper_bound(form, env, plain_range)
            negative = upper_bound(form.times(-1), env, plain_range)
            lo = None if negative is None else -negative
            tight = known.intersect(Interval(lo, hi))
            known = env.form_ranges[form] = known if tight is None else tight
    return known


def plain_range(form: LinearForm, env: Environment) -> Interval:
    """The interval of a form from those of its atoms alone."""
    lo: int | None = form.const
    hi: int | None = form.const
    for atom, k in form.terms.items():
        interval = atom_range(atom, env)
        a, b = (interval.lo, interval.hi) if k > 0 else (interval.hi, interval.lo)
        lo = None if lo is None or a is None else lo + k * a
        hi = None if hi is None or b is None else hi + k * b
        if lo is None and hi is None:
            break
    return Interval(lo, hi)


def atom_range(atom: Expr, env: Environment) -> Interval:
    """The interval of a variable or of an interned atom."""
    known = env.atom_ranges.get(atom)
    if known is None:
        known = _atom_interval(atom, env)
        assumed = env.intervals.get(atom)
        if assumed is not None:
            # No common value: the place cannot be reached, and either interval is right.
            known = known.intersect(assumed) or known
        env.atom_ranges[atom] = known
    return known


def may_wrap(interval: Interval, form: LinearForm, dtype: DType, env: Environment) -> bool:
    """Whether the machine value of a form may differ from its value over the integers."""
    lowest, highest = int(dtype.min_value), int(dtype.max_value)
    lo, hi = interval.lo, interval.hi
    if (lo is not None and lo < lowest) or (hi is not None and hi > highest):
        return True
    if lo is not None and hi is not None:
        return False
    if dtype != INDEX or not -_SAFE <= form.const <= _SAFE:
        return True
    for atom, k in form.terms.items():
        part = atom_range(atom, env)
        for end in (part.lo, part.hi):
            if end is not None and not -_SAFE <= k * end <= _SAFE:
                return True
    return False


def settle(interval: Interval, form: LinearForm, dtype: DType, env: Environment) -> Interval:
    """The interval of the machine value of a form."""
    if may_wrap(interval, form, dtype, env):
        return Interval.of_dtype(dtype)
    return interval


def is_exact(form: LinearForm, dtype: DType, env: Environment) -> bool:
    """Whether the machine value of the form is its value over the integers."""
    return not may_wrap(form_range(form, env), form, dtype, env)


def _atom_interval(e: Expr, env: Environment) -> Interval:
    kind = type(e)
    if kind is Var:
        known = env.intervals.get(e)
        if known is not None:
            return known
        return EVERYTHING if e.dtype == INDEX else Interval.of_dtype(e.dtype)
    if e.dtype.is_float:
        return EVERYTHING
    rule = _ATOM_RULES.get(kind)
    return Interval.of_dtype(e.dtype) if rule is None else rule(e, env)


def _binary_range(e: Binary, env: Environment) -> Interval:
    rule = _BINARY.get(e.op)
    if rule is None:
        return Interval.of_dtype(e.dtype)
    a, b = range_of(e.a, env), range_of(e.b, env)
    result = rule(a, b)
    return result if _fits(result, e.dtype, a, b) else Interval.of_dtype(e.dtype)


def _fits(result: Interval, dtype: DType, a: Interval, b: Interval) -> bool:
    """Whether an operation on values of `a` and `b` gives this result without wrapping."""
    if result.is_bounded:
        return result.within(Interval.of_dtype(dtype))
    ends = (a.lo, a.hi, b.lo, b.hi)
    return dtype.scalar == INDEX and all(end is None or abs(end) <= _SAFE for end in ends)


def _select_range(e: Select, env: Environment) -> Interval:
    cond = range_of(e.cond, env)
    if cond.is_point:
        return range_of(e.then if cond.lo else e.otherwise, env)
    return range_of(e.then, env).union(range_of(e.otherwise, env))


def _cast_range(e: Cast, env: Environment) -> Interval:
    source = e.value.dtype
    own = Interval.of_dtype(e.dtype)
    if source.is_float or e.dtype.is_bool:
        return own
    value = range_of(e.value, env)
    return value if value.within(own) or (e.dtype == source) else own


def _ramp_range(e: Ramp, env: Environment) -> Interval:
    steps = Interval(0, e.lanes - 1).mul(range_of(e.stride, env))
    base = range_of(e.base, env)
    result = base.add(steps)
    return result if _fits(result, e.dtype, base, steps) else Interval.of_dtype(e.dtype)


def _call_range(e: Call, env: Environment) -> Interval:
    own = Interval.of_dtype(e.dtype)
    if e.op == "abs":
        value = range_of(e.args[0], env)
        # The smallest value of a type has no positive counterpart: abs leaves it as it is.
        magnitude = value.max(value.neg()).max(Interval.point(0))
        return magnitude if magnitude.within(own) else own
    return own


def _compare_range(e: Compare, env: Environment) -> Interval:
    if e.a.dtype.is_float:
        return _BOOL
    difference = range_of(e.a, env).sub(range_of(e.b, env))
    decided = decide(e.op, difference)
    return _BOOL if decided is None else Interval.point(int(decided))


def decide(op: str, difference: Interval) -> bool | None:
    """The value of `a op b` from the interval of `a - b`; None if both are possible."""
    lo, hi = difference.lo, difference.hi
    if op in ("gt", "ge"):
        lo, hi = (None if hi is None else -hi), (None if lo is None else -lo)
        op = "lt" if op == "gt" else "le"
    limit = 0 if op == "le" else -1
    if op in ("lt", "le"):
        if hi is not None and hi <= limit:
            return True
        return False if lo is not None and lo > limit else None
    if (lo is not None and lo > 0) or (hi is not None and hi < 0):
        return op == "ne"
    return op == "eq" if lo == 0 and hi == 0 else None


def _logic_range(e: Logic, env: Environment) -> Interval:
    a, b = range_of(e.a, env), range_of(e.b, env)
    return a.min(b) if e.op == "and" else a.max(b)


def _not_range(e: Not, env: Environment) -> Interval:
    return Interval.point(1).sub(range_of(e.a, env))


def _broadcast_range(e: Broadcast, env: Environment) -> Interval:
    return range_of(e.value, env)


def _load_range(e: Load, env: Environment) -> Interval:
    return Interval.of_dtype(e.dtype)


_BOOL = Interval(0, 1)
_ATOM_RULES: dict[type, Callable[..., Interval]] = {
    Binary: _binary_range,
    Select: _select_range,
    Cast: _cast_range,
    Ramp: _ramp_range,
    Call: _call_range,
    Compare: _compare_range,
    Logic: _logic_range,
    Not: _not_range,
    Broadcast: _broadcast_range,
    Load: _load_range,
}


def remainder_of(e: Expr, env: Environment) -> Modular:
    """What is known of the remainders of a scalar integer expression."""
    if not is_scalar_int(e):
        return ANY
    form = env.terms.form(e)
    return form_remainder(form, env) if is_exact(form, e.dtype, env) else ANY


def form_remainder(form: LinearForm, env: Environment) -> Modular:
    """What is known of the remainders of a form over the integers."""
    result = Modular(0, form.const)
    for atom, k in form.terms.items():
        result = result.add(_atom_remainder(atom, env).times(k))
        if result.coeff == 1:
            break
    return result


def _atom_remainder(atom: Expr, env: Environment) -> Modular:
    known = env.moduli.get(atom)
    if known is not None:
        return known
    interval = atom_range(atom, env)
    if interval.is_point and interval.lo is not None:
        return Modular(0, interval.lo)
    if isinstance(atom, Select):
        return remainder_of(atom.then, env).union(remainder_of(atom.otherwise, env))
    if isinstance(atom, Binary):
        if atom.op in ("min", "max"):
            return remainder_of(atom.a, env).union(remainder_of(atom.b, env))
        if atom.op == "mul" and product_is_exact(atom, env):
            return remainder_of(atom.a, env).mul(remainder_of(atom.b, env))
        if isinstance(atom.b, Const) and int(atom.b.value) > 0:
            if atom.op == "floordiv":
                return remainder_of(atom.a, env).floordiv(int(atom.b.value))
            if atom.op == "floormod":
                return remainder_of(atom.a, env).floormod(int(atom.b.value))
    return ANY


def product_is_exact(e: Binary, env: Environment) -> bool:
    """Whether a product of two expressions is what it is over the integers."""
    a, b = range_of(e.a, env), range_of(e.b, env)
    return _fits(a.mul(b), e.dtype, a, b)
