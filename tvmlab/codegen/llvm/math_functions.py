"""exp, log, tanh and their kin as polynomials, so that vectors stay vectors.

The same code serves any number of lanes: a result does not depend on how a loop was vectorised.
Polynomials are Taylor series over a reduced range, long enough for the type. Largest errors seen in
units in the last place, among a million values against exact ones (tests bound them):

    exp 1.1   exp2 1.1   log 0.9   log2 1.9   log10 2.9   tanh 2.6   erf (float32 only) 2.8
"""

from __future__ import annotations

import math
from collections.abc import Callable

from tvmlab.support import DType

from .math_text import ARGUMENT, MathText

_Rule = Callable[[MathText, str], str]

# Terms that a series needs for 24 and for 53 bits.
_EXP_DEGREE = {32: 7, 64: 13}
_LOG_TERMS = {32: 5, 64: 11}
# ln 2 and log10 2, the first part so short that its product with an exponent is exact.
_LN2 = {32: (0.693145751953125, 1.428606765330187e-06),
        64: (0.6931471803691238, 1.9082149292705877e-10)}  # fmt: skip
_LOG10_2 = {32: (0.30078125, 0.00024874566398119521),
            64: (0.30102999566361177, 3.694239077158931e-13)}  # fmt: skip
# Where exp leaves the type's range for good, with some room.
_EXP_RANGE = {32: (-105.0, 90.0), 64: (-750.0, 711.0)}
# From where on tanh is 1.
_TANH_LIMIT = {32: 9.1, 64: 19.1}

# erfc(x) = t exp(-x**2 + P(t)) with t = 1 / (1 + x / 2): P's coefficients, good for 7 digits
# (Chebyshev fit of Press et al., Numerical Recipes).
_ERFC_EXPONENT = (
    -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806,
    0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277,
)  # fmt: skip


def has_polynomial(op: str, dtype: DType) -> bool:
    """Whether a function of this type is computed here."""
    return op in _RULES and (op != "erf" or dtype.bits == 32)


def write_function(op: str, name: str, dtype: DType) -> tuple[str, dict[str, str]]:
    """The text of a function and the intrinsics that it needs declared."""
    text = MathText(dtype)
    result = _RULES[op](text, ARGUMENT)
    return text.render(name, result), text.intrinsics


def _exp(m: MathText, x: str) -> str:
    x = m.clamp(x, *_EXP_RANGE[m.dtype.bits])
    n, count = _round_to_integer(m, m.mul(x, m.number(1 / math.log(2))))
    high, low = _LN2[m.dtype.bits]
    r = m.muladd(n, m.number(-low), m.muladd(n, m.number(-high), x))
    return m.scale(_exp_series(m, r), count)


def _exp2(m: MathText, x: str) -> str:
    low, high = _EXP_RANGE[m.dtype.bits]
    x = m.clamp(x, low / math.log(2), high / math.log(2))
    n, count = _round_to_integer(m, x)
    r = m.mul(m.strict("fsub", x, n), m.number(math.log(2)))
    return m.scale(_exp_series(m, r), count)


def _exp_series(m: MathText, r: str) -> str:
    return m.add(_expm1_series(m, r), m.number(1.0))


def _expm1_series(m: MathText, r: str) -> str:
    """`exp(r) - 1` for |r| up to half of ln 2: r + r**2 (1/2! + r/3! + ...)."""
    degree = _EXP_DEGREE[m.dtype.bits]
    tail = m.polynomial(r, [1 / math.factorial(k) for k in range(2, degree + 1)])
    return m.muladd(m.mul(r, r), tail, r)


def _round_to_integer(m: MathText, x: str) -> tuple[str, str]:
    """The nearest integer, as a float and as an integer.

    Adding 1.5 * 2**mantissa leaves the integer in the low bits. Unlike a conversion, this is
    defined for NaN too.
    """
    magic = m.number(1.5 * 2.0**m.mantissa)
    shifted = m.strict("fadd", x, magic)
    count = m.int_op("sub", m.bits(shifted), m.bits(magic))
    return m.strict("fsub", shifted, magic), count


