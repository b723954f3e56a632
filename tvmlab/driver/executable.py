"""What `build` returns: a kernel with everything that led to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, cast

import tvmlab.codegen as codegen
from tvmlab.ir import Program, to_text
from tvmlab.runtime import Kernel, Signature, Timing
from tvmlab.support import OptionError, require_text, shown
from tvmlab.target import Target

from .work import count_flops

if TYPE_CHECKING:
    from tvmlab.codegen import CompiledObject
    from tvmlab.codegen import LoopReport as InnerLoop
    from tvmlab.lower import Lowered, PassRecord

SourceKind = Literal["loops", "lowered", "llvm", "asm"]


@dataclass(frozen=True, slots=True)
class Translation:
    """What came between a program and its machine code, and the seconds that it took."""

    lowered: Lowered
    ir_text: str
    seconds: Mapping[str, float]


@dataclass(frozen=True)
class Executable:
    """A compiled program, called on arrays in place: `exe(a, b, c)` fills `c`.

    Attributes
    ----------
    program
        The scheduled program.
    target
        The machine it was compiled for.
    translate
        Gives what came between; done when first asked for, if the machine code was in the cache.
    stages
        Seconds spent in each stage of building.
    from_cache
        Whether the machine code came from the cache on disk.
    """

    program: Program
    target: Target
    kernel: Kernel
    translate: Callable[[], Translation] = field(repr=False, compare=False)
    stages: Mapping[str, float] = field(default_factory=dict[str, float])
    from_cache: bool = False

    @cached_property
    def _translation(self) -> Translation:
        return self.translate()

    @property
    def lowered(self) -> Program:
        """What the passes made of the program."""
        return self._translation.lowered.program

    @property
    def record(self) -> tuple[PassRecord, ...]:
        """What each pass did, in order."""
        return self._translation.lowered.record

    @property
    def ir_text(self) -> str:
        """The LLVM IR that was made of it."""
        return self._translation.ir_text

    @property
    def signature(self) -> Signature:
        """Names, types and shapes of the arguments."""
        return self.kernel.signature

    @cached_property
    def flops(self) -> int | None:
        """Floating-point operations of one call; None if sizes are known only at run time."""
        return count_flops(self.program)

    def __call__(self, *arguments: Any) -> None:
        """Run on NumPy arrays or anything with DLPack; outputs are filled in place.

        Raises
        ------
        ShapeError, TypeMismatch, RuntimeFailure
            If an argument does not fit; the message names it.
        """
        # Not by way of `Kernel.__call__`: a Python call costs as much as a product of 16 x 16.
        kernel = self.kernel
        code = kernel.enter(*arguments)
        if code:
            kernel.finish(code, arguments)

    def time(
        self,
        *arguments: Any,
        repeats: int = 10,
        min_repeat_ms: float = 1.0,
        flush_cache: bool = False,
    ) -> Timing:
        """Measure calls on these arguments.

        Parameters
        ----------
        repeats
            Number of samples.
        min_repeat_ms
            Each sample runs the kernel often enough to last this long.
        flush_cache
            Empty the caches before each sample.
        """
        return self.kernel.time(
            *arguments,
            repeats=repeats,
            min_repeat_ms=min_repeat_ms,
            flush_cache=flush_cache,
            flops=self.flops,
        )

    def source(self, kind: SourceKind = "loops") -> str:
        """The program as text at some stage.

        "loops" is the scheduled loop nest, "lowered" what the passes made of it, "llvm" the
        optimized LLVM IR, "asm" the assembly.
        """
        kind = cast("SourceKind", require_text(kind, "the kind of a source"))
        if kind == "loops":
            return to_text(self.program)
        if kind == "lowered":
            return to_text(self.lowered)
        if kind == "llvm":
            return self._code.llvm_text_optimized
        if kind == "asm":
            return self._code.asm
        raise OptionError(
            f"there is no source of kind {shown(kind)}",
            hint='kinds are "loops", "lowered", "llvm" and "asm"',
        )

    def inner_loops(self) -> tuple[InnerLoop, ...]:
        """The innermost loops of the machine code, counted; those with most work first.

        Empty for machines whose assembly is not that of x86-64.
        """
        found = codegen.loop_reports(self._code.asm, self.target.cpu)
        return tuple(sorted(found, key=_work, reverse=True))

    @cached_property
    def _code(self) -> CompiledObject:
        """Compiled once more when someone wants to read it, if the object came from the cache."""
        return codegen.compile_module(self.ir_text, self.target)

    def __repr__(self) -> str:
        return f"<Executable {self.signature} for {self.target}>"


def _work(loop: InnerLoop) -> tuple[int, int]:
    return loop.flops, loop.bytes_read + loop.bytes_written
