"""A small language for writing mathematical functions as LLVM IR, for any number of lanes."""

from __future__ import annotations

from dataclasses import dataclass

from tvmlab.support import DType

from .builder import HELPER
from .types import literal, llvm_type, suffix

ARGUMENTS = ("%x", "%y")


@dataclass(frozen=True, slots=True)
class Whole:
    """An integer, as a float and as an integer."""

    number: str
    count: str


class MathText:
    """One function under construction; methods append instructions and return operands.

    Products and sums carry `contract`, so that machines with FMA use it and others do not pay.

    Parameters
    ----------
    dtype
        The type of the function's arguments and result, or of a part of it (see `double`).
    whole
        The function that this is a part of; by default it is a function of its own.
    scaling
        Whether the machine scales 512-bit vectors by powers of two in one instruction, and can take
        a register of that size for a table.
    fused
        Whether it has an instruction for `fma`.
    """

    def __init__(
        self,
        dtype: DType,
        whole: MathText | None = None,
        *,
        scaling: bool = False,
        fused: bool = False,
    ) -> None:
        self.dtype = dtype
        self.fused = fused
        self._scaling = scaling
        self.tables = scaling
        self.scalef = scaling and dtype.bits * dtype.lanes == 512
        self.int_type = DType("int", dtype.bits, dtype.lanes)
        self.kind, self.int_kind = llvm_type(dtype), llvm_type(self.int_type)
        self.mask = "i1" if dtype.lanes == 1 else f"<{dtype.lanes} x i1>"
        self.mantissa = 23 if dtype.bits == 32 else 52
        self.bias = 127 if dtype.bits == 32 else 1023
        self.declared: dict[str, str] = {} if whole is None else whole.declared
        self._lines: list[str] = [] if whole is None else whole._lines

    def double(self) -> MathText:
        """The same function written on in float64."""
        return MathText(DType("float", 64, self.dtype.lanes), self, scaling=self._scaling)

    def value(self, instruction: str) -> str:
        """Append an instruction; its result's name."""
        name = f"%t{len(self._lines)}"
        self._lines.append(f"  {name} = {instruction}")
        return name

    def number(self, value: float) -> str:
        return literal(value, self.dtype)

    def integer(self, value: int) -> str:
        return literal(value, self.int_type)

    def _float_op(self, op: str, a: str, b: str) -> str:
        return self.value(f"{op} contract {self.kind} {a}, {b}")

    def add(self, a: str, b: str) -> str:
        return self._float_op("fadd", a, b)

    def sub(self, a: str, b: str) -> str:
        return self._float_op("fsub", a, b)

    def mul(self, a: str, b: str) -> str:
        return self._float_op("fmul", a, b)

    def div(self, a: str, b: str) -> str:
        return self.value(f"fdiv {self.kind} {a}, {b}")

    def muladd(self, a: str, b: str, c: str) -> str:
        """`a * b + c`, rounded once or twice."""
        return self.add(self.mul(a, b), c)

    def fma(self, a: str, b: str, c: str) -> str:
        """`a * b + c` rounded once, on every machine."""
        return self.call("fma", a, b, c)

    def neg(self, a: str) -> str:
        return self.value(f"fneg {self.kind} {a}")

    def strict(self, op: str, a: str, b: str) -> str:
        """An operation that must be rounded by itself."""
        return self.value(f"{op} {self.kind} {a}, {b}")

    def int_op(self, op: str, a: str, b: str) -> str:
        return self.value(f"{op} {self.int_kind} {a}, {b}")

    def bits(self, a: str) -> str:
        """A float's bits as an integer."""
        return self.value(f"bitcast {self.kind} {a} to {self.int_kind}")

    def from_bits(self, a: str) -> str:
        return self.value(f"bitcast {self.int_kind} {a} to {self.kind}")

    def to_float(self, a: str) -> str:
        return self.value(f"sitofp {self.int_kind} {a} to {self.kind}")

    def widen(self, a: str, source: MathText) -> str:
        """A value of a narrower part of the function."""
        return self.value(f"fpext {source.kind} {a} to {self.kind}")

    def narrow(self, a: str, source: MathText) -> str:
        """A value of a wider part of the function, rounded."""
        return self.value(f"fptrunc {source.kind} {a} to {self.kind}")

    def narrow_int(self, a: str, source: MathText) -> str:
        """The low bits of an integer of a wider part of the function."""
        return self.value(f"trunc {source.int_kind} {a} to {self.int_kind}")

    def compare(self, sign: str, a: str, b: str) -> str:
        return self.value(f"fcmp {sign} {self.kind} {a}, {b}")

    def compare_int(self, sign: str, a: str, b: str) -> str:
        return self.value(f"icmp {sign} {self.int_kind} {a}, {b}")

    def logic(self, op: str, a: str, b: str) -> str:
        """`and`, `or`, `xor` of two conditions."""
        return self.value(f"{op} {self.mask} {a}, {b}")

    def select(self, cond: str, a: str, b: str) -> str:
        return self.value(f"select {self.mask} {cond}, {self.kind} {a}, {self.kind} {b}")

    def select_int(self, cond: str, a: str, b: str) -> str:
        return self.value(f"select {self.mask} {cond}, {self.int_kind} {a}, {self.int_kind} {b}")

    def call(self, name: str, *arguments: str) -> str:
        """An intrinsic whose arguments and result are of the function's type."""
        full = f"llvm.{name}.{suffix(self.dtype)}"
        types = ", ".join([self.kind] * len(arguments))
        self.declared[full] = f"declare {self.kind} @{full}({types})"
        typed = ", ".join(f"{self.kind} {a}" for a in arguments)
        return self.value(f"call {self.kind} @{full}({typed})")

    def clamp(self, a: str, low: float, high: float) -> str:
        """The nearest value of a range; NaN stays NaN."""
        over = self.at_most(a, high)
        return self.select(self.compare("olt", over, self.number(low)), self.number(low), over)

    def at_most(self, a: str, high: float) -> str:
        """The smaller of a value and a number; NaN stays NaN."""
        return self.select(self.compare("ogt", a, self.number(high)), self.number(high), a)

    def polynomial(self, x: str, coefficients: list[float] | tuple[float, ...]) -> str:
        """Horner's rule; the constant term comes first."""
        result = self.number(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            result = self.muladd(result, x, self.number(coefficient))
        return result

    def round_to_integer(self, x: str, factor: float = 1.0) -> Whole:
        """The integer next to x times a factor.

        Adding 1.5 * 2**mantissa leaves the integer in the low bits. Unlike a conversion, this is
        defined for NaN too.
        """
        return self.nearest(x, factor)[0]

    def nearest(self, x: str, factor: float, steps: int = 0) -> tuple[Whole, str]:
        """The multiple of `2**-steps` next to x times a factor, and bits that end in its steps.

        The multiple is given as a float, and rounded down as an integer.
        """
        shifted, magic = self._shifted(x, factor, steps=steps)
        bits = self.bits(shifted)
        count = self.int_op("sub", bits, self.bits(magic))
        if steps:
            count = self.int_op("ashr", count, self.integer(steps))
        return Whole(self.strict("fsub", shifted, magic), count), bits

    def round_and_raise(self, x: str, factor: float) -> tuple[str, str]:
        """The integer n next to x times a factor, as a float, and 2**n, a normal number."""
        shifted, magic = self._shifted(x, factor, more=self.bias)
        power = self.int_op("shl", self.bits(shifted), self.integer(self.mantissa))
        return self.strict("fsub", shifted, magic), self.from_bits(power)

    def _shifted(self, x: str, factor: float, *, more: int = 0, steps: int = 0) -> tuple[str, str]:
        """A float in whose low bits stand an integer, in units of `2**-steps`, and `more`; and what
        was added for that.
        """
        magic = self.number(1.5 * 2.0 ** (self.mantissa - steps) + more)
        if factor == 1.0:
            return self.strict("fadd", x, magic), magic
        return self.muladd(x, self.number(factor), magic), magic

    def less(self, n: Whole, amount: int) -> Whole:
        """An integer minus a number."""
        number = self.strict("fsub", n.number, self.number(float(amount)))
        return Whole(number, self.int_op("sub", n.count, self.integer(amount)))

    def two_sum(self, a: str, b: str) -> tuple[str, str]:
        """The sum and what rounding lost of it, for |a| not below |b|, or a = 0."""
        total = self.strict("fadd", a, b)
        return total, self.strict("fsub", b, self.strict("fsub", total, a))

    def two_product(self, a: str, b: str) -> tuple[str, str]:
        """The product and what rounding lost of it."""
        product = self.strict("fmul", a, b)
        return product, self.fma(a, b, self.neg(product))

    def power_of_two(self, exponent: str) -> str:
        """2 to an integer that is the exponent of a normal number."""
        biased = self.int_op("add", exponent, self.integer(self.bias))
        return self.from_bits(self.int_op("shl", biased, self.integer(self.mantissa)))

    def scale(self, a: str, exponent: Whole) -> str:
        """`a * 2**exponent`, which may be subnormal or infinite.

        By an instruction where there is one, else in two steps.
        """
        if self.scalef:
            return self._scale_by_instruction(a, exponent.number)
        half = self.int_op("ashr", exponent.count, self.integer(1))
        rest = self.int_op("sub", exponent.count, half)
        return self.strict(
            "fmul", self.strict("fmul", a, self.power_of_two(half)), self.power_of_two(rest)
        )

    def _scale_by_instruction(self, a: str, exponent: str) -> str:
        name = f"llvm.x86.avx512.mask.scalef.{self._packed}.512"
        value = self.kind, a
        return self._masked_call(name, value, (self.kind, exponent), value)

    def exponent_and_mantissa(self, a: str) -> tuple[str, str]:
        """The whole logarithm to base 2, and what it leaves, from 1 up to 2, of a positive number.

        By instructions that take subnormal numbers too; only where `scalef` is set.
        """
        exponent = self._on_512_bits("getexp", (self.kind, a))
        return exponent, self._on_512_bits("getmant", (self.kind, a), ("i32", "0"))

    def fixed_up(self, result: str, a: str, table: int) -> str:
        """A result with other values for arguments of some kinds; only where `scalef` is set.

        The table has four bits for each kind (NaN, signalling NaN, zero, one, the infinities,
        other negative and positive numbers), which say what to return: 0 for the result, 2 for the
        argument, 3 for NaN, 4 and 5 for the infinities, 8 for zero.
        """
        kinds = (self.int_kind, self.integer(table))
        name = f"llvm.x86.avx512.mask.fixupimm.{self._packed}.512"
        return self._masked_call(name, (self.kind, result), (self.kind, a), kinds, ("i32", "0"))

    def _on_512_bits(self, name: str, a: tuple[str, str], *more: tuple[str, str]) -> str:
        return self._masked_call(f"llvm.x86.avx512.mask.{name}.{self._packed}.512", a, *more, a)

    def _masked_call(self, name: str, *arguments: tuple[str, str]) -> str:
        """An instruction with a mask, which is full, and a way of rounding, which is the usual."""
        every = (*arguments, (f"i{self.dtype.lanes}", "-1"), ("i32", "4"))
        kinds = ", ".join(kind for kind, _ in every)
        self.declared[name] = f"declare {self.kind} @{name}({kinds})"
        operands = ", ".join(f"{kind} {value}" for kind, value in every)
        return self.value(f"call {self.kind} @{name}({operands})")

    @property
    def _packed(self) -> str:
        return "ps" if self.dtype.bits == 32 else "pd"

    def library_where(self, cond: str, function: str, x: str, usual: str) -> str:
        """`usual`, but in the rare lanes where `cond` holds the C library's function of x.

        That of float64 in any case: libraries round those of float32 less well.
        """
        lanes, lane = self.dtype.lanes, llvm_type(self.dtype.scalar)
        self.declared[function] = f"declare double @{function}(double) nounwind"
        mark = f"rare{len(self._lines)}"
        if lanes == 1:
            return self._library_branch(cond, function, x, usual, mark)
        some = f"llvm.vector.reduce.or.v{lanes}i1"
        self.declared[some] = f"declare i1 @{some}({self.mask})"
        self._lines += [
            f"  %{mark}.any = call i1 @{some}({self.mask} {cond})",
            f"  br label %{mark}.from",
            f"{mark}.from:",
            f"  br i1 %{mark}.any, label %{mark}.loop, label %{mark}.done",
            f"{mark}.loop:",
            f"  %{mark}.lane = phi i64 [ 0, %{mark}.from ], [ %{mark}.next, %{mark}.loop ]",
            f"  %{mark}.all = phi {self.kind} [ {x}, %{mark}.from ], "
            f"[ %{mark}.more, %{mark}.loop ]",
            f"  %{mark}.x = extractelement {self.kind} {x}, i64 %{mark}.lane",
            *self._library_call(function, f"%{mark}.x", mark),
            f"  %{mark}.more = insertelement {self.kind} %{mark}.all, {lane} %{mark}.one, "
            f"i64 %{mark}.lane",
            f"  %{mark}.next = add i64 %{mark}.lane, 1",
            f"  %{mark}.end = icmp eq i64 %{mark}.next, {lanes}",
            f"  br i1 %{mark}.end, label %{mark}.done, label %{mark}.loop",
            f"{mark}.done:",
            f"  %{mark} = phi {self.kind} [ {usual}, %{mark}.from ], "
            f"[ %{mark}.more, %{mark}.loop ]",
        ]
        return self.select(cond, f"%{mark}", usual)

    def _library_branch(self, cond: str, name: str, x: str, usual: str, mark: str) -> str:
        self._lines += [
            f"  br label %{mark}.from",
            f"{mark}.from:",
            f"  br i1 {cond}, label %{mark}.call, label %{mark}.done",
            f"{mark}.call:",
            *self._library_call(name, x, mark),
            f"  br label %{mark}.done",
            f"{mark}.done:",
            f"  %{mark} = phi {self.kind} [ {usual}, %{mark}.from ], [ %{mark}.one, %{mark}.call ]",
        ]
        return f"%{mark}"

    def _library_call(self, name: str, x: str, mark: str) -> list[str]:
        """The lines that set `mark.one` to the library's function of one value."""
        if self.dtype.bits == 64:
            return [f"  %{mark}.one = call double @{name}(double {x})"]
        return [
            f"  %{mark}.wide = fpext float {x} to double",
            f"  %{mark}.exact = call double @{name}(double %{mark}.wide)",
            f"  %{mark}.one = fptrunc double %{mark}.exact to float",
        ]

    def render(self, name: str, result: str, arity: int) -> str:
        """The finished function."""
        body = "\n".join(self._lines)
        arguments = ", ".join(f"{self.kind} {argument}" for argument in ARGUMENTS[:arity])
        return (
            f"define internal {self.kind} @{name}({arguments}){HELPER}\n"
            f"{body}\n  ret {self.kind} {result}\n}}\n"
        )
