"""Exponentials and hyperbolic functions, as polynomials over a range of one power of two."""

from __future__ import annotations

import math

from .math_table import lookup
from .math_text import MathText, Whole

# (exp(r) - 1 - r) / r**2 for |r| up to half of ln 2, with the smallest largest error (found by
# exchange of extrema at 40 digits): below a twentieth of a unit in the last place of exp(r).
_TAIL = {32: (0.4999999403953552, 0.1666651964187622, 0.04166839271783829, 0.0083687799051404,
              0.0013814462581649423),
         64: (0.5000000000000011, 0.1666666666666641, 0.04166666666652919, 0.008333333333495561,
              0.0013888888943922068, 0.00019841269504905712, 2.4801492763392768e-05,
              2.755758721521554e-06, 2.763037842182758e-07, 2.5000005801868804e-08)}  # fmt: skip
# The same for |r| up to a 32nd of ln 2, and the powers of two in between. Products of ln 2 with
# sixteenths are not exact any more; machines that take tables fuse them with the difference.
_SHORT_TAIL = (0.5000162, 0.16667032)
_POWERS = tuple(2.0 ** (n / 16) for n in range(16))
# ln 2 and log10 2, the first part so short that its product with an exponent is exact.
LN2 = {32: (0.693145751953125, 1.428606765330187e-06),
       64: (0.6931471803691238, 1.9082149292705877e-10)}  # fmt: skip
LOG10_2 = {32: (0.30078125, 0.00024874566398119521),
           64: (0.30102999566361177, 3.694239077158931e-13)}  # fmt: skip
# Where exp leaves the type's range for good, with some room.
RANGE = {32: (-105.0, 90.0), 64: (-750.0, 711.0)}
# From where on tanh is 1.
_TANH_LIMIT = {32: 9.1, 64: 19.1}
# From where on exp(x) - 1 is -1, and below which digits could get lost in scaling.
_MINUS_ONE = {32: -20.0, 64: -45.0}
_TINY = {32: 2.0**-100, 64: 2.0**-900}
# Where sinh has just overflowed, while a quarter of the power of two still has an exponent.
_HYPERBOLIC_LIMIT = {32: 89.5, 64: 710.6}


def exp(m: MathText, x: str) -> str:
    """Natural exponential."""
    x = m.clamp(x, *RANGE[m.dtype.bits])
    if m.dtype.bits == 32 and m.tables:
        return _exp_by_table(m, x)
    r, power = reduced(m, x)
    return m.scale(series(m, r), power)


def _exp_by_table(m: MathText, x: str) -> str:
    """`2**n exp(r)` with n in sixteenths: their powers are looked up, so r is 16 times as small.

    After Tang, "Table-driven implementation of the exponential function", 1989.
    """
    n, bits = m.nearest(x, 1 / math.log(2), steps=4)
    r = _minus_multiple(m, x, n.number, LN2)
    tail = m.polynomial(r, _SHORT_TAIL)
    power = lookup(m, bits, _POWERS)
    return m.scale(m.muladd(power, m.muladd(m.mul(r, r), tail, r), power), n)


def exp2(m: MathText, x: str) -> str:
    """Two to the power of x."""
    low, high = RANGE[m.dtype.bits]
    x = m.clamp(x, low / math.log(2), high / math.log(2))
    power = m.round_to_integer(x)
    r = m.mul(m.strict("fsub", x, power.number), m.number(math.log(2)))
    return m.scale(series(m, r), power)


def exp10(m: MathText, x: str) -> str:
    """Ten to the power of x."""
    low, high = RANGE[m.dtype.bits]
    x = m.clamp(x, low / math.log(10), high / math.log(10))
    power = m.round_to_integer(x, math.log2(10))
    r = m.mul(_minus_multiple(m, x, power.number, LOG10_2), m.number(math.log(10)))
    return m.scale(series(m, r), power)


def expm1(m: MathText, x: str) -> str:
    """`exp(x) - 1`, which keeps its digits near zero."""
    half = _half_expm1(m, m.clamp(x, _MINUS_ONE[m.dtype.bits], _HYPERBOLIC_LIMIT[m.dtype.bits]))
    return _itself_if_tiny(m, x, m.add(half, half))


