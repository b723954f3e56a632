"""float16 and bfloat16: from bits to float32 and back, rounding to nearest with ties to even.

Both are carried as their bits (`i16`) and computed in float32. A bfloat16 is the upper half of a
float32; it is rounded in integer arithmetic, which is exact for subnormals as the processor's
instruction is not. For float16 the processor's instructions are used where it has them.
"""

from __future__ import annotations

from tvmlab.support import DType
from tvmlab.target import Target

from .context import Context
from .types import literal, llvm_type, suffix

_HALF_INSTRUCTIONS = {"x86_64": "f16c", "i686": "f16c"}
_ALWAYS_HALF = ("aarch64", "arm64")


def widen_small(ctx: Context, bits: str, dtype: DType) -> str:
    """A float32 from the bits of a 16-bit float."""
    work = _Work(ctx, dtype.lanes)
    if dtype.kind == "bfloat":
        upper = work.op("shl", work.resize("zext", bits, 16, 32), work.word(16))
        return work.to_float(upper)
    if _has_half(ctx.target):
        half = work.cast("bitcast", bits, work.type("i16"), work.type("half"))
        return work.cast("fpext", half, work.type("half"), work.single)
    return _widen_half(work, bits)


def narrow_small(ctx: Context, value: str, dtype: DType) -> str:
    """The bits of a 16-bit float from a float32."""
    work = _Work(ctx, dtype.lanes)
    if dtype.kind == "bfloat":
        return _narrow_bfloat(work, value)
    if _has_half(ctx.target):
        half = work.cast("fptrunc", value, work.single, work.type("half"))
        return work.cast("bitcast", half, work.type("half"), work.type("i16"))
    return _narrow_half(work, value)


def round_to_odd(ctx: Context, value: str, lanes: int) -> str:
    """A float32 from a float64, such that rounding it once more gives the right result.

    It is rounded toward zero, and its last bit is set if it is inexact.
    """
    work, double = _Work(ctx, lanes), DType("float", 64, lanes)
    wide, absolute = llvm_type(double), f"fabs.{suffix(double)}"
    near = work.cast("fptrunc", value, wide, work.single)
    back = work.cast("fpext", near, work.single, wide)
    size = ctx.intrinsic(absolute, wide, (wide, value))
    back_size = ctx.intrinsic(absolute, wide, (wide, back))
    bits = work.to_bits(near)
    over = ctx.fn.value(f"fcmp ogt {wide} {back_size}, {size}", "c")
    down = work.select(over, work.op("sub", bits, work.word(1)), bits)
    inexact = ctx.fn.value(f"fcmp one {wide} {value}, {back}", "c")
    return work.to_float(work.select(inexact, work.op("or", down, work.word(1)), bits))


def _has_half(target: Target) -> bool:
    """Whether conversions of float16 are instructions; elsewhere LLVM would call a library."""
    if target.arch in _ALWAYS_HALF:
        return True
    return target.has(_HALF_INSTRUCTIONS.get(target.arch, "no such feature"))


def _narrow_bfloat(work: _Work, value: str) -> str:
    bits = work.to_bits(value)
    upper = work.op("lshr", bits, work.word(16))
    odd = work.op("and", upper, work.word(1))
    rounded = work.op("add", bits, work.op("add", odd, work.word(0x7FFF)))
    rounded = work.op("lshr", rounded, work.word(16))
    quiet = work.op("or", upper, work.word(0x40))
    is_nan = work.float_compare("uno", value, value)
    return work.resize("trunc", work.select(is_nan, quiet, rounded), 32, 16)