def _log_parts(m: MathText, x: str) -> tuple[str, str, str, str]:
    """For x = (1 + f) * 2**e with 1 + f about 1: e, f, f**2 / 2, and s * (f**2 / 2 + R).

    With s = f / (2 + f), log(1 + f) = f - f**2 / 2 + s * (f**2 / 2 + R), where
    R = 2/3 s**2 + 2/5 s**4 + ...; f - f**2 / 2 is what must not be rounded early.
    """
    tiny = m.compare("olt", x, m.number(2.0 ** (1 - m.bias)))
    lifted = m.mul(x, m.number(2.0**m.mantissa))
    x = m.select(tiny, lifted, x)
    # Take the bits as if the number were divided by sqrt(1/2): the exponent then rounds as wanted.
    root = m.bits(m.number(math.sqrt(0.5)))
    offset = m.int_op("sub", m.bits(x), root)
    exponent = m.int_op("ashr", offset, m.integer(m.mantissa))
    one_plus_f = m.from_bits(
        m.int_op("sub", m.bits(x), m.int_op("shl", exponent, m.integer(m.mantissa)))
    )
    e = m.to_float(exponent)
    e = m.select(tiny, m.sub(e, m.number(float(m.mantissa))), e)
    f = m.strict("fsub", one_plus_f, m.number(1.0))
    s = m.div(f, m.add(f, m.number(2.0)))
    s2 = m.mul(s, s)
    terms = [2 / (2 * k + 3) for k in range(_LOG_TERMS[m.dtype.bits])]
    rest = m.mul(s2, m.polynomial(s2, terms))
    half = m.mul(m.mul(f, f), m.number(0.5))
    return e, f, half, m.mul(s, m.add(half, rest))


def _log_ends(m: MathText, x: str, result: str) -> str:
    """The values at zero, infinity and below zero."""
    result = m.select(m.compare("oeq", x, m.number(0.0)), m.number(-math.inf), result)
    result = m.select(m.compare("ult", x, m.number(0.0)), m.number(math.nan), result)
    return m.select(m.compare("oeq", x, m.number(math.inf)), x, result)


def _log(m: MathText, x: str) -> str:
    e, f, half, rest = _log_parts(m, x)
    high, low = _LN2[m.dtype.bits]
    inner = m.sub(half, m.muladd(e, m.number(low), rest))
    return _log_ends(m, x, m.sub(m.mul(e, m.number(high)), m.sub(inner, f)))


def _log2(m: MathText, x: str) -> str:
    e, f, half, rest = _log_parts(m, x)
    small = m.sub(f, m.sub(half, rest))
    return _log_ends(m, x, m.muladd(small, m.number(1 / math.log(2)), e))


def _log10(m: MathText, x: str) -> str:
    e, f, half, rest = _log_parts(m, x)
    small = m.mul(m.sub(f, m.sub(half, rest)), m.number(1 / math.log(10)))
    high, low = _LOG10_2[m.dtype.bits]
    return _log_ends(m, x, m.muladd(e, m.number(high), m.muladd(e, m.number(low), small)))


def _tanh(m: MathText, x: str) -> str:
    """With t = exp(2 |x|) - 1: t / (t + 2), which keeps its digits near zero."""
    limit = _TANH_LIMIT[m.dtype.bits]
    size = m.clamp(m.call("fabs", x), 0.0, limit)
    double = m.add(size, size)
    n, count = _round_to_integer(m, m.mul(double, m.number(1 / math.log(2))))
    high, low = _LN2[m.dtype.bits]
    r = m.muladd(n, m.number(-low), m.muladd(n, m.number(-high), double))
    power = m.power_of_two(count)
    t = m.muladd(power, _expm1_series(m, r), m.sub(power, m.number(1.0)))
    return m.call("copysign", m.div(t, m.add(t, m.number(2.0))), x)


def _erf(m: MathText, x: str) -> str:
    """Its series for |x| < 1; beyond, 1 - erfc(|x|), where erfc may have fewer digits."""
    size = m.call("fabs", x)
    x2 = m.mul(x, x)
    terms = [(-1) ** k / (math.factorial(k) * (2 * k + 1)) for k in range(11)]
    near = m.mul(m.mul(x, m.number(2 / math.sqrt(math.pi))), m.polynomial(x2, terms))
    t = m.div(m.number(1.0), m.muladd(size, m.number(0.5), m.number(1.0)))
    inner = m.polynomial(t, list(_ERFC_EXPONENT))
    erfc = m.mul(t, _exp(m, m.sub(inner, x2)))
    far = m.call("copysign", m.sub(m.number(1.0), erfc), x)
    return m.select(m.compare("olt", size, m.number(1.0)), near, far)


_RULES: dict[str, _Rule] = {
    "exp": _exp,
    "exp2": _exp2,
    "log": _log,
    "log2": _log2,
    "log10": _log10,
    "tanh": _tanh,
    "erf": _erf,
}
