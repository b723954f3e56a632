"""The mathematical functions that are computed here, so that vectors stay vectors.

The same code serves any number of lanes: a result does not depend on how a loop was vectorized.
float16 and bfloat16 are computed in float32. Largest errors seen, in units in the last place, among
millions of values of all magnitudes (float32 against float64 and better, float64 against 80-bit
and 120-bit numbers; `ERROR_BOUNDS` rounds them up, and tests hold the code to it), with AVX-512
(without, exp has 1.1, log 0.9 and erf 1.2 in float32):

    function        float32  float64        function        float32  float64
    exp                1.0      1.0         asin               1.6      1.6
    exp2               1.1      1.1         acos               1.0      1.0
    exp10              1.3      1.4         atan               2.1      2.1
    expm1              1.7      1.8         atan2              2.1      2.2
    log                0.8      0.9         sinh               2.1      2.4
    log2               1.7      1.6         cosh               1.5      1.5
    log10              2.0      2.9         tanh               2.4      2.6
    log1p              0.9      0.9         asinh              1.7      1.7
    sin, cos           0.8      0.8         acosh              2.1      1.9
    tan                0.5      2.1         atanh              1.9      1.8
    pow                0.5      1.2         erf                1.4      1.3
    hypot              0.5      1.1         ldexp, fmod        exact    exact

Speed on one core of a Zen 5, from the first cache, in million elements per second: exp 14200 (NumPy
3000), log 10000 (4100), sin 3400 (2600), tan 1600 (4200), tanh 8400 (5900), erf 8900 (SciPy 110),
pow 690 (2500) in float32; exp 3200 (1800), log 1700 (1900), sin 1200 (130), tan 1060 (1170), tanh
2500 (1300), erf 715 (110), pow 390 (820) in float64. fmod goes through the C library, one element
after the other (620 in both).
"""

from __future__ import annotations

from collections.abc import Callable

from tvmlab.support import DType

from .math_error import erf
from .math_exp import cosh, exp, exp2, exp10, expm1, sinh, tanh
from .math_log import acosh, asinh, atanh, log, log1p, log2, log10
from .math_power import hypot, ldexp, power
from .math_text import ARGUMENTS, MathText
from .math_trig import acos, asin, atan, atan2, cos, sin, tan

_RULES: dict[str, Callable[..., str]] = {
    "exp": exp,
    "exp2": exp2,
    "exp10": exp10,
    "expm1": expm1,
    "log": log,
    "log2": log2,
    "log10": log10,
    "log1p": log1p,
    "sin": sin,
    "cos": cos,
    "tan": tan,
    "asin": asin,
    "acos": acos,
    "atan": atan,
    "atan2": atan2,
    "sinh": sinh,
    "cosh": cosh,
    "tanh": tanh,
    "asinh": asinh,
    "acosh": acosh,
    "atanh": atanh,
    "erf": erf,
    "pow": power,
    "hypot": hypot,
    "ldexp": ldexp,
}


ERROR_BOUNDS: dict[str, tuple[float, float]] = {
    "exp": (1.2, 1.2), "exp2": (1.2, 1.2), "exp10": (1.5, 1.5), "expm1": (2.0, 2.0),
    "log": (1.0, 1.0), "log2": (2.0, 2.0), "log10": (2.5, 3.0), "log1p": (1.0, 1.0),
    "sin": (1.0, 1.0), "cos": (1.0, 1.0), "tan": (0.6, 2.5),
    "asin": (2.0, 2.0), "acos": (1.2, 1.2), "atan": (2.5, 2.5), "atan2": (2.5, 2.5),
    "sinh": (2.5, 2.5), "cosh": (2.0, 2.0), "tanh": (3.0, 3.0),
    "asinh": (2.0, 2.0), "acosh": (2.5, 2.5), "atanh": (2.5, 2.5),
    "erf": (1.5, 1.5), "pow": (0.51, 1.5), "hypot": (0.51, 1.5),
    "ldexp": (0.0, 0.0), "fmod": (0.0, 0.0),
}  # fmt: skip
"""Largest errors in units in the last place, in float32 and float64."""


def has_polynomial(op: str) -> bool:
    """Whether a function is computed here."""
    return op in _RULES


def write_function(
    op: str, name: str, dtype: DType, arity: int, *, scaling: bool = False, fused: bool = False
) -> tuple[str, dict[str, str]]:
    """The text of a function and what it needs declared; `scaling`, `fused` as for `MathText`."""
    text = MathText(dtype, scaling=scaling, fused=fused)
    result = _RULES[op](text, *ARGUMENTS[:arity])
    return text.render(name, result, arity), text.declared