def sinh(m: MathText, x: str) -> str:
    """With t = exp(|x|) - 1: (t + t / (t + 1)) / 2."""
    half = _half_expm1(m, _size(m, x))
    t = m.add(half, half)
    result = m.add(half, m.div(half, m.add(t, m.number(1.0))))
    infinity = m.number(math.inf)
    result = m.select(m.compare("oeq", half, infinity), infinity, result)
    return _itself_if_tiny(m, x, m.call("copysign", result, x))


def cosh(m: MathText, x: str) -> str:
    """With h = exp(|x|) / 2: h + 1 / (4 h)."""
    r, power = reduced(m, _size(m, x))
    half = m.scale(series(m, r), m.less(power, 1))
    return m.add(half, m.div(m.number(0.25), half))


def tanh(m: MathText, x: str) -> str:
    """With h = (exp(2 |x|) - 1) / 2: h / (h + 1), which keeps its digits near zero.

    2 |x| = 2 r + n ln 2, and h = 2**n (exp(2 r) - 1) / 2 + (2**n - 1) / 2.
    """
    size = m.at_most(m.call("fabs", x), _TANH_LIMIT[m.dtype.bits])
    n, power = m.round_and_raise(size, 2 / math.log(2))
    r = size
    for part in _half_ln2(m):
        r = m.muladd(n, m.number(-part), r)
    tail = m.polynomial(r, [c * 2.0 ** (k + 1) for k, c in enumerate(_TAIL[m.dtype.bits])])
    half = m.muladd(m.mul(r, r), tail, r)
    h = m.muladd(power, half, m.muladd(power, m.number(0.5), m.number(-0.5)))
    result = m.div(h, m.add(h, m.number(1.0)))
    return m.call("copysign", result, x)


def _half_ln2(m: MathText) -> tuple[float, ...]:
    """Half of ln 2 in parts: one where products with an exponent are exact in any case.

    In float32 it then leaves out less than a tenth of a unit of tanh, which is flat where exponents
    are large.
    """
    if m.fused and m.dtype.bits == 32:
        return (math.log(2) / 2,)
    high, low = LN2[m.dtype.bits]
    return high / 2, low / 2


def reduced(m: MathText, x: str) -> tuple[str, Whole]:
    """The r and the integer n of x = r + n ln 2, with |r| at most half of ln 2."""
    n = m.round_to_integer(x, 1 / math.log(2))
    return _minus_multiple(m, x, n.number, LN2), n


def series(m: MathText, r: str) -> str:
    """`exp(r)` for |r| up to half of ln 2."""
    return m.add(_expm1_series(m, r), m.number(1.0))


def _minus_multiple(m: MathText, x: str, n: str, unit: dict[int, tuple[float, float]]) -> str:
    """`x - n * unit`, the unit given in two parts."""
    high, low = unit[m.dtype.bits]
    return m.muladd(n, m.number(-low), m.muladd(n, m.number(-high), x))


def _expm1_series(m: MathText, r: str) -> str:
    """`exp(r) - 1`: r + r**2 (1/2! + r/3! + ...)."""
    tail = m.polynomial(r, _TAIL[m.dtype.bits])
    return m.muladd(m.mul(r, r), tail, r)


def _half_expm1(m: MathText, x: str) -> str:
    """`(exp(x) - 1) / 2`, which stays finite a little longer than `exp(x)`.

    A quarter of the power of two is always a normal number.
    """
    r, power = reduced(m, x)
    quarter = m.power_of_two(m.less(power, 2).count)
    part = m.muladd(quarter, _expm1_series(m, r), m.sub(quarter, m.number(0.25)))
    return m.add(part, part)


def _size(m: MathText, x: str) -> str:
    """|x|, cut off where the hyperbolic functions are infinite for good."""
    return m.at_most(m.call("fabs", x), _HYPERBOLIC_LIMIT[m.dtype.bits])


def _itself_if_tiny(m: MathText, x: str, result: str) -> str:
    tiny = m.compare("olt", m.call("fabs", x), m.number(_TINY[m.dtype.bits]))
    return m.select(tiny, x, result)
