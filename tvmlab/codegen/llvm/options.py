"""What a caller may decide about emitted code."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class FastMath:
    """Liberties with floating-point arithmetic.

    Parameters
    ----------
    contract
        Compute `a * b + c` with one rounding, as an FMA instruction does.
    reassociate
        Change the order of sums and products; results may differ in the last digits.

    Neither changes what NaN, infinities and signed zeros give.
    """

    contract: bool = True
    reassociate: bool = False

    @property
    def flags(self) -> str:
        """The flags as LLVM writes them after an operation's name."""
        words = ["contract"] * self.contract + ["reassoc"] * self.reassociate
        return " ".join(words) + " " if words else ""


@dataclass(frozen=True, slots=True)
class EmitOptions:
    """Options of `emit_module`.

    Parameters
    ----------
    stack_limit
        Bytes of stack that the local buffers of one function may take; the rest is on the heap.
    locate
        Tie every instruction to the line of the printed program that it comes from.
    """

    fast_math: FastMath = field(default_factory=FastMath)
    stack_limit: int = 64 * 1024
    locate: bool = False
