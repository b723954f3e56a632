"""Logarithms and the inverse hyperbolic functions."""

from __future__ import annotations

import math

from .math_exp import LN2, LOG10_2
from .math_table import lookup
from .math_text import MathText

# Terms that the series needs for 24 and for 53 bits.
_TERMS = {32: 5, 64: 11}
# From where on x + 1 and x are the same.
_BIG = {32: 2.0**30, 64: 2.0**60}

# In float32, where a register can be a table: x = m * 2**e with m from 1 to 2. By the first four
# digits of m behind the point comes c with r = m c - 1 between -1/16 and 1/8. Near one, c is one
# (or 1/2: the upper half belongs to the next exponent), for nothing may be lost there; elsewhere
# -log(c), or -log(2 c), is within 2**-29 of a multiple of 2**-13, and of the sign of most r. The
# logarithm of 1 + r is r + r**2 P(r).
_INVERSES = (1.0, 1.0, 0.88670826, 0.824185729, 0.777945638, 0.744044602, 0.70945251, 0.678680241,
             0.650532782, 0.625229537, 0.595506787, 0.576129079, 0.557041824, 0.539178967, 0.5,
             0.5)  # fmt: skip
_LOGARITHMS = (0.0, 0.0, 0.1202392578125, 0.193359375, 0.2510986328125, 0.295654296875,
               0.34326171875, -0.3055419921875, -0.26318359375, -0.2235107421875, -0.1748046875,
               -0.1417236328125, -0.1080322265625, -0.075439453125, 0.0, 0.0)  # fmt: skip
_UPPER = 1.4375
_SMALL_LOG = (-0.49999985098838806, 0.33333468437194824, -0.25012367963790894, 0.200062558054924,
              -0.14454422891139984)  # fmt: skip
# ln 2 as a multiple of 2**-13, and the rest.
_SHORT_LN2 = (0.693115234375, 3.194618329871446e-05)

# What logarithms give for NaN, zero, one, infinity and negative numbers: see `MathText.fixed_up`.
_FIXED = 0x03538422


def fraction(m: MathText, x: str) -> tuple[str, str]:
    """The e, as a float, and f of x = (1 + f) * 2**e, with 1 + f from sqrt(1/2) to sqrt(2)."""
    e, one_plus_f = _by_instructions(m, x) if m.scalef else _by_bits(m, x, math.sqrt(0.5))
    return e, m.strict("fsub", one_plus_f, m.number(1.0))


def _by_bits(m: MathText, x: str, least: float) -> tuple[str, str]:
    """The e, as a float, and m of x = m * 2**e, with m from a number, at most 1, to twice that."""
    tiny = m.compare("olt", x, m.number(2.0 ** (1 - m.bias)))
    lifted = m.mul(x, m.number(2.0**m.mantissa))
    x = m.select(tiny, lifted, x)
    # Take the bits as if the number were divided by the least: the exponent then rounds as wanted.
    offset = m.int_op("sub", m.bits(x), m.bits(m.number(least)))
    exponent = m.int_op("ashr", offset, m.integer(m.mantissa))
    mantissa = m.from_bits(
        m.int_op("sub", m.bits(x), m.int_op("shl", exponent, m.integer(m.mantissa)))
    )
    e = m.to_float(exponent)
    return m.select(tiny, m.sub(e, m.number(float(m.mantissa))), e), mantissa


def _by_instructions(m: MathText, x: str) -> tuple[str, str]:
    """The same two values: the exponent changes at the same root."""
    e, mantissa = m.exponent_and_mantissa(x)
    upper = m.compare("oge", mantissa, m.number(2 * math.sqrt(0.5)))
    e = m.select(upper, m.add(e, m.number(1.0)), e)
    return e, m.select(upper, m.mul(mantissa, m.number(0.5)), mantissa)


def tail(m: MathText, f: str, terms: int | None = None) -> tuple[str, str]:
    """f**2 / 2 and s * (f**2 / 2 + R), with which log(1 + f) = f - (f**2 / 2 - s * (...)).

    s = f / (2 + f) and R = 2/3 s**2 + 2/5 s**4 + ...; f - f**2 / 2 is what must not be rounded
    early.
    """
    s = m.div(f, m.add(f, m.number(2.0)))
    s2 = m.mul(s, s)
    count = _TERMS[m.dtype.bits] if terms is None else terms
    rest = m.mul(s2, m.polynomial(s2, [2 / (2 * k + 3) for k in range(count)]))
    half = m.mul(m.mul(f, f), m.number(0.5))
    return half, m.mul(s, m.add(half, rest))


def log(m: MathText, x: str) -> str:
    """Natural logarithm."""
    if m.dtype.bits == 32 and m.tables:
        return _ends(m, x, 0.0, _log_by_table(m, x))
    e, f = fraction(m, x)
    return _ends(m, x, 0.0, _natural(m, e, f))


