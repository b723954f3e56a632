"""Element types and literals in LLVM's spelling.

A bool is `i1` in a register and `i8` in memory; every other type is the same in both. The 16-bit
floats are `i16`, their bits: LLVM's own types for them need library calls on many machines, even to
be moved about.

>>> llvm_type(DType.of("float32x16"))
'<16 x float>'
"""

from __future__ import annotations

import math
import struct
from functools import lru_cache

from tvmlab.ir import Scalar
from tvmlab.support import DType, UnsupportedOp

_FLOATS = {16: "i16", 32: "float", 64: "double"}


@lru_cache(maxsize=512)
def llvm_type(dtype: DType) -> str:
    """The type of a value in a register."""
    return _vector(_lane(dtype), dtype.lanes)


@lru_cache(maxsize=512)
def memory_type(dtype: DType) -> str:
    """The type of a value in memory."""
    return _vector("i8" if dtype.is_bool else _lane(dtype), dtype.lanes)


@lru_cache(maxsize=512)
def suffix(dtype: DType) -> str:
    """How an intrinsic's name mentions the type: `v16f32`, `i64`."""
    lane = f"{'f' if dtype.is_float and dtype.bits > 16 else 'i'}{dtype.bits}"
    return lane if dtype.lanes == 1 else f"v{dtype.lanes}{lane}"


def literal(value: Scalar, dtype: DType) -> str:
    """A literal of a type; in a vector type every lane has the value."""
    text = _scalar_literal(value, dtype)
    return text if dtype.lanes == 1 else f"splat ({_lane(dtype)} {text})"


def vector_literal(values: list[int], lane_type: str) -> str:
    """A vector of integer literals."""
    return "<" + ", ".join(f"{lane_type} {value}" for value in values) + ">"


def _lane(dtype: DType) -> str:
    return _FLOATS[dtype.bits] if dtype.is_float else f"i{dtype.bits}"


def _vector(lane: str, lanes: int) -> str:
    return lane if lanes == 1 else f"<{lanes} x {lane}>"


def _scalar_literal(value: Scalar, dtype: DType) -> str:
    if dtype.is_bool:
        return "true" if value else "false"
    if not dtype.is_float:
        return str(int(value))
    if dtype.bits == 16:
        bits = int(dtype.numpy.type(value).view("uint16"))
        return str(bits)
    number = float(dtype.numpy.type(value))
    if math.isfinite(number) and _is_exact(text := f"{number:e}", number):
        return text  # LLVM takes a decimal only if it is exactly the number
    return f"0x{struct.unpack('>Q', struct.pack('>d', number))[0]:016X}"


def _is_exact(text: str, number: float) -> bool:
    """Whether a decimal such as `1.500000e+00` is a number exactly, not only when rounded."""
    digits, exponent = text.split("e")
    tens = int(exponent) - len(digits.partition(".")[2])
    numerator, denominator = number.as_integer_ratio()
    whole = int(digits.replace(".", ""))
    return whole * 10 ** max(tens, 0) * denominator == numerator * 10 ** max(-tens, 0)


def c_parameter(name: str, dtype: DType) -> str:
    """How C takes a value: small integers are widened to a register by the caller."""
    if dtype.lanes > 1 or (dtype.is_float and dtype.bits < 32):
        raise UnsupportedOp(
            f"{name} is a C function, which takes no {dtype} by value",
            hint="convert the value to float32, or hand over a buffer that holds it",
        )
    kind = llvm_type(dtype)
    if dtype.is_float or dtype.bits >= 32:
        return kind
    return f"{kind} {'signext' if dtype.kind == 'int' else 'zeroext'}"


def c_result(name: str, dtype: DType) -> str:
    """How C gives a value back."""
    kind, _, extended = c_parameter(name, dtype).partition(" ")
    return f"{extended} {kind}".strip()
