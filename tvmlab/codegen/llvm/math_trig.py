"""Trigonometric functions and their inverses.

Angles are reduced by multiples of pi / 2 given in several parts, which is exact enough up to about
a million. A vector with a larger one is handed to the C library lane by lane: rare, slow, right.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .math_text import MathText

# pi / 2 in parts so short that products with the multiples in question are exact.
_TWO_PARTS = (1.570796325802803, 9.920935796805404e-10)
_THREE_PARTS = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)
# The same for products that are not rounded: each part has all digits of a number of the type.
_FUSED_PARTS = (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15)
_LARGEST = {32: 2.0**22, 64: 2.0**20}
# pi / 2 as a number of the type and what that lacks.
_HALF_PI = {32: (1.5707963705062866, -4.3711390001862426e-08),
            64: (1.5707963267948966, 6.123233995736766e-17)}  # fmt: skip

# Minimax polynomials in z = x**2, relative to the first term left out.
# sin(x) = x + x z S(z), cos(x) = 1 - z / 2 + z**2 C(z) for |x| up to pi / 4.
_SIN = {
    32: (-0.166666667, 0.00833333187, -0.000198400828, 2.72494035e-06),
    64: (-0.16666666666666666, 0.0083333333333333315, -0.00019841269841265019,
         2.7557319219303541e-06, -2.5052106220025559e-08, 1.6058529644491063e-10,
         -7.5865804743080782e-13),
}  # fmt: skip
_COS = {
    32: (0.0416666554, -0.00138877542, 2.44794918e-05),
    64: (0.041666666666666664, -0.0013888888888887235, 2.4801587299762135e-05,
         -2.755731831503407e-07, 2.0876530228083321e-09, -1.1443013434621539e-11,
         3.4449750046082744e-14),
}  # fmt: skip
# asin(x) = x + x z A(z) for |x| up to 1/2; atan(x) = x + x z T(z) for |x| up to tan(pi / 8).
_ASIN = {
    32: (0.166666663, 0.075001034, 0.0445965362, 0.031133046, 0.0170000407, 0.0339312286),
    64: (0.16666666666666666, 0.075000000000001329, 0.04464285714251686, 0.030381944478635407,
         0.022372157300789702, 0.017352820444543435, 0.013963711494097263, 0.011567264917762584,
         0.0096153683734723251, 0.0093552783165017587, 0.0029119233483606336,
         0.019873654768656983, -0.019687631364481886, 0.029887613135585789),
}  # fmt: skip
_ATAN = {
    32: (-0.333333333, 0.199999781, -0.142841863, 0.110719043, -0.0862804382, 0.050554748),
    64: (-0.33333333333333331, 0.19999999999999993, -0.14285714285711593, 0.11111111110762348,
         -0.090909090674069215, 0.076923067481372676, -0.066666422538313341,
         0.058819281948828024, -0.052580660213657641, 0.047195279285534561,
         -0.041048875652386463, 0.030644346791299695, -0.013925292872395337),
}  # fmt: skip

_Finish = Callable[[MathText, str, str, str], str]


def sin(m: MathText, x: str) -> str:
    """Sine."""

    def finish(m: MathText, quadrant: str, s: str, c: str) -> str:
        return _quarter(m, quadrant, s, c)

    return _of_angle(m, "sin", x, finish)


def cos(m: MathText, x: str) -> str:
    """Cosine: the sine a quarter of a turn further."""

    def finish(m: MathText, quadrant: str, s: str, c: str) -> str:
        return _quarter(m, m.int_op("add", quadrant, m.integer(1)), s, c)

    return _of_angle(m, "cos", x, finish)


def tan(m: MathText, x: str) -> str:
    """Tangent, as a quotient."""

    def finish(m: MathText, quadrant: str, s: str, c: str) -> str:
        odd = _bit(m, quadrant, 1)
        return m.div(m.select(odd, m.neg(c), s), m.select(odd, s, c))

    return _of_angle(m, "tan", x, finish)


def asin(m: MathText, x: str) -> str:
    """Beyond 1/2: pi / 2 - 2 asin(sqrt((1 - |x|) / 2))."""
    small, s, rest = _asin_parts(m, m.call("fabs", x))
    high, low = _HALF_PI[m.dtype.bits]
    first = m.strict("fsub", m.number(high), m.add(s, s))
    far = m.sub(first, m.sub(m.add(rest, rest), m.number(low)))
    return m.call("copysign", m.select(small, m.add(s, rest), far), x)


def acos(m: MathText, x: str) -> str:
    """Beyond 1/2: 2 asin(sqrt((1 - |x|) / 2)), mirrored for negative x."""
    size = m.call("fabs", x)
    small, s, rest = _asin_parts(m, size)
    negative = m.compare("olt", x, m.number(0.0))
    high, low = _HALF_PI[m.dtype.bits]
    signed = m.call("copysign", m.add(s, rest), x)
    near = m.sub(m.number(high), m.sub(signed, m.number(low)))
    double = m.add(m.add(s, s), m.add(rest, rest))
    mirrored = m.sub(m.number(2 * high), m.sub(double, m.number(2 * low)))
    return m.select(small, near, m.select(negative, mirrored, double))


def atan(m: MathText, x: str) -> str:
    """The angle of the point (1, x)."""
    result = _angle(m, m.call("fabs", x), m.number(1.0), None)
    return m.call("copysign", result, x)


def atan2(m: MathText, y: str, x: str) -> str:
    """The angle of the point (x, y), from -pi to pi."""
    a, b = m.call("fabs", y), m.call("fabs", x)
    infinity, one = m.number(math.inf), m.number(1.0)
    both = m.logic("and", m.compare("oeq", a, infinity), m.compare("oeq", b, infinity))
    a, b = m.select(both, one, a), m.select(both, one, b)
    # Neither the sum of two large numbers nor a fraction of a subnormal one may go astray.
    top = m.select(m.compare("ogt", a, b), a, b)
    large = m.compare("ogt", top, m.number(2.0 ** (m.bias - 3)))
    small = m.compare("olt", top, m.number(2.0 ** (m.mantissa + 4 - m.bias)))
    up, down = m.number(2.0 ** (m.mantissa + 2)), m.number(0.25)
    factor = m.select(large, down, m.select(small, up, one))
    a, b = m.strict("fmul", a, factor), m.strict("fmul", b, factor)
    left = m.compare_int("slt", m.bits(x), m.integer(0))
    return m.call("copysign", _angle(m, a, b, left), y)


def _of_angle(m: MathText, name: str, x: str, finish: _Finish) -> str:
    if m.dtype.bits == 64:
        usual = _double(m, x, finish)
    elif m.fused and name != "tan":
        usual = _single_fused(m, x, finish)
    else:
        usual = _single(m, x, finish, wide=name == "tan")
    if name != "cos":
        usual = m.select(m.compare("oeq", x, m.number(0.0)), x, usual)  # a zero keeps its sign
    huge = m.compare("oge", m.call("fabs", x), m.number(_LARGEST[m.dtype.bits]))
    return m.library_where(huge, name, x, usual)


def _single(m: MathText, x: str, finish: _Finish, *, wide: bool) -> str:
    """Reduce in float64; the quotient of tan is taken there too."""
    w = m.double()
    angle = w.widen(x, m)
    n = w.round_to_integer(angle, 2 / math.pi)
    high, low = _TWO_PARTS
    r = w.muladd(n.number, w.number(-low), w.muladd(n.number, w.number(-high), angle))
    if wide:
        s, c = _sin_cos(w, r, None)
        result = m.narrow(finish(w, n.count, s, c), w)
    else:
        short = m.narrow(r, w)
        low = m.narrow(w.strict("fsub", r, w.widen(short, m)), w)
        s, c = _sin_cos(m, short, low)
        result = finish(m, m.narrow_int(n.count, w), s, c)
    return result


def _single_fused(m: MathText, x: str, finish: _Finish) -> str:
    """Reduce by three parts without leaving float32; the first leaves no error at all."""
    turns = m.round_to_integer(x, 2 / math.pi)
    n = turns.number
    first, second, third = (m.number(-part) for part in _FUSED_PARTS)
    rest = m.fma(n, first, x)
    step, step_lost = m.two_product(n, second)
    r, lost = _sum(m, rest, step)
    low = m.muladd(n, third, m.strict("fadd", lost, step_lost))
    s, c = _sin_cos(m, r, low)
    return finish(m, turns.count, s, c)


def _sum(m: MathText, a: str, b: str) -> tuple[str, str]:
    """The sum and what rounding lost of it, for operands in any order."""
    total = m.strict("fadd", a, b)
    back = m.strict("fsub", total, a)
    there = m.strict("fsub", total, back)
    lost = m.strict("fadd", m.strict("fsub", a, there), m.strict("fsub", b, back))
    return total, lost


def _double(m: MathText, x: str, finish: _Finish) -> str:
    """Reduce by three parts, keeping what rounding loses."""
    turns = m.round_to_integer(x, 2 / math.pi)
    n = turns.number
    first, second, third = (m.number(part) for part in _THREE_PARTS)
    rest = m.strict("fsub", x, m.strict("fmul", n, first))
    r, lost = _sum(m, rest, m.neg(m.strict("fmul", n, second)))
    correction = m.strict("fsub", m.strict("fmul", n, third), lost)
    y = m.strict("fsub", r, correction)
    low = m.strict("fsub", m.strict("fsub", r, y), correction)
    s, c = _sin_cos(m, y, low)
    return finish(m, turns.count, s, c)


def _sin_cos(m: MathText, x: str, low: str | None) -> tuple[str, str]:
    """Sine and cosine of x + low, for |x| up to pi / 4."""
    bits = m.dtype.bits
    z = m.mul(x, x)
    cube = m.mul(z, x)
    first, *others = _SIN[bits]
    inner = m.polynomial(z, others)
    half = m.mul(z, m.number(0.5))
    w = m.sub(m.number(1.0), half)
    c_rest = m.mul(m.mul(z, z), m.polynomial(z, _COS[bits]))
    c_lost = m.strict("fsub", m.strict("fsub", m.number(1.0), w), half)
    if low is None:
        s = m.add(x, m.mul(cube, m.muladd(z, inner, m.number(first))))
        return s, m.add(w, m.add(c_lost, c_rest))
    s_rest = m.sub(m.mul(z, m.sub(m.mul(low, m.number(0.5)), m.mul(cube, inner))), low)
    s = m.sub(x, m.sub(s_rest, m.mul(cube, m.number(first))))
    c = m.add(w, m.add(c_lost, m.sub(c_rest, m.mul(x, low))))
    return s, c


def _quarter(m: MathText, quadrant: str, s: str, c: str) -> str:
    """The sine of an angle in the given quadrant."""
    value = m.select(_bit(m, quadrant, 1), c, s)
    sign = m.int_op("shl", quadrant, m.integer(m.dtype.bits - 2))
    sign = m.int_op("and", sign, m.integer(-(1 << (m.dtype.bits - 1))))
    return m.from_bits(m.int_op("xor", m.bits(value), sign))


def _bit(m: MathText, number: str, bit: int) -> str:
    return m.compare_int("ne", m.int_op("and", number, m.integer(bit)), m.integer(0))


def _asin_parts(m: MathText, size: str) -> tuple[str, str, str]:
    """Whether |x| is at most 1/2, and the arc sine of |x| or sqrt((1 - |x|) / 2) as a sum of two.

    The first part is the argument itself, the second the rest of the series with what the root's
    rounding lost.
    """
    zero, one = m.number(0.0), m.number(1.0)
    small = m.compare("ole", size, m.number(0.5))
    other = m.mul(m.strict("fsub", one, size), m.number(0.5))
    root = m.call("sqrt", other)
    residue = m.fma(m.neg(root), root, other)
    divisor = m.select(m.compare("oeq", root, zero), one, m.add(root, root))
    lost = m.select(small, zero, m.div(residue, divisor))
    z = m.select(small, m.mul(size, size), other)
    s = m.select(small, size, root)
    return small, s, m.muladd(m.mul(s, z), m.polynomial(z, _ASIN[m.dtype.bits]), lost)


def _angle(m: MathText, y: str, x: str, left: str | None) -> str:
    """The angle of a point with coordinates that are not negative, mirrored where `left` says so.

    The smaller over the larger coordinate is reduced to at most tan(pi / 8) by turning by pi / 4.
    """
    steep = m.compare("ogt", y, x)
    low, high = m.select(steep, x, y), m.select(steep, y, x)
    turned = m.compare("ogt", low, m.mul(high, m.number(math.tan(math.pi / 8))))
    above = m.select(turned, m.strict("fsub", low, high), low)
    below = m.select(turned, m.strict("fadd", low, high), high)
    below = m.select(m.compare("oeq", below, m.number(0.0)), m.number(1.0), below)
    t = m.div(above, below)
    z = m.mul(t, t)
    part = m.muladd(m.mul(t, z), m.polynomial(z, _ATAN[m.dtype.bits]), t)
    # The angle is `quarters` times pi / 4, plus or minus the part.
    quarters = m.select(turned, m.number(1.0), m.number(0.0))
    quarters = m.select(steep, m.strict("fsub", m.number(2.0), quarters), quarters)
    part = m.select(steep, m.neg(part), part)
    if left is not None:
        quarters = m.select(left, m.strict("fsub", m.number(4.0), quarters), quarters)
        part = m.select(left, m.neg(part), part)
    whole, rest = _HALF_PI[m.dtype.bits]
    base = m.mul(quarters, m.number(whole / 2))
    return m.add(base, m.muladd(quarters, m.number(rest / 2), part))
