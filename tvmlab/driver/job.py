"""One program on its way to machine code: found in the cache, or lowered, emitted and compiled."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import tvmlab.codegen as codegen
from tvmlab.ir import Program, verify
from tvmlab.lower import LowerOptions
from tvmlab.runtime import ForeignKernel, Kernel, ObjectCache, Signature
from tvmlab.support import UserError, without_collections
from tvmlab.target import Target

from .executable import Executable, Translation
from .recall import recall, recall_key, remember

if TYPE_CHECKING:
    from tvmlab.codegen import EmitOptions


@dataclass(frozen=True, slots=True)
class Job:
    """A program, and all that decides what becomes of it."""

    program: Program
    target: Target
    options: LowerOptions | None = None
    emit_options: EmitOptions | None = None

    def translate(self) -> Translation:
        """From the program to LLVM IR."""
        # Here, because with the passes a plain `import tvmlab` would take a quarter longer.
        from tvmlab.lower import lower

        start = time.perf_counter()
        verify(self.program, error=UserError)
        lowered = lower(self.program, self.target, self.options or LowerOptions())
        lowered_at = time.perf_counter()
        text = codegen.emit_module(lowered.program, self.target, self.emit_options)
        seconds = {"lower": lowered_at - start, "emit": time.perf_counter() - lowered_at}
        return Translation(lowered, text, seconds)

    def key(self) -> str | None:
        """The program's key in the cache; None if it cannot have one."""
        return recall_key(self.program, self.target, self.options, self.emit_options)

    def recalled(self, store: ObjectCache, key: str, start: float) -> Executable | None:
        """The kernel, if the same program was built before; `start` is when building began."""
        known = recall(store, key)
        if known is None:
            return None
        if not self.target.missing_here():
            codegen.require_symbols(self.program.name, known.symbols)
        kernel = self._kernel(known.object_bytes, known.signature)
        stages = {"recall": time.perf_counter() - start}
        return Executable(
            self.program, self.target, kernel, self.translate, stages, from_cache=True
        )

    def _kernel(self, data: bytes, signature: Signature) -> Kernel:
        missing = self.target.missing_here()
        return ForeignKernel(data, signature, missing) if missing else Kernel(data, signature)

    def built(self, store: ObjectCache | None, key: str | None) -> Executable:
        """The kernel, with machine code of equal LLVM IR from the store if there is one."""
        with without_collections():
            return self._built(store, key)

    def _built(self, store: ObjectCache | None, key: str | None) -> Executable:
        made = self.translate()
        stages = dict(made.seconds)

        def compile_now() -> bytes:
            compiled = codegen.compile_module(made.ir_text, self.target)
            stages.update(compiled.seconds)
            return compiled.object_bytes

        object_key = ObjectCache.key(codegen.cache_key_parts(made.ir_text, self.target))
        if store is None:
            data, found = compile_now(), False
        else:
            data, found = store.get_or_build(object_key, compile_now)
        start = time.perf_counter()
        symbols = codegen.outside_symbols(made.lowered.program)
        if not self.target.missing_here():
            codegen.require_symbols(self.program.name, symbols)
        signature = codegen.kernel_signature(made.lowered.program, like=self.program)
        kernel = self._kernel(data, signature)
        if store is not None and key is not None:
            remember(store, key, object_key, signature, symbols)
        stages["load"] = time.perf_counter() - start
        return Executable(self.program, self.target, kernel, lambda: made, stages, from_cache=found)