def _log_by_table(m: MathText, x: str) -> str:
    """`e ln 2 - log(c) + log(1 + r)`; only the sum of the first two and the rest is rounded.

    After Tang, "Table-driven implementation of the logarithm function", 1990.
    """
    e, mantissa = m.exponent_and_mantissa(x) if m.scalef else _by_bits(m, x, 1.0)
    index = m.int_op("lshr", m.bits(mantissa), m.integer(m.mantissa - 4))
    upper = m.compare("oge", mantissa, m.number(_UPPER))
    e = m.select(upper, m.add(e, m.number(1.0)), e)
    r = m.fma(mantissa, lookup(m, index, _INVERSES), m.number(-1.0))
    high, low = (m.number(part) for part in _SHORT_LN2)
    small = m.muladd(m.mul(r, r), m.polynomial(r, _SMALL_LOG), r)
    small = m.muladd(e, low, small)
    return m.add(m.muladd(e, high, lookup(m, index, _LOGARITHMS)), small)


def log2(m: MathText, x: str) -> str:
    """Logarithm to base 2."""
    e, f = fraction(m, x)
    half, rest = tail(m, f)
    small = m.sub(f, m.sub(half, rest))
    return _ends(m, x, 0.0, m.muladd(small, m.number(1 / math.log(2)), e))


def log10(m: MathText, x: str) -> str:
    """Logarithm to base 10."""
    e, f = fraction(m, x)
    half, rest = tail(m, f)
    small = m.mul(m.sub(f, m.sub(half, rest)), m.number(1 / math.log(10)))
    high, low = LOG10_2[m.dtype.bits]
    return _ends(m, x, 0.0, m.muladd(e, m.number(high), m.muladd(e, m.number(low), small)))


def log1p(m: MathText, x: str) -> str:
    """`log(1 + x)`, which keeps its digits near zero."""
    result = _ends(m, x, -1.0, _log1p(m, x))
    return m.select(m.compare("oeq", x, m.number(0.0)), x, result)  # a zero keeps its sign


def asinh(m: MathText, x: str) -> str:
    """`log1p(a + a**2 / (1 + sqrt(a**2 + 1)))` of a = |x|."""
    size = m.call("fabs", x)
    square = m.mul(size, size)
    one = m.number(1.0)
    root = m.call("sqrt", m.add(square, one))
    usual = m.add(size, m.div(square, m.add(root, one)))
    return m.call("copysign", _log1p_or_double(m, usual, size), x)


def acosh(m: MathText, x: str) -> str:
    """`log1p(t + sqrt(t * (t + 2)))` of t = x - 1."""
    t = m.strict("fsub", x, m.number(1.0))
    usual = m.add(t, m.call("sqrt", m.mul(t, m.add(t, m.number(2.0)))))
    result = _log1p_or_double(m, usual, x)
    return m.select(m.compare("ult", x, m.number(1.0)), m.number(math.nan), result)


def atanh(m: MathText, x: str) -> str:
    """`log1p(2 a / (1 - a)) / 2` of a = |x|."""
    size = m.call("fabs", x)
    ratio = m.div(m.add(size, size), m.strict("fsub", m.number(1.0), size))
    half = m.mul(_ends(m, ratio, -1.0, _log1p(m, ratio)), m.number(0.5))
    return m.call("copysign", half, x)


def _natural(m: MathText, e: str, f: str, error: str | None = None) -> str:
    """`e * ln 2 + log(1 + f) + error`."""
    half, rest = tail(m, f)
    high, low = LN2[m.dtype.bits]
    if error is not None:
        rest = m.add(rest, error)
    inner = m.sub(half, m.muladd(e, m.number(low), rest))
    return m.sub(m.mul(e, m.number(high)), m.sub(inner, f))


def _log1p(m: MathText, x: str) -> str:
    """From the logarithm of u = 1 + x rounded; what rounding lost enters as a correction."""
    one = m.number(1.0)
    u = m.strict("fadd", x, one)
    e, f = fraction(m, u)
    # Without an exponent f is x itself: nothing was lost then.
    plain = m.compare("oeq", e, m.number(0.0))
    f = m.select(plain, x, f)
    big = m.compare("oge", x, one)
    lost_big = m.strict("fsub", one, m.strict("fsub", u, x))
    lost_small = m.strict("fsub", x, m.strict("fsub", u, one))
    lost = m.select(plain, m.number(0.0), m.select(big, lost_big, lost_small))
    return _natural(m, e, f, m.div(lost, u))


def _log1p_or_double(m: MathText, usual: str, x: str) -> str:
    """`log1p(usual)`, or `log(2 x)` where x is so big that it comes to the same."""
    big = m.compare("oge", x, m.number(_BIG[m.dtype.bits]))
    argument = m.select(big, x, usual)
    shift = m.select(big, m.number(math.log(2)), m.number(0.0))
    return _ends(m, argument, -1.0, m.add(_log1p(m, argument), shift))


def _ends(m: MathText, x: str, pole: float, result: str) -> str:
    """The values at the pole, below it, and at infinity."""
    if m.scalef and pole == 0.0:
        return m.fixed_up(result, x, _FIXED)
    at, infinity = m.number(pole), m.number(math.inf)
    result = m.select(m.compare("oeq", x, at), m.number(-math.inf), result)
    result = m.select(m.compare("ult", x, at), m.number(math.nan), result)
    return m.select(m.compare("oeq", x, infinity), infinity, result)