def _widen_half(work: _Work, bits: str) -> str:
    """Put exponent and fraction in place and mend the exponent; three cases of it."""
    wide = work.resize("zext", bits, 16, 32)
    shifted = work.op("shl", work.op("and", wide, work.word(0x7FFF)), work.word(13))
    exponent = work.op("and", shifted, work.word(0x7C00 << 13))
    normal = work.op("add", shifted, work.word((127 - 15) << 23))
    special = work.op("add", normal, work.word((128 - 16) << 23))
    # A subnormal half: let the subtraction of floats do the normalizing.
    lifted = work.to_float(work.op("add", normal, work.word(1 << 23)))
    lowest = literal(2.0**-14, work.single_dtype)
    subnormal = work.to_bits(work.float_op("fsub", lifted, lowest))
    result = work.select(work.compare("eq", exponent, work.word(0x7C00 << 13)), special, normal)
    result = work.select(work.compare("eq", exponent, work.word(0)), subnormal, result)
    sign = work.op("shl", work.op("and", wide, work.word(0x8000)), work.word(16))
    return work.to_float(work.op("or", result, sign))


def _narrow_half(work: _Work, value: str) -> str:
    bits = work.to_bits(value)
    sign = work.op("and", bits, work.word(0x80000000))
    size = work.op("xor", bits, sign)
    # Subnormal results: an addition of floats aligns and rounds.
    aligner = 0.5
    aligned = work.float_op("fadd", work.to_float(size), literal(aligner, work.single_dtype))
    subnormal = work.op("sub", work.to_bits(aligned), work.word(126 << 23))
    odd = work.op("and", work.op("lshr", size, work.word(13)), work.word(1))
    moved = work.op("add", size, work.word(((15 - 127) << 23) + 0xFFF))
    normal = work.op("lshr", work.op("add", moved, odd), work.word(13))
    result = work.select(work.compare("ult", size, work.word(113 << 23)), subnormal, normal)
    infinite = work.compare("uge", size, work.word((127 + 16) << 23))
    result = work.select(infinite, work.word(0x7C00), result)
    is_nan = work.compare("ugt", size, work.word(255 << 23))
    result = work.select(is_nan, work.word(0x7E00), result)
    result = work.op("or", result, work.op("lshr", sign, work.word(16)))
    return work.resize("trunc", result, 32, 16)


class _Work:
    """Short names for instructions on 32-bit words and float32, of one number of lanes."""

    def __init__(self, ctx: Context, lanes: int) -> None:
        self._fn = ctx.fn
        self._lanes = lanes
        self.single_dtype = DType("float", 32, lanes)
        self._word_dtype = DType("int", 32, lanes)
        self.single = llvm_type(self.single_dtype)
        self._word = llvm_type(self._word_dtype)
        self._mask = self.type("i1")

    def type(self, lane: str) -> str:
        return lane if self._lanes == 1 else f"<{self._lanes} x {lane}>"

    def word(self, value: int) -> str:
        """A literal; 32 bits of any sign."""
        value &= 0xFFFFFFFF
        return literal(value - (value >> 31 << 32), self._word_dtype)

    def op(self, name: str, a: str, b: str) -> str:
        return self._fn.value(f"{name} {self._word} {a}, {b}")

    def float_op(self, name: str, a: str, b: str) -> str:
        return self._fn.value(f"{name} {self.single} {a}, {b}")

    def compare(self, sign: str, a: str, b: str) -> str:
        return self._fn.value(f"icmp {sign} {self._word} {a}, {b}", "c")

    def float_compare(self, sign: str, a: str, b: str) -> str:
        return self._fn.value(f"fcmp {sign} {self.single} {a}, {b}", "c")

    def select(self, cond: str, a: str, b: str) -> str:
        return self._fn.value(f"select {self._mask} {cond}, {self._word} {a}, {self._word} {b}")

    def cast(self, op: str, value: str, source: str, dest: str) -> str:
        return self._fn.value(f"{op} {source} {value} to {dest}")

    def resize(self, op: str, value: str, source: int, dest: int) -> str:
        return self.cast(op, value, self.type(f"i{source}"), self.type(f"i{dest}"))

    def to_bits(self, value: str) -> str:
        return self.cast("bitcast", value, self.single, self._word)

    def to_float(self, value: str) -> str:
        return self.cast("bitcast", value, self._word, self.single)
