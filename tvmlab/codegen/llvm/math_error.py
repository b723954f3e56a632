"""The error function."""

from __future__ import annotations

from .math_exp import exp
from .math_table import lookup
from .math_text import MathText

# In float32 erf(x) = x + x E(x**2) for |x| up to 1.1, and 1 - 2**L(|x|) up to where it is 1; then
# 2**r for |r| up to one half. What rounds is small beside what it is added to.
_ERF_NEAR_32 = (0.12837916612625122, -0.37612611055374146, 0.11283364146947861,
                -0.026843518018722534, 0.005167731549590826, -0.0007824748754501343,
                7.236114470288157e-05)  # fmt: skip
_ERF_FAR_32 = (-0.000256073218141748, -1.6269986899754019, -0.9190829664242022,
               -0.150094164438577, 0.03213903370593675, -0.004408307381361723,
               0.00028447282595701217)  # fmt: skip
_ERF_POWER = (1.0000000716552315, 0.6931469670876368, 0.24022119724479185, 0.05550713247621255,
              0.009675541285841095, 0.0013276479072119422)  # fmt: skip
# In float64 erf(x) = x E(x**2) for |x| up to 1, and 1 - exp(L(|x|)) up to where it is 1.
_ERF_NEAR = (
    1.1283791670955126, -0.37612638903183548, 0.11283791670945252, -0.026866170643275959,
    0.0052239776074215248, -0.000854832598961357, 0.00012055295318299154,
    -1.492474462642832e-05, 1.6447517281753326e-06, -1.6209173286936997e-07,
    1.3722966494382697e-08, -7.8011732670576106e-10
)  # fmt: skip
_ERF_FAR = (
    -1.843693508029848e-07, -1.1283772825494538, -0.63662870305533181, -0.10274664443918376,
    0.019076958817927026, 0.00028222372123188803, -0.0017709199587363207,
    0.0006428288801164332, -4.595254158271083e-05, -6.9752369796455697e-05,
    4.4770783046434124e-05, -1.6421786124421636e-05, 4.301862241384951e-06,
    -8.4520973730541375e-07, 1.2483340136324435e-07, -1.3522503407471144e-08,
    1.0170669676384314e-09, -4.751789582499771e-11, 1.0390643206909939e-12
)  # fmt: skip
_ERF_ONE = {32: 4.0, 64: 6.1}
# In float32, where a register can be a table: erf(n W + t) = t + P(t) for n from 0 to 15 and |t| up
# to W / 2 (in the last piece up to where erf is 1), each coefficient of P fitted to what rounding
# has left of those before. The first row has the constant terms. Among many W this one has the
# smallest errors.
_ERF_PIECE = 0.25728333
_ERF_LAST = 3.9199
_ERF_PIECES = (
    (0.0, 0.28403264, 0.5332071, 0.7249738, 0.8544454, 0.93112946, 0.97097313, 0.9891339,
     0.9963953, 0.9989422, 0.9997258, 0.9999373, 0.99998736, 0.99999774, 0.99999964, 0.99999994),
    (0.12837917, 0.05610501, -0.13410927, -0.37809637, -0.6087205, -0.7843472, -0.8958817,
     -0.9559645, -0.98368514, -0.99470496, -0.99849457, -0.9996251, -0.9999182, -0.9999844,
     -0.9999974, -0.99999964),
    (2.863004e-07, -0.27171254, -0.44555056, -0.48002374, -0.40267894, -0.27743447, -0.16072983,
     -0.079315, -0.03358327, -0.01226287, -0.0038777571, -0.0010617768, -0.0002542632,
     -4.3103613e-05, -6.3675366e-06, 1.2943702e-05),
    (-0.37614194, -0.30545276, -0.1357959, 0.039686702, 0.14584127, 0.16602774, 0.13070908,
     0.08054798, 0.04063836, 0.017158208, 0.006137433, 0.0018793629, 0.0004961344, 0.00011433678,
     2.0804984e-05, 6.255184e-05),
    (0.0002895359, 0.1288767, 0.1822158, 0.14472178, 0.059310876, -0.013061611, -0.046886597,
     -0.045517877, -0.030468455, -0.015715942, -0.00637996, -0.002283183, -0.00058281224,
     -0.00071463257, -0.000217702, -0.0025273815),
    (0.11095494, 0.0791462, 0.003688257, -0.055522453, -0.067630805, -0.04210548, -0.010309879,
     0.008701082, 0.013036137, 0.009617914, 0.005135391, 0.0019637838, 0.00054975104,
     7.629836e-05, 8.456713e-05, -0.016862433),
)  # fmt: skip


def erf(m: MathText, x: str) -> str:
    """Pieces of a table, or a polynomial near zero and 1 minus the exponential of one beyond."""
    size = m.call("fabs", x)
    if m.dtype.bits == 32 and m.tables:
        return m.call("copysign", _erf_in_pieces(m, size), x)
    limit, near, far = (_erf_single if m.dtype.bits == 32 else _erf_double)(m, x, size)
    far = m.call("copysign", m.sub(m.number(1.0), far), x)
    return m.select(m.compare("olt", size, m.number(limit)), near, far)


def _erf_single(m: MathText, x: str, size: str) -> tuple[float, str, str]:
    """How far the polynomial reaches, its value, and 1 - erf(|x|) beyond."""
    near = m.muladd(x, m.polynomial(m.mul(x, x), _ERF_NEAR_32), x)
    last = m.number(_ERF_ONE[32])
    size = m.select(m.compare("ogt", size, last), last, size)
    exponent = m.polynomial(size, _ERF_FAR_32)
    n = m.round_to_integer(exponent)
    power = m.polynomial(m.strict("fsub", exponent, n.number), _ERF_POWER)
    return 1.1, near, m.scale(power, n) if m.scalef else m.mul(power, m.power_of_two(n.count))


def _erf_double(m: MathText, x: str, size: str) -> tuple[float, str, str]:
    near = m.mul(x, m.polynomial(m.mul(x, x), _ERF_NEAR))
    return 1.0, near, exp(m, m.polynomial(m.clamp(size, 0.0, _ERF_ONE[64]), _ERF_FAR))


def _erf_in_pieces(m: MathText, size: str) -> str:
    """A polynomial whose coefficients are looked up (Tang, "Table-lookup algorithms", 1991)."""
    size = m.at_most(size, _ERF_LAST)
    n, bits = m.nearest(size, 1.0 / _ERF_PIECE)
    t = m.fma(n.number, m.number(-_ERF_PIECE), size)
    *rows, last = (lookup(m, bits, row) for row in _ERF_PIECES)
    for row in reversed(rows):
        last = m.muladd(last, t, row)
    return m.add(t, last)
