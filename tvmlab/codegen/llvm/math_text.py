"""A small language for writing mathematical functions as LLVM IR, for any number of lanes."""

from __future__ import annotations

from tvmlab.support import DType

from .types import literal, llvm_type, suffix

ARGUMENT = "%x"


class MathText:
    """One function of one argument under construction; methods append and return operands.

    Products and sums carry `contract`, so that machines with FMA use it and others do not pay.
    """

    def __init__(self, dtype: DType) -> None:
        self.dtype = dtype
        self.int_type = DType("int", dtype.bits, dtype.lanes)
        self.kind, self.int_kind = llvm_type(dtype), llvm_type(self.int_type)
        self.mask = "i1" if dtype.lanes == 1 else f"<{dtype.lanes} x i1>"
        self.mantissa = 23 if dtype.bits == 32 else 52
        self.bias = 127 if dtype.bits == 32 else 1023
        self.intrinsics: dict[str, str] = {}
        self._lines: list[str] = []

    def _value(self, instruction: str) -> str:
        name = f"%t{len(self._lines)}"
        self._lines.append(f"  {name} = {instruction}")
        return name

    def number(self, value: float) -> str:
        return literal(value, self.dtype)

    def integer(self, value: int) -> str:
        return literal(value, self.int_type)

    def _float_op(self, op: str, a: str, b: str) -> str:
        return self._value(f"{op} contract {self.kind} {a}, {b}")

    def add(self, a: str, b: str) -> str:
        return self._float_op("fadd", a, b)

    def sub(self, a: str, b: str) -> str:
        return self._float_op("fsub", a, b)

    def mul(self, a: str, b: str) -> str:
        return self._float_op("fmul", a, b)

    def div(self, a: str, b: str) -> str:
        return self._value(f"fdiv {self.kind} {a}, {b}")

    def muladd(self, a: str, b: str, c: str) -> str:
        """`a * b + c`."""
        return self.add(self.mul(a, b), c)

    def strict(self, op: str, a: str, b: str) -> str:
        """An operation that must be rounded by itself."""
        return self._value(f"{op} {self.kind} {a}, {b}")

    def int_op(self, op: str, a: str, b: str) -> str:
        return self._value(f"{op} {self.int_kind} {a}, {b}")

    def bits(self, a: str) -> str:
        """A float's bits as an integer."""
        return self._value(f"bitcast {self.kind} {a} to {self.int_kind}")

    def from_bits(self, a: str) -> str:
        return self._value(f"bitcast {self.int_kind} {a} to {self.kind}")

    def to_float(self, a: str) -> str:
        return self._value(f"sitofp {self.int_kind} {a} to {self.kind}")

    def compare(self, sign: str, a: str, b: str) -> str:
        return self._value(f"fcmp {sign} {self.kind} {a}, {b}")

    def select(self, cond: str, a: str, b: str) -> str:
        return self._value(f"select {self.mask} {cond}, {self.kind} {a}, {self.kind} {b}")

    def call(self, name: str, *arguments: str) -> str:
        """An intrinsic whose arguments and result are of the function's type."""
        full = f"llvm.{name}.{suffix(self.dtype)}"
        types = ", ".join([self.kind] * len(arguments))
        self.intrinsics[full] = f"declare {self.kind} @{full}({types})"
        typed = ", ".join(f"{self.kind} {a}" for a in arguments)
        return self._value(f"call {self.kind} @{full}({typed})")

    def clamp(self, a: str, low: float, high: float) -> str:
        """The nearest value of a range; NaN stays NaN."""
        over = self.select(self.compare("ogt", a, self.number(high)), self.number(high), a)
        return self.select(self.compare("olt", over, self.number(low)), self.number(low), over)

    def polynomial(self, x: str, coefficients: list[float]) -> str:
        """Horner's rule; the constant term comes first."""
        result = self.number(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            result = self.muladd(result, x, self.number(coefficient))
        return result

    def power_of_two(self, exponent: str) -> str:
        """2 to an integer that is the exponent of a normal number."""
        biased = self.int_op("add", exponent, self.integer(self.bias))
        return self.from_bits(self.int_op("shl", biased, self.integer(self.mantissa)))

    def scale(self, a: str, exponent: str) -> str:
        """`a * 2**exponent` in two steps, so that results may be subnormal or infinite."""
        half = self.int_op("ashr", exponent, self.integer(1))
        rest = self.int_op("sub", exponent, half)
        return self.strict(
            "fmul", self.strict("fmul", a, self.power_of_two(half)), self.power_of_two(rest)
        )

    def render(self, name: str, result: str) -> str:
        """The finished function."""
        body = "\n".join(self._lines)
        return (
            f"define internal {self.kind} @{name}({self.kind} {ARGUMENT}) #2 {{\n"
            f"{body}\n  ret {self.kind} {result}\n}}\n"
        )
