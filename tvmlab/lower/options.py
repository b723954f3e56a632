"""What lowering can be told, and what it wants to know of the machine."""

from __future__ import annotations

from dataclasses import dataclass

from tvmlab.target import Target


@dataclass(frozen=True, slots=True)
class LowerOptions:
    """Settings of lowering; the defaults are what one wants.

    Parameters
    ----------
    max_unroll
        How many statements one nest of unrolled loops may become.
    max_chunks
        How many vectors one vectorized loop is written out as; a longer one becomes a loop.
    partition
        Whether loops are cut so that their main part needs no conditions.
    max_growth
        How many statements the cut-off parts of all loops together may have.
    promote
        Whether small local buffers become registers.
    max_registers
        How many registers one buffer may become.
    check_indices
        Whether indices that cannot be proven to stay inside their buffers, such as those read from
        data, are checked in loops. Without, you vouch for them: a wrong one corrupts memory.
    vector_bits
        Width of vectors, instead of the target's.
    verify
        Whether the program is checked for being well-formed after each pass.
    """

    max_unroll: int = 4096
    max_chunks: int = 16
    partition: bool = True
    max_growth: int = 2048
    promote: bool = True
    max_registers: int = 64
    check_indices: bool = True
    vector_bits: int | None = None
    verify: bool = False


@dataclass(frozen=True, slots=True)
class VectorUnit:
    """The vector registers to write code for.

    Parameters
    ----------
    bits
        Their width; 0 if there are none.
    masked_bits
        The smallest element of which single ones can be left out of a load or store at no great
        cost; 0 if there is none.
    """

    bits: int
    masked_bits: int = 8

    @staticmethod
    def of(target: Target, options: LowerOptions) -> VectorUnit:
        """The vector unit of a target, as far as the options do not say otherwise."""
        bits = target.vector_bits if options.vector_bits is None else options.vector_bits
        if target.has("avx512bw"):
            return VectorUnit(bits, 8)
        return VectorUnit(bits, 32 if target.has("avx") else 0)

    def can_mask(self, element_bits: int) -> bool:
        """Whether masks are cheap for elements of a size."""
        return 0 < self.masked_bits <= element_bits

    def lanes(self, element_bits: int) -> int:
        """How many elements of a size one register holds."""
        return max(1, self.bits // max(element_bits, 8))
