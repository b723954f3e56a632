"""The dot instructions: what they multiply, in groups of how many, and which machines have them.

    vpdpbusd    out[j] += sum over 4 neighbors q of a[q] * b[j, q]      uint8 * int8   -> int32
    vdpbf16ps   out[j] += sum over 2 neighbors q of a[q] * b[j, q]      bfloat16       -> float32
    sdot, usdot, bfdot   the same on AArch64, the first of int8 * int8

for 16 values j at once, or 4 on AArch64. Integers are exact: products and sums have 32 bits, and
wrap around.
"""

from __future__ import annotations

from dataclasses import dataclass

from tvmlab.target import Target, TargetLike

LANES = 16
"""Results of one instruction on x86: 32-bit lanes of a 512-bit register."""


@dataclass(frozen=True, slots=True)
class DotKind:
    """One way to multiply and add groups of neighbors.

    Attributes
    ----------
    left, right, out
        Types of the operand whose group is given to all lanes, of the one with a group for each
        lane, and of the sums.
    group
        How many neighbors along the sum one lane takes.
    features
        LLVM's names of what the processor must have.
    call
        The LLVM intrinsic; `operand` is the type of its operands, `sums` that of its results.
    flip
        Whether the left operand is signed while the instruction wants it unsigned: 128 is added to
        it, and 128 times the sum of the right operand taken away again. In 32 bits that wrap
        around, this is exact whatever the values.
    lanes
        Results of one instruction.
    """

    name: str
    left: str
    right: str
    out: str
    group: int
    features: tuple[str, ...]
    call: str
    operand: str
    sums: str
    flip: bool = False
    lanes: int = LANES

    @property
    def unsigned(self) -> DotKind:
        """The kind of the instruction itself, where this one makes up for its wanting no signs."""
        return next(k for k in KINDS if k.call == self.call and not k.flip)

    def missing(self, target: TargetLike = "cpu") -> tuple[str, ...]:
        """The features that a machine lacks; empty where the instruction runs."""
        machine = Target.of(target)
        return tuple(f for f in self.features if not machine.has(f))

    def runs_on(self, target: TargetLike = "cpu") -> bool:
        """Whether a machine has the instruction."""
        return not self.missing(target)


_VNNI = ("avx512f", "avx512bw", "avx512vnni")
_INT8 = "llvm.x86.avx512.vpdpbusd.512"

U8S8 = DotKind(
    "dot_u8s8", "uint8", "int8", "int32", 4, _VNNI, _INT8, "<64 x i8>", "<16 x i32>"
)  # fmt: skip
S8S8 = DotKind(
    "dot_s8s8", "int8", "int8", "int32", 4, _VNNI, _INT8, "<64 x i8>", "<16 x i32>", flip=True
)
BF16 = DotKind(
    "dot_bf16", "bfloat16", "bfloat16", "float32", 2, ("avx512f", "avx512bw", "avx512bf16"),
    "llvm.x86.avx512bf16.dpbf16ps.512", "<32 x bfloat>", "<16 x float>",
)  # fmt: skip
"""Sums in float32: each product is exact, then added with rounding to nearest even; numbers below
the smallest normal one count as zero, whatever the mode of the processor."""

_NEON = "llvm.aarch64.neon."
ARM_S8S8 = DotKind(
    "sdot", "int8", "int8", "int32", 4, ("dotprod",), _NEON + "sdot.v4i32.v16i8",
    "<16 x i8>", "<4 x i32>", lanes=4,
)  # fmt: skip
ARM_U8S8 = DotKind(
    "usdot", "uint8", "int8", "int32", 4, ("i8mm",), _NEON + "usdot.v4i32.v16i8",
    "<16 x i8>", "<4 x i32>", lanes=4,
)  # fmt: skip
ARM_BF16 = DotKind(
    "bfdot", "bfloat16", "bfloat16", "float32", 2, ("bf16",), _NEON + "bfdot.v4f32.v8bf16",
    "<8 x bfloat>", "<4 x float>", lanes=4,
)  # fmt: skip
"""How sums are rounded is the processor's choice: newer ones round as float32 does."""

KINDS = (U8S8, S8S8, BF16, ARM_S8S8, ARM_U8S8, ARM_BF16)
