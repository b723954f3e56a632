"""Powers, lengths, and scaling by powers of two."""

from __future__ import annotations

import math

from .math_exp import RANGE, reduced, series
from .math_log import fraction, tail
from .math_text import MathText

# ln 2 in two parts, the first exact times any exponent; what 2/3 as a number lacks.
_LN2 = (0.693147180559663, 2.8235290563031577e-13)
_TWO_THIRDS = (2 / 3, 3.700743415417188e-17)
# From which exponent on exp certainly overflows or vanishes.
_BEYOND = 800.0


def power(m: MathText, x: str, y: str) -> str:
    """`exp(y log(|x|))`, in float64 or with the logarithm as a sum of two numbers."""
    size = m.call("fabs", x)
    if m.dtype.bits == 32:
        w = m.double()
        result = m.narrow(_power_of_single(w, w.widen(size, m), w.widen(y, m)), w)
    else:
        result = _power_of_double(m, size, y)
    return _power_ends(m, x, y, size, result)


def hypot(m: MathText, x: str, y: str) -> str:
    """The root of the sum of squares, in float64 or with the squares' rounding errors."""
    a, b = m.call("fabs", x), m.call("fabs", y)
    infinity = m.number(math.inf)
    infinite = m.logic("or", m.compare("oeq", a, infinity), m.compare("oeq", b, infinity))
    if m.dtype.bits == 32:
        w = m.double()
        wa, wb = w.widen(a, m), w.widen(b, m)
        result = m.narrow(w.call("sqrt", w.muladd(wa, wa, w.mul(wb, wb))), w)
        return m.select(infinite, infinity, result)
    return m.select(infinite, infinity, _hypot_of_double(m, a, b))


def ldexp(m: MathText, x: str, n: str) -> str:
    """`x * 2**n`, n given as the bits of a float; brought into range in steps that do not round."""
    n = m.bits(n)
    limit, step = m.bias, m.bias - 1 - m.mantissa - 1
    for _ in range(2):
        large = m.compare_int("sgt", n, m.integer(limit))
        small = m.compare_int("slt", n, m.integer(1 - limit))
        factor = m.select(small, m.number(2.0**-step), m.number(1.0))
        x = m.strict("fmul", x, m.select(large, m.number(2.0**limit), factor))
        shift = m.select_int(small, m.integer(step), m.integer(0))
        n = m.int_op("add", n, m.select_int(large, m.integer(-limit), shift))
    n = m.select_int(m.compare_int("sgt", n, m.integer(limit)), m.integer(limit), n)
    n = m.select_int(m.compare_int("slt", n, m.integer(1 - limit)), m.integer(1 - limit), n)
    return m.strict("fmul", x, m.power_of_two(n))


def _power_of_single(w: MathText, size: str, y: str) -> str:
    """Enough in float64 with few terms: the result is rounded to float32."""
    e, f = fraction(w, size)
    half, rest = tail(w, f, terms=8)
    logarithm = w.muladd(e, w.number(math.log(2)), w.sub(f, w.sub(half, rest)))
    r, count = reduced(w, _clamped(w, _exponent(w, size, y, logarithm)))
    return w.scale(series(w, r), count)


def _power_of_double(m: MathText, size: str, y: str) -> str:
    """`exp(y * log(size))` with the logarithm and the product as sums of two numbers."""
    high, low = _two_part_log(m, size)
    product, lost = m.two_product(y, high)
    product = _exponent(m, size, y, high, product)
    lost = m.muladd(y, low, lost)
    inside = m.compare("olt", m.call("fabs", product), m.number(_BEYOND))
    lost = m.select(inside, lost, m.number(0.0))
    r, count = reduced(m, _clamped(m, product))
    return m.scale(series(m, m.add(r, lost)), count)


