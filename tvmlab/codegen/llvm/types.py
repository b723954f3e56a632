"""Element types and literals in LLVM's spelling.

A bool is `i1` in a register and `i8` in memory; every other type is the same in both.

>>> llvm_type(DType.of("float32x16"))
'<16 x float>'
"""

from __future__ import annotations

import struct
from functools import lru_cache

from tvmlab.ir import Scalar
from tvmlab.support import DType

_FLOATS = {("float", 16): "half", ("float", 32): "float", ("float", 64): "double"}


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
    lane = "bf16" if dtype.kind == "bfloat" else f"{'f' if dtype.is_float else 'i'}{dtype.bits}"
    return lane if dtype.lanes == 1 else f"v{dtype.lanes}{lane}"


def literal(value: Scalar, dtype: DType) -> str:
    """A literal of a type; in a vector type every lane has the value."""
    text = _scalar_literal(value, dtype)
    return text if dtype.lanes == 1 else f"splat ({_lane(dtype)} {text})"


def vector_literal(values: list[int], lane_type: str) -> str:
    """A vector of integer literals."""
    return "<" + ", ".join(f"{lane_type} {value}" for value in values) + ">"


def _lane(dtype: DType) -> str:
    if dtype.kind == "bfloat":
        return "bfloat"
    return _FLOATS[dtype.kind, dtype.bits] if dtype.is_float else f"i{dtype.bits}"


def _vector(lane: str, lanes: int) -> str:
    return lane if lanes == 1 else f"<{lanes} x {lane}>"


def _scalar_literal(value: Scalar, dtype: DType) -> str:
    if dtype.is_bool:
        return "true" if value else "false"
    if not dtype.is_float:
        return str(int(value))
    if dtype.bits == 16:
        bits = int(dtype.numpy.type(value).view("uint16"))
        return f"0x{'R' if dtype.kind == 'bfloat' else 'H'}{bits:04X}"
    number = float(dtype.numpy.type(value)) if abs(float(value)) < float("inf") else float(value)
    return f"0x{struct.unpack('>Q', struct.pack('>d', number))[0]:016X}"