def _exponent(m: MathText, size: str, y: str, logarithm: str, product: str | None = None) -> str:
    """`y * log(size)`, with the logarithms of zero and infinity in place of what bits gave."""
    zero = m.compare("oeq", size, m.number(0.0))
    infinite = m.compare("oeq", size, m.number(math.inf))
    end = m.select(zero, m.number(-math.inf), m.number(math.inf))
    at_end = m.logic("or", zero, infinite)
    usual = m.mul(y, logarithm) if product is None else product
    return m.select(at_end, m.mul(y, end), usual)


def _clamped(m: MathText, exponent: str) -> str:
    return m.clamp(exponent, *RANGE[64])


def _two_part_log(m: MathText, x: str) -> tuple[str, str]:
    """`log(x)` to about 70 bits: e ln 2 + 2 s + 2/3 s**3 + ... with the first terms doubled up."""
    e, f = fraction(m, x)
    d, d_low = m.two_sum(m.number(2.0), f)
    s = m.div(f, d)
    s_low = m.div(m.sub(m.fma(m.neg(s), d, f), m.mul(s, d_low)), d)
    s2, s2_low = m.two_product(s, s)
    s2_low = m.muladd(m.add(s, s), s_low, s2_low)
    s3, s3_low = m.two_product(s2, s)
    s3_low = m.add(s3_low, m.muladd(s2, s_low, m.mul(s2_low, s)))
    third, third_low = (m.number(part) for part in _TWO_THIRDS)
    t, t_low = m.two_product(third, s3)
    t_low = m.add(t_low, m.muladd(third, s3_low, m.mul(third_low, s3)))
    others = m.polynomial(s2, [2 / (2 * k + 5) for k in range(10)])
    rest = m.mul(m.mul(s3, s2), others)
    ln2, ln2_low = (m.number(part) for part in _LN2)
    total, lost = m.two_sum(m.strict("fmul", e, ln2), m.strict("fadd", s, s))
    total, lost_again = m.two_sum(total, t)
    small = m.add(m.add(s_low, s_low), m.add(t_low, m.muladd(e, ln2_low, rest)))
    low = m.strict("fadd", m.strict("fadd", lost, lost_again), small)
    return m.two_sum(total, low)


def _power_ends(m: MathText, x: str, y: str, size: str, result: str) -> str:
    """Signs, and the arguments that the C standard lists one by one."""
    zero, one = m.number(0.0), m.number(1.0)
    result = m.select(m.compare("oeq", size, one), one, result)
    half = m.mul(y, m.number(0.5))
    whole = m.compare("oeq", m.call("trunc", y), y)
    odd = m.logic("and", whole, m.compare("une", m.call("trunc", half), half))
    negated = m.logic("and", odd, m.compare_int("slt", m.bits(x), m.integer(0)))
    result = m.select(negated, m.neg(result), result)
    below = m.logic("and", m.compare("olt", x, zero), m.compare("one", x, m.number(-math.inf)))
    broken = m.logic("and", below, m.compare("une", m.call("trunc", y), y))
    broken = m.logic("or", broken, m.compare("uno", x, y))
    result = m.select(broken, m.number(math.nan), result)
    sure = m.logic("or", m.compare("oeq", y, zero), m.compare("oeq", x, one))
    return m.select(sure, one, result)


def _hypot_of_double(m: MathText, a: str, b: str) -> str:
    swap = m.compare("olt", a, b)
    high, low = m.select(swap, b, a), m.select(swap, a, b)
    large = m.compare("ogt", high, m.number(2.0**510))
    small = m.compare("olt", high, m.number(2.0**-400))
    up, down = m.number(2.0**600), m.number(2.0**-600)
    one = m.number(1.0)
    factor = m.select(large, down, m.select(small, up, one))
    back = m.select(large, up, m.select(small, down, one))
    high, low = m.strict("fmul", high, factor), m.strict("fmul", low, factor)
    big, big_lost = m.two_product(high, high)
    little, little_lost = m.two_product(low, low)
    total = m.strict("fadd", m.add(little_lost, big_lost), little)
    return m.strict("fmul", m.call("sqrt", m.strict("fadd", total, big)), back)
